/* The steps of photon mapping on a GPU: an element a thread, by the maths of the CPU. */
#include "photon/photon_cuda.h"

#include "device/cuda/cuda_kernel.cuh"

/* Rays keep much in registers; not measured. */
struct ray_policy {
    static constexpr uint32_t threads = 128;
};
#define THREADS 256u /* of kernels that only move numbers */

static __device__ inline uint64_t thread_number(void) { return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; }

/* ---- rays */

static __global__ __launch_bounds__(ray_policy::threads) void look(const photon_view scene,
                                                                   const photon_picture picture, uint64_t first,
                                                                   uint32_t count, photon_sample *samples) {
    const uint64_t i = thread_number();
    if (i < count) samples[i] = photon_look(&scene, &picture, first + i);
}

static __global__ __launch_bounds__(ray_policy::threads) void light(const photon_view scene,
                                                                    const photon_picture picture, uint64_t first,
                                                                    uint32_t count, const photon_sample *samples,
                                                                    float *irradiance) {
    const uint64_t i = thread_number();
    if (i >= count) return;
    photon_write_color(irradiance + 3 * i, photon_light_sample(&scene, &picture, first + i, &samples[i]));
}

static __global__ __launch_bounds__(ray_policy::threads) void scatter(const photon_view scene,
                                                                      const photon_picture picture, uint64_t first,
                                                                      uint64_t count, const photon_sample *samples,
                                                                      photon_sample *rays) {
    const uint64_t i = thread_number(), sample = i / picture.gather_rays;
    if (i >= count) return;
    rays[i] =
        photon_scatter_ray(&scene, &picture, &samples[sample], first + sample, (uint32_t)(i % picture.gather_rays));
}

static __global__ __launch_bounds__(ray_policy::threads) void trace_paths(const photon_view scene,
                                                                          const photon_picture picture, uint64_t first,
                                                                          uint32_t count, float *radiance) {
    const uint64_t i = thread_number();
    if (i < count) photon_write_color(radiance + 3 * i, photon_path(&scene, &picture, first + i));
}

static mote_status cuda_look(mote_device *gpu, const mote_scene *scene, const photon_picture *picture, uint64_t first,
                             uint32_t count, photon_sample *samples) {
    CUDA_LAUNCH(gpu, look, cuda_blocks(count, ray_policy::threads), ray_policy::threads, scene->cuda->view, *picture,
                first, count, samples);
    return cuda_launched(gpu, "samples of a picture");
}

static mote_status cuda_light(mote_device *gpu, const mote_scene *scene, const photon_picture *picture, uint64_t first,
                              uint32_t count, const photon_sample *samples, float *irradiance) {
    CUDA_LAUNCH(gpu, light, cuda_blocks(count, ray_policy::threads), ray_policy::threads, scene->cuda->view, *picture,
                first, count, samples, irradiance);
    return cuda_launched(gpu, "shadow rays");
}

static mote_status cuda_scatter(mote_device *gpu, const mote_scene *scene, const photon_picture *picture,
                                uint64_t first, uint32_t count, const photon_sample *samples, photon_sample *rays) {
    const uint64_t ray_count = (uint64_t)count * picture->gather_rays;
    CUDA_LAUNCH(gpu, scatter, cuda_blocks(ray_count, ray_policy::threads), ray_policy::threads, scene->cuda->view,
                *picture, first, ray_count, samples, rays);
    return cuda_launched(gpu, "final gathering");
}

static mote_status cuda_path(mote_device *gpu, const mote_scene *scene, const photon_picture *picture, uint64_t first,
                             uint32_t count, float *radiance) {
    CUDA_LAUNCH(gpu, trace_paths, cuda_blocks(count, ray_policy::threads), ray_policy::threads, scene->cuda->view,
                *picture, first, count, radiance);
    return cuda_launched(gpu, "paths");
}

/* ---- between samples and pixels */

static __global__ void ask(const photon_sample *samples, uint64_t count, photon_query *queries) {
    const uint64_t i = thread_number();
    if (i < count) queries[i] = photon_query_of(&samples[i]);
}

static __global__ void add(float *to, const float *part, uint64_t count) {
    const uint64_t i = thread_number();
    if (i < count) to[i] += part[i];
}

static __global__ void add_rays(const photon_sample *rays, uint32_t rays_each, const float *known, uint32_t count,
                                float *irradiance) {
    const uint64_t i = thread_number(), first = i * rays_each;
    if (i < count) photon_add_color(irradiance + 3 * i, photon_sum_rays(rays + first, known + 3 * first, rays_each));
}

static __global__ void finish(const photon_sample *samples, uint32_t count, float *irradiance) {
    const uint64_t i = thread_number();
    if (i < count) photon_finish_sample(&samples[i], irradiance + 3 * i);
}

static __global__ void average(const float *radiance, uint32_t samples_each, uint32_t count, float *pixels) {
    const uint64_t i = thread_number();
    if (i < count) photon_average(radiance + 3 * i * samples_each, samples_each, pixels + 3 * i);
}

static mote_status cuda_ask(mote_device *gpu, const photon_sample *samples, uint64_t count, photon_query *queries) {
    CUDA_LAUNCH(gpu, ask, cuda_blocks(count, THREADS), THREADS, samples, count, queries);
    return cuda_launched(gpu, "queries");
}

static mote_status cuda_add(mote_device *gpu, float *to, const float *part, uint64_t count) {
    CUDA_LAUNCH(gpu, add, cuda_blocks(count, THREADS), THREADS, to, part, count);
    return cuda_launched(gpu, "irradiance");
}

static mote_status cuda_add_rays(mote_device *gpu, const photon_sample *rays, uint32_t rays_each, const float *known,
                                 uint32_t count, float *irradiance) {
    CUDA_LAUNCH(gpu, add_rays, cuda_blocks(count, THREADS), THREADS, rays, rays_each, known, count, irradiance);
    return cuda_launched(gpu, "final gathering");
}

static mote_status cuda_finish_samples(mote_device *gpu, const photon_sample *samples, uint32_t count,
                                       float *irradiance) {
    CUDA_LAUNCH(gpu, finish, cuda_blocks(count, THREADS), THREADS, samples, count, irradiance);
    return cuda_launched(gpu, "radiance");
}

static mote_status cuda_average(mote_device *gpu, const float *radiance, uint32_t samples_each, uint32_t count,
                                float *pixels) {
    CUDA_LAUNCH(gpu, average, cuda_blocks(count, THREADS), THREADS, radiance, samples_each, count, pixels);
    return cuda_launched(gpu, "pixels");
}

const mote_photon_ops mote_photon_on_cuda = {1048576u, /* samples: 0.2 GB, */
                                             4194304u, /* rays: 1 GB with their search */
                                             photon_open_scene_on_cuda,
                                             photon_close_scene_on_cuda,
                                             photon_emit_on_cuda,
                                             photon_choose_on_cuda,
                                             cuda_look,
                                             cuda_light,
                                             cuda_scatter,
                                             cuda_path,
                                             photon_gather_on_cuda,
                                             photon_look_up_on_cuda,
                                             cuda_ask,
                                             cuda_add,
                                             cuda_add_rays,
                                             cuda_finish_samples,
                                             cuda_average};

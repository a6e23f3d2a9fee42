/* The steps of photon mapping on a GPU: an element a thread, by the maths of the CPU. */
#include "photon/photon_cuda.h"

#include "device/cuda/cuda_kernel.cuh"
#include "device/cuda/cuda_primitives.h"

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

/* ---- rays that go on */

/* rows: which of the rays these are. */
static __global__ void collect(const photon_sample *rays, const uint64_t *numbers, uint64_t first, const uint32_t *rows,
                               uint64_t count, photon_sample *to, uint64_t *to_numbers) {
    const uint64_t i = thread_number();
    if (i >= count) return;
    to[i] = rays[rows[i]];
    to_numbers[i] = numbers != NULL ? numbers[rows[i]] : first + rows[i];
}

static __global__ __launch_bounds__(ray_policy::threads) void go_on(
    const photon_view scene, const photon_picture picture, const photon_sample *ends, const uint64_t *slots,
    const uint64_t *numbers, uint64_t count, uint32_t depth, const float *caustics, float *told, photon_sample *next) {
    const uint64_t i = thread_number();
    if (i >= count) return;
    const uint64_t slot = slots != NULL ? slots[i] : i;
    next[i] = photon_go_on(&scene, &picture, &ends[i], numbers[slot], depth, caustics + 3 * i, told + 3 * slot);
}

static __global__ __launch_bounds__(ray_policy::threads) void go_to_end(const photon_view scene,
                                                                        const photon_picture picture,
                                                                        const photon_sample *ends,
                                                                        const uint64_t *slots, const uint64_t *numbers,
                                                                        uint64_t count, uint32_t depth, float *told) {
    const uint64_t i = thread_number();
    if (i >= count) return;
    const uint64_t slot = slots != NULL ? slots[i] : i;
    photon_go_to_end(&scene, &picture, &ends[i], numbers[slot], depth, told + 3 * slot);
}

static __global__ void tell(const photon_sample *rays, const uint64_t *slots, uint64_t count, const float *known,
                            float *told) {
    const uint64_t i = thread_number();
    if (i < count) photon_tell(&rays[i], known + 3 * i, told + 3 * (slots != NULL ? slots[i] : i));
}

static __global__ void add_told(const uint64_t *numbers, const float *told, uint64_t count, uint32_t rays_each,
                                uint64_t first, float *irradiance) {
    const uint64_t i = thread_number();
    if (i < count) photon_add_told(numbers, told, count, rays_each, first, i, irradiance);
}

static mote_status cuda_collect(mote_device *gpu, const photon_sample *rays, const uint64_t *numbers, uint64_t first,
                                const uint8_t *unknown, uint64_t count, photon_sample *to, uint64_t *to_numbers,
                                uint64_t *found) {
    uint64_t *const memory = (uint64_t *)cuda_alloc(gpu, sizeof *memory + count * sizeof(uint32_t), "picture rays");
    if (memory == NULL) return MOTE_ERROR_MEMORY;
    uint32_t *const rows = (uint32_t *)(memory + 1);
    mote_status status = cuda_select(gpu, unknown, count, rows, memory);
    if (status == MOTE_OK) status = cuda_download(gpu, found, memory, sizeof *found);
    if (status == MOTE_OK && *found > 0) {
        CUDA_LAUNCH(gpu, collect, cuda_blocks(*found, THREADS), THREADS, rays, numbers, first, rows, *found, to,
                    to_numbers);
        status = cuda_launched(gpu, "final gathering");
    }
    cuda_free(gpu, memory);
    return status;
}

static mote_status cuda_go_on(mote_device *gpu, const mote_scene *scene, const photon_picture *picture,
                              const photon_sample *ends, const uint64_t *slots, const uint64_t *numbers, uint64_t count,
                              uint32_t depth, const float *caustics, float *told, photon_sample *next) {
    CUDA_LAUNCH(gpu, go_on, cuda_blocks(count, ray_policy::threads), ray_policy::threads, scene->cuda->view, *picture,
                ends, slots, numbers, count, depth, caustics, told, next);
    return cuda_launched(gpu, "final gathering");
}

static mote_status cuda_go_to_end(mote_device *gpu, const mote_scene *scene, const photon_picture *picture,
                                  const photon_sample *ends, const uint64_t *slots, const uint64_t *numbers,
                                  uint64_t count, uint32_t depth, float *told) {
    CUDA_LAUNCH(gpu, go_to_end, cuda_blocks(count, ray_policy::threads), ray_policy::threads, scene->cuda->view,
                *picture, ends, slots, numbers, count, depth, told);
    return cuda_launched(gpu, "final gathering");
}

static mote_status cuda_tell(mote_device *gpu, const photon_sample *rays, const uint64_t *slots, uint64_t count,
                             const float *known, float *told) {
    CUDA_LAUNCH(gpu, tell, cuda_blocks(count, THREADS), THREADS, rays, slots, count, known, told);
    return cuda_launched(gpu, "final gathering");
}

static mote_status cuda_add_told(mote_device *gpu, const uint64_t *numbers, const float *told, uint64_t count,
                                 uint32_t rays_each, uint64_t first, float *irradiance) {
    CUDA_LAUNCH(gpu, add_told, cuda_blocks(count, THREADS), THREADS, numbers, told, count, rays_each, first,
                irradiance);
    return cuda_launched(gpu, "final gathering");
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
                                             4194304u, /* rays: 2 GB with their search, and those that wait */
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
                                             cuda_collect,
                                             cuda_go_on,
                                             cuda_go_to_end,
                                             cuda_tell,
                                             cuda_add_told,
                                             cuda_ask,
                                             cuda_add,
                                             cuda_add_rays,
                                             cuda_finish_samples,
                                             cuda_average};

/* Points of planes that are not inside their plane's polygon, on the GPU. */
#include "device/cuda/warp.cuh"
#include "planes/planes_cuda.h"

#define THREADS PLANES_CUDA_BLOCK

/* What lists corners, all on the device. */
typedef struct outline_job {
    const planes_cuda_point *points;
    const int32_t *label;
    uint32_t count, step;
    planes_axes *axes;
    planes_polygon *polygons; /* NULL: nothing is inside */
    planes_corner *corners;   /* [count / step + 1] */
    unsigned long long *found;
} outline_job;

static __device__ inline bool is_inside(const planes_polygon *polygon, const planes_corner *corner) {
    const double u = corner->u, v = corner->v;
    bool inside = polygon->sides > 0;
    for (uint32_t k = 0; k < polygon->sides && inside; k++) {
        inside = u * polygon->a[k] + v * polygon->b[k] > polygon->c[k];
    }
    return inside;
}

/* All lanes come. */
static __global__ void list_corners(outline_job job) {
    const uint64_t i = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) * job.step;
    const int32_t label = i < job.count ? job.label[i] : -1;
    planes_corner corner = {0, 0, 0};
    if (label >= 0) {
        const uint4 raw = *(const uint4 *)(const void *)&job.points[i];
        planes_cuda_point at;
        memcpy(&at, &raw, sizeof at);
        corner = planes_corner_of(&job.axes[label], (uint32_t)label, at.x, at.y, at.z);
    }
    const bool keep = label >= 0 && (job.polygons == NULL || !is_inside(&job.polygons[label], &corner));
    const uint32_t kept = __ballot_sync(CUDA_ALL, keep);
    if (kept == 0) return;
    const unsigned long long place = warp_reserve(job.found, kept);
    if (keep) job.corners[place] = corner;
}

static mote_status open_job(const planes_cuda *p, const planes_outlining *how, outline_job *job) {
    mote_device *gpu = p->base.device;
    const uint64_t axes = how->planes * sizeof *how->axes, polygons = how->planes * sizeof *how->polygons;
    job->axes = (planes_axes *)cuda_alloc(gpu, axes, "planes outlines");
    job->corners =
        (planes_corner *)cuda_alloc(gpu, (job->count / job->step + 1) * sizeof *job->corners, "planes outlines");
    job->found = (unsigned long long *)cuda_alloc(gpu, sizeof *job->found, "planes outlines");
    if (how->polygons != NULL) job->polygons = (planes_polygon *)cuda_alloc(gpu, polygons, "planes outlines");
    MOTE_TRY(mote_context_status(gpu->ctx));
    MOTE_TRY(cuda_fill(gpu, job->found, 0, sizeof *job->found));
    MOTE_TRY(cuda_upload(gpu, job->axes, how->axes, axes));
    return how->polygons != NULL ? cuda_upload(gpu, job->polygons, how->polygons, polygons) : MOTE_OK;
}

static mote_status list_into(const planes_cuda *p, const outline_job *job, planes_corner **corners, uint64_t *count) {
    mote_device *gpu = p->base.device;
    uint64_t found = 0;
    CUDA_LAUNCH(gpu, list_corners, cuda_blocks(job->count / job->step + 1, THREADS), THREADS, *job);
    MOTE_TRY(cuda_launched(gpu, "outlines"));
    MOTE_TRY(cuda_download(gpu, &found, job->found, sizeof found));
    *corners = (planes_corner *)mote_alloc(gpu->ctx, found * sizeof **corners, "planes outlines");
    if (*corners == NULL) return MOTE_ERROR_MEMORY;
    *count = found;
    return found > 0 ? cuda_download(gpu, *corners, job->corners, found * sizeof **corners) : MOTE_OK;
}

mote_status planes_outline_cuda(planes_points *points, const planes_outlining *how, planes_corner **corners,
                                uint64_t *count) {
    const planes_cuda *p = planes_on_cuda(points);
    mote_device *gpu = points->device;
    outline_job job;
    memset(&job, 0, sizeof job);
    *corners = NULL;
    *count = 0;
    job.points = p->points;
    job.label = p->label;
    job.count = points->count;
    job.step = how->step;
    mote_status status = open_job(p, how, &job);
    if (status == MOTE_OK) status = list_into(p, &job, corners, count);
    cuda_free(gpu, job.axes);
    cuda_free(gpu, job.polygons);
    cuda_free(gpu, job.corners);
    cuda_free(gpu, job.found);
    return status;
}

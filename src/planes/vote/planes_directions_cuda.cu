/* A table of directions on the GPU, made of their coordinates alone; and which of them are near each other, which takes
   the host longer than all votes. A warp tries all others for one direction, 32 at once, and before that 32 groups of
   32 by their middle one. What was made stays with the context for the next run. */
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "planes/planes_cuda.h"

#define THREADS 256u
#define WARPS   (THREADS / CUDA_WARP)
#define GROUP   CUDA_WARP /* directions that follow each other */

#define KEPT      "planes directions of the GPU"
#define KEPT_NEAR (1u << 24) /* longer lists are made again */

/* Coordinates one by one, so that lanes read side by side. */
typedef struct coordinates {
    double *x, *y, *z;
} coordinates;

typedef struct near_job {
    coordinates all, middles; /* of directions, and of the middle one of each group */
    double *group_cosine;     /* below this against its middle, a group has none that is near; -1: never */
    uint32_t directions, groups;
    double min_cosine;
    uint32_t *first, *near;
} near_job;

static coordinates coordinates_at(double *rows, uint64_t count) {
    const coordinates at = {rows, rows + count, rows + 2 * count};
    return at;
}

static __global__ void turn_coordinates(const double *xyz, uint32_t count, coordinates out) {
    const uint32_t d = blockIdx.x * THREADS + threadIdx.x;
    if (d >= count) return;
    out.x[d] = xyz[3 * (uint64_t)d];
    out.y[d] = xyz[3 * (uint64_t)d + 1];
    out.z[d] = xyz[3 * (uint64_t)d + 2];
}

static __global__ void make_directions(coordinates all, uint32_t count, double bin, planes_cuda_point *directions) {
    const uint32_t d = blockIdx.x * THREADS + threadIdx.x;
    if (d >= count) return;
    const double x = all.x[d], y = all.y[d], z = all.z[d];
    planes_cuda_point made;
    made.x = (float)(x / bin);
    made.y = (float)(y / bin);
    made.z = (float)(z / bin);
    made.normal = planes_pack_normal((float)x, (float)y, (float)z);
    directions[d] = made;
}

static __device__ inline double cosine_of(const coordinates *a, uint32_t i, const coordinates *b, uint32_t k) {
    return (a->x[i] * b->x[k] + a->y[i] * b->y[k]) + a->z[i] * b->z[k];
}

/* A warp takes a group: how far from its middle one it may still have one that is near, with some to spare, for that
   only rules out. */
static __global__ void bound_groups(near_job job) {
    const uint32_t group = blockIdx.x * WARPS + threadIdx.x / CUDA_WARP, lane = threadIdx.x % CUDA_WARP;
    if (group >= job.groups) return;
    const uint32_t d = min(group * GROUP + lane, job.directions - 1);
    const uint32_t middle = min(group * GROUP + GROUP / 2, job.directions - 1);
    const double min = warp_min(cosine_of(&job.all, middle, &job.all, d));
    if (lane != 0) return;
    const double reach = acos(fmin(fmax(min, -1.0), 1.0)) + acos(fmin(fmax(job.min_cosine, -1.0), 1.0)) + 1e-5;
    job.group_cosine[group] = reach < 1.57 ? cos(reach) : -1;
    job.middles.x[group] = job.all.x[middle];
    job.middles.y[group] = job.all.y[middle];
    job.middles.z[group] = job.all.z[middle];
}

/* Both ends of each other direction: on the same side and on the other. LIST: writes them, else counts them. */
template <bool LIST> static __global__ void find_near(near_job job) {
    const uint32_t d = blockIdx.x * WARPS + threadIdx.x / CUDA_WARP, lane = threadIdx.x % CUDA_WARP;
    if (d >= job.directions) return;
    uint32_t at = LIST ? job.first[d] : 0;
    for (uint32_t start = 0; start < job.groups; start += CUDA_WARP) {
        const uint32_t mine = start + lane;
        const bool close =
            mine < job.groups && fabs(cosine_of(&job.all, d, &job.middles, mine)) >= job.group_cosine[mine];
        for (uint32_t rest = __ballot_sync(CUDA_ALL, close); rest != 0; rest &= rest - 1) {
            const uint32_t other = (start + warp_first(rest)) * GROUP + lane;
            const bool any = other < job.directions && other != d;
            const double cosine = any ? cosine_of(&job.all, d, &job.all, other) : 0;
            const bool same = any && cosine >= job.min_cosine, opposite = any && -cosine >= job.min_cosine;
            const uint32_t place = warp_append(same, &at), place_opposite = warp_append(opposite, &at);
            if (LIST && same) job.near[place] = 2 * other;
            if (LIST && opposite) job.near[place_opposite] = 2 * other + 1;
        }
    }
    if (!LIST && lane == 0) job.first[d] = at;
    if (!LIST && lane == 0 && d + 1 == job.directions) job.first[d + 1] = 0; /* where the sum of all will be */
}

static mote_status list_near(planes_cuda *p, near_job *job) {
    mote_device *gpu = p->base.device;
    const uint32_t blocks = cuda_blocks(job->directions, WARPS);
    CUDA_LAUNCH(gpu, (find_near<false>), blocks, THREADS, *job);
    MOTE_TRY(cuda_launched(gpu, "near directions"));
    MOTE_TRY(cuda_sum32(gpu, job->first, job->first, (uint64_t)job->directions + 1));
    MOTE_TRY(cuda_download(gpu, &p->table.near_count, job->first + job->directions, sizeof p->table.near_count));
    job->near = p->table.near =
        (uint32_t *)cuda_alloc(gpu, p->table.near_count * sizeof(uint32_t), "planes directions");
    if (job->near == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(gpu, (find_near<true>), blocks, THREADS, *job);
    return cuda_launched(gpu, "near directions");
}

static mote_status make_near(planes_cuda *p, const planes_directions *table) {
    mote_device *gpu = p->base.device;
    const uint64_t groups = (table->directions + GROUP - 1) / GROUP;
    near_job job;
    memset(&job, 0, sizeof job);
    /* Four rows: coordinates of the middle one of each group, and what bounds it. */
    double *rows = (double *)cuda_alloc(gpu, 4 * groups * sizeof *rows, "planes directions");
    if (rows == NULL) return MOTE_ERROR_MEMORY;
    job.all = coordinates_at(p->table.xyz, table->directions);
    job.middles = coordinates_at(rows, groups);
    job.group_cosine = rows + 3 * groups;
    job.directions = table->directions;
    job.groups = (uint32_t)groups;
    job.min_cosine = table->min_cosine;
    job.first = p->table.first;
    CUDA_LAUNCH(gpu, bound_groups, cuda_blocks(groups, WARPS), THREADS, job);
    const mote_status status = list_near(p, &job);
    cuda_free(gpu, rows);
    return status;
}

static mote_status upload_coordinates(planes_cuda *p, const planes_directions *table) {
    mote_device *gpu = p->base.device;
    const uint64_t bytes = 3 * (uint64_t)table->directions * sizeof(double);
    double *xyz = (double *)cuda_alloc(gpu, bytes, "planes directions");
    mote_status status = xyz != NULL ? cuda_upload(gpu, xyz, table->xyz, bytes) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, turn_coordinates, cuda_blocks(table->directions, THREADS), THREADS, xyz, table->directions,
                    coordinates_at(p->table.xyz, table->directions));
        status = cuda_launched(gpu, "directions");
    }
    cuda_free(gpu, xyz);
    return status;
}

static mote_status make_sphere(planes_cuda *p, const planes_directions *table) {
    mote_device *gpu = p->base.device;
    const uint64_t directions = table->directions;
    p->table.xyz = (double *)cuda_alloc(gpu, 3 * directions * sizeof(double), "planes directions");
    p->table.direction =
        (planes_cuda_point *)cuda_alloc(gpu, directions * sizeof *p->table.direction, "planes directions");
    p->table.first = (uint32_t *)cuda_alloc(gpu, (directions + 1) * sizeof(uint32_t), "planes directions");
    MOTE_TRY(mote_context_status(gpu->ctx));
    MOTE_TRY(upload_coordinates(p, table));
    return make_near(p, table);
}

/* ---- from run to run */

static void free_arrays(mote_device *gpu, planes_cuda_directions *table) {
    cuda_free(gpu, table->xyz);
    cuda_free(gpu, table->direction);
    cuda_free(gpu, table->first);
    cuda_free(gpu, table->near);
    planes_cuda_directions *kept = table->kept;
    memset(table, 0, sizeof *table);
    table->kept = kept;
}

static uint64_t kept_bytes(const planes_cuda_directions *table) {
    const uint64_t each_bytes = 3 * sizeof(double) + sizeof *table->direction + sizeof *table->first;
    return table->of.directions * each_bytes + table->near_count * sizeof *table->near;
}

static void release_kept(mote_device *gpu, void *kept) {
    free_arrays(gpu, (planes_cuda_directions *)kept);
    mote_free(gpu->ctx, kept);
}

static mote_status open_table(planes_cuda *p) {
    mote_device *gpu = p->base.device;
    if (p->table.kept != NULL) return MOTE_OK;
    planes_cuda_directions *kept = (planes_cuda_directions *)mote_cache_take(gpu, KEPT);
    if (kept != NULL) p->table = *kept;
    if (kept == NULL) kept = (planes_cuda_directions *)mote_alloc(gpu->ctx, sizeof *kept, "planes directions");
    p->table.kept = kept;
    return kept != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

mote_status planes_directions_cuda(planes_cuda *p, const planes_directions *table) {
    mote_device *gpu = p->base.device;
    MOTE_TRY(open_table(p));
    const bool alike = p->table.near != NULL && planes_directions_alike(&p->table.of, table);
    if (alike && p->table.of.bin == table->bin) return MOTE_OK;
    if (!alike) {
        free_arrays(gpu, &p->table);
        MOTE_TRY(make_sphere(p, table));
    }
    p->table.of = *table;
    CUDA_LAUNCH(gpu, make_directions, cuda_blocks(table->directions, THREADS), THREADS,
                coordinates_at(p->table.xyz, table->directions), table->directions, table->bin, p->table.direction);
    return cuda_launched(gpu, "directions");
}

void planes_directions_close_cuda(planes_cuda *p) {
    mote_device *gpu = p->base.device;
    planes_cuda_directions *kept = p->table.kept;
    if (kept == NULL) return;
    if (p->table.near == NULL || p->table.near_count > KEPT_NEAR || mote_context_status(gpu->ctx) != MOTE_OK) {
        free_arrays(gpu, &p->table);
        mote_free(gpu->ctx, kept);
    } else {
        *kept = p->table;
        mote_cache_put(gpu, KEPT, kept, kept_bytes(kept), release_kept);
    }
    memset(&p->table, 0, sizeof p->table);
}

/* A table of directions on the GPU, made of their coordinates alone; and which of them are near each other, which takes
   the host longer than all votes. A warp tries all others for one direction, 32 at once, and before that 32 groups of
   32 by their middle one. */
#include "backend/cuda_kernel.h"
#include "backend/cuda_primitives.h"
#include "planes/planes_cuda.h"

#define THREADS 256u
#define WARPS   (THREADS / CUDA_WARP)
#define GROUP   CUDA_WARP /* directions that follow each other */

/* Coordinates one by one, so that lanes read side by side. */
typedef struct coordinates {
    double *x, *y, *z;
} coordinates;

typedef struct near_job {
    coordinates all, middles; /* of directions, and of the middle one of each group */
    double *group_cosine;     /* below this against its middle, a group has none that is near; -1: never */
    uint32_t directions, groups;
    double least_cosine;
    uint32_t *first, *near;
} near_job;

static __global__ void make_directions(const double *xyz, near_job job, double bin, planes_cuda_point *directions) {
    const uint32_t d = blockIdx.x * THREADS + threadIdx.x;
    if (d >= job.directions) return;
    const double *at = xyz + 3 * (uint64_t)d;
    planes_cuda_point made;
    made.x = (float)(at[0] / bin);
    made.y = (float)(at[1] / bin);
    made.z = (float)(at[2] / bin);
    made.normal = planes_pack_normal((float)at[0], (float)at[1], (float)at[2]);
    directions[d] = made;
    job.all.x[d] = at[0];
    job.all.y[d] = at[1];
    job.all.z[d] = at[2];
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
    double least = cosine_of(&job.all, middle, &job.all, d);
    for (int away = CUDA_WARP / 2; away > 0; away /= 2) { least = fmin(least, __shfl_xor_sync(CUDA_ALL, least, away)); }
    if (lane != 0) return;
    const double reach = acos(fmin(fmax(least, -1.0), 1.0)) + acos(fmin(fmax(job.least_cosine, -1.0), 1.0)) + 1e-5;
    job.group_cosine[group] = reach < 1.57 ? cos(reach) : -1;
    job.middles.x[group] = job.all.x[middle];
    job.middles.y[group] = job.all.y[middle];
    job.middles.z[group] = job.all.z[middle];
}

/* Both ends of each other direction: on the same side and on the other. LIST: writes them, else counts them. */
template <bool LIST> static __global__ void find_near(near_job job) {
    const uint32_t d = blockIdx.x * WARPS + threadIdx.x / CUDA_WARP, lane = threadIdx.x % CUDA_WARP;
    const uint32_t before = (1u << lane) - 1;
    if (d >= job.directions) return;
    uint32_t at = LIST ? job.first[d] : 0;
    for (uint32_t start = 0; start < job.groups; start += CUDA_WARP) {
        const uint32_t mine = start + lane;
        const bool close =
            mine < job.groups && fabs(cosine_of(&job.all, d, &job.middles, mine)) >= job.group_cosine[mine];
        for (uint32_t rest = __ballot_sync(CUDA_ALL, close); rest != 0; rest &= rest - 1) {
            const uint32_t other = (start + (uint32_t)__ffs((int)rest) - 1) * GROUP + lane;
            const bool any = other < job.directions && other != d;
            const double cosine = any ? cosine_of(&job.all, d, &job.all, other) : 0;
            const bool same = any && cosine >= job.least_cosine, opposite = any && -cosine >= job.least_cosine;
            const uint32_t sames = __ballot_sync(CUDA_ALL, same), opposites = __ballot_sync(CUDA_ALL, opposite);
            if (LIST && same) job.near[at + (uint32_t)__popc(sames & before)] = 2 * other;
            at += (uint32_t)__popc(sames);
            if (LIST && opposite) job.near[at + (uint32_t)__popc(opposites & before)] = 2 * other + 1;
            at += (uint32_t)__popc(opposites);
        }
    }
    if (!LIST && lane == 0) job.first[d] = at;
}

static mote_status list_near(planes_cuda *p, near_job *job) {
    mote_context *ctx = p->base.ctx;
    const uint32_t blocks = cuda_blocks(job->directions, WARPS);
    uint32_t total = 0;
    CUDA_LAUNCH(ctx, (find_near<false>), blocks, THREADS, *job);
    MOTE_TRY(cuda_launched(ctx, "near directions"));
    MOTE_TRY(cuda_sum32(ctx, job->first, job->first, (uint64_t)job->directions + 1));
    MOTE_TRY(cuda_download(ctx, &total, job->first + job->directions, sizeof total));
    job->near = p->table.near = (uint32_t *)cuda_alloc(ctx, total * sizeof(uint32_t), "planes directions");
    if (job->near == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(ctx, (find_near<true>), blocks, THREADS, *job);
    return cuda_launched(ctx, "near directions");
}

/* Seven rows of one array: coordinates of directions and of middles, and what bounds groups. */
static uint64_t work_doubles(uint64_t directions) { return 3 * directions + 4 * (directions / GROUP + 1); }

static near_job job_of(const planes_cuda *p, const planes_table *table, double *work) {
    const uint64_t directions = table->directions, groups = directions / GROUP + 1;
    near_job job;
    memset(&job, 0, sizeof job);
    job.all.x = work;
    job.all.y = work + directions;
    job.all.z = work + 2 * directions;
    job.middles.x = work + 3 * directions;
    job.middles.y = job.middles.x + groups;
    job.middles.z = job.middles.y + groups;
    job.group_cosine = job.middles.z + groups;
    job.directions = table->directions;
    job.groups = (table->directions + GROUP - 1) / GROUP;
    job.least_cosine = table->least_cosine;
    job.first = p->table.first;
    return job;
}

static mote_status make_table(planes_cuda *p, const planes_table *table, double *xyz, double *work) {
    mote_context *ctx = p->base.ctx;
    near_job job = job_of(p, table, work);
    MOTE_TRY(cuda_upload(ctx, xyz, table->xyz, 3 * (uint64_t)table->directions * sizeof *xyz));
    CUDA_LAUNCH(ctx, make_directions, cuda_blocks(job.directions, THREADS), THREADS, xyz, job, table->bin,
                p->table.direction);
    CUDA_LAUNCH(ctx, bound_groups, cuda_blocks(job.groups, WARPS), THREADS, job);
    return list_near(p, &job);
}

static bool same_table(const planes_table *a, const planes_table *b) {
    return a->directions == b->directions && a->bins == b->bins && a->xyz == b->xyz && a->cone == b->cone &&
           a->least_cosine == b->least_cosine && a->bin == b->bin;
}

mote_status planes_table_cuda(planes_cuda *p, const planes_table *table) {
    mote_context *ctx = p->base.ctx;
    const uint64_t directions = table->directions;
    if (p->table.direction != NULL && same_table(&p->table.host, table)) return MOTE_OK;
    planes_table_free_cuda(p);
    p->table.direction =
        (planes_cuda_point *)cuda_alloc(ctx, directions * sizeof *p->table.direction, "planes directions");
    p->table.first = (uint32_t *)cuda_alloc(ctx, (directions + 1) * sizeof(uint32_t), "planes directions");
    double *xyz = (double *)cuda_alloc(ctx, 3 * directions * sizeof *xyz, "planes directions");
    double *work = (double *)cuda_alloc(ctx, work_doubles(directions) * sizeof *work, "planes directions");
    mote_status status = mote_context_status(ctx);
    if (status == MOTE_OK) status = make_table(p, table, xyz, work);
    cuda_free(ctx, xyz);
    cuda_free(ctx, work);
    if (status == MOTE_OK) p->table.host = *table;
    return status;
}

void planes_table_free_cuda(planes_cuda *p) {
    cuda_free(p->base.ctx, p->table.direction);
    cuda_free(p->base.ctx, p->table.first);
    cuda_free(p->base.ctx, p->table.near);
    memset(&p->table, 0, sizeof p->table);
}

/* The host's table of directions on the GPU, and which of them are near each other. What was brought there stays with
   the context for the next run. */
#include "device/cuda/cuda_primitives.h"
#include "planes/planes_cuda.h"

#define KEPT      "planes directions of the GPU"
#define KEPT_NEAR (1u << 24) /* longer lists are brought again */

/* ---- from run to run */

static void free_arrays(mote_device *gpu, planes_cuda_directions *table) {
    cuda_free(gpu, table->direction);
    cuda_free(gpu, table->first);
    cuda_free(gpu, table->near);
    memset(table, 0, sizeof *table);
}

static uint64_t kept_bytes(const planes_cuda_directions *table) {
    const uint64_t each_bytes = sizeof *table->direction + sizeof *table->first;
    return table->of.directions * each_bytes + table->near_count * sizeof *table->near;
}

static void release_kept(mote_device *gpu, void *kept) {
    free_arrays(gpu, (planes_cuda_directions *)kept);
    mote_free(gpu->ctx, kept);
}

static mote_status open_table(planes_cuda *p) {
    mote_device *gpu = p->base.device;
    if (p->table == NULL) p->table = (planes_cuda_directions *)mote_cache_take(gpu, KEPT);
    if (p->table == NULL) {
        p->table = (planes_cuda_directions *)mote_alloc_zero(gpu->ctx, sizeof *p->table, "planes directions");
    }
    return p->table != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status upload_near(planes_cuda *p, const planes_directions *table) {
    mote_device *gpu = p->base.device;
    const uint64_t directions = table->directions, near = table->first[directions];
    free_arrays(gpu, p->table);
    p->table->direction =
        (planes_cuda_point *)cuda_alloc(gpu, directions * sizeof *p->table->direction, "planes directions");
    p->table->first = (uint32_t *)cuda_alloc(gpu, (directions + 1) * sizeof(uint32_t), "planes directions");
    p->table->near = (uint32_t *)cuda_alloc(gpu, near * sizeof(uint32_t), "planes directions");
    MOTE_TRY(mote_context_status(gpu->ctx));
    p->table->near_count = (uint32_t)near;
    MOTE_TRY(cuda_upload(gpu, p->table->first, table->first, (directions + 1) * sizeof(uint32_t)));
    return near > 0 ? cuda_upload(gpu, p->table->near, table->near, near * sizeof(uint32_t)) : MOTE_OK;
}

/* Directions in bins per step, which are of a run. */
static mote_status upload_directions(planes_cuda *p, const planes_directions *table) {
    const uint64_t bytes = table->directions * sizeof(planes_cuda_point);
    planes_cuda_point *packed = (planes_cuda_point *)(void *)planes_cuda_scratch(p, bytes);
    if (packed == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t d = 0; d < table->directions; d++) {
        packed[d].x = table->a[d];
        packed[d].y = table->b[d];
        packed[d].z = table->c[d];
        packed[d].normal = table->normal[d];
    }
    return cuda_upload(p->base.device, p->table->direction, packed, bytes);
}

mote_status planes_directions_cuda(planes_cuda *p, planes_directions *table) {
    MOTE_TRY(planes_directions_fill(p->base.ctx, table));
    MOTE_TRY(open_table(p));
    const bool alike = p->table->near != NULL && p->table->of.directions == table->directions &&
                       planes_directions_alike(&p->table->of, table);
    if (alike && p->table->of.bin == table->bin) return MOTE_OK;
    if (!alike) MOTE_TRY(upload_near(p, table));
    p->table->of = *table;
    return upload_directions(p, table);
}

void planes_directions_close_cuda(planes_cuda *p) {
    mote_device *gpu = p->base.device;
    planes_cuda_directions *table = p->table;
    if (table == NULL) return;
    if (table->near == NULL || table->near_count > KEPT_NEAR || mote_context_status(gpu->ctx) != MOTE_OK) {
        release_kept(gpu, table);
    } else {
        mote_cache_put(gpu, KEPT, table, kept_bytes(table), release_kept);
    }
    p->table = NULL;
}

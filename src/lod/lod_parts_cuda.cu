/* An octree of more points than the device holds: each part is sorted and played there, the rest is the host's. */
#include "device/cuda/cuda_primitives.h"
#include "lod/lod_cpu.h"
#include "lod/lod_cuda.h"
#include "lod/lod_parts.h"

#define PART_BYTES                                                                                                     \
    40u /* of device memory per point of a part: pairs twice, the sort's scratch, levels, open points                  \
         */
#define SPARE_BYTES (1u << 20)

typedef struct part_memory {
    cuda_pairs64 pairs;
    uint8_t *level;
} part_memory;

/* Finds at which level of cells each point of the part loses. */
static mote_status select_part(mote_lod *lod, const lod_part *part, const part_memory *m, lod_parts *parts) {
    mote_device *gpu = lod->device;
    lod_cuda_selection selection;
    lod_cuda_unresolved open;
    memset(&selection, 0, sizeof selection);
    selection.codes = m->pairs.keys;
    selection.order = m->pairs.values;
    selection.level = m->level;
    selection.count = part->count;
    selection.seed = lod->params.seed;
    selection.code_before = part->first_code > 0 ? part->first_code - 1 : UINT64_MAX;
    selection.code_after = part->end_code < 1ull << 3 * MOTE_ORDER_BITS ? part->end_code : UINT64_MAX;
    selection.grid_bits = lod_cell_level(lod, 0);
    selection.random = lod->params.sampling != MOTE_LOD_FIRST;
    MOTE_TRY(lod_cuda_select(gpu, &selection, &open));
    for (uint32_t i = 0; i < open.count; i++) {
        MOTE_TRY(lod_parts_open(lod, parts, part->first + open.positions[i], open.lost[i]));
    }
    return cuda_download(gpu, lod->level + part->first, m->level, part->count);
}

static mote_status build_part(mote_lod *lod, const lod_part *part, part_memory *m, lod_parts *parts) {
    mote_device *gpu = lod->device;
    if (lod_part_is_duplicates(part)) return lod_parts_duplicates(lod, part, parts);
    /* 1: memory for the part; whoever calls frees it. */
    m->pairs.keys = (uint64_t *)cuda_alloc(gpu, part->count * sizeof(uint64_t), "codes");
    m->pairs.other_keys = (uint64_t *)cuda_alloc(gpu, part->count * sizeof(uint64_t), "codes");
    m->pairs.values = (uint32_t *)cuda_alloc(gpu, part->count * sizeof(uint32_t), "order");
    m->pairs.other_values = (uint32_t *)cuda_alloc(gpu, part->count * sizeof(uint32_t), "order");
    m->level = (uint8_t *)cuda_alloc(gpu, part->count, "levels");
    const bool all = m->pairs.keys != NULL && m->pairs.other_keys != NULL && m->pairs.values != NULL &&
                     m->pairs.other_values != NULL && m->level != NULL;
    if (!all) return MOTE_ERROR_MEMORY;
    /* 2: its points in order. */
    MOTE_TRY(cuda_upload(gpu, m->pairs.keys, parts->codes + part->first, part->count * sizeof(uint64_t)));
    MOTE_TRY(cuda_upload(gpu, m->pairs.values, parts->indices + part->first, part->count * sizeof(uint32_t)));
    MOTE_TRY(cuda_sort64(gpu, &m->pairs, part->count, 0, 3 * MOTE_ORDER_BITS));
    MOTE_TRY(cuda_download(gpu, lod->codes + part->first, m->pairs.keys, part->count * sizeof(uint64_t)));
    MOTE_TRY(cuda_download(gpu, lod->order + part->first, m->pairs.values, part->count * sizeof(uint32_t)));
    /* 3: at which level each of them loses. */
    return lod->params.sampling == MOTE_LOD_POISSON ? MOTE_OK : select_part(lod, part, m, parts);
}

static mote_status build_all(mote_lod *lod, lod_parts *parts) {
    mote_device *gpu = lod->device;
    const uint64_t available = cuda_available(gpu);
    MOTE_TRY(lod_parts_make(lod, available > SPARE_BYTES ? (available - SPARE_BYTES) / PART_BYTES : 0, parts));
    lod->order = (uint32_t *)mote_alloc(gpu->ctx, lod->count * sizeof *lod->order, "order");
    lod->level = (uint8_t *)mote_alloc(gpu->ctx, lod->count, "levels");
    if (lod->order == NULL || lod->level == NULL) return MOTE_ERROR_MEMORY;
    mote_stage(gpu->ctx, "sort and sampling");
    for (uint32_t p = 0; p < parts->part_count; p++) {
        part_memory m;
        memset(&m, 0, sizeof m);
        const lod_part *part = &parts->parts[p];
        const mote_status status = part->count > 0 ? build_part(lod, part, &m, parts) : MOTE_OK;
        void *const owned[] = {m.pairs.keys, m.pairs.other_keys, m.pairs.values, m.pairs.other_values, m.level};
        for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) cuda_free(gpu, owned[i]);
        if (status != MOTE_OK) return status;
        MOTE_TRY(mote_progress(gpu->ctx, 0.3 + 0.4 * (p + 1) / parts->part_count, "sorting in parts"));
    }
    return lod_parts_finish(lod, parts);
}

mote_status lod_cuda_build_parts(mote_lod *lod) {
    mote_device *gpu = lod->device;
    lod_parts parts;
    memset(&parts, 0, sizeof parts);
    mote_status status = build_all(lod, &parts);
    lod_parts_free(gpu->ctx, &parts);
    if (status == MOTE_OK && lod->params.filter != MOTE_LOD_FILTER_NONE && lod->rgb[0] != NULL) {
        mote_warn(gpu->ctx, "the memory of the GPU does not hold all points: the CPU filters their colours");
        mote_stage(gpu->ctx, "filter");
        status = lod_filter_cpu(lod);
    }
    lod_drop_codes(lod);
    return status;
}

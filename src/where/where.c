/* Points chosen by a condition. */
#include "where/where_program.h"

static uint64_t block_of(uint64_t count, int64_t block, uint64_t *first) {
    *first = (uint64_t)block * WHERE_BLOCK_POINTS;
    return count - *first < WHERE_BLOCK_POINTS ? count - *first : WHERE_BLOCK_POINTS;
}

uint64_t mote_where_choose(const mote_context *ctx, const where_bound *bound, uint64_t count, bool *chosen) {
    const int64_t blocks = (int64_t)((count + WHERE_BLOCK_POINTS - 1) / WHERE_BLOCK_POINTS);
    uint64_t found = 0;
#pragma omp parallel num_threads(ctx->threads) reduction(+ : found)
    {
        where_scratch scratch;
#pragma omp for schedule(static)
        for (int64_t b = 0; b < blocks; b++) {
            uint8_t mask[WHERE_BLOCK_POINTS];
            uint64_t first;
            const uint64_t some = block_of(count, b, &first);
            found += mote_where_test(bound, first, some, &scratch, mask);
            for (uint64_t i = 0; i < some; i++) chosen[first + i] = mask[i] != 0;
        }
    }
    return found;
}

uint64_t mote_where_compact(const where_bound *bound, uint64_t first, uint64_t count, uint8_t *records,
                            uint64_t stride_bytes) {
    where_scratch scratch;
    uint8_t mask[WHERE_BLOCK_POINTS];
    uint64_t kept = 0;
    for (uint64_t at = 0; at < count; at += WHERE_BLOCK_POINTS) {
        const uint64_t some = count - at < WHERE_BLOCK_POINTS ? count - at : WHERE_BLOCK_POINTS;
        if (mote_where_test(bound, first + at, some, &scratch, mask) == 0) continue;
        for (uint64_t i = 0; i < some; i++) {
            if (mask[i] == 0) continue;
            if (kept < at + i) memcpy(records + kept * stride_bytes, records + (at + i) * stride_bytes, stride_bytes);
            kept++;
        }
    }
    return kept;
}

static mote_status select_chosen(mote_context *ctx, mote_cloud **cloud, const bool *chosen, uint64_t found) {
    mote_cloud *kept = NULL;
    uint64_t *indices = mote_alloc(ctx, found * sizeof *indices, "chosen points");
    if (indices == NULL) return MOTE_ERROR_MEMORY;
    uint64_t *to = indices;
    for (uint64_t i = 0; i < (*cloud)->count; i++) {
        if (chosen[i]) *to++ = i;
    }
    const mote_status status = mote_cloud_select(ctx, *cloud, indices, found, &kept);
    mote_free(ctx, indices);
    if (status != MOTE_OK) return status;
    mote_cloud_destroy(*cloud);
    *cloud = kept;
    return MOTE_OK;
}

mote_status mote_where_keep(mote_context *ctx, mote_cloud **cloud, const where_program *program, const char *source) {
    where_bound bound = {0};
    const uint64_t count = (*cloud)->count;
    bool *chosen = mote_alloc(ctx, count * sizeof *chosen, "chosen points");
    mote_status status = chosen != NULL ? mote_where_bind(program, *cloud, source, &bound) : MOTE_ERROR_MEMORY;
    const uint64_t found = status == MOTE_OK ? mote_where_choose(ctx, &bound, count, chosen) : 0;
    mote_where_unbind(&bound);
    if (status == MOTE_OK && found < count) status = select_chosen(ctx, cloud, chosen, found);
    mote_free(ctx, chosen);
    return status;
}

mote_status mote_cloud_where(mote_context *ctx, const mote_cloud *cloud, const char *condition, bool *chosen,
                             uint64_t *count) {
    where_program *program = NULL;
    where_bound bound = {0};
    *count = 0;
    MOTE_TRY(mote_cloud_need_host(ctx, cloud, "choosing points"));
    MOTE_TRY(mote_where_condition(ctx, condition, &program));
    mote_status status = mote_where_bind(program, cloud, NULL, &bound);
    if (status == MOTE_OK) *count = mote_where_choose(ctx, &bound, cloud->count, chosen);
    mote_where_unbind(&bound);
    mote_where_free(program);
    return status == MOTE_OK ? mote_cloud_check(cloud) : status;
}

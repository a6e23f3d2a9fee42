/* One build by the library and by the reference, and the parameters worth building with. */
#include <stdio.h>

#include "reference/lod_reference.h"

#define ADD MOTE_LOD_ADDITIVE
#define REP MOTE_LOD_REPLACING

const mote_lod_params lod_combinations[] = {
    {ADD, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE, 2, 1, 0, 0, false, {0}},
    {ADD, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE, 4, 5, 0, 1, false, {0}},
    {ADD, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE, 16, 40, 7, 2, false, {0}},
    {ADD, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE, 128, 20, 0, UINT64_MAX, false, {0}},
    {ADD, MOTE_LOD_FIRST, MOTE_LOD_FILTER_NONE, 4, 10, 0, 0, false, {0}},
    {ADD, MOTE_LOD_FIRST, MOTE_LOD_FILTER_NONE, 8, 1, 3, 0, false, {0}},
    {ADD, MOTE_LOD_FIRST, MOTE_LOD_FILTER_NONE, 1024, 200, 0, 0, false, {0}},
    {ADD, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NONE, 2, 5, 0, 3, false, {0}},
    {ADD, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NONE, 4, 20, 0, 4, false, {0}},
    {ADD, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NONE, 8, 60, 0, 5, false, {0}},
    {ADD, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NONE, 32, 30, 9, 6, false, {0}},
    {ADD, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NONE, 128, 1, 0, 7, false, {0}},
    {REP, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE, 8, 30, 0, 8, false, {0}},
    {REP, MOTE_LOD_FIRST, MOTE_LOD_FILTER_NONE, 16, 5, 0, 0, false, {0}},
    {REP, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NONE, 4, 10, 0, 9, false, {0}},
    {REP, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE, 4, 10, 20, 0, false, {0}},
    {REP, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_CELL, 2, 5, 0, 0, false, {0}},
    {REP, MOTE_LOD_FIRST, MOTE_LOD_FILTER_CELL, 16, 50, 0, 0, false, {0}},
    {REP, MOTE_LOD_POISSON, MOTE_LOD_FILTER_CELL, 8, 20, 0, 1, false, {0}},
    {REP, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NEIGHBORS, 4, 20, 0, 2, false, {0}},
    {REP, MOTE_LOD_FIRST, MOTE_LOD_FILTER_NEIGHBORS, 2, 100, 0, 0, false, {0}},
    {REP, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NEIGHBORS, 64, 5, 0, 3, false, {0}},
    {REP, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_GAUSSIAN, 2, 20, 0, 4, false, {0}},
    {REP, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_GAUSSIAN, 8, 50, 0, 5, false, {0}},
    {REP, MOTE_LOD_POISSON, MOTE_LOD_FILTER_GAUSSIAN, 16, 30, 0, 6, false, {0}},
};
const uint32_t lod_combination_count = sizeof lod_combinations / sizeof lod_combinations[0];

void lod_combination_name(const mote_lod_params *p, const char *cloud, uint64_t n, char *text) {
    static const char *const filters[] = {"none", "cell", "neighbors", "gaussian"};
    static const char *const samplings[] = {"random", "first", "poisson"};
    snprintf(text, REFERENCE_NAME_BYTES, "%s, %llu points, %s, %s, filter %s, grid %u, merge %u, most %llu", cloud,
             (unsigned long long)n, p->scheme == ADD ? "additive" : "replacing", samplings[p->sampling],
             filters[p->filter], p->grid, p->merge_points, (unsigned long long)p->max_node_points);
}

bool lod_reference_agrees(mote_context *ctx, const mote_cloud *cloud, const mote_lod_params *p, uint32_t *levels,
                          char *why) {
    mote_lod *lod = NULL;
    lod_reference *r = lod_reference_build(ctx, cloud, p);
    const mote_status status = mote_lod_build(ctx, cloud, p, &lod);
    bool good = status == (r->refused ? MOTE_ERROR_UNSUPPORTED : MOTE_OK);
    if (!good) {
        snprintf(why, REFERENCE_WHY_BYTES, "%s (%.300s)", mote_status_name(status), mote_context_message(ctx));
    } else if (status == MOTE_OK) {
        good = lod_reference_compare(r, lod, why) && lod_reference_check_rules(r, lod, why);
    }
    mote_context_clear(ctx);
    *levels = r->level_count;
    mote_lod_destroy(lod);
    lod_reference_destroy(r);
    return good;
}

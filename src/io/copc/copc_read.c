/* Which chunks of a COPC file a reader needs, and what its octree looks like. */
#include <float.h>
#include <math.h>

#include "io/copc/copc.h"

static bool meets(const copc_info *info, const copc_key *key, const double margin[3], const mote_box *bounds) {
    mote_box cube;
    mote_copc_cube(info, key, &cube);
    for (int k = 0; k < 3; k++) {
        if (cube.max[k] + margin[k] < bounds->min[k] || cube.min[k] - margin[k] > bounds->max[k]) return false;
    }
    return true;
}

bool mote_copc_needed(const mote_input *input, const mote_read_params *params) {
    return (params->bounds != NULL || params->resolution > 0) && mote_copc_probe(input);
}

mote_status mote_copc_filter(mote_context *ctx, const mote_input *input, const mote_read_params *params,
                             copc_nodes *nodes) {
    copc_info info;
    double margin[3];
    uint64_t kept = 0;
    memset(nodes, 0, sizeof *nodes);
    MOTE_TRY(mote_copc_info_read(ctx, input, &info));
    MOTE_TRY(mote_copc_nodes_read(ctx, input, &info, nodes));
    /* Writers make nodes of points before these are rounded to the file's lattice, and compute cubes in several ways: a
       point may lie a step outside its cube. */
    for (uint32_t k = 0; k < 3; k++) {
        const double step = fabs(las_f64(input->data + LAS_AT_SCALE + 8 * k));
        margin[k] = 64 * DBL_EPSILON * (fabs(info.center[k]) + info.halfsize) + (isfinite(step) ? step : 0);
    }
    const uint32_t last = mote_copc_last_level(info.spacing, params->resolution);
    for (uint64_t i = 0; i < nodes->count; i++) {
        const copc_key *key = &nodes->nodes[i].key;
        if (key->level > last) continue;
        if (params->bounds != NULL && !meets(&info, key, margin, params->bounds)) continue;
        nodes->nodes[kept++] = nodes->nodes[i];
    }
    nodes->count = kept;
    return MOTE_OK;
}

/* ---- what mote info says */

static mote_status count_levels(mote_context *ctx, const mote_input *input, mote_copc_level *levels, uint32_t capacity,
                                mote_copc_facts *facts) {
    copc_info info;
    copc_nodes nodes;
    MOTE_TRY(mote_copc_info_read(ctx, input, &info));
    const mote_status status = mote_copc_nodes_read(ctx, input, &info, &nodes);
    for (uint64_t i = 0; i < nodes.count && status == MOTE_OK; i++) {
        const uint32_t level = nodes.nodes[i].key.level;
        if (level >= facts->level_count) facts->level_count = level + 1;
        facts->points += nodes.nodes[i].points;
        if (level >= capacity) continue;
        levels[level].nodes++;
        levels[level].points += nodes.nodes[i].points;
    }
    facts->nodes = nodes.count;
    facts->pages = nodes.pages;
    facts->spacing = info.spacing;
    memcpy(facts->center, info.center, sizeof facts->center);
    facts->halfsize = info.halfsize;
    for (uint32_t l = 0; l < capacity && l < facts->level_count; l++) levels[l].spacing = ldexp(info.spacing, -(int)l);
    mote_free(ctx, nodes.nodes);
    return status;
}

mote_status mote_copc_levels(mote_context *ctx, const char *path, mote_copc_level *levels, uint32_t capacity,
                             mote_copc_facts *facts) {
    mote_input input;
    memset(facts, 0, sizeof *facts);
    if (capacity > 0) memset(levels, 0, capacity * sizeof *levels);
    MOTE_TRY(mote_input_open(ctx, path, &input));
    facts->is_copc = mote_copc_probe(&input);
    mote_status status = facts->is_copc ? count_levels(ctx, &input, levels, capacity, facts) : MOTE_OK;
    if (status == MOTE_OK) status = mote_input_check(ctx, &input);
    mote_input_close(ctx, &input);
    return status;
}

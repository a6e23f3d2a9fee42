/* mote_potree_levels: what is in a Potree 2.0 folder, without reading points. */
#include "io/potree/potree.h"

typedef struct levels_task {
    mote_potree_level *levels;
    uint32_t capacity;
    mote_potree_facts *facts;
} levels_task;

static void count_node(const potree_node *node, const levels_task *task) {
    if (node->level >= task->facts->level_count) task->facts->level_count = node->level + 1;
    task->facts->nodes++;
    task->facts->points += node->points;
    if (node->level >= task->capacity) return;
    mote_potree_level *level = &task->levels[node->level];
    level->nodes++;
    level->points += node->points;
    if (node->child_mask == 0) level->leaves++;
}

static mote_status count_levels(mote_context *ctx, const potree_files *files, void *user) {
    const levels_task *task = user;
    potree_layout layout;
    potree_node *nodes = NULL;
    uint32_t count = 0;
    mote_status status = potree_layout_parse(ctx, files, &layout);
    if (status == MOTE_OK) status = potree_nodes_read(&layout, &nodes, &count);
    for (uint32_t n = 0; n < count && status == MOTE_OK; n++) count_node(&nodes[n], task);
    if (status == MOTE_OK) {
        task->facts->brotli = layout.brotli;
        task->facts->replacing = layout.replacing;
    }
    mote_free(ctx, nodes);
    potree_layout_free(&layout);
    return status;
}

mote_status mote_potree_levels(mote_context *ctx, const char *path, mote_potree_level *levels, uint32_t capacity,
                               mote_potree_facts *facts) {
    levels_task task = {levels, capacity, facts};
    memset(facts, 0, sizeof *facts);
    if (capacity > 0) memset(levels, 0, capacity * sizeof *levels);
    return potree_with_files(ctx, path, count_levels, &task);
}

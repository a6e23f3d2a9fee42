/* mote lod --stats and --json. */
#include "lod/lod_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "print.h"
#include "text.h"

static int compare_counts(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* One level: nodes [first, last) of the table. counts has room for them. */
static level_stats measure_level(const mote_lod_node *nodes, uint32_t first, uint32_t last, uint64_t *counts) {
    level_stats level = {0};
    level.nodes = last - first;
    for (uint32_t i = first; i < last; i++) {
        counts[i - first] = nodes[i].point_count;
        level.points += nodes[i].point_count;
        if (nodes[i].child_mask != 0) {
            level.inner++;
        } else {
            level.leaves++;
        }
    }
    qsort(counts, level.nodes, sizeof *counts, compare_counts);
    level.node_min = counts[0];
    level.node_median = counts[level.nodes / 2];
    level.node_p90 = counts[level.nodes * 9 / 10];
    level.node_max = counts[level.nodes - 1];
    return level;
}

int lod_levels(const mote_lod *lod, level_stats levels[LEVELS_MAX]) {
    const mote_lod_node *nodes = mote_lod_nodes(lod);
    const uint32_t count = mote_lod_node_count(lod);
    uint64_t *counts = malloc((size_t)count * sizeof *counts + 1);
    int level_count = 0;
    for (uint32_t first = 0; counts != NULL && first < count && level_count < LEVELS_MAX;) {
        uint32_t last = first;
        while (last < count && nodes[last].level == nodes[first].level) last++;
        levels[level_count++] = measure_level(nodes, first, last, counts);
        first = last;
    }
    free(counts);
    return level_count;
}

void lod_print_stats(const session *s, const mote_lod *lod, const lod_written *written, uint64_t input_points) {
    level_stats levels[LEVELS_MAX];
    const int count = lod_levels(lod, levels);
    print_out("%5s %9s %9s %9s %14s   %s\n", "level", "nodes", "inner", "leaves", "points",
              "points per node: min  median     p90     max");
    for (int i = 0; i < count; i++) {
        const level_stats *l = &levels[i];
        print_out("%5d %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %14s   %20" PRIu64 " %7" PRIu64 " %7" PRIu64 " %7" PRIu64
                  "\n",
                  i, l->nodes, l->inner, l->leaves, text_count(l->points).chars, l->node_min, l->node_median,
                  l->node_p90, l->node_max);
    }
    print_out("\n%s points in, %s stored, %s left out (no finite position); %s %s, %s %s\n",
              text_count(input_points).chars, text_count(written->points).chars,
              text_count(mote_lod_skipped(lod)).chars, written->copc ? "file" : "octree.bin",
              text_bytes(written->bytes).chars, written->copc ? "of it hierarchy" : "hierarchy.bin",
              text_bytes(written->hierarchy_bytes).chars);
    costs_print(s, NULL, 0, input_points);
}

static void emit_levels(json_writer *json, const mote_lod *lod) {
    level_stats levels[LEVELS_MAX];
    const int count = lod_levels(lod, levels);
    emit_open(json, "levels", '[');
    for (int i = 0; i < count; i++) {
        emit_open(json, NULL, '{');
        emit_count(json, "nodes", levels[i].nodes);
        emit_count(json, "inner", levels[i].inner);
        emit_count(json, "leaves", levels[i].leaves);
        emit_count(json, "points", levels[i].points);
        emit_count(json, "node_min", levels[i].node_min);
        emit_count(json, "node_median", levels[i].node_median);
        emit_count(json, "node_p90", levels[i].node_p90);
        emit_count(json, "node_max", levels[i].node_max);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

void lod_print_json(const session *s, const mote_lod *lod, const lod_written *written, const char *output,
                    uint64_t input_points) {
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_text(&json, "output", output);
    emit_count(&json, "points", input_points);
    emit_count(&json, "skipped", mote_lod_skipped(lod));
    emit_count(&json, "stored", written->points);
    emit_count(&json, "nodes", mote_lod_node_count(lod));
    emit_count(&json, written->copc ? "file_bytes" : "octree_bytes", written->bytes);
    emit_count(&json, "hierarchy_bytes", written->hierarchy_bytes);
    emit_text(&json, "backend", mote_context_backend(s->ctx));
    emit_real(&json, "seconds", seconds_now() - s->started);
    if (s->options.hash) emit_text(&json, "hash", text_hash(written->hash).chars);
    emit_levels(&json, lod);
    costs_emit(s, NULL, 0, &json);
    emit_close(&json, '}');
    emit_end(&json);
}

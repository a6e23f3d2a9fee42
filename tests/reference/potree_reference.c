#include "reference/potree_reference.h"

#include <mote_have.h>

#if MOTE_HAVE_JANSSON
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cloud_files.h"

static potree_reference_file read_all(const char *folder, const char *name) {
    char path[600];
    potree_reference_file bytes = {NULL, 0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    bytes.data = (uint8_t *)test_load(path, &bytes.size);
    return bytes;
}

void potree_reference_same_folders(const char *a, const char *b) {
    static const char *const names[3] = {"metadata.json", "hierarchy.bin", "octree.bin"};
    for (int f = 0; f < 3; f++) {
        potree_reference_file left = read_all(a, names[f]), right = read_all(b, names[f]);
        assert_int_equal(left.size, right.size);
        assert_memory_equal(left.data, right.data, left.size);
        free(left.data);
        free(right.data);
    }
}

static void read_chunk(potree_reference *set, uint64_t offset, uint64_t size, const char *root) {
    potree_reference_node *queue = calloc(size / 22 + 1, sizeof *queue);
    uint64_t queued = 1;
    snprintf(queue[0].name, sizeof queue[0].name, "%s", root);
    assert_true(size % 22 == 0 && offset + size <= set->hierarchy.size);
    for (uint64_t r = 0; r < size / 22; r++) {
        const uint8_t *at = set->hierarchy.data + offset + 22 * r;
        potree_reference_node *node = &queue[r];
        assert_true(r < queued);
        node->mask = at[1];
        memcpy(&node->points, at + 2, 4);
        memcpy(&node->offset, at + 6, 8);
        memcpy(&node->size, at + 14, 8);
        if (at[0] == 2) {
            assert_int_equal(strlen(node->name) - strlen(root), 4);
            read_chunk(set, node->offset, node->size, node->name);
            continue;
        }
        assert_int_equal(at[0], node->mask == 0 ? 1 : 0);
        for (int c = 0; c < 8; c++) {
            if (!(node->mask >> c & 1)) continue;
            assert_true(queued < size / 22);
            snprintf(queue[queued++].name, sizeof node->name, "%.290s%d", node->name, c);
        }
        set->nodes = test_grow(set->nodes, set->count, sizeof *set->nodes);
        set->nodes[set->count++] = *node;
    }
    assert_int_equal(queued, size / 22);
    set->chunks++;
    free(queue);
}

potree_reference potree_reference_open(const char *folder) {
    potree_reference set = {NULL, {NULL, 0}, {NULL, 0}, NULL, 0, 0};
    potree_reference_file text = read_all(folder, "metadata.json");
    set.json = json_loadb((const char *)text.data, text.size, 0, NULL);
    assert_non_null(set.json);
    free(text.data);
    set.hierarchy = read_all(folder, "hierarchy.bin");
    set.octree = read_all(folder, "octree.bin");
    const json_t *hierarchy = json_object_get(set.json, "hierarchy");
    assert_int_equal(json_integer_value(json_object_get(hierarchy, "stepSize")), 4);
    read_chunk(&set, 0, (uint64_t)json_integer_value(json_object_get(hierarchy, "firstChunkSize")), "r");
    return set;
}

void potree_reference_close(potree_reference *set) {
    json_decref(set->json);
    free(set->hierarchy.data);
    free(set->octree.data);
    free(set->nodes);
}

double potree_reference_number(const json_t *object, const char *key, const char *inner, size_t i) {
    const json_t *array = json_object_get(object, key);
    if (inner != NULL) array = json_object_get(array, inner);
    const json_t *value = json_array_get(array, i);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static int by_offset(const void *a, const void *b) {
    const potree_reference_node *left = a, *right = b;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

void potree_reference_check_places(potree_reference *set) {
    uint64_t end = 0;
    size_t deepest = 0;
    qsort(set->nodes, set->count, sizeof *set->nodes, by_offset);
    for (uint32_t n = 0; n < set->count; n++) {
        if (set->nodes[n].points == 0) assert_int_equal(set->nodes[n].size, 0);
        if (set->nodes[n].points == 0) continue;
        assert_int_equal(set->nodes[n].offset, end);
        end += set->nodes[n].size;
        assert_true(strlen(set->nodes[n].name) >= deepest);
        deepest = strlen(set->nodes[n].name);
    }
    assert_int_equal(end, set->octree.size);
}

static uint32_t stride_of(const potree_reference *set) {
    uint32_t stride = 0;
    const json_t *attributes = json_object_get(set->json, "attributes");
    for (size_t a = 0; a < json_array_size(attributes); a++) {
        const json_t *attribute = json_array_get(attributes, a);
        const json_int_t size = json_integer_value(json_object_get(attribute, "size"));
        assert_int_equal(size, json_integer_value(json_object_get(attribute, "numElements")) *
                                   json_integer_value(json_object_get(attribute, "elementSize")));
        stride += (uint32_t)size;
    }
    return stride;
}

/* Every point of encoding DEFAULT lies in the box of its node, and the ranges of the position are tight. */
static void check_boxes(const potree_reference *set) {
    const uint32_t stride = stride_of(set);
    const json_t *position = json_array_get(json_object_get(set->json, "attributes"), 0);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t n = 0; n < set->count; n++) {
        const potree_reference_node *node = &set->nodes[n];
        for (uint32_t i = 0; i < node->points; i++) {
            int32_t p[3];
            memcpy(p, set->octree.data + node->offset + (uint64_t)i * stride, 12);
            for (size_t k = 0; k < 3; k++) {
                double from = potree_reference_number(set->json, "boundingBox", "min", k);
                double to = potree_reference_number(set->json, "boundingBox", "max", k);
                for (const char *digit = node->name + 1; *digit != '\0'; digit++) {
                    const double middle = from + (to - from) / 2;
                    if ((*digit - '0') >> (2 - k) & 1) {
                        from = middle;
                    } else {
                        to = middle;
                    }
                }
                assert_true(p[k] >= 0);
                const double step = potree_reference_number(set->json, "scale", NULL, k);
                const double world = p[k] * step + potree_reference_number(set->json, "offset", NULL, k);
                assert_true(world >= from - step &&
                            world <= to + step); /* the lattice and the halves differ by a step */
                low[k] = fmin(low[k], world);
                high[k] = fmax(high[k], world);
            }
        }
    }
    for (size_t k = 0; k < 3 && set->octree.size > 0; k++) {
        assert_true(low[k] == potree_reference_number(position, "min", NULL, k));
        assert_true(high[k] == potree_reference_number(position, "max", NULL, k));
        assert_true(potree_reference_number(set->json, "boundingBox", "min", k) == low[k]);
        assert_true(potree_reference_number(set->json, "boundingBox", "max", k) >= high[k]);
    }
}

void potree_reference_check(const char *folder, const mote_lod *lod, bool brotli) {
    potree_reference set = potree_reference_open(folder);
    const mote_lod_node *nodes = mote_lod_nodes(lod);
    assert_int_equal(set.count, mote_lod_node_count(lod));
    potree_reference_check_places(&set);
    if (!brotli) check_boxes(&set);
    uint64_t points = 0;
    uint32_t at = 0; /* by offset is in the order of the nodes, where they have points */
    for (uint32_t n = 0; n < set.count; n++) {
        char name[300];
        if (nodes[n].point_count == 0) continue;
        while (at < set.count && set.nodes[at].points == 0) at++;
        assert_true(at < set.count);
        mote_lod_node_name(lod, n, name);
        assert_string_equal(name, set.nodes[at].name);
        assert_int_equal(nodes[n].point_count, set.nodes[at++].points);
        points += nodes[n].point_count;
    }
    assert_int_equal(points, json_integer_value(json_object_get(set.json, "points")));
    potree_reference_close(&set);
}

#endif

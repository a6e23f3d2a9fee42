#include "parity/parity_support.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/cloud.h"

#if defined(__SANITIZE_ADDRESS__)
#define AWKWARD_POINTS  400u
#define GENERATED_SHARE 10u /* of their points: one in so many */
#else
#define AWKWARD_POINTS  1300u /* more than a tile of any kernel but the sorts' */
#define GENERATED_SHARE 1u
#endif

static mote_context *make_context(mote_device_kind device, uint64_t memory_limit_bytes) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.device = device;
    params.threads = 1; /* small builds would spend their time waiting for each other's threads */
    params.memory_limit_bytes = memory_limit_bytes;
    return mote_context_create(&params, &ctx) == MOTE_OK ? ctx : NULL;
}

mote_context *parity_context(uint64_t memory_limit_bytes) {
    mote_context *ctx = make_context(MOTE_DEVICE_CUDA, memory_limit_bytes);
    if (ctx != NULL) return ctx;
    mote_device devices[8];
    const uint32_t count = mote_devices(devices, 8);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        if (devices[i].kind == MOTE_DEVICE_CUDA)
            print_message("[  SKIPPED ] %s: %s\n", devices[i].name, devices[i].reason);
    }
    return NULL;
}

mote_context *parity_cpu_context(void) {
    mote_context *ctx = make_context(MOTE_DEVICE_CPU, 0);
    assert_non_null(ctx);
    return ctx;
}

/* ---- clouds */

static const parity_cloud generated[] = {
    {"uniform", NULL, 20000}, {"clusters", NULL, 50000}, {"torus", NULL, 30000},
    {"lattice", NULL, 27000}, {"room", NULL, 40000},     {"city", NULL, 100000},
};
#define GENERATED_COUNT ((uint32_t)(sizeof generated / sizeof generated[0]))

uint32_t parity_cloud_count(void) { return awkward_cloud_count + GENERATED_COUNT; }

parity_cloud parity_cloud_row(uint32_t i) {
    parity_cloud row = {NULL, NULL, AWKWARD_POINTS};
    if (i < awkward_cloud_count) {
        row.awkward = &awkward_clouds[i];
        row.name = awkward_clouds[i].name;
    } else {
        row = generated[i - awkward_cloud_count];
        row.count /= GENERATED_SHARE;
    }
    return row;
}

mote_cloud *parity_cloud_make(mote_context *ctx, const parity_cloud *row) {
    mote_cloud *cloud = NULL;
    if (row->awkward != NULL) {
        cloud = awkward_cloud_make(ctx, row->awkward, row->count, 0);
    } else {
        mote_generate(ctx, row->name, row->count, NULL, &cloud);
    }
    if (cloud == NULL) fail_msg("%s: %s", row->name, mote_context_message(ctx));
    return cloud;
}

/* ---- comparing */

#define DIFFERS(...) return snprintf(why, PARITY_WHY_BYTES, __VA_ARGS__), false

static bool same_lattice(const mote_lattice *a, const mote_lattice *b, char *why) {
    for (int k = 0; k < 3; k++) {
        if (a->scale[k] != b->scale[k] || a->offset[k] != b->offset[k]) {
            DIFFERS("axis %d of the lattice: scale %.17g and %.17g, offset %.17g and %.17g", k, a->scale[k],
                    b->scale[k], a->offset[k], b->offset[k]);
        }
        if (a->min[k] != b->min[k] || a->side[k] != b->side[k] || a->extent[k] != b->extent[k] ||
            a->source_min[k] != b->source_min[k]) {
            DIFFERS("axis %d of the lattice: min %lld and %lld, side %llu and %llu, extent %llu and %llu", k,
                    (long long)a->min[k], (long long)b->min[k], (unsigned long long)a->side[k],
                    (unsigned long long)b->side[k], (unsigned long long)a->extent[k], (unsigned long long)b->extent[k]);
        }
    }
    if (a->shift != b->shift || a->integer != b->integer || a->exact != b->exact) {
        DIFFERS("lattice: shift %u and %u, integer %d and %d, exact %d and %d", a->shift, b->shift, a->integer,
                b->integer, a->exact, b->exact);
    }
    return true;
}

typedef struct node_field {
    const char *name;
    uint64_t a, b;
} node_field;

static bool same_node(const mote_lod_node *a, const mote_lod_node *b, const char *name, char *why) {
    const node_field fields[] = {
        {"level", a->level, b->level},
        {"prefix", a->prefix, b->prefix},
        {"first", a->first, b->first},
        {"total", a->total, b->total},
        {"parent", a->parent, b->parent},
        {"first_child", a->first_child, b->first_child},
        {"child_mask", a->child_mask, b->child_mask},
        {"point_count", a->point_count, b->point_count},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].a == fields[i].b) continue;
        DIFFERS("node %s: %s is %llu and %llu", name, fields[i].name, (unsigned long long)fields[i].a,
                (unsigned long long)fields[i].b);
    }
    return true;
}

/* Room for the points of a node, of two octrees. */
typedef struct node_points {
    uint32_t *a, *b;
    uint16_t *a_colors, *b_colors; /* NULL: not compared */
} node_points;

static bool same_points(const mote_lod *a, const mote_lod *b, uint32_t node, const node_points *p, const char *name,
                        char *why) {
    const uint64_t count = mote_lod_nodes(a)[node].point_count;
    mote_lod_node_points(a, node, p->a, p->a_colors);
    mote_lod_node_points(b, node, p->b, p->b_colors);
    for (uint64_t i = 0; i < count; i++) {
        if (p->a[i] == p->b[i]) continue;
        DIFFERS("node %s: point %llu of %llu is %u and %u", name, (unsigned long long)i, (unsigned long long)count,
                p->a[i], p->b[i]);
    }
    for (uint64_t i = 0; i < 3 * count && p->a_colors != NULL; i++) {
        if (p->a_colors[i] == p->b_colors[i]) continue;
        DIFFERS("node %s, level %u: %s of point %llu of %llu is %u and %u", name, mote_lod_nodes(a)[node].level,
                i % 3 == 0   ? "red"
                : i % 3 == 1 ? "green"
                             : "blue",
                (unsigned long long)i / 3, (unsigned long long)count, p->a_colors[i], p->b_colors[i]);
    }
    return true;
}

static bool same_nodes(const mote_lod *a, const mote_lod *b, const node_points *points, char *why) {
    const uint32_t count = mote_lod_node_count(a), other = mote_lod_node_count(b);
    char name[LOD_MOST_LEVELS + 2];
    bool same = true;
    for (uint32_t i = 0; i < count && i < other && same; i++) {
        mote_lod_node_name(a, i, name);
        same = same_node(&mote_lod_nodes(a)[i], &mote_lod_nodes(b)[i], name, why);
    }
    if (same && count != other) DIFFERS("%u and %u nodes", count, other);
    for (uint32_t i = 0; i < count && same; i++) {
        mote_lod_node_name(a, i, name);
        same = same_points(a, b, i, points, name, why);
    }
    return same;
}

bool parity_same_lods(const mote_lod *a, const mote_lod *b, bool colors, char *why) {
    if (!same_lattice(mote_lod_lattice(a), mote_lod_lattice(b), why)) return false;
    if (mote_lod_skipped(a) != mote_lod_skipped(b)) {
        DIFFERS("%llu and %llu points left out", (unsigned long long)mote_lod_skipped(a),
                (unsigned long long)mote_lod_skipped(b));
    }
    const uint64_t most = a->count + b->count + 1;
    node_points points = {malloc(most * 4), malloc(most * 4), NULL, NULL};
    if (colors) points.a_colors = malloc(most * 6), points.b_colors = malloc(most * 6);
    const bool same = same_nodes(a, b, &points, why);
    free(points.a);
    free(points.b);
    free(points.a_colors);
    free(points.b_colors);
    return same;
}

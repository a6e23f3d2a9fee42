#include "parity/parity_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"

/* ---- how much */

static bool is_emulated(void) {
    mote_device_info devices[8];
    const uint32_t count = mote_devices(devices, 8);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        if (strcmp(devices[i].name, "CUDA emulator") == 0) return true;
    }
    return false;
}

static bool is_watched(void) {
#ifdef MOTE_SANITIZED_ADDRESS
    return true;
#else
    return getenv("MOTE_PARITY_SMALL") != NULL;
#endif
}

uint64_t parity_extent(uint64_t few, uint64_t emulated, uint64_t all) {
    if (is_watched()) return few;
    return is_emulated() ? emulated : all;
}

bool parity_is_mine(void) {
    static uint64_t turn = 0;
    unsigned which = 1, of = 1;
    const char *share = getenv("MOTE_PARITY_SHARE");
    if (share != NULL) assert_true(sscanf(share, "%u/%u", &which, &of) == 2 && which >= 1 && which <= of);
    return turn++ % of == which - 1;
}

bool parity_is_whole(void) { return getenv("MOTE_PARITY_SHARE") == NULL; }

/* ---- contexts */

static void *counted_allocate(void *user, size_t size_bytes) {
    void *memory = aligned_alloc(64, (size_bytes + 63) / 64 * 64);
    if (memory != NULL) __atomic_add_fetch((long *)user, 1, __ATOMIC_RELAXED);
    return memory;
}

static void counted_release(void *user, void *memory, size_t size_bytes) {
    (void)size_bytes;
    __atomic_sub_fetch((long *)user, 1, __ATOMIC_RELAXED);
    free(memory);
}

/* open: counts its allocations, where not NULL */
static mote_context *make_context(mote_device_kind device, uint64_t memory_limit_bytes, long *open) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.device = device;
    params.threads = 1; /* small builds would spend their time waiting for each other's threads */
    params.memory_limit_bytes = memory_limit_bytes;
    if (open != NULL) params.allocator = (mote_allocator){open, counted_allocate, counted_release};
    return mote_context_create(&params, &ctx) == MOTE_OK ? ctx : NULL;
}

mote_context *parity_context(uint64_t memory_limit_bytes) {
    mote_context *ctx = make_context(MOTE_DEVICE_CUDA, memory_limit_bytes, NULL);
    if (ctx != NULL) return ctx;
    mote_device_info devices[8];
    const uint32_t count = mote_devices(devices, 8);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        if (devices[i].kind == MOTE_DEVICE_CUDA)
            print_message("[  SKIPPED ] %s: %s\n", devices[i].name, devices[i].reason);
    }
    return NULL;
}

mote_context *parity_cpu_context(void) {
    mote_context *ctx = make_context(MOTE_DEVICE_CPU, 0, NULL);
    assert_non_null(ctx);
    return ctx;
}

bool parity_can_run(void) {
    mote_context *ctx = parity_context(0);
    if (ctx != NULL) mote_context_destroy(ctx);
    return ctx != NULL;
}

typedef struct counted_pair {
    parity_pair pair; /* first: what tests see */
    long open;
} counted_pair;

int parity_open(void **state) {
    counted_pair *counted = calloc(1, sizeof *counted);
    assert_non_null(counted);
    counted->pair.cpu = make_context(MOTE_DEVICE_CPU, 0, &counted->open);
    counted->pair.cuda = make_context(MOTE_DEVICE_CUDA, 0, &counted->open);
    assert_true(counted->pair.cpu != NULL && counted->pair.cuda != NULL);
    *state = counted;
    return 0;
}

/* What a test that failed has left is not looked at further: it may still be in use. */
int parity_close(void **state) {
    counted_pair *counted = *state;
    mote_context_trim(counted->pair.cuda);
    const uint64_t left_bytes = mote_context_device_bytes(counted->pair.cuda);
    if (left_bytes > 0) {
        print_error("%llu bytes of the device were not given back\n", (unsigned long long)left_bytes);
        return -1;
    }
    mote_context_destroy(counted->pair.cuda);
    mote_context_destroy(counted->pair.cpu);
    const long open = counted->open;
    if (open != 0) print_error("%ld allocations were not given back\n", open);
    if (open == 0) free(counted);
    return open == 0 ? 0 : -1;
}

/* ---- clouds */

static const parity_cloud generated[] = {
    {"uniform", NULL, 20000}, {"clusters", NULL, 50000}, {"torus", NULL, 30000},
    {"lattice", NULL, 27000}, {"room", NULL, 40000},     {"city", NULL, 100000},
};
#define GENERATED_COUNT ((uint32_t)(sizeof generated / sizeof generated[0]))

uint32_t parity_cloud_count(void) { return awkward_cloud_count + GENERATED_COUNT; }

parity_cloud parity_cloud_row(uint32_t i) {
    parity_cloud row = {NULL, NULL, parity_extent(300, 700, 5000)}; /* more than a tile of most kernels, or of all */
    if (i < awkward_cloud_count) {
        row.awkward = &awkward_clouds[i];
        row.name = awkward_clouds[i].name;
    } else {
        row = generated[i - awkward_cloud_count];
        row.count /= parity_extent(25, 10, 1);
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
    char name[LOD_MAX_LEVELS + 2];
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
    const uint64_t max = a->count + b->count + 1;
    node_points points = {malloc(max * 4), malloc(max * 4), NULL, NULL};
    if (colors) points.a_colors = malloc(max * 6), points.b_colors = malloc(max * 6);
    const bool same = same_nodes(a, b, &points, why);
    free(points.a);
    free(points.b);
    free(points.a_colors);
    free(points.b_colors);
    return same;
}

/* The contest of random and first against the plain definition, and the items against the nodes: on orders made to be
   awkward at the borders of units, tiles and rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lod/lod_math.h"
#include "parity/parity_support.h"

#define MAX_POINTS (71u * 2048 + 5) /* three rounds */

/* ---- orders: codes ascending, and how good each point is */

static uint64_t hash(uint64_t a, uint64_t b) { return mote_hash_pair(a, b); }

static uint64_t next_uniform(uint64_t i, uint64_t code) { return code + hash(1, i) % (1ull << 44); }
static uint64_t next_scaled(uint64_t i, uint64_t code) { return code + (1ull << hash(2, i) % 38); }
static uint64_t next_heap(uint64_t i, uint64_t code) {
    return hash(3, i) % 700 != 0 ? code : code + (1ull << hash(4, i) % 50);
}
static uint64_t next_pair(uint64_t i, uint64_t code) { return i % 2 != 0 ? code : code + (1ull << hash(5, i) % 44); }
static uint64_t next_number(uint64_t i, uint64_t code) { return (void)i, code + 1; }
static uint64_t next_same(uint64_t i, uint64_t code) { return (void)i, code; }
/* Ever coarser gaps, and again: as many points as can be are open at both ends. */
static uint64_t next_stair(uint64_t i, uint64_t code) {
    const uint32_t below = 3 * (uint32_t)(i % 15);
    return ((code >> below) + 1) << below;
}
static uint64_t next_hill(uint64_t i, uint64_t code) {
    const uint32_t step = (uint32_t)(i % 30), below = 3 * (step < 15 ? 14 - step : step - 15);
    return ((code >> below) + 1) << below;
}

typedef uint64_t (*next_code)(uint64_t i, uint64_t code);
static const next_code all_codes[] = {next_uniform, next_scaled, next_heap,  next_pair,
                                      next_number,  next_same,   next_stair, next_hill};

enum { RANK_RANDOM, RANK_SHUFFLED, RANK_UP, RANK_DOWN, RANK_TEETH, RANK_KINDS };

static uint64_t rank_key(uint32_t kind, uint64_t i) {
    switch (kind) {
    case RANK_UP: return i;
    case RANK_DOWN: return ~i;
    case RANK_TEETH: return hash(6, i % 13) << 32 | (i / 13 % 2 != 0 ? i : UINT32_MAX - i);
    default: return hash(7, i);
    }
}

typedef struct selection {
    uint64_t count;
    uint64_t *codes;
    uint32_t *order;
    uint8_t *leaf; /* NULL: not known */
    uint64_t code_before, code_after, seed;
    uint32_t grid_bits;
    bool random;
} selection;

static void *take(uint64_t count, uint64_t size_bytes) {
    void *memory = calloc(count + 1, size_bytes);
    assert_non_null(memory);
    return memory;
}

typedef struct run {
    uint64_t key, first, count;
} run;

static int by_key(const void *a, const void *b) {
    const run *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->first > y->first) - (x->first < y->first);
}

/* Points that share a code stand in the order of the input. */
static void fill_order(selection *c, uint32_t kind) {
    run *runs = take(c->count, sizeof *runs);
    uint64_t n = 0;
    uint32_t next = 0;
    for (uint64_t i = 0; i < c->count; i++) {
        if (i == 0 || c->codes[i] != c->codes[i - 1]) {
            runs[n] = (run){rank_key(kind, n), i, 0};
            n++;
        }
        runs[n - 1].count++;
    }
    qsort(runs, n, sizeof *runs, by_key);
    for (uint64_t r = 0; r < n; r++) {
        for (uint64_t i = 0; i < runs[r].count; i++) c->order[runs[r].first + i] = next++;
    }
    free(runs);
}

/* Leaves of about merge points, some of more; of one code in chains of nodes of most. */
static void fill_leaves(selection *c, uint64_t first, uint64_t end, uint32_t level, uint64_t merge, uint64_t max) {
    if (c->codes[first] == c->codes[end - 1] && end - first > max && level < 250) {
        memset(c->leaf + first, (int)level, max);
        fill_leaves(c, first + max, end, level + 1, merge, max);
        return;
    }
    if (end - first <= merge || c->codes[first] == c->codes[end - 1]) {
        memset(c->leaf + first, (int)level, end - first);
        return;
    }
    const uint32_t below = 3 * (MOTE_ORDER_BITS - level - 1);
    for (uint64_t i = first; i < end;) {
        uint64_t next = i;
        while (next < end && c->codes[next] >> below == c->codes[i] >> below) next++;
        fill_leaves(c, i, next, level + 1, merge, max);
        i = next;
    }
}

static selection make_contest(uint64_t count, next_code next, uint32_t kind, uint32_t grid_bits) {
    selection c = {count, take(count, 8), take(count, 4), NULL, UINT64_MAX, UINT64_MAX, 11, grid_bits, false};
    uint64_t code = 0;
    for (uint64_t i = 0; i < count; i++) c.codes[i] = code = next(i, code);
    assert_true(count == 0 || c.codes[count - 1] < 1ull << 63);
    c.random = kind == RANK_RANDOM;
    fill_order(&c, kind);
    return c;
}

static void free_contest(selection *c) {
    free(c->codes);
    free(c->order);
    free(c->leaf);
}

/* ---- what ought to come out */

static bool is_better(const selection *c, uint64_t a, uint64_t b) {
    const uint64_t x = c->random ? mote_lod_rank(c->seed, c->codes[a]) : c->order[a];
    const uint64_t y = c->random ? mote_lod_rank(c->seed, c->codes[b]) : c->order[b];
    return x != y ? x < y : a < b;
}

static int shared_level(uint64_t a, uint64_t b) {
    return a == UINT64_MAX || b == UINT64_MAX ? -1 : (int)mote_lod_shared_level(a, b);
}

/* The finest level shared with a better point before (step 1) or after (step -1) each, into lost; beyond: the level
   shared with what lies beyond that end, for those that meet no better one on the way. A stack of the points that none
   between beats, each with the least gap to the one below it. */
static void look_one_way(const selection *c, int step, int *lost, int *beyond) {
    uint64_t *point = take(c->count, sizeof *point), depth = 0;
    int *gap = take(c->count, sizeof *gap);
    for (uint64_t n = 0; n < c->count; n++) {
        const uint64_t i = step > 0 ? n : c->count - 1 - n;
        const uint64_t beside = n > 0 ? c->codes[step > 0 ? i - 1 : i + 1] : step > 0 ? c->code_before : c->code_after;
        int min = shared_level(beside, c->codes[i]);
        for (; depth > 0 && is_better(c, i, point[depth - 1]); depth--) {
            if (gap[depth - 1] < min) min = gap[depth - 1];
        }
        if (depth > 0 && min > lost[i]) lost[i] = min;
        if (depth == 0 && min > beyond[i]) beyond[i] = min;
        point[depth] = i;
        gap[depth++] = min;
    }
    free(point);
    free(gap);
}

/* ---- one contest by the GPU */

static void *to_device(mote_context *ctx, const void *host, uint64_t size_bytes) {
    void *device = cuda_alloc(gpu_of(ctx), size_bytes, "test");
    assert_non_null(device);
    assert_int_equal(cuda_upload(gpu_of(ctx), device, host, size_bytes), MOTE_OK);
    return device;
}

static uint8_t *select_points(mote_context *ctx, const selection *c, lod_cuda_unresolved *open) {
    uint64_t *codes = to_device(ctx, c->codes, c->count * sizeof *codes);
    uint32_t *order = to_device(ctx, c->order, c->count * sizeof *order);
    uint8_t *leaf = c->leaf != NULL ? to_device(ctx, c->leaf, c->count) : NULL;
    uint8_t *level = cuda_alloc(gpu_of(ctx), c->count, "test");
    const lod_cuda_selection in = {codes,   NULL,           order,         leaf,         level,    c->count,
                                   c->seed, c->code_before, c->code_after, c->grid_bits, c->random};
    assert_non_null(level);
    assert_int_equal(lod_cuda_select(gpu_of(ctx), &in, open), MOTE_OK);
    uint8_t *out = parity_download(ctx, level, c->count);
    cuda_free(gpu_of(ctx), codes);
    cuda_free(gpu_of(ctx), order);
    cuda_free(gpu_of(ctx), leaf);
    cuda_free(gpu_of(ctx), level);
    return out;
}

/* Winners of cells that reach past an end: nothing else, and nothing less. */
static void check_open(const selection *c, const lod_cuda_unresolved *open, const int *lost, const int *beyond,
                       const char *what) {
    uint32_t found = 0;
    const int coarsest = (int)c->grid_bits - 1;
    for (uint64_t i = 0; i < c->count; i++) {
        const int level = lost[i] > coarsest ? lost[i] : coarsest;
        if (beyond[i] <= level) continue;
        if (found == open->count || open->positions[found] != i)
            fail_msg("%s: %llu is open", what, (unsigned long long)i);
        assert_int_equal(open->lost[found], lost[i] > coarsest ? lost[i] : (int)MOTE_LOD_NEVER);
        found++;
    }
    assert_int_equal(found, open->count);
}

static void check_contest(mote_context *ctx, const selection *c, const char *what) {
    int *lost = take(c->count, sizeof *lost), *beyond = take(c->count, sizeof *beyond);
    lod_cuda_unresolved open = {0};
    for (uint64_t i = 0; i < c->count; i++) lost[i] = beyond[i] = -1;
    look_one_way(c, 1, lost, beyond);
    look_one_way(c, -1, lost, beyond);
    uint8_t *level = select_points(ctx, c, c->leaf == NULL ? &open : NULL);
    for (uint64_t i = 0; i < c->count; i++) {
        const uint32_t raw = lost[i] < (int)c->grid_bits ? MOTE_LOD_NEVER : (uint32_t)lost[i];
        const uint32_t right = c->leaf == NULL ? raw : mote_lod_chosen(raw, c->leaf[i], c->grid_bits);
        if (level[i] != right) {
            fail_msg("%s, %llu points, grid bits %u%s: level[%llu] is %u, not %u", what, (unsigned long long)c->count,
                     c->grid_bits, c->leaf != NULL ? ", leaves" : "", (unsigned long long)i, level[i], right);
        }
    }
    if (c->leaf == NULL) check_open(c, &open, lost, beyond, what);
    free(level);
    free(lost);
    free(beyond);
}

/* Tries it without leaves and neighbours, with neighbours, and with leaves. */
static void check_all(mote_context *ctx, selection *c, const char *what) {
    check_contest(ctx, c, what);
    if (c->count == 0) return;
    c->code_before = c->codes[0] > 0 ? c->codes[0] - 1 : UINT64_MAX;
    c->code_after = c->codes[c->count - 1] + 1;
    check_contest(ctx, c, what);
    c->code_before = c->code_after = UINT64_MAX;
    c->leaf = take(c->count, 1);
    fill_leaves(c, 0, c->count, 0, 1 + hash(8, c->count) % 100, 1 + hash(9, c->count) % 300);
    check_contest(ctx, c, what);
}

/* ---- the tests */

static void levels_are_as_defined(void **state) {
    static const uint64_t counts[] = {1,   2,    7,    8,    9,    255,  256,   257,
                                      700, 2047, 2048, 2049, 4096, 6000, 20000, MAX_POINTS};
    static const uint32_t grids[] = {1, 7, 10, MOTE_ORDER_BITS};
    const parity_pair *on = *state;
    const uint32_t max = (uint32_t)parity_extent(10, 16, 16);
    char what[64];
    for (uint32_t n = 0; n < max; n++) {
        for (uint32_t k = 0; k < 8 * RANK_KINDS; k++) {
            if (counts[n] > 10000 && k % (counts[n] > 30000 ? 7 : 3) != 0) continue;
            selection c = make_contest(counts[n], all_codes[k % 8], k / 8, grids[(n + k + k / 8) % 4]);
            snprintf(what, sizeof what, "codes %u, ranks %u", k % 8, k / 8);
            check_all(on->cuda, &c, what);
            free_contest(&c);
        }
    }
}

/* The inverse of mote_hash64. */
static uint64_t unhash(uint64_t v) {
    v ^= v >> 31 ^ v >> 62;
    v *= 0x319642B2D24D8EC3ull;
    v ^= v >> 27 ^ v >> 54;
    v *= 0x96DE1B173F119089ull;
    return v ^ v >> 30 ^ v >> 60;
}

static int compare_codes(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Ranks that differ in their lower halves only. */
static void half_of_a_rank_does_not_decide(void **state) {
    const parity_pair *on = *state;
    selection c = make_contest(3000, next_same, RANK_RANDOM, 1);
    uint64_t found = 0;
    for (uint64_t low = 0; found < c.count; low++) {
        const uint64_t rank = 0x1234567800000000ull + low,
                       code = unhash(rank) ^ mote_hash64(c.seed + MOTE_GOLDEN_GAMMA);
        assert_true(mote_lod_rank(c.seed, code) == rank);
        if (code < 1ull << 63) c.codes[found++] = code;
    }
    qsort(c.codes, c.count, sizeof *c.codes, compare_codes);
    check_all(on->cuda, &c, "one upper half");
    free_contest(&c);
}

/* Items of an octree that the CPU has built, by the GPU. Returns the number of levels. */
static uint32_t check_items(const parity_pair *on, const mote_cloud *cloud, const mote_lod_params *params,
                            const char *what) {
    mote_lod *cpu = NULL;
    uint64_t level_items[LOD_MAX_LEVELS + 1];
    if (mote_lod_build(on->cpu, cloud, params, &cpu) != MOTE_OK) { /* too many points in one place */
        mote_context_clear(on->cpu);
        return 0;
    }
    mote_lod *lod = parity_device_make(on->cuda, cpu, PARITY_NO_ITEMS);
    const lod_cuda *device = lod->cuda;
    assert_int_equal(lod_cuda_node_points(lod, lod->cuda), MOTE_OK);
    uint32_t *right = parity_items(cpu, level_items);
    uint32_t *items = parity_download(on->cuda, device->items, device->item_count * sizeof *items);
    mote_lod_node *nodes = parity_download(on->cuda, device->nodes, cpu->node_count * sizeof *nodes);
    if (device->item_count != level_items[cpu->level_count]) fail_msg("%s: another number of items", what);
    assert_memory_equal(device->level_items, level_items, (cpu->level_count + 1) * sizeof *level_items);
    for (uint64_t i = 0; i < device->item_count; i++) {
        if (items[i] != right[i]) fail_msg("%s: items[%llu]", what, (unsigned long long)i);
    }
    for (uint64_t n = 0; n < cpu->node_count; n++) {
        if (nodes[n].point_count != cpu->nodes[n].point_count) fail_msg("%s: node %llu", what, (unsigned long long)n);
    }
    const uint32_t levels = cpu->level_count;
    free(right);
    free(items);
    free(nodes);
    mote_lod_destroy(lod);
    mote_lod_destroy(cpu);
    return levels;
}

/* Few levels and many, counts around that of a tile. */
static void items_are_as_defined(void **state) {
    static const char *const names[] = {"uniform float", "heap of duplicates", "one place", "far clusters", "shells"};
    static const uint64_t counts[] = {1, 15, 16, 17, 4095, 4096, 4097, 8192, 9000};
    const parity_pair *on = *state;
    uint32_t fewest = UINT32_MAX, max = 0;
    for (uint32_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        for (uint32_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            mote_cloud *cloud = awkward_cloud_make(on->cpu, awkward_cloud_named(names[k]), counts[n], 0);
            mote_lod_params p = mote_lod_defaults();
            p.grid = n % 2 != 0 ? 8 : 2;
            for (p.merge_points = 1; p.merge_points <= 10000; p.merge_points *= 100) {
                for (int kind = 0; kind < 3; kind++) {
                    p.scheme = kind == 1 ? MOTE_LOD_REPLACING : MOTE_LOD_ADDITIVE;
                    p.max_node_points = kind == 2 ? 40 + counts[n] / 200 : 0;
                    const uint32_t levels = check_items(on, cloud, &p, names[k]);
                    if (levels > 0 && levels < fewest) fewest = levels;
                    if (levels > max) max = levels;
                }
            }
            mote_cloud_destroy(cloud);
        }
    }
    assert_int_equal(fewest, 1);
    assert_true(max > 31);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PARITY_TEST(levels_are_as_defined),
        PARITY_TEST(half_of_a_rank_does_not_decide),
        PARITY_TEST(items_are_as_defined),
    };
    return parity_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : PARITY_SKIPPED;
}

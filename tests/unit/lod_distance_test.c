/* Sampling by distance in pieces: what it is sure of is what the whole cloud chooses, whatever is not listed. */
#include <stdlib.h>
#include <string.h>

#include "lod/lod_octree.h"
#include "reference/awkward_clouds.h"
#include "support/random.h"
#include "support/support.h"

typedef struct pieces {
    mote_context *ctx;
    mote_lod_params params;
    lod_whole whole;
    lod_list all;
    const uint8_t *final; /* the level that the whole cloud gives each of them */
    uint64_t sure, unsure;
} pieces;

static bool is_within(const pieces *p, const lod_box *box, uint64_t i) {
    for (int k = 0; k < 3; k++) {
        const mote_cell_divisor by = mote_cell_divisor_make(p->whole.lattice.side[k]);
        const int64_t at = mote_cell_among(p->all.xyz[3 * i + (uint64_t)k], by, ORDER_FINE_BITS);
        if (at < box->low[k] || at > box->high[k]) return false;
    }
    return true;
}

static uint8_t later(uint8_t a, uint8_t b) { return a > b ? a : b; }

/* Levels end - 1 … first choose among the points of a box, as levels from end on have chosen among all. */
static void check_box(pieces *p, const lod_box *box, uint32_t first, uint32_t end) {
    lod_list list = {.box = *box};
    uint64_t *from = malloc((p->all.count + 1) * sizeof *from);
    list.xyz = malloc(3 * p->all.count * sizeof *list.xyz + 1);
    list.level = malloc(p->all.count + 1);
    list.unsure = calloc(p->all.count + 1, 1);
    assert_true(from != NULL && list.xyz != NULL && list.level != NULL && list.unsure != NULL);
    for (uint64_t i = 0; i < p->all.count; i++) {
        const uint8_t leaf = p->all.level[i];
        if (!is_within(p, box, i) || (leaf > end && p->final[i] > end)) continue;
        from[list.count] = i;
        memcpy(list.xyz + 3 * list.count, p->all.xyz + 3 * i, 3 * sizeof *list.xyz);
        list.level[list.count++] = leaf > end ? (uint8_t)end : leaf;
    }
    assert_int_equal(lod_choose_listed(p->ctx, &p->whole, &p->params, &list, first, end), MOTE_OK);
    for (uint64_t j = 0; j < list.count; j++) {
        const uint64_t i = from[j];
        const uint8_t leaf = p->all.level[i], final = p->final[i];
        const uint8_t expected = leaf < first ? leaf : later(final, (uint8_t)first);
        if (!list.unsure[j] && list.level[j] != expected) {
            fail_msg("point %llu of level %u, leaf %u: sure of %u", (unsigned long long)i, final, leaf, list.level[j]);
        }
        p->unsure += list.unsure[j];
        p->sure += !list.unsure[j];
    }
    free(from);
    free(list.xyz);
    free(list.level);
    free(list.unsure);
}

static lod_box random_box(uint64_t seed, uint64_t i) {
    lod_box box;
    for (int k = 0; k < 3; k++) {
        const double side = 1ull << ORDER_FINE_BITS, width = test_random(seed, 6 * i + (uint64_t)k) * side;
        box.low[k] = (int64_t)((test_random(seed, 6 * i + 3 + (uint64_t)k) * 1.4 - 0.4) * side);
        box.high[k] = box.low[k] + (int64_t)width;
    }
    return box;
}

/* The points that may be taken, and what the whole cloud makes of them. */
static void check_cloud(mote_context *ctx, const awkward_cloud *kind, const mote_lod_params *params, uint64_t seed,
                        uint64_t totals[2]) {
    mote_cloud *cloud = awkward_cloud_make(ctx, kind, 3000, 0);
    mote_lod *lod = NULL;
    bool lacks_fine = false;
    pieces p = {.ctx = ctx, .params = *params};
    assert_int_equal(mote_lod_build(ctx, cloud, params, &lod), MOTE_OK);
    p.whole.lattice = lod->lattice;
    p.whole.high.code = 1ull << 3 * MOTE_ORDER_BITS;
    p.whole.fine = lod->finest > MOTE_ORDER_BITS;
    if (lod->skipped == 0) {
        assert_int_equal(lod_list_part(ctx, cloud, params, &p.whole, &p.all, &lacks_fine), MOTE_OK);
        assert_false(lacks_fine);
    }
    /* Of a place only the first point is listed: the others keep their leaf's level. */
    uint8_t *final = malloc(p.all.count + 1);
    assert_non_null(final);
    uint64_t next = 0;
    uint32_t last[3] = {0}, deepest = 0;
    for (uint64_t i = 0; i < lod->count && p.all.count > 0; i++) {
        uint32_t at[3];
        mote_order_coordinates(cloud, &lod->lattice, lod->order + i, 1, at);
        const bool is_new = i == 0 || memcmp(at, last, sizeof at) != 0;
        memcpy(last, at, sizeof at);
        if (!is_new || next == p.all.count || memcmp(at, p.all.xyz + 3 * next, sizeof at) != 0) continue;
        if (p.all.level[next] > deepest) deepest = p.all.level[next];
        final[next++] = lod->level[i];
    }
    assert_true(next == p.all.count);
    p.final = final;
    for (uint64_t b = 0; b < 60 && deepest > 0; b++) {
        const uint32_t end = 1 + (uint32_t)(test_random(seed, b) * deepest);
        const uint32_t first = (uint32_t)(test_random(seed + 1, b) * end);
        const lod_box box = random_box(seed + 2, b);
        check_box(&p, &box, first, end);
    }
    totals[0] += p.sure;
    totals[1] += p.unsure;
    const lod_box all = {{0, 0, 0}, {INT64_MAX - 1, INT64_MAX - 1, INT64_MAX - 1}};
    p.unsure = 0;
    if (deepest > 0) check_box(&p, &all, 0, deepest);
    assert_true(p.unsure == 0);
    mote_free(ctx, p.all.xyz);
    mote_free(ctx, p.all.level);
    free(final);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
}

static void sure_is_right(void **state) {
    (void)state;
    static const uint32_t grids[] = {64, 16, 8, 128, 2};
    static const uint32_t merges[] = {20, 60, 5};
    mote_context *ctx = test_context(2);
    uint64_t totals[2] = {0, 0};
    for (uint64_t c = 0; c < awkward_cloud_count; c++) {
        for (uint64_t v = c % 5; v < 5; v += test_extent(5, 1)) {
            mote_lod_params params = mote_lod_defaults();
            params.sampling = MOTE_LOD_POISSON;
            params.grid = grids[v];
            params.merge_points = merges[(c + v) % 3];
            params.seed = c;
            check_cloud(ctx, &awkward_clouds[c], &params, 5 * c + v, totals);
        }
    }
    print_message("%llu points were sure, %llu were not\n", (unsigned long long)totals[0],
                  (unsigned long long)totals[1]);
    assert_true(totals[0] > 1000 && totals[1] > 1000);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sure_is_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

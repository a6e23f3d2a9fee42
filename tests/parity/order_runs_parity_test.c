/* The Morton order where many points share the upper bits of their codes, or all; and of points that are sorted with
   their keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "order/order_cuda.h"
#include "parity/order_parity_support.h"

#define TILE ORDER_TEST_TILE

/* ---- runs of points that share the upper bits of their codes */

/* A box of 2^bits steps; runs of the first three lengths by turns and every 16th of the last, each in a cell of 2^low
   steps; points in scattered order. */
typedef struct run_cloud {
    uint32_t bits[3], low;
    uint32_t lengths[4];
    uint64_t count;
    double z_scale; /* 0: that of x and y */
} run_cloud;

static uint32_t run_coordinate(const run_cloud *r, uint64_t run, uint64_t i, uint32_t k) {
    const uint64_t max = (1ull << r->bits[k]) - 1, low = r->low < r->bits[k] ? r->low : r->bits[k];
    const uint64_t within = (1ull << low) - 1;
    return (uint32_t)((mote_hash_pair(run, k) & max & ~within) | (mote_hash_pair(i, 10 + k) & within));
}

static void make_runs(const run_cloud *r, int32_t *xyz) {
    uint64_t run = 0, remaining = r->lengths[0];
    for (uint64_t i = 0; i < r->count; i++, remaining--) {
        const uint64_t slot = i * 104729 % r->count; /* a prime that divides no count */
        while (remaining == 0) remaining = r->lengths[++run % 16 == 15 ? 3 : run % 3];
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t corner = i == 1 ? (uint32_t)((1ull << r->bits[k]) - 1) : 0;
            xyz[3 * slot + k] = (int32_t)((i < 2 ? corner : run_coordinate(r, run, i, k)) - 0x80000000u);
        }
    }
}

/* Coordinates in records of that number of words. Returns whether the points were copied. */
static bool check_cloud(order_contexts c, const int32_t *xyz, uint64_t count, uint32_t words, double z_scale,
                        const char *name) {
    int32_t *records = order_take(count * words, sizeof *records);
    mote_column axes[3];
    memset(axes, 0, sizeof axes);
    for (uint64_t i = 0; i < count * words; i++) {
        records[i] = i % words < 3 ? xyz[3 * (i / words) + i % words] : (int32_t)i;
    }
    for (uint32_t k = 0; k < 3; k++) {
        axes[k].data = records + k;
        axes[k].stride_bytes = 4 * words;
        axes[k].type = MOTE_INT32;
        axes[k].scale = k == 2 ? z_scale : 0.001;
    }
    mote_cloud *cloud = order_wrap(c.cpu, count, axes);
    const bool copied = order_check(c, cloud, name);
    mote_cloud_destroy(cloud);
    free(records);
    return copied;
}

static bool check_integers(order_contexts c, const int32_t *xyz, uint64_t count, double z_scale, const char *name) {
    if (parity_is_mine()) assert_false(check_cloud(c, xyz, count, 3, z_scale, name));
    return parity_is_mine() && check_cloud(c, xyz, count, 4, z_scale, name);
}

static bool check_runs(order_contexts c, const run_cloud *r, const char *name) {
    int32_t *xyz = order_take(3 * r->count, sizeof *xyz);
    make_runs(r, xyz);
    const bool copied = check_integers(c, xyz, r->count, r->z_scale > 0 ? r->z_scale : 0.001, name);
    free(xyz);
    return copied;
}

/* At least min_copied are copied: not those with too many points in long runs, or a lattice coarser than their steps.
 */
static void check_all_runs(const run_cloud *clouds, size_t count, size_t min_copied, const char *what) {
    const order_contexts c = order_open();
    size_t copied = 0;
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s %zu", what, i);
        copied += check_runs(c, &clouds[i], name);
    }
    if (parity_is_whole()) assert_in_range(copied, min_copied, count);
    order_close(c);
}

static void runs_of_any_length_are_sorted(void **state) {
    (void)state;
    const run_cloud clouds[] = {
        {{21, 21, 21}, 5, {1, 2, 3, 32}, 3 * TILE, 0},
        {{21, 21, 21}, 5, {127, 128, 129, 130}, 3 * TILE, 0},
        {{21, 21, 21}, 5, {255, 256, 257, 1}, 10000, 0},
        {{21, 21, 21}, 3, {20, 1, 30, TILE / 8}, 9001, 0},
        {{21, 21, 21}, 4, {3, 5, 600, 3000}, 12000, 0},
        {{21, 21, 21}, 2, {7, 100, 7, 100}, TILE - 1, 0},
        {{21, 21, 21}, 2, {7, 100, 7, 100}, TILE, 0},
        {{21, 21, 21}, 2, {7, 100, 7, 100}, TILE + 1, 0},
        {{21, 21, 21}, 21, {1, 1, 1, 1}, 8000, 0},
        {{21, 21, 21}, 1, {9000, 1, 1, 1}, 9000, 0},
        {{21, 21, 15}, 6, {2, 40, 128, 129}, 9000, 0},
        {{21, 14, 21}, 6, {2, 40, 128, 129}, 9000, 0},
        {{12, 21, 20}, 6, {2, 40, 128, 300}, 9000, 0},
        {{21, 9, 6}, 6, {1, 4, 128, 129}, 9000, 0},
        {{5, 21, 8}, 6, {1, 4, 128, 129}, 9000, 0},
        {{4, 4, 21}, 6, {1, 4, 128, 129}, 9000, 0},
        {{21, 0, 0}, 12, {1, 4, 128, 2000}, 9000, 0},
        {{0, 0, 0}, 0, {1, 1, 1, 1}, 3000, 0},
        {{1, 1, 1}, 1, {1, 1, 1, 1}, 5000, 0},
        {{21, 21, 21}, 1, {2, 40, 128, 129}, 9000, 0},
        {{1, 0, 0}, 1, {1, 1, 1, 1}, 5000, 0},
        {{21, 21, 5}, 3, {9, 99, 129, 9}, 7000, 0.016},
        {{21, 21, 21}, 5, {100, 100, 100, 140}, 9000, 0},
        {{21, 21, 21}, 5, {60, 128, 100, 129}, 3 * TILE, 0},
        {{21, 21, 21}, 4, {90, 100, 127, 400}, 5 * TILE, 0},
        {{21, 21, 21}, 4, {127, 128, 128, 600}, 6 * TILE + 1, 0},
        {{12, 21, 20}, 3, {20, 40, 100, 150}, 8000, 0},
        {{21, 21, 15}, 3, {2, 3, 5, 20}, 1900, 0},
        {{21, 9, 6}, 3, {2, 3, 5, 20}, 1500, 0},
        {{5, 21, 8}, 3, {2, 3, 5, 20}, 1500, 0},
        {{4, 4, 21}, 3, {2, 3, 5, 1}, 900, 0},
        {{21, 0, 0}, 3, {1, 4, 9, 2}, 900, 0},
        {{4, 3, 2}, 0, {1, 4, 9, 2}, 2100, 0},
    };
    check_all_runs(clouds, sizeof clouds / sizeof clouds[0], 12, "runs");
}

/* Cells of a thousand steps: who shares one goes by coordinates. */
static void ties_of_any_length_are_settled(void **state) {
    (void)state;
    const run_cloud clouds[] = {
        {{31, 31, 31}, 10, {1, 2, 3, 4}, 4000, 0},
        {{31, 31, 31}, 9, {31, 32, 33, 34}, 4000, 0},
        {{31, 31, 24}, 8, {32, 1, 500, 2}, 6000, 0},
        {{31, 31, 31}, 0, {40, 2, 300, 33}, 5000, 0},
        {{31, 31, 31}, 1, {300, 2, 3000, 33}, 7000, 0},
        {{24, 24, 24}, 3, {32, 33, 64, 65}, 3 * 256 + 1, 0},
        {{32, 32, 32}, 11, {2, 32, 33, 100}, 5000, 0},
        {{32, 31, 20}, 8, {2, 32, 33, 100}, 5000, 0},
        {{30, 30, 10}, 9, {2, 32, 33, 100}, 5000, 1e3},
        {{22, 22, 22}, 1, {2, 5, 33, 1}, 5000, 0},
        {{30, 30, 30}, 9, {1, 2, 3, 4}, 4000, 0},
        {{30, 30, 30}, 8, {31, 32, 33, 34}, 4000, 0},
        {{30, 30, 24}, 8, {32, 1, 400, 2}, 6000, 0},
        {{30, 30, 30}, 9, {2, 40, 60, 200}, 9000, 0},
        {{30, 30, 30}, 0, {40, 2, 50, 33}, 5000, 0},
        {{30, 30, 30}, 8, {2, 3, 2, 30}, 9 * TILE, 0},
        {{30, 30, 30}, 8, {29, 31, 30, 33}, 9000, 0},
        {{31, 31, 31}, 8, {2, 3, 2, 30}, 9 * TILE, 0},
        {{31, 31, 31}, 8, {29, 31, 30, 33}, 4 * TILE + 1, 0},
    };
    check_all_runs(clouds, sizeof clouds / sizeof clouds[0], 8, "ties");
}

/* One cell whose points come in falling order, but for the first, which makes the cube large. */
static void falling_ties_are_turned_round(void **state) {
    (void)state;
    const order_contexts c = order_open();
    int32_t xyz[3 * 300] = {INT32_MAX, INT32_MAX, INT32_MAX};
    for (int32_t i = 1; i < 300; i++) {
        for (int k = 0; k < 3; k++) xyz[3 * i + k] = 600 - i;
    }
    check_integers(c, xyz, 300, 0.001, "falling");
    for (uint64_t n = 30; n < 40; n++) check_integers(c, xyz, n, 0.001, "a few falling");
    order_close(c);
}

/* The points at two neighbouring places get one code, the later of the input the smaller x. */
static void tie_at(order_contexts c, int32_t *xyz, uint64_t count, uint64_t place) {
    order_expected e;
    mote_column axes[3];
    memset(axes, 0, sizeof axes);
    for (uint32_t k = 0; k < 3; k++) {
        axes[k].data = xyz + k;
        axes[k].stride_bytes = 12;
        axes[k].type = MOTE_INT32;
        axes[k].scale = 0.001;
    }
    mote_cloud *cloud = order_wrap(c.cpu, count, axes);
    assert_true(order_expect(c.cpu, cloud, &e));
    const uint32_t a = e.order[0][place], b = e.order[0][place + 1];
    int32_t *early = xyz + 3ull * (a < b ? a : b), *late = xyz + 3ull * (a < b ? b : a);
    for (int k = 0; k < 3; k++) early[k] = late[k] = xyz[3ull * a + (uint32_t)k] | 1;
    late[0] -= 1;
    order_expected_free(&e);
    mote_cloud_destroy(cloud);
}

/* Nothing else leads to such a tie. Runs are of some eight points, so that it may come from the next tile, or go
   there. */
static void lonely_ties_about_a_tile_are_settled(void **state) {
    (void)state;
    const order_contexts c = order_open();
    const uint64_t count = 2 * TILE + 100;
    int32_t *xyz = order_take(3 * count, sizeof *xyz);
    for (uint64_t seed = 0; seed < parity_extent(10, 80, 80); seed++) {
        if (!parity_is_mine()) continue;
        for (uint64_t i = 0; i < 3 * count; i++) xyz[i] = (int32_t)(mote_hash_pair(i, seed) >> 33 & 0x700FFFFF);
        tie_at(c, xyz, count, TILE - 3 + seed % 5);
        check_cloud(c, xyz, count, 4, 0.001, "lonely tie");
    }
    free(xyz);
    order_close(c);
}

/* ---- points that are sorted with their keys */

/* Where the values of a record stand: coordinates, three colours, one thing more (its bytes; 0: none). */
typedef struct record_layout {
    uint32_t record_bytes, position_at, colors_at, color_bytes, extra_at, extra_bytes;
    bool apart;  /* the last is a column of its own */
    bool copied; /* whether such points are */
} record_layout;

static mote_column value_column(const char *name, const uint8_t *at, uint32_t stride_bytes, uint32_t size_bytes) {
    mote_column column;
    memset(&column, 0, sizeof column);
    column.name = name;
    column.data = at;
    column.stride_bytes = stride_bytes;
    column.type = size_bytes == 1 ? MOTE_UINT8 : size_bytes == 2 ? MOTE_UINT16 : MOTE_INT32;
    column.scale = size_bytes == 4 ? 0.001 : 1;
    return column;
}

/* No byte behind the last value belongs to the memory. */
static uint8_t *make_records(const record_layout *l, const int32_t *xyz, uint64_t count) {
    const uint32_t ends[3] = {l->position_at + 12, l->colors_at + 3 * l->color_bytes,
                              l->apart ? 0 : l->extra_at + l->extra_bytes};
    uint32_t reach = 0;
    for (int k = 0; k < 3; k++) reach = ends[k] > reach ? ends[k] : reach;
    uint8_t *records = malloc((count - 1) * l->record_bytes + reach);
    assert_non_null(records);
    for (uint64_t i = 0; i < (count - 1) * l->record_bytes + reach; i++) records[i] = (uint8_t)mote_hash64(i);
    for (uint64_t i = 0; i < count; i++) memcpy(records + i * l->record_bytes + l->position_at, xyz + 3 * i, 12);
    return records;
}

static void check_layout(order_contexts c, const record_layout *l, const int32_t *xyz, uint64_t count,
                         const char *name) {
    static const char *const names[] = {"x", "y", "z", "red", "green", "blue", "extra"};
    mote_column columns[7];
    mote_cloud *cloud = NULL;
    if (!parity_is_mine()) return;
    uint8_t *records = make_records(l, xyz, count), *extra = order_take(count, 4);
    const uint8_t *const extra_at = l->apart ? extra : records + l->extra_at;
    for (uint32_t k = 0; k < 7; k++) {
        const uint8_t *at = k < 3   ? records + l->position_at + 4 * k
                            : k < 6 ? records + l->colors_at + (k - 3) * l->color_bytes
                                    : extra_at;
        const uint32_t stride_bytes = k == 6 && l->apart ? l->extra_bytes : l->record_bytes;
        columns[k] = value_column(names[k], at, stride_bytes, k < 3 ? 4 : k < 6 ? l->color_bytes : l->extra_bytes);
    }
    assert_int_equal(mote_cloud_wrap(c.cpu, count, columns, l->extra_bytes > 0 ? 7 : 6, &cloud), MOTE_OK);
    if (order_check(c, cloud, name) != l->copied) fail_msg("%s: copied %d", name, !l->copied);
    mote_cloud_destroy(cloud);
    free(records);
    free(extra);
}

/* Only aligned records of 16 bytes that hold all columns are copied; whatever they are, the order is the same. */
static void short_records_are_copied_by_position(void **state) {
    (void)state;
    const record_layout layouts[] = {
        {16, 0, 12, 1, 0, 0, false, true},   {16, 0, 12, 1, 15, 1, false, true}, {16, 0, 12, 1, 12, 4, false, true},
        {16, 0, 12, 1, 0, 2, true, false},   {20, 0, 12, 2, 0, 0, false, false}, {36, 0, 30, 2, 14, 2, false, false},
        {16, 4, 0, 1, 3, 1, false, false},   {15, 0, 12, 1, 0, 0, false, false}, {18, 0, 12, 2, 0, 0, false, false},
        {32, 16, 0, 1, 28, 4, false, false},
    };
    const order_contexts c = order_open();
    const size_t turns = parity_extent(3, 1, 1); /* each layout meets every third size, each size as many layouts */
    const uint64_t counts[] = {1, 2, 31, TILE - 1, TILE, TILE + 1, TILE + 128, 3 * TILE + 5};
    int32_t *xyz = order_take(3 * 4 * TILE, sizeof *xyz);
    for (uint64_t i = 0; i < 3 * 4 * TILE; i++) xyz[i] = (int32_t)(mote_hash64(i) >> 44) - 500000;
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        for (size_t n = i % turns; n < sizeof counts / sizeof counts[0]; n += turns) {
            char name[64];
            snprintf(name, sizeof name, "layout %zu, %llu points", i, (unsigned long long)counts[n]);
            check_layout(c, &layouts[i], xyz, counts[n], name);
        }
    }
    free(xyz);
    order_close(c);
}

/* Ever more memory until it is enough: nothing may stay taken, and the failure says what it is. */
static void check_memory(order_contexts c, const mote_cloud *cloud, bool copied) {
    if (!parity_is_mine()) return;
    const uint64_t n = mote_cloud_count(cloud), step_bytes = parity_extent(8192, 1024, 1024);
    static const order_ties by_content = {0, 0};
    uint32_t failures = 0;
    mote_lattice lattice;
    device_cloud device;
    assert_int_equal(device_cloud_open(gpu_of(c.gpu), cloud, &device), MOTE_OK);
    assert_int_equal(order_cuda_lattice(&device, &lattice, NULL), MOTE_OK);
    void *ballast = parity_ballast(c.gpu);
    const uint64_t before = c.gpu->device_bytes;
    mote_status status = MOTE_ERROR_MEMORY;
    for (uint64_t limit = step_bytes; status != MOTE_OK && limit < 96 * n; limit += step_bytes) {
        uint64_t *codes;
        uint32_t *order;
        device_cloud sorted;
        memset(&sorted, 0, sizeof sorted);
        c.gpu->params.memory_limit_bytes = before + limit;
        status = order_cuda_build(&device, &lattice, 0, &by_content, &codes, &order, copied ? &sorted : NULL);
        assert_int_equal(sorted.columns != NULL, copied && status == MOTE_OK);
        device_cloud_close(&sorted);
        cuda_free(gpu_of(c.gpu), codes);
        cuda_free(gpu_of(c.gpu), order);
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        assert_int_equal(c.gpu->device_bytes, before);
        failures += status != MOTE_OK;
        mote_context_clear(c.gpu);
    }
    assert_int_equal(status, MOTE_OK);
    assert_true(failures > parity_extent(4, 10, 10));
    cuda_free(gpu_of(c.gpu), ballast);
    device_cloud_close(&device);
}

static void gives_all_back_when_memory_ends(void **state) {
    (void)state;
    const order_contexts c = order_open();
    const uint64_t n = 3000;
    mote_cloud *cloud = awkward_cloud_make(c.cpu, awkward_cloud_named("far clusters"), n, 0);
    check_memory(c, cloud, false);
    mote_cloud_destroy(cloud);
    const run_cloud runs = {{30, 30, 30}, 9, {40, 50, 60, 150}, n, 0}; /* some are long, and there are ties */
    int32_t *xyz = order_take(4 * n, sizeof *xyz);
    make_runs(&runs, xyz);
    for (uint64_t i = n; i-- > 0;) memmove(xyz + 4 * i, xyz + 3 * i, 12);
    mote_column axes[3];
    for (uint32_t k = 0; k < 3; k++) axes[k] = value_column("", (const uint8_t *)(xyz + k), 16, 4);
    cloud = order_wrap(c.cpu, n, axes);
    check_memory(c, cloud, true);
    mote_cloud_destroy(cloud);
    free(xyz);
    order_close(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_any_length_are_sorted),        cmocka_unit_test(ties_of_any_length_are_settled),
        cmocka_unit_test(falling_ties_are_turned_round),        cmocka_unit_test(lonely_ties_about_a_tile_are_settled),
        cmocka_unit_test(short_records_are_copied_by_position), cmocka_unit_test(gives_all_back_when_memory_ends),
    };
    return parity_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : PARITY_SKIPPED;
}

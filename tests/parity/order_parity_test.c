/* The Morton order: lattice, codes, sort and permutation of the GPU are those of the CPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "math/hash.h"
#include "order/order_cuda.h"
#include "order/order_ties.h"
#include "parity/parity_support.h"
#include "reference/awkward_clouds.h"
#include "support/support.h"

#define TILE 2048 /* points that a block of the sort takes */

typedef struct contexts {
    mote_context *cpu, *gpu;
} contexts;

static contexts open_contexts(void) {
    const contexts c = {test_context(2), parity_context(0)};
    assert_non_null(c.gpu);
    return c;
}

static void close_contexts(contexts c) {
    mote_context_destroy(c.cpu);
    mote_context_destroy(c.gpu);
}

static void *take(uint64_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

/* ---- a cloud's order on both */

typedef struct expected_order {
    mote_lattice lattice;
    uint64_t skipped, count;
    uint64_t *codes, *sorted; /* of all points; of those with a place */
    uint32_t *order[2];       /* without ties settled, and with */
} expected_order;

static bool expect_order(mote_context *cpu, const mote_cloud *cloud, expected_order *e) {
    const uint64_t all = mote_cloud_count(cloud);
    memset(e, 0, sizeof *e);
    if (mote_order_lattice(cpu, cloud, &e->lattice, &e->skipped) != MOTE_OK) return false;
    e->count = all - e->skipped;
    e->codes = take(all, sizeof *e->codes);
    e->sorted = take(all, sizeof *e->sorted);
    for (int i = 0; i < 2; i++) e->order[i] = take(all, sizeof *e->order[i]);
    assert_int_equal(mote_order_codes(cpu, cloud, &e->lattice, e->codes), MOTE_OK);
    memcpy(e->sorted, e->codes, all * sizeof *e->codes);
    assert_int_equal(mote_order_sort(cpu, e->sorted, e->order[0], all), MOTE_OK);
    memcpy(e->order[1], e->order[0], all * sizeof *e->order[0]);
    assert_int_equal(order_settle_ties(cpu, cloud, &e->lattice, e->sorted, e->order[1], e->count), MOTE_OK);
    return true;
}

static void expected_free(expected_order *e) {
    free(e->codes);
    free(e->sorted);
    for (int i = 0; i < 2; i++) free(e->order[i]);
}

static void same_codes(const expected_order *e, contexts c, const mote_cloud *cloud, const char *name) {
    const uint64_t n = mote_cloud_count(cloud);
    uint64_t *codes = take(n, sizeof *codes);
    assert_int_equal(mote_order_codes(c.gpu, cloud, &e->lattice, codes), MOTE_OK);
    for (uint64_t i = 0; i < n; i++) {
        if (codes[i] == e->codes[i]) continue;
        fail_msg("%s: code of point %llu of %llu is %llx, not %llx", name, (unsigned long long)i, (unsigned long long)n,
                 (unsigned long long)codes[i], (unsigned long long)e->codes[i]);
    }
    free(codes);
}

/* Every value of every column of the sorted cloud is that of the point in its place; nothing in between is compared. */
static void same_points(contexts c, const mote_cloud *cloud, const cuda_cloud *sorted, const uint32_t *order,
                        const char *name) {
    const uint64_t n = mote_cloud_count(cloud);
    assert_int_equal(sorted->count, n);
    assert_int_equal(sorted->column_count, mote_cloud_column_count(cloud));
    for (uint32_t k = 0; k < sorted->column_count; k++) {
        const mote_column *column = &sorted->columns[k], *from = mote_cloud_column(cloud, k);
        const uint32_t size_bytes = mote_type_size(column->type);
        const uint64_t reach = (n - 1) * column->stride_bytes + size_bytes;
        assert_string_equal(column->name, from->name);
        assert_int_equal(column->type, from->type);
        uint8_t *values = take(reach, 1);
        assert_int_equal(cuda_download(c.gpu, values, column->data, reach), MOTE_OK);
        for (uint64_t i = 0; i < n; i++) {
            const uint8_t *own = (const uint8_t *)from->data + order[i] * (uint64_t)from->stride_bytes;
            if (memcmp(values + i * column->stride_bytes, own, size_bytes) == 0) continue;
            fail_msg("%s: %s of sorted point %llu of %llu is not that of %u", name, column->name, (unsigned long long)i,
                     (unsigned long long)n, order[i]);
        }
        free(values);
    }
}

/* copied: with the points themselves, if it can be done. Returns whether it was. */
static bool same_order(const expected_order *e, contexts c, const mote_cloud *cloud, const cuda_cloud *device,
                       bool ties, bool copied, const char *name) {
    uint64_t *device_codes, *codes = take(e->count, sizeof *codes);
    uint32_t *device_order, *order = take(e->count, sizeof *order);
    cuda_cloud sorted;
    memset(&sorted, 0, sizeof sorted);
    assert_int_equal(
        order_cuda_build(device, &e->lattice, e->skipped, ties, &device_codes, &device_order, copied ? &sorted : NULL),
        MOTE_OK);
    assert_int_equal(cuda_download(c.gpu, codes, device_codes, e->count * sizeof *codes), MOTE_OK);
    assert_int_equal(cuda_download(c.gpu, order, device_order, e->count * sizeof *order), MOTE_OK);
    for (uint64_t i = 0; i < e->count; i++) {
        if (codes[i] == e->sorted[i] && order[i] == e->order[ties][i]) continue;
        fail_msg("%s, ties %d, copied %d: place %llu of %llu has %u of code %llx, not %u of %llx", name, ties, copied,
                 (unsigned long long)i, (unsigned long long)e->count, order[i], (unsigned long long)codes[i],
                 e->order[ties][i], (unsigned long long)e->sorted[i]);
    }
    const bool has_points = sorted.columns != NULL;
    if (has_points) same_points(c, cloud, &sorted, order, name);
    cuda_cloud_close(&sorted);
    cuda_free(c.gpu, device_codes);
    cuda_free(c.gpu, device_order);
    free(codes);
    free(order);
    return has_points;
}

/* Returns whether the points were copied. */
static bool check_cloud(contexts c, const mote_cloud *cloud, const char *name) {
    bool copied = false;
    expected_order e;
    mote_lattice lattice;
    uint64_t skipped = 99;
    cuda_cloud device;
    assert_int_equal(cuda_cloud_open(c.gpu, cloud, &device), MOTE_OK);
    if (expect_order(c.cpu, cloud, &e)) {
        assert_int_equal(order_cuda_lattice(&device, &lattice, &skipped), MOTE_OK);
        assert_int_equal(skipped, e.skipped);
        if (memcmp(&lattice, &e.lattice, sizeof lattice) != 0) fail_msg("%s: another lattice", name);
        same_codes(&e, c, cloud, name);
        for (int way = 0; way < 4; way++) {
            copied = same_order(&e, c, cloud, &device, way % 2 != 0, way / 2 != 0, name);
        }
        expected_free(&e);
    } else {
        assert_int_equal(order_cuda_lattice(&device, &lattice, &skipped), mote_context_status(c.cpu));
        assert_string_equal(mote_context_message(c.gpu), mote_context_message(c.cpu));
        mote_context_clear(c.cpu);
        mote_context_clear(c.gpu);
    }
    cuda_cloud_close(&device);
    assert_int_equal(c.gpu->device_bytes, 0);
    return copied;
}

static void awkward_clouds_have_the_same_order(void **state) {
    (void)state;
    const contexts c = open_contexts();
    const uint64_t sizes[] = {0, 1, 2, 33, 700, 2 * TILE + 1};
    const uint32_t turns = (uint32_t)parity_extent(5, 1, 1);
    for (uint32_t k = 0; k < awkward_cloud_count; k++) {
        for (size_t s = k % turns; s < sizeof sizes / sizeof sizes[0]; s += turns) {
            mote_cloud *cloud = awkward_cloud_make(c.cpu, &awkward_clouds[k], sizes[s], s);
            assert_non_null(cloud);
            check_cloud(c, cloud, awkward_clouds[k].name);
            mote_cloud_destroy(cloud);
        }
    }
    close_contexts(c);
}

static void generated_clouds_have_the_same_order(void **state) {
    (void)state;
    static const char *const kinds[] = {"uniform", "clusters", "torus", "city", "room"};
    const contexts c = open_contexts();
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_generate(c.cpu, kinds[k], parity_extent(3000, 15000, 200000), NULL, &cloud), MOTE_OK);
        check_cloud(c, cloud, kinds[k]);
        mote_cloud_destroy(cloud);
    }
    close_contexts(c);
}

/* ---- columns of all types, anywhere in memory */

static mote_cloud *wrap_xyz(mote_context *ctx, uint64_t n, const mote_column axes[3]) {
    static const char *const names[3] = {"x", "y", "z"};
    mote_column columns[3];
    mote_cloud *cloud = NULL;
    for (int k = 0; k < 3; k++) {
        columns[k] = axes[k];
        columns[k].name = names[k];
    }
    assert_int_equal(mote_cloud_wrap(ctx, n, columns, 3, &cloud), MOTE_OK);
    return cloud;
}

/* Where and how the three coordinates of random bytes stand. */
typedef struct layout {
    uint32_t lead, stride_bytes;
    bool bit_field;
    double scale;
} layout;

static void check_type(contexts c, mote_type type, layout l) {
    const uint64_t n = 600;
    const uint32_t size_bytes = mote_type_size(type);
    uint8_t *bytes = take(n * l.stride_bytes + 64, 1);
    mote_column axes[3];
    memset(axes, 0, sizeof axes);
    for (uint64_t i = 0; i < n * l.stride_bytes + 64; i++) bytes[i] = (uint8_t)mote_hash64(i);
    for (uint32_t k = 0; k < 3; k++) {
        axes[k].data = bytes + l.lead + k * size_bytes;
        axes[k].stride_bytes = l.stride_bytes;
        axes[k].type = type;
        axes[k].scale = l.scale;
        axes[k].offset = 2.5 * k;
        if (l.bit_field) {
            axes[k].bit_shift = (uint8_t)(1 + k);
            axes[k].bit_count = (uint8_t)(8 * size_bytes - 5);
        }
    }
    mote_cloud *cloud = wrap_xyz(c.cpu, n, axes);
    check_cloud(c, cloud, mote_type_name(type));
    mote_cloud_destroy(cloud);
    free(bytes);
}

static void every_type_is_read(void **state) {
    (void)state;
    const contexts c = open_contexts();
    const layout layouts[] = {{0, 24, false, 0.01}, {0, 32, false, 0.01}, {0, 36, false, 0.01}, {1, 33, false, 0.01},
                              {0, 24, false, -0.5}, {0, 24, true, 0.01},  {1, 27, true, 0.01}};
    for (int type = MOTE_INT8; type <= MOTE_FLOAT64; type++) {
        for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
            if (layouts[i].bit_field && mote_type_is_float((mote_type)type)) continue;
            check_type(c, (mote_type)type, layouts[i]);
        }
    }
    close_contexts(c);
}

static void values_not_finite_count_for_nothing(void **state) {
    (void)state;
    const contexts c = open_contexts();
    const double inf = INFINITY, nan = NAN;
    const double clouds[][12] = {{nan, 1, 2, 3, inf, 4, 5, 6, -inf, 0.5, -0.0, 0.25},
                                 {-0.0, 0.0, 1, 0.0, -0.0, 1, -0.0, -0.0, 1, 0.0, 0.0, 1},
                                 {-1e308, 0, 0, 1e308, 0, 0, 0, 0, 0, 1, 1, 1},
                                 {1e-320, 0, 0, 3e-320, 0, 0, -1e-320, 0, 0, 0, 0, 0},
                                 {1e300, nan, 0, 1, 2, 3, 1.5, 2.5, 3.5, 2, 3, -1e-300},
                                 {nan, nan, nan, inf, inf, inf, nan, 0, 0, 0, 0, -inf}};
    for (size_t i = 0; i < sizeof clouds / sizeof clouds[0]; i++) {
        mote_column axes[3];
        memset(axes, 0, sizeof axes);
        for (int k = 0; k < 3; k++) {
            axes[k].data = clouds[i] + k;
            axes[k].stride_bytes = 24;
            axes[k].type = MOTE_FLOAT64;
        }
        for (uint64_t n = 1; n <= 4; n++) {
            mote_cloud *cloud = wrap_xyz(c.cpu, n, axes);
            check_cloud(c, cloud, "not finite");
            mote_cloud_destroy(cloud);
        }
    }
    close_contexts(c);
}

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
    const uint64_t most = (1ull << r->bits[k]) - 1, low = r->low < r->bits[k] ? r->low : r->bits[k];
    const uint64_t within = (1ull << low) - 1;
    return (uint32_t)((mote_hash_pair(run, k) & most & ~within) | (mote_hash_pair(i, 10 + k) & within));
}

static void make_runs(const run_cloud *r, int32_t *xyz) {
    uint64_t run = 0, left = r->lengths[0];
    for (uint64_t i = 0; i < r->count; i++, left--) {
        const uint64_t slot = i * 104729 % r->count; /* a prime that divides no count */
        while (left == 0) left = r->lengths[++run % 16 == 15 ? 3 : run % 3];
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t corner = i == 1 ? (uint32_t)((1ull << r->bits[k]) - 1) : 0;
            xyz[3 * slot + k] = (int32_t)((i < 2 ? corner : run_coordinate(r, run, i, k)) - 0x80000000u);
        }
    }
}

/* Coordinates in records of so many words. Returns whether the points were copied. */
static bool check_records(contexts c, const int32_t *xyz, uint64_t count, uint32_t words, double z_scale,
                          const char *name) {
    int32_t *records = take(count * words, sizeof *records);
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
    mote_cloud *cloud = wrap_xyz(c.cpu, count, axes);
    const bool copied = check_cloud(c, cloud, name);
    mote_cloud_destroy(cloud);
    free(records);
    return copied;
}

static bool check_integers(contexts c, const int32_t *xyz, uint64_t count, double z_scale, const char *name) {
    assert_false(check_records(c, xyz, count, 3, z_scale, name));
    return check_records(c, xyz, count, 4, z_scale, name);
}

static bool check_runs(contexts c, const run_cloud *r, const char *name) {
    int32_t *xyz = take(3 * r->count, sizeof *xyz);
    make_runs(r, xyz);
    const bool copied = check_integers(c, xyz, r->count, r->z_scale > 0 ? r->z_scale : 0.001, name);
    free(xyz);
    return copied;
}

/* At least so many are copied: not those with too many points in long runs, or a lattice coarser than their steps. */
static void check_all_runs(const run_cloud *clouds, size_t count, size_t least_copied, const char *what) {
    const contexts c = open_contexts();
    size_t copied = 0;
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s %zu", what, i);
        copied += check_runs(c, &clouds[i], name);
    }
    assert_in_range(copied, least_copied, count);
    close_contexts(c);
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
    const contexts c = open_contexts();
    int32_t xyz[3 * 300] = {INT32_MAX, INT32_MAX, INT32_MAX};
    for (int32_t i = 1; i < 300; i++) {
        for (int k = 0; k < 3; k++) xyz[3 * i + k] = 600 - i;
    }
    check_integers(c, xyz, 300, 0.001, "falling");
    for (uint64_t n = 30; n < 40; n++) check_integers(c, xyz, n, 0.001, "a few falling");
    close_contexts(c);
}

/* The points at two neighbouring places get one code, the later of the input the smaller x. */
static void tie_at(contexts c, int32_t *xyz, uint64_t count, uint64_t place) {
    expected_order e;
    mote_column axes[3];
    memset(axes, 0, sizeof axes);
    for (uint32_t k = 0; k < 3; k++) {
        axes[k].data = xyz + k;
        axes[k].stride_bytes = 12;
        axes[k].type = MOTE_INT32;
        axes[k].scale = 0.001;
    }
    mote_cloud *cloud = wrap_xyz(c.cpu, count, axes);
    assert_true(expect_order(c.cpu, cloud, &e));
    const uint32_t a = e.order[0][place], b = e.order[0][place + 1];
    int32_t *early = xyz + 3ull * (a < b ? a : b), *late = xyz + 3ull * (a < b ? b : a);
    for (int k = 0; k < 3; k++) early[k] = late[k] = xyz[3ull * a + (uint32_t)k] | 1;
    late[0] -= 1;
    expected_free(&e);
    mote_cloud_destroy(cloud);
}

/* Nothing else leads to such a tie. Runs are of some eight points, so that it may come from the next tile, or go there.
 */
static void lonely_ties_about_a_tile_are_settled(void **state) {
    (void)state;
    const contexts c = open_contexts();
    const uint64_t count = 2 * TILE + 100;
    int32_t *xyz = take(3 * count, sizeof *xyz);
    for (uint64_t seed = 0; seed < 80; seed++) {
        for (uint64_t i = 0; i < 3 * count; i++) xyz[i] = (int32_t)(mote_hash_pair(i, seed) >> 33 & 0x700FFFFF);
        tie_at(c, xyz, count, TILE - 3 + seed % 5);
        check_records(c, xyz, count, 4, 0.001, "lonely tie");
    }
    free(xyz);
    close_contexts(c);
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

static void check_layout(contexts c, const record_layout *l, const int32_t *xyz, uint64_t count, const char *name) {
    static const char *const names[] = {"x", "y", "z", "red", "green", "blue", "extra"};
    mote_column columns[7];
    mote_cloud *cloud = NULL;
    uint8_t *records = make_records(l, xyz, count), *extra = take(count, 4);
    const uint8_t *const extra_at = l->apart ? extra : records + l->extra_at;
    for (uint32_t k = 0; k < 7; k++) {
        const uint8_t *at = k < 3   ? records + l->position_at + 4 * k
                            : k < 6 ? records + l->colors_at + (k - 3) * l->color_bytes
                                    : extra_at;
        const uint32_t stride_bytes = k == 6 && l->apart ? l->extra_bytes : l->record_bytes;
        columns[k] = value_column(names[k], at, stride_bytes, k < 3 ? 4 : k < 6 ? l->color_bytes : l->extra_bytes);
    }
    assert_int_equal(mote_cloud_wrap(c.cpu, count, columns, l->extra_bytes > 0 ? 7 : 6, &cloud), MOTE_OK);
    if (check_cloud(c, cloud, name) != l->copied) fail_msg("%s: copied %d", name, !l->copied);
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
    const contexts c = open_contexts();
    const uint64_t counts[] = {1, 2, 31, TILE - 1, TILE, TILE + 1, TILE + 128, 3 * TILE + 5};
    int32_t *xyz = take(3 * 4 * TILE, sizeof *xyz);
    for (uint64_t i = 0; i < 3 * 4 * TILE; i++) xyz[i] = (int32_t)(mote_hash64(i) >> 44) - 500000;
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
            char name[64];
            snprintf(name, sizeof name, "layout %zu, %llu points", i, (unsigned long long)counts[n]);
            check_layout(c, &layouts[i], xyz, counts[n], name);
        }
    }
    free(xyz);
    close_contexts(c);
}

/* ---- the public entries */

/* Device memory with the same bytes. */
static void *on_gpu(contexts c, const void *host, uint64_t size_bytes) {
    void *device = cuda_alloc(c.gpu, size_bytes, "test");
    assert_non_null(device);
    assert_int_equal(cuda_upload(c.gpu, device, host, size_bytes), MOTE_OK);
    return device;
}

static uint64_t code_of_kind(int kind, uint64_t i) {
    const uint64_t h = mote_hash64(i * 7919 + (uint64_t)kind);
    switch (kind) {
    case 0: return h;
    case 1: return 42;
    case 2: return h % 2 == 0 ? 5 : UINT64_MAX;
    case 3: return i % 1000 == 0 ? UINT64_MAX : h >> 1;
    default: return (h & 15) << 59 | (h >> 32 & 7);
    }
}

static void check_sort(contexts c, int kind, uint64_t n, bool on_device) {
    uint64_t *codes[2] = {take(n, 8), take(n, 8)};
    uint32_t *indices[2] = {take(n, 4), take(n, 4)};
    for (uint64_t i = 0; i < n; i++) codes[0][i] = codes[1][i] = code_of_kind(kind, i);
    assert_int_equal(mote_order_sort(c.cpu, codes[0], indices[0], n), MOTE_OK);
    if (on_device) {
        uint64_t *device_codes = on_gpu(c, codes[1], n * 8);
        uint32_t *device_indices = on_gpu(c, indices[1], n * 4);
        assert_int_equal(mote_order_sort(c.gpu, device_codes, device_indices, n), MOTE_OK);
        assert_int_equal(cuda_download(c.gpu, codes[1], device_codes, n * 8), MOTE_OK);
        assert_int_equal(cuda_download(c.gpu, indices[1], device_indices, n * 4), MOTE_OK);
        cuda_free(c.gpu, device_codes);
        cuda_free(c.gpu, device_indices);
    } else {
        assert_int_equal(mote_order_sort(c.gpu, codes[1], indices[1], n), MOTE_OK);
    }
    assert_memory_equal(codes[0], codes[1], n * 8 + 8);
    assert_memory_equal(indices[0], indices[1], n * 4 + 4);
    for (int i = 0; i < 2; i++) free(codes[i]), free(indices[i]);
}

static void sorts_codes(void **state) {
    (void)state;
    const contexts c = open_contexts();
    const uint64_t sizes[] = {0, 1, 31, 32, 33, 255, 256, 257, 5000};
    for (int kind = 0; kind < 5; kind++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) check_sort(c, kind, sizes[s], s % 2 == 0);
    }
    assert_int_equal(c.gpu->device_bytes, 0);
    close_contexts(c);
}

static void check_permute(contexts c, uint32_t size, uint32_t stride, uint32_t lead, uint64_t n) {
    const uint64_t value_count = 900, bytes = value_count * stride + lead;
    uint8_t *values = take(bytes, 1), *out[2] = {take(n * size, 1), take(n * size, 1)};
    uint32_t *indices = take(n, sizeof *indices);
    for (uint64_t i = 0; i < bytes; i++) values[i] = (uint8_t)mote_hash64(i);
    for (uint64_t i = 0; i < n; i++) indices[i] = (uint32_t)(mote_hash64(i) % value_count);
    assert_int_equal(mote_order_permute(c.cpu, values + lead, size, stride, indices, n, out[0]), MOTE_OK);
    assert_int_equal(mote_order_permute(c.gpu, values + lead, size, stride, indices, n, out[1]), MOTE_OK);
    assert_memory_equal(out[0], out[1], n * size + 1);
    uint8_t *device_values = on_gpu(c, values, bytes), *device_out = on_gpu(c, out[1], n * size);
    uint32_t *device_indices = on_gpu(c, indices, n * sizeof *indices);
    assert_int_equal(cuda_fill(c.gpu, device_out, 0, n * size), MOTE_OK);
    assert_int_equal(mote_order_permute(c.gpu, device_values + lead, size, stride, device_indices, n, device_out),
                     MOTE_OK);
    assert_int_equal(cuda_download(c.gpu, out[1], device_out, n * size), MOTE_OK);
    assert_memory_equal(out[0], out[1], n * size);
    void *const taken[] = {device_values, device_out, device_indices};
    for (int i = 0; i < 3; i++) cuda_free(c.gpu, taken[i]);
    free(values), free(out[0]), free(out[1]), free(indices);
}

static void permutes_values_of_any_size(void **state) {
    (void)state;
    const contexts c = open_contexts();
    const uint32_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 36};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        check_permute(c, sizes[s], sizes[s], 0, 800);
        check_permute(c, sizes[s], 36, 4, 257);
        check_permute(c, sizes[s], 38, 2, 31);
        check_permute(c, sizes[s], 37, 1, 1);
    }
    assert_int_equal(c.gpu->device_bytes, 0);
    close_contexts(c);
}

/* Ever more memory until it is enough: nothing may stay taken, and the failure says what it is. */
static void check_memory(contexts c, const mote_cloud *cloud, bool copied) {
    const uint64_t n = mote_cloud_count(cloud);
    uint32_t failures = 0;
    mote_lattice lattice;
    cuda_cloud device;
    assert_int_equal(cuda_cloud_open(c.gpu, cloud, &device), MOTE_OK);
    assert_int_equal(order_cuda_lattice(&device, &lattice, NULL), MOTE_OK);
    void *ballast = parity_ballast(c.gpu);
    const uint64_t before = c.gpu->device_bytes;
    mote_status status = MOTE_ERROR_MEMORY;
    for (uint64_t limit = 1024; status != MOTE_OK && limit < 96 * n; limit += 1024) {
        uint64_t *codes;
        uint32_t *order;
        cuda_cloud sorted;
        memset(&sorted, 0, sizeof sorted);
        c.gpu->params.memory_limit_bytes = before + limit;
        status = order_cuda_build(&device, &lattice, 0, true, &codes, &order, copied ? &sorted : NULL);
        assert_int_equal(sorted.columns != NULL, copied && status == MOTE_OK);
        cuda_cloud_close(&sorted);
        cuda_free(c.gpu, codes);
        cuda_free(c.gpu, order);
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        assert_int_equal(c.gpu->device_bytes, before);
        failures += status != MOTE_OK;
        mote_context_clear(c.gpu);
    }
    assert_int_equal(status, MOTE_OK);
    assert_true(failures > 10);
    cuda_free(c.gpu, ballast);
    cuda_cloud_close(&device);
}

static void gives_all_back_when_memory_ends(void **state) {
    (void)state;
    const contexts c = open_contexts();
    const uint64_t n = 3000;
    mote_cloud *cloud = awkward_cloud_make(c.cpu, awkward_cloud_named("far clusters"), n, 0);
    check_memory(c, cloud, false);
    mote_cloud_destroy(cloud);
    const run_cloud runs = {{30, 30, 30}, 9, {40, 50, 60, 150}, n, 0}; /* some are long, and there are ties */
    int32_t *xyz = take(4 * n, sizeof *xyz);
    make_runs(&runs, xyz);
    for (uint64_t i = n; i-- > 0;) memmove(xyz + 4 * i, xyz + 3 * i, 12);
    mote_column axes[3];
    for (uint32_t k = 0; k < 3; k++) axes[k] = value_column("", (const uint8_t *)(xyz + k), 16, 4);
    cloud = wrap_xyz(c.cpu, n, axes);
    check_memory(c, cloud, true);
    mote_cloud_destroy(cloud);
    free(xyz);
    close_contexts(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(awkward_clouds_have_the_same_order),
        cmocka_unit_test(generated_clouds_have_the_same_order),
        cmocka_unit_test(every_type_is_read),
        cmocka_unit_test(values_not_finite_count_for_nothing),
        cmocka_unit_test(runs_of_any_length_are_sorted),
        cmocka_unit_test(ties_of_any_length_are_settled),
        cmocka_unit_test(falling_ties_are_turned_round),
        cmocka_unit_test(lonely_ties_about_a_tile_are_settled),
        cmocka_unit_test(short_records_are_copied_by_position),
        cmocka_unit_test(sorts_codes),
        cmocka_unit_test(permutes_values_of_any_size),
        cmocka_unit_test(gives_all_back_when_memory_ends),
    };
    mote_context *gpu = parity_context(0);
    if (gpu == NULL) return PARITY_SKIPPED;
    mote_context_destroy(gpu);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

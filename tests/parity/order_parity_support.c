#include "parity/order_parity_support.h"

#include <stdlib.h>
#include <string.h>

#include "order/order_cuda.h"
#include "order/sort/order_ties.h"

order_contexts order_open(void) {
    const order_contexts c = {test_context(2), parity_context(0)};
    assert_non_null(c.gpu);
    return c;
}

void order_close(order_contexts c) {
    mote_context_destroy(c.cpu);
    mote_context_destroy(c.gpu);
}

void *order_take(uint64_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

mote_cloud *order_wrap(mote_context *ctx, uint64_t n, const mote_column axes[3]) {
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

/* ---- a cloud's order on both */

bool order_expect(mote_context *cpu, const mote_cloud *cloud, order_expected *e) {
    const uint64_t all = mote_cloud_count(cloud);
    memset(e, 0, sizeof *e);
    if (mote_order_lattice(cpu, cloud, &e->lattice, &e->skipped) != MOTE_OK) return false;
    e->count = all - e->skipped;
    e->codes = order_take(all, sizeof *e->codes);
    e->sorted = order_take(all, sizeof *e->sorted);
    for (int i = 0; i < 2; i++) e->order[i] = order_take(all, sizeof *e->order[i]);
    assert_int_equal(mote_order_codes(cpu, cloud, &e->lattice, e->codes), MOTE_OK);
    memcpy(e->sorted, e->codes, all * sizeof *e->codes);
    assert_int_equal(mote_order_sort(cpu, e->sorted, e->order[0], all), MOTE_OK);
    memcpy(e->order[1], e->order[0], all * sizeof *e->order[0]);
    assert_int_equal(order_settle_ties(cpu, cloud, &e->lattice, e->sorted, e->order[1], e->count), MOTE_OK);
    return true;
}

void order_expected_free(order_expected *e) {
    free(e->codes);
    free(e->sorted);
    for (int i = 0; i < 2; i++) free(e->order[i]);
}

static void same_codes(const order_expected *e, order_contexts c, const mote_cloud *cloud, const char *name) {
    const uint64_t n = mote_cloud_count(cloud);
    uint64_t *codes = order_take(n, sizeof *codes);
    assert_int_equal(mote_order_codes(c.gpu, cloud, &e->lattice, codes), MOTE_OK);
    for (uint64_t i = 0; i < n; i++) {
        if (codes[i] == e->codes[i]) continue;
        fail_msg("%s: code of point %llu of %llu is %llx, not %llx", name, (unsigned long long)i, (unsigned long long)n,
                 (unsigned long long)codes[i], (unsigned long long)e->codes[i]);
    }
    free(codes);
}

/* Every value of every column of the sorted cloud is that of the point in its place; nothing in between is compared. */
static void same_points(order_contexts c, const mote_cloud *cloud, const device_cloud *sorted, const uint32_t *order,
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
        uint8_t *values = order_take(reach, 1);
        assert_int_equal(cuda_download(gpu_of(c.gpu), values, column->data, reach), MOTE_OK);
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
static bool same_order(const order_expected *e, order_contexts c, const mote_cloud *cloud, const device_cloud *device,
                       bool ties, bool copied, const char *name) {
    static const order_ties by_content = {0, 0};
    uint64_t *device_codes, *codes = order_take(e->count, sizeof *codes);
    uint32_t *device_order, *order = order_take(e->count, sizeof *order);
    device_cloud sorted;
    memset(&sorted, 0, sizeof sorted);
    assert_int_equal(order_cuda_build(device, &e->lattice, e->skipped, ties ? &by_content : NULL, &device_codes,
                                      &device_order, copied ? &sorted : NULL),
                     MOTE_OK);
    assert_int_equal(cuda_download(gpu_of(c.gpu), codes, device_codes, e->count * sizeof *codes), MOTE_OK);
    assert_int_equal(cuda_download(gpu_of(c.gpu), order, device_order, e->count * sizeof *order), MOTE_OK);
    for (uint64_t i = 0; i < e->count; i++) {
        if (codes[i] == e->sorted[i] && order[i] == e->order[ties][i]) continue;
        fail_msg("%s, ties %d, copied %d: place %llu of %llu has %u of code %llx, not %u of %llx", name, ties, copied,
                 (unsigned long long)i, (unsigned long long)e->count, order[i], (unsigned long long)codes[i],
                 e->order[ties][i], (unsigned long long)e->sorted[i]);
    }
    const bool has_points = sorted.columns != NULL;
    if (has_points) same_points(c, cloud, &sorted, order, name);
    device_cloud_close(&sorted);
    cuda_free(gpu_of(c.gpu), device_codes);
    cuda_free(gpu_of(c.gpu), device_order);
    free(codes);
    free(order);
    return has_points;
}

bool order_check(order_contexts c, const mote_cloud *cloud, const char *name) {
    bool copied = false;
    order_expected e;
    mote_lattice lattice;
    uint64_t skipped = 99;
    device_cloud device;
    assert_int_equal(device_cloud_open(gpu_of(c.gpu), cloud, &device), MOTE_OK);
    if (order_expect(c.cpu, cloud, &e)) {
        assert_int_equal(order_cuda_lattice(&device, &lattice, &skipped), MOTE_OK);
        assert_int_equal(skipped, e.skipped);
        if (memcmp(&lattice, &e.lattice, sizeof lattice) != 0) fail_msg("%s: another lattice", name);
        same_codes(&e, c, cloud, name);
        /* with nothing and with everything; where all is tried, also with one of both */
        for (int way = 0; way < 4; way += (int)parity_extent(3, 1, 1)) {
            copied = same_order(&e, c, cloud, &device, way % 2 != 0, way / 2 != 0, name);
        }
        order_expected_free(&e);
    } else {
        assert_int_equal(order_cuda_lattice(&device, &lattice, &skipped), mote_context_status(c.cpu));
        assert_string_equal(mote_context_message(c.gpu), mote_context_message(c.cpu));
        mote_context_clear(c.cpu);
        mote_context_clear(c.gpu);
    }
    device_cloud_close(&device);
    assert_int_equal(c.gpu->device_bytes, 0);
    return copied;
}

/* The order of the points in a node. Two are to be had: along the Morton curve, where neighbours in space follow each
   other, and as they were scanned, by GPS time and then by their place in the source. Which one codes smaller differs
   from scan to scan (docs/formats/copc.md has figures), so an estimate over some of the points decides. */
#include <stdlib.h>

#include "io/copc/copc_write.h"
#include "math/ordered.h"

#define WINDOWS       8u
#define WINDOW_POINTS 256u
#define RADIX_BITS    11u
#define RADIX_MIN     512u /* fewer are sorted by comparing */
#define AT_GPS        22u  /* byte of a record of formats 6 to 8 */

/* ---- by the place in the source */

static int by_value(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void radix_pass(const uint32_t *from, uint64_t count, uint32_t shift, uint32_t *to) {
    uint32_t starts[1u << RADIX_BITS] = {0}, sum = 0;
    const uint32_t mask = (1u << RADIX_BITS) - 1;
    for (uint64_t i = 0; i < count; i++) starts[from[i] >> shift & mask]++;
    for (uint32_t v = 0; v <= mask; v++) {
        const uint32_t here = starts[v];
        starts[v] = sum;
        sum += here;
    }
    for (uint64_t i = 0; i < count; i++) to[starts[from[i] >> shift & mask]++] = from[i];
}

/* An odd number of passes: from stays, what is in scratch goes. */
static void sort_indices(const uint32_t *from, uint64_t count, uint32_t *scratch, uint32_t *to) {
    memcpy(count < RADIX_MIN ? to : scratch, from, count * sizeof *to);
    if (count < RADIX_MIN) {
        qsort(to, count, sizeof *to, by_value);
        return;
    }
    radix_pass(scratch, count, 0, to);
    radix_pass(to, count, RADIX_BITS, scratch);
    radix_pass(scratch, count, 2 * RADIX_BITS, to);
}

/* ---- by time */

typedef struct timed_point {
    uint64_t time; /* orders as the GPS time does */
    uint32_t index;
} timed_point;

static int by_time(const void *a, const void *b) {
    const timed_point *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Sources are mostly in the order of time already: then only the look is paid for. */
static mote_status sort_by_time(const copc_job *job, copc_worker *worker, uint64_t count, uint32_t *indices) {
    const mote_column *gps = mote_cloud_find(job->plan.cloud, "gps_time");
    bool sorted = true;
    if (gps == NULL || count == 0) return MOTE_OK;
    if (!mote_reserve_scratch(job->ctx, (void **)&worker->times, &worker->time_capacity, count, sizeof(timed_point),
                              "COPC nodes")) {
        return MOTE_ERROR_MEMORY;
    }
    timed_point *points = worker->times;
    for (uint64_t i = 0; i < count; i++) {
        points[i].time = mote_ordered_real(mote_column_value(gps, indices[i]));
        points[i].index = indices[i];
        sorted = sorted && (i == 0 || points[i - 1].time <= points[i].time);
    }
    if (sorted) return MOTE_OK;
    qsort(points, count, sizeof *points, by_time);
    for (uint64_t i = 0; i < count; i++) indices[i] = points[i].index;
    return MOTE_OK;
}

/* ---- which one */

static uint64_t bit_length(int64_t value) {
    const uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    return magnitude == 0 ? 0 : 64 - (uint64_t)__builtin_clzll(magnitude);
}

static int64_t median(int64_t a, int64_t b, int64_t c) {
    const int64_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* About the bits that the codec needs for what depends on the order most: each coordinate less what the last ones let
   expect, and each step of time less the one before. */
static uint64_t cost_of(const uint8_t *records, uint64_t count, uint32_t stride_bytes) {
    int64_t last[3][3] = {{0}}, step = 0;
    uint64_t bits = 0;
    for (uint64_t i = 1; i < count; i++) {
        const uint8_t *now = records + i * stride_bytes, *before = now - stride_bytes;
        for (uint32_t k = 0; k < 3; k++) {
            const int64_t moved = (int64_t)(int32_t)las_u32(now + 4 * k) - (int32_t)las_u32(before + 4 * k);
            bits += bit_length(k < 2 ? moved - median(last[k][0], last[k][1], last[k][2]) : moved);
            last[k][i % 3] = moved;
        }
        const int64_t passed = (int64_t)(las_u64(now + AT_GPS) - las_u64(before + AT_GPS));
        if (passed == 0) continue;
        bits += bit_length((int64_t)((uint64_t)passed - (uint64_t)step));
        step = passed;
    }
    return bits;
}

static uint64_t estimate(const copc_job *job, copc_worker *worker, const uint32_t *indices, uint64_t count) {
    const bool all = count <= WINDOWS * WINDOW_POINTS;
    const uint64_t windows = all ? 1 : WINDOWS, points = all ? count : WINDOW_POINTS;
    uint64_t bits = 0;
    for (uint64_t w = 0; w < windows; w++) {
        const uint64_t first = all ? 0 : w * (count - WINDOW_POINTS) / (WINDOWS - 1);
        mote_las_gather(&job->plan, indices + first, points, worker->records);
        bits += cost_of(worker->records, points, job->plan.record_bytes);
    }
    return bits;
}

mote_status mote_copc_order(const copc_job *job, copc_worker *worker, uint64_t count) {
    uint32_t *curve = worker->indices, *scanned = curve + count, *scratch = scanned + count;
    sort_indices(curve, count, scratch, scanned);
    MOTE_TRY(sort_by_time(job, worker, count, scanned));
    if (estimate(job, worker, scanned, count) < estimate(job, worker, curve, count)) {
        memcpy(curve, scanned, count * sizeof *curve);
    }
    return MOTE_OK;
}

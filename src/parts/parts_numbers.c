/* Points of a part keep the order of the inputs, so that their numbers increase: of each the lower bits are kept behind
   its record, and of the part where the upper ones change, which they do once in 2^24 or 2^32 points of the inputs. */
#include <stdlib.h>

#include "parts/parts.h"

/* The upper bits that hold for a point, by the last epoch of its part that begins at it or before. */
static uint32_t high_of(const parts_run *run, uint32_t part, uint64_t point) {
    uint64_t low = 0, high = run->epoch_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const parts_epoch *epoch = &run->epochs[middle];
        const bool is_before = epoch->part < part || (epoch->part == part && epoch->first <= point);
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low > 0 && run->epochs[low - 1].part == part ? run->epochs[low - 1].high : 0;
}

mote_status parts_numbers_begin(parts_run *run) {
    run->epoch_count = 0;
    mote_free(run->ctx, run->highs);
    run->highs = mote_alloc_zero(run->ctx, run->part_count * sizeof *run->highs, "parts");
    return run->highs != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

mote_status parts_number_put(parts_run *run, uint32_t part, uint64_t point, uint64_t number, uint8_t *to) {
    const uint32_t low = (uint32_t)number, high = (uint32_t)(number >> 8 * run->number_bytes);
    memcpy(to, &low, run->number_bytes); /* little-endian, as all of mote's files are */
    if (high == run->highs[part]) return MOTE_OK;
    run->highs[part] = high;
    if (!mote_reserve(run->ctx, (void **)&run->epochs, &run->epoch_capacity, run->epoch_count + 1, sizeof *run->epochs,
                      "parts")) {
        return MOTE_ERROR_MEMORY;
    }
    run->epochs[run->epoch_count++] = (parts_epoch){point, part, high};
    return MOTE_OK;
}

static int by_part(const void *a, const void *b) {
    const parts_epoch *x = a, *y = b;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

void parts_numbers_sort(parts_run *run) {
    if (run->epoch_count > 0) qsort(run->epochs, run->epoch_count, sizeof *run->epochs, by_part);
}

uint64_t parts_number_of(const parts_run *run, uint32_t part, uint64_t point, const uint8_t *at) {
    uint32_t low = 0;
    memcpy(&low, at, run->number_bytes);
    return (uint64_t)high_of(run, part, point) << 8 * run->number_bytes | low;
}

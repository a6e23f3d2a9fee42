/* Points of a part keep the order of the inputs, so that their numbers increase: of each the lower 32 bits are kept
   behind its record, and of the part where the upper ones change, which they do once in 2^32 points of the inputs. */
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

/* While numbers are put, epochs are in the order of the inputs. */
static uint32_t last_high(const parts_run *run, uint32_t part) {
    for (uint64_t e = run->epoch_count; e-- > 0;) {
        if (run->epochs[e].part == part) return run->epochs[e].high;
    }
    return 0;
}

mote_status parts_number_epoch(parts_run *run, uint32_t part, uint64_t point, uint64_t number) {
    const uint32_t high = (uint32_t)(number / PARTS_EPOCH);
    if (high == 0 || high == last_high(run, part)) return MOTE_OK;
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
    uint32_t low;
    memcpy(&low, at, PARTS_NUMBER_BYTES);
    return (uint64_t)high_of(run, part, point) << 32 | low;
}

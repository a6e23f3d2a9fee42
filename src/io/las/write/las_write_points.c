/* Points as the records of a LAS file to be written, each counted for the header. */
#include "io/las/write/las_write.h"

const uint8_t *mote_las_writer_records(las_writer *w, uint64_t thread, uint64_t first, uint64_t count) {
    const las_plan *plan = &w->plan;
    const uint8_t *records = mote_las_same_records(plan, first);
    if (records == NULL) {
        uint8_t *buffer = w->buffers + thread * w->block_points * plan->record_bytes;
        mote_las_convert(plan, first, count, buffer);
        records = buffer;
    }
    mote_las_tally_count(plan, records, count, &w->tallies[thread]);
    return records;
}

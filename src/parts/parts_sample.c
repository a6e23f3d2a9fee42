/* Points of which a plan makes parts, to see what that takes: parts_predict.c. */
#include "parts/parts.h"

#define WINDOW_POINTS 65536u /* some nodes of the usual 10,000 to 20,000 points, of several levels */

/* Windows in the middle of as many shares of all points. */
static void choose_windows(const parts_run *run, struct parts_sample *sample) {
    const uint64_t total = run->first[run->cell_count];
    const uint32_t below = 3 * (MOTE_ORDER_BITS - run->level);
    uint64_t c = 0;
    for (uint32_t w = 0; w < PARTS_WINDOWS; w++) {
        const uint64_t middle = (uint64_t)((double)total * (2 * w + 1) / (2 * PARTS_WINDOWS));
        const uint64_t from = middle > sample->capacity / 2 ? middle - sample->capacity / 2 : 0;
        while (c < run->cell_count && run->first[c + 1] <= from) c++;
        const uint64_t before = run->first[c];
        sample->first[w] = c << below;
        while (c < run->cell_count && run->first[c + 1] - before <= sample->capacity) c++;
        /* Of a cell with more points than that, the first ones of the inputs. */
        if (c < run->cell_count && c << below == sample->first[w]) c++;
        sample->end[w] = c << below;
    }
}

mote_status parts_sample_begin(parts_run *run) {
    struct parts_sample *sample = run->sample = mote_alloc_zero(run->ctx, sizeof *sample, "sample of parts");
    if (sample == NULL) return MOTE_ERROR_MEMORY;
    /* Within what a part may take, of which it is made twice. */
    const uint64_t most = run->part_points / (2 * PARTS_WINDOWS), total = run->first[run->cell_count];
    sample->capacity = most < WINDOW_POINTS ? most : WINDOW_POINTS;
    if (sample->capacity > total / PARTS_WINDOWS + 1) sample->capacity = total / PARTS_WINDOWS + 1;
    choose_windows(run, sample);
    sample->records = mote_alloc(run->ctx, PARTS_WINDOWS * sample->capacity * run->record_bytes, "sample of parts");
    return sample->records != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void take(parts_run *run, uint32_t w, const uint8_t *record) {
    struct parts_sample *sample = run->sample;
    if (sample->count[w] == sample->capacity) return;
    const uint64_t number = w * sample->capacity + sample->count[w]++;
    uint8_t *to = sample->records + number * run->record_bytes;
    memcpy(to, record, run->source.record_bytes);
    if (run->number_bytes > 0) parts_number_put(run, number, to);
}

void parts_sample_see(parts_run *run, const uint8_t *records, const uint64_t *codes, uint64_t count) {
    const struct parts_sample *sample = run->sample;
    uint64_t first[PARTS_WINDOWS], length[PARTS_WINDOWS];
    for (uint32_t w = 0; w < PARTS_WINDOWS; w++) {
        first[w] = sample->first[w];
        length[w] = sample->end[w] - sample->first[w];
    }
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t w = 0; w < PARTS_WINDOWS; w++) { /* codes below the first one wrap around */
            if (codes[i] - first[w] < length[w]) take(run, w, records + i * run->source.record_bytes);
        }
    }
}

void parts_sample_free(parts_run *run) {
    if (run->sample == NULL) return;
    mote_free(run->ctx, run->sample->records);
    mote_free(run->ctx, run->sample);
    run->sample = NULL;
}

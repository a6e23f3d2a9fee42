/* What each part of a plan will take. Nothing is assumed of the machine, the format or the parameters: some of the
   points become a part as those of the plan will, in two sizes, and what that takes of memory, processors and disk is
   a + b · points.

     codes of all    ──────┤ 0 ├───────────┤ 1 ├───────────┤ 2 ├───────────┤ 3 ├──────   windows of whole cells
     small           ──────┤ 0 ├───────────────────────────────────────────────────
     large           ──────┤ 0 ├───────────┤ 1 ├───────────┤ 2 ├───────────┤ 3 ├──────

   Whole cells, so that points are as dense as all are there, and nodes as full. */
#define _DEFAULT_SOURCE /* sysconf */
#include <mote_have.h>
#include <stdio.h>
#include <unistd.h>

#include "parts/parts_job.h"

#define WINDOWS       4u
#define SHORT_SECONDS 0.2
#define WINDOW_POINTS 65536u /* some nodes of the usual 10,000 to 20,000 points, of several levels */

struct parts_sample {
    uint64_t first[WINDOWS], end[WINDOWS]; /* codes */
    uint64_t count[WINDOWS];               /* points of the window so far */
    uint64_t capacity;                     /* of each */
    uint8_t *records;                      /* [WINDOWS · capacity] */
};

void parts_sample_see(parts_run *run, const uint8_t *record, uint64_t code) {
    struct parts_sample *sample = run->sample;
    for (uint32_t w = 0; w < WINDOWS; w++) {
        if (code < sample->first[w] || code >= sample->end[w] || sample->count[w] == sample->capacity) continue;
        uint8_t *to = sample->records + (w * sample->capacity + sample->count[w]) * run->record_bytes;
        const uint32_t number = (uint32_t)(w * sample->capacity + sample->count[w]++);
        memcpy(to, record, run->source.record_bytes);
        if (run->has_numbers) memcpy(to + run->source.record_bytes, &number, run->number_bytes);
        return;
    }
}

void parts_sample_free(parts_run *run) {
    if (run->sample == NULL) return;
    mote_free(run->ctx, run->sample->records);
    mote_free(run->ctx, run->sample);
    run->sample = NULL;
}

#if MOTE_HAVE_JANSSON

uint64_t parts_resident_bytes(void) {
    unsigned long long all, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file != NULL && fscanf(file, "%llu %llu", &all, &resident) != 2) resident = 0;
    if (file != NULL) fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- which points */

/* Windows in the middle of as many shares of all points. */
static void choose_windows(const parts_run *run, struct parts_sample *sample) {
    const uint64_t total = run->first[run->cell_count];
    const uint32_t below = 3 * (MOTE_ORDER_BITS - run->level);
    uint64_t c = 0;
    for (uint32_t w = 0; w < WINDOWS; w++) {
        const uint64_t middle = (uint64_t)((double)total * (2 * w + 1) / (2 * WINDOWS));
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
    const uint64_t most = run->part_points / (2 * WINDOWS), total = run->first[run->cell_count];
    sample->capacity = most < WINDOW_POINTS ? most : WINDOW_POINTS;
    if (sample->capacity > total / WINDOWS + 1) sample->capacity = total / WINDOWS + 1;
    choose_windows(run, sample);
    sample->records = mote_alloc(run->ctx, WINDOWS * sample->capacity * run->record_bytes, "sample of parts");
    return sample->records != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* ---- parts of them */

/* What a part of them took. */
typedef struct sample_cost {
    uint64_t points;
    double seconds, memory_bytes, file_bytes;
} sample_cost;

static mote_status fill_cloud(parts_run *run, uint32_t windows, sample_cost *cost, mote_cloud **cloud) {
    const struct parts_sample *sample = run->sample;
    uint8_t *to = NULL;
    cost->points = 0;
    for (uint32_t w = 0; w < windows; w++) cost->points += sample->count[w];
    MOTE_TRY(parts_cloud(run, cost->points, cloud, &to));
    for (uint32_t w = 0; w < windows; w++) {
        const uint64_t size_bytes = sample->count[w] * run->record_bytes;
        memcpy(to, sample->records + w * sample->capacity * run->record_bytes, size_bytes);
        to += size_bytes;
    }
    return MOTE_OK;
}

static mote_status build_and_write(parts_run *run, const mote_cloud *cloud, mote_output *to, uint64_t *size_bytes) {
    lod_whole *whole = &run->ranges[0].whole;
    mote_lod *lod = NULL;
    bool lacks_fine = false;
    parts_made made;
    memset(&made, 0, sizeof made);
    mote_status status = lod_build_part(run->ctx, cloud, &run->lod, whole, &lod, &lacks_fine);
    if (status == MOTE_OK && lacks_fine) {
        mote_lod_destroy(lod);
        lod = NULL;
        whole->fine = true;
        status = lod_build_part(run->ctx, cloud, &run->lod, whole, &lod, &lacks_fine);
    }
    if (status == MOTE_OK) status = parts_part_encode(run, 0, lod, to, &made);
    if (status == MOTE_OK) *size_bytes = parts_made_bytes(&made);
    parts_made_free(run->ctx, &made);
    mote_lod_destroy(lod);
    return status;
}

/* A part of the points of some windows, as if these were all that there are; what it takes. */
static mote_status make_sample(parts_run *run, uint32_t windows, const char *path, sample_cost *cost) {
    mote_context *ctx = run->ctx;
    const uint64_t peak_before = ctx->memory_peak_bytes, begin = ctx->memory_bytes;
    parts_run own = *run;
    parts_range range;
    mote_cloud *cloud = NULL;
    mote_output to;
    uint64_t size_bytes = 0;
    memset(&range, 0, sizeof range);
    range.whole.lattice = run->lattice;
    range.whole.high.code = 1ull << 3 * MOTE_ORDER_BITS;
    own.ranges = &range;
    own.part_count = 1;
    own.epoch_count = 0;
    const double since = parts_processor_seconds();
    ctx->memory_peak_bytes = begin;
    MOTE_TRY(parts_open_scratch(&own, path, &to));
    mote_status status = fill_cloud(&own, windows, cost, &cloud);
    range.points = cost->points;
    if (status == MOTE_OK) status = build_and_write(&own, cloud, &to, &size_bytes);
    mote_cloud_destroy(cloud);
    mote_output_close(ctx, &to, MOTE_CANCELLED); /* it has no name to take */
    cost->memory_bytes = (double)(ctx->memory_peak_bytes - begin);
    cost->seconds = parts_processor_seconds() - since;
    cost->file_bytes = (double)size_bytes;
    if (peak_before > ctx->memory_peak_bytes) ctx->memory_peak_bytes = peak_before;
    return status;
}

/* a + b · n through two sizes; where either would be less than nothing, it is as many times larger as there are more
   points. */
static void fit(const sample_cost costs[2], const double values[2], double line[2]) {
    const double few = (double)costs[0].points, many = (double)costs[1].points;
    line[1] = many > few ? (values[1] - values[0]) / (many - few) : 0;
    line[0] = values[1] - line[1] * many;
    if (line[0] >= 0 && line[1] >= 0 && many > few) return;
    line[0] = 0;
    line[1] = many > 0 ? values[1] / many : 0;
}

mote_status parts_sample_make(parts_run *run, const char *path) {
    parts_prices *prices = &run->prices;
    sample_cost costs[2];
    memset(costs, 0, sizeof costs);
    mote_stage(run->ctx, "predict");
    const mote_progress_span whole = mote_progress_hold(run->ctx);
    mote_status status = make_sample(run, 1, path, &costs[0]);
    if (status == MOTE_OK) status = make_sample(run, WINDOWS, path, &costs[1]);
    /* Where it took so little that another process's work would tell, the least of three times is what it takes. */
    for (int again = 0; again < 2 && status == MOTE_OK && costs[1].seconds < SHORT_SECONDS; again++) {
        const double before = costs[1].seconds;
        status = make_sample(run, WINDOWS, path, &costs[1]);
        costs[1].seconds = before < costs[1].seconds ? before : costs[1].seconds;
    }
    mote_progress_leave(run->ctx, whole);
    const double memory[2] = {costs[0].memory_bytes, costs[1].memory_bytes};
    const double file[2] = {costs[0].file_bytes, costs[1].file_bytes};
    /* What a part takes beside its points is less than what two short times differ by. */
    prices->seconds = costs[1].points > 0 ? costs[1].seconds / (double)costs[1].points : 0;
    fit(costs, memory, prices->memory_bytes);
    fit(costs, file, prices->file_bytes);
    return status;
}
#endif

/* What each part of a plan will take. Nothing is assumed of the machine, the format or the parameters: some of the
   points become a part as those of the plan will, in two sizes, and what that takes of memory, processors and disk is
   a + b · points.

     codes of all    ──────┤ 0 ├───────────┤ 1 ├───────────┤ 2 ├───────────┤ 3 ├──────   windows of whole cells
     small           ──────┤ 0 ├───────────────────────────────────────────────────
     large           ──────┤ 0 ├───────────┤ 1 ├───────────┤ 2 ├───────────┤ 3 ├──────

   Whole cells, so that points are as dense as all are there, and nodes as full. */
#define _DEFAULT_SOURCE /* sysconf */
#include <malloc.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "parts/parts_job.h"

/* Of the seconds that counting all points took: what trying once more may take. The first tries are made in any case:
   of 10 M points, where each takes 0.03 s of the 1.7 s that all of the array takes, these alone. */
#define AGAIN_SHARE 0.05

#if MOTE_HAVE_JANSSON

uint64_t parts_resident_bytes(void) {
    char line[256], *at = line;
    unsigned long long resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file != NULL && fgets(line, sizeof line, file) != NULL) {
        (void)strtoull(line, &at, 10); /* all of it */
        resident = strtoull(at, NULL, 10);
    }
    if (file != NULL) fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
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

/* Sampling by distance is done when a part is made: what it would choose among these points. levels: for mote_free */
static mote_status choose_levels(parts_run *run, const mote_cloud *cloud, uint8_t **levels) {
    lod_whole *whole = &run->ranges[0].whole;
    lod_list list = {.count = 0};
    bool lacks_fine = false;
    uint32_t finest = 0;
    if (!parts_is_by_distance(run)) return MOTE_OK;
    mote_status status = lod_list_part(run->ctx, cloud, &run->lod, whole, &list, &lacks_fine);
    if (status == MOTE_OK && lacks_fine) {
        mote_free(run->ctx, list.xyz);
        mote_free(run->ctx, list.level);
        whole->fine = true;
        status = lod_list_part(run->ctx, cloud, &run->lod, whole, &list, &lacks_fine);
    }
    for (uint64_t i = 0; i < list.count; i++) finest = list.level[i] > finest ? list.level[i] : finest;
    if (status == MOTE_OK) status = lod_choose_listed(run->ctx, whole, &run->lod, &list, 0, finest);
    mote_free(run->ctx, list.xyz);
    *levels = list.level;
    whole->levels = list.level;
    whole->level_count = list.count;
    return status;
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

/* Gives back what malloc keeps of steps before: a process that makes a part has new memory, and pays for its pages. */
static void forget_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
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
    uint8_t *levels = NULL;
    memset(&range, 0, sizeof range);
    range.whole.lattice = run->lattice;
    range.whole.high.code = 1ull << 3 * MOTE_ORDER_BITS;
    own.ranges = &range;
    own.part_count = 1;
    forget_memory();
    const double since = parts_processor_seconds();
    ctx->memory_peak_bytes = begin;
    MOTE_TRY(parts_open_scratch(&own, path, &to));
    mote_status status = fill_cloud(&own, windows, cost, &cloud);
    range.points = cost->points;
    const double filled = parts_processor_seconds();
    if (status == MOTE_OK) status = choose_levels(&own, cloud, &levels);
    const double chosen = parts_processor_seconds(); /* which no part does, nor has memory for */
    ctx->memory_peak_bytes = ctx->memory_bytes;
    if (status == MOTE_OK) status = build_and_write(&own, cloud, &to, &size_bytes);
    mote_cloud_destroy(cloud);
    mote_free(ctx, levels);
    mote_output_close(ctx, &to, MOTE_CANCELLED); /* it has no name to take */
    cost->memory_bytes = (double)(ctx->memory_peak_bytes - begin);
    cost->seconds = parts_processor_seconds() - chosen + filled - since;
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
    const mote_progress_span whole = parts_enter_pass(run), pass = run->ctx->progress_span;
    mote_progress_next(run->ctx, pass, 0, 0);
    mote_status status = make_sample(run, 1, path, &costs[0]);
    mote_progress_next(run->ctx, pass, 0.1, 0.1);
    if (status == MOTE_OK) status = make_sample(run, PARTS_WINDOWS, path, &costs[1]);
    /* Another process's work would tell, so that the least of three times is what it takes. */
    const double most = AGAIN_SHARE * prices->point_seconds * (double)run->points;
    for (int again = 0; again < 2 && status == MOTE_OK && costs[1].seconds < most; again++) {
        const double before = costs[1].seconds;
        mote_progress_next(run->ctx, pass, 0.4 + 0.3 * again, 0.4 + 0.3 * again);
        status = make_sample(run, PARTS_WINDOWS, path, &costs[1]);
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

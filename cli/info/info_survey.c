/* Percentiles, covered area and dates. */
#include "info/info_survey.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK_POINTS 4096
#define BINS         65536u
#define CELL_POINTS  16.0 /* of a cell on average: one without a point is then outside of what was surveyed */
#define CELLS_MAX    8192.0
#define ROUNDS       3           /* cells are made smaller as the covered area turns out to be less than the box */
#define GPS_EPOCH_S  315964800.0 /* 1980-01-06 in seconds since 1970 */

const double survey_percents[SURVEY_PERCENTILES] = {1, 5, 50, 95, 99};

static uint64_t block_of(uint64_t count, int64_t block, uint64_t *first) {
    *first = (uint64_t)block * BLOCK_POINTS;
    return count - *first < BLOCK_POINTS ? count - *first : BLOCK_POINTS;
}

/* ---- percentiles */

/* How many values lie in each of BINS equal parts of [low, high]; *below: how many before it. */
static void count_bins(session *s, const mote_cloud *cloud, const mote_column *column, double low, double high,
                       uint64_t *bins, uint64_t *below) {
    const uint64_t count = mote_cloud_count(cloud);
    const int64_t blocks = (int64_t)((count + BLOCK_POINTS - 1) / BLOCK_POINTS);
    const double factor = high > low ? BINS / (high - low) : 0;
    uint64_t before = 0;
    memset(bins, 0, BINS * sizeof *bins);
#pragma omp parallel num_threads(mote_context_threads(s->ctx)) reduction(+ : before)
    {
        double values[BLOCK_POINTS];
#pragma omp for schedule(static)
        for (int64_t b = 0; b < blocks; b++) {
            uint64_t first;
            const uint64_t some = block_of(count, b, &first);
            mote_cloud_read_known(cloud, column, first, some, values);
            for (uint64_t i = 0; i < some; i++) {
                before += values[i] < low;
                if (!(values[i] >= low && values[i] <= high)) continue;
                const double place = (values[i] - low) * factor;
                const uint64_t bin = place < BINS - 1 ? (uint64_t)place : BINS - 1;
#pragma omp atomic
                bins[bin]++;
            }
        }
    }
    *below = before;
}

/* The bin that holds the value of a rank. */
static uint64_t find_bin(const uint64_t *bins, uint64_t below, uint64_t rank) {
    uint64_t bin = 0;
    for (; bin + 1 < BINS && below + bins[bin] <= rank; bin++) below += bins[bin];
    return bin;
}

/* Stored values are counted in 65,536 bins, and the bin of each percentile is once more divided so: exact to a 2^32nd
   of the range, which is more than columns of integers have steps. */
static void find_percentiles(session *s, const survey_input *input, uint32_t c, uint64_t *bins, double *out) {
    const mote_column *column = mote_cloud_column(input->cloud, c);
    const column_stats *stats = &input->stats->columns[c];
    const double a = (stats->min - column->offset) / column->scale, b = (stats->max - column->offset) / column->scale;
    const bool whole = !mote_type_is_float(column->type);
    const double low = whole ? rint(fmin(a, b)) : fmin(a, b), high = whole ? rint(fmax(a, b)) + 1 : fmax(a, b);
    double lows[SURVEY_PERCENTILES], width = (high - low) / BINS;
    uint64_t below = 0, ranks[SURVEY_PERCENTILES];
    for (int p = 0; p < SURVEY_PERCENTILES; p++) out[p] = NAN;
    if (stats->values == 0 || !isfinite(low) || !isfinite(high)) return;
    count_bins(s, input->cloud, column, low, high, bins, &below);
    for (int p = 0; p < SURVEY_PERCENTILES; p++) {
        const double share = column->scale < 0 ? 100 - survey_percents[p] : survey_percents[p];
        ranks[p] = (uint64_t)(share / 100 * (double)(stats->values - 1));
        lows[p] = low + (double)find_bin(bins, below, ranks[p]) * width;
    }
    for (int p = 0; p < SURVEY_PERCENTILES; p++) {
        double found = lows[p];
        if (width > 0 && !(whole && width <= 1)) {
            if (p == 0 || lows[p] != lows[p - 1]) {
                count_bins(s, input->cloud, column, lows[p], lows[p] + width, bins, &below);
            }
            found += (double)find_bin(bins, below, ranks[p]) * width / BINS;
        }
        if (whole) found = width <= 1 ? ceil(found) : rint(found);
        out[p] = found * column->scale + column->offset;
    }
}

/* ---- covered area */

/* Cells with a point. cells: width · height bits, as bytes. */
static uint64_t count_cells(session *s, const survey_input *input, const mote_box *box, double side, uint8_t *cells,
                            uint64_t width, uint64_t height) {
    const mote_column *x = mote_cloud_find(input->cloud, "x"), *y = mote_cloud_find(input->cloud, "y");
    const uint64_t count = mote_cloud_count(input->cloud);
    uint64_t occupied = 0;
    memset(cells, 0, width * height);
#pragma omp parallel for schedule(static) num_threads(mote_context_threads(s->ctx))
    for (int64_t i = 0; i < (int64_t)count; i++) {
        const double at_x = (mote_column_value(x, (uint64_t)i) - box->min[0]) / side;
        const double at_y = (mote_column_value(y, (uint64_t)i) - box->min[1]) / side;
        if (!(at_x >= 0 && at_x < (double)width && at_y >= 0 && at_y < (double)height)) continue;
        uint8_t *cell = &cells[(uint64_t)at_y * width + (uint64_t)at_x];
#pragma omp atomic write
        *cell = 1;
    }
    for (uint64_t c = 0; c < width * height; c++) occupied += cells[c];
    return occupied;
}

static int measure_area(session *s, const survey_input *input, cloud_survey *survey) {
    const mote_box *box = input->strays != NULL && input->strays->count > 0 ? &input->strays->rest : input->box;
    const double points = (double)(mote_cloud_count(input->cloud) - input->skipped);
    if (box == NULL || !(points > 0)) return EXIT_DONE;
    const double length = box->max[0] - box->min[0], depth = box->max[1] - box->min[1];
    double covered = length * depth;
    for (int round = 0; round < ROUNDS && covered > 0 && isfinite(covered); round++) {
        const double side = fmax(sqrt(covered * CELL_POINTS / points), fmax(length, depth) / CELLS_MAX);
        const uint64_t width = (uint64_t)(length / side) + 1, height = (uint64_t)(depth / side) + 1;
        uint8_t *cells = malloc(width * height);
        if (cells == NULL) return session_error(s, EXIT_RESOURCES, "out of memory: the covered area");
        const uint64_t occupied = count_cells(s, input, box, side, cells, width, height);
        free(cells);
        survey->cell = side;
        survey->covered = fmin((double)occupied * side * side, length * depth);
        survey->density = points / survey->covered;
        if (survey->covered > 0.7 * covered) break;
        covered = survey->covered;
    }
    return EXIT_DONE;
}

/* ---- dates */

/* Writes a date of at most three thousand years from then; find_times sees to that. */
static void write_date(double seconds_since_1970, char *date, size_t size) {
    const time_t seconds = (time_t)floor(seconds_since_1970);
    struct tm parts;
    date[0] = '\0';
    if (gmtime_r(&seconds, &parts) != NULL) strftime(date, size, "%Y-%m-%dT%H:%M:%S", &parts);
}

static void find_times(const survey_input *input, cloud_survey *survey) {
    for (uint32_t c = 0; c < mote_cloud_column_count(input->cloud); c++) {
        const column_stats *stats = &input->stats->columns[c];
        if (strcmp(mote_cloud_column(input->cloud, c)->name, "gps_time") != 0 || stats->values == 0) continue;
        survey->has_time = isfinite(stats->min) && isfinite(stats->max);
        survey->first_time = stats->min;
        survey->last_time = stats->max;
    }
    survey->is_date = survey->has_time && input->clock == CLOCK_ADJUSTED && fabs(survey->first_time) < 1e11 &&
                      fabs(survey->last_time) < 1e11;
    if (!survey->is_date) return;
    write_date(survey->first_time + 1e9 + GPS_EPOCH_S, survey->first_date, sizeof survey->first_date);
    write_date(survey->last_time + 1e9 + GPS_EPOCH_S, survey->last_date, sizeof survey->last_date);
}

/* ---- all */

int cloud_survey_make(session *s, const survey_input *input, cloud_survey *survey) {
    const uint32_t columns = mote_cloud_column_count(input->cloud);
    uint64_t *bins = malloc(BINS * sizeof *bins);
    survey->percentiles = calloc(columns + 1, sizeof *survey->percentiles);
    if (bins == NULL || survey->percentiles == NULL) {
        free(bins);
        return session_error(s, EXIT_RESOURCES, "out of memory: percentiles");
    }
    for (uint32_t c = 0; c < columns && !session_cancelled(); c++) {
        find_percentiles(s, input, c, bins, survey->percentiles[c]);
        progress_update(&s->bar, (double)(c + 1) / columns, "finding percentiles");
    }
    free(bins);
    if (session_cancelled()) return EXIT_CANCELLED;
    find_times(input, survey);
    const int code = measure_area(s, input, survey);
    if (code == EXIT_DONE) survey_find_warnings(s, input, survey);
    return code;
}

void cloud_survey_free(cloud_survey *survey) { free(survey->percentiles); }

/* What mote info learns by reading all points. Each thing that is looked for says at the end of a pass whether it needs
   one more: two as a rule, three where there are doubles or strays, four where both lie behind --where. */
#include "info/info_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "info/info_area.h"
#include "info/info_columns.h"
#include "info/info_duplicates.h"

#define WEEK_S "604800"

/* Conditions that points should not meet, counted in the second pass. */
typedef struct condition {
    const char *text;
    bool is_wanted;
    uint64_t count;
} condition;

typedef struct stats_job {
    session *s;
    bool is_full, has_positions;
    int pass;
    uint32_t column_count;
    column_tally *columns;
    histogram classes, returns;
    mote_strays_search *strays;
    bool strays_found;
    duplicate_search duplicates;
    area_grid area;
    bool area_is_open, area_is_done;
    condition returns_wrong, times_wrong;
    uint64_t points;    /* of the pass */
    bool has_no_memory; /* in a task */
} stats_job;

static bool has_column(const mote_cloud *cloud, const char *name) { return mote_cloud_find(cloud, name) != NULL; }

static int no_memory(session *s) { return session_error(s, EXIT_RESOURCES, "out of memory: statistics"); }

static int fail(session *s, mote_status status) {
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, true);
}

/* What is known before the first point comes: attributes do not change from piece to piece. */
static int begin(stats_job *job, const mote_cloud *cloud, uint64_t expected) {
    job->has_positions = has_column(cloud, "x") && has_column(cloud, "y") && has_column(cloud, "z");
    if (job->has_positions) {
        const mote_status status = mote_strays_search_open(job->s->ctx, expected, &job->strays);
        if (status != MOTE_OK) return session_fail(job->s, status, false);
    }
    job->strays_found = !job->has_positions;
    if (!job->is_full) return EXIT_DONE;
    job->column_count = mote_cloud_column_count(cloud);
    job->columns = calloc(job->column_count + 1u, sizeof *job->columns);
    if (job->columns == NULL) return no_memory(job->s);
    if (job->has_positions && !duplicates_open(&job->duplicates, expected)) return no_memory(job->s);
    job->classes.present = has_column(cloud, "classification");
    job->returns.present = has_column(cloud, "return_number");
    job->returns_wrong.is_wanted = has_column(cloud, "return_number") && has_column(cloud, "number_of_returns");
    return EXIT_DONE;
}

/* ---- a piece */

/* One of the things that a thread does by itself: a column, or one of those behind the columns. */
static void run_task(stats_job *job, const mote_cloud *piece, uint32_t task) {
    if (task < job->column_count) {
        if (tally_add(&job->columns[task], piece, mote_cloud_column(piece, task))) return;
#pragma omp atomic write
        job->has_no_memory = true;
        return;
    }
    switch (task - job->column_count) {
    case 0:
        if (job->has_positions && job->duplicates.pass < 2) duplicates_add(&job->duplicates, piece);
        break;
    case 1:
        if (job->area_is_open && !job->area_is_done) area_add(&job->area, piece);
        break;
    case 2:
        if (job->pass == 0) histogram_add(&job->classes, piece, "classification");
        break;
    default:
        if (job->pass == 0) histogram_add(&job->returns, piece, "return_number");
        break;
    }
}

static void run_tasks(stats_job *job, const mote_cloud *piece) {
    const uint32_t tasks = job->column_count + 4;
#pragma omp parallel for schedule(dynamic, 1) num_threads(mote_context_threads(job->s->ctx))
    for (uint32_t task = 0; task < tasks; task++) {
        /* The long ones, which stand last, first. */
        if (!session_cancelled()) run_task(job, piece, tasks - 1 - task);
    }
}

static mote_status count_condition(stats_job *job, condition *to, const mote_cloud *piece) {
    uint64_t count = 0;
    if (!to->is_wanted || job->pass != 1) return MOTE_OK;
    bool *chosen = malloc(mote_cloud_count(piece) + 1);
    job->has_no_memory = job->has_no_memory || chosen == NULL;
    const mote_status status =
        chosen != NULL ? mote_cloud_where(job->s->ctx, piece, to->text, chosen, &count) : MOTE_OK;
    to->count += count;
    free(chosen);
    return status;
}

static int add_piece(stats_job *job, const mote_cloud *piece) {
    mote_status status = MOTE_OK;
    job->points += mote_cloud_count(piece);
    if (!job->strays_found) status = mote_strays_search_add(job->strays, piece);
    if (job->is_full && status == MOTE_OK) {
        run_tasks(job, piece);
        status = count_condition(job, &job->returns_wrong, piece);
        if (status == MOTE_OK) status = count_condition(job, &job->times_wrong, piece);
    }
    if (status != MOTE_OK) return session_fail(job->s, status, true);
    if (job->has_no_memory || job->duplicates.has_failed) return no_memory(job->s);
    return session_cancelled() ? EXIT_CANCELLED : EXIT_DONE;
}

/* ---- the end of a pass */

static void want_times(stats_job *job, const mote_cloud *cloud) {
    for (uint32_t c = 0; c < job->column_count; c++) {
        const mote_column *column = mote_cloud_column(cloud, c);
        if (strcmp(column->name, "gps_time") != 0) continue;
        column_stats times;
        tally_tell(&job->columns[c], column, &times);
        job->times_wrong.is_wanted = times.min < 0 || times.max > strtod(WEEK_S, NULL);
    }
}

static int end_full_pass(stats_job *job, const mote_cloud *cloud, cloud_stats *stats, bool *again) {
    for (uint32_t c = 0; c < job->column_count; c++) {
        if (!tally_end(&job->columns[c], mote_cloud_column(cloud, c), again)) return no_memory(job->s);
    }
    if (job->pass == 0) want_times(job, cloud);
    *again = *again || (job->pass == 0 && (job->returns_wrong.is_wanted || job->times_wrong.is_wanted));
    if (job->has_positions) duplicates_end(&job->duplicates);
    *again = *again || (job->has_positions && job->duplicates.pass < 2);
    job->area_is_done = job->area_is_done || job->area_is_open;
    if (job->strays_found && stats->has_box && !job->area_is_open) {
        const mote_box *box = stats->strays.count > 0 ? &stats->strays.rest : &stats->box;
        job->area_is_open = true;
        if (!area_open(&job->area, box, job->points - stats->skipped)) return no_memory(job->s);
        *again = *again || job->area.cells != NULL;
    }
    return EXIT_DONE;
}

static int end_pass(stats_job *job, const mote_cloud *cloud, cloud_stats *stats, bool *again) {
    *again = false;
    stats->points = job->points;
    if (!job->strays_found) {
        *again = mote_strays_search_again(job->strays);
        job->strays_found = !*again;
    }
    if (job->has_positions && job->strays_found) {
        mote_strays_search_tell(job->strays, &stats->box, &stats->skipped, &stats->strays);
        stats->has_box = stats->box.min[0] <= stats->box.max[0];
    }
    const int code = job->is_full ? end_full_pass(job, cloud, stats, again) : EXIT_DONE;
    job->pass++;
    job->points = 0;
    return code;
}

static int run_pass(stats_job *job, info_points *points, cloud_stats *stats, bool *again) {
    const mote_cloud *piece = NULL;
    int code = EXIT_DONE;
    points_rewind(points);
    do {
        code = fail(job->s, points_next(points, &piece));
        if (code == EXIT_DONE && piece != NULL) code = add_piece(job, piece);
    } while (code == EXIT_DONE && piece != NULL);
    return code == EXIT_DONE ? end_pass(job, points_cloud(points), stats, again) : code;
}

/* ---- all */

static int tell(stats_job *job, const mote_cloud *cloud, cloud_stats *stats) {
    stats->is_full = job->is_full;
    if (!job->is_full) return EXIT_DONE;
    stats->columns = calloc(job->column_count + 1u, sizeof *stats->columns);
    if (stats->columns == NULL) return no_memory(job->s);
    for (uint32_t c = 0; c < job->column_count; c++) {
        tally_tell(&job->columns[c], mote_cloud_column(cloud, c), &stats->columns[c]);
    }
    stats->classes = job->classes;
    stats->returns = job->returns;
    stats->duplicates_known = job->has_positions;
    if (job->has_positions) stats->duplicates = duplicates_tell(&job->duplicates, &stats->duplicates_estimated);
    stats->wrong_returns = job->returns_wrong.count;
    stats->wrong_times = job->times_wrong.count;
    if (job->area_is_done) stats->covered = area_grid_measure(&job->area, &stats->cell);
    return stats->covered < 0 ? no_memory(job->s) : EXIT_DONE;
}

int cloud_stats_read(session *s, info_points *points, bool full, cloud_stats *stats) {
    bool again = true;
    memset(stats, 0, sizeof *stats);
    stats_job job = {.s = s,
                     .is_full = full,
                     .returns_wrong = {.text = "return_number < 1 or return_number > number_of_returns"},
                     .times_wrong = {.text = "gps_time < 0 or gps_time > " WEEK_S}};
    int code = begin(&job, points_cloud(points), points->expected);
    while (code == EXIT_DONE && again) code = run_pass(&job, points, stats, &again);
    if (code == EXIT_DONE) code = tell(&job, points_cloud(points), stats);
    for (uint32_t c = 0; c < job.column_count && job.columns != NULL; c++) tally_close(&job.columns[c]);
    free(job.columns);
    mote_strays_search_close(job.strays);
    duplicates_close(&job.duplicates);
    area_close(&job.area);
    return code;
}

void cloud_stats_free(cloud_stats *stats) {
    free(stats->columns);
    stats->columns = NULL;
}

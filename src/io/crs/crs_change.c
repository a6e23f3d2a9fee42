/* See crs_change.h. New positions are made beside the old ones, so that a cloud is as it was until all of them are
   there. */
#include "io/crs/crs_change.h"

#include <math.h>

#include "io/crs/crs_codes.h"
#include "io/crs/crs_given.h"
#include "io/crs/crs_normal.h"
#include "io/crs/crs_step.h"
#include "io/crs/crs_units.h"

#define EDGE_POINTS   17u       /* along each edge of the box, to see where it comes to lie */
#define WINDOW_BLOCKS 8192      /* between two calls of the progress function */
#define LOST          INT64_MIN /* a stored position of a point that has no place; of int32 INT32_MIN */
#define COLUMNS_MAX   6

static const char *const normal_names[3] = {"normal_x", "normal_y", "normal_z"};

/* ---- opening */

static bool is_lattice(const mote_column *column) { return !mote_type_is_float(column->type); }

/* Where the box comes to lie, by points all over it; empty if none has a place there. */
static void transform_box(const crs_transformer *t, const mote_box *box, mote_box *out) {
    double x[CRS_BLOCK_POINTS], y[CRS_BLOCK_POINTS], z[CRS_BLOCK_POINTS];
    for (int k = 0; k < 3; k++) out->min[k] = INFINITY, out->max[k] = -INFINITY;
    for (int top = 0; top < 2; top++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < EDGE_POINTS * EDGE_POINTS; i++, count++) {
            const uint32_t column = i % EDGE_POINTS, row = i / EDGE_POINTS;
            const double u = (double)column / (EDGE_POINTS - 1), v = (double)row / (EDGE_POINTS - 1);
            x[i] = box->min[0] + u * (box->max[0] - box->min[0]);
            y[i] = box->min[1] + v * (box->max[1] - box->min[1]);
            z[i] = top == 0 ? box->min[2] : box->max[2];
        }
        mote_crs_transformer_run(t, 0, count, x, y, z);
        for (uint32_t i = 0; i < count; i++) {
            const double place[3] = {x[i], y[i], z[i]};
            for (int k = 0; k < 3 && isfinite(x[i]); k++) {
                out->min[k] = fmin(out->min[k], place[k]);
                out->max[k] = fmax(out->max[k], place[k]);
            }
        }
    }
}

/* The latitude at which a unit of x is shortest (far) or longest; 0 of an empty box. */
static double latitude_of(const mote_box *box, bool far) {
    if (!(box->min[1] <= box->max[1])) return 0;
    const double low = fabs(box->min[1]), high = fabs(box->max[1]);
    if (!far && box->min[1] < 0 && box->max[1] > 0) return 0;
    return far ? fmax(low, high) : fmin(low, high);
}

/* The finest of some steps in metres; INFINITY: none is known. */
static double finest(const double *steps, int first, int end) {
    double step = INFINITY;
    for (int k = first; k < end; k++) {
        if (steps[k] > 0) step = fmin(step, steps[k]);
    }
    return step;
}

static void choose_steps(crs_change *change, const mote_cloud *cloud, const mote_column *const axes[3],
                         const mote_box *box) {
    const crs_axes *from = mote_crs_transformer_from(change->transformer);
    const crs_axes *to = mote_crs_transformer_to(change->transformer);
    const bool mixes = from->is_geocentric || to->is_geocentric; /* heights with the rest */
    mote_box place;
    double before[3], behind[3], steps[3];
    transform_box(change->transformer, box, &place);
    crs_metres(from, from->is_geographic ? latitude_of(box, true) : 0, before);
    crs_metres(to, to->is_geographic ? latitude_of(&place, false) : 0, behind);
    for (int k = 0; k < 3; k++) {
        steps[k] = (is_lattice(axes[k]) ? fabs(axes[k]->scale) : cloud->position_step) * before[k];
    }
    const double ground = finest(steps, 0, mixes ? 3 : 2);
    change->step = 0;
    for (int k = 0; k < 3; k++) {
        mote_column_spec *spec = &change->positions[k];
        const double step = k < 2 || mixes ? ground : steps[2];
        *spec = (mote_column_spec){mote_axis_names[k], MOTE_FLOAT64, 1, 0};
        const bool is_same = k == 2 && mote_crs_transformer_keeps_z(change->transformer);
        const double old = is_lattice(axes[k]) ? fabs(axes[k]->scale) : cloud->position_step;
        /* Both axes along the ground share a step, if they did before. */
        const double own = isfinite(step) && step > 0 ? crs_step(old, step / old, behind[k]) : 0;
        change->step = k == 0 ? own : fmin(change->step, own);
        if (!is_lattice(axes[k]) || own == 0) continue;
        spec->type = MOTE_INT32;
        spec->scale = is_same ? axes[k]->scale : own;
        spec->offset = is_same ? axes[k]->offset : crs_offset(place.min[k], place.max[k], own);
    }
}

/* What the cloud is in, for mote_free: what it says, or the parts that its GeoTIFF keys tell. */
static mote_status find_source(mote_context *ctx, const char *path, const mote_cloud *cloud, char **from) {
    const bool own = mote_crs_keys_are_own(cloud, 0);
    *from = NULL;
    if (mote_cloud_crs(cloud)[0] != '\0') {
        *from = mote_strdup(ctx, mote_cloud_crs(cloud));
        return *from != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    }
    if (own) MOTE_TRY(mote_crs_proj_of_keys(ctx, cloud, from));
    if (*from != NULL) {
        mote_note(ctx, "the input's reference system is what its GeoTIFF keys define by parts: %s", *from);
        return MOTE_OK;
    }
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                     "%s %s coordinate reference system%s, so it cannot be transformed: --crs says what it is",
                     path != NULL ? path : "the input", own ? "defines a" : "has no",
                     own ? " of its own by GeoTIFF keys without a code, which mote does not understand" : "");
}

static crs_request request_of(const mote_cloud *cloud, const char *from, const mote_box *box, const char *to,
                              bool ballpark) {
    crs_request request = {.from = from, .to = to, .ballpark = ballpark, .box = *box};
    crs_codes codes;
    request.stated_units = mote_crs_codes(request.from, &codes);
    mote_cloud_units(cloud, &request.units);
    if (request.stated_units && codes.vertical == 0) request.vertical = mote_crs_heights_of_keys(cloud);
    return request;
}

/* Where scanners stood is text in records that E57 files give a cloud (e57_station.c): it stays what it was. */
static void tell_stations(mote_context *ctx, const char *path, const mote_cloud *cloud) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < mote_cloud_record_count(cloud); i++) {
        const mote_record *record = mote_cloud_record(cloud, i);
        char text[512]; /* behind a name comes the position */
        const size_t length = record->size_bytes < sizeof text ? (size_t)record->size_bytes : sizeof text - 1;
        if (length > 0) memcpy(text, record->data, length);
        text[length] = '\0';
        const bool is_station = strcmp(record->user_id, "mote") == 0 && strcmp(record->description, "E57 scan") == 0;
        count += is_station && (strncmp(text, "position ", 9) == 0 || strstr(text, "\nposition ") != NULL);
    }
    if (count == 0) return;
    mote_warn(ctx,
              "%s: %u position%s of scanners and their rotations, which the file's records tell, stay those of the "
              "old system",
              path != NULL ? path : "the input", count, count == 1 ? "" : "s");
}

mote_status mote_crs_change_open(mote_context *ctx, const char *path, const mote_cloud *cloud, const mote_box *box,
                                 const char *to, bool ballpark, crs_change *change) {
    const mote_column *axes[3];
    char *text = NULL, *from = NULL;
    memset(change, 0, sizeof *change);
    change->ctx = ctx;
    MOTE_TRY(mote_cloud_positions(ctx, cloud, axes));
    MOTE_TRY(find_source(ctx, path, cloud, &from));
    mote_status status = mote_crs_given(ctx, to, &text);
    if (status == MOTE_OK) {
        const crs_request request = request_of(cloud, from, box, text, ballpark);
        const bool is_there = mote_crs_has_proj() ? strcmp(from, text) == 0 : mote_crs_same(from, text);
        if (!is_there) status = mote_crs_transformer_make(ctx, &request, &change->transformer);
    }
    mote_free(ctx, text);
    mote_free(ctx, from);
    MOTE_TRY(status);
    for (int k = 0; k < 3; k++) change->from_scale[k] = axes[k]->scale, change->from_offset[k] = axes[k]->offset;
    if (status == MOTE_OK && change->transformer != NULL && mote_cloud_find(cloud, "wave_x") != NULL) {
        mote_warn(ctx, "the directions of waveforms, wave_x, wave_y and wave_z, stay those of the old system");
    }
    if (status == MOTE_OK && change->transformer != NULL) {
        tell_stations(ctx, path, cloud);
        choose_steps(change, cloud, axes, box);
    }
    return status;
}

void mote_crs_change_close(crs_change *change) {
    mote_crs_transformer_free(change->ctx, change->transformer);
    change->transformer = NULL;
}

/* ---- points */

typedef struct change_job {
    const crs_change *change;
    const mote_cloud *cloud;
    const mote_column *from[COLUMNS_MAX];
    const mote_column *to[COLUMNS_MAX]; /* columns of `made` */
    int count;                          /* 3, or 6 with normals */
    bool is_piece;
    uint64_t lost, outside; /* no place in the system; place, but none on the lattice */
    double low[3], high[3];
} change_job;

/* What a thread found. */
typedef struct change_tally {
    uint64_t lost, outside;
    double low[3], high[3];
} change_tally;

static void load(const mote_column *column, uint64_t first, uint32_t count, double *out) {
    const double scale = column->scale, offset = column->offset;
    if (column->type == MOTE_INT32 && column->bit_count == 0) {
        const uint8_t *at = mote_column_at(column, first);
        for (uint32_t i = 0; i < count; i++, at += column->stride_bytes) {
            int32_t stored;
            memcpy(&stored, at, sizeof stored);
            out[i] = (double)stored;
        }
    } else {
        mote_column_read(column, first, count, MOTE_FLOAT64, out);
    }
    for (uint32_t i = 0; i < count; i++) out[i] = out[i] * scale + offset;
}

/* Positions of a block on their lattice; those without a place, or beyond the lattice, get LOST. fits: becomes false
   for these. */
static void store_integers(const mote_column *to, uint64_t first, uint32_t count, const double *values, bool *fits) {
    const double limit = to->type == MOTE_INT32 ? 2147483647.0 : 9.0e15, scale = to->scale, offset = to->offset;
    uint8_t *at = (uint8_t *)(uintptr_t)mote_column_at(to, first);
    double stored[CRS_BLOCK_POINTS];
    for (uint32_t i = 0; i < count; i++) {
        const double value = nearbyint((values[i] - offset) / scale);
        const bool is_in = value >= -limit && value <= limit;
        fits[i] = fits[i] && is_in;
        stored[i] = is_in ? value : 0;
    }
    for (uint32_t i = 0; i < count; i++, at += to->stride_bytes) {
        const int64_t whole = fits[i] ? (int64_t)stored[i] : LOST;
        const int32_t narrow = fits[i] ? (int32_t)stored[i] : INT32_MIN;
        if (to->type == MOTE_INT32) {
            memcpy(at, &narrow, sizeof narrow);
        } else {
            memcpy(at, &whole, sizeof whole);
        }
    }
}

static void store_reals(const mote_column *to, uint64_t first, uint32_t count, const double *values) {
    uint8_t *at = (uint8_t *)(uintptr_t)mote_column_at(to, first);
    for (uint32_t i = 0; i < count; i++, at += to->stride_bytes) {
        const double value = isfinite(values[i]) ? values[i] : NAN;
        const float narrow = (float)value;
        if (to->type == MOTE_FLOAT32) {
            memcpy(at, &narrow, sizeof narrow);
        } else {
            memcpy(at, &value, sizeof value);
        }
    }
}

/* Points that had a place and have none now, or none on the lattice, and the box of the others. */
static void count_block(uint32_t count, double (*const from)[CRS_BLOCK_POINTS], double (*const to)[CRS_BLOCK_POINTS],
                        const bool *fits, change_tally *tally) {
    uint64_t lost = 0, outside = 0;
    for (uint32_t i = 0; i < count; i++) {
        const bool was_there = isfinite(from[0][i]) && isfinite(from[1][i]) && isfinite(from[2][i]);
        const bool is_there = isfinite(to[0][i]);
        lost += !is_there && was_there;
        outside += is_there && !fits[i];
    }
    tally->lost += lost;
    tally->outside += outside;
    for (int k = 0; k < 3; k++) {
        double low = tally->low[k], high = tally->high[k];
        for (uint32_t i = 0; i < count; i++) {
            const double value = to[k][i];
            low = value < low ? value : low;
            high = value > high && value < INFINITY ? value : high;
        }
        tally->low[k] = low, tally->high[k] = high;
    }
}

static void change_block(const change_job *job, int thread, uint64_t first, uint32_t count, change_tally *tally) {
    const crs_transformer *t = job->change->transformer;
    double values[COLUMNS_MAX][CRS_BLOCK_POINTS], places[3][CRS_BLOCK_POINTS];
    bool fits[CRS_BLOCK_POINTS];
    for (int k = 0; k < job->count; k++) load(job->from[k], first, count, values[k]);
    for (int k = 0; k < 3; k++) memcpy(places[k], values[k], count * sizeof places[k][0]);
    mote_crs_transformer_run(t, thread, count, places[0], places[1], places[2]);
    memset(fits, true, sizeof fits);
    for (int k = 0; k < 3; k++) {
        const mote_column *to = job->to[k];
        if (mote_type_is_float(to->type)) {
            store_reals(to, first, count, places[k]);
        } else {
            store_integers(to, first, count, places[k], fits);
        }
    }
    count_block(count, values, places, fits, tally);
    if (job->count == 3) return;
    const double *const from[3] = {values[0], values[1], values[2]}, *const to[3] = {places[0], places[1], places[2]};
    double *const normals[3] = {values[3], values[4], values[5]};
    crs_turn_normals(t, thread, count, from, to, normals);
    for (int k = 3; k < 6; k++) store_reals(job->to[k], first, count, values[k]);
}

static void add_tally(change_job *job, const change_tally *tally) {
    job->lost += tally->lost;
    job->outside += tally->outside;
    for (int k = 0; k < 3; k++) {
        job->low[k] = fmin(job->low[k], tally->low[k]);
        job->high[k] = fmax(job->high[k], tally->high[k]);
    }
}

static mote_status change_points(change_job *job) {
    mote_context *ctx = job->change->ctx;
    const uint64_t total = job->cloud->count;
    const int64_t blocks = (int64_t)((total + CRS_BLOCK_POINTS - 1) / CRS_BLOCK_POINTS);
    job->lost = job->outside = 0;
    for (int k = 0; k < 3; k++) job->low[k] = INFINITY, job->high[k] = -INFINITY;
    for (int64_t begin = 0; begin < blocks; begin += WINDOW_BLOCKS) {
        const int64_t end = blocks - begin < WINDOW_BLOCKS ? blocks : begin + WINDOW_BLOCKS;
        MOTE_TRY(job->is_piece ? mote_progress_again(ctx)
                               : mote_progress(ctx, (double)begin / (double)blocks, "transforming"));
#pragma omp parallel num_threads(ctx->threads)
        {
            change_tally tally = {0, 0, {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
#pragma omp for schedule(static)
            for (int64_t b = begin; b < end; b++) {
                const uint64_t first = (uint64_t)b * CRS_BLOCK_POINTS, remaining = total - first;
                change_block(job, mote_thread_number(), first,
                             (uint32_t)(remaining < CRS_BLOCK_POINTS ? remaining : CRS_BLOCK_POINTS), &tally);
            }
#pragma omp critical
            add_tally(job, &tally);
        }
    }
    return job->is_piece ? MOTE_OK : mote_progress(ctx, 1, "transforming");
}

/* ---- columns */

/* Makes new columns for all points of a cloud. */
static mote_status make_columns(change_job *job, const mote_column_spec positions[3], mote_cloud **made) {
    mote_column_spec specs[COLUMNS_MAX];
    mote_context *ctx = job->change->ctx;
    const mote_column *axes[3];
    MOTE_TRY(mote_cloud_positions(ctx, job->cloud, axes));
    memcpy(specs, positions, 3 * sizeof *specs);
    job->count = 3;
    bool has_normals = true;
    for (int k = 0; k < 3; k++) {
        job->from[k] = axes[k];
        const mote_column *normal = job->from[3 + k] = mote_cloud_find(job->cloud, normal_names[k]);
        has_normals = has_normals && normal != NULL;
        if (normal == NULL) continue;
        specs[3 + k] = (mote_column_spec){normal_names[k], MOTE_FLOAT32, 1, 0};
        if (normal->type == MOTE_FLOAT64) specs[3 + k].type = MOTE_FLOAT64;
    }
    if (has_normals) job->count = 6;
    MOTE_TRY(mote_cloud_create(ctx, job->cloud->count, specs, (uint32_t)job->count, made));
    for (int k = 0; k < job->count; k++) job->to[k] = mote_cloud_column(*made, (uint32_t)k);
    return MOTE_OK;
}

/* Whether a column can be written to where it is, as one of that type. */
static uint8_t *writable(mote_cloud *cloud, const mote_column *column, const mote_column *like) {
    const bool is_alike = column->type == like->type && column->bit_count == 0 &&
                          (!mote_type_is_float(column->type) || (column->scale == 1 && column->offset == 0));
    return is_alike ? mote_cloud_column_data(cloud, column->name) : NULL;
}

static void copy_column(const mote_context *ctx, const mote_column *from, uint64_t count, uint8_t *to,
                        uint32_t stride_bytes) {
    const bool is_narrow = mote_type_size(from->type) == 4;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        if (is_narrow) {
            memcpy(to + (uint64_t)i * stride_bytes, mote_column_at(from, (uint64_t)i), 4);
        } else {
            memcpy(to + (uint64_t)i * stride_bytes, mote_column_at(from, (uint64_t)i), 8);
        }
    }
}

/* Puts the new columns in the place of the old ones: into their memory, where that is the cloud's own, else as columns
   of their own. The block of `made` goes to the cloud then. */
static mote_status put_columns(const change_job *job, mote_cloud *cloud, mote_cloud *made) {
    uint8_t *places[COLUMNS_MAX];
    bool in_place = true;
    for (int k = 0; k < job->count; k++) {
        places[k] = writable(cloud, job->from[k], job->to[k]);
        in_place = in_place && places[k] != NULL;
    }
    if (!in_place) {
        uint64_t b = 0;
        while (made->blocks[b].memory != job->to[0]->data) b++;
        void *const memory = made->blocks[b].memory;
        made->blocks[b].memory = NULL;
        MOTE_TRY(mote_cloud_adopt(cloud, memory));
    }
    for (int k = 0; k < job->count; k++) {
        mote_column *column = &cloud->columns[job->from[k] - cloud->columns];
        if (in_place) copy_column(job->change->ctx, job->to[k], cloud->count, places[k], column->stride_bytes);
        if (!in_place) {
            column->data = job->to[k]->data;
            column->stride_bytes = job->to[k]->stride_bytes;
            column->type = job->to[k]->type;
            column->bit_shift = column->bit_count = 0;
        }
        column->scale = job->to[k]->scale;
        column->offset = job->to[k]->offset;
        if (k < 2 || (k == 2 && !mote_crs_transformer_keeps_z(job->change->transformer))) column->unit = "";
    }
    return MOTE_OK;
}

static mote_status settle_cloud(const crs_change *change, mote_cloud *cloud) {
    for (int k = 0; k < 3; k++) mote_cloud_drop_limits(cloud, mote_axis_names[k]);
    mote_cloud_forget_order(cloud); /* it is of the positions that were */
    mote_cloud_forget_uploads(cloud);
    cloud->position_step = change->step;
    return mote_cloud_set_crs(cloud, mote_crs_transformer_text(change->transformer));
}

/* ---- the whole cloud */

/* The lattice by where the points are, after one that was chosen by a box was too small. */
static void widen_lattice(const change_job *job, mote_column_spec positions[3]) {
    for (int k = 0; k < 3; k++) {
        mote_column_spec *spec = &positions[k];
        if (mote_type_is_float(spec->type)) continue;
        spec->offset = crs_offset(job->low[k], job->high[k], spec->scale);
        const double farthest = fmax(fabs(job->low[k] - spec->offset), fabs(job->high[k] - spec->offset));
        spec->type = farthest / spec->scale < 2147483000.0 ? MOTE_INT32 : MOTE_INT64;
    }
}

/* Whether the point was given a place. */
static bool is_placed(const mote_column *const axes[3], uint64_t i) {
    for (int k = 0; k < 3; k++) {
        if (mote_type_is_float(axes[k]->type)) {
            if (!isfinite(mote_column_stored(axes[k], i))) return false;
        } else if (mote_column_integer(axes[k], i) == (axes[k]->type == MOTE_INT32 ? (int64_t)INT32_MIN : LOST)) {
            return false;
        }
    }
    return true;
}

static mote_status leave_out_lost(const change_job *job, mote_cloud **cloud) {
    mote_context *ctx = job->change->ctx;
    const uint64_t total = (*cloud)->count;
    const mote_column *axes[3];
    mote_cloud *kept = NULL;
    uint64_t count = 0;
    if (job->lost == total) {
        mote_crs_facts facts;
        mote_crs_describe(mote_cloud_crs(*cloud), &facts);
        return mote_fail(ctx, MOTE_ERROR_DATA,
                         "no point has a place in the new reference system: is the input's system what it says, %s?",
                         facts.name);
    }
    uint64_t *indices = mote_alloc(ctx, total * sizeof *indices, "transformation");
    if (indices == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(mote_cloud_positions(ctx, *cloud, axes));
    for (uint64_t i = 0; i < total; i++) {
        if (is_placed(axes, i)) indices[count++] = i;
    }
    const mote_status status = mote_cloud_select(ctx, *cloud, indices, count, &kept);
    mote_free(ctx, indices);
    MOTE_TRY(status);
    mote_warn(ctx, "%llu points have no place in the new reference system: they are left out",
              (unsigned long long)(total - count));
    mote_cloud_destroy(*cloud);
    *cloud = kept;
    return MOTE_OK;
}

mote_status mote_crs_change_cloud(crs_change *change, mote_cloud **cloud) {
    change_job job = {.change = change, .cloud = *cloud};
    mote_column_spec positions[3];
    mote_cloud *made = NULL;
    if (change->transformer == NULL) return MOTE_OK;
    mote_stage(change->ctx, "transform");
    memcpy(positions, change->positions, sizeof positions);
    mote_status status = make_columns(&job, positions, &made);
    if (status == MOTE_OK) status = change_points(&job);
    if (status == MOTE_OK && job.outside > 0) {
        widen_lattice(&job, positions);
        mote_cloud_destroy(made);
        made = NULL;
        status = make_columns(&job, positions, &made);
        if (status == MOTE_OK) status = change_points(&job);
    }
    if (status == MOTE_OK && job.lost > 0 && job.lost == (*cloud)->count) status = leave_out_lost(&job, cloud);
    if (status == MOTE_OK) status = put_columns(&job, *cloud, made);
    if (status == MOTE_OK) status = settle_cloud(change, *cloud);
    if (status == MOTE_OK && job.lost > 0) status = leave_out_lost(&job, cloud);
    mote_cloud_destroy(made);
    mote_stage(change->ctx, NULL);
    return status;
}

/* ---- pieces */

mote_status mote_crs_change_piece(crs_change *change, mote_cloud *piece) {
    change_job job = {.change = change, .cloud = piece, .is_piece = true};
    mote_cloud *made = NULL;
    if (change->transformer == NULL || piece->count == 0) return MOTE_OK;
    mote_status status = make_columns(&job, change->positions, &made);
    if (status == MOTE_OK) status = change_points(&job);
    bool in_place = job.lost == 0 && job.outside == 0;
    for (int k = 0; k < job.count && status == MOTE_OK; k++) {
        in_place = in_place && writable(piece, job.from[k], job.to[k]) != NULL;
    }
    if (status == MOTE_OK && !in_place) {
        status = mote_fail(change->ctx, MOTE_ERROR_UNSUPPORTED, "this cloud cannot be transformed in pieces");
    }
    if (status == MOTE_OK) status = put_columns(&job, piece, made);
    if (status == MOTE_OK) status = settle_cloud(change, piece);
    mote_cloud_destroy(made);
    return status;
}

mote_status mote_crs_change_shape(const crs_change *change, mote_cloud *piece) {
    const mote_column *axes[3];
    if (change->transformer == NULL) return MOTE_OK;
    MOTE_TRY(mote_cloud_positions(change->ctx, piece, axes));
    for (int k = 0; k < 3; k++) {
        mote_column *column = &piece->columns[axes[k] - piece->columns];
        const mote_column_spec *spec = &change->positions[k];
        if (column->type != spec->type || column->bit_count != 0) {
            return mote_fail(change->ctx, MOTE_ERROR_UNSUPPORTED, "this cloud cannot be transformed in pieces");
        }
        column->scale = spec->scale;
        column->offset = spec->offset;
        if (k < 2 || !mote_crs_transformer_keeps_z(change->transformer)) column->unit = "";
    }
    return settle_cloud(change, piece);
}

void mote_crs_change_rewind(const crs_change *change, mote_cloud *piece) {
    const mote_column *axes[3];
    if (change->transformer == NULL || !mote_cloud_find_positions(piece, axes)) return;
    for (int k = 0; k < 3; k++) {
        mote_column *column = &piece->columns[axes[k] - piece->columns];
        column->scale = change->from_scale[k];
        column->offset = change->from_offset[k];
    }
}

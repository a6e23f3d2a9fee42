/* Runs assignments: values of a block are computed for all of its points, and stored for those that are meant. */
#include <float.h>
#include <inttypes.h>
#include <stdio.h>

#include "core/limits.h"
#include "where/where_program.h"

typedef enum where_put {
    PUT_DONE,
    PUT_TOO_LARGE, /* the column cannot hold it */
    PUT_NO_DATA,   /* a value that is known would say that there is none */
} where_put;

/* The first value that its column cannot hold. */
typedef struct where_refusal {
    uint64_t point; /* UINT64_MAX: there is none */
    double value;
    where_put reason;
} where_refusal;

typedef struct where_job {
    const mote_context *ctx;
    where_bound bound;
    const where_statement *statement;
    uint64_t count;
    const bool *chosen; /* NULL: all points */
    bool *reached;      /* [count] points that any assignment changed */
} where_job;

/* ---- one value */

/* What the integers of a column can be; of 64 bits what doubles tell apart. */
static void range_of(const mote_column *column, double *low, double *high) {
    const uint32_t bits = column->bit_count != 0 ? column->bit_count : 8 * mote_type_size(column->type);
    const bool is_signed = column->bit_count == 0 && mote_type_is_signed(column->type);
    *high = ldexp(1, (int)(is_signed ? bits - 1 : bits)) - 1;
    *low = is_signed ? -ldexp(1, (int)bits - 1) : 0;
    if (bits == 64) *high = ldexp(1, is_signed ? 63 : 64) * (1 - DBL_EPSILON / 2);
}

/* Puts an integer to its bits, beside which others may stand. */
static void put_integer(const mote_column *column, uint64_t value, uint8_t *at) {
    const uint32_t size_bytes = mote_type_size(column->type);
    if (column->bit_count != 0) {
        const uint64_t mask = ((1ull << column->bit_count) - 1) << column->bit_shift;
        uint64_t raw = 0;
        memcpy(&raw, at, size_bytes);
        value = (raw & ~mask) | (value << column->bit_shift & mask);
    }
    memcpy(at, &value, size_bytes); /* little-endian hosts only, as the build checks */
}

/* What is not known becomes the column's no-data value. */
static void put_no_data(const where_column *c, uint8_t *at) {
    uint64_t bits = c->limits.no_data;
    const double no_data = mote_limit_real(bits, c->column.type);
    const float narrow = (float)no_data;
    if (c->column.type == MOTE_FLOAT64) memcpy(&bits, &no_data, sizeof no_data);
    if (c->column.type == MOTE_FLOAT32) memcpy(&bits, &narrow, sizeof narrow);
    put_integer(&c->column, bits, at);
}

static where_put put_real(const where_column *c, double stored, uint8_t *at) {
    const double no_data = c->limits.has_no_data ? mote_limit_real(c->limits.no_data, c->column.type) : NAN;
    const float narrow = (float)stored;
    if (c->column.type == MOTE_FLOAT64) {
        memcpy(at, &stored, sizeof stored);
        return stored == no_data ? PUT_NO_DATA : PUT_DONE;
    }
    memcpy(at, &narrow, sizeof narrow);
    if (isinf(narrow) && !isinf(stored)) return PUT_TOO_LARGE;
    return narrow == (float)no_data ? PUT_NO_DATA : PUT_DONE;
}

/* Stores a value of the world. What is not known becomes the column's no-data value, or NaN where it holds that. */
static where_put put_value(const where_column *c, double value, uint8_t *at) {
    const mote_column *column = &c->column;
    if (isnan(value) && c->limits.has_no_data) {
        put_no_data(c, at);
        return PUT_DONE;
    }
    const double stored = column->scale != 1 || column->offset != 0 ? (value - column->offset) / column->scale : value;
    if (mote_type_is_float(column->type)) return put_real(c, stored, at);
    double low, high;
    range_of(column, &low, &high);
    const double whole = rint(stored);
    if (!(whole >= low && whole <= high)) return PUT_TOO_LARGE;
    const uint64_t bits = whole < 0 ? (uint64_t)(int64_t)whole : (uint64_t)whole;
    put_integer(column, bits, at);
    return c->limits.has_no_data && bits == c->limits.no_data ? PUT_NO_DATA : PUT_DONE;
}

/* ---- a block */

static void assign_block(const where_job *job, uint64_t first, uint64_t count, where_scratch *scratch,
                         where_refusal *refusal) {
    const where_statement *statement = job->statement;
    const where_column *target = &job->bound.columns[statement->target];
    uint8_t meant[WHERE_BLOCK_POINTS];
    uint64_t any = 0;
    memset(meant, 1, sizeof meant);
    if (statement->condition != WHERE_NONE) {
        where_run(&job->bound, statement->condition_code, first, count, scratch);
        memcpy(meant, scratch->masks[0], count);
    }
    for (uint64_t i = 0; i < count; i++) any += meant[i] = meant[i] && (job->chosen == NULL || job->chosen[first + i]);
    if (any == 0) return;
    where_run(&job->bound, statement->value_code, first, count, scratch);
    for (uint64_t i = 0; i < count; i++) {
        if (meant[i] == 0) continue;
        uint8_t *at = (uint8_t *)(uintptr_t)mote_column_at(&target->column, first + i);
        const where_put put = put_value(target, scratch->numbers[0][i], at);
        if (put != PUT_DONE && first + i < refusal->point) {
            *refusal = (where_refusal){first + i, scratch->numbers[0][i], put};
        }
        job->reached[first + i] = true;
    }
}

static where_refusal assign_all(const where_job *job) {
    const int64_t blocks = (int64_t)((job->count + WHERE_BLOCK_POINTS - 1) / WHERE_BLOCK_POINTS);
    where_refusal all = {UINT64_MAX, 0, PUT_DONE};
#pragma omp parallel num_threads(job->ctx->threads)
    {
        where_scratch scratch;
        where_refusal own = {UINT64_MAX, 0, PUT_DONE};
#pragma omp for schedule(static)
        for (int64_t b = 0; b < blocks; b++) {
            const uint64_t first = (uint64_t)b * WHERE_BLOCK_POINTS, rest = job->count - first;
            assign_block(job, first, rest < WHERE_BLOCK_POINTS ? rest : WHERE_BLOCK_POINTS, &scratch, &own);
        }
#pragma omp critical(mote_where_assign)
        if (own.point < all.point) all = own;
    }
    return all;
}

static mote_status refuse(const where_job *job, const where_refusal *refusal, const char *source, uint64_t first) {
    const where_column *target = &job->bound.columns[job->statement->target];
    const mote_column *column = &target->column;
    const where_place place = job->bound.program->names[job->statement->target].place;
    double low, high;
    if (refusal->reason == PUT_NO_DATA) {
        return where_wrong(job->bound.program, source, place,
                           "%s of point %" PRIu64 " would be %.17g, which the file calls no data: set nan where that "
                           "is meant, and nothing is written",
                           column->name, first + refusal->point + 1, refusal->value);
    }
    range_of(column, &low, &high);
    const double a = low * column->scale + column->offset, b = high * column->scale + column->offset;
    char holds[128];
    snprintf(holds, sizeof holds, "it holds %.17g to %.17g", fmin(a, b), fmax(a, b));
    if (mote_type_is_float(column->type)) snprintf(holds, sizeof holds, "it holds floats of 32 bits");
    return where_wrong(job->bound.program, source, place,
                       "%s of point %" PRIu64 " would be %.17g; %s%s, and nothing is written", column->name,
                       first + refusal->point + 1, refusal->value, holds,
                       isnan(refusal->value) ? " and has no no-data value" : "");
}

/* ---- limits */

/* What the file states of the least and the largest value may be false now: of what is assigned nothing is stated, also
   where no point of this piece of the cloud is meant, so that all pieces say the same. */
static mote_status drop_stated(const where_job *job, const where_program *assignments, mote_cloud *cloud) {
    for (uint64_t i = 0; i < assignments->statement_count; i++) {
        const char *const name = job->bound.columns[assignments->statements[i].target].column.name;
        mote_column_limits limits;
        if (!mote_cloud_limits(cloud, name, &limits) || (!limits.has_min && !limits.has_max)) continue;
        limits.has_min = limits.has_max = false;
        limits.min = limits.max = 0;
        MOTE_TRY(mote_cloud_keep_limits(cloud, name, &limits));
    }
    return MOTE_OK;
}

/* ---- all */

static mote_status run(where_job *job, const where_program *assignments, mote_cloud *cloud, const char *source,
                       uint64_t first) {
    MOTE_TRY(mote_where_bind(assignments, cloud, source, &job->bound));
    for (uint64_t i = 0; i < assignments->statement_count; i++) {
        job->statement = &assignments->statements[i];
        const where_refusal refusal = assign_all(job);
        if (refusal.point != UINT64_MAX) return refuse(job, &refusal, source, first);
    }
    return MOTE_OK;
}

mote_status mote_where_assign(mote_context *ctx, mote_cloud *cloud, const where_program *assignments,
                              const where_program *condition, const char *source, uint64_t first, uint64_t *changed) {
    where_bound chosen_by = {0};
    where_job job = {.ctx = ctx, .count = cloud->count};
    bool *chosen = NULL;
    job.reached = mote_alloc_zero(ctx, cloud->count, "chosen points");
    mote_status status = job.reached != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && condition != NULL) {
        chosen = mote_alloc(ctx, cloud->count, "chosen points");
        status = chosen != NULL ? mote_where_bind(condition, cloud, source, &chosen_by) : MOTE_ERROR_MEMORY;
        if (status == MOTE_OK) mote_where_choose(ctx, &chosen_by, cloud->count, chosen);
        job.chosen = chosen;
    }
    if (status == MOTE_OK) status = run(&job, assignments, cloud, source, first);
    if (status == MOTE_OK) status = drop_stated(&job, assignments, cloud);
    for (uint64_t i = 0; i < cloud->count && status == MOTE_OK; i++) *changed += job.reached[i];
    mote_cloud_forget_order(cloud); /* it may be of the positions that were */
    mote_cloud_forget_uploads(cloud);
    mote_where_unbind(&chosen_by);
    mote_where_unbind(&job.bound);
    mote_free(ctx, chosen);
    mote_free(ctx, job.reached);
    return status;
}

/* The copy keeps everything, also that the cloud is organised: its points are the same. */
static mote_status copy_of(mote_context *ctx, mote_cloud *cloud, mote_cloud **copy) {
    MOTE_TRY(mote_cloud_join(ctx, &cloud, 1, copy));
    (*copy)->grid_width = cloud->grid_width;
    (*copy)->grid_height = cloud->grid_height;
    return MOTE_OK;
}

mote_status mote_where_make_writable(mote_context *ctx, mote_cloud **cloud) {
    mote_cloud *copy = NULL;
    bool is_own = (*cloud)->device == NULL;
    for (uint64_t b = 0; b < (*cloud)->block_count; b++) is_own = is_own && (*cloud)->blocks[b].mapped == NULL;
    if (is_own) return MOTE_OK;
    MOTE_TRY(copy_of(ctx, *cloud, &copy));
    mote_cloud_destroy(*cloud);
    *cloud = copy;
    return MOTE_OK;
}

/* A cloud may look at memory of the caller, which is not ours to write: the result is always a copy. */
mote_status mote_cloud_assign(mote_context *ctx, mote_cloud **cloud, const char *assignments, const char *condition,
                              uint64_t *changed) {
    where_program *program = NULL, *chosen = NULL;
    mote_cloud *copy = NULL;
    uint64_t count = 0;
    mote_status status = mote_where_assignments(ctx, assignments, &program);
    if (status == MOTE_OK && condition != NULL) status = mote_where_condition(ctx, condition, &chosen);
    if (status == MOTE_OK) status = copy_of(ctx, *cloud, &copy);
    if (status == MOTE_OK) status = mote_where_assign(ctx, copy, program, chosen, NULL, 0, &count);
    mote_where_free(program);
    mote_where_free(chosen);
    if (status != MOTE_OK) {
        mote_cloud_destroy(copy);
        return status;
    }
    mote_cloud_destroy(*cloud);
    *cloud = copy;
    if (changed != NULL) *changed = count;
    return MOTE_OK;
}

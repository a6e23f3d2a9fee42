/* From the streams of a scan to records of points: a block of values of each field at a time, in parallel. */
#include <math.h>

#include "core/color.h"
#include "io/e57/e57.h"

#define BLOCK_POINTS 1024u /* the values of a block stay in the first cache */

/* What all blocks share. */
typedef struct e57_job {
    const e57_packets *packets;
    const e57_plan *plan;
    const e57_scan_plan *scan_plan;
    const e57_source_field *sources;
    uint32_t station;
    uint64_t first; /* record */
    uint64_t count;
    uint8_t *records;
    int32_t normals[3]; /* fields that turn with the pose; [0] -1: there are none */
    uint32_t normal_columns[3];
} e57_job;

/* A block: which of its records are points, and where they go. */
typedef struct e57_block {
    uint64_t first; /* record, counted from job.first */
    uint32_t count, kept;
    bool all;                       /* each is a point */
    uint16_t numbers[BLOCK_POINTS]; /* [kept] of those that are, unless all are */
    uint8_t *to;                    /* the record of the first of them */
} e57_block;

/* ---- values of a field */

/* The bits of values first … of a stream, without the minimum. */
static void unpack(const e57_stream *stream, uint32_t bits, uint64_t first, uint32_t count, uint64_t *out) {
    const uint64_t skipped = first % 8 * bits, begin = first / 8 * bits + skipped / 8;
    const uint8_t *const bytes = stream->bytes + (begin - stream->begin);
    const uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
    uint64_t at = skipped % 8;
    for (uint32_t i = 0; i < count; i++, at += bits) {
        uint64_t word;
        memcpy(&word, bytes + at / 8, sizeof word);
        word >>= at % 8;
        if (bits > 57 && at % 8 != 0) word |= (uint64_t)bytes[at / 8 + 8] << (64 - at % 8);
        out[i] = word & mask;
    }
}

/* Stored integers of an integer field; of a float the nearest ones. */
static void load_integers(const e57_job *job, int32_t number, uint64_t first, uint32_t count, int64_t *out) {
    const e57_field *const field = &job->packets->scan->fields[number];
    const e57_stream *const stream = &job->packets->streams[number];
    if (field->bits == 0) {
        for (uint32_t i = 0; i < count; i++) out[i] = field->minimum;
        return;
    }
    unpack(stream, field->bits, first, count, (uint64_t *)out);
    for (uint32_t i = 0; i < count; i++) out[i] = (int64_t)((uint64_t)out[i] + (uint64_t)field->minimum);
}

static bool is_real(const e57_field *field) { return field->kind == E57_SINGLE || field->kind == E57_DOUBLE; }

/* The values of a field as doubles. */
static void load_reals(const e57_job *job, int32_t number, uint64_t first, uint32_t count, double *out) {
    const e57_field *const field = &job->packets->scan->fields[number];
    const e57_stream *const stream = &job->packets->streams[number];
    if (!is_real(field)) {
        int64_t integers[BLOCK_POINTS];
        load_integers(job, number, first, count, integers);
        for (uint32_t i = 0; i < count; i++) out[i] = (double)integers[i] * field->scale + field->offset;
        return;
    }
    const uint8_t *const from = stream->bytes + (first * (field->bits / 8) - stream->begin);
    if (field->kind == E57_DOUBLE) {
        memcpy(out, from, count * sizeof *out);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, from + i * sizeof value, sizeof value);
        out[i] = (double)value;
    }
}

/* ---- to records */

#define STORE(type, values)                                                                                            \
    for (uint32_t i = 0; i < block->kept; i++) {                                                                       \
        const type value = (type)(values)[block->all ? i : block->numbers[i]];                                         \
        memcpy(to + (uint64_t)i * stride, &value, sizeof value);                                                       \
    }

static void store_integers(const e57_job *job, const e57_block *block, const e57_column *column,
                           const int64_t *values) {
    uint8_t *const to = block->to + column->at;
    const uint32_t stride = job->plan->record_bytes;
    switch (column->type) {
    case MOTE_INT8:
    case MOTE_UINT8: STORE(uint8_t, values) break;
    case MOTE_INT16:
    case MOTE_UINT16: STORE(uint16_t, values) break;
    case MOTE_INT32:
    case MOTE_UINT32: STORE(uint32_t, values) break;
    default: STORE(int64_t, values) break;
    }
}

static void store_reals(const e57_job *job, const e57_block *block, const e57_column *column, const double *values) {
    uint8_t *const to = block->to + column->at;
    const uint32_t stride = job->plan->record_bytes;
    if (column->type == MOTE_FLOAT32) {
        STORE(float, values)
    } else {
        STORE(double, values)
    }
}

/* Floats that stay what they are: also the bits of a NaN. */
static void store_singles(const e57_job *job, const e57_block *block, const e57_column *column, int32_t number) {
    const e57_stream *const stream = &job->packets->streams[number];
    const uint8_t *const from = stream->bytes + (block->first + job->first) * sizeof(float) - stream->begin;
    uint8_t *const to = block->to + column->at;
    for (uint32_t i = 0; i < block->kept; i++) {
        const uint32_t k = block->all ? i : block->numbers[i];
        memcpy(to + (uint64_t)i * job->plan->record_bytes, from + k * sizeof(float), sizeof(float));
    }
}

static void store_column(const e57_job *job, const e57_block *block, uint64_t number) {
    const e57_column *const column = &job->plan->columns[number];
    const e57_source_field *const source = &job->sources[number];
    const uint64_t first = job->first + block->first;
    union {
        int64_t integers[BLOCK_POINTS];
        double reals[BLOCK_POINTS];
    } values;
    const e57_field *const field = source->field >= 0 ? &job->packets->scan->fields[source->field] : NULL;
    if (field == NULL) {
        const int64_t constant = source->how == E57_AS_STATION ? job->station : 0;
        for (uint32_t i = 0; i < block->count; i++) values.integers[i] = constant; /* 0.0 has the bits of 0 */
        if (mote_type_is_float(column->type)) {
            store_reals(job, block, column, values.reals);
        } else {
            store_integers(job, block, column, values.integers);
        }
    } else if (source->how == E57_AS_INTEGER) {
        load_integers(job, source->field, first, block->count, values.integers);
        for (uint32_t i = 0; i < block->count && source->shift != 0; i++) values.integers[i] += source->shift;
        store_integers(job, block, column, values.integers);
    } else if (source->how == E57_AS_COLOR) {
        const double steps = MOTE_COLOR_MAX / (source->high - source->low);
        load_reals(job, source->field, first, block->count, values.reals);
        for (uint32_t i = 0; i < block->count; i++) {
            const double value = rint((values.reals[i] - source->low) * steps);
            values.integers[i] = !(value > 0) ? 0 : value > MOTE_COLOR_MAX ? MOTE_COLOR_MAX : (int64_t)value;
        }
        store_integers(job, block, column, values.integers);
    } else if (column->type == MOTE_FLOAT32 && field->kind == E57_SINGLE && source->low == 0) {
        store_singles(job, block, column, source->field);
    } else {
        load_reals(job, source->field, first, block->count, values.reals);
        for (uint32_t i = 0; i < block->count && source->low != 0; i++) values.reals[i] += source->low;
        store_reals(job, block, column, values.reals);
    }
}

/* Three vectors of a block turned by the pose. */
static void turn(const e57_job *job, uint32_t count, double v[3][BLOCK_POINTS]) {
    const double(*const m)[3] = job->packets->scan->pose.matrix;
    for (uint32_t i = 0; i < count; i++) {
        const double x = v[0][i], y = v[1][i], z = v[2][i];
        for (int k = 0; k < 3; k++) v[k][i] = m[k][0] * x + m[k][1] * y + m[k][2] * z;
    }
}

static void from_spherical(uint32_t count, double v[3][BLOCK_POINTS]) {
    for (uint32_t i = 0; i < count; i++) {
        const double range = v[0][i], azimuth = v[1][i], elevation = v[2][i];
        const double level = range * cos(elevation);
        v[0][i] = level * cos(azimuth);
        v[1][i] = level * sin(azimuth);
        v[2][i] = range * sin(elevation);
    }
}

/* Coordinates that are stored as they are. */
static void store_native(const e57_job *job, const e57_block *block, uint64_t *zeros) {
    bool is_zero[BLOCK_POINTS];
    union {
        int64_t integers[BLOCK_POINTS];
        double reals[BLOCK_POINTS];
    } v;
    const uint64_t first = job->first + block->first;
    memset(is_zero, true, block->count);
    for (uint32_t k = 0; k < 3; k++) {
        const e57_column *const column = &job->plan->columns[k];
        const int32_t axis = job->scan_plan->axes[k];
        if (mote_type_is_float(column->type)) {
            load_reals(job, axis, first, block->count, v.reals);
            store_reals(job, block, column, v.reals);
            for (uint32_t i = 0; i < block->count; i++) is_zero[i] = is_zero[i] && v.reals[i] == 0;
        } else {
            load_integers(job, axis, first, block->count, v.integers);
            store_integers(job, block, column, v.integers);
            for (uint32_t i = 0; i < block->count; i++) {
                is_zero[i] = is_zero[i] && (double)v.integers[i] * column->scale + column->offset == 0;
            }
        }
    }
    for (uint32_t i = 0; i < block->kept; i++) *zeros += is_zero[block->all ? i : block->numbers[i]];
}

static void store_world(const e57_job *job, const e57_block *block, double v[3][BLOCK_POINTS]) {
    if (job->scan_plan->is_moved) {
        const double *const t = job->packets->scan->pose.translation;
        turn(job, block->count, v);
        for (uint32_t k = 0; k < 3; k++) {
            for (uint32_t i = 0; i < block->count; i++) v[k][i] += t[k];
        }
    }
    for (uint32_t k = 0; k < 3; k++) store_reals(job, block, &job->plan->columns[k], v[k]);
}

/* Points at the scanner itself, which no laser measures: so some programs write that there was no return. */
static uint64_t count_zeros(const e57_block *block, double v[3][BLOCK_POINTS], bool is_spherical) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < block->kept; i++) {
        const uint32_t n = block->all ? i : block->numbers[i];
        count += v[0][n] == 0 && (is_spherical || (v[1][n] == 0 && v[2][n] == 0));
    }
    return count;
}

static void decode_block(const e57_job *job, const e57_block *block, uint64_t *zeros) {
    double v[3][BLOCK_POINTS];
    const e57_scan_plan *const p = job->scan_plan;
    const uint64_t first = job->first + block->first;
    if (job->plan->is_native) {
        store_native(job, block, zeros);
    } else {
        for (int k = 0; k < 3; k++) load_reals(job, p->axes[k], first, block->count, v[k]);
        *zeros += count_zeros(block, v, p->is_spherical);
        if (p->is_spherical) from_spherical(block->count, v);
        store_world(job, block, v);
    }
    for (uint64_t c = E57_STATION_COLUMN; c < job->plan->column_count; c++) {
        if (job->plan->columns[c].is_kept) store_column(job, block, c);
    }
    if (job->normals[0] < 0) return;
    for (int k = 0; k < 3; k++) load_reals(job, job->normals[k], first, block->count, v[k]);
    turn(job, block->count, v);
    for (int k = 0; k < 3; k++) {
        const e57_column *const column = &job->plan->columns[job->normal_columns[k]];
        if (column->is_kept) store_reals(job, block, column, v[k]);
    }
}

/* ---- which records are points */

static void choose_points(const e57_job *job, e57_block *block, e57_counts *counts) {
    bool is_lost[BLOCK_POINTS] = {false};
    double states[BLOCK_POINTS];
    const uint64_t first = job->first + block->first;
    const e57_packets *const p = job->packets;
    for (uint64_t i = 0; i < p->loss_count; i++) {
        const uint64_t begin = p->losses[i].first > first ? p->losses[i].first - first : 0;
        const uint64_t end = p->losses[i].end > first ? p->losses[i].end - first : 0;
        for (uint64_t k = begin; k < end && k < block->count; k++) is_lost[k] = true;
    }
    if (job->scan_plan->state >= 0) load_reals(job, job->scan_plan->state, first, block->count, states);
    block->kept = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        const bool is_invalid = job->scan_plan->state >= 0 && states[i] != 0;
        counts->lost += is_lost[i];
        counts->invalid += !is_lost[i] && is_invalid;
        if (!is_lost[i] && !is_invalid) block->numbers[block->kept++] = (uint16_t)i;
    }
    block->all = block->kept == block->count;
}

/* Fields and columns of normals that turn. */
static void find_normals(e57_job *job) {
    static const char *const names[3] = {"normal_x", "normal_y", "normal_z"};
    job->normals[0] = -1;
    if (!job->scan_plan->is_moved) return;
    uint32_t columns[3];
    int32_t fields[3] = {-1, -1, -1};
    for (uint64_t c = E57_STATION_COLUMN; c < job->plan->column_count; c++) {
        for (int k = 0; k < 3; k++) {
            if (strcmp(job->plan->columns[c].name, names[k]) != 0) continue;
            columns[k] = (uint32_t)c;
            fields[k] = job->sources[c].field;
        }
    }
    if (fields[0] < 0 || fields[1] < 0 || fields[2] < 0) return;
    memcpy(job->normals, fields, sizeof fields);
    memcpy(job->normal_columns, columns, sizeof columns);
}

static mote_status decode_blocks(mote_context *ctx, const e57_job *job, e57_block *blocks, uint64_t *kept,
                                 e57_counts *counts) {
    const int64_t block_count = (int64_t)((job->count + BLOCK_POINTS - 1) / BLOCK_POINTS);
    uint64_t invalid = 0, lost = 0, zero = 0;
    const bool chooses = job->scan_plan->state >= 0 || job->packets->loss_count > 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(+ : invalid, lost)
    for (int64_t b = 0; b < block_count; b++) {
        e57_block *const block = &blocks[b];
        e57_counts mine = {0, 0, 0};
        block->first = (uint64_t)b * BLOCK_POINTS;
        const uint64_t left = job->count - block->first;
        block->count = block->kept = left < BLOCK_POINTS ? (uint32_t)left : BLOCK_POINTS;
        block->all = true;
        if (chooses) choose_points(job, block, &mine);
        invalid += mine.invalid;
        lost += mine.lost;
    }
    *kept = 0;
    for (int64_t b = 0; b < block_count; b++) {
        blocks[b].to = job->records + *kept * job->plan->record_bytes;
        *kept += blocks[b].kept;
    }
#pragma omp parallel for schedule(dynamic, 4) num_threads(ctx->threads) reduction(+ : zero)
    for (int64_t b = 0; b < block_count; b++) {
        if (blocks[b].kept > 0) decode_block(job, &blocks[b], &zero);
    }
    counts->invalid += invalid;
    counts->lost += lost;
    counts->zero += zero;
    return MOTE_OK;
}

mote_status mote_e57_decode(mote_context *ctx, const e57_packets *packets, const e57_plan *plan,
                            const e57_source_field *sources, uint64_t scan_number, uint64_t count, uint8_t *records,
                            uint64_t *kept, e57_counts *counts) {
    e57_job job = {.packets = packets, .plan = plan, .scan_plan = &plan->scans[scan_number], .sources = sources};
    job.station = packets->scan->station;
    job.first = packets->next;
    job.count = count;
    job.records = records;
    find_normals(&job);
    const uint64_t block_count = (count + BLOCK_POINTS - 1) / BLOCK_POINTS;
    e57_block *const blocks = mote_alloc(ctx, block_count * sizeof *blocks, "E57 blocks");
    if (blocks == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = decode_blocks(ctx, &job, blocks, kept, counts);
    mote_free(ctx, blocks);
    return status;
}

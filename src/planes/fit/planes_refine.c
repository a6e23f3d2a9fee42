/* Refining peaks, on the host whatever counted the votes, for those who vote are few: the peaks of a batch side by side.
 */
#include "math/simd.h"
#include "planes/planes.h"

#define PIECE 256u /* distances at once */
#define LANES 8u

/* Points of the sample near a peak's plane, for one thread. */
typedef struct near_points {
    uint32_t count;
    uint32_t *index; /* in the sample */
    float *x, *y, *z;
    uint32_t *normal;
    float *voter_x, *voter_y, *voter_z; /* of a level, from its pivot */
} near_points;

#define NEAR_COLUMNS 8u

typedef struct refine_job {
    mote_context *ctx;
    planes_sample sample;
    const planes_refining *how;
    uint8_t *claimed;  /* [sample] */
    near_points *near; /* [threads] */
    uint32_t *memory;  /* behind near */
    uint64_t column;   /* its numbers of a column */
} refine_job;

static mote_status open_job(refine_job *job, const planes_run *run, const planes_refining *how) {
    mote_context *ctx = run->ctx;
    const uint64_t threads = (uint64_t)ctx->threads;
    memset(job, 0, sizeof *job);
    job->ctx = ctx;
    job->how = how;
    MOTE_TRY(run->ops->read_voters(run->points, &job->sample));
    job->column = ((uint64_t)job->sample.count + LANES + 15) / 16 * 16; /* each on a line of the cache */
    job->claimed = mote_alloc_zero(ctx, job->sample.count, "planes refinement");
    job->near = mote_alloc(ctx, threads * sizeof *job->near, "planes refinement");
    job->memory = mote_alloc(ctx, threads * NEAR_COLUMNS * job->column * sizeof *job->memory, "planes refinement");
    if (job->claimed == NULL || job->near == NULL || job->memory == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t t = 0; t < threads; t++) {
        near_points *near = &job->near[t];
        uint32_t *at = job->memory + t * NEAR_COLUMNS * job->column;
        float **columns[] = {&near->x, &near->y, &near->z, &near->voter_x, &near->voter_y, &near->voter_z};
        near->index = at;
        near->normal = at + job->column;
        for (uint64_t k = 0; k < 6; k++) *columns[k] = (float *)(void *)(at + (2 + k) * job->column);
    }
    return MOTE_OK;
}

static void close_job(refine_job *job) {
    mote_free(job->ctx, job->claimed);
    mote_free(job->ctx, job->near);
    mote_free(job->ctx, job->memory);
}

static uint32_t piece_at(uint32_t first, uint32_t count) { return count - first < PIECE ? count - first : PIECE; }

/* ---- passes; branchless where most points are not near, for vectors */

static void measure(const planes_plane *plane, const float *x, const float *y, const float *z, uint32_t count,
                    float *distance) {
    for (uint32_t i = 0; i < count; i++) distance[i] = planes_distance(plane, x[i], y[i], z[i]);
}

/* Bits of eight points that are free. */
static uint32_t free_of(const uint8_t *claimed) {
    uint32_t bits = 0;
    for (uint32_t l = 0; l < LANES; l++) bits |= (uint32_t)(claimed[l] == 0) << l;
    return bits;
}

/* Lists the free points within reach of a plane; returns how many. list: with room for LANES points more, for eight are
   written at once. */
static uint32_t list_near(const refine_job *job, const planes_plane *plane, uint32_t *list) {
    const planes_sample *s = &job->sample;
    const simd_f a = simd_f_set(plane->a), b = simd_f_set(plane->b), c = simd_f_set(plane->c);
    const simd_f zero = simd_f_set(0), away = simd_f_set(-plane->d), reach = simd_f_set(plane->tolerance);
    uint32_t found = 0, i = 0;
    for (; i + LANES <= s->count; i += LANES) {
        const simd_f y_z = simd_f_fma(b, simd_f_load(s->y + i), simd_f_fma(a, simd_f_load(s->x + i), away));
        const simd_f distance = simd_f_fma(c, simd_f_load(s->z + i), y_z);
        uint32_t bits = simd_f_at_most(simd_f_max(distance, simd_f_sub(zero, distance)), reach);
        if (bits == 0) continue;
        bits &= free_of(job->claimed + i);
        simd_compress_indices(list + found, i, simd_mask(bits));
        found += (uint32_t)__builtin_popcount(bits);
    }
    for (; i < s->count; i++) {
        const float distance = planes_distance(plane, s->x[i], s->y[i], s->z[i]);
        if (fabsf(distance) <= plane->tolerance && job->claimed[i] == 0) list[found++] = i;
    }
    return found;
}

/* The pool: free points within reach of a plane. */
static void take_pool(const refine_job *job, const planes_fit *fit, double reach, near_points *near) {
    const planes_sample *s = &job->sample;
    const planes_plane plane = planes_pass_plane(job->how, fit, reach);
    near->count = list_near(job, &plane, near->index);
    for (uint32_t k = 0; k < near->count; k++) {
        const uint32_t i = near->index[k];
        near->x[k] = s->x[i];
        near->y[k] = s->y[i];
        near->z[k] = s->z[i];
        near->normal[k] = s->normal != NULL ? s->normal[i] : 0;
    }
}

/* What a piece adds to sums; of so few points 64 bits have all products. A point that is not within reach counts as one
   in the middle of the lattice, and not at all. */
static void sum_piece(const near_points *near, const planes_plane *plane, uint32_t first, uint32_t count,
                      planes_sums *sums) {
    const float *x = near->x + first, *y = near->y + first, *z = near->z + first;
    const float t = plane->tolerance, half = 0.5f * t, twice = 2.0f * t;
    float distance[PIECE];
    int64_t total[3] = {0, 0, 0}, products[PLANES_PRODUCTS] = {0, 0, 0, 0, 0, 0};
    uint32_t in = 0, inner = 0, beside = 0;
    measure(plane, x, y, z, count, distance);
    for (uint32_t k = 0; k < count && plane->cone != 0; k++) {
        if (!planes_normal_allows(near->normal[first + k], plane->normal, plane->cone)) distance[k] = INFINITY;
    }
    for (uint32_t k = 0; k < count; k++) {
        const float size = fabsf(distance[k]);
        const int32_t on = -(int32_t)(size <= t);
        const int32_t u = (int32_t)x[k] & on, v = (int32_t)y[k] & on, w = (int32_t)z[k] & on;
        in += (uint32_t)(size <= t);
        inner += (uint32_t)(size <= half);
        beside += (uint32_t)(size <= twice);
        total[0] += u;
        total[1] += v;
        total[2] += w;
        products[0] += (int64_t)u * u;
        products[1] += (int64_t)u * v;
        products[2] += (int64_t)u * w;
        products[3] += (int64_t)v * v;
        products[4] += (int64_t)v * w;
        products[5] += (int64_t)w * w;
    }
    sums->count += in;
    sums->inner += inner;
    sums->in_bands[0] += beside - in;
    for (int k = 0; k < 3; k++) sums->first[k] += total[k];
    for (int k = 0; k < PLANES_PRODUCTS; k++) planes_add_product(sums, k, products[k]);
}

/* A pass over the pool. */
static void sum_near(const refine_job *job, const near_points *near, const planes_fit *fit, double reach,
                     planes_sums *sums) {
    const planes_plane plane = planes_pass_plane(job->how, fit, reach);
    memset(sums, 0, sizeof *sums);
    for (uint32_t first = 0; first < near->count; first += PIECE) {
        sum_piece(near, &plane, first, piece_at(first, near->count), sums);
    }
}

/* ---- one level */

/* Takes the points that vote in a level, relative to the pivot. Returns how many there are. */
static uint32_t take_voters(const refine_job *job, near_points *near, const planes_refinement *r,
                            const planes_level *level) {
    const planes_plane plane = planes_pass_plane(job->how, &r->fit, r->reach);
    const float pivot[3] = {(float)level->pivot[0], (float)level->pivot[1], (float)level->pivot[2]};
    uint32_t found = 0;
    for (uint32_t k = 0; k < near->count; k++) {
        if (planes_turn(near->index[k]) > level->share) continue;
        if (fabsf(planes_distance(&plane, near->x[k], near->y[k], near->z[k])) > plane.tolerance) continue;
        if (!planes_normal_allows(near->normal[k], plane.normal, plane.cone)) continue;
        near->voter_x[found] = near->x[k] - pivot[0];
        near->voter_y[found] = near->y[k] - pivot[1];
        near->voter_z[found++] = near->z[k] - pivot[2];
    }
    return found;
}

static int32_t bits_of(float value) {
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Does what planes_level_row does, without branches, so that it becomes vectors. */
static uint32_t row_at(const float direction[3], float x, float y, float z, float bins) {
    const float top = 2.0f * bins;
    const float rho = fmaf(direction[2], z, fmaf(direction[1], y, fmaf(direction[0], x, bins)));
    const int32_t below = -(int32_t)(rho < 0.0f), above = -(int32_t)(rho > top);
    const int32_t bits = (below & bits_of(-1.0f)) | (above & bits_of(top + 1.0f)) | (bits_of(rho) & ~(below | above));
    float cut;
    memcpy(&cut, &bits, sizeof cut);
    return (uint32_t)(int32_t)(cut + 1.0f);
}

/* Two counters of each row, for voters that follow each other are often in one. */
typedef struct row_counters {
    uint32_t counts[2][PLANES_LEVEL_ROWS + 5];
} row_counters;

/* Counts voters in rows: all rows are found first, for that becomes vectors, and counting does not. */
static void count_rows(const near_points *near, uint32_t voters, const float direction[3], float bins,
                       row_counters *counters) {
    uint32_t rows[PIECE];
    for (uint32_t first = 0; first < voters; first += PIECE) {
        const uint32_t count = piece_at(first, voters);
        const float *x = near->voter_x + first, *y = near->voter_y + first, *z = near->voter_z + first;
        for (uint32_t i = 0; i < count; i++) rows[i] = row_at(direction, x[i], y[i], z[i], bins);
        uint32_t i = 0;
        for (; i + 2 <= count; i += 2) {
            counters->counts[0][rows[i]]++;
            counters->counts[1][rows[i + 1]]++;
        }
        if (i < count) counters->counts[0][rows[i]]++;
    }
}

/* Points in two rows in a row. */
static uint32_t points_of_rows(const row_counters *counters, uint32_t row) {
    return counters->counts[0][row + 1] + counters->counts[1][row + 1] + counters->counts[0][row + 2] +
           counters->counts[1][row + 2];
}

/* The first of the two rows in a row that have the most points, if those are more than max: sets max. */
static bool find_better_row(const near_points *near, uint32_t voters, const float direction[3],
                            const planes_level *level, uint32_t *max, uint32_t *best) {
    row_counters counters;
    const uint32_t rows = 2 * (uint32_t)level->bins - 1;
    uint32_t most_points = 0, row = 0;
    memset(&counters, 0, sizeof counters);
    count_rows(near, voters, direction, (float)level->bins, &counters);
    for (uint32_t r = 0; r < rows; r++) {
        const uint32_t points = points_of_rows(&counters, r);
        most_points = points > most_points ? points : most_points;
    }
    if (most_points <= *max) return false;
    while (points_of_rows(&counters, row) != most_points) row++;
    *max = most_points;
    *best = row;
    return true;
}

/* Returns whether there is a plane; coarse: whether another level is worth it. */
static bool improve(const refine_job *job, near_points *near, planes_refinement *r, bool *coarse) {
    planes_sums sums;
    planes_level level;
    uint32_t max = 0, best_tilt = 0, best = 0;
    sum_near(job, near, &r->fit, r->reach, &sums);
    if (!planes_level_begin(job->how, &sums, r, &level)) return false;
    const uint32_t voters = take_voters(job, near, r, &level);
    for (uint32_t tilt = 0; tilt < PLANES_TILTS; tilt++) {
        float direction[3];
        planes_level_bins(&level, tilt, direction);
        if (find_better_row(near, voters, direction, &level, &max, &best)) best_tilt = tilt;
    }
    if (max < 3) return false;
    *coarse = planes_level_end(job->how, &level, best_tilt, best, r);
    return true;
}

/* ---- one peak */

/* fit.valid in the end says whether there is a plane. */
static planes_refinement refine(const refine_job *job, const planes_start *start, near_points *near) {
    planes_refinement r = planes_refinement_begin(job->how, start);
    planes_sums sums;
    bool coarse = true;
    take_pool(job, &r.fit, planes_pool_reach(job->how), near);
    if (near->count < job->how->min) return r;
    for (int turn = 0; turn < PLANES_LEVELS && coarse; turn++) {
        if (!improve(job, near, &r, &coarse)) return r;
    }
    do { sum_near(job, near, &r.fit, r.reach, &sums); } while (planes_refinement_fit(job->how, &sums, &r));
    return r;
}

/* ---- batches */

/* A normal that the plane does not allow is as good as far away. */
static void measure_sample(const refine_job *job, const planes_plane *plane, uint32_t first, uint32_t count,
                           float *distance) {
    const planes_sample *s = &job->sample;
    measure(plane, s->x + first, s->y + first, s->z + first, count, distance);
    for (uint32_t i = 0; i < count && plane->cone != 0; i++) {
        if (!planes_normal_allows(s->normal[first + i], plane->normal, plane->cone)) distance[i] = INFINITY;
    }
}

/* Points within a plane's guard are free no more. */
static void claim(const refine_job *job, const planes_plane *plane) {
    float distance[PIECE];
    for (uint32_t first = 0; first < job->sample.count; first += PIECE) {
        const uint32_t count = piece_at(first, job->sample.count);
        measure_sample(job, plane, first, count, distance);
        for (uint32_t i = 0; i < count; i++) job->claimed[first + i] |= fabsf(distance[i]) <= plane->guard;
    }
}

/* Counts the points in a plane and the free ones in and beside it: as planes_bands has them. Returns the former. */
static uint32_t count_points(const refine_job *job, const planes_plane *plane, planes_candidate *c) {
    const float t = plane->tolerance, half = 0.5f * t, far = 3.0f * t;
    uint32_t all = 0, in = 0, inner = 0, below = 0, above = 0;
    float distance[PIECE];
    for (uint32_t first = 0; first < job->sample.count; first += PIECE) {
        const uint32_t count = piece_at(first, job->sample.count);
        measure_sample(job, plane, first, count, distance);
        const uint8_t *claimed = job->claimed + first;
        for (uint32_t i = 0; i < count; i++) {
            const float d = distance[i], size = fabsf(d);
            const uint32_t is_free = claimed[i] == 0, on = size <= t, close = size <= half, near = size <= far;
            const uint32_t up = d > 0;
            all += on;
            in += on & is_free;
            inner += close & is_free;
            below += (near ^ on) & (up ^ 1) & is_free;
            above += (near ^ on) & up & is_free;
        }
    }
    c->count = in;
    c->inner = inner;
    c->in_bands[0] = below;
    c->in_bands[1] = above;
    return all;
}

static planes_plane plane_of(const refine_job *job, const planes_candidate *c) {
    return planes_plane_from(&c->fit, job->how->tolerance, job->how->guard, job->how->cone);
}

static void refine_batch(const refine_job *job, const planes_start *starts, uint32_t count, planes_candidate *batch) {
#pragma omp parallel for schedule(dynamic) num_threads(job->ctx->threads)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        memset(&batch[i], 0, sizeof batch[i]);
        batch[i].fit = refine(job, &starts[i], &job->near[mote_thread_number()]).fit;
        batch[i].votes = starts[i].votes;
        if (!batch[i].fit.valid) continue;
        const planes_plane plane = plane_of(job, &batch[i]);
        count_points(job, &plane, &batch[i]);
    }
}

static void sort_batch(const planes_candidate *batch, uint32_t count, uint32_t *order) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = 0;
        for (uint32_t j = 0; j < count; j++) rank += planes_goes_before(&batch[j], j, &batch[i], i);
        order[rank] = i;
    }
}

/* Accepts what stands of a batch, each without the points of those before it. */
static void accept_batch(const refine_job *job, planes_candidate *batch, uint32_t count, planes_candidate *accepted,
                         uint32_t *accepted_count) {
    uint32_t order[PLANES_MAX_PEAKS];
    bool claimed = false;
    sort_batch(batch, count, order);
    for (uint32_t i = 0; i < count && *accepted_count < job->how->max; i++) {
        planes_candidate *c = &batch[order[i]];
        if (!planes_is_candidate(job->how, c)) continue;
        const planes_plane plane = plane_of(job, c);
        if (claimed) count_points(job, &plane, c);
        if (!planes_candidate_stands(job->how, c)) continue;
        claim(job, &plane);
        claimed = true;
        accepted[(*accepted_count)++] = *c;
    }
}

static uint32_t refine_all(const refine_job *job, const planes_start *starts, uint32_t count,
                           planes_candidate *accepted) {
    planes_candidate batch[PLANES_MAX_PEAKS];
    uint32_t found = 0;
    for (uint32_t first = 0, size; first < count && found < job->how->max; first += size) {
        size = planes_batch_size(job->sample.count, first, count);
        refine_batch(job, starts + first, size, batch);
        accept_batch(job, batch, size, accepted, &found);
    }
    return found;
}

/* ---- noise */

static void measure_calibrated(const refine_job *job, planes_fit *fit, near_points *near,
                               planes_calibrated *calibrated) {
    const planes_refining *how = job->how;
    planes_sums sums;
    double t = 0.5 * how->tolerance, far = 0;
    for (int turn = 0; turn < PLANES_TURNS && t < INFINITY; turn++, t = planes_calibrated_wider(how, t)) {
        const double reach = planes_calibrated_pool(how, t);
        bool valid = true;
        if (reach > far) take_pool(job, fit, reach, near);
        far = reach;
        for (int k = 0; k < 2 && valid; k++) { /* the first fit is of what the plane before it had */
            sum_near(job, near, fit, t, &sums);
            const planes_fit next = planes_fit_sums(&sums);
            valid = next.valid;
            if (valid) *fit = next;
        }
        if (!valid) continue;
        sum_near(job, near, fit, 2 * t, &sums);
        if (planes_calibrated_within(&sums, fit, t, calibrated)) break;
    }
}

static void measure_batch(const refine_job *job, const planes_start *starts, uint32_t count,
                          planes_calibrated *calibrated_list, planes_fit *fits) {
#pragma omp parallel for schedule(dynamic) num_threads(job->ctx->threads)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        near_points *near = &job->near[mote_thread_number()];
        calibrated_list[i] = planes_calibrated_begin(&starts[i]);
        fits[i] = refine(job, &starts[i], near).fit;
        if (fits[i].valid) measure_calibrated(job, &fits[i], near, &calibrated_list[i]);
    }
}

/* Drops what is mostly of peaks before it. */
static void keep_calibrated(const refine_job *job, planes_calibrated *calibrated_list, const planes_fit *fits,
                            uint32_t count) {
    uint32_t order[PLANES_CALIBRATED_BATCH];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = 0;
        for (uint32_t j = 0; j < count; j++)
            rank += planes_calibrated_goes_before(&calibrated_list[j], j, &calibrated_list[i], i);
        order[rank] = i;
    }
    for (uint32_t turn = 0; turn < count; turn++) {
        const uint32_t i = order[turn];
        if (!(calibrated_list[i].weight > 0)) continue;
        const planes_plane plane = planes_calibrated_plane(job->how, &fits[i], &calibrated_list[i]);
        planes_candidate counted;
        const uint32_t in = count_points(job, &plane, &counted);
        if (planes_calibrated_is_new(in, counted.count)) {
            claim(job, &plane);
        } else {
            calibrated_list[i].weight = 0;
        }
    }
}

static void calibrate_all(const refine_job *job, const planes_start *starts, uint32_t count,
                          planes_calibrated *calibrated_list) {
    planes_fit fits[PLANES_CALIBRATED_BATCH];
    for (uint32_t first = 0; first < count; first += PLANES_CALIBRATED_BATCH) {
        const uint32_t size = count - first < PLANES_CALIBRATED_BATCH ? count - first : PLANES_CALIBRATED_BATCH;
        measure_batch(job, starts + first, size, calibrated_list + first, fits);
        keep_calibrated(job, calibrated_list + first, fits, size);
    }
}

/* ---- all of it */

mote_status planes_refine(const planes_run *run, const planes_refining *how, const planes_start *starts, uint32_t count,
                          planes_candidate *accepted, uint32_t *found) {
    refine_job job;
    *found = 0;
    const mote_status status = open_job(&job, run, how);
    if (status == MOTE_OK) *found = refine_all(&job, starts, count, accepted);
    close_job(&job);
    return status;
}

mote_status planes_measure_peaks(const planes_run *run, const planes_refining *how, const planes_start *starts,
                                 uint32_t count, planes_calibrated *calibrated) {
    refine_job job;
    const mote_status status = open_job(&job, run, how);
    if (status == MOTE_OK) calibrate_all(&job, starts, count, calibrated);
    close_job(&job);
    return status;
}

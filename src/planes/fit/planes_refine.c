/* From a cell of the accumulator to a plane, on the host whatever counted the votes, for those who vote are few. Of the
   voters near the cell three at a time say a plane; the one that has the most of them within half a bin is fitted by
   least squares while the distance that counts shrinks to the tolerance (RANSAC, Fischler and Bolles 1981, within a
   peak). Sums are whole numbers, so the order of points does not matter. */
#include "math/hash.h"
#include "math/simd.h"
#include "planes/planes.h"

#define PIECE        256u /* distances at once */
#define LANES        8u
#define FIRST_BATCH  16u    /* peaks side by side, each batch without the points of those before */
#define LARGE_SAMPLE 65536u /* of which a large batch would look at too many points in vain */

#define POOL      1.2   /* steps between directions, at a typical point: how far from the cell's plane is looked */
#define TRIALS    64u   /* planes through three points */
#define DRAWS     1024u /* of three points, at most */
#define MAX_TILT  1.5   /* steps between directions: what is turned farther from the cell is another peak's */
#define FIRST_FIT 2.0   /* times the distance of the trials: the one that counts first */
#define SHRINK    0.6
#define SETTLING  8u /* fits at the tolerance */

#define MEASURED_BATCH 8u
#define GROWTH         1.3
#define TURNS          24
#define EXCESS         0.12 /* of the peak may be outside */
#define WIDEST         1.5  /* bins: the distance that counts last, where no peak is within a bin */
#define FAR            4.0  /* times the distance that counts: how far is looked */
#define SHARE          0.25 /* points of a peak to votes, or it is a step of the sensor's, not the plane */

typedef struct refine_job {
    mote_context *ctx;
    planes_sample sample;
    const planes_refining *how;
    uint8_t *claimed;    /* [sample] */
    planes_sample *near; /* [threads] points near a peak's plane */
} refine_job;

static mote_status open_job(refine_job *job, const planes_run *run, const planes_refining *how) {
    mote_context *ctx = run->ctx;
    memset(job, 0, sizeof *job);
    job->ctx = ctx;
    job->how = how;
    MOTE_TRY(run->ops->read_voters(run->points, &job->sample));
    job->claimed = mote_alloc_zero(ctx, job->sample.count, "planes refinement");
    job->near = mote_alloc_zero(ctx, (uint64_t)ctx->threads * sizeof *job->near, "planes refinement");
    if (job->claimed == NULL || job->near == NULL) return MOTE_ERROR_MEMORY;
    for (int t = 0; t < ctx->threads; t++) {
        MOTE_TRY(planes_sample_make(ctx, job->sample.count + LANES, &job->near[t]));
    }
    return MOTE_OK;
}

static void close_job(refine_job *job) {
    for (int t = 0; job->near != NULL && t < job->ctx->threads; t++) planes_sample_free(job->ctx, &job->near[t]);
    mote_free(job->ctx, job->near);
    mote_free(job->ctx, job->claimed);
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

/* Sums over the points within reach of a plane whose normal it allows: inner is how many of them are within half of
   it, in_bands[0] how many more are within twice the reach. */
static planes_plane pass_plane(const refine_job *job, const planes_fit *fit, double reach) {
    return planes_plane_from(fit, reach, reach, job->how->cone);
}

/* The pool: free points within reach of a plane. */
static void take_pool(const refine_job *job, const planes_fit *fit, double reach, planes_sample *near) {
    const planes_sample *s = &job->sample;
    const planes_plane plane = pass_plane(job, fit, reach);
    near->count = list_near(job, &plane, near->place);
    for (uint32_t k = 0; k < near->count; k++) {
        const uint32_t i = near->place[k];
        near->x[k] = s->x[i];
        near->y[k] = s->y[i];
        near->z[k] = s->z[i];
        near->normal[k] = s->normal != NULL ? s->normal[i] : 0;
    }
}

/* What a piece adds to sums; of so few points 64 bits have all products. A point that is not within reach counts as one
   in the middle of the lattice, and not at all. */
static void sum_piece(const planes_sample *near, const planes_plane *plane, uint32_t first, uint32_t count,
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
static void sum_near(const refine_job *job, const planes_sample *near, const planes_fit *fit, double reach,
                     planes_sums *sums) {
    const planes_plane plane = pass_plane(job, fit, reach);
    memset(sums, 0, sizeof *sums);
    for (uint32_t first = 0; first < near->count; first += PIECE) {
        sum_piece(near, &plane, first, piece_at(first, near->count), sums);
    }
}

/* ---- one peak */

/* The plane through three points of the pool, if it is as steep as the cell's. False: it is not. */
static bool draw_plane(const planes_sample *near, const planes_fit *cell, double min_cosine, uint64_t draw,
                       planes_plane *plane) {
    const uint64_t hash = mote_hash_pair(near->count, draw);
    float at[3][3];
    for (int k = 0; k < 3; k++) {
        const uint32_t i = (uint32_t)(hash >> (21 * k) & 0x1FFFFF) % near->count;
        at[k][0] = near->x[i];
        at[k][1] = near->y[i];
        at[k][2] = near->z[i];
    }
    if (!planes_through(at[0], at[1], at[2], plane)) return false;
    const double *n = cell->normal;
    return fabs((n[0] * (double)plane->a + n[1] * (double)plane->b) + n[2] * (double)plane->c) >= min_cosine;
}

static uint32_t count_within(const planes_sample *near, const planes_plane *plane, float reach) {
    float distance[PIECE];
    uint32_t within = 0;
    for (uint32_t first = 0; first < near->count; first += PIECE) {
        const uint32_t count = piece_at(first, near->count);
        measure(plane, near->x + first, near->y + first, near->z + first, count, distance);
        for (uint32_t i = 0; i < count; i++) within += fabsf(distance[i]) <= reach;
    }
    return within;
}

/* The trial that has the most points within a distance; the first is the cell's own plane. */
static planes_fit best_trial(const refine_job *job, const planes_sample *near, const planes_fit *cell, double within) {
    const double min_cosine = cos(MAX_TILT * job->how->resolution);
    planes_plane plane = planes_plane_from(cell, 0, 0, 0);
    planes_fit best = *cell;
    uint32_t max = count_within(near, &plane, (float)within), tried = 1;
    for (uint64_t draw = 0; draw < DRAWS && tried < TRIALS; draw++) {
        if (!draw_plane(near, cell, min_cosine, draw, &plane)) continue;
        const uint32_t points = count_within(near, &plane, (float)within);
        tried++;
        if (points <= max) continue;
        max = points;
        best.normal[0] = (double)plane.a;
        best.normal[1] = (double)plane.b;
        best.normal[2] = (double)plane.c;
        best.offset = (double)plane.d;
    }
    return best;
}

/* valid in the end says whether there is a plane. */
static planes_fit refine(const refine_job *job, const planes_start *start, planes_sample *near) {
    const planes_refining *how = job->how;
    planes_fit fit;
    const double within = fmax(how->tolerance, 0.5 * how->bin);
    double reach = FIRST_FIT * within;
    uint64_t before = 0;
    memset(&fit, 0, sizeof fit);
    memcpy(fit.normal, start->normal, sizeof fit.normal);
    fit.offset = start->offset;
    take_pool(job, &fit, how->bin + POOL * how->resolution * how->typical, near);
    if (near->count < how->min) return fit;
    fit = best_trial(job, near, &fit, within);
    take_pool(job, &fit, 2 * reach, near);
    for (uint32_t settled = 0; near->count >= how->min && settled < SETTLING;) {
        planes_sums sums;
        sum_near(job, near, &fit, reach, &sums);
        const planes_fit next = planes_fit_sums(&sums);
        if (reach <= how->tolerance && sums.count == before) break;
        fit.valid = next.valid;
        if (!next.valid) break;
        fit = next;
        before = sums.count;
        settled += reach <= how->tolerance;
        reach = fmax(how->tolerance, SHRINK * reach);
    }
    return fit;
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
        batch[i].fit = refine(job, &starts[i], &job->near[mote_thread_number()]);
        batch[i].votes = starts[i].votes;
        const planes_plane plane = plane_of(job, &batch[i]);
        if (batch[i].fit.valid) count_points(job, &plane, &batch[i]);
    }
}

/* The order in which candidates are tried; those of a batch lie one behind the other. */
static int compare_candidates(const void *first, const void *second) {
    const planes_candidate *a = first, *b = second;
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    if (a->votes != b->votes) return a->votes > b->votes ? -1 : 1;
    return a->fit.offset != b->fit.offset ? a->fit.offset < b->fit.offset ? -1 : 1 : 0;
}

/* Accepts what stands of a batch, each without the points of those before it. */
static void accept_batch(const refine_job *job, planes_candidate *batch, uint32_t count, planes_candidate *accepted,
                         uint32_t *found) {
    const uint32_t before = *found;
    qsort(batch, count, sizeof *batch, compare_candidates);
    for (uint32_t i = 0; i < count && *found < job->how->max; i++) {
        planes_candidate *c = &batch[i];
        if (!c->fit.valid || c->count < job->how->min) continue; /* points only get fewer */
        const planes_plane plane = plane_of(job, c);
        if (*found > before) count_points(job, &plane, c);
        if (!planes_stands(c->count, c->inner, c->in_bands[0], c->in_bands[1], job->how->min, job->how->peaked)) {
            continue;
        }
        claim(job, &plane);
        accepted[(*found)++] = *c;
    }
}

mote_status planes_refine(const planes_run *run, const planes_refining *how, const planes_start *starts, uint32_t count,
                          planes_candidate *accepted, uint32_t *found) {
    planes_candidate batch[PLANES_MAX_PEAKS];
    refine_job job;
    *found = 0;
    const mote_status status = open_job(&job, run, how);
    for (uint32_t first = 0, size; first < count && status == MOTE_OK && *found < how->max; first += size) {
        size = first < FIRST_BATCH || job.sample.count > LARGE_SAMPLE ? FIRST_BATCH : 2 * first;
        if (size > count - first) size = count - first;
        refine_batch(&job, starts + first, size, batch);
        accept_batch(&job, batch, size, accepted, found);
    }
    close_job(&job);
    return status;
}

/* ---- noise */

/* Where a start led to, and how far the points of the peak are around it. */
typedef struct measured {
    planes_fit fit;
    double noise, weight; /* as planes_calibrated has them */
    uint32_t number;      /* of the start */
} measured;

/* The distance that counts next; infinite after the widest. */
static double wider(const planes_refining *how, double t) {
    if (GROWTH * t < how->bin) return GROWTH * t;
    return t < how->bin ? WIDEST * how->bin : INFINITY;
}

/* wide: a pass with a reach of 2 t. Returns whether the peak of the residuals is within t, and enough of one. Without a
   plane there were strays points in a slab of 2 t, evenly. */
static bool is_peak_within(const planes_sums *wide, double t, double votes, measured *m) {
    const double in = (double)wide->inner, side = (double)(wide->count - wide->inner);
    const double strays = 0.5 * (double)wide->in_bands[0];
    if (side - strays > EXCESS * (in - strays) + 2 * sqrt(strays + 1) || !(in > 2 * strays)) return false;
    const double mean = planes_mean_distance(wide, &m->fit), weight = in + side - 2 * strays;
    const double squares = (in + side) * (mean * mean) - 2 * strays * (4 * t * t / 3);
    if (weight < fmax(5 * sqrt(strays + 1), SHARE * votes) || squares < 0) return false;
    m->noise = sqrt(squares / weight);
    m->weight = weight;
    return true;
}

static void measure_peak(const refine_job *job, double votes, planes_sample *near, measured *m) {
    const planes_refining *how = job->how;
    planes_sums sums;
    double t = 0.5 * how->tolerance, far = 0;
    for (int turn = 0; turn < TURNS && t < INFINITY; turn++, t = wider(how, t)) {
        const double reach = FAR * fmax(t, how->bin);
        bool valid = true;
        if (reach > far) take_pool(job, &m->fit, reach, near);
        far = reach;
        for (int k = 0; k < 2 && valid; k++) { /* the first fit is of what the plane before it had */
            sum_near(job, near, &m->fit, t, &sums);
            const planes_fit next = planes_fit_sums(&sums);
            valid = next.valid;
            if (valid) m->fit = next;
        }
        if (!valid) continue;
        sum_near(job, near, &m->fit, 2 * t, &sums);
        if (is_peak_within(&sums, t, votes, m)) break;
    }
}

static void measure_batch(const refine_job *job, const planes_start *starts, uint32_t count, measured *batch) {
#pragma omp parallel for schedule(dynamic) num_threads(job->ctx->threads)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        planes_sample *near = &job->near[mote_thread_number()];
        memset(&batch[i], 0, sizeof batch[i]);
        batch[i].fit = refine(job, &starts[i], near);
        batch[i].number = (uint32_t)i;
        if (batch[i].fit.valid) measure_peak(job, (double)starts[i].votes, near, &batch[i]);
    }
}

/* The densest peak first, of those of the same density the one of more votes. */
static int compare_measured(const void *first, const void *second) {
    const measured *a = first, *b = second;
    const double x = a->weight / (a->noise + 1e-300), y = b->weight / (b->noise + 1e-300);
    return x != y ? x > y ? -1 : 1 : a->number < b->number ? -1 : 1;
}

/* Drops what is mostly of peaks before it: a quarter of the points within the tolerance, or more, are not free. */
static void keep_own(const refine_job *job, measured *batch, uint32_t count) {
    qsort(batch, count, sizeof *batch, compare_measured);
    for (uint32_t i = 0; i < count && batch[i].weight > 0; i++) {
        const double tolerance = fmax(job->how->tolerance, 3 * batch[i].noise);
        const planes_plane plane = planes_plane_from(&batch[i].fit, tolerance,
                                                     job->how->guard / job->how->tolerance * tolerance, job->how->cone);
        planes_candidate counted;
        const uint32_t in = count_points(job, &plane, &counted);
        if (4 * (uint64_t)counted.count >= 3 * (uint64_t)in) {
            claim(job, &plane);
        } else {
            batch[i].weight = 0;
        }
    }
}

mote_status planes_measure_peaks(const planes_run *run, const planes_refining *how, const planes_start *starts,
                                 uint32_t count, planes_calibrated *calibrated) {
    measured batch[MEASURED_BATCH];
    refine_job job;
    const mote_status status = open_job(&job, run, how);
    for (uint32_t first = 0; first < count && status == MOTE_OK; first += MEASURED_BATCH) {
        const uint32_t size = count - first < MEASURED_BATCH ? count - first : MEASURED_BATCH;
        measure_batch(&job, starts + first, size, batch);
        keep_own(&job, batch, size);
        for (uint32_t i = 0; i < size; i++) {
            calibrated[first + batch[i].number] = (planes_calibrated){batch[i].noise, batch[i].weight};
        }
    }
    close_job(&job);
    return status;
}

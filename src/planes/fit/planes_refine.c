/* From a cell of the accumulator to a plane: coarse to fine, on the host whatever counted the votes, for those who vote
   are few. Each level is a small Hough transform of its own, of the points near the plane so far, around their
   centroid: 7 x 7 directions over what the level before left open, bins of rho as wide as these directions deserve.
   What it ends with is fitted by least squares while the distance that counts shrinks to the tolerance. Sums are whole
   numbers, so the order of points does not matter. */
#include "planes/fit/planes_refine.h"
#include "math/simd.h"

#define PIECE       256u /* distances at once */
#define LANES       8u
#define MAX_THREADS 16u    /* more than the first batch has would wait */
#define KEPT_POINTS 20000u /* of a pool that stays: more than a sample has by itself */

#define PLANES_SIDE      3 /* directions on either side of the middle one */
#define PLANES_SPREAD    (2 * PLANES_SIDE + 1)
#define PLANES_TILTS     49u /* SPREAD² */
#define PLANES_HALF_BINS 64  /* of rho, of a level, on either side */
#define PLANES_LEVELS    8
#define PLANES_POOL      1.2 /* steps between directions, at a typical point: how far is looked at all */
#define PLANES_SHRINK    0.6
#define PLANES_ENOUGH    512u /* points for a level; of more, about these vote */
#define PLANES_SETTLING  8u   /* fits at the tolerance */

/* Points near a peak's plane, and those that vote in a level, from its pivot: of each thread; and the free points. They
   stay in the context for the next search: for the system to give their pages takes as long as all the work. */
typedef struct planes_pools {
    uint32_t threads, capacity;
    planes_sample near[2 * MAX_THREADS]; /* [2 · threads] */
    planes_sample free;
} planes_pools;
#define KEPT "planes refinement"

static void free_pools(mote_device *cpu, void *memory) {
    planes_pools *pools = memory;
    for (uint32_t t = 0; t < 2 * pools->threads; t++) planes_sample_free(cpu->ctx, &pools->near[t]);
    planes_sample_free(cpu->ctx, &pools->free);
    mote_free(cpu->ctx, pools);
}

/* Makes those of a run, if they are not there yet, or are too small. */
static mote_status open_pools(mote_context *ctx, uint32_t capacity, planes_pools **out) {
    const uint32_t threads = (uint32_t)ctx->threads < MAX_THREADS ? (uint32_t)ctx->threads : MAX_THREADS;
    planes_pools *pools = *out != NULL ? *out : mote_cache_take(mote_cpu_device(ctx), KEPT);
    if (pools != NULL && (pools->threads < threads || pools->capacity < capacity)) {
        free_pools(mote_cpu_device(ctx), pools);
        pools = NULL;
    }
    *out = pools != NULL ? pools : mote_alloc_zero(ctx, sizeof *pools, KEPT);
    if (*out == NULL) return MOTE_ERROR_MEMORY;
    if (pools != NULL) return MOTE_OK;
    (*out)->capacity = capacity;
    (*out)->threads = threads;
    for (uint32_t t = 0; t < 2 * threads; t++) MOTE_TRY(planes_sample_make(ctx, capacity, &(*out)->near[t]));
    return planes_sample_make(ctx, capacity, &(*out)->free);
}

void planes_close_pools(mote_context *ctx, planes_pools *pools) {
    mote_device *cpu = mote_cpu_device(ctx);
    if (pools == NULL) return;
    if (pools->capacity > KEPT_POINTS || mote_context_status(ctx) != MOTE_OK) {
        free_pools(cpu, pools);
    } else {
        mote_cache_put(cpu, KEPT, pools, 0, free_pools);
    }
}

/* All voters are free at first. */
static void free_all(refine_job *job) {
    const planes_sample *from = &job->sample;
    planes_sample *to = &job->free;
    to->count = from->count;
    memcpy(to->x, from->x, from->count * sizeof *to->x);
    memcpy(to->y, from->y, from->count * sizeof *to->y);
    memcpy(to->z, from->z, from->count * sizeof *to->z);
    if (from->normal != NULL) memcpy(to->normal, from->normal, from->count * sizeof *to->normal);
    if (from->normal == NULL) memset(to->normal, 0, from->count * sizeof *to->normal);
    for (uint32_t i = 0; i < from->count; i++) to->place[i] = i;
}

mote_status refine_open(refine_job *job, planes_run *run, const planes_refining *how) {
    mote_context *ctx = run->ctx;
    memset(job, 0, sizeof *job);
    job->ctx = ctx;
    job->how = how;
    MOTE_TRY(run->ops->read_voters(run->points, &job->sample));
    job->claimed = mote_alloc_zero(ctx, job->sample.count, "planes refinement");
    MOTE_TRY(open_pools(ctx, job->sample.count + LANES, &run->pools));
    job->pools = run->pools;
    job->threads = (int)run->pools->threads;
    job->free = run->pools->free;
    if (job->claimed == NULL) return MOTE_ERROR_MEMORY;
    free_all(job);
    return MOTE_OK;
}

void refine_close(const refine_job *job) { mote_free(job->ctx, job->claimed); }

static uint32_t piece_at(uint32_t first, uint32_t count) { return count - first < PIECE ? count - first : PIECE; }

planes_sample *refine_pool(const refine_job *job) { return &job->pools->near[2 * mote_thread_number()]; }

/* ---- passes; branchless where most points are not near, for vectors */

static void measure(const planes_plane *plane, const float *x, const float *y, const float *z, uint32_t count,
                    float *distance) {
    for (uint32_t i = 0; i < count; i++) distance[i] = planes_distance(plane, x[i], y[i], z[i]);
}

static planes_plane pass_plane(const refine_job *job, const planes_fit *fit, double reach) {
    return planes_plane_from(fit, reach, reach, job->how->cone);
}

/* A plane in lanes. */
typedef struct plane_lanes {
    simd_f a, b, c, away, reach;
} plane_lanes;

static plane_lanes lanes_of(const planes_plane *plane) {
    const plane_lanes lanes = {simd_f_set(plane->a), simd_f_set(plane->b), simd_f_set(plane->c), simd_f_set(-plane->d),
                               simd_f_set(plane->tolerance)};
    return lanes;
}

/* Bits of those of eight free points that are within reach of a plane: as planes_distance has it. */
SIMD_INLINE uint32_t near_lanes(const planes_sample *points, const plane_lanes *plane, uint32_t first, simd_f x,
                                simd_f y, simd_f z) {
    const uint32_t rest = points->count - first, valid = rest < LANES ? (1u << rest) - 1 : 255;
    const simd_f distance = simd_f_fma(plane->c, z, simd_f_fma(plane->b, y, simd_f_fma(plane->a, x, plane->away)));
    return simd_f_at_most(simd_f_max(distance, simd_f_sub(simd_f_set(0), distance)), plane->reach) & valid;
}

void refine_take_pool(const refine_job *job, const planes_fit *fit, double reach, planes_sample *near) {
    const planes_sample *s = &job->free;
    const planes_plane plane = pass_plane(job, fit, reach);
    const plane_lanes lanes = lanes_of(&plane);
    uint32_t found = 0;
    for (uint32_t i = 0; i < s->count; i += LANES) {
        const simd_f x = simd_f_load(s->x + i), y = simd_f_load(s->y + i), z = simd_f_load(s->z + i);
        const uint32_t bits = near_lanes(s, &lanes, i, x, y, z);
        if (bits == 0) continue;
        const simd_i picked = simd_mask(bits);
        simd_f_compress(near->x + found, x, picked); /* with room for LANES points more: eight are written at once */
        simd_f_compress(near->y + found, y, picked);
        simd_f_compress(near->z + found, z, picked);
        simd_compress_indices(near->place + found, i, picked);
        found += (uint32_t)__builtin_popcount(bits);
    }
    near->count = found;
    for (uint32_t k = 0; k < found; k++) {
        const uint32_t i = near->place[k];
        near->normal[k] = s->normal[i];
        near->place[k] = s->place[i];
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

void refine_sum_pool(const refine_job *job, const planes_sample *near, const planes_fit *fit, double reach,
                     planes_sums *sums) {
    const planes_plane plane = pass_plane(job, fit, reach);
    memset(sums, 0, sizeof *sums);
    for (uint32_t first = 0; first < near->count; first += PIECE) {
        sum_piece(near, &plane, first, piece_at(first, near->count), sums);
    }
}

/* ---- levels */

typedef struct planes_refinement {
    planes_fit fit;
    double open, reach; /* radians; steps */
    uint32_t before;    /* points of the last fit */
    uint32_t settled;   /* fits at the tolerance */
} planes_refinement;

typedef struct planes_level {
    double normal[3], u[3], v[3]; /* the middle direction and two perpendicular to it */
    double step, width;           /* radians between directions; steps of a bin */
    double pivot[3], size;        /* about the centroid of the points, and how far they are from it */
    int32_t bins;                 /* on either side of the middle one */
    uint32_t share;               /* points vote whose planes_turn is below */
} planes_level;

static planes_refinement planes_refinement_begin(const planes_refining *how, const planes_start *start) {
    planes_refinement r;
    memset(&r, 0, sizeof r);
    for (int k = 0; k < 3; k++) r.fit.normal[k] = start->normal[k];
    r.fit.offset = start->offset;
    r.open = how->resolution;
    r.reach = how->bin + 0.5 * how->resolution * how->typical;
    return r;
}

/* Whole numbers that any run of points of the sample takes evenly: multiples of the golden ratio. */
static uint32_t planes_turn(uint32_t point) { return point * 2654435769u; }

/* near: a pass with r's fit and reach. False: there are too few. */
static bool planes_level_begin(const planes_refining *how, const planes_sums *near, const planes_refinement *r,
                               planes_level *level) {
    if (near->count < how->min) return false;
    const double n = (double)near->count;
    memset(level, 0, sizeof *level);
    for (int k = 0; k < 3; k++) level->normal[k] = r->fit.normal[k];
    for (int k = 0; k < 3; k++) level->pivot[k] = rint((double)near->first[k] / n);
    planes_perpendicular(level->normal, level->u, level->v);
    level->size = planes_size_of(near);
    level->step = r->open / PLANES_SIDE;
    level->width = fmax(how->tolerance, 0.5 * level->step * level->size);
    const double bins = ceil(r->reach / level->width) + 1;
    level->bins = bins < PLANES_HALF_BINS ? (int32_t)bins : PLANES_HALF_BINS;
    level->width = fmax(level->width, r->reach / level->bins);
    level->share = UINT32_MAX / (uint32_t)(near->count / PLANES_ENOUGH + 1);
    return true;
}

/* tilt: below PLANES_TILTS. by: how long the direction becomes */
static void planes_level_direction(const planes_level *level, uint32_t tilt, float by, float direction[3]) {
    const double along_u = ((int)(tilt / PLANES_SPREAD) - PLANES_SIDE) * level->step;
    const double along_v = ((int)(tilt % PLANES_SPREAD) - PLANES_SIDE) * level->step;
    double at[3], square = 0;
    for (int k = 0; k < 3; k++) {
        at[k] = level->normal[k] + along_u * level->u[k] + along_v * level->v[k];
        square += at[k] * at[k];
    }
    for (int k = 0; k < 3; k++) direction[k] = by * (float)(at[k] / sqrt(square));
}

#define PLANES_LEVEL_ROWS (2 * PLANES_HALF_BINS + 3)

/* Takes the tilt and the first of the two rows (from 0, without the one for what is outside) that have the most points
   between them. Returns whether directions are still so coarse that another level is worth it. */
static bool planes_level_end(const planes_refining *how, const planes_level *level, uint32_t tilt, uint32_t row,
                             planes_refinement *r) {
    float best[3];
    planes_level_direction(level, tilt, 1, best);
    double rho = ((int32_t)row + 1 - level->bins) * level->width; /* what is between two bins is their middle */
    for (int k = 0; k < 3; k++) {
        r->fit.normal[k] = (double)best[k];
        rho += (double)best[k] * level->pivot[k];
    }
    r->fit.offset = rho;
    r->open = 0.75 * level->step;
    r->reach = fmin(r->reach, level->width + r->open * level->size);
    return r->open * level->size > how->tolerance;
}

/* ---- least squares */

/* near: a pass with r's fit and reach. Returns whether another is due; in the end fit.valid says whether it worked. */
static bool planes_refinement_fit(const planes_refining *how, const planes_sums *near, planes_refinement *r) {
    if (r->reach <= how->tolerance && near->count == r->before) return false;
    r->before = (uint32_t)near->count;
    const planes_fit next = planes_fit_sums(near);
    r->fit.valid = next.valid;
    if (!next.valid) return false;
    r->fit = next;
    r->settled += r->reach <= how->tolerance;
    r->reach = fmax(how->tolerance, PLANES_SHRINK * r->reach);
    return r->settled < PLANES_SETTLING;
}

/* ---- one level */

/* Takes the points that vote in a level, relative to the pivot. Returns how many there are. */
static uint32_t take_voters(const refine_job *job, planes_sample *near, const planes_refinement *r,
                            const planes_level *level) {
    const planes_plane plane = pass_plane(job, &r->fit, r->reach);
    const float pivot[3] = {(float)level->pivot[0], (float)level->pivot[1], (float)level->pivot[2]};
    uint32_t found = 0;
    for (uint32_t k = 0; k < near->count; k++) {
        if (planes_turn(near->place[k]) > level->share) continue;
        if (fabsf(planes_distance(&plane, near->x[k], near->y[k], near->z[k])) > plane.tolerance) continue;
        if (!planes_normal_allows(near->normal[k], plane.normal, plane.cone)) continue;
        near[1].x[found] = near->x[k] - pivot[0];
        near[1].y[found] = near->y[k] - pivot[1];
        near[1].z[found++] = near->z[k] - pivot[2];
    }
    return found;
}

/* Where a point counts: bins from 1 to 2 · bins, what is outside in the one before and the one behind. x y z: from the
   pivot. Without branches, and cut as whole numbers, so that it becomes vectors. */
static uint32_t row_at(const float direction[3], float x, float y, float z, float bins) {
    const float rho = fmaf(direction[2], z, fmaf(direction[1], y, fmaf(direction[0], x, bins)));
    const int32_t row = (int32_t)(rho + 1.0f), behind = (int32_t)(2.0f * bins) + 1, cut = row < behind ? row : behind;
    return (uint32_t)(cut > 0 ? cut : 0);
}

/* Two counters of each row, for voters that follow each other are often in one. */
typedef struct row_counters {
    uint32_t counts[2][PLANES_LEVEL_ROWS + 5];
} row_counters;

/* Counts voters in rows: all rows are found first, for that becomes vectors, and counting does not. */
static void count_rows(const planes_sample *near, uint32_t voters, const float direction[3], float bins,
                       row_counters *counters) {
    uint32_t rows[PIECE];
    for (uint32_t first = 0; first < voters; first += PIECE) {
        const uint32_t count = piece_at(first, voters);
        const float *x = near[1].x + first, *y = near[1].y + first, *z = near[1].z + first;
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
static bool find_better_row(const planes_sample *near, uint32_t voters, const float direction[3],
                            const planes_level *level, uint32_t *max, uint32_t *best) {
    row_counters counters;
    const uint32_t rows = 2 * (uint32_t)level->bins - 1;
    uint32_t most_points = 0, row = 0;
    for (int k = 0; k < 2; k++) memset(counters.counts[k], 0, (rows + 4) * sizeof *counters.counts[k]);
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
static bool improve(const refine_job *job, planes_sample *near, planes_refinement *r, bool *coarse) {
    planes_sums sums;
    planes_level level;
    uint32_t max = 0, best_tilt = 0, best = 0;
    refine_sum_pool(job, near, &r->fit, r->reach, &sums);
    if (!planes_level_begin(job->how, &sums, r, &level)) return false;
    const uint32_t voters = take_voters(job, near, r, &level);
    for (uint32_t tilt = 0; tilt < PLANES_TILTS; tilt++) {
        float direction[3];
        planes_level_direction(&level, tilt, (float)(1 / level.width), direction);
        if (find_better_row(near, voters, direction, &level, &max, &best)) best_tilt = tilt;
    }
    if (max < 3) return false;
    *coarse = planes_level_end(job->how, &level, best_tilt, best, r);
    return true;
}

/* ---- one peak */

planes_fit refine_peak(const refine_job *job, const planes_start *start, planes_sample *near) {
    planes_refinement r = planes_refinement_begin(job->how, start);
    planes_sums sums;
    bool coarse = true;
    refine_take_pool(job, &r.fit, job->how->bin + PLANES_POOL * job->how->resolution * job->how->typical, near);
    if (near->count < job->how->min) return r.fit;
    for (int turn = 0; turn < PLANES_LEVELS && coarse; turn++) {
        if (!improve(job, near, &r, &coarse)) return r.fit;
    }
    do { refine_sum_pool(job, near, &r.fit, r.reach, &sums); } while (planes_refinement_fit(job->how, &sums, &r));
    return r.fit;
}

/* ---- voters that are free */

/* A normal that the plane does not allow is as good as far away. */
static void measure_sample(const planes_sample *s, const planes_plane *plane, uint32_t first, uint32_t count,
                           float *distance) {
    measure(plane, s->x + first, s->y + first, s->z + first, count, distance);
    for (uint32_t i = 0; i < count && plane->cone != 0; i++) {
        if (!planes_normal_allows(s->normal[first + i], plane->normal, plane->cone)) distance[i] = INFINITY;
    }
}

void refine_claim(const refine_job *job, const planes_plane *plane) {
    float distance[PIECE];
    for (uint32_t first = 0; first < job->free.count; first += PIECE) {
        const uint32_t count = piece_at(first, job->free.count);
        measure_sample(&job->free, plane, first, count, distance);
        for (uint32_t i = 0; i < count; i++) job->claimed[first + i] |= fabsf(distance[i]) <= plane->guard;
    }
}

void refine_drop_claimed(refine_job *job) {
    planes_sample *s = &job->free;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        planes_sample_copy(s, kept, s, i);
        kept += job->claimed[i] == 0;
    }
    memset(job->claimed, 0, s->count);
    s->count = kept;
}

uint32_t refine_count_all(const refine_job *job, const planes_plane *plane) {
    uint32_t in = 0;
    float distance[PIECE];
    for (uint32_t first = 0; first < job->sample.count; first += PIECE) {
        const uint32_t count = piece_at(first, job->sample.count);
        measure_sample(&job->sample, plane, first, count, distance);
        for (uint32_t i = 0; i < count; i++) in += fabsf(distance[i]) <= plane->tolerance;
    }
    return in;
}

void refine_count(const refine_job *job, const planes_plane *plane, planes_candidate *c) {
    const float t = plane->tolerance, half = 0.5f * t, far = 3.0f * t;
    uint32_t in = 0, inner = 0, below = 0, above = 0;
    float distance[PIECE];
    for (uint32_t first = 0; first < job->free.count; first += PIECE) {
        const uint32_t count = piece_at(first, job->free.count);
        measure_sample(&job->free, plane, first, count, distance);
        const uint8_t *claimed = job->claimed + first;
        for (uint32_t i = 0; i < count; i++) {
            const float d = distance[i], size = fabsf(d);
            const uint32_t is_free = claimed[i] == 0, on = size <= t, close = size <= half, near = size <= far;
            const uint32_t up = d > 0;
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
}

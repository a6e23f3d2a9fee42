/* From a cell of the accumulator to a plane: coarse to fine, on the sample. Each level is a small Hough transform of
   its own, of the points near the plane so far, around their centroid: 7 x 7 directions over what the level before
   left open, bins of rho as wide as these directions deserve. What it ends with is fitted by least squares while the
   distance that counts shrinks to the tolerance. */
#include "planes/planes.h"

#define SIDE      3 /* directions on either side of the middle one */
#define SPREAD    (2 * SIDE + 1)
#define FINER     3.0 /* from level to level */
#define HALF_BINS 64  /* of rho, of a level, on either side */
#define LEVELS    8
#define POOL      1.2 /* steps between directions, at a typical point: how far is looked at all */
#define SHRINK    0.6
#define PIECE     256u /* distances at once */
#define ENOUGH    512u /* points for a level; of more every so-many-th looks */
#define SETTLING  8    /* fits at the tolerance */

static planes_plane plane_of(const planes_fit *fit, double reach) {
    planes_plane plane;
    memset(&plane, 0, sizeof plane);
    plane.a = (float)fit->normal[0];
    plane.b = (float)fit->normal[1];
    plane.c = (float)fit->normal[2];
    plane.d = (float)fit->offset;
    plane.tolerance = (float)reach;
    return plane;
}

/* Distances of so many points of the sample from one on, and whether they count; branchless, for vectors. */
static void measure(const planes_run *run, const planes_plane *plane, uint32_t first, uint32_t count, float *distance) {
    const float *x = run->sample.x + first, *y = run->sample.y + first, *z = run->sample.z + first;
    for (uint32_t i = 0; i < count; i++) distance[i] = planes_distance(plane, x[i], y[i], z[i]);
}

void planes_take_pool(const planes_run *run, const planes_fit *fit, double reach, planes_near *near) {
    const planes_sample *s = &run->sample;
    const planes_plane plane = plane_of(fit, reach);
    float distance[PIECE];
    uint32_t found = 0;
    for (uint32_t first = 0; first < s->count; first += PIECE) {
        const uint32_t count = s->count - first < PIECE ? s->count - first : PIECE;
        measure(run, &plane, first, count, distance);
        for (uint32_t i = 0; i < count; i++) {
            near->pool[found] = first + i;
            found += fabsf(distance[i]) <= plane.tolerance && run->claimed[first + i] == 0;
        }
    }
    near->pool_count = found;
}

void planes_find_near(const planes_run *run, const planes_fit *fit, double reach, planes_near *near) {
    const planes_sample *s = &run->sample;
    const planes_plane plane = plane_of(fit, reach);
    const uint32_t normal = planes_pack_normal(plane.a, plane.b, plane.c);
    double sums[3] = {0, 0, 0}, square = 0;
    near->count = 0;
    for (uint32_t k = 0; k < near->pool_count; k++) {
        const uint32_t i = near->pool[k];
        const float distance = planes_distance(&plane, s->x[i], s->y[i], s->z[i]);
        if (fabsf(distance) > plane.tolerance || !planes_normal_allows(s->normal[i], normal, run->cone)) continue;
        near->x[near->count] = s->x[i];
        near->y[near->count] = s->y[i];
        near->z[near->count++] = s->z[i];
        sums[0] += (double)s->x[i];
        sums[1] += (double)s->y[i];
        sums[2] += (double)s->z[i];
    }
    for (int k = 0; k < 3; k++) near->pivot[k] = near->count > 0 ? rint(sums[k] / near->count) : 0;
    for (uint32_t i = 0; i < near->count; i++) {
        near->x[i] -= (float)near->pivot[0];
        near->y[i] -= (float)near->pivot[1];
        near->z[i] -= (float)near->pivot[2];
        square += (double)near->x[i] * near->x[i] + (double)near->y[i] * near->y[i] + (double)near->z[i] * near->z[i];
    }
    near->size = near->count > 0 ? sqrt(square / near->count) : 0;
}

/* ---- one level */

typedef struct level {
    double step, width; /* radians between directions; steps of a bin */
    int32_t bins;       /* on either side of the middle one */
} level;

/* The bin from which two in a row have the most points; sets how many they have. */
static int32_t best_bin(const planes_near *near, const float direction[3], const level *at, uint32_t *most) {
    uint32_t counts[2 * HALF_BINS + 8];
    const float by = (float)(1 / at->width), a = direction[0] * by, b = direction[1] * by, c = direction[2] * by;
    const float top = (float)(2 * at->bins);
    memset(counts, 0, sizeof counts);
    const uint32_t stride = near->count / ENOUGH + 1;
    for (uint32_t i = 0; i < near->count; i += stride) {
        const float rho = fmaf(c, near->z[i], fmaf(b, near->y[i], fmaf(a, near->x[i], (float)at->bins)));
        const float cut = rho < 0.0f ? -1.0f : rho > top ? top + 1.0f : rho; /* what is outside counts apart */
        counts[(int32_t)(cut + 1.0f)]++;
    }
    int32_t best = 0;
    *most = 0;
    for (int32_t k = 0; k + 1 < 2 * at->bins; k++) {
        const uint32_t both = counts[k + 1] + counts[k + 2];
        if (both <= *most) continue;
        *most = both;
        best = k;
    }
    return best;
}

static void tilted(const planes_fit *fit, const double u[3], const double v[3], double along_u, double along_v,
                   float direction[3]) {
    double at[3], square = 0;
    for (int k = 0; k < 3; k++) {
        at[k] = fit->normal[k] + along_u * u[k] + along_v * v[k];
        square += at[k] * at[k];
    }
    for (int k = 0; k < 3; k++) direction[k] = (float)(at[k] / sqrt(square));
}

static bool improve(const planes_near *near, const level *at, planes_fit *fit) {
    double u[3], v[3];
    uint32_t most = 0;
    float best[3] = {0, 0, 0};
    int32_t best_at = 0;
    planes_perpendicular(fit->normal, u, v);
    for (int i = -SIDE; i <= SIDE; i++) {
        for (int j = -SIDE; j <= SIDE; j++) {
            float direction[3];
            uint32_t count;
            tilted(fit, u, v, i * at->step, j * at->step, direction);
            const int32_t bin = best_bin(near, direction, at, &count);
            if (count <= most) continue;
            most = count;
            best_at = bin;
            memcpy(best, direction, sizeof best);
        }
    }
    if (most < 3) return false;
    /* Two bins: what is between them is their middle. */
    double rho = (best_at + 1 - at->bins) * at->width;
    for (int k = 0; k < 3; k++) {
        fit->normal[k] = (double)best[k];
        rho += (double)best[k] * near->pivot[k];
    }
    fit->offset = rho;
    return true;
}

/* Levels, until directions are so fine that the tolerance is all that is left. Returns how far points may still be. */
static double find_fine(const planes_run *run, uint32_t least, planes_near *near, planes_fit *fit) {
    const double across = run->resolution * run->scale.typical;
    double open = run->resolution, reach = run->bin + 0.5 * across;
    planes_take_pool(run, fit, run->bin + POOL * across, near);
    if (near->pool_count < least) return 0;
    for (int turn = 0; turn < LEVELS; turn++) {
        planes_find_near(run, fit, reach, near);
        if (near->count < least) return 0;
        level at;
        at.step = open / SIDE;
        at.width = fmax(run->tolerance, 0.5 * at.step * near->size);
        const double bins = ceil(reach / at.width) + 1;
        at.bins = bins < HALF_BINS ? (int32_t)bins : HALF_BINS;
        at.width = fmax(at.width, reach / at.bins);
        if (!improve(near, &at, fit)) return 0;
        open = 0.75 * at.step;
        reach = fmin(reach, at.width + open * near->size);
        if (open * near->size <= run->tolerance) break;
    }
    return reach;
}

/* ---- least squares */

planes_fit planes_fit_near(const planes_near *near) {
    planes_moments moments;
    memset(&moments, 0, sizeof moments);
    for (uint32_t i = 0; i < near->count; i++) {
        planes_moments_add(&moments, (double)near->x[i], (double)near->y[i], (double)near->z[i]);
    }
    return planes_fit_moments(&moments, near->pivot);
}

static bool fit_shrinking(const planes_run *run, double reach, planes_near *near, planes_fit *fit) {
    uint32_t before = 0;
    for (int settled = 0; settled < SETTLING;) {
        planes_find_near(run, fit, reach, near);
        if (reach <= run->tolerance && near->count == before) break;
        before = near->count;
        const planes_fit next = planes_fit_near(near);
        if (!next.valid) return false;
        *fit = next;
        settled += reach <= run->tolerance;
        reach = fmax(run->tolerance, SHRINK * reach);
    }
    return true;
}

mote_status planes_near_make(mote_context *ctx, uint32_t count, planes_near *near) {
    const uint64_t room = ((uint64_t)count + 16) / 16 * 16; /* each on a line of the cache */
    memset(near, 0, sizeof *near);
    near->x = mote_alloc(ctx, 4 * room * sizeof *near->x, "planes refinement");
    if (near->x == NULL) return MOTE_ERROR_MEMORY;
    near->y = near->x + room;
    near->z = near->y + room;
    near->pool = (uint32_t *)(void *)(near->z + room);
    return MOTE_OK;
}

void planes_near_free(mote_context *ctx, planes_near *near) { mote_free(ctx, near->x); }

void planes_refine(const planes_run *run, const planes_winner *winner, uint32_t least, planes_near *near,
                   planes_candidate *candidate) {
    planes_fit *fit = &candidate->fit;
    memset(candidate, 0, sizeof *candidate);
    candidate->votes = winner->votes;
    planes_table_cell(&run->table, winner->direction, winner->bin, fit->normal, &fit->offset);
    const double left = find_fine(run, least, near, fit);
    if (left > 0 && fit_shrinking(run, left, near, fit)) planes_count_points(run, candidate);
}

/* ---- claims */

/* A normal that differs too much is as good as far away. */
static void drop_others(const planes_run *run, const planes_plane *plane, uint32_t first, uint32_t count,
                        float *distance) {
    for (uint32_t i = 0; i < count; i++) {
        if (!planes_normal_allows(run->sample.normal[first + i], plane->normal, plane->cone)) distance[i] = INFINITY;
    }
}

void planes_count_points(const planes_run *run, planes_candidate *candidate) {
    const planes_plane plane = planes_plane_of(run, &candidate->fit);
    const float t = plane.tolerance, half = 0.5f * t, far = 3.0f * t;
    uint32_t in = 0, inner = 0, below = 0, above = 0;
    float distance[PIECE];
    for (uint32_t first = 0; first < run->sample.count; first += PIECE) {
        const uint32_t count = run->sample.count - first < PIECE ? run->sample.count - first : PIECE;
        measure(run, &plane, first, count, distance);
        if (plane.cone != 0) drop_others(run, &plane, first, count, distance);
        for (uint32_t i = 0; i < count; i++) {
            const float d = distance[i], size = fabsf(d);
            const uint32_t is_free = run->claimed[first + i] == 0;
            in += (uint32_t)(size <= t) & is_free;
            inner += (uint32_t)(size <= half) & is_free;
            below += (uint32_t)(d < -t) & (uint32_t)(d >= -far) & is_free;
            above += (uint32_t)(d > t) & (uint32_t)(d <= far) & is_free;
        }
    }
    candidate->count = in;
    candidate->inner = inner;
    candidate->beside[0] = below;
    candidate->beside[1] = above;
}

void planes_claim(planes_run *run, const planes_fit *fit) {
    const planes_plane plane = planes_plane_of(run, fit);
    float distance[PIECE];
    for (uint32_t first = 0; first < run->sample.count; first += PIECE) {
        const uint32_t count = run->sample.count - first < PIECE ? run->sample.count - first : PIECE;
        measure(run, &plane, first, count, distance);
        if (plane.cone != 0) drop_others(run, &plane, first, count, distance);
        for (uint32_t i = 0; i < count; i++) run->claimed[first + i] |= fabsf(distance[i]) <= plane.guard;
    }
}

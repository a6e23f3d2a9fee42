/* Points near a plane, and the cells that they are in. All of a growth's time goes into passes over many points: eight
   at once, where nothing but their order among themselves has to stay. */
#include <math.h>
#include <string.h>

#include "math/simd.h"
#include "planes/local/planes_local.h"

#define LANES    PLANES_LOCAL_LANES
#define ROUNDING 24.0f /* steps: more than floats lose of where a box is, as far away as 2^25 */
#define PIECE    256u  /* points whose cells are found at once */
#define FACES_ALONG                                                                                                    \
    0.819f /* cosine of 35 degrees: a point that faces farther off the plane's normal is not the plane's */
#define ROOT_TWO_PI 2.5066282746310002

/* ---- points near a plane */

/* The density of a plane's points across it, at the plane, in nats; and how it falls with the square of the distance.
 */
typedef struct planes_density {
    double base, narrow;
} planes_density;

static planes_density density_of(const planes_growth *g) {
    const double points = g->density * (double)(1u << g->level); /* of a cell */
    const planes_density density = {log(points / (g->cell * g->cell) / (g->noise * ROOT_TWO_PI)),
                                    0.5 / (g->noise * g->noise)};
    return density;
}

/* What boxes are held against, in lanes: the plane, how far points may be off it, and how far from its middle. */
typedef struct near_limits {
    simd_f n[3], at[3], reach, look2;
} near_limits;

static near_limits limits_of(const planes_growth *g, double reach) {
    near_limits limits;
    const float look = (float)g->look + ROUNDING, off = (float)reach + ROUNDING;
    for (int k = 0; k < 3; k++) {
        limits.n[k] = simd_f_set((float)g->normal[k]);
        limits.at[k] = simd_f_set((float)g->at[k]);
    }
    limits.reach = simd_f_set(off);
    limits.look2 = simd_f_set(1.001f * (look * look + off * off)); /* look is a distance along the plane */
    return limits;
}

/* Bits of those of PLANES_LOCAL_LANES boxes that may have points near the plane. */
SIMD_INLINE uint32_t near_boxes(const planes_local_boxes *boxes, uint32_t first, const near_limits *limits) {
    const simd_f zero = simd_f_set(0);
    simd_f least = zero, largest = zero, away = zero; /* distances to the plane; square of that to the middle */
    for (int k = 0; k < 3; k++) {
        const simd_f low = simd_f_sub(simd_f_load(boxes->low[k] + first), limits->at[k]);
        const simd_f high = simd_f_sub(simd_f_load(boxes->high[k] + first), limits->at[k]);
        const simd_f a = simd_f_mul(limits->n[k], low), b = simd_f_mul(limits->n[k], high);
        const simd_f out = simd_f_max(simd_f_max(low, simd_f_sub(zero, high)), zero);
        least = simd_f_add(least, simd_f_min(a, b));
        largest = simd_f_add(largest, simd_f_max(a, b));
        away = simd_f_add(away, simd_f_mul(out, out));
    }
    const uint32_t rest = boxes->count - first, valid = rest < LANES ? (1u << rest) - 1 : 255;
    return simd_f_at_most(least, limits->reach) & simd_f_at_most(simd_f_sub(zero, largest), limits->reach) &
           simd_f_at_most(away, limits->look2) & valid;
}

/* The plane in lanes: axes from a whole step near its middle. */
typedef struct near_axes {
    simd_f n[3], u[3], v[3], p[3], offset, reach, look2;
} near_axes;

static near_axes axes_of(const planes_growth *g, double reach) {
    near_axes axes;
    double rest = 0;
    for (int k = 0; k < 3; k++) {
        const float p = (float)rint(g->at[k]);
        axes.n[k] = simd_f_set((float)g->normal[k]);
        axes.u[k] = simd_f_set((float)g->u[k]);
        axes.v[k] = simd_f_set((float)g->v[k]);
        axes.p[k] = simd_f_set(p);
        rest += g->normal[k] * (g->at[k] - (double)p);
    }
    axes.offset = simd_f_set((float)rest);
    axes.reach = simd_f_set((float)reach);
    axes.look2 = simd_f_set((float)(g->look * g->look));
    return axes;
}

/* Does what planes_along does, for eight points. */
SIMD_INLINE simd_f along(const simd_f axis[3], simd_f x, simd_f y, simd_f z) {
    return simd_f_fma(axis[2], z, simd_f_fma(axis[1], y, simd_f_mul(axis[0], x)));
}

/* Who owns eight points, and how likely they are under their owners. */
typedef struct near_owners {
    int32_t owner[LANES];
    float likelihood[LANES];
} near_owners;

static near_owners owners_of(const planes_local *s, uint32_t level, uint32_t first, uint32_t valid) {
    near_owners owners;
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t point = (valid >> i & 1) != 0 ? (first + i) << level : 0;
        owners.owner[i] = s->owner[point];
        owners.likelihood[i] = s->likelihood[point];
    }
    return owners;
}

/* Bits of those that another plane explains better. bits: which are asked for. */
SIMD_INLINE uint32_t others_in(const int32_t *owners, const float *likelihood, int32_t self,
                               const planes_density *density, uint32_t bits, simd_f distance) {
    const simd_i owner = simd_i_load(owners);
    const uint32_t owned = simd_i_above(owner, simd_i_set(-1)) & ~simd_i_equal(owner, simd_i_set(self));
    if ((owned & bits) == 0) return 0;
    const simd_d d = simd_f_to_d(distance), falls = simd_d_mul(simd_d_mul(d, d), simd_d_set(density->narrow));
    const simd_d mine = simd_d_sub(simd_d_set(density->base), falls);
    return owned & simd_d_above(simd_f_to_d(simd_f_load(likelihood)), mine);
}

/* Asks the same of eight points of the level that a growth takes. valid: bits of those that are points */
SIMD_INLINE uint32_t others_of(const planes_local *s, const planes_growth *g, const planes_density *density,
                               uint32_t first, uint32_t valid, uint32_t bits, simd_f distance) {
    if (g->level == 0) return others_in(s->owner + first, s->likelihood + first, g->self, density, bits, distance);
    const near_owners owners = owners_of(s, g->level, first, valid);
    return others_in(owners.owner, owners.likelihood, g->self, density, bits, distance);
}

/* Bits of those of eight points of the level that face along the plane, or may do. */
SIMD_INLINE uint32_t faces_along(const planes_local *s, const planes_growth *g, const near_axes *axes, uint32_t first,
                                 uint32_t valid) {
    const planes_facing *facing = &s->facing;
    const float *at[4] = {facing->normal[0] + first, facing->normal[1] + first, facing->normal[2] + first,
                          facing->unknown + first};
    float few[4][LANES];
    for (int k = 0; k < 4 && g->level > 0; k++) {
        for (uint32_t i = 0; i < LANES; i++)
            few[k][i] = (valid >> i & 1) != 0 ? at[k][((first + i) << g->level) - first] : 0;
    }
    for (int k = 0; k < 4 && g->level > 0; k++) at[k] = few[k];
    const simd_f cosine = along(axes->n, simd_f_load(at[0]), simd_f_load(at[1]), simd_f_load(at[2]));
    const simd_f size = simd_f_max(cosine, simd_f_sub(simd_f_set(0), cosine));
    return simd_f_at_most(simd_f_set(FACES_ALONG), simd_f_add(size, simd_f_load(at[3])));
}

/* Where points are, and where those that are near go: copies, for what is written could else be where they stand. */
typedef struct near_arrays {
    const float *x, *y, *z;
    uint32_t *point;
    float *distance, *u, *v;
} near_arrays;

static near_arrays arrays_of(const planes_local *s, const planes_local_level *level) {
    const near_arrays arrays = {level->x, level->y, level->z, s->near_point, s->near_distance, s->near_u, s->near_v};
    return arrays;
}

/* Takes those of eight points that are near and no others', as the near points from at on; returns the next number.
   valid: bits of those that are points. */
SIMD_INLINE uint32_t take_lanes(const planes_local *s, const planes_growth *g, const planes_density *density,
                                const near_axes *axes, const near_arrays *arrays, uint32_t first, uint32_t valid,
                                uint32_t at) {
    const simd_f x = simd_f_sub(simd_f_load(arrays->x + first), axes->p[0]);
    const simd_f y = simd_f_sub(simd_f_load(arrays->y + first), axes->p[1]);
    const simd_f z = simd_f_sub(simd_f_load(arrays->z + first), axes->p[2]);
    const simd_f distance = simd_f_sub(along(axes->n, x, y, z), axes->offset);
    const simd_f size = simd_f_max(distance, simd_f_sub(simd_f_set(0), distance));
    uint32_t bits = simd_f_at_most(size, axes->reach) & valid;
    if (bits == 0) return at;
    const simd_f u = along(axes->u, x, y, z), v = along(axes->v, x, y, z);
    bits &= simd_f_at_most(simd_f_add(simd_f_mul(u, u), simd_f_mul(v, v)), axes->look2);
    bits &= ~others_of(s, g, density, first, valid, bits, distance);
    if (s->facing.unknown != NULL && bits != 0 && !g->turned) bits &= faces_along(s, g, axes, first, valid);
    const simd_i picked = simd_mask(bits);
    simd_compress_indices(arrays->point + at, first, picked);
    simd_f_compress(arrays->distance + at, distance, picked);
    simd_f_compress(arrays->u + at, u, picked);
    simd_f_compress(arrays->v + at, v, picked);
    return at + (uint32_t)__builtin_popcount(bits);
}

/* Takes the points of a block that are near and no others', as the near points from count on; returns the next number.
 */
SIMD_INLINE uint32_t take_block(const planes_local *s, const planes_growth *g, const planes_density *density,
                                const near_axes *axes, const near_arrays *arrays, uint32_t block, uint32_t count) {
    const uint32_t begin = block * PLANES_LOCAL_BLOCK, rest = s->levels[g->level].count - begin;
    const uint32_t end = begin + (rest < PLANES_LOCAL_BLOCK ? rest : PLANES_LOCAL_BLOCK);
    for (uint32_t i = begin; i < end; i += LANES) {
        const uint32_t valid = end - i < LANES ? (1u << (end - i)) - 1 : 255;
        count = take_lanes(s, g, density, axes, arrays, i, valid, count);
    }
    return count;
}

void planes_take_near(planes_local *s, const planes_growth *g, double reach) {
    const planes_density density = density_of(g);
    const near_axes axes = axes_of(g, reach);
    const near_limits limits = limits_of(g, reach);
    const planes_local_level *level = &s->levels[g->level];
    const near_arrays arrays = arrays_of(s, level);
    uint32_t count = 0;
    for (uint32_t first = 0; first < level->groups.count; first += LANES) {
        for (uint32_t groups = near_boxes(&level->groups, first, &limits); groups != 0; groups &= groups - 1) {
            const uint32_t block = (first + (uint32_t)__builtin_ctz(groups)) * LANES;
            for (uint32_t blocks = near_boxes(&level->blocks, block, &limits); blocks != 0; blocks &= blocks - 1) {
                count = take_block(s, g, &density, &axes, &arrays, block + (uint32_t)__builtin_ctz(blocks), count);
            }
        }
    }
    for (uint32_t i = 0; i < count && g->level > 0; i++) s->near_point[i] <<= g->level;
    s->near_count = count;
}

/* ---- cells */

void planes_find_ends(const float *values, uint32_t count, float *low, float *high) {
    simd_f min = simd_f_set(INFINITY), max = simd_f_set(-INFINITY);
    uint32_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const simd_f value = simd_f_load(values + i);
        min = simd_f_min(min, value);
        max = simd_f_max(max, value);
    }
    *low = simd_f_reduce_min(min);
    *high = simd_f_reduce_max(max);
    for (; i < count; i++) {
        *low = values[i] < *low ? values[i] : *low;
        *high = values[i] > *high ? values[i] : *high;
    }
}

bool planes_lay_grid(const planes_local *s, planes_growth *g) {
    float low[2], high[2];
    double columns, rows;
    if (s->near_count == 0) return false;
    planes_find_ends(s->near_u, s->near_count, &low[0], &high[0]);
    planes_find_ends(s->near_v, s->near_count, &low[1], &high[1]);
    for (;; g->cell *= 1.3) { /* with a rim of empty cells */
        columns = floor((double)(high[0] - low[0]) / g->cell) + 3;
        rows = floor((double)(high[1] - low[1]) / g->cell) + 3;
        if (columns * rows <= s->cell_capacity) break;
    }
    g->columns = (uint32_t)columns;
    g->rows = (uint32_t)rows;
    g->low_u = (double)low[0] - g->cell;
    g->low_v = (double)low[1] - g->cell;
    return true;
}

/* The cells of some of the near points, and which counter of the grid each adds to. */
static void find_cells(const planes_local *s, const planes_growth *g, uint32_t first, uint32_t count,
                       uint32_t *restrict counter) {
    const float by = (float)(1 / g->cell), low_u = (float)g->low_u, low_v = (float)g->low_v;
    const float reach = (float)(PLANES_REACH_NOISES * g->noise);
    const float *u = s->near_u + first, *v = s->near_v + first, *distance = s->near_distance + first;
    const int32_t columns = (int32_t)g->columns, cells = (int32_t)(g->columns * g->rows);
    uint32_t *restrict near_cell = s->near_cell + first;
    for (uint32_t i = 0; i < count; i++) {
        const int32_t column = (int32_t)((u[i] - low_u) * by), row = (int32_t)((v[i] - low_v) * by);
        const int32_t cell = row * columns + column, off = cells + cell + (int32_t)(distance[i] > 0);
        near_cell[i] = (uint32_t)cell;
        counter[i] = (uint32_t)(cell + (off & -(int32_t) !(fabsf(distance[i]) <= reach)));
    }
}

void planes_count_cells(planes_local *s, const planes_growth *g) {
    const uint32_t cells = g->columns * g->rows;
    uint32_t counter[PIECE], *counters = s->cell_in;
    s->cell_beside = s->cell_in + cells;
    memset(counters, 0, 3 * (uint64_t)cells * sizeof *counters);
    memset(s->cell_mark, 0, cells);
    for (uint32_t first = 0; first < s->near_count; first += PIECE) {
        const uint32_t rest = s->near_count - first, count = rest < PIECE ? rest : PIECE;
        find_cells(s, g, first, count, counter);
        /* Points that follow each other are often in one cell, whose counter would be waited for. */
        const uint32_t half = count / 2;
        for (uint32_t i = 0; i < half; i++) {
            counters[counter[i]]++;
            counters[counter[half + i]]++;
        }
        if (count % 2 != 0) counters[counter[count - 1]]++;
    }
}

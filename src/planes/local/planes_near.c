/* Points near a plane, and the cells that they are in. All of a growth's time goes into passes over many points: eight
   at once, where nothing but their order among themselves has to stay. */
#include <math.h>
#include <string.h>

#include "math/pi.h"
#include "math/simd.h"
#include "planes/local/planes_local.h"

#define LANES    PLANES_LOCAL_LANES
#define ROUNDING 24.0f /* steps: more than floats lose of where a box is, as far away as 2^25 */
#define PIECE    256u  /* points whose cells are found at once */
#define FACES_ALONG                                                                                                    \
    0.819f /* cosine of 35 degrees: a point that faces farther off the plane's normal is not the plane's */

/* ---- points near a plane */

/* The density of a plane's points across it, at the plane, in nats; and how it falls with the square of the distance.
 */
typedef struct planes_density {
    double base, narrow;
} planes_density;

static planes_density density_of(const planes_growth *g) {
    const double points = g->density * (double)(1u << g->level); /* of a cell */
    const planes_density density = {log(points / (g->cell * g->cell) / (g->noise * MOTE_ROOT_TWO_PI)),
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

/* A pass over points: the plane, who the points belong to, and where those that are near go. Copies, for what is
   written could else be where they stand. */
typedef struct near_pass {
    planes_density density;
    near_axes axes;
    uint32_t level, count; /* points of the level */
    const float *x, *y, *z;
    int32_t self;
    const int32_t *owner; /* of the sample, as likelihood and faces */
    const float *likelihood;
    const float *faces[4]; /* x, y, z of normals, unknown; NULL: nobody asks which way points face */
    uint32_t *point;
    float *distance, *u, *v;
} near_pass;

static near_pass pass_of(const planes_local *s, const planes_growth *g, double reach) {
    const planes_local_level *level = &s->levels[g->level];
    const planes_facing *facing = &s->facing;
    near_pass pass = {density_of(g), axes_of(g, reach), g->level,         level->count, level->x,
                      level->y,      level->z,          g->self,          s->owner,     s->likelihood,
                      {NULL},        s->near_point,     s->near_distance, s->near_u,    s->near_v};
    if (facing->unknown == NULL || g->turned) return pass;
    for (int k = 0; k < 3; k++) pass.faces[k] = facing->normal[k];
    pass.faces[3] = facing->unknown;
    return pass;
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
SIMD_INLINE uint32_t others_of(const near_pass *pass, uint32_t first, uint32_t valid, uint32_t bits, simd_f distance) {
    int32_t owner[LANES];
    float likelihood[LANES];
    if (pass->level == 0) {
        return others_in(pass->owner + first, pass->likelihood + first, pass->self, &pass->density, bits, distance);
    }
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t point = (valid >> i & 1) != 0 ? (first + i) << pass->level : 0;
        owner[i] = pass->owner[point];
        likelihood[i] = pass->likelihood[point];
    }
    return others_in(owner, likelihood, pass->self, &pass->density, bits, distance);
}

/* Bits of those of eight points of the level that face along the plane, or may do. */
SIMD_INLINE uint32_t faces_along(const near_pass *pass, uint32_t first, uint32_t valid) {
    const float *at[4] = {pass->faces[0] + first, pass->faces[1] + first, pass->faces[2] + first,
                          pass->faces[3] + first};
    float few[4][LANES];
    for (int k = 0; k < 4 && pass->level > 0; k++) {
        for (uint32_t i = 0; i < LANES; i++)
            few[k][i] = (valid >> i & 1) != 0 ? at[k][((first + i) << pass->level) - first] : 0;
    }
    for (int k = 0; k < 4 && pass->level > 0; k++) at[k] = few[k];
    const simd_f cosine = along(pass->axes.n, simd_f_load(at[0]), simd_f_load(at[1]), simd_f_load(at[2]));
    const simd_f size = simd_f_max(cosine, simd_f_sub(simd_f_set(0), cosine));
    return simd_f_at_most(simd_f_set(FACES_ALONG), simd_f_add(size, simd_f_load(at[3])));
}

/* Takes those of eight points that are no others' and not too far from the middle, as the near points from at on;
   returns the next number. valid: bits of those that are points; bits: of those that are near the plane. */
SIMD_INLINE uint32_t take_lanes(const near_pass *pass, uint32_t first, uint32_t valid, uint32_t bits, simd_f distance,
                                uint32_t at) {
    const near_axes *axes = &pass->axes;
    const simd_f x = simd_f_sub(simd_f_load(pass->x + first), axes->p[0]);
    const simd_f y = simd_f_sub(simd_f_load(pass->y + first), axes->p[1]);
    const simd_f z = simd_f_sub(simd_f_load(pass->z + first), axes->p[2]);
    const simd_f u = along(axes->u, x, y, z), v = along(axes->v, x, y, z);
    bits &= simd_f_at_most(simd_f_add(simd_f_mul(u, u), simd_f_mul(v, v)), axes->look2);
    bits &= ~others_of(pass, first, valid, bits, distance);
    if (pass->faces[0] != NULL && bits != 0) bits &= faces_along(pass, first, valid);
    const simd_i picked = simd_mask(bits);
    simd_compress_indices(pass->point + at, first, picked);
    simd_f_compress(pass->distance + at, distance, picked);
    simd_f_compress(pass->u + at, u, picked);
    simd_f_compress(pass->v + at, v, picked);
    return at + (uint32_t)__builtin_popcount(bits);
}

/* Takes the points of a block that are near and no others', as the near points from at on; returns the next number.
   All of its points are held against the plane first: where none is near, which is often, nothing else is asked.
   lanes: how many times LANES points it has, of which valid are points */
SIMD_INLINE uint32_t take_block(const near_pass *pass, uint32_t block, uint32_t lanes, uint32_t valid, uint32_t at) {
    const uint32_t begin = block * PLANES_LOCAL_BLOCK;
    const near_axes *axes = &pass->axes;
    simd_f distance[PLANES_LOCAL_BLOCK / LANES];
    uint32_t near = 0;
    for (uint32_t k = 0; k < lanes; k++) {
        const uint32_t first = begin + k * LANES;
        const simd_f x = simd_f_sub(simd_f_load(pass->x + first), axes->p[0]);
        const simd_f y = simd_f_sub(simd_f_load(pass->y + first), axes->p[1]);
        const simd_f z = simd_f_sub(simd_f_load(pass->z + first), axes->p[2]);
        distance[k] = simd_f_sub(along(axes->n, x, y, z), axes->offset);
        const simd_f size = simd_f_max(distance[k], simd_f_sub(simd_f_set(0), distance[k]));
        near |= simd_f_at_most(size, axes->reach) << (k * LANES);
    }
    near &= valid;
    if (near == 0) return at;
    for (uint32_t k = 0; k < lanes; k++) {
        const uint32_t bits = near >> (k * LANES) & 255;
        if (bits != 0) at = take_lanes(pass, begin + k * LANES, valid >> (k * LANES) & 255, bits, distance[k], at);
    }
    return at;
}

/* Lists the blocks that may have points near the plane; returns how many. Room for LANES more is needed. */
static uint32_t list_blocks(const planes_local_level *level, const near_limits *limits, uint32_t *restrict list) {
    uint32_t count = 0;
    for (uint32_t first = 0; first < level->groups.count; first += LANES) {
        for (uint32_t groups = near_boxes(&level->groups, first, limits); groups != 0; groups &= groups - 1) {
            const uint32_t block = (first + (uint32_t)__builtin_ctz(groups)) * LANES;
            const uint32_t blocks = near_boxes(&level->blocks, block, limits);
            simd_compress_indices(list + count, block, simd_mask(blocks));
            count += (uint32_t)__builtin_popcount(blocks);
        }
    }
    return count;
}

void planes_take_near(planes_local *s, const planes_growth *g, double reach) {
    const near_pass pass = pass_of(s, g, reach);
    const near_limits limits = limits_of(g, reach);
    const uint32_t *list = s->cell_stack, listed = list_blocks(&s->levels[g->level], &limits, s->cell_stack);
    uint32_t count = 0;
    for (uint32_t i = 0; i < listed; i++) {
        const uint32_t rest = pass.count - list[i] * PLANES_LOCAL_BLOCK;
        const bool whole = rest >= PLANES_LOCAL_BLOCK;
        count = whole ? take_block(&pass, list[i], PLANES_LOCAL_BLOCK / LANES, UINT32_MAX, count)
                      : take_block(&pass, list[i], (rest + LANES - 1) / LANES, (1u << rest) - 1, count);
    }
    for (uint32_t i = 0; i < count && g->level > 0; i++) s->near_point[i] <<= g->level;
    s->near_count = count;
}

/* ---- cells */

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

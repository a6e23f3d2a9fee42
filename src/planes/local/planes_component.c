/* The component of a growth: the connected cells of its plane's grid that have more points than strays account for.

   cells with points     .  2  9  8  .        # the component: cells around the patch that are
                         1  8 11  7  .          connected and full
                         .  9 10  2  .   */
#include <math.h>
#include <string.h>

#include "math/simd.h"
#include "planes/local/planes_growth.h"

#define LANES           PLANES_LOCAL_LANES
#define STRAY_SHARE     0.4   /* of the way from strays to points: between them a cell is the plane's */
#define MIN_CELLS       3.0   /* of a component */
#define NOISE_RANGE     0.55  /* of the largest noise, where that is known: the least */
#define TRUNCATION      1.014 /* what is cut at 3 deviations looks so much narrower */
#define MAX_NUMBER      250u  /* components that begin near the patch, at most: marks are bytes */
#define PIECE_SHARE     0.2   /* of the points of the largest component: others that large are the plane's, too */
#define CENTRED         1.0   /* noises: how far the mean of a centred cell's points is off, at most */
#define STEPPED         1.6   /* noises: what is farther off beside the rim does not go on, but begins anew: a step */
#define MEAN_DEVIATIONS 3.0   /* deviations of a mean of few points: what a centred cell may be off, if that is more */
#define BESIDE_SHARE    0.5   /* of the points of a cell, one beside the rim has where a surface goes on */
#define BAND_VOLUMES    3.0   /* of the points of a growth that are near, to those within its reach */
#define RIM_DEVIATION   3.0   /* deviations of a mean of so few points, it is off where a surface bends away */
#define CLOSELY         0.966 /* cosine of 15 degrees */
#define CROSSED         2.5 /* points of a cell to those on its emptier side: with fewer something goes through there */
#define FEW_POINTS      256u /* below, cells are too few to tell a curve */
#define MIN_STRUCTURE   0.15 /* share of the variance between cells, of which it is asked whether it is noise */
#define MAX_LAG         8 /* cells, as far apart as likeness is asked for: a wave of 16 cells is unlike itself there */
#define MIN_LAGS        6 /* distances with enough pairs of cells, or nothing is told */
#define MIN_PAIRS       128.0 /* of cells: of fewer, a piece of a pipe looks like stripes by chance */
#define ROUNDED         1.001 /* times a square: more than floats lose of it */

/* ---- its cells */

/* While components are looked for, a cell that no component may have is marked, too. */
#define CLOSED_CELL 255

/* Connected cells: how many points they have, and a range of the grid that they are in. */
typedef struct connected_cells {
    uint64_t points;
    uint32_t first, end;
} connected_cells;

/* Marks the cells connected with start that are open. The rim is closed. */
static connected_cells flood(planes_local *s, const planes_growth *g, uint32_t start, uint8_t number) {
    const uint32_t columns = g->columns, cells = g->columns * g->rows, *in = s->cell_in;
    uint32_t *stack = s->cell_stack;
    uint8_t *mark = s->cell_mark;
    connected_cells all = {0, start, start + 1};
    uint32_t depth = 0;
    mark[start] = number;
    stack[depth++] = start;
    while (depth > 0) {
        const uint32_t cell = stack[--depth];
        all.points += in[cell];
        all.first = cell < all.first ? cell : all.first;
        all.end = cell < all.end ? all.end : cell + 1;
        for (uint32_t row = 0; row < 3; row++) {
            const uint32_t first = cell + row * columns - columns - 1;
            for (uint32_t other = first; other != first + 3; other++) {
                if (other >= cells || mark[other] != 0) continue;
                mark[other] = number;
                stack[depth++] = other;
            }
        }
    }
    return all;
}

/* Closes the cells that have fewer points, and opens all others. */
static void close_cells(planes_local *s, uint32_t cells, uint32_t min) {
    const uint32_t *in = s->cell_in;
    uint8_t *restrict mark = s->cell_mark;
    for (uint32_t cell = 0; cell < cells; cell++) mark[cell] = in[cell] < min ? CLOSED_CELL : 0;
}

/* Whether the points of a cell lie to both sides of the plane. */
static bool is_centred(const planes_local *s, const planes_growth *g, uint32_t cell) {
    const double count = s->cell_in[cell], limit = g->noise * fmax(CENTRED * count, MEAN_DEVIATIONS * sqrt(count));
    return fabs((double)s->cell_sum[cell]) <= limit;
}

/* A distance, or 0 beyond reach: without a branch, for half of the points that are near are. */
static float within(float distance, float reach) {
    uint32_t bits;
    memcpy(&bits, &distance, sizeof bits);
    bits &= 0u - (uint32_t)(fabsf(distance) <= reach);
    memcpy(&distance, &bits, sizeof bits);
    return distance;
}

void planes_sum_distances(planes_local *s, const planes_growth *g) {
    const uint32_t cells = g->columns * g->rows, *cell = s->near_cell;
    const float reach = (float)(PLANES_REACH_NOISES * g->noise), *distance = s->near_distance;
    float *sum = s->cell_sum;
    memset(sum, 0, cells * sizeof *sum);
    for (uint32_t i = 0; i < s->near_count; i++) sum[cell[i]] += within(distance[i], reach);
}

/* Sums the distances up, and closes the cells whose points lie to one side. */
static void close_leaning_cells(planes_local *s, const planes_growth *g) {
    const uint32_t cells = g->columns * g->rows;
    planes_sum_distances(s, g);
    for (uint32_t cell = 0; cell < cells; cell++) {
        if (s->cell_mark[cell] == 0 && !is_centred(s, g, cell)) s->cell_mark[cell] = CLOSED_CELL;
    }
}

/* Closes the cells that have as many points on both sides as on the plane: something goes through there. */
static void close_crossed_cells(planes_local *s, uint32_t cells) {
    for (uint32_t cell = 0; cell < cells; cell++) {
        const uint32_t *beside = s->cell_beside + 2 * (uint64_t)cell,
                       least = beside[0] < beside[1] ? beside[0] : beside[1];
        if (s->cell_in[cell] < CROSSED * least) s->cell_mark[cell] = CLOSED_CELL;
    }
}

/* Closes the cells whose middles are outside of the growth's strip. */
static void close_outside(planes_local *s, const planes_growth *g) {
    const planes_strip *strip = &g->strip;
    double u = 0, v = 0, at = 0;
    for (int k = 0; k < 3; k++) {
        u += strip->along[k] * g->u[k];
        v += strip->along[k] * g->v[k];
        at += strip->along[k] * g->at[k];
    }
    for (uint32_t cell = 0; cell < g->columns * g->rows; cell++) {
        const uint32_t column = cell % g->columns, row = cell / g->columns;
        const double place = at + u * (g->low_u + (column + 0.5) * g->cell) + v * (g->low_v + (row + 0.5) * g->cell);
        if (!(place >= strip->low && place <= strip->high)) s->cell_mark[cell] = CLOSED_CELL;
    }
}

/* Bits of those of LANES near points that are so near to the plane and to the middle that a component may begin there.
   Floats rule most of them out. */
SIMD_INLINE uint32_t begins_at(const planes_local *s, uint32_t first, double reach, double radius2) {
    const simd_f away = simd_f_load(s->near_distance + first);
    const simd_f at_u = simd_f_load(s->near_u + first), at_v = simd_f_load(s->near_v + first);
    const simd_f size = simd_f_max(away, simd_f_sub(simd_f_set(0), away));
    const simd_f about2 = simd_f_add(simd_f_mul(at_u, at_u), simd_f_mul(at_v, at_v));
    const uint32_t rest = s->near_count - first, valid = rest < LANES ? (1u << rest) - 1 : 255;
    if ((simd_f_at_most(about2, simd_f_set((float)(ROUNDED * radius2))) & valid) == 0) return 0;
    const simd_d u = simd_f_to_d(at_u), v = simd_f_to_d(at_v);
    const simd_d far2 = simd_d_add(simd_d_mul(u, u), simd_d_mul(v, v));
    return ~(simd_d_above(simd_f_to_d(size), simd_d_set(reach)) | simd_d_above(far2, simd_d_set(radius2))) & valid;
}

/* The columns or rows of a grid, from low on, that have what is within radius of 0, and one more on either side: floats
   tell which cell a point is in. */
static void cells_within(double low, double cell, double radius, uint32_t cells, uint32_t *first, uint32_t *end) {
    const double from = floor((-radius - low) / cell) - 1, to = floor((radius - low) / cell) + 2;
    *first = from > 0 ? (uint32_t)fmin(from, cells) : 0;
    *end = to > 0 ? (uint32_t)fmin(to, cells) : 0;
}

/* Whether a cell is open of those that a component may begin in. */
static bool may_begin(const planes_local *s, const planes_growth *g, double radius) {
    uint32_t first[2], end[2];
    cells_within(g->low_u, g->cell, radius, g->columns, &first[0], &end[0]);
    cells_within(g->low_v, g->cell, radius, g->rows, &first[1], &end[1]);
    for (uint32_t row = first[1]; row < end[1] && first[0] < end[0]; row++) {
        if (memchr(s->cell_mark + row * g->columns + first[0], 0, end[0] - first[0]) != NULL) return true;
    }
    return false;
}

/* Marks the cells of the component with the most points, of those that begin within radius, by 1, and no others. */
static bool find_component(planes_local *s, planes_growth *g, double radius) {
    const double significant = g->strays + 2 * sqrt(g->strays) + 1;
    const double between = g->strays + STRAY_SHARE * (g->density - g->strays);
    const double min = ceil(fmax(GROWTH_MIN_CELL, fmin(significant, between)));
    const double reach = 2 * g->noise, radius2 = radius * radius;
    const uint32_t count = s->near_count, cells = g->columns * g->rows, *near_cell = s->near_cell;
    close_cells(s, cells, (uint32_t)min);
    if (g->role != PLANES_ALONE) close_crossed_cells(s, cells);
    if (g->centred) close_leaning_cells(s, g);
    if (g->strip.bounded) close_outside(s, g);
    connected_cells best = {0, 0, 0};
    uint64_t points_of[MAX_NUMBER];
    uint8_t number = 2, best_number = 0, *mark = s->cell_mark;
    bool more = may_begin(s, g, radius);
    for (uint32_t first = 0; first < count && more; first += LANES) {
        for (uint32_t bits = begins_at(s, first, reach, radius2); bits != 0 && more; bits &= bits - 1) {
            const uint32_t cell = near_cell[first + (uint32_t)__builtin_ctz(bits)];
            if (mark[cell] != 0) continue;
            const connected_cells found = flood(s, g, cell, number);
            if (found.points > best.points) {
                best = found;
                best_number = number;
            }
            points_of[number++] = found.points;
            more = number < MAX_NUMBER && may_begin(s, g, radius);
        }
    }
    g->pieces = 0;
    for (uint8_t k = 2; k < number; k++) {
        if ((double)points_of[k] >= PIECE_SHARE * (double)best.points) g->pieces += (double)points_of[k];
    }
    for (uint32_t cell = 0; cell < cells; cell++) mark[cell] = best_number > 0 && mark[cell] == best_number;
    s->marked_first = best.first;
    s->marked_end = best.end;
    return best.points > 0;
}

/* Whether the points of a cell beside the rim lie to one side, but no farther off than where a surface goes on. Points
   beyond the reach of the plane's are at least as far off as that. */
static bool goes_on(const planes_local *s, const planes_growth *g, uint32_t cell) {
    const double sum = (double)s->cell_sum[cell], beyond = s->cell_beside[2 * cell + (sum > 0)];
    const double off = fabs(sum) + PLANES_REACH_NOISES * g->noise * beyond;
    return s->cell_in[cell] >= BESIDE_SHARE * g->density && !is_centred(s, g, cell) &&
           off <= STEPPED * g->noise * (s->cell_in[cell] + beyond);
}

/* The share of the cells beside the component of which something holds. */
static double share_beside(const planes_local *s, const planes_growth *g,
                           bool (*holds)(const planes_local *s, const planes_growth *g, uint32_t cell)) {
    const uint32_t last = s->marked_end / g->columns + 1, rows = last < g->rows - 1 ? last + 1 : g->rows - 1;
    const uint32_t above = s->marked_first / g->columns;
    uint32_t beside = 0, held = 0;
    for (uint32_t row = above > 2 ? above - 1 : 1; row < rows; row++) {
        for (uint32_t cell = row * g->columns + 1; cell + 1 < (row + 1) * g->columns; cell++) {
            if (!growth_is_beside(s, g, cell)) continue;
            beside++;
            held += holds(s, g, cell);
        }
    }
    return beside > 0 ? (double)held / beside : 0;
}

double planes_going_on(const planes_local *s, const planes_growth *g) { return share_beside(s, g, goes_on); }

/* Whether the points of a cell lie to one side, and near. */
static bool is_bending(const planes_local *s, const planes_growth *g, uint32_t cell) {
    const double near = (double)s->cell_in[cell] + s->cell_beside[2 * cell] + s->cell_beside[2 * cell + 1];
    const double own = near - BAND_VOLUMES * g->strays, sum = fabs((double)s->cell_sum[cell]);
    if (own < GROWTH_RIM_SHARE * (g->density - g->strays) || own < 1) return false;
    return sum > g->noise * fmax(GROWTH_RIM_NOISES * own, RIM_DEVIATION * sqrt(near)) &&
           sum <= PLANES_LEAVING * g->cell * own;
}

double planes_bending_rim(planes_local *s, const planes_growth *g) {
    memset(s->cell_sum, 0, (uint64_t)g->columns * g->rows * sizeof *s->cell_sum);
    for (uint32_t i = 0; i < s->near_count; i++) s->cell_sum[s->near_cell[i]] += s->near_distance[i];
    return share_beside(s, g, is_bending);
}

/* ---- what it is */

/* Cells, and strays: of the side that has fewer points, for the other may have another plane. */
static bool count_component(const planes_local *s, planes_growth *g, double count, double *strays) {
    const uint32_t *in = s->cell_in, *beside = s->cell_beside;
    uint32_t marked = 0;
    uint64_t sides[2] = {0, 0}, squares = 0;
    for (uint32_t cell = s->marked_first; cell < s->marked_end; cell++) {
        const uint64_t on = s->cell_mark[cell];
        marked += s->cell_mark[cell];
        sides[0] += on * beside[2 * cell];
        sides[1] += on * beside[2 * cell + 1];
        squares += on * in[cell] * in[cell];
    }
    const double cells = marked;
    if (count < GROWTH_MIN_COMPONENT) return growth_refuse(g, MOTE_PLANES_SCATTERED, count, GROWTH_MIN_COMPONENT);
    if (cells < MIN_CELLS) return growth_refuse(g, MOTE_PLANES_SCATTERED, cells, MIN_CELLS);
    *strays = fmin(fmin((double)sides[0], (double)sides[1]), 0.9 * count);
    g->count = count;
    g->area = cells * g->cell * g->cell;
    g->density = count / cells;
    g->strays = *strays / cells;
    g->crowding = sqrt(g->density * fmax((double)squares / count - 1, 0.5));
    if (g->density >= GROWTH_MIN_CONTRAST * g->strays) return true;
    return growth_refuse(g, MOTE_PLANES_DENSE_SIDE, g->strays / g->density, 1 / GROWTH_MIN_CONTRAST);
}

bool planes_in_component(const planes_local *s, const planes_growth *g, uint32_t i) {
    return s->cell_mark[s->near_cell[i]] != 0 && fabsf(s->near_distance[i]) <= (float)(PLANES_REACH_NOISES * g->noise);
}

uint32_t planes_list_component(planes_local *s, const planes_growth *g) {
    const uint32_t near = s->near_count, *cell = s->near_cell;
    const float *distance = s->near_distance, reach = (float)(PLANES_REACH_NOISES * g->noise);
    const uint8_t *mark = s->cell_mark;
    const simd_f most = simd_f_set(reach);
    uint32_t count = 0, *list = s->component;
    for (uint32_t first = 0; first < near; first += LANES) {
        const simd_f away = simd_f_load(distance + first);
        const uint32_t rest = near - first, some = rest < LANES ? rest : LANES;
        uint32_t marked = 0;
        for (uint32_t l = 0; l < some; l++) marked |= (uint32_t)mark[cell[first + l]] << l;
        marked &= simd_f_at_most(simd_f_max(away, simd_f_sub(simd_f_set(0), away)), most);
        simd_compress_indices(list + count, first, simd_mask(marked));
        count += (uint32_t)__builtin_popcount(marked);
    }
    return count;
}

typedef double moment_lanes __attribute__((vector_size(32)));

/* The moments of the listed points from a place, as planes_moments_add has them: four sums at once. */
static void sum_listed(const planes_local *s, uint32_t listed, const double from[3], planes_moments *m) {
    const planes_sample *sample = s->sample;
    moment_lanes first = {0, 0, 0, 0}, by_x = first, by_y = first;
    double zz = 0;
    for (uint32_t i = 0; i < listed; i++) {
        const uint32_t k = s->near_point[s->component[i]];
        const double x = (double)sample->x[k] - from[0], y = (double)sample->y[k] - from[1];
        const double z = (double)sample->z[k] - from[2];
        const moment_lanes at = {x, y, z, 0};
        first += at;
        by_x += x * at;
        by_y += y * at;
        zz += z * z;
    }
    const double products[PLANES_PRODUCTS] = {by_x[0], by_x[1], by_x[2], by_y[1], by_y[2], zz};
    m->count = listed;
    for (int k = 0; k < 3; k++) m->first[k] = first[k];
    memcpy(m->products, products, sizeof m->products);
}

/* How far the listed points are from the middle. Four maxima, for one would be waited for. */
static double farthest_of(const planes_local *s, uint32_t listed) {
    double farthest2[4] = {0, 0, 0, 0};
    for (uint32_t i = 0; i < listed; i++) {
        const double u = (double)s->near_u[s->component[i]], v = (double)s->near_v[s->component[i]];
        const double far2 = u * u + v * v;
        farthest2[i % 4] = far2 > farthest2[i % 4] ? far2 : farthest2[i % 4];
    }
    return sqrt(fmax(fmax(farthest2[0], farthest2[1]), fmax(farthest2[2], farthest2[3])));
}

bool planes_fit_component(planes_local *s, planes_growth *g) {
    planes_moments m;
    planes_local_fit fit;
    double strays;
    const double p[3] = {rint(g->at[0]), rint(g->at[1]), rint(g->at[2])};
    const uint32_t count = planes_list_component(s, g);
    sum_listed(s, count, p, &m);
    if (!count_component(s, g, m.count, &strays) || !planes_moments_fit(&m, &fit)) return false;
    double rms = fit.rms;
    if (g->turned) rms = sqrt(planes_moments_along(&m, g->normal));
    const double reach2 = PLANES_REACH_NOISES * PLANES_REACH_NOISES * g->noise * g->noise;
    const double variance = (m.count * rms * rms - strays * reach2 / 3) / (m.count - strays);
    const double sure = fmax(variance, 0.1 * rms * rms) * m.count / (m.count - 3);
    for (int k = 0; k < 3; k++) {
        if (!g->turned) g->normal[k] = fit.normal[k];
        g->at[k] = fit.middle[k] + p[k];
    }
    g->farthest = farthest_of(s, count);
    g->measured_noise = fmax(TRUNCATION * sqrt(sure), s->params.floor);
    g->noise = g->measured_noise;
    if (g->max_noise > 0) g->noise = fmax(fmin(g->noise, g->max_noise), NOISE_RANGE * g->max_noise);
    return true;
}

double planes_structure_of(const planes_local *s, double squares, double count) {
    double between = 0, cells = 0;
    for (uint32_t cell = s->marked_first; cell < s->marked_end; cell++) {
        if (s->cell_mark[cell] == 0) continue;
        const double sum = (double)s->cell_sum[cell];
        between += sum * sum / s->cell_in[cell];
        cells++;
    }
    return squares > 0 ? (between - cells * (squares / count)) / squares : 0;
}

/* How much what lies between cells is like itself some cells on in a direction: 1 or so of a surface that bends or
   waves, or has steps; of stripes, each off by something else, as of a scanner whose lines differ, next to nothing.
   variance: of the means of cells */
static double likeness_along(const planes_local *s, const planes_growth *g, int columns, int rows, double variance) {
    double squares = 0, lags = 0, next = 0;
    for (int lag = 1; lag <= MAX_LAG; lag++) {
        const int64_t step = (int64_t)lag * (rows * (int64_t)g->columns + columns);
        double sum = 0, pairs = 0, cells = 0;
        for (uint32_t cell = s->marked_first; cell < s->marked_end; cell++) {
            const int64_t other = cell + step, column = cell % g->columns + (int64_t)lag * columns;
            cells += s->cell_mark[cell];
            if (s->cell_mark[cell] == 0 || column < 0 || column >= g->columns) continue;
            if (other < s->marked_first || other >= s->marked_end || s->cell_mark[other] == 0) continue;
            sum += (double)s->cell_sum[cell] / s->cell_in[cell] * (double)s->cell_sum[other] / s->cell_in[other];
            pairs++;
        }
        if (pairs < fmax(0.5 * cells, MIN_PAIRS)) break;
        const double alike = sum / pairs / variance;
        if (lag == 1) next = fabs(alike);
        if (next > GROWTH_MAX_LIKENESS) return next;
        squares += alike * alike;
        lags++;
    }
    return lags >= MIN_LAGS ? fmax(next, sqrt(squares / lags)) : 1;
}

/* The least likeness in four directions. */
static double likeness_of(const planes_local *s, const planes_growth *g, double variance) {
    static const int directions[4][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    const bool is_asked = g->structure > MIN_STRUCTURE && g->structure <= GROWTH_MAX_STRUCTURE;
    double least = 1;
    for (int k = 0; k < 4 && is_asked; k++) {
        least = fmin(least, likeness_along(s, g, directions[k][0], directions[k][1], g->structure * variance));
    }
    return least;
}

/* The share of the variance of the listed points that a quadratic surface explains beyond a plane. */
static double curvature_of(const planes_local *s, const planes_growth *g, uint32_t listed) {
    planes_quadratic curve;
    const double by = 1 / sqrt(g->area);
    memset(&curve, 0, sizeof curve);
    for (uint32_t k = 0; k < listed; k++) {
        const uint32_t i = s->component[k];
        planes_quadratic_add(&curve, by * (double)s->near_u[i], by * (double)s->near_v[i],
                             (double)s->near_distance[i] / g->noise, 1);
    }
    return planes_quadratic_share(&curve);
}

/* The share of the listed points that face closely along the plane, of those that face a way that is known. */
static double along_of(const planes_local *s, const planes_growth *g, uint32_t listed) {
    const planes_facing *facing = &s->facing;
    uint32_t known = 0, along = 0;
    for (uint32_t k = 0; k < listed && facing->unknown != NULL; k++) {
        const uint32_t point = s->near_point[s->component[k]];
        double cosine = 0;
        for (int axis = 0; axis < 3; axis++) cosine += (double)facing->normal[axis][point] * g->normal[axis];
        known += !(facing->unknown[point] > 0);
        along += fabs(cosine) >= CLOSELY;
    }
    return known > 0 ? (double)along / known : 1;
}

bool planes_describe_component(planes_local *s, planes_growth *g) {
    double squares = 0, strays, central = 0, middle = 0, side[2] = {0, 0};
    float low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    const uint32_t listed = planes_list_component(s, g);
    memset(s->cell_sum, 0, (uint64_t)g->columns * g->rows * sizeof *s->cell_sum);
    for (uint32_t k = 0; k < listed; k++) {
        const uint32_t i = s->component[k];
        const double distance = (double)s->near_distance[i], noises = distance / g->noise, size = fabs(noises);
        const float at[2] = {s->near_u[i], s->near_v[i]};
        squares += distance * distance;
        central += size < 0.6745;
        middle += size < 1;
        side[noises > 0] += size > 1.75 && size < 2.75;
        s->cell_sum[s->near_cell[i]] += s->near_distance[i];
        for (int axis = 0; axis < 2; axis++) {
            low[axis] = at[axis] < low[axis] ? at[axis] : low[axis];
            high[axis] = at[axis] > high[axis] ? at[axis] : high[axis];
        }
    }
    for (int axis = 0; axis < 2; axis++) {
        g->low[axis] = (double)low[axis];
        g->high[axis] = (double)high[axis];
    }
    const double count = listed;
    if (!count_component(s, g, count, &strays)) return false;
    g->central = (central - 0.2248 * strays) / (count - strays);
    g->shoulders[0] = fmin(side[0], side[1]) / (0.5 * middle + 1e-9);
    g->shoulders[1] = fmax(side[0], side[1]) / (0.5 * middle + 1e-9);
    g->structure = planes_structure_of(s, squares, count);
    g->likeness = likeness_of(s, g, squares / count);
    g->along = g->turned ? 1 : along_of(s, g, listed);
    g->curvature = listed < FEW_POINTS ? curvature_of(s, g, listed) : 0;
    return true;
}

bool planes_find_component(planes_local *s, planes_growth *g, double radius) {
    planes_take_near(s, g, GROWTH_BESIDE * g->noise);
    if (!planes_lay_grid(s, g)) return false;
    planes_count_cells(s, g);
    return find_component(s, g, radius);
}

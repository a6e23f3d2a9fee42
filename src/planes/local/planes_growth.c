/* Growth: from a patch to all of its plane. In turns the points near the plane so far are laid out on it in cells, the
   connected cells around the patch are fitted by least squares, and where that changes nothing, the plane is done.
   Points that another plane explains better do not take part. */
#include <math.h>
#include <string.h>

#include "math/simd.h"
#include "planes/local/planes_local.h"

#define LANES            PLANES_LOCAL_LANES
#define TURNS            16
#define MANY_POINTS      40000.0 /* near a growth: where there are more, it settles with fewer of them first */
#define LARGE_SAMPLE     65536u  /* points: in more, planes have few of all */
#define FIRST_REACH      4.0     /* times the points of its patch: about as many are near it at first */
#define BESIDE           9.0     /* noises: how far from the plane points are beside it: as many volumes as in it */
#define POINTS_A_CELL    8.0
#define ENOUGH_CELLS     8.0 /* that a component of few points has, if */
#define FEW_A_CELL       4.0 /*   they have so many points */
#define MIN_CELL         2.0 /* points: of the component */
#define STRAY_SHARE      0.4 /* of the way from strays to points: between them a cell is the plane's */
#define MIN_CONTRAST     1.6 /* points to strays of a cell */
#define MIN_COMPONENT    8.0 /* points */
#define MIN_CELLS        3.0
#define NOISE_GROWS      2.0 /* times that of the patch, and it is something else that grows */
#define NOISE_SHRINKS    0.3
#define NEARLY_ALL       0.6   /* of the points of a patch: steps of a sensor share them out */
#define NOISE_RANGE      0.55  /* of the largest noise, where that is known: the least */
#define TRUNCATION       1.014 /* what is cut at 3 deviations looks so much narrower */
#define LAY_TURNS        2     /* the second with cells of as many points as the plane has where it is */
#define LAY_SHARE        0.35  /* of these points, a cell of the plane has */
#define SETTLED          0.01  /* of the points: where so few change, it is done */
#define MAX_NUMBER       250u  /* components that begin near the patch */
#define PIECE_SHARE      0.2   /* of the points of the largest component: others that large are the plane's, too */
#define PLANE_FLATNESS   0.1   /* the noise is below so much of the root of the area */
#define MAX_SHOULDERS    0.45  /* density on the less dense side; 0.11 of a plane alone, 1 of points spread evenly */
#define MAX_SHOULDER     0.85  /* and on the other, where another plane may be near */
#define MIN_CENTRAL      0.44
#define MAX_STRUCTURE    0.25
#define CENTRED          1.0  /* noises: how far the mean of a centred cell's points is off, at most */
#define MEAN_DEVIATIONS  3.0  /* or so many deviations of a mean of so few points */
#define BESIDE_SHARE     0.5  /* of the points of a cell, one beside the rim has where a surface goes on */
#define MAX_GOING_ON     0.1  /* share of the rim */
#define MAX_RIM_OF_REST  0.3  /* the same of what is left once the noise is known: mostly pieces of curves */
#define MAX_BENDING      0.15 /* share of the rim, of what seems to bend itself: of planes one in 700 has more */
#define SEEMS_CURVED     6.25 /* points' worth of the variance a curve explains, of one plane in ten by chance */
#define MAX_CURVED       0.08 /* structure of a centred one: a piece of a curve has 0.1 to 0.3, a plane none */
#define LOOSE_SHOULDERS  0.6  /* the same while planes that cross it may not be known yet */
#define LOOSE_CENTRAL    0.36
#define LOOSE_STRUCTURE  0.45
#define FEW_POINTS       256u  /* below, cells are too few to tell a curve */
#define CURVED           0.25  /* of the variance, that a curve explains */
#define CURVED_BY_CHANCE 10.0  /* and so much by chance, of one point */
#define MAX_NOISE        1.2   /* times the largest, measured */
#define FILLED           0.8   /* of the quarters of cells that points spread evenly have: a curve has fewer */
#define MIN_LINE         160.0 /* points: of fewer, where planes have few, a curve is not told from a strip */
#define FILLED_CELLS     0.7   /* the same of cells in fours; rims have fewer */
#define FILLED_BY_CHANCE 0.7   /* and so much less, of one point */
#define LAYER_SHARE      0.05  /* of a cell: how near to an exact plane points are those of other layers */
#define MAX_LAYERS       1.0   /* points of these, to those of the plane */
#define ENOUGH_TO_TELL   400.0 /* points of a component that tell early that it will come to nothing */
#define FAR_STRUCTURE    0.4   /* structure that no turn takes away any more */
#define FAR_GOING_ON     0.3   /* share of the rim, twice one after the other, of a centred one */
#define TOLD_NOISE       1.5   /* floors: below, points say nothing of how they lie about the plane */

/* ---- what comes to nothing */

static bool refuse(planes_growth *g, mote_planes_reason reason, double value, double limit) {
    g->reason = reason;
    g->value = value;
    g->limit = limit;
    return false;
}

void planes_refuse_growth(const planes_local *s, const planes_growth *g, double points) {
    planes_refused refused;
    if (s->params.refusals == NULL) return;
    memset(&refused, 0, sizeof refused);
    refused.reason = g->reason;
    memcpy(refused.normal, g->normal, sizeof refused.normal);
    memcpy(refused.at, g->at, sizeof refused.at);
    refused.points = points;
    refused.noise = g->noise;
    refused.size = sqrt(g->area);
    refused.value = g->value;
    refused.limit = g->limit;
    planes_refuse(s->params.refusals, &refused);
}

/* ---- components */

/* While components are looked for, a cell that no component may have is marked, too. */
#define CLOSED_CELL 255

/* Marks the cells connected with start that are open; returns how many points they have. The rim is closed.
   open: the open cells that are left */
static uint64_t flood(planes_local *s, const planes_growth *g, uint32_t start, uint8_t number, uint32_t *open) {
    const uint32_t columns = g->columns, cells = g->columns * g->rows, *in = s->cell_in;
    uint32_t *stack = s->cell_stack;
    uint8_t *mark = s->cell_mark;
    uint64_t points = 0;
    uint32_t depth = 0, marked = 1;
    mark[start] = number;
    stack[depth++] = start;
    while (depth > 0) {
        const uint32_t cell = stack[--depth];
        points += in[cell];
        for (uint32_t row = 0; row < 3; row++) {
            const uint32_t first = cell + row * columns - columns - 1;
            for (uint32_t other = first; other != first + 3; other++) {
                if (other >= cells || mark[other] != 0) continue;
                mark[other] = number;
                stack[depth++] = other;
                marked++;
            }
        }
    }
    *open -= marked;
    return points;
}

/* Closes the cells that have fewer points; returns how many are open. */
static uint32_t close_cells(planes_local *s, uint32_t cells, uint32_t min) {
    const uint32_t *in = s->cell_in;
    uint8_t *restrict mark = s->cell_mark;
    uint32_t open = 0;
    for (uint32_t cell = 0; cell < cells; cell++) {
        mark[cell] = in[cell] < min ? CLOSED_CELL : 0;
        open += in[cell] >= min;
    }
    return open;
}

/* Whether the points of a cell lie to both sides of the plane. */
static bool is_centred(const planes_local *s, const planes_growth *g, uint32_t cell) {
    const double count = s->cell_in[cell], limit = g->noise * fmax(CENTRED * count, MEAN_DEVIATIONS * sqrt(count));
    return fabs((double)s->cell_sum[cell]) <= limit;
}

/* Sums up the distances of each cell. */
static void sum_distances(planes_local *s, const planes_growth *g) {
    const uint32_t cells = g->columns * g->rows;
    const float reach = (float)(PLANES_REACH_NOISES * g->noise);
    memset(s->cell_sum, 0, cells * sizeof *s->cell_sum);
    for (uint32_t i = 0; i < s->near_count; i++) {
        const float distance = s->near_distance[i];
        s->cell_sum[s->near_cell[i]] += fabsf(distance) <= reach ? distance : 0;
    }
}

/* Sums the distances up, and closes the cells whose points lie to one side; returns how many are open. */
static uint32_t close_leaning_cells(planes_local *s, const planes_growth *g, uint32_t open) {
    const uint32_t cells = g->columns * g->rows;
    sum_distances(s, g);
    for (uint32_t cell = 0; cell < cells; cell++) {
        if (s->cell_mark[cell] != 0 || is_centred(s, g, cell)) continue;
        s->cell_mark[cell] = CLOSED_CELL;
        open--;
    }
    return open;
}

/* Bits of those of LANES near points that are so near to the plane and to the middle that a component may begin there.
 */
SIMD_INLINE uint32_t begins_at(const planes_local *s, uint32_t first, simd_d reach, simd_d radius2) {
    const simd_f away = simd_f_load(s->near_distance + first);
    const simd_d distance = simd_f_to_d(simd_f_max(away, simd_f_sub(simd_f_set(0), away)));
    const simd_d u = simd_f_to_d(simd_f_load(s->near_u + first)), v = simd_f_to_d(simd_f_load(s->near_v + first));
    const simd_d far2 = simd_d_add(simd_d_mul(u, u), simd_d_mul(v, v));
    const uint32_t rest = s->near_count - first, valid = rest < LANES ? (1u << rest) - 1 : 255;
    return ~(simd_d_above(distance, reach) | simd_d_above(far2, radius2)) & valid;
}

/* Marks the cells of the component with the most points, of those that begin within radius, by 1, and no others. */
static bool find_component(planes_local *s, planes_growth *g, double radius) {
    const double significant = g->strays + 2 * sqrt(g->strays) + 1;
    const double between = g->strays + STRAY_SHARE * (g->density - g->strays);
    const double min = ceil(fmax(MIN_CELL, fmin(significant, between)));
    const simd_d reach = simd_d_set(2 * g->noise), radius2 = simd_d_set(radius * radius);
    const uint32_t count = s->near_count, cells = g->columns * g->rows, *near_cell = s->near_cell;
    uint32_t open = close_cells(s, cells, (uint32_t)min);
    if (g->centred) open = close_leaning_cells(s, g, open);
    uint64_t best_points = 0, points_of[MAX_NUMBER];
    uint8_t number = 2, best = 0, *mark = s->cell_mark;
    for (uint32_t first = 0; first < count && number < MAX_NUMBER && open > 0; first += LANES) {
        for (uint32_t bits = begins_at(s, first, reach, radius2); bits != 0 && number < MAX_NUMBER; bits &= bits - 1) {
            const uint32_t cell = near_cell[first + (uint32_t)__builtin_ctz(bits)];
            if (mark[cell] != 0) continue;
            const uint64_t points = flood(s, g, cell, number, &open);
            if (points > best_points) {
                best_points = points;
                best = number;
            }
            points_of[number++] = points;
        }
    }
    g->pieces = 0;
    for (uint8_t k = 2; k < number; k++) {
        if ((double)points_of[k] >= PIECE_SHARE * (double)best_points) g->pieces += (double)points_of[k];
    }
    for (uint32_t cell = 0; cell < cells; cell++) mark[cell] = best > 0 && mark[cell] == best;
    return best_points > 0;
}

/* Whether a cell, none of the rim of the grid, is beside the component. */
static bool is_beside(const planes_local *s, const planes_growth *g, uint32_t cell) {
    const uint8_t *mark = s->cell_mark;
    return mark[cell] == 0 &&
           (mark[cell - 1] | mark[cell + 1] | mark[cell - g->columns] | mark[cell + g->columns]) != 0;
}

/* The share of the cells beside the component that have points of a surface that goes on to one side: a piece of
   something curved. sums: of the distances of each cell are in the scratch. */
static double going_on(const planes_local *s, const planes_growth *g) {
    const double min = BESIDE_SHARE * g->density;
    uint32_t beside = 0, on = 0;
    for (uint32_t row = 1; row + 1 < g->rows; row++) {
        for (uint32_t cell = row * g->columns + 1; cell + 1 < (row + 1) * g->columns; cell++) {
            if (!is_beside(s, g, cell)) continue;
            beside++;
            on += s->cell_in[cell] >= min && !is_centred(s, g, cell);
        }
    }
    return beside > 0 ? (double)on / beside : 0;
}

/* ---- what a component is */

/* Cells, and strays: of the side that has fewer points, for the other may have another plane. */
static bool count_component(const planes_local *s, planes_growth *g, double count, double *strays) {
    const uint32_t all = g->columns * g->rows, *in = s->cell_in, *beside = s->cell_beside;
    uint32_t marked = 0;
    uint64_t sides[2] = {0, 0}, squares = 0;
    for (uint32_t cell = 0; cell < all; cell++) {
        const uint64_t on = s->cell_mark[cell];
        marked += s->cell_mark[cell];
        sides[0] += on * beside[2 * cell];
        sides[1] += on * beside[2 * cell + 1];
        squares += on * in[cell] * in[cell];
    }
    const double cells = marked;
    if (count < MIN_COMPONENT) return refuse(g, MOTE_PLANES_SCATTERED, count, MIN_COMPONENT);
    if (cells < MIN_CELLS) return refuse(g, MOTE_PLANES_SCATTERED, cells, MIN_CELLS);
    *strays = fmin(fmin((double)sides[0], (double)sides[1]), 0.9 * count);
    g->count = count;
    g->area = cells * g->cell * g->cell;
    g->density = count / cells;
    g->strays = *strays / cells;
    g->crowding = sqrt(g->density * fmax((double)squares / count - 1, 0.5));
    if (g->density >= MIN_CONTRAST * g->strays) return true;
    return refuse(g, MOTE_PLANES_DENSE_SIDE, g->strays / g->density, 1 / MIN_CONTRAST);
}

static bool is_in_component(const planes_local *s, const planes_growth *g, uint32_t i) {
    return s->cell_mark[s->near_cell[i]] != 0 && fabsf(s->near_distance[i]) <= (float)(PLANES_REACH_NOISES * g->noise);
}

/* Lists the component's points among those that are near; returns how many. */
static uint32_t list_component(planes_local *s, const planes_growth *g) {
    const uint32_t near = s->near_count, *cell = s->near_cell;
    const float *distance = s->near_distance, reach = (float)(PLANES_REACH_NOISES * g->noise);
    const uint8_t *mark = s->cell_mark;
    uint32_t count = 0, *list = s->component;
    for (uint32_t i = 0; i < near; i++) {
        list[count] = i;
        count += (uint32_t)(mark[cell[i]] != 0) & (uint32_t)(fabsf(distance[i]) <= reach);
    }
    return count;
}

/* Least squares of the component's points; strays are taken out of the noise. */
static bool fit_component(planes_local *s, planes_growth *g) {
    const planes_sample *sample = s->sample;
    planes_moments m;
    planes_local_fit fit;
    double strays, farthest2 = 0;
    const double p[3] = {rint(g->at[0]), rint(g->at[1]), rint(g->at[2])};
    const uint32_t count = list_component(s, g), *list = s->component;
    memset(&m, 0, sizeof m);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t k = s->near_point[list[i]];
        const double u = (double)s->near_u[list[i]], v = (double)s->near_v[list[i]], far2 = u * u + v * v;
        planes_moments_add(&m, (double)sample->x[k] - p[0], (double)sample->y[k] - p[1], (double)sample->z[k] - p[2]);
        farthest2 = far2 > farthest2 ? far2 : farthest2;
    }
    if (!count_component(s, g, m.count, &strays) || !planes_moments_fit(&m, &fit)) return false;
    double rms = fit.rms;
    if (g->turned) rms = sqrt(planes_moments_along(&m, g->normal, fit.middle));
    const double reach2 = PLANES_REACH_NOISES * PLANES_REACH_NOISES * g->noise * g->noise;
    const double variance = (m.count * rms * rms - strays * reach2 / 3) / (m.count - strays);
    const double sure = fmax(variance, 0.1 * rms * rms) * m.count / (m.count - 3);
    for (int k = 0; k < 3; k++) {
        if (!g->turned) g->normal[k] = fit.normal[k];
        g->at[k] = fit.middle[k] + p[k];
    }
    g->farthest = sqrt(farthest2);
    g->measured_noise = fmax(TRUNCATION * sqrt(sure), s->params.floor);
    g->noise = g->measured_noise;
    if (g->max_noise > 0) g->noise = fmax(fmin(g->noise, g->max_noise), NOISE_RANGE * g->max_noise);
    return true;
}

/* The share of the variance that lies between cells, beyond what chance gives. */
static double structure_of(const planes_local *s, const planes_growth *g, double squares, double count) {
    double between = 0, cells = 0;
    for (uint32_t cell = 0; cell < g->columns * g->rows; cell++) {
        if (s->cell_mark[cell] == 0) continue;
        const double sum = (double)s->cell_sum[cell];
        between += sum * sum / s->cell_in[cell];
        cells++;
    }
    return squares > 0 ? (between - cells * (squares / count)) / squares : 0;
}

#define QUADRATIC 6 /* 1, u, v, u u, u v, v v */

/* The share of the variance that the quadratic terms explain, of what a plane does not: by Cholesky's decomposition of
   the normal equations, where what each term adds is a square. squares: of the distances. */
static double share_of_curve(double products[QUADRATIC][QUADRATIC], double with_distance[QUADRATIC], double squares) {
    double rest = squares, curve = 0;
    for (int k = 0; k < QUADRATIC; k++) {
        const double whole = products[k][k];
        for (int i = 0; i < k; i++) products[k][k] -= products[k][i] * products[k][i];
        for (int i = 0; i < k; i++) with_distance[k] -= products[k][i] * with_distance[i];
        if (!(products[k][k] > 1e-9 * whole)) return 0;
        products[k][k] = sqrt(products[k][k]);
        with_distance[k] /= products[k][k];
        for (int row = k + 1; row < QUADRATIC; row++) {
            for (int i = 0; i < k; i++) products[row][k] -= products[row][i] * products[k][i];
            products[row][k] /= products[k][k];
        }
        const double explained = with_distance[k] * with_distance[k];
        if (k < 3) rest -= explained;
        if (k >= 3) curve += explained;
    }
    return rest > 0 ? curve / rest : 0;
}

/* Of the points of a component that are listed. */
static double curvature_of(const planes_local *s, const planes_growth *g, uint32_t listed) {
    double products[QUADRATIC][QUADRATIC], with_distance[QUADRATIC], squares = 0;
    const double by = 1 / sqrt(g->area);
    memset(products, 0, sizeof products);
    memset(with_distance, 0, sizeof with_distance);
    for (uint32_t k = 0; k < listed; k++) {
        const uint32_t i = s->component[k];
        const double u = by * (double)s->near_u[i], v = by * (double)s->near_v[i];
        const double distance = (double)s->near_distance[i] / g->noise;
        const double terms[QUADRATIC] = {1, u, v, u * u, u * v, v * v};
        for (int row = 0; row < QUADRATIC; row++) {
            for (int column = 0; column <= row; column++) products[row][column] += terms[row] * terms[column];
            with_distance[row] += terms[row] * distance;
        }
        squares += distance * distance;
    }
    return share_of_curve(products, with_distance, squares);
}

static bool describe_component(planes_local *s, planes_growth *g) {
    double squares = 0, strays, central = 0, middle = 0, side[2] = {0, 0};
    float low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    const uint32_t listed = list_component(s, g);
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
    g->structure = structure_of(s, g, squares, count);
    g->curvature = listed < FEW_POINTS ? curvature_of(s, g, listed) : 0;
    return true;
}

static bool lay_component(planes_local *s, planes_growth *g, double radius) {
    planes_take_near(s, g, BESIDE * g->noise);
    if (!planes_lay_grid(s, g)) return false;
    planes_count_cells(s, g);
    return find_component(s, g, radius);
}

/* Whether planes may have so few points that they have small cells. */
static bool has_few(const planes_local *s) { return s->params.min_points < ENOUGH_CELLS * POINTS_A_CELL; }

/* Whether the noise is that of the representation. */
static bool is_exact(const planes_local *s, const planes_growth *g) { return g->noise <= TOLD_NOISE * s->params.floor; }

/* How many of the quarters of the component's cells have points, to how many have of points spread evenly: next to 1,
   but 0.5 to 0.7 where the points are on a curve. */
static double share_filled(planes_local *s, const planes_growth *g) {
    const uint32_t listed = list_component(s, g), cells = g->columns * g->rows;
    const double by = 2 / g->cell;
    double filled = 0, expected = 0;
    uint32_t *quarters = s->cell_stack;
    memset(quarters, 0, cells * sizeof *quarters);
    for (uint32_t k = 0; k < listed; k++) {
        const uint32_t i = s->component[k];
        const uint32_t column = (uint32_t)(((double)s->near_u[i] - g->low_u) * by) & 1;
        const uint32_t row = (uint32_t)(((double)s->near_v[i] - g->low_v) * by) & 1;
        quarters[s->near_cell[i]] |= 1u << (2 * row + column);
    }
    for (uint32_t cell = 0; cell < cells; cell++) {
        if (s->cell_mark[cell] == 0) continue;
        filled += __builtin_popcount(quarters[cell]);
        expected += 4 * (1 - pow(0.75, s->cell_in[cell]));
    }
    return expected > 0 ? filled / expected : 1;
}

/* The same of cells in fours: lines of a scanner that are far apart fill these. */
static double share_of_cells(const planes_local *s, const planes_growth *g) {
    double filled = 0, expected = 0;
    for (uint32_t row = 0; row < g->rows; row += 2) {
        for (uint32_t column = 0; column < g->columns; column += 2) {
            double points = 0, marked = 0;
            for (uint32_t k = 0; k < 4; k++) {
                const uint32_t r = row + k / 2, c = column + k % 2, cell = r * g->columns + c;
                if (r >= g->rows || c >= g->columns || s->cell_mark[cell] == 0) continue;
                points += s->cell_in[cell];
                marked++;
            }
            filled += marked;
            expected += 4 * (1 - pow(0.75, points));
        }
    }
    return expected > 0 ? filled / expected : 1;
}

/* Whether the points are on a curve: a scanner's line is on a plane, too, but fills none. Refused then. */
static bool is_curve(planes_local *s, planes_growth *g) {
    const double filled = share_filled(s, g), min = FILLED - FILLED_BY_CHANCE / sqrt(g->count);
    if (filled >= min || g->turned) return false;
    if (!is_exact(s, g) && ((has_few(s) && g->count < MIN_LINE) || share_of_cells(s, g) >= FILLED_CELLS)) return false;
    return !refuse(g, MOTE_PLANES_STRUCTURE, 1 - filled, 1 - min);
}

/* Points so near to an exact plane that they could be of another layer of the representation, to the plane's points.
   What is in the scratch goes. */
static double share_of_layers(planes_local *s, const planes_growth *g) {
    const float reach = (float)(PLANES_REACH_NOISES * g->noise);
    uint32_t others = 0;
    planes_take_near(s, g, fmax(LAYER_SHARE * g->cell, PLANES_REACH_NOISES * g->noise));
    for (uint32_t i = 0; i < s->near_count; i++) {
        const double column = floor(((double)s->near_u[i] - g->low_u) / g->cell);
        const double row = floor(((double)s->near_v[i] - g->low_v) / g->cell);
        if (!(column >= 0 && column < g->columns && row >= 0 && row < g->rows)) continue;
        others +=
            s->cell_mark[(uint32_t)row * g->columns + (uint32_t)column] != 0 && fabsf(s->near_distance[i]) > reach;
    }
    return others / g->count;
}

/* Whether a plane without noise is there because coordinates are whole steps: a layer of several. Refused then. */
static bool is_of_representation(planes_local *s, planes_growth *g) {
    const double layers = share_of_layers(s, g);
    if (layers > MAX_LAYERS) return !refuse(g, MOTE_PLANES_DENSE_SIDE, layers, MAX_LAYERS);
    return !lay_component(s, g, g->radius);
}

/* The tests, with limits of their own. */
typedef struct growth_limits {
    double shoulders, shoulder, central, structure;
} growth_limits;

/* Where the noise is known, points of others have no part in it any more: then no more than one plane has. */
static double max_structure(const planes_growth *g, const growth_limits *limits) {
    if (g->centred) return MAX_CURVED;
    return g->max_noise > 0 ? fmin(planes_one_structure(g), limits->structure) : limits->structure;
}

static bool stands(const planes_local *s, planes_growth *g, const growth_limits *limits) {
    const double strays = g->strays * (g->area / (g->cell * g->cell)), side = sqrt(g->area);
    const double own = (g->count - strays) * (double)(1u << g->level);
    const double min_central = limits->central - 1 / sqrt(g->count);
    if (own < s->params.min_points) return refuse(g, MOTE_PLANES_FEW_POINTS, fmax(own, 0), s->params.min_points);
    if (g->noise > PLANE_FLATNESS * side) return refuse(g, MOTE_PLANES_THICK, g->noise / side, PLANE_FLATNESS);
    if (g->max_noise > 0 && g->measured_noise > MAX_NOISE * g->max_noise) {
        return refuse(g, MOTE_PLANES_UNLIKE, g->measured_noise, MAX_NOISE * g->max_noise);
    }
    if (is_exact(s, g)) return true;
    for (int k = 0; k < 2; k++) {
        const double limit = k == 0 ? limits->shoulders : limits->shoulder;
        if (g->shoulders[k] > limit) return refuse(g, MOTE_PLANES_DENSE_SIDE, g->shoulders[k], limit);
    }
    if (g->central < min_central) return refuse(g, MOTE_PLANES_NO_PEAK, g->central, min_central);
    const double max_going_on = g->centred ? MAX_GOING_ON : MAX_RIM_OF_REST;
    if (g->going_on > max_going_on) return refuse(g, MOTE_PLANES_STRUCTURE, g->going_on, max_going_on);
    const double curvature = CURVED + CURVED_BY_CHANCE / g->count;
    if (g->curvature > curvature) return refuse(g, MOTE_PLANES_STRUCTURE, g->curvature, curvature);
    const double structure = max_structure(g, limits);
    if (g->structure > structure) return refuse(g, MOTE_PLANES_STRUCTURE, g->structure, structure);
    if (g->bending <= MAX_BENDING || g->curvature * g->count <= SEEMS_CURVED) return true;
    return refuse(g, MOTE_PLANES_STRUCTURE, g->bending, MAX_BENDING);
}

bool planes_growth_stands(const planes_local *s, planes_growth *g) {
    static const growth_limits strict = {MAX_SHOULDERS, MAX_SHOULDER, MIN_CENTRAL, MAX_STRUCTURE};
    return stands(s, g, &strict);
}

bool planes_growth_may_stand(const planes_local *s, planes_growth *g) {
    static const growth_limits loose = {LOOSE_SHOULDERS, MAX_SHOULDER, LOOSE_CENTRAL, LOOSE_STRUCTURE};
    return stands(s, g, &loose);
}

/* ---- growth */

static void look_farther(planes_growth *g) {
    g->look = 2 * fmax(g->farthest, g->radius) + 3 * g->cell + BESIDE * g->noise;
}

/* Where planes may have few points, those that do have smaller cells, or it would be too few of them to be
   connected. */
static double next_cell(const planes_local *s, const planes_growth *g) {
    const double points = has_few(s) ? fmin(fmax(g->count / ENOUGH_CELLS, FEW_A_CELL), POINTS_A_CELL) : POINTS_A_CELL;
    const double cell = g->cell * sqrt(points / fmax(g->crowding - g->strays, 0.5));
    return g->max_cell > 0 ? fmin(cell, g->max_cell) : cell;
}

static void begin(const planes_patch *patch, double max_noise, double max_cell, int32_t self, planes_growth *g) {
    memset(g, 0, sizeof *g);
    memcpy(g->normal, patch->normal, sizeof g->normal);
    memcpy(g->at, patch->at, sizeof g->at);
    g->self = self;
    g->turned = patch->turned;
    g->centred = patch->centred;
    g->max_noise = max_noise;
    g->max_cell = max_cell;
    g->noise = max_noise > 0 ? fmin(patch->noise, max_noise) : patch->noise;
    g->density = POINTS_A_CELL;
    g->radius = 1.5 * patch->size;
    refuse(g, MOTE_PLANES_SCATTERED, 0, MIN_COMPONENT); /* unless something else is said */
    /* The patch as a disc: its radius is the root mean square distance to its middle times the root of 2. */
    const double area = 2 * 3.14159265358979323846 * patch->size * patch->size;
    g->cell = sqrt(POINTS_A_CELL * area / patch->count / patch->stride);
}

/* Whether nearly all points of a patch are on the plane that has grown of it. */
static bool has_patch(const planes_local *s, const planes_patch *p, const planes_growth *g) {
    const double normals[2][3] = {{p->normal[0], p->normal[1], p->normal[2]},
                                  {g->normal[0], g->normal[1], g->normal[2]}};
    const double *at[2] = {p->at, g->at}, reach[2] = {2.5 * p->noise, PLANES_REACH_NOISES * g->noise};
    uint32_t on[2] = {0, 0}, seen = 0;
    for (uint32_t i = p->first; i < p->first + p->window && seen < PLANES_LOCAL_WINDOW; i += p->stride, seen++) {
        const double point[3] = {(double)s->sample->x[i], (double)s->sample->y[i], (double)s->sample->z[i]};
        bool near = true;
        for (int k = 0; k < 2; k++) {
            double distance = 0;
            for (int axis = 0; axis < 3; axis++) distance += normals[k][axis] * (point[axis] - at[k][axis]);
            near = near && fabs(distance) <= reach[k];
            on[k] += near;
        }
    }
    return on[1] >= NEARLY_ALL * on[0];
}

/* Whether the growth has become something else than the patch: its noise rises, or it falls into thinner layers. */
static bool is_something_else(const planes_local *s, const planes_patch *patch, planes_growth *g) {
    const double max = fmax(NOISE_GROWS * patch->noise, 2 * s->params.floor), share = g->noise / patch->noise;
    if (g->noise > max) return !refuse(g, MOTE_PLANES_THICKENS, g->noise, max);
    if (share >= NOISE_SHRINKS || g->max_noise > 0) return false;
    if (is_exact(s, g) && has_patch(s, patch, g)) return false;
    return !refuse(g, MOTE_PLANES_STRUCTURE, 1 - share * share, 1 - NOISE_SHRINKS * NOISE_SHRINKS);
}

void planes_take_level(planes_growth *g, uint32_t level) {
    const double fewer = ldexp(1, (int)g->level - (int)level);
    g->cell /= sqrt(fewer);
    g->count *= fewer;
    g->level = level;
}

/* Whether planes have few of all points. */
static bool is_large(const planes_local *s) { return s->sample->count > LARGE_SAMPLE; }

/* Thins the points out where very many are near. near: of the sample, about. */
static void take_fewer(planes_growth *g, double near) {
    uint32_t level = 0;
    while (level + 1 < PLANES_LOCAL_LEVELS && near > MANY_POINTS * (double)(1u << level)) level++;
    if (level > g->level) planes_take_level(g, level);
}

/* The share of the variance between the cells of the component that was fitted last. Distances of cells are in the
   scratch. */
static double structure_so_far(const planes_local *s, const planes_growth *g) {
    double squares = 0;
    const uint32_t count = (uint32_t)g->count;
    for (uint32_t k = 0; k < count; k++) {
        const double distance = (double)s->near_distance[s->component[k]];
        squares += distance * distance;
    }
    return structure_of(s, g, squares, count);
}

/* Whether a growth of many points, which would go on for long, will come to nothing: among planes of a known noise it
   is noisier, and bent; centred, among very many points, it goes on to one side.
   laid   the growth as its component was laid out
   first  it is in its first turn */
static bool is_in_vain(planes_local *s, const planes_growth *laid, bool first, planes_growth *g) {
    if (g->count < ENOUGH_TO_TELL || g->turned || g->self >= 0) return false;
    if (g->centred) {
        if (!is_large(s)) return false;
        planes_growth now = *g;
        now.noise = laid->noise;
        sum_distances(s, &now);
        g->going_on = going_on(s, &now);
        if (laid->going_on <= FAR_GOING_ON || g->going_on <= FAR_GOING_ON) return false;
        return !refuse(g, MOTE_PLANES_STRUCTURE, g->going_on, MAX_GOING_ON);
    }
    if (first || g->max_noise <= 0 || g->measured_noise <= MAX_NOISE * g->max_noise) return false;
    sum_distances(s, laid);
    if (structure_so_far(s, g) <= FAR_STRUCTURE) return false;
    return !refuse(g, MOTE_PLANES_UNLIKE, g->measured_noise, MAX_NOISE * g->max_noise);
}

/* Turns until it stays as it is. fewer: points may be thinned out. */
static bool settle(planes_local *s, const planes_patch *patch, bool fewer, planes_growth *g) {
    double before = 0, near = FIRST_REACH * (double)patch->count * patch->stride;
    for (int turn = 0; turn < TURNS; turn++) {
        if (fewer) take_fewer(g, near);
        planes_perpendicular(g->normal, g->u, g->v);
        look_farther(g);
        if (!lay_component(s, g, g->radius)) return false;
        const planes_growth laid = *g;
        if (!fit_component(s, g) || is_something_else(s, patch, g)) return false;
        if (is_in_vain(s, &laid, turn == 0, g)) return false;
        const double points = planes_growth_points(g);
        const bool settled = fabs(points - before) < SETTLED * before && g->farthest + 2 * g->cell < g->look;
        g->cell = turn == 0 ? fmin(next_cell(s, g), 2 * g->cell) : next_cell(s, g);
        g->radius = fmax(g->radius, 0.3 * sqrt(g->area));
        before = points;
        near = ldexp(s->near_count, (int)g->level);
        if (turn >= 2 && settled) break;
    }
    planes_perpendicular(g->normal, g->u, g->v);
    look_farther(g);
    if (!lay_component(s, g, g->radius)) return false;
    if (g->centred || s->params.known_noise > 0) {
        sum_distances(s, g);
        g->going_on = going_on(s, g);
    }
    g->bending = g->max_noise > 0 ? planes_bending_rim(s, g) : 0;
    return describe_component(s, g);
}

/* Grows over few of the points first, if there are very many. */
static bool grow(planes_local *s, const planes_patch *patch, bool fewer, planes_growth *g) {
    if (!settle(s, patch, fewer, g)) return false;
    if (g->level == 0 || !planes_growth_stands(s, g)) return true;
    planes_take_level(g, 0);
    return settle(s, patch, false, g);
}

bool planes_grow(planes_local *s, const planes_patch *patch, double max_noise, double max_cell, int32_t self,
                 planes_growth *g) {
    begin(patch, max_noise, max_cell, self, g);
    if (!grow(s, patch, max_cell <= 0, g)) return false;
    if (g->level > 0 || !planes_growth_stands(s, g)) return true;
    return !is_curve(s, g) && !(is_exact(s, g) && is_of_representation(s, g));
}

bool planes_grow_again(planes_local *s, planes_growth *g) { return lay_component(s, g, g->radius); }

bool planes_in_component(const planes_local *s, const planes_growth *g, uint32_t i) { return is_in_component(s, g, i); }

bool planes_lay_component(planes_local *s, planes_growth *g) {
    g->look = INFINITY;
    g->density = POINTS_A_CELL;
    g->strays = 0;
    planes_perpendicular(g->normal, g->u, g->v);
    if (!lay_component(s, g, INFINITY) || !describe_component(s, g)) return false;
    g->cell = next_cell(s, g);
    return lay_component(s, g, INFINITY) && describe_component(s, g);
}

/* Marks each cell that has min points and MIN_CONTRAST times as many as lie on its emptier side, and no others.
   The area and the count become those of the marked cells. */
static void mark_all(planes_local *s, planes_growth *g, double min) {
    uint32_t cells = 0;
    double points = 0;
    for (uint32_t cell = 0; cell < g->columns * g->rows; cell++) {
        const double beside = fmin(s->cell_beside[2 * cell], s->cell_beside[2 * cell + 1]);
        s->cell_mark[cell] = s->cell_in[cell] >= fmax(min, MIN_CONTRAST * beside);
        cells += s->cell_mark[cell];
        points += s->cell_mark[cell] != 0 ? s->cell_in[cell] : 0;
    }
    g->area = cells * g->cell * g->cell;
    g->count = points;
}

bool planes_lay(planes_local *s, planes_growth *g) {
    double central = 0, shoulders[2] = {0, 0};
    g->look = INFINITY;
    g->density = POINTS_A_CELL;
    planes_perpendicular(g->normal, g->u, g->v);
    planes_take_near(s, g, BESIDE * g->noise);
    for (int turn = 0; turn < LAY_TURNS; turn++) {
        const double typical = turn > 0 ? fmin(g->crowding, POINTS_A_CELL) : 0;
        if (!planes_lay_grid(s, g)) return false;
        planes_count_cells(s, g);
        mark_all(s, g, fmax(MIN_CELL, LAY_SHARE * typical));
        if (!(g->count > 0) || !describe_component(s, g)) return false;
        if (turn > 0) continue;
        /* Small cells are chosen by what they have in the middle: these know no more how the points lie about it. */
        central = g->central;
        memcpy(shoulders, g->shoulders, sizeof shoulders);
        g->cell = fmin(g->cell, next_cell(s, g));
    }
    g->central = central;
    memcpy(g->shoulders, shoulders, sizeof g->shoulders);
    return true;
}

bool planes_measure(planes_local *s, planes_growth *g, uint32_t *in) {
    g->look = INFINITY;
    g->density = POINTS_A_CELL;
    *in = 0;
    planes_perpendicular(g->normal, g->u, g->v);
    if (!lay_component(s, g, INFINITY) || !fit_component(s, g)) return false;
    g->cell = next_cell(s, g); /* the axes stay: the place has hardly changed */
    if (!lay_component(s, g, INFINITY) || !describe_component(s, g)) return false;
    for (uint32_t i = 0; i < s->near_count; i++) {
        *in += fabsf(s->near_distance[i]) <= (float)(PLANES_REACH_NOISES * g->noise);
    }
    return true;
}

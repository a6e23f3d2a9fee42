/* Growth: from a patch to all of its plane. In turns the points near the plane so far are laid out on it in cells, the
   connected cells around the patch are fitted by least squares, and where that changes nothing, the plane is done.
   Points that another plane explains better do not take part. */
#include <math.h>
#include <string.h>

#include "planes/local/planes_evidence.h"

#define TURNS           16
#define MANY_POINTS     40000.0 /* near a growth: where there are more, it settles with fewer of them first */
#define FIRST_REACH     4.0     /* times the points of its patch: about as many are near it at first */
#define BESIDE          9.0     /* noises: how far from the plane points are beside it: as many volumes as in it */
#define FEW_A_CELL      4.0     /* points at least: see ENOUGH_CELLS */
#define MIN_CELL        2.0     /* points: of the component */
#define STRAY_SHARE     0.4     /* of the way from strays to points: between them a cell is the plane's */
#define MIN_CONTRAST    1.6     /* points to strays of a cell */
#define MIN_COMPONENT   8.0     /* points */
#define MIN_CELLS       3.0
#define NOISE_GROWS     2.0 /* times that of the patch, and it is something else that grows */
#define NOISE_SHRINKS   0.3
#define NEARLY_ALL      0.6   /* of the points of a patch: steps of a sensor share them out */
#define NOISE_RANGE     0.55  /* of the largest noise, where that is known: the least */
#define TRUNCATION      1.014 /* what is cut at 3 deviations looks so much narrower */
#define LAY_TURNS       2     /* the second with cells of as many points as the plane has where it is */
#define LAY_SHARE       0.35  /* of these points, a cell of the plane has */
#define SETTLED         0.01  /* of the points: where so few change, it is done */
#define MAX_NUMBER      250u  /* components that begin near the patch */
#define PIECE_SHARE     0.2   /* of the points of the largest component: others that large are the plane's, too */
#define CENTRED         1.0   /* noises: how far the mean of a centred cell's points is off, at most */
#define MEAN_DEVIATIONS 3.0   /* or so many deviations of a mean of so few points */
#define BESIDE_SHARE    0.5   /* of the points of a cell, one beside the rim has where a surface goes on */
#define FEW_POINTS      256u  /* below, cells are too few to tell a curve */

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

/* Marks the cells of the component with the most points, of those that begin within radius, by 1, and no others. */
static bool find_component(planes_local *s, planes_growth *g, double radius) {
    const double significant = g->strays + 2 * sqrt(g->strays) + 1;
    const double between = g->strays + STRAY_SHARE * (g->density - g->strays);
    const double min = ceil(fmax(MIN_CELL, fmin(significant, between)));
    const double reach = 2 * g->noise, radius2 = radius * radius;
    const uint32_t count = s->near_count, cells = g->columns * g->rows, *near_cell = s->near_cell;
    uint32_t open = close_cells(s, cells, (uint32_t)min);
    if (g->centred) open = close_leaning_cells(s, g, open);
    uint64_t best_points = 0, points_of[MAX_NUMBER];
    uint8_t number = 2, best = 0, *mark = s->cell_mark;
    for (uint32_t i = 0; i < count && number < MAX_NUMBER && open > 0; i++) {
        if (mark[near_cell[i]] != 0) continue;
        const double u = (double)s->near_u[i], v = (double)s->near_v[i];
        if (fabs((double)s->near_distance[i]) > reach || u * u + v * v > radius2) continue;
        const uint64_t points = flood(s, g, near_cell[i], number, &open);
        if (points > best_points) {
            best_points = points;
            best = number;
        }
        points_of[number++] = points;
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
    if (count < MIN_COMPONENT) return planes_growth_refuse(g, MOTE_PLANES_SCATTERED, count, MIN_COMPONENT);
    if (cells < MIN_CELLS) return planes_growth_refuse(g, MOTE_PLANES_SCATTERED, cells, MIN_CELLS);
    *strays = fmin(fmin((double)sides[0], (double)sides[1]), 0.9 * count);
    g->count = count;
    g->area = cells * g->cell * g->cell;
    g->density = count / cells;
    g->strays = *strays / cells;
    g->crowding = sqrt(g->density * fmax((double)squares / count - 1, 0.5));
    if (g->density >= MIN_CONTRAST * g->strays) return true;
    return planes_growth_refuse(g, MOTE_PLANES_DENSE_SIDE, g->strays / g->density, 1 / MIN_CONTRAST);
}

static bool is_in_component(const planes_local *s, const planes_growth *g, uint32_t i) {
    return s->cell_mark[s->near_cell[i]] != 0 && fabsf(s->near_distance[i]) <= (float)(PLANES_REACH_NOISES * g->noise);
}

uint32_t planes_list_component(planes_local *s, const planes_growth *g) {
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
    const uint32_t count = planes_list_component(s, g), *list = s->component;
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

/* ---- growth */

static void look_farther(planes_growth *g) {
    g->look = 2 * fmax(g->farthest, g->radius) + 3 * g->cell + BESIDE * g->noise;
}

/* Where planes may have few points, those that do have smaller cells, or it would be too few of them to be
   connected. */
static double next_cell(const planes_local *s, const planes_growth *g) {
    const double points =
        planes_has_few(s) ? fmin(fmax(g->count / ENOUGH_CELLS, FEW_A_CELL), POINTS_A_CELL) : POINTS_A_CELL;
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
    planes_growth_refuse(g, MOTE_PLANES_SCATTERED, 0, MIN_COMPONENT); /* unless something else is said */
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
    if (g->noise > max) return !planes_growth_refuse(g, MOTE_PLANES_THICKENS, g->noise, max);
    if (share >= NOISE_SHRINKS || g->max_noise > 0) return false;
    if (planes_is_exact(s, g) && has_patch(s, patch, g)) return false;
    return !planes_growth_refuse(g, MOTE_PLANES_STRUCTURE, 1 - share * share, 1 - NOISE_SHRINKS * NOISE_SHRINKS);
}

void planes_take_level(planes_growth *g, uint32_t level) {
    const double fewer = ldexp(1, (int)g->level - (int)level);
    g->cell /= sqrt(fewer);
    g->count *= fewer;
    g->level = level;
}

/* Thins the points out where very many are near. near: of the sample, about. */
static void take_fewer(planes_growth *g, double near) {
    uint32_t level = 0;
    while (level + 1 < PLANES_LOCAL_LEVELS && near > MANY_POINTS * (double)(1u << level)) level++;
    if (level > g->level) planes_take_level(g, level);
}

/* Turns until it stays as it is. fewer: points may be thinned out. */
static bool settle(planes_local *s, const planes_patch *patch, bool fewer, planes_growth *g) {
    double before = 0, near = FIRST_REACH * (double)patch->count * patch->stride;
    for (int turn = 0; turn < TURNS; turn++) {
        if (fewer) take_fewer(g, near);
        planes_perpendicular(g->normal, g->u, g->v);
        look_farther(g);
        if (!lay_component(s, g, g->radius) || !fit_component(s, g) || is_something_else(s, patch, g)) return false;
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
    return !planes_is_curve(s, g) && !(planes_is_exact(s, g) && planes_is_of_representation(s, g));
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

/* Whether a surface bends away all around a plane: then the plane is a piece of something curved. It lies within the
   noise of the plane for some way, and goes on where the plane ends, to one side; other planes leave at an angle.

        a piece of a curve                 a side of a roof

        ____________                            /\
      /              \    the rim: points      /  \       the rim: at once far from the plane
     /                \   a little off        /    \

   A slice of what is curved, as thick as the vote has made it, may be left more steeply: there its own points are off
   it towards the rim, more and more, and beyond the rim they go on to the same side. At the edge of a wall they do not:
   nothing is beyond it, or what is there was not on its way. */
#include <math.h>
#include <string.h>

#include "planes/local/planes_growth.h"

#define BAND_VOLUMES  3.0 /* of the points of a growth that are near, to those within its reach */
#define RIM_SHARE     0.5 /* of the points of a cell that are no strays, one has where a surface goes on */
#define RIM_NOISES    1.0 /* the mean of its points is off the plane, at least */
#define RIM_DEVIATION 3.0 /* and so many deviations of a mean of so few */
#define RIM_SLOPE     0.1 /* of a cell: and at most, where it bends; a plane that leaves at 12 degrees is farther off */
#define FAR_NOISES    18.0 /* a surface that leaves is seen as far */
#define FAR_VOLUMES   2.8  /* of the points on one side, to those within the reach of a growth */
#define LEAVING_SLOPE 0.1  /* 6 degrees: less, from cell to cell, are walls that bend and steps of sensors */

/* Whether the points of a cell lie to one side, and near. */
static bool is_bending(const planes_local *s, const planes_growth *g, uint32_t cell) {
    const double near = (double)s->cell_in[cell] + s->cell_beside[2 * cell] + s->cell_beside[2 * cell + 1];
    const double own = near - BAND_VOLUMES * g->strays, sum = fabs((double)s->cell_sum[cell]);
    if (own < RIM_SHARE * (g->density - g->strays) || own < 1) return false;
    return sum > g->noise * fmax(RIM_NOISES * own, RIM_DEVIATION * sqrt(near)) && sum <= RIM_SLOPE * g->cell * own;
}

double planes_bending_rim(planes_local *s, const planes_growth *g) {
    uint32_t beside = 0, bending = 0;
    memset(s->cell_sum, 0, (uint64_t)g->columns * g->rows * sizeof *s->cell_sum);
    for (uint32_t i = 0; i < s->near_count; i++) s->cell_sum[s->near_cell[i]] += s->near_distance[i];
    for (uint32_t row = 1; row + 1 < g->rows; row++) {
        for (uint32_t cell = row * g->columns + 1; cell + 1 < (row + 1) * g->columns; cell++) {
            if (!growth_is_beside(s, g, cell)) continue;
            beside++;
            bending += is_bending(s, g, cell);
        }
    }
    return beside > 0 ? (double)bending / beside : 0;
}

/* Whether the points of a cell at the rim are off the plane, more so than those of the next cell inwards, and go on to
   the same side in the next one outwards. */
static bool is_leaving(const planes_local *s, const planes_growth *g, uint32_t cell, uint32_t inner, uint32_t outer) {
    const double off = (double)s->cell_sum[cell] / s->cell_in[cell];
    const double less = (double)s->cell_sum[inner] / s->cell_in[inner];
    const double beyond = s->cell_beside[2 * outer + (off > 0)] - FAR_VOLUMES * g->strays;
    return fabs(off) >= RIM_NOISES * g->noise && fabs(off) > fabs(less) && fabs(off - less) > LEAVING_SLOPE * g->cell &&
           beyond >= RIM_SHARE * (g->density - g->strays);
}

/* Counts the points on either side, farther than a noise and as far as a surface may be that goes on, whoever has
   them. */
static void count_far(planes_local *s, const planes_growth *g) {
    planes_growth all = *g;
    all.density = 1e300; /* nobody explains a point better */
    planes_take_near(s, &all, FAR_NOISES * g->noise);
    memset(s->cell_beside, 0, 2 * (uint64_t)g->columns * g->rows * sizeof *s->cell_beside);
    for (uint32_t i = 0; i < s->near_count; i++) {
        const double column = floor(((double)s->near_u[i] - g->low_u) / g->cell);
        const double row = floor(((double)s->near_v[i] - g->low_v) / g->cell);
        const double distance = (double)s->near_distance[i];
        if (!(column >= 0 && column < g->columns && row >= 0 && row < g->rows) || fabs(distance) < g->noise) continue;
        s->cell_beside[2 * ((uint32_t)row * g->columns + (uint32_t)column) + (distance > 0)]++;
    }
}

double planes_leaving_rim(planes_local *s, const planes_growth *g) {
    const int32_t next[4] = {-1, 1, -(int32_t)g->columns, (int32_t)g->columns};
    uint32_t ends = 0, leaving = 0;
    count_far(s, g);
    for (uint32_t row = 1; row + 1 < g->rows; row++) {
        for (uint32_t cell = row * g->columns + 1; cell + 1 < (row + 1) * g->columns; cell++) {
            for (int k = 0; k < 4 && s->cell_mark[cell] != 0; k++) {
                const uint32_t outer = cell + (uint32_t)next[k], inner = cell - (uint32_t)next[k];
                if (s->cell_mark[outer] != 0 || s->cell_mark[inner] == 0) continue;
                ends++;
                leaving += is_leaving(s, g, cell, inner, outer);
            }
        }
    }
    return ends > 0 ? (double)leaving / ends : 0;
}

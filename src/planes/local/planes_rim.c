/* Whether a surface bends away all around a plane: then the plane is a piece of something curved. It lies within the
   noise of the plane for some way, and goes on where the plane ends, to one side; other planes leave at an angle.

        a piece of a curve                 a side of a roof

        ____________                            /\
      /              \    the rim: points      /  \       the rim: at once far from the plane
     /                \   a little off        /    \                                                              */
#include <math.h>
#include <string.h>

#include "planes/local/planes_growth.h"

#define BAND_VOLUMES  3.0 /* of the points of a growth that are near, to those within its reach */
#define RIM_SHARE     0.5 /* of the points of a cell that are no strays, one has where a surface goes on */
#define RIM_NOISES    1.0 /* the mean of its points is off the plane, at least */
#define RIM_DEVIATION 3.0 /* and so many deviations of a mean of so few */
#define RIM_SLOPE     0.1 /* of a cell: and at most, where it bends; a plane that leaves at 12 degrees is farther off */

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

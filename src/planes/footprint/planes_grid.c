/* Layout of the grids of planes. */
#include "planes/footprint/planes_grid.h"

#define POINT_CELLS 4u         /* a point */
#define SPARE_CELLS (1u << 22) /* besides those */
#define MAX_CELLS   0x7FFFFFFFu

/* A core cell has more points than strays make likely. */
static uint32_t core_points(double strays) {
    const double min = ceil(strays + 3 * sqrt(strays) + 1);
    return min > 2 ? (uint32_t)min : 2;
}

uint32_t planes_grid_lay(const planes_bounds *bounds, const uint64_t *in_bands, uint32_t planes, bool whole,
                         uint64_t points, planes_tract *tracts) {
    uint64_t cells = 0;
    const uint64_t wanted = POINT_CELLS * points + SPARE_CELLS, max = wanted < MAX_CELLS ? wanted : MAX_CELLS;
    bool fits = true;
    for (uint32_t i = 0; i < planes; i++) {
        planes_tract *t = &tracts[i];
        const bool any = bounds[i].low[0] != UINT32_MAX;
        const uint32_t columns = any ? ~bounds[i].not_high[0] - bounds[i].low[0] + 1 : 0;
        const uint32_t rows = any ? ~bounds[i].not_high[1] - bounds[i].low[1] + 1 : 0;
        t->low[0] = bounds[i].low[0] - 1;
        t->low[1] = bounds[i].low[1] - 1;
        t->width = any ? columns + 2 : 0;
        t->height = any ? rows + 2 : 0;
        t->first = (uint32_t)cells;
        /* Strays of a cell are told as if those beside the plane were spread over the rectangle of all its cells. */
        const double strays = any ? 0.5 * (double)in_bands[i] / ((double)rows * (double)columns) : 0;
        t->strays = (float)strays;
        t->core = whole || !any ? 1 : core_points(strays);
        cells += (uint64_t)t->width * t->height; /* below 2^52 a plane */
        fits = fits && cells <= max;
        if (!fits) cells = 0;
    }
    return fits ? (uint32_t)cells : 0;
}

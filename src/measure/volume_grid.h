/* A volume while its points come, in any order: sums of heights per cell of the finest grid, as integers.
 *
 *   height of a point above the base plane, in steps     q = high * 2^32 + low,  0 <= low < 2^32
 *   cell                                                  sum of high (int64), sum of low (uint64), points (uint32)
 *
 * Cells have together the sums of the larger cell that they are, so the size of cells is chosen when all points are
 * there. This is compiled for the page, too (viewer/wasm/page_measure.c). */
#ifndef MOTE_VOLUME_GRID_H
#define MOTE_VOLUME_GRID_H

#include "measure/measure_math.h"
#include "measure/polygon_grid.h"
#include "mote/measure.h"

/* Height steps of the base at a place in steps: middle_height + slope (x - middle). */
typedef struct volume_plane {
    double slope[2], middle[2], height;
} volume_plane;

typedef struct volume_grid {
    mote_context *ctx;
    mote_region *region;
    const mote_shapes *shapes;
    uint32_t feature;
    measure_ground ground;
    polygon_grid grid;
    volume_plane plane;
    mote_volume_base base;
    int64_t level; /* of the base above the plane, in height steps */
    int64_t *high; /* [cells] each */
    uint64_t *low;
    uint32_t *counts;
    uint64_t points;
    int64_t lowest;       /* of the heights above the plane */
    double (*corners)[3]; /* [corner_count] of outer rings; heights of NaN are still to be draped */
    uint64_t corner_count;
} volume_grid;

/* A point that the polygon holds. */
typedef struct volume_point {
    uint32_t cell;
    int64_t height; /* in steps, above the plane */
} volume_point;

/* Whether a shape is a polygon of the feature. */
static inline bool volume_grid_wants(const mote_shape *shape, uint32_t feature) {
    return shape->kind == MOTE_SHAPE_POLYGON && (feature == MOTE_ALL_FEATURES || shape->feature == feature);
}

/* shapes must live as long as the grid. */
mote_status volume_grid_start(mote_context *ctx, const mote_shapes *shapes, uint32_t feature, mote_volume_base base,
                              double level, const measure_unit *horizontal, const measure_unit *vertical,
                              volume_grid *out);
void volume_grid_free(volume_grid *grid);

/* Whether the base needs heights of corners that have none. Each then gets that of the nearest point inside, seen from
   above: all points are looked at before the first is added. */
bool volume_grid_needs_heights(const volume_grid *grid);

#define VOLUME_NEAREST_CORNERS 64u

/* The nearest points inside of corners that follow each other, the lowest of several that are as near, whatever the
 order of the points. Corners along a ring lie near each other: a point that is farther from their box than all that
 they have is told by one comparison.
 *
 *   corners    0 … 63 | 64 … 127 | …       of all rings, one behind the other
 *   nearest       [0]       [1]     …       volume_grid_nearest_count() of them
 */
typedef struct volume_nearest {
    int64_t low[2], high[2];                 /* box of the corners, in steps */
    double reach;                            /* the largest of the distances */
    double distance[VOLUME_NEAREST_CORNERS]; /* squared, on the ground; infinite while there is none, and -1 of corners
                                                that have a height: nothing is nearer */
    double height[VOLUME_NEAREST_CORNERS];
} volume_nearest;

/* What follows may be called by any number of threads, each with nearest of its own. */
uint64_t volume_grid_nearest_count(const volume_grid *grid);
void volume_grid_start_nearest(const volume_grid *grid, volume_nearest *nearest);
void volume_grid_look_for_nearest(const volume_grid *grid, double x, double y, double z, volume_nearest *nearest);
void volume_grid_join_nearest(const volume_grid *grid, const volume_nearest *other, volume_nearest *nearest);
/* Gives the corners their heights; 0 where no point is inside. Returns how many got one. */
uint64_t volume_grid_drape(volume_grid *grid, const volume_nearest *nearest);

/* Fits the base to the corners, once they all have heights. */
void volume_grid_fit(volume_grid *grid);

typedef enum volume_answer { VOLUME_OUTSIDE, VOLUME_INSIDE, VOLUME_TOO_HIGH } volume_answer;
/* Looks up the place of a point; any number of threads may call it. */
volume_answer volume_grid_look(const volume_grid *grid, double x, double y, double z, volume_point *point);
/* Adds a point; false: there are too many. From one thread. */
bool volume_grid_add(volume_grid *grid, volume_point point);

/* volume: out, but for the number of draped corners. volume_surface.c */
mote_status volume_grid_finish(const volume_grid *grid, mote_volume *volume);

#endif

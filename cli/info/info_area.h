/* The area that points cover: of the cells that hold any, in one pass over the points. Cells are marked in a fine grid,
   and put together to cells of some points each afterwards. */
#ifndef CLI_INFO_AREA_H
#define CLI_INFO_AREA_H

#include <mote/mote.h>

typedef struct area_grid {
    double min[2], length[2];
    double points; /* in all */
    double side;   /* of a cell */
    uint64_t width, height;
    uint64_t row_words;
    uint64_t *cells; /* [height][row_words] a bit each; NULL: there is no area */
} area_grid;

/* points: those of the box, more or less. false: no memory. */
bool area_open(area_grid *grid, const mote_box *box, uint64_t points);
void area_add(area_grid *grid, const mote_cloud *piece);
/* *cell: the side of the cells that it was measured in. 0: unknown; negative: no memory. */
double area_grid_measure(const area_grid *grid, double *cell);
void area_close(area_grid *grid);

#endif

/* What the two ways to draw splats on a GPU share. */
#ifndef MOTE_RENDER_SPLAT_CUH
#define MOTE_RENDER_SPLAT_CUH

#include "render/render_cuda.h"

#define SPLAT_TILE 16u /* samples of a tile's side */

/* What the passes over fragments share. */
typedef struct splat_pass {
    render_view view;
    const render_splat *splats;
    uint32_t count;
    uint32_t *limits; /* ordered integers */
    render_sums_cuda *sums;
    unsigned long long *best;
    uint32_t *best_splat;
    float near_depth, focal;
    bool wants_normals, wants_best;
} splat_pass;

/* Lists of the splats that can cover a tile of 16 x 16 samples.

     first    [tiles + 1]   0       2       5   ...     where the list of a tile begins
     splats   3 7 | 1 3 4 | 2 ...                        in any order within a tile */
typedef struct splat_tiles {
    uint32_t wide, count; /* tiles of a row; of the picture */
    uint32_t *first;      /* [count + 1] */
    uint32_t *filled;     /* [count + 1] splats of a tile: while they are counted, and while its list is filled */
    uint32_t *splats;     /* [total] */
    uint64_t total;
    uint32_t *nearest; /* [samples] the splat that makes the limit; of tiles that are complete */
    uint8_t *complete; /* [count] whether limits of all their samples are known, not only where points are seen */
} splat_tiles;

/* ---- render_lists_cuda.cu */
/* Where the lists of tiles begin; fits: whether they are short enough. Waits. */
mote_status render_count_tiles_cuda(mote_renderer *renderer, const splat_pass *pass, splat_tiles *tiles, bool *fits);
mote_status render_fill_tiles_cuda(mote_renderer *renderer, const splat_pass *pass, splat_tiles *tiles);

/* ---- render_tiles_cuda.cu */
/* Sets pass->limits where points are seen. */
mote_status render_limit_tiles_cuda(mote_renderer *renderer, const splat_pass *pass, const splat_tiles *tiles);
/* Sums all splats up to the limits of those that are drawn still, and lists the samples that show them. */
mote_status render_show_tiles_cuda(mote_renderer *renderer, const splat_pass *pass, const splat_tiles *tiles);

#endif

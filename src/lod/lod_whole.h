/* What a part of a cloud knows of the whole: enough to build, of the points of one range of Morton codes, those nodes
   and samples that the octree of all points has there.

     codes         first_code                          end_code
     ──────────────────┼───────────────────────────────────┼──────────
     level 2   │       |       │               │           |   │         a cell of each level may hold a border of the
     level 3   │   │   |   │   │   │   │   │   │   │   │   |   │         range within: of it the part has some points

   Of these cells, at most two of a level, the part is told how many points all have (whether a node is divided follows
   from that) and whether it has the one that represents the cell. Any other cell is the part's or none of its. What a
   coarse node holds is what its parts hold of it, one after the other. */
#ifndef MOTE_LOD_WHOLE_H
#define MOTE_LOD_WHOLE_H

#include "math/host_device.h"
#include "mote/lod.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lod_border {
    uint64_t code;                        /* the first one behind it */
    uint64_t points[MOTE_ORDER_BITS + 1]; /* by level: in the cell that it divides */
    bool wins[MOTE_ORDER_BITS + 1];       /* the representative of that cell is the part's */
} lod_border;

typedef struct lod_whole {
    mote_lattice lattice;
    lod_border low, high;     /* the part's codes lie in [low.code, high.code) */
    const mote_cloud *around; /* points of others, whose codes lie in no range of the part: all that averages over
                                 neighbours look at; of the columns of the part. NULL: none are looked at */
    const uint8_t *levels;    /* [level_count] of sampling by distance: of the points that lod_list_part lists, once all
                                 parts have chosen among theirs together */
    uint64_t level_count;
    bool fine; /* some part has points that codes do not tell apart as deep as its nodes need: then all choose
                  by fine codes */
} lod_whole;

/* Whether a border lies within the cell of a level. */
MOTE_HD bool lod_border_divides(const lod_border *border, uint64_t cell, uint32_t level) {
    const uint32_t below = 3 * (MOTE_ORDER_BITS - level);
    return border->code >> below == cell && (border->code & ((1ull << below) - 1)) != 0;
}

/* The border that divides a cell; NULL: none does. level ≤ MOTE_ORDER_BITS */
MOTE_HD const lod_border *lod_whole_border(const lod_whole *whole, uint64_t cell, uint32_t level) {
    if (lod_border_divides(&whole->low, cell, level)) return &whole->low;
    return lod_border_divides(&whole->high, cell, level) ? &whole->high : NULL;
}

/* The finest level at which a point whose code is given loses its cell to one of another part, of those that are finer
   than a level at which it has lost; that level if there is none. */
MOTE_HD uint32_t lod_whole_loss(const lod_whole *whole, uint64_t code, uint32_t lost) {
    for (uint32_t level = MOTE_ORDER_BITS; level > lost; level--) {
        const lod_border *border = lod_whole_border(whole, code >> 3 * (MOTE_ORDER_BITS - level), level);
        if (border != NULL && !border->wins[level]) return level;
    }
    return lost;
}

/* Says that a filter has nothing to do; of all parts together, as lod_build_part does not. */
void lod_warn_colors(mote_context *ctx, const mote_lod_params *params, bool has_colors);

/* Builds the octree of a part, as mote_lod_build does of a cloud: on the CPU, or where the context is of a GPU, there,
   where it stays (mote_lod_fetch).
   whole       outlives the call
   lacks_fine  out: whole->fine should have been set, and this is not the tree that is wanted */
mote_status lod_build_part(mote_context *ctx, const mote_cloud *part, const mote_lod_params *params,
                           const lod_whole *whole, mote_lod **out, bool *lacks_fine);

/* ---- sampling by distance, of parts together: sample/lod_poisson_levels.c */

/* A box in 2^-31 of the side of all, its ends within; it may reach beyond the cube. */
typedef struct lod_box {
    int64_t low[3], high[3];
} lod_box;

/* Points that may be taken, in order. */
typedef struct lod_list {
    uint64_t count;
    uint32_t *xyz;   /* [3 · count] lattice coordinates */
    uint8_t *level;  /* [count] the coarsest so far that has taken the point; at first its leaf's */
    uint8_t *unsure; /* [count] whether that may be wrong, for want of points that are not listed; NULL: all are */
    lod_box box;     /* whose points are all listed */
} lod_list;

/* Lists such points of a part, on the CPU; none where lacks_fine comes out.
   list  out: its arrays, xyz and level, are the caller's to free */
mote_status lod_list_part(mote_context *ctx, const mote_cloud *part, const mote_lod_params *params,
                          const lod_whole *whole, lod_list *list, bool *lacks_fine);

/* Lets levels end - 1 … first choose among points: what they take gets their level. Of points that are not unsure then,
   this is what they take of all.
   whole  of any part
   list   all levels before have chosen, and nothing is unsure */
mote_status lod_choose_listed(mote_context *ctx, const lod_whole *whole, const mote_lod_params *params,
                              const lod_list *list, uint32_t first, uint32_t end);

/* The level of the sampling cells of a level; they are as wide as its distance. */
uint32_t lod_distance_cell_level(const lod_whole *whole, const mote_lod_params *params, uint32_t level);

#ifdef __cplusplus
}
#endif
#endif

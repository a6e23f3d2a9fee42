/* Levels of detail the naive way: the rules of include/mote/lod.h and order.h said once more, plainly and slowly, to
   check the library against. Everything is decided by exact integers; colours are averaged in double precision. */
#ifndef MOTE_LOD_REFERENCE_H
#define MOTE_LOD_REFERENCE_H

#include "mote/lod.h"

#define REFERENCE_WHY_BYTES  400 /* of the sentence that says what is wrong */
#define REFERENCE_NAME_BYTES 200 /* of the name of a build */

typedef struct reference_point {
    uint64_t code;  /* Morton code of the point's cell of a grid of 2^21 cells a side */
    uint64_t fine;  /* if the tree needs finer cells: that of a grid of 2^31, its last 63 bits; else 0 */
    uint64_t rank;  /* for random and poisson: the hash of seed and code, or of seed and fine code */
    uint32_t index; /* in the cloud */
    uint32_t p[3];  /* lattice coordinates */
    uint16_t rgb[3];
} reference_point;

typedef struct reference_node {
    uint64_t first, total; /* its points, those below included: points[first .. first + total) */
    uint64_t share;        /* how many of the first of them are its own before coarser nodes choose; 0 if it samples */
    uint32_t parent, first_child, level;
    uint32_t cell[3]; /* of the grid of 2^min(level, finest) cells a side */
    uint8_t child_mask;
    bool samples; /* holds what it chooses from below */
} reference_node;

typedef struct lod_reference {
    mote_lod_params params;
    mote_lattice lattice;
    uint64_t count, skipped;
    uint32_t finest; /* level of cells: 21; 31 where cells of more points than merge have, or are sampled by, finer */
    reference_point *points; /* [count] in Morton order; equal codes by coordinates but for first, then by index */
    reference_node *nodes;   /* level by level, in Morton order */
    uint32_t node_count, level_count;
    uint8_t *taken; /* [level_count · count] 1: the inner node of that level chose the point */
    bool refused;   /* points in one place do not fit: the library must answer MOTE_ERROR_UNSUPPORTED */
} lod_reference;

/* The cell of a lattice coordinate among 2^level over a side: floor(p · 2^level / side), the last cell closed. */
uint32_t reference_cell(uint64_t p, uint64_t side, uint32_t level);
/* The level of the sampling cells of nodes of a level. */
uint32_t reference_cell_level(const lod_reference *r, uint32_t level);

/* Builds the reference over the lattice that the library found (lod_reference_check_lattice judges that one). */
lod_reference *lod_reference_build(mote_context *ctx, const mote_cloud *cloud, const mote_lod_params *params);
void lod_reference_destroy(lod_reference *r);

/* The distance that poisson samples of a level keep. */
double lod_reference_spacing(const lod_reference *r, uint32_t level);

/* The points that the node stores, as positions in points, ascending. positions [total] out. Returns how many. */
uint64_t lod_reference_stored(const lod_reference *r, uint32_t node, uint32_t *positions);

/* The averages of the sampling cells of one level, by all original points. */
typedef struct reference_filter {
    const lod_reference *r;
    uint32_t level, cell_level;
    uint32_t *cells; /* [3 · count] */
} reference_filter;
void reference_filter_begin(const lod_reference *r, uint32_t level, reference_filter *f);
void reference_filter_end(reference_filter *f);

/* Over the cell of a point, or that and its 26 neighbours (reach 0 or 1), in exact integers, halves rounded up. */
void reference_average(const reference_filter *f, uint64_t position, uint32_t reach, uint16_t average[3]);
/* Weighted by exp(-x²/0.1) of the distance to the cell's middle over the largest, 1.5 · sqrt(3) cells.
   eighths   a point's place within its cell counts in eighths; else as it is
   average   out, in double precision
   returns   how far 16-bit fixed-point weights, each off by one unit at most, may lead away from it */
double reference_average_weighted(const reference_filter *f, uint64_t position, bool eighths, double average[3]);

/* Each of these returns false and says why when the library's answer breaks a rule. */
bool lod_reference_check_lattice(const mote_cloud *cloud, const mote_lattice *lattice, uint64_t skipped, char *why);
/* Node table, names, points and colours are those of the reference. */
bool lod_reference_compare(const lod_reference *r, const mote_lod *lod, char *why);
/* Looks only at what the library stored: each point once (additive), in its node's box, poisson distances. */
bool lod_reference_check_rules(const lod_reference *r, const mote_lod *lod, char *why);

/* Builds with the library and the reference, and compares in all these ways. levels out: how deep the tree is. */
bool lod_reference_agrees(mote_context *ctx, const mote_cloud *cloud, const mote_lod_params *p, uint32_t *levels,
                          char *why);

/* Parameters that, together, use every rule. */
extern const mote_lod_params lod_combinations[];
extern const uint32_t lod_combination_count;
/* text [REFERENCE_NAME_BYTES] out */
void lod_combination_name(const mote_lod_params *p, const char *cloud, uint64_t n, char *text);

#endif

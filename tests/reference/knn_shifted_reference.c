#include "reference/knn_shifted_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS  2097152 /* 2^21 */
#define SHIFTS 4
#define SPACES 9
#define PLAIN  9 /* the cube as it is */

typedef struct place {
    uint64_t code;
    uint64_t index;
} place;

/* The points in one order. */
typedef struct sorted {
    place *places;
    uint64_t count;
} sorted;

/* Where a cloud's finite points are. */
typedef struct positions {
    uint64_t count;
    double (*at)[3];
    bool *finite;
} positions;

struct shifted_reference {
    positions cloud, queries;
    int *spaces; /* [queries] */
    mote_knn_params params;
    double low[3], side; /* of the cube */
    sorted orders[SPACES + 1][SHIFTS];
    double space_low[SPACES][3], space_side[SPACES];
};

static void *room(uint64_t bytes) {
    void *memory = calloc(bytes + 1, 1);
    if (memory == NULL) abort();
    return memory;
}

static positions positions_of(const mote_cloud *cloud) {
    static const char *const names[3] = {"x", "y", "z"};
    const uint64_t count = mote_cloud_count(cloud);
    positions p = {count, room(count * sizeof *p.at), room(count * sizeof *p.finite)};
    for (uint64_t i = 0; i < count; i++) p.finite[i] = true;
    for (int k = 0; k < 3; k++) {
        const mote_column *column = mote_cloud_find(cloud, names[k]);
        for (uint64_t i = 0; i < count; i++) {
            p.at[i][k] = mote_column_value(column, i);
            p.finite[i] = p.finite[i] && isfinite(p.at[i][k]);
        }
    }
    return p;
}

static void positions_free(positions *p) {
    free(p->at);
    free(p->finite);
}

void shifted_reference_normal(const mote_cloud *queries, uint64_t query, double normal[3]) {
    static const char *const names[3] = {"normal_x", "normal_y", "normal_z"};
    double n[3];
    for (int k = 0; k < 3; k++) n[k] = mote_column_value(mote_cloud_find(queries, names[k]), query);
    const double length = sqrt((n[0] * n[0] + n[1] * n[1]) + n[2] * n[2]);
    for (int k = 0; k < 3; k++) normal[k] = isfinite(length) && length > ldexp(1, -500) ? n[k] / length : 0;
}

/* ---- cells and codes */

static uint32_t cell_of(double value, double low, double side, double cells) {
    const double cell = side > 0 ? floor((value - low) * (cells / side)) : 0;
    return cell >= CELLS - 1 ? CELLS - 1 : cell > 0 ? (uint32_t)cell : 0;
}

static uint64_t interleaved(const uint32_t cell[3]) {
    uint64_t code = 0;
    for (int bit = 20; bit >= 0; bit--) {
        for (int k = 0; k < 3; k++) code = code << 1 | (cell[k] >> bit & 1);
    }
    return code;
}

static const double axes[SPACES][3] = {{1, 0, 0},
                                       {0, 1, 0},
                                       {0, 0, 1},
                                       {0, 0.52573111211913359, 0.85065080835203988},
                                       {0, -0.52573111211913359, 0.85065080835203988},
                                       {0.52573111211913359, 0.85065080835203988, 0},
                                       {-0.52573111211913359, 0.85065080835203988, 0},
                                       {0.85065080835203988, 0, 0.52573111211913359},
                                       {0.85065080835203988, 0, -0.52573111211913359}};

static double product(const double a[3], const double b[3]) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

static void stretched(const shifted_reference *r, int space, const uint32_t cell[3], double at[3]) {
    double u[3];
    for (int k = 0; k < 3; k++) u[k] = (double)cell[k] - 1048576;
    const double along = (r->params.compression - 1) * product(axes[space], u);
    for (int k = 0; k < 3; k++) at[k] = u[k] + along * axes[space][k];
}

static void cube_cell(const shifted_reference *r, const double at[3], uint32_t cell[3]) {
    for (int k = 0; k < 3; k++) cell[k] = cell_of(at[k], r->low[k], r->side, CELLS);
}

static uint64_t code_in(const shifted_reference *r, int space, int shift, const double at[3]) {
    uint32_t cell[3];
    double w[3];
    cube_cell(r, at, cell);
    if (space != PLAIN) {
        stretched(r, space, cell, w);
        for (int k = 0; k < 3; k++) cell[k] = cell_of(w[k], r->space_low[space][k], r->space_side[space], CELLS - 1);
    }
    for (int k = 0; k < 3; k++) cell[k] = cell[k] * 7 / 10 + (uint32_t)shift * 104857;
    return interleaved(cell);
}

/* ---- cube and spaces */

static int space_of(const mote_cloud *queries, uint64_t query) {
    double normal[3], max = 0;
    int best = PLAIN;
    shifted_reference_normal(queries, query, normal);
    for (int space = 0; space < SPACES; space++) {
        const double along = fabs(product(axes[space], normal));
        if (along > max) {
            max = along;
            best = space;
        }
    }
    return best;
}

typedef struct bounds {
    double low[3], high[3];
} bounds;

static const bounds nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void add_to(bounds *b, const double at[3]) {
    for (int k = 0; k < 3; k++) {
        b->low[k] = fmin(b->low[k], at[k]);
        b->high[k] = fmax(b->high[k], at[k]);
    }
}

static double side_of(const bounds *b) {
    double side = 0;
    for (int k = 0; k < 3; k++) side = fmax(side, b->high[k] - b->low[k]);
    return side;
}

static void find_cube(shifted_reference *r) {
    bounds b = nothing;
    for (int of = 0; of < 2; of++) {
        const positions *from = of == 0 ? &r->cloud : &r->queries;
        for (uint64_t i = 0; i < from->count; i++) {
            if (from->finite[i]) add_to(&b, from->at[i]);
        }
    }
    memcpy(r->low, b.low, sizeof r->low);
    r->side = side_of(&b);
}

/* The box of a space's points, and of the queries that are asked in it. */
static void find_space(shifted_reference *r, int space) {
    bounds b = nothing;
    uint32_t cell[3];
    double w[3];
    for (int of = 0; of < 2; of++) {
        const positions *from = of == 0 ? &r->cloud : &r->queries;
        for (uint64_t i = 0; i < from->count; i++) {
            if (!from->finite[i] || (of == 1 && r->spaces[i] != space)) continue;
            cube_cell(r, from->at[i], cell);
            stretched(r, space, cell, w);
            add_to(&b, w);
        }
    }
    memcpy(r->space_low[space], b.low, sizeof b.low);
    r->space_side[space] = side_of(&b);
}

/* ---- orders */

static int by_code_and_index(const void *a, const void *b) {
    const place *p = a, *q = b;
    if (p->code != q->code) return p->code < q->code ? -1 : 1;
    return p->index < q->index ? -1 : 1;
}

static void sort_points(const shifted_reference *r, int space, int shift, sorted *to) {
    to->places = room(r->cloud.count * sizeof *to->places);
    for (uint64_t i = 0; i < r->cloud.count; i++) {
        if (!r->cloud.finite[i]) continue;
        const place one = {code_in(r, space, shift, r->cloud.at[i]), i};
        to->places[to->count++] = one;
    }
    qsort(to->places, to->count, sizeof *to->places, by_code_and_index);
}

shifted_reference *shifted_reference_make(const mote_cloud *cloud, const mote_cloud *queries,
                                          const mote_knn_params *params) {
    shifted_reference *r = room(sizeof *r);
    const mote_cloud *query_set = queries != NULL ? queries : cloud;
    const bool buckets = params->buckets && params->compression > 1;
    bool used[SPACES + 1] = {false};
    r->cloud = positions_of(cloud);
    r->queries = positions_of(query_set);
    r->spaces = room(r->queries.count * sizeof *r->spaces);
    r->params = *params;
    for (uint64_t i = 0; i < r->queries.count; i++) {
        r->spaces[i] = buckets ? space_of(query_set, i) : PLAIN;
        used[r->spaces[i]] = true;
    }
    find_cube(r);
    for (int space = 0; space <= PLAIN; space++) {
        if (!used[space]) continue;
        if (space != PLAIN) find_space(r, space);
        for (int shift = 0; shift < SHIFTS; shift++) sort_points(r, space, shift, &r->orders[space][shift]);
    }
    return r;
}

void shifted_reference_candidates(const shifted_reference *r, uint64_t query, uint8_t *candidates) {
    const int space = r->spaces[query];
    const uint64_t lambda = r->params.lambda > 0 ? r->params.lambda : 1, beside = lambda * r->params.k;
    memset(candidates, 0, r->cloud.count);
    if (!r->queries.finite[query]) return;
    for (int shift = 0; shift < SHIFTS; shift++) {
        const sorted *order = &r->orders[space][shift];
        const uint64_t code = code_in(r, space, shift, r->queries.at[query]);
        uint64_t stands = 0;
        while (stands < order->count && order->places[stands].code < code) stands++;
        for (uint64_t i = 0; i < order->count; i++) {
            if (i + beside >= stands && i < stands + beside) candidates[order->places[i].index] = 1;
        }
    }
}

void shifted_reference_free(shifted_reference *r) {
    if (r == NULL) return;
    for (int space = 0; space <= PLAIN; space++) {
        for (int shift = 0; shift < SHIFTS; shift++) free(r->orders[space][shift].places);
    }
    positions_free(&r->cloud);
    positions_free(&r->queries);
    free(r->spaces);
    free(r);
}

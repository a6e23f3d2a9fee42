/* Directions of the half sphere, and which of them suppression compares. */
#include "math/pi.h"
#include "planes/planes.h"

#define GRID_SIDE      180u
#define SUPPRESS_STEPS 2.5 /* of the resolution */
#define KEPT           "planes directions"
#define KEPT_NEAR      (1u << 24) /* longer lists are made again */

double planes_directions_resolution(const mote_planes_params *params) {
    return (params->directions == MOTE_PLANES_GRID ? 1.0 : params->resolution_deg) * MOTE_PI / 180;
}

/* Bins on either side of rho 0. */
static uint32_t half_bins(double radius, double bin) { return (uint32_t)(ceil(radius / bin) + 1); }

/* ---- directions */

/* An angle's sine and cosine: each is of many directions. */
typedef struct turn {
    double sine, cosine;
} turn;

static turn turn_of(double angle) {
    const turn made = {sin(angle), cos(angle)};
    return made;
}

/* Adds a direction; before there is memory for them they are only counted. */
static void add_direction(planes_directions *to, turn theta, turn phi) {
    if (to->xyz != NULL) {
        double *at = to->xyz + 3 * (uint64_t)to->directions;
        at[0] = phi.sine * theta.cosine;
        at[1] = phi.sine * theta.sine;
        at[2] = phi.cosine;
    }
    to->directions++;
}

/* Fills in the directions as the slides number them, phi · 180 + theta. y is never below 0: half the sphere. */
static void fill_grid(planes_directions *to) {
    turn turns[GRID_SIDE];
    for (uint32_t i = 0; i < GRID_SIDE; i++) turns[i] = turn_of(i * MOTE_PI / 180);
    for (uint32_t phi = 0; phi < GRID_SIDE; phi++) {
        for (uint32_t theta = 0; theta < GRID_SIDE; theta++) add_direction(to, turns[theta], turns[phi]);
    }
}

/* Rings of equal width, each cut into pieces as long as it is wide: equal areas. */
static void fill_ball(planes_directions *to, double resolution) {
    const uint32_t rings = (uint32_t)ceil(0.5 * MOTE_PI / resolution - 0.01);
    const turn none = {0, 0};
    for (uint32_t ring = 0; ring < rings; ring++) {
        const turn phi = turn_of((ring + 0.5) * (0.5 * MOTE_PI / rings));
        const uint32_t pieces = (uint32_t)ceil(2 * MOTE_PI * phi.sine / resolution - 0.01);
        for (uint32_t k = 0; k < pieces; k++) {
            add_direction(to, to->xyz == NULL ? none : turn_of((k + 0.5 * (ring & 1)) * (2 * MOTE_PI / pieces)), phi);
        }
    }
}

static void fill(const mote_planes_params *params, planes_directions *to) {
    to->directions = 0;
    if (params->directions == MOTE_PLANES_GRID) {
        fill_grid(to);
    } else {
        fill_ball(to, planes_directions_resolution(params));
    }
}

/* ---- neighbours: both ends of all directions, in the cells of a grid around the sphere */

typedef struct bucket_grid {
    uint32_t side;
    double size;     /* of a cell */
    uint32_t *first; /* [side³ + 1] */
    uint32_t *ends;  /* [2 · directions]: 2 · direction, + 1 for its other end */
} bucket_grid;

static void end_of(const double *xyz, uint32_t end, double at[3]) {
    for (int k = 0; k < 3; k++)
        at[k] =
            (end & 1) != 0 ? -xyz[3 * (uint64_t)(end >> 1) + (uint64_t)k] : xyz[3 * (uint64_t)(end >> 1) + (uint64_t)k];
}

static uint32_t bucket_axis(const bucket_grid *grid, double value) {
    const double cell = (value + 1) / grid->size;
    return cell < 0 ? 0 : cell >= grid->side ? grid->side - 1 : (uint32_t)cell;
}

static uint32_t bucket_of(const bucket_grid *grid, const double at[3]) {
    return (bucket_axis(grid, at[2]) * grid->side + bucket_axis(grid, at[1])) * grid->side + bucket_axis(grid, at[0]);
}

static mote_status make_buckets(mote_context *ctx, const planes_directions *all, double radius, bucket_grid *grid) {
    const double min = 2.0 / 64; /* cells stay few */
    grid->size = radius > min ? radius : min;
    grid->side = (uint32_t)(2 / grid->size) + 1;
    const uint64_t buckets = (uint64_t)grid->side * grid->side * grid->side;
    grid->first = mote_alloc_zero(ctx, (buckets + 2) * sizeof *grid->first, "planes directions");
    grid->ends = mote_alloc(ctx, 2 * (uint64_t)all->directions * sizeof *grid->ends, "planes directions");
    if (grid->first == NULL || grid->ends == NULL) return MOTE_ERROR_MEMORY;
    double at[3];
    for (uint32_t end = 0; end < 2 * all->directions; end++) {
        end_of(all->xyz, end, at);
        grid->first[bucket_of(grid, at) + 2]++;
    }
    for (uint64_t b = 2; b < buckets + 2; b++) grid->first[b] += grid->first[b - 1];
    for (uint32_t end = 0; end < 2 * all->directions; end++) {
        end_of(all->xyz, end, at);
        grid->ends[grid->first[bucket_of(grid, at) + 1]++] = end;
    }
    return MOTE_OK;
}

/* The ends within the radius of a direction, to near if that is not NULL; returns how many. */
static uint32_t list_near(const planes_directions *all, const bucket_grid *grid, uint32_t direction, uint32_t *near) {
    const double *at = all->xyz + 3 * (uint64_t)direction;
    uint32_t low[3], high[3], count = 0;
    for (int k = 0; k < 3; k++) {
        low[k] = bucket_axis(grid, at[k] - grid->size);
        high[k] = bucket_axis(grid, at[k] + grid->size);
    }
    for (uint32_t z = low[2]; z <= high[2]; z++) {
        for (uint32_t y = low[1]; y <= high[1]; y++) {
            const uint32_t row = (z * grid->side + y) * grid->side;
            for (uint32_t i = grid->first[row + low[0]]; i < grid->first[row + high[0] + 1]; i++) {
                double other[3];
                end_of(all->xyz, grid->ends[i], other);
                const double cosine = planes_dot(at, other);
                if (grid->ends[i] >> 1 == direction || cosine < all->min_cosine) continue;
                if (near != NULL) near[count] = grid->ends[i];
                count++;
            }
        }
    }
    return count;
}

/* Counts all lists, then writes them one behind the other. */
static mote_status list_all(mote_context *ctx, const bucket_grid *grid, planes_directions *table) {
    uint32_t total = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t d = 0; d < (int64_t)table->directions; d++) {
        table->first[d] = list_near(table, grid, (uint32_t)d, NULL);
    }
    for (uint32_t d = 0; d <= table->directions; d++) {
        const uint32_t mine = d < table->directions ? table->first[d] : 0;
        table->first[d] = total;
        total += mine;
    }
    table->near = mote_alloc(ctx, total * sizeof *table->near, "planes directions");
    if (table->near == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t d = 0; d < (int64_t)table->directions; d++) {
        list_near(table, grid, (uint32_t)d, table->near + table->first[d]);
    }
    return MOTE_OK;
}

static mote_status make_near(mote_context *ctx, planes_directions *table) {
    bucket_grid grid = {0, 0, NULL, NULL};
    /* A chord's length; a little longer, for rounding. */
    mote_status status = make_buckets(ctx, table, sqrt(2 - 2 * table->min_cosine) + 1e-9, &grid);
    table->first = mote_alloc(ctx, ((uint64_t)table->directions + 1) * sizeof *table->first, "planes directions");
    if (table->first == NULL) status = MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = list_all(ctx, &grid, table);
    mote_free(ctx, grid.first);
    mote_free(ctx, grid.ends);
    return status;
}

/* ---- the table */

/* What a step along an axis moves in bins, rounded as the votes have it. */
static float per_step(double along, double bin) { return (float)(along / bin); }

static mote_status reserve(mote_context *ctx, planes_directions *table) {
    const uint64_t bytes = table->directions * sizeof(float);
    if (table->a != NULL) return MOTE_OK;
    table->a = mote_alloc(ctx, bytes, "planes directions");
    table->b = mote_alloc(ctx, bytes, "planes directions");
    table->c = mote_alloc(ctx, bytes, "planes directions");
    table->normal = mote_alloc(ctx, bytes, "planes directions");
    return mote_context_status(ctx);
}

static mote_status divide_by_bin(mote_context *ctx, planes_directions *table) {
    MOTE_TRY(reserve(ctx, table));
    table->filled_bin = table->bin;
    for (uint32_t d = 0; d < table->directions; d++) {
        const double *at = table->xyz + 3 * (uint64_t)d;
        table->a[d] = per_step(at[0], table->bin);
        table->b[d] = per_step(at[1], table->bin);
        table->c[d] = per_step(at[2], table->bin);
        table->normal[d] = planes_pack_normal((float)at[0], (float)at[1], (float)at[2]);
    }
    return MOTE_OK;
}

static mote_status make_directions(mote_context *ctx, const mote_planes_params *params, planes_directions *table) {
    fill(params, table);
    table->xyz = mote_alloc(ctx, 3 * (uint64_t)table->directions * sizeof *table->xyz, "planes directions");
    if (table->xyz == NULL) return MOTE_ERROR_MEMORY;
    fill(params, table);
    return MOTE_OK;
}

/* What follows from parameters alone. */
static void measure(const mote_planes_params *params, double radius, double bin, planes_directions *table) {
    const double suppress = params->suppress_deg > 0 ? params->suppress_deg * MOTE_PI / 180
                                                     : SUPPRESS_STEPS * planes_directions_resolution(params);
    const uint32_t half = half_bins(radius, bin);
    table->kind = (int)params->directions;
    table->resolution = planes_directions_resolution(params);
    table->bins = 2 * half + 1;
    table->middle = (float)half;
    table->bin = bin;
    table->min_cosine = cos(suppress) - 1e-12;
    table->cone = 0;
    if (params->votes == MOTE_PLANES_VOTE_NORMALS) {
        table->cone = (int32_t)(PLANES_NORMAL_ONE * PLANES_NORMAL_ONE * cos(params->cone_deg * MOTE_PI / 180));
    }
}

mote_status planes_directions_fill(mote_context *ctx, planes_directions *table) {
    if (table->a == NULL || table->filled_bin != table->bin) MOTE_TRY(divide_by_bin(ctx, table));
    return table->first == NULL ? make_near(ctx, table) : MOTE_OK;
}

/* ---- from run to run */

static void release_kept(mote_device *device, void *kept) { planes_directions_free(device->ctx, kept); }

mote_status planes_directions_open(mote_context *ctx, const mote_planes_params *params, double radius, double bin,
                                   planes_directions **out) {
    planes_directions *table = mote_cache_take(mote_cpu_device(ctx), KEPT), wanted;
    measure(params, radius, bin, &wanted);
    if (table != NULL && !planes_directions_alike(table, &wanted)) {
        planes_directions_free(ctx, table);
        table = NULL;
    }
    if (table == NULL) table = mote_alloc_zero(ctx, sizeof *table, "planes directions");
    *out = table;
    if (table == NULL) return MOTE_ERROR_MEMORY;
    measure(params, radius, bin, table);
    return table->xyz == NULL ? make_directions(ctx, params, table) : MOTE_OK;
}

void planes_directions_close(mote_context *ctx, planes_directions *table) {
    if (table == NULL) return;
    if ((table->first != NULL && table->first[table->directions] > KEPT_NEAR) || mote_context_status(ctx) != MOTE_OK) {
        planes_directions_free(ctx, table);
    } else {
        mote_cache_put(mote_cpu_device(ctx), KEPT, table, 0, release_kept);
    }
}

void planes_directions_free(mote_context *ctx, planes_directions *table) {
    if (table == NULL) return;
    mote_free(ctx, table->xyz);
    mote_free(ctx, table->a);
    mote_free(ctx, table->b);
    mote_free(ctx, table->c);
    mote_free(ctx, table->normal);
    mote_free(ctx, table->first);
    mote_free(ctx, table->near);
    mote_free(ctx, table);
}

void planes_directions_cell(const planes_directions *table, uint32_t direction, uint32_t bin, double normal[3],
                            double *offset) {
    const double *xyz = table->xyz + 3 * (uint64_t)direction;
    const double at[3] = {(double)per_step(xyz[0], table->bin), (double)per_step(xyz[1], table->bin),
                          (double)per_step(xyz[2], table->bin)};
    const double length = sqrt(planes_dot(at, at));
    for (int k = 0; k < 3; k++) normal[k] = at[k] / length;
    *offset = ((double)bin - (double)table->middle) / length;
}

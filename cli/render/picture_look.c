/* How a cloud is best shown, where the options leave that open. */
#include "render/picture_look.h"

#include <math.h>
#include <stdlib.h>

#include "render/picture_camera.h"
#include "render/picture_patch.h"
#include "render/picture_places.h"

#define FLAT          0.25 /* height by width: landscapes are flatter, buildings and statues are not */
#define BLOCK_RETURNS 4096u

#define GRID_COLUMNS     48 /* cells of the picture in which points are counted */
#define GRID_ROWS        27
#define FEW_POINTS       200u  /* fewer make no surface: a splat is made of eight neighbours on the same surface */
#define FEW_SIZE         0.015 /* width of their discs, to the height of the picture */
#define ALL_SHOWN        0.9   /* of the points: the picture is of all, except strays and what hides in corners */
#define MIN_SHARE        0.025 /* of the points in the emptier half of the cells: with less, its splats are confetti */
#define UNEVEN_SIZE      0.004 /* width of discs instead, to the height of the picture */
#define FEW_SHARE        0.05  /* of the picture: what the discs of few points cover together */
#define FEW_MOST         0.03
#define CLEAN_SHARE      0.01   /* of the points lie on no surface, less: its sparse parts are surface, too */
#define CROWD_SHARE      0.4    /* of the points lie on no surface: a crowd, as a tree, is discs */
#define CROWD_FINE       0.0025 /* distance of points, to the height of the picture: of farther ones a smaller share */
#define COARSE           0.01   /* distance of points, to the height of the picture: single splats are seen */
#define STAND_OFF        0.005  /* noise of a surface, the same: of coarse points each splat stands out as a disc */
#define CROWD_SIZE       1.5    /* width of its discs, in spacings */
#define CROWD_MOST       0.012
#define SPARSE_PIXELS    1.0 /* points that are farther apart are dust, and make a surface instead */
#define SPARSE_MAP       2.5
#define CLEAN_TOLERANCE  1.0 /* spacings of depth that are one surface: sheets farther apart do not mix */
#define NOISE_TOLERANCE  2.0 /* of depth, for each spacing of noise */
#define DENSE_PIXELS     0.3 /* points that are nearer together fill several samples of a pixel */
#define POINTS_EDL       0.7
#define SURFACE_EDL      0.4 /* surfaces are lit: edges need less */
#define MIN_CLOSE        2.0
#define MAX_CLOSE        16.0
#define SURFACE_CLOSE    1u   /* single pixels, where a splat is seen from its edge */
#define MIN_SPLAT_PIXELS 12.0 /* the radius; the few points behind trees, or of a stray ray, would be large discs */
#define MAX_SPLAT        6.0  /* spacings */
#define MAX_SPARSE_SPLAT 5.0  /* spacings of the sparse parts of a clean object */
#define SPLAT_REACH      1.2  /* spacings that splats reach beyond their points */

/* The extents of a box along three directions. */
static void measure(const mote_box *box, const picture_axes *axes, double extent[3]) {
    const double *const along[3] = {axes->right, axes->front, axes->up};
    for (int k = 0; k < 3; k++) {
        extent[k] = 0;
        for (int i = 0; i < 3; i++) extent[k] += fabs(along[k][i]) * (box->max[i] - box->min[i]);
    }
}

static bool has_several_returns(const mote_cloud *cloud) {
    const mote_column *column = mote_cloud_find(cloud, "number_of_returns");
    const uint64_t count = mote_cloud_count(cloud);
    uint8_t values[BLOCK_RETURNS];
    for (uint64_t first = 0; column != NULL && first < count; first += BLOCK_RETURNS) {
        const uint64_t some = count - first < BLOCK_RETURNS ? count - first : BLOCK_RETURNS;
        mote_column_read(column, first, some, MOTE_UINT8, values);
        for (uint64_t i = 0; i < some; i++) {
            if (values[i] > 1) return true;
        }
    }
    return false;
}

picture_look picture_look_at(const mote_cloud *cloud, const mote_box *box, const double up[3]) {
    const picture_axes axes = picture_axes_of(up);
    double extent[3];
    measure(box, &axes, extent);
    const bool flat = extent[2] <= FLAT * fmax(extent[0], extent[1]);
    const picture_look look = {
        .terrain = flat || has_several_returns(cloud),
        .few = mote_cloud_count(cloud) < FEW_POINTS,
        .points = mote_cloud_count(cloud),
    };
    return look;
}

/* ---- how dense points are in the picture */

/* Points in each of a grid of cells over the picture. */
#define GRID_CELLS (GRID_ROWS * GRID_COLUMNS)

typedef struct density_grid {
    picture_lens lens;
    double cells_per_pixel[2];
    uint64_t counts[GRID_CELLS];
} density_grid;

static void count_block(const density_grid *grid, const mote_cloud *cloud, uint64_t first, uint32_t count,
                        uint64_t *counts) {
    double places[3][VALUES_BLOCK];
    picture_places_read(cloud, first, count, places);
    for (uint32_t i = 0; i < count; i++) {
        const double place[3] = {places[0][i], places[1][i], places[2][i]};
        double at[3];
        picture_lens_project(&grid->lens, place, at);
        const double x = at[0] * grid->cells_per_pixel[0], y = at[1] * grid->cells_per_pixel[1];
        if (x >= 0 && x < GRID_COLUMNS && y >= 0 && y < GRID_ROWS) counts[(int)y * GRID_COLUMNS + (int)x]++;
    }
}

static void count_points(session *s, const mote_cloud *cloud, density_grid *grid) {
    const uint64_t count = mote_cloud_count(cloud);
    const int64_t blocks = (int64_t)((count + VALUES_BLOCK - 1) / VALUES_BLOCK);
#pragma omp parallel num_threads(mote_context_threads(s->ctx))
    {
        uint64_t own[GRID_CELLS] = {0};
#pragma omp for schedule(dynamic, 16)
        for (int64_t b = 0; b < blocks; b++) {
            const uint64_t first = (uint64_t)b * VALUES_BLOCK, rest = count - first;
            count_block(grid, cloud, first, rest < VALUES_BLOCK ? (uint32_t)rest : VALUES_BLOCK, own);
        }
#pragma omp critical
        for (int i = 0; i < GRID_CELLS; i++) grid->counts[i] += own[i];
    }
}

static int compare_counts(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Which share of the points the cells have that hold fewer than the median. counts: sorted, empty of them 0. */
static double emptier_share(const uint64_t counts[GRID_CELLS], int empty, int middle) {
    uint64_t emptier = 0, fuller = 0;
    for (int i = empty; i < middle; i++) emptier += counts[i];
    for (int i = middle; i < GRID_CELLS; i++) fuller += counts[i];
    return middle == empty ? 1 : (double)emptier / (double)(emptier + fuller);
}

static double shown_share(const mote_cloud *cloud, const uint64_t counts[GRID_CELLS]) {
    uint64_t shown = 0;
    for (int i = 0; i < GRID_CELLS; i++) shown += counts[i];
    return (double)shown / (double)mote_cloud_count(cloud);
}

picture_spacing picture_spacing_of(session *s, const mote_cloud *cloud, const mote_camera *camera,
                                   const mote_render_params *params) {
    density_grid grid = {.lens = picture_lens_of(camera, params)};
    const int cells = GRID_CELLS;
    const double cell_pixels = (double)params->width * params->height / cells;
    int empty = 0;
    grid.cells_per_pixel[0] = (double)GRID_COLUMNS / params->width;
    grid.cells_per_pixel[1] = (double)GRID_ROWS / params->height;
    count_points(s, cloud, &grid);
    qsort(grid.counts, (size_t)cells, sizeof grid.counts[0], compare_counts);
    while (empty < cells && grid.counts[empty] == 0) empty++;
    if (empty == cells) return (picture_spacing){1, 1, 1, 0};
    const int middle = empty + (cells - empty) / 2;
    const uint64_t median = grid.counts[middle], few = grid.counts[empty + (cells - empty) / 4];
    return (picture_spacing){
        .median = sqrt(cell_pixels / (double)median),
        .upper = sqrt(cell_pixels / (double)few),
        .emptier_share = emptier_share(grid.counts, empty, middle),
        .shown = shown_share(cloud, grid.counts),
    };
}

/* Pixels of a map are as large as their points are far apart: what is in them is shown, not a surface. */
static bool is_dense(const picture_look *look, const picture_spacing *spacing, const picture_plan *plan) {
    return look->terrain && spacing->upper < (plan->is_map ? SPARSE_MAP : SPARSE_PIXELS);
}

bool picture_look_may_be_surface(const picture_look *look, const picture_spacing *spacing, const picture_plan *plan) {
    return plan->mode == PICTURE_SURFACE ||
           (plan->mode == PICTURE_AUTO && !look->few && !is_dense(look, spacing, plan));
}

/* The width of the discs of few points, which should be seen, and fill no more than a part of the picture together. */
static double few_size(const picture_look *look, const mote_render_params *p) {
    const double shared = sqrt(FEW_SHARE * p->width * p->height / fmax(look->points, 1));
    return fmax(FEW_SIZE * p->height, fmin(shared, FEW_MOST * p->height));
}

/* An object all of whose points lie on surfaces. */
static bool is_clean(const picture_look *look, const picture_surface *surface) {
    return surface != NULL && surface->known && !look->terrain && !surface->is_noisy &&
           surface->scattered < CLEAN_SHARE;
}

/* Whether discs tell more than a surface. Splats that belong to no surface, or stand out of it, spoil a picture by how
   large they are in it: where points are far apart, few of them are enough. A view from near by is of the same mode. */
static bool is_crowd(const picture_spacing *spacing, const picture_surface *surface, const picture_plan *plan) {
    if (surface == NULL || !surface->known) return false;
    if (surface->thinness > PICTURE_THIN || surface->scattered > CROWD_SHARE) return true;
    const double apart = spacing->median / plan->params.height;
    const bool stands_off = apart > COARSE && surface->noise * apart > STAND_OFF;
    return spacing->shown > ALL_SHOWN && (stands_off || surface->scattered * apart > CROWD_SHARE * CROWD_FINE);
}

static void choose_mode(const picture_look *look, const picture_spacing *spacing, const picture_surface *surface,
                        picture_plan *plan) {
    mote_render_params *p = &plan->params;
    const bool dense = is_dense(look, spacing, plan);
    const bool uneven = spacing->shown > ALL_SHOWN && spacing->emptier_share < MIN_SHARE && !is_clean(look, surface);
    const bool crowd = is_crowd(spacing, surface, plan);
    double size = 0;
    if (look->few) {
        size = few_size(look, p);
    } else if (crowd && !dense) {
        size = fmin(fmax(CROWD_SIZE * spacing->median, UNEVEN_SIZE * p->height), CROWD_MOST * p->height);
    } else if (uneven && !dense) {
        size = UNEVEN_SIZE * p->height;
    }
    plan->mode = look->few || dense || crowd || uneven ? PICTURE_POINTS : PICTURE_SURFACE;
    if (size > 0) p->point_size = fmin(size, MOTE_RENDER_MAX_POINT);
}

void picture_look_settle(const picture_look *look, const picture_spacing *spacing, const picture_surface *surface,
                         picture_plan *plan) {
    mote_render_params *p = &plan->params;
    if (plan->mode == PICTURE_AUTO) choose_mode(look, spacing, surface, plan);
    const bool is_surface = plan->mode == PICTURE_SURFACE, known = surface != NULL && surface->known;
    p->mode = (mote_render_mode)plan->mode;
    if (!plan->has_edl) p->edl_strength = is_surface ? SURFACE_EDL : POINTS_EDL;
    if (!plan->has_samples) p->samples = is_surface || spacing->upper < DENSE_PIXELS ? 2 : 1;
    if (!plan->has_close) {
        p->close_pixels = is_surface ? SURFACE_CLOSE : (uint32_t)fmin(MIN_CLOSE + 3 * spacing->median, MAX_CLOSE);
    }
    if (is_surface && (known || p->normals == MOTE_RENDER_NORMALS_GIVEN) && !plan->has_tolerance) {
        p->tolerance = CLEAN_TOLERANCE + NOISE_TOLERANCE * (known ? surface->noise : 0);
    }
    if (is_surface) p->max_pixels = fmax(MIN_SPLAT_PIXELS, MAX_SPLAT * (known ? spacing->median : spacing->upper));
    if (is_surface && is_clean(look, surface)) p->max_pixels = fmax(p->max_pixels, MAX_SPARSE_SPLAT * spacing->upper);
}

double picture_look_reach(const picture_plan *plan, const picture_spacing *spacing) {
    const mote_render_params *p = &plan->params;
    return p->mode == MOTE_RENDER_SURFACE ? fmin(SPLAT_REACH * spacing->upper, p->max_pixels) : 0.5 * p->point_size;
}

const char *picture_mode_name(mote_render_mode mode) {
    static const char *const names[] = {"points", "average", "surface"};
    return names[mode];
}

/* How far splats reach is known when they are drawn. So the picture is drawn small, the box of what is drawn in it is
   measured, and the camera moved until that box ends at the margins:

     +------------+      retreat until        +------------+      aim at its middle,      +------------+
     |   (####)   |      no edge cuts it      |            |      come nearer             |  (######)  |
     |  (######)  |          ---->            |   (####)   |          ---->              | (########) |
     +-(######)---+                           |   (####)   |                              |  (######)  |
                                              +------------+                              +------------+

   Only where points are so far apart that it can be seen; such pictures have few points, and cost little. */
#include "render/picture_room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/picture_camera.h"
#include "render/picture_places.h"

#define MARGIN     0.02 /* of the picture at each edge, as cameras that are fitted leave */
#define SIDE       480  /* pixels of the longer side of what is measured: a pixel is a tenth of a margin */
#define FIRST      1.25 /* of the distance, before the first measuring: most splats end within */
#define ROUNDS     8    /* three are enough; a camera close to few large discs takes more */
#define ENOUGH     0.01 /* of the distance: a change below it is none */
#define DIRECTIONS 4    /* of an orbit that are measured */

/* Where the picture's contents end, as shares of its sides, and how deep they are there. */
typedef struct room_extent {
    double low[2], high[2];
    double low_depth[2], high_depth[2];
    bool is_cut;
} room_extent;

/* The picture's settings, smaller: what counts in pixels shrinks along. */
static mote_render_params small_params(const mote_render_params *params) {
    mote_render_params p = *params;
    const double scale = fmin(1, (double)SIDE / (double)(p.width > p.height ? p.width : p.height));
    p.width = (uint32_t)fmax(1, round(p.width * scale));
    p.height = (uint32_t)fmax(1, round(p.height * scale));
    p.part_x = p.part_y = p.part_width = p.part_height = 0;
    if (p.width * p.samples > SIDE || p.height * p.samples > SIDE) p.samples = 1; /* else splats are as they will be */
    p.edl_strength = 0;
    p.show = MOTE_RENDER_SHOW_COLOR;
    p.max_pixels = fmax(p.max_pixels * scale, 1);
    p.point_size *= scale;
    return p;
}

/* A pixel that shows something becomes an end where it is farther out, or as far and nearer to the eye. */
static void add_pixel(room_extent *extent, const uint32_t at[2], double depth) {
    for (int k = 0; k < 2; k++) {
        const double low = at[k], high = at[k] + 1.0;
        if (low < extent->low[k] || (low == extent->low[k] && depth < extent->low_depth[k])) {
            extent->low[k] = low;
            extent->low_depth[k] = depth;
        }
        if (high > extent->high[k] || (high == extent->high[k] && depth < extent->high_depth[k])) {
            extent->high[k] = high;
            extent->high_depth[k] = depth;
        }
    }
}

static void measure(const float *depth, const mote_render_params *p, room_extent *extent) {
    const uint32_t size[2] = {p->width, p->height};
    *extent = (room_extent){.low = {size[0], size[1]}, .is_cut = false};
    for (uint32_t y = 0; y < p->height; y++) {
        for (uint32_t x = 0; x < p->width; x++) {
            const double there = (double)depth[(size_t)y * p->width + x];
            if (isfinite(there)) add_pixel(extent, (const uint32_t[2]){x, y}, there);
        }
    }
    const bool is_empty = extent->low[0] >= extent->high[0]; /* nothing is drawn: it stays as it is */
    for (int k = 0; k < 2; k++) {
        if (is_empty) extent->low[k] = 0, extent->high[k] = size[k];
        if (is_empty) extent->low_depth[k] = extent->high_depth[k] = 1;
        extent->is_cut |= !is_empty && (extent->low[k] == 0 || extent->high[k] == size[k]);
        extent->low[k] /= size[k];
        extent->high[k] /= size[k];
    }
}

/* How far the contents have to move for their ends to be equally far from opposite edges: in shares of the side, of
   what is 1 deep. What is near moves farther than what is far, each by the reciprocal of its depth. */
static double off_middle(const room_extent *extent, int k) {
    return (extent->low[k] + extent->high[k] - 1) / (1 / extent->low_depth[k] + 1 / extent->high_depth[k]);
}

/* Moves a camera and its target aside, so that the contents are in the picture's middle. */
static void aim(mote_camera *camera, const mote_render_params *p, const room_extent *extent) {
    const picture_lens lens = picture_lens_of(camera, p);
    const double move[2] = {off_middle(extent, 0) * p->width / lens.scale,
                            off_middle(extent, 1) * p->height / lens.scale};
    for (int k = 0; k < 3; k++) {
        const double by = move[0] * lens.right[k] + move[1] * lens.down[k];
        camera->eye[k] += by;
        camera->target[k] += by;
    }
}

/* One picture. In a parallel projection all moves alike, as if it were 1 deep. */
static mote_status look_once(const mote_render_params *p, mote_renderer *renderer, const mote_camera *camera,
                             float *depth, room_extent *extent) {
    mote_render_result result;
    memset(&result, 0, sizeof result);
    result.depth = depth;
    const mote_status status = mote_render_draw(renderer, camera, p, &result);
    if (status == MOTE_OK) measure(depth, p, extent);
    for (int k = 0; k < 2 && camera->projection != MOTE_PERSPECTIVE; k++) {
        extent->low_depth[k] = extent->high_depth[k] = 1;
    }
    return status;
}

/* ---- the points themselves */

/* How far points reach beyond the four planes that the margins are, seen from the eye as it was. Moved aside, it has
   other distances from which all points are within the margins. */
typedef struct room_points {
    picture_lens lens;
    double slope[2]; /* of the planes; 0 in a parallel projection */
    double beyond[2][2];
} room_points;

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void add_place(room_points *points, const double place[3]) {
    const picture_lens *lens = &points->lens;
    const double way[3] = {place[0] - lens->eye[0], place[1] - lens->eye[1], place[2] - lens->eye[2]};
    const double across[2] = {dot(way, lens->right), dot(way, lens->down)}, depth = dot(way, lens->forward);
    for (int k = 0; k < 2; k++) {
        points->beyond[k][0] = fmax(points->beyond[k][0], -across[k] - points->slope[k] * depth);
        points->beyond[k][1] = fmax(points->beyond[k][1], across[k] - points->slope[k] * depth);
    }
}

static bool is_within(const mote_box *box, const double place[3]) {
    bool within = true;
    for (int k = 0; k < 3; k++) within = within && place[k] >= box->min[k] && place[k] <= box->max[k];
    return within;
}

static void measure_points(const mote_cloud *cloud, const mote_box *box, const mote_camera *camera,
                           const mote_render_params *p, room_points *points) {
    const uint64_t count = mote_cloud_count(cloud);
    double places[3][VALUES_BLOCK];
    points->lens = picture_lens_of(camera, p);
    for (int k = 0; k < 2; k++) {
        const double slope = (1 - 2 * MARGIN) * points->lens.middle[k] / points->lens.scale;
        points->slope[k] = points->lens.perspective ? slope : 0;
        points->beyond[k][0] = points->beyond[k][1] = -INFINITY;
    }
    for (uint64_t first = 0; first < count; first += VALUES_BLOCK) {
        const uint32_t some = count - first < VALUES_BLOCK ? (uint32_t)(count - first) : VALUES_BLOCK;
        picture_places_read(cloud, first, some, places);
        for (uint32_t i = 0; i < some; i++) {
            const double place[3] = {places[0][i], places[1][i], places[2][i]};
            if (is_within(box, place)) add_place(points, place);
        }
    }
}

/* The least distance that has all points within the margins, in the distance of the camera. */
static double least_distance(const room_points *points, const mote_camera *camera, const mote_render_params *p) {
    const picture_lens *was = &points->lens, now = picture_lens_of(camera, p);
    const double way[3] = {camera->target[0] - now.eye[0], camera->target[1] - now.eye[1],
                           camera->target[2] - now.eye[2]};
    const double moved[3] = {now.eye[0] - was->eye[0], now.eye[1] - was->eye[1], now.eye[2] - was->eye[2]};
    const double across[2] = {dot(moved, was->right), dot(moved, was->down)}, along = dot(moved, was->forward);
    double least = 0;
    for (int k = 0; k < 2; k++) {
        const double out = fmax(points->beyond[k][0] + across[k], points->beyond[k][1] - across[k]);
        const double half = (1 - 2 * MARGIN) * now.middle[k] / now.scale;
        least = fmax(least, now.perspective ? 1 + (along + out / half) / dot(way, now.forward) : out / half);
    }
    return least;
}

/* ---- what is drawn */

/* Draws the frames of an orbit that are measured, or the only one, and gives what is around all. */
static int look(session *s, const mote_render_params *p, mote_renderer *renderer, const picture_path *path,
                float *depth, room_extent *all) {
    const uint32_t step = path->orbit ? (path->frames + DIRECTIONS - 1) / DIRECTIONS : path->frames;
    for (uint32_t frame = 0; frame < path->frames; frame += step) {
        const mote_camera camera = picture_path_at(path, frame);
        room_extent one;
        const mote_status status = look_once(p, renderer, &camera, depth, &one);
        if (status != MOTE_OK) return session_fail(s, status, false);
        if (frame == 0) *all = one;
        all->is_cut |= one.is_cut;
        for (int k = 0; k < 2; k++) {
            all->low[k] = fmin(all->low[k], one.low[k]);
            all->high[k] = fmax(all->high[k], one.high[k]);
        }
    }
    return EXIT_DONE;
}

/* How much of the picture's sides its contents take without the margins, when they are in its middle: 1 is what is
   wanted. An orbit stays where it is. */
static double share_of(const room_extent *extent, bool orbit) {
    double share = 0;
    for (int k = 0; k < 2; k++) {
        const double low = extent->low[k] - 0.5, high = extent->high[k] - 0.5;
        const double half = orbit ? fmax(-low, high) : high - off_middle(extent, k) / extent->high_depth[k];
        share = fmax(share, 2 * half);
    }
    return share / (1 - 2 * MARGIN);
}

/* Nearer, splats are larger, and what ended at the margins may be cut: between a distance that cuts and one that does
   not the next is in the middle. Distances are in that of the camera that is fitted to the points. None is less than
   what has all points within the margins: one disc, of a size in pixels, never fills a picture, and what has left a
   picture is not drawn, and would not be missed. */
typedef struct room_search {
    double at, cuts, fits; /* cuts, fits: 0: none is known */
    room_points points;
} room_search;

/* One round: gives the next distance; at, where the contents end at the margins. */
static double next_distance(room_search *search, const room_extent *extent, const mote_render_params *p,
                            picture_path *path) {
    if (extent->is_cut) {
        search->cuts = search->at;
        return search->fits > 0 ? 0.5 * (search->at + search->fits) : search->at * FIRST;
    }
    const double filled = search->at * share_of(extent, path->orbit);
    search->fits = search->at;
    if (!path->orbit) aim(&path->cameras[0], p, extent);
    const double least = path->orbit ? 1 : search->at * least_distance(&search->points, &path->cameras[0], p);
    const double wanted = fmax(least, filled);
    return search->cuts > 0 ? fmax(wanted, 0.5 * (search->cuts + search->at)) : wanted;
}

/* Whether what is drawn may reach out of the picture, and may be moved. */
static bool matters(const picture_plan *plan, double reach, const picture_path *path) {
    const mote_render_params *full = &plan->params;
    const uint32_t least = full->width < full->height ? full->width : full->height;
    return picture_plan_shows_all(plan) && !plan->is_map && path->count == 1 && reach >= 0.25 * MARGIN * least;
}

static float *make_depth(session *s, const mote_render_params *p) {
    float *depth = malloc((size_t)p->width * p->height * sizeof *depth);
    if (depth == NULL) session_error(s, EXIT_RESOURCES, "out of memory: room around a picture");
    return depth;
}

int picture_room_make(session *s, const picture_plan *plan, const picture_contents *contents, double reach,
                      picture_path *path, bool *has_moved) {
    *has_moved = matters(plan, reach, path);
    if (!*has_moved) return EXIT_DONE;
    const mote_render_params p = small_params(&plan->params);
    float *depth = make_depth(s, &p);
    if (depth == NULL) return EXIT_RESOURCES;
    int code = EXIT_DONE;
    room_search search = {.at = 1};
    measure_points(contents->cloud, contents->box, &path->cameras[0], &p, &search.points);
    double next = FIRST;
    for (int round = 0; round < ROUNDS && fabs(next / search.at - 1) > ENOUGH && code == EXIT_DONE; round++) {
        room_extent extent;
        picture_path_retreat(path, next / search.at);
        search.at = next;
        code = look(s, &p, contents->renderer, path, depth, &extent);
        if (code == EXIT_DONE) next = next_distance(&search, &extent, &p, path);
    }
    if (search.cuts == search.at && search.fits > 0) picture_path_retreat(path, search.fits / search.at);
    free(depth);
    return code;
}

int picture_room_keep(session *s, const picture_plan *plan, mote_renderer *renderer, picture_path *path,
                      bool *has_moved) {
    const mote_render_params p = small_params(&plan->params);
    room_extent extent = {.is_cut = false};
    float *depth = make_depth(s, &p);
    const int code = depth != NULL ? look(s, &p, renderer, path, depth, &extent) : EXIT_RESOURCES;
    *has_moved = extent.is_cut;
    if (extent.is_cut) picture_path_retreat(path, 1 + 2 * MARGIN);
    free(depth);
    return code;
}

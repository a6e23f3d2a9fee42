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

#define MARGIN     0.02 /* of the picture at each edge, as cameras that are fitted leave */
#define SIDE       480  /* pixels of the longer side of what is measured: a pixel is a tenth of a margin */
#define FIRST      1.25 /* of the distance, before the first measuring: most splats end within */
#define ROUNDS     8    /* three are enough; a camera close to few large discs takes more */
#define ENOUGH     0.01 /* of the distance: a change below it is none */
#define DIRECTIONS 4    /* of an orbit that are measured */

/* Where the picture's contents end, as shares of its sides. */
typedef struct room_extent {
    double low[2], high[2];
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

static void measure(const float *depth, const mote_render_params *p, room_extent *extent) {
    uint32_t low[2] = {p->width, p->height}, high[2] = {0, 0};
    const uint32_t size[2] = {p->width, p->height};
    for (uint32_t y = 0; y < p->height; y++) {
        for (uint32_t x = 0; x < p->width; x++) {
            if (!isfinite(depth[(size_t)y * p->width + x])) continue;
            const uint32_t at[2] = {x, y};
            for (int k = 0; k < 2; k++) {
                if (at[k] < low[k]) low[k] = at[k];
                if (at[k] + 1 > high[k]) high[k] = at[k] + 1;
            }
        }
    }
    extent->is_cut = false;
    for (int k = 0; k < 2; k++) {
        if (low[k] >= high[k])
            low[k] = 0, high[k] = size[k]; /* nothing is drawn: it stays as it is */
        else
            extent->is_cut |= low[k] == 0 || high[k] == size[k];
        extent->low[k] = (double)low[k] / size[k];
        extent->high[k] = (double)high[k] / size[k];
    }
}

/* Moves a camera and its target aside, so that what is at a place of the picture comes to its middle. */
static void aim(mote_camera *camera, const mote_render_params *p, const double place[2]) {
    const picture_lens lens = picture_lens_of(camera, p);
    double depth = 0, move[2];
    for (int k = 0; k < 3; k++) depth += (camera->target[k] - camera->eye[k]) * lens.forward[k];
    const double pixels = lens.scale / (lens.perspective ? depth : 1);
    move[0] = (place[0] - 0.5) * p->width / pixels;
    move[1] = (place[1] - 0.5) * p->height / pixels;
    for (int k = 0; k < 3; k++) {
        const double by = move[0] * lens.right[k] + move[1] * lens.down[k];
        camera->eye[k] += by;
        camera->target[k] += by;
    }
}

/* Draws the frames of an orbit that are measured, or the only one, and gives the box around all. */
static int look(session *s, const mote_render_params *p, mote_renderer *renderer, const picture_path *path,
                float *depth, room_extent *all) {
    *all = (room_extent){{1, 1}, {0, 0}, false};
    const uint32_t step = path->orbit ? (path->frames + DIRECTIONS - 1) / DIRECTIONS : path->frames;
    for (uint32_t frame = 0; frame < path->frames; frame += step) {
        const mote_camera camera = picture_path_at(path, frame);
        mote_render_result result;
        room_extent one;
        memset(&result, 0, sizeof result);
        result.depth = depth;
        const mote_status status = mote_render_draw(renderer, &camera, p, &result);
        if (status != MOTE_OK) return session_fail(s, status, false);
        measure(depth, p, &one);
        all->is_cut |= one.is_cut;
        for (int k = 0; k < 2; k++) {
            all->low[k] = fmin(all->low[k], one.low[k]);
            all->high[k] = fmax(all->high[k], one.high[k]);
        }
    }
    return EXIT_DONE;
}

/* How much of the picture's sides its contents take without the margins: 1 is what is wanted. *middle: of them. */
static double share_of(const room_extent *extent, bool orbit, double middle[2]) {
    double share = 0;
    for (int k = 0; k < 2; k++) {
        middle[k] = orbit ? 0.5 : 0.5 * (extent->low[k] + extent->high[k]);
        share = fmax(share, 2 * fmax(middle[k] - extent->low[k], extent->high[k] - middle[k]));
    }
    return share / (1 - 2 * MARGIN);
}

/* Nearer, splats are larger, and what ended at the margins may be cut: between a distance that cuts and one that does
   not the next is in the middle. Distances are in that at which all points are within the margins, which is the least:
   one disc, of a size in pixels, never fills a picture. */
typedef struct room_search {
    double at, cuts, fits; /* cuts, fits: 0: none is known */
} room_search;

/* One round: gives the next distance; at, where the contents end at the margins. */
static double next_distance(room_search *search, const room_extent *extent, const mote_render_params *p,
                            picture_path *path) {
    double middle[2];
    if (extent->is_cut) {
        search->cuts = search->at;
        return search->fits > 0 ? 0.5 * (search->at + search->fits) : search->at * FIRST;
    }
    const double wanted = fmax(1, search->at * share_of(extent, path->orbit, middle));
    search->fits = search->at;
    if (!path->orbit) aim(&path->cameras[0], p, middle);
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

int picture_room_make(session *s, const picture_plan *plan, double reach, mote_renderer *renderer, picture_path *path,
                      bool *has_moved) {
    *has_moved = matters(plan, reach, path);
    if (!*has_moved) return EXIT_DONE;
    const mote_render_params p = small_params(&plan->params);
    float *depth = make_depth(s, &p);
    if (depth == NULL) return EXIT_RESOURCES;
    int code = EXIT_DONE;
    room_search search = {1, 0, 0};
    double next = FIRST;
    for (int round = 0; round < ROUNDS && fabs(next / search.at - 1) > ENOUGH && code == EXIT_DONE; round++) {
        room_extent extent;
        picture_path_retreat(path, next / search.at);
        search.at = next;
        code = look(s, &p, renderer, path, depth, &extent);
        if (code == EXIT_DONE) next = next_distance(&search, &extent, &p, path);
    }
    if (search.cuts == search.at && search.fits > 0) picture_path_retreat(path, search.fits / search.at);
    free(depth);
    return code;
}

int picture_room_keep(session *s, const picture_plan *plan, mote_renderer *renderer, picture_path *path,
                      bool *has_moved) {
    const mote_render_params p = small_params(&plan->params);
    room_extent extent = {{0, 0}, {1, 1}, false};
    float *depth = make_depth(s, &p);
    const int code = depth != NULL ? look(s, &p, renderer, path, depth, &extent) : EXIT_RESOURCES;
    *has_moved = extent.is_cut;
    if (extent.is_cut) picture_path_retreat(path, 1 + 2 * MARGIN);
    free(depth);
    return code;
}

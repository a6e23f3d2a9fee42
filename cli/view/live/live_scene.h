/* A cloud as it is at one time, ready to be drawn from anywhere, with the colours that pages ask for.
 *
 *   scene   context ── cloud
 *             └ parts [the whole] [filter A] …
 *                 └ renderers [colours A] [colours B] …   one for each colouring that is in use, LIVE_RENDERERS at
 * most; beyond that the one used longest ago is coloured anew
 *
 * It has a context of its own, so that the next one can be read while this one is drawn. Used by one thread at a time.
 * A picture is that of mote render with the same options, bit for bit: the same steps make it. */
#ifndef CLI_LIVE_SCENE_H
#define CLI_LIVE_SCENE_H

#include "render/picture_color.h"
#include "render/picture_look.h"
#include "render/picture_up.h"
#include "session.h"
#include "view/live/live_message.h"
#include "view/live/live_picture.h"
#include "view/live/live_source.h"

#define LIVE_RENDERERS 4
#define LIVE_PARTS     3
#define LIVE_COLORINGS 8 /* of which the ranges are kept */

/* What colours of a name are, before a page's own range. */
typedef struct live_coloring {
    char key[LIVE_NAME_MAX + LIVE_TEXT_MAX]; /* name and direction that is up */
    picture_colors colors;
    bool is_known;
} live_coloring;

typedef struct live_renderer {
    mote_renderer *renderer;
    char key[LIVE_NAME_MAX + 2 * LIVE_TEXT_MAX + 16]; /* what it is coloured by */
    uint64_t used;
} live_renderer;

/* The cloud, or what a filter leaves of it. */
typedef struct live_part {
    mote_cloud *cloud; /* of the whole: that of the scene */
    live_filter filter;
    char up[LIVE_TEXT_MAX]; /* along which its heights count */
    live_renderer renderers[LIVE_RENDERERS];
    uint64_t used;
} live_part;

typedef struct live_scene {
    session session;           /* its context, quiet after the first scene */
    const char *const *inputs; /* as they were typed */
    int input_count;
    char name[256];   /* of the file that it is of */
    uint32_t version; /* 1, 2, … */
    mote_cloud *cloud;
    mote_box box; /* of nearly all points: those far from all others do not count */
    picture_up up;
    live_part parts[LIVE_PARTS]; /* the whole, and what the filters leave that are in use */
    live_coloring colorings[LIVE_COLORINGS];
    uint64_t clock; /* counts uses */
    int next_coloring;
    picture_colors colors;       /* of the picture that is drawn */
    char look_up[LIVE_TEXT_MAX]; /* that the look is of */
    picture_look look;
    float *depth; /* [depth_pixels] of the picture that is drawn */
    size_t depth_pixels;
} live_scene;

/* How far apart points were in a still picture, and its distance between eye and target. */
typedef struct live_spacing {
    picture_spacing found; /* median 0: there was none yet */
    double distance;
} live_spacing;

/* How a picture is to be drawn. */
typedef struct live_quality {
    bool is_still; /* as mote render draws it; else fast, at a scale */
    double scale;
    live_spacing *spacing; /* of the last still picture of this client, for the moving ones */
} live_quality;

/// Makes a scene of what is new in a source, in a context of its own. Prints progress and errors as the options of s
/// say. source: whose inputs outlive the scene
/// Returns an exit code; *out NULL where it is not EXIT_DONE. why: [why_size] the message
int live_scene_make(const session *s, live_source *source, live_scene **out, char *why, size_t why_size);
void live_scene_free(live_scene *scene);

/// Draws a view. colors: out: what its colours are; NULL where they are false colours
/// Returns false, and why, where it cannot be drawn
bool live_scene_draw(live_scene *scene, const live_view *view, const live_quality *quality, live_picture *picture,
                     const picture_colors **colors, char *why, size_t why_size);

/// Which point a view shows at a pixel, or nearest to it.
/// radius  pixels around it that are looked at
/// depth   out: along the line of sight
/// cloud   out: of which it is a row, the scene's or what a filter left of it; until the next call
/// Returns its row, or MOTE_RENDER_NO_POINT
uint32_t live_scene_point_at(live_scene *scene, const live_view *view, uint32_t x, uint32_t y, uint32_t radius,
                             double *depth, const mote_cloud **cloud);

#endif

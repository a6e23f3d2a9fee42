/* What mote render was asked for, as its options say it and as it is understood. */
#ifndef CLI_PICTURE_PLAN_H
#define CLI_PICTURE_PLAN_H

#include "paths.h"
#include "render/color_map.h"
#include "render/picture_canvas.h"

#define PICTURE_MAX_SIDE 65535u /* of a picture in one file */

typedef enum picture_mode { PICTURE_POINTS, PICTURE_AVERAGE, PICTURE_SURFACE, PICTURE_AUTO } picture_mode;

/* Where a picture is taken from. Names are relative to up: with z up, front looks along +y, right along -x. */
typedef enum picture_side {
    SIDE_ISO,
    SIDE_TOP,
    SIDE_BOTTOM,
    SIDE_FRONT,
    SIDE_BACK,
    SIDE_LEFT,
    SIDE_RIGHT
} picture_side;

typedef struct picture_view {
    picture_side side;
    bool has_side; /* asked for; else what is seen from one side is looked at from there */
    double up[3];
    bool has_up; /* asked for; else what the cloud says */
    bool has_eye, has_target;
    double eye[3], target[3];
    bool fit; /* with an eye: moves it along its line of sight until all is seen */
    bool orthographic;
    double angle_rad; /* perspective */
    double gsd;       /* orthographic: world units of a pixel; 0: as --fit says */
} picture_view;

/* The options as they were typed; NULL or false: not given. */
typedef struct picture_options {
    int mode, side, bits, samples, close, map, show, normals_of;
    const char *size, *eye, *target, *up, *background, *color, *range, *exposure;
    double fov_deg, gsd, edl, point_size, share, tolerance;
    uint64_t k, tile, orbit, frames, wave;
    const char *cameras, *depth, *normals, *index;
    bool mode_given, side_given, samples_given, fov_given, gsd_given, edl_given, point_size_given, close_given,
        map_given, show_given, normals_given, share_given, tolerance_given, k_given, keep_strays, fit, ortho;
    bool legend, scale_bar, stats, bits_given, tile_given, orbit_given, frames_given, wave_given, closed, whole, moving;
} picture_options;

/* What they mean. */
typedef struct picture_plan {
    const io_paths *paths;
    picture_mode mode;
    picture_view view;
    bool has_size, has_samples, has_edl, has_close, has_k, has_tolerance;
    mote_render_params params;
    bool needs_normals; /* those of the cloud */
    bool has_normals;   /* of surfaces: where they come from was asked for */
    bool keep_strays;
    bool wide; /* 16 bits a channel */
    bool transparent;
    const char *color; /* NULL: by the data */
    color_map map;
    bool map_given, range_given;
    bool range_by_share; /* of all values: 0..1; else values */
    double range[2];
    double exposure;     /* of the cloud's own colours: how many times brighter; 0: by the data */
    bool exposure_given; /* and not kept from the first cloud of a sequence */
    picture_output outputs[PICTURE_LAYERS];
    bool is_map;         /* its size is that of the points at the scale */
    uint32_t tile;       /* pixels of a side; 0: as large as the picture may be */
    uint32_t orbit;      /* pictures of a turn; 0: no turn */
    const char *cameras; /* a file of them; NULL: none */
    uint32_t frames;     /* along the cameras; 0: one each */
    uint32_t wave;       /* pictures while a wave runs through the cloud once; 0: none does */
    bool moving;         /* each input is the cloud of a picture */
    bool closed, legend, scale_bar, stats;
    bool whole; /* octrees, too: every point is read */
} picture_plan;

/* Checks the options. Returns an exit code; EXIT_USAGE, and why, for what cannot be. */
int picture_plan_make(const picture_options *o, const io_paths *paths, picture_plan *plan);
/* Whether there are several pictures, one after the other. */
bool picture_plan_is_sequence(const picture_plan *plan);
/* Whether a picture is of the whole cloud: from within a scene the distance alone makes density uneven. */
bool picture_plan_shows_all(const picture_plan *plan);
/* Refuses two outputs that are one file; outputs: those of one of several pictures. Returns an exit code. */
int picture_plan_check_distinct(session *s, const picture_plan *plan, const picture_output outputs[PICTURE_LAYERS]);
/* Checks the outputs. Returns an exit code. */
int picture_plan_check_outputs(session *s, picture_plan *plan);

#endif

/* What mote render was asked for, as its options say it and as it is understood. */
#ifndef CLI_PICTURE_PLAN_H
#define CLI_PICTURE_PLAN_H

#include "paths.h"
#include "render/picture_file.h"

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
    double up[3];
    bool has_eye, has_target;
    double eye[3], target[3];
    bool fit; /* with an eye: moves it along its line of sight until all is seen */
    bool orthographic;
    double angle_rad; /* perspective */
    double gsd;       /* orthographic: world units of a pixel; 0: as --fit says */
} picture_view;

/* The options as they were typed; NULL or false: not given. */
typedef struct picture_options {
    int mode, side, bits, samples, close;
    const char *size, *eye, *target, *up, *background, *color, *range, *map;
    double fov_deg, gsd, edl, point_size;
    bool mode_given, side_given, samples_given, fov_given, gsd_given, edl_given, close_given, point_size_given, fit,
        ortho;
    const char *depth, *normals, *index;
    bool legend, scale_bar, stats, bits_given;
} picture_options;

/* What they mean. */
typedef struct picture_plan {
    const io_paths *paths;
    picture_mode mode;
    picture_view view;
    bool has_size, has_samples, has_edl, has_close;
    mote_render_params params;
    picture_format format;
    bool wide; /* 16 bits a channel */
    bool transparent;
    const char *color, *map;
    bool stats;
} picture_plan;

/* Checks the options. Returns an exit code; EXIT_USAGE, and why, for what cannot be. */
int picture_plan_make(const picture_options *o, const io_paths *paths, picture_plan *plan);
/* Checks the outputs. Returns an exit code. */
int picture_plan_check_outputs(session *s, picture_plan *plan);

#endif

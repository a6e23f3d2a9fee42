/* What the colours of a picture say. */
#ifndef CLI_PICTURE_COLOR_H
#define CLI_PICTURE_COLOR_H

#include "render/color_map.h"
#include "render/picture_plan.h"
#include "render/value_range.h"

typedef enum color_source {
    COLOR_RGB,    /* the cloud's own */
    COLOR_PLAIN,  /* light grey */
    COLOR_RAMP,   /* a number through a colour map */
    COLOR_CLASS,  /* of ASPRS */
    COLOR_LABEL,  /* a number that names things */
    COLOR_NORMALS /* x, y, z as red, green, blue */
} color_source;

typedef struct picture_colors {
    color_source source;
    char name[64]; /* of the attribute; "height" */
    char unit[64]; /* "" if it is not known, or there is none */
    color_map map;
    bool is_name;      /* a number that is no quantity: not to be mixed */
    bool is_light;     /* a ramp as a photograph is exposed: of what nobody asked for */
    double range[2];   /* of the ramp */
    double exposure;   /* how many times brighter the cloud's own colours are shown */
    bool classes[256]; /* those that there are */
    point_values values;
} picture_colors;

/* The attributes to read for it, separated by commas. */
void picture_color_select(const picture_plan *plan, char *select, size_t size_bytes);
/* Chooses by the options, or by what the cloud has. terrain: of heights. Returns an exit code. */
int picture_color_choose(session *s, const picture_plan *plan, const mote_cloud *cloud, bool terrain,
                         picture_colors *colors);
/* The plan's colours are from now on those of these: for other clouds of a sequence. */
void picture_color_keep(const picture_colors *colors, picture_plan *plan);
/* Tells of dark colours that are shown brighter though nobody asked for it. */
void picture_color_tell(session *s, const picture_plan *plan, const picture_colors *colors);
/* What colours say, in a word. */
const char *picture_color_title(const picture_colors *colors);
/* Colours of all points. rgba: out, [4 * points] to be freed; NULL: those that the cloud has. Returns an exit code. */
int picture_color_paint(session *s, const picture_colors *colors, const mote_cloud *cloud, uint8_t **rgba);
/* Colours the points of a renderer so, the cloud's own as bright as they are to be shown. Returns an exit code. */
int picture_color_apply(session *s, const picture_colors *colors, const mote_cloud *cloud, mote_renderer *renderer);

#endif

/* Scenes whose planes are known, made by formula and seed, and a score of what was found in them. */
#ifndef MOTE_PLANES_SCENES_H
#define MOTE_PLANES_SCENES_H

#include "mote/mote.h"

#define PLANES_SCENES_MAX 2560u /* surfaces of a scene */

typedef enum planes_scene_kind {
    PLANES_SCENE_ROOM,
    PLANES_SCENE_TABLES,
    PLANES_SCENE_CLUTTER,
    PLANES_SCENE_CORNER,
    PLANES_SCENE_STAIRS,
    PLANES_SCENE_SLABS,
    PLANES_SCENE_FAN,
    PLANES_SCENE_GABLES,
    PLANES_SCENE_HIPS,
    PLANES_SCENE_BOXES,
    PLANES_SCENE_ROUND,
    PLANES_SCENE_BALLS,
    PLANES_SCENE_RECTANGLES,
    PLANES_SCENE_HUNDRED,
    PLANES_SCENE_TERRAIN,
    PLANES_SCENE_FACADE,
    PLANES_SCENE_NOTHING,
    PLANES_SCENE_TILE,
    PLANES_SCENE_KINDS, /* those that the search was made with; the others came after it */
    PLANES_SCENE_SHELVES = PLANES_SCENE_KINDS,
    PLANES_SCENE_CORRIDOR,
    PLANES_SCENE_SOLIDS,
    PLANES_SCENE_SHEDS,
    PLANES_SCENE_STREET,
    PLANES_SCENE_SPIRAL,
    PLANES_SCENE_PANELS,
    PLANES_SCENE_STACK,
    PLANES_SCENE_TUNNEL,
    PLANES_SCENE_CURVED,
    PLANES_SCENE_STRIPS,
    PLANES_SCENE_RAYS,
    PLANES_SCENE_RINGS,
    PLANES_SCENE_AIRBORNE, /* from here on: what was reported to fail */
    PLANES_SCENE_CURTAIN,
    PLANES_SCENE_DUNES,
    PLANES_SCENE_SHEETS,
    PLANES_SCENE_ROAD,
    PLANES_SCENE_BRIDGE,
    PLANES_SCENE_ZEROS,
    PLANES_SCENE_VOXELS,
    PLANES_SCENE_CLOTH, /* from here on: smooth things that no rule was made with */
    PLANES_SCENE_CORRUGATED,
    PLANES_SCENE_VAULT,
    PLANES_SCENE_HULL,
    PLANES_SCENE_PIPES,
    PLANES_SCENE_PILLOWS,
    PLANES_SCENE_SAGGING, /* planes that bend a little */
    PLANES_SCENE_STANDS,  /* from here on: like things in rows */
    PLANES_SCENE_RACK,
    PLANES_SCENE_YARD,
    PLANES_SCENE_FLOATS, /* from here on: others found more of them */
    PLANES_SCENE_STRIPES,
    PLANES_SCENE_ALL
} planes_scene_kind;

/* What a scene is made of. */
typedef struct planes_scene_params {
    planes_scene_kind kind;
    uint64_t seed, points;
    double noise_m;  /* standard deviation, along the normal of each surface */
    double outliers; /* share of the points that are anywhere in the box of the scene */
    bool scanned;    /* density falls with the square of the distance to a scanner */
    bool turned;     /* by a random rotation */
    bool far_away;   /* at UTM coordinates, stored as whole tenths of a millimetre; else as floats around the origin */
} planes_scene_params;

/* A true plane. */
typedef struct planes_scene_plane {
    double normal[3], middle[3];
    uint64_t points;
} planes_scene_plane;

typedef struct planes_scene {
    mote_cloud *cloud;
    uint64_t points;
    int32_t *labels;  /* [points] which plane; -1: none, also of points on curved surfaces */
    uint64_t support; /* a true plane counts from so many points */
    uint32_t count;
    planes_scene_plane planes[PLANES_SCENES_MAX];
} planes_scene;

/* Zeros, for free(). */
void *planes_scene_array(uint64_t count, size_t size);
const char *planes_scene_name(planes_scene_kind kind);
/* Makes a scene; with a cloud if ctx is not NULL. positions [3 · points] out, unless NULL. */
void planes_scene_make(mote_context *ctx, const planes_scene_params *params, double *positions, planes_scene *scene);
void planes_scene_free(planes_scene *scene);

/* How well labels tell a scene. A true plane counts if it has a two-hundredth of the points or more; of a tile, where
   no roof has that share, if it has 200 points. It is found if a plane has its points: intersection over union of at
   least one half, one to one. Of the planes that are nobody's one is a split if half its points are of one true plane,
   otherwise it is false; planes that do not count may be found or not. */
typedef struct planes_scene_score {
    uint32_t planes, found, false_planes, split;
    double angle_deg, offset_m; /* the worst of those that were found; 0 without planes */
} planes_scene_score;
/* labels  [points] of the scene
   planes  what was found, for angles and offsets; NULL: they are 0
   count   how many planes the labels tell apart */
planes_scene_score planes_scene_judge(const planes_scene *scene, const int32_t *labels, uint32_t count,
                                      const mote_planes *planes);
/* Prints planes that are none, and true ones that are not found with the plane that has most of their points. */
void planes_scene_print_missed(const planes_scene *scene, const int32_t *labels, const mote_planes *planes);

#endif

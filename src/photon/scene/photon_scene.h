/* A scene as rays see it.

   node 0                 [box box box box]              the boxes of nodes 1 to 4
   nodes 1 to 4       [....]  [....]  [....]  [....]     those of nodes 5 to 20, and so on
   ...
   shapes             0 1 2 3 4 5 6 7 ...                triangles and spheres, their middles along a Hilbert curve

   No node has a pointer: the j-th box of node i is that of node 4 i + 1 + j. Numbers go on behind the last node: number
   first_shape + i is shape i. All levels but the lowest are complete; what is not there has an empty box. */
#ifndef MOTE_PHOTON_SCENE_H
#define MOTE_PHOTON_SCENE_H

#include "core/core.h"
#include "mote/photon.h"
#include "photon/photon_math.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PHOTON_WIDTH      4u
#define PHOTON_MAX_LEVELS 16u
#define PHOTON_NO_SHAPE   UINT32_MAX
#define PHOTON_NO_TEXTURE UINT32_MAX
#define PHOTON_NO_ALPHA   UINT64_MAX

/* A number of each of a node's boxes, read at once. */
typedef struct photon_four {
    float of[PHOTON_WIDTH];
} __attribute__((aligned(16))) photon_four;

enum { PHOTON_LOW, PHOTON_HIGH };

typedef struct photon_node {
    photon_four side[2][3]; /* low and high along each axis, rounded outwards; low > high: empty */
} photon_node;

/* A triangle has the corners a, b, c; a sphere has its middle in a and its radius in b.x. */
typedef struct photon_shape {
    photon_vec a, b, c;
    uint32_t material;
    uint32_t is_sphere;
} photon_shape;

typedef struct photon_surface {
    photon_vec color, emission;
    double refraction;
    double opacity, cutoff; /* of alpha */
    uint32_t kind;          /* mote_material_kind */
    uint32_t shines, shines_on_both;
    uint32_t texture, emission_texture; /* PHOTON_NO_TEXTURE: color or emission alone */
    uint32_t alpha;                     /* mote_material_alpha */
    uint32_t thin;
} photon_surface;

typedef struct photon_texture {
    uint64_t first;       /* byte of texels */
    uint64_t first_alpha; /* the same of its alpha, a byte each; PHOTON_NO_ALPHA: it is opaque */
    uint32_t width, height;
    uint32_t wrap_u, wrap_v; /* mote_texture_wrap */
} photon_texture;

/* Texture coordinates of a triangle's corners. */
typedef struct photon_corners {
    float u[3], v[3];
} photon_corners;

/* Colours of a triangle's corners: red, green, blue, alpha. */
typedef struct photon_tint {
    float of[3][4];
} photon_tint;

enum { PHOTON_LIGHT_AREA, PHOTON_LIGHT_POINT, PHOTON_LIGHT_SPOT, PHOTON_LIGHT_DIRECTIONAL, PHOTON_LIGHT_SKY };

typedef struct photon_light {
    photon_vec a, b, c;  /* AREA: corners; else a is the place, b the unit direction. From afar: a is the middle of the
                            scene, and c.x the radius of the ball around it that all light goes through */
    photon_vec strength; /* AREA, SKY: radiance; DIRECTIONAL: power per area; else power per solid angle */
    double cos_inner, cos_outer;
    double power;        /* red + green + blue */
    double power_before; /* of the lights in front of it */
    double share;        /* of what is chosen; all shares together are the power of the scene: photon_scene_shares.c */
    double share_before; /* of the lights in front of it */
    uint32_t kind;
} photon_light;

/* What a kernel gets of a scene. */
typedef struct photon_view {
    const photon_shape *shapes;
    const photon_node *nodes;
    const photon_surface *surfaces;
    const photon_light *lights;
    const photon_corners *corners;  /* [shape_count]; NULL: no shape has a texture, and so the next three */
    const photon_texture *textures; /* [texture_count] */
    const uint8_t *texels;          /* [texel_bytes] red, green, blue, sRGB; texture after texture */
    const float *linear;            /* [256] what they mean */
    const photon_tint *tints;       /* [shape_count]; NULL: no triangle has colours of its own */
    uint64_t texel_bytes;
    uint32_t texture_count;
    uint32_t has_glass;
    uint32_t has_alpha; /* some shapes let rays through */
    uint32_t has_sky;
    uint32_t has_shares;    /* shares of lights are not their powers */
    photon_vec sky, sky_up; /* radiance at the zenith, and where that is */
    uint32_t shape_count, light_count;
    uint32_t node_count, first_shape; /* what number shape 0 has among the nodes */
    double power;                     /* of all lights */
    double near_t;                    /* hits nearer than this are the surface that a ray starts from */
    double largest;                   /* coordinate of a shape, apart from its sign */
    uint32_t is_scanned; /* on a GPU: shapes are so few that rays look at all their boxes, not at a tree; */
    uint64_t spheres;    /* which of them are spheres, as bits */
} photon_view;

#define PHOTON_SCANNED_SHAPES 64u /* at most */

struct mote_scene {
    mote_context *ctx;
    photon_shape *shapes;
    photon_node *nodes;
    photon_surface *surfaces;
    photon_light *lights;
    photon_corners *corners;
    photon_tint *tints;
    photon_texture *textures;
    uint8_t *texels;
    float *linear;
    photon_view view;
    struct photon_scene_cuda *cuda; /* the same on a GPU: photon_cuda.h */
    mote_camera camera;
    mote_box bounds;
};

/* What a number of sRGB means, 0..1: rounded to float, so that it is the same on every machine. */
float photon_linear_of(uint8_t srgb);

/* Lets rays look at all boxes, where shapes are few. view->shapes: in the memory of the host. */
void photon_scan_if_few(photon_view *view);

/* Sorts the shapes and makes the nodes over them. */
mote_status photon_tree_build(mote_scene *scene);

#ifdef __cplusplus
}
#endif
#endif

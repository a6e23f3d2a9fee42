/// mote: pictures of clouds, without a window.
///
/// A renderer holds the points of a cloud in Morton order and all that a sequence of frames needs: after the first
/// frame of a size nothing is allocated. A camera and parameters make one frame; it goes into arrays of the caller.
///
///     mote_renderer *renderer = NULL;
///     mote_camera camera = mote_camera_defaults();
///     mote_render_params params = mote_render_defaults();
///     mote_render_result result = {.color8 = pixels};
///     const double from[3] = {-1, -1, 0.8};
///     mote_render_create(ctx, cloud, &renderer);
///     mote_render_fit(renderer, &camera, from, &params);
///     mote_render_draw(renderer, &camera, &params, &result);
///     mote_render_destroy(renderer);
///
/// Pictures have their first row at the top. Colours are RGBA, alpha not multiplied into them, in the numbers of the
/// cloud (sRGB for nearly all scans): they are averaged and lit in these numbers. Depth is the distance along the
/// camera's axis in world units. Normals are of unit length, in the axes of the world, and look towards the camera.
///
/// A picture is the same bytes for any number of threads, on every backend, and for the points in any order: positions
/// are projected in double precision, the nearest point of a pixel is that of the smallest depth rounded to float, of
/// equal ones the first in Morton order, then by colour, then by index; sums are integers. (index alone tells points
/// apart that are equal in position and colour.)
///
/// Points with a NaN or infinite coordinate are not drawn, nor are points whose colour has alpha 0. Depths and squared
/// distances are floats: coordinates of clouds and scenes, and scales, have a narrower range than in cloud.h, 2^-60 to
/// MOTE_RENDER_MAX_COORDINATE; eye and target of a camera are up to 2^80 away from 0.
#ifndef MOTE_RENDER_H
#define MOTE_RENDER_H

#include "cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTE_RENDER_MAX_COORDINATE                                                                                     \
    0x1p60 /* about 1.15e18; squares of distances stay below 2^126, which floats hold                                  \
            */

#define MOTE_RENDER_MAX_SIZE     32768u /* pixels of a side, samples counted */
#define MOTE_RENDER_MAX_SAMPLES  4u
#define MOTE_RENDER_MAX_LIGHTS   4u
#define MOTE_RENDER_MAX_LAYERS   4u
#define MOTE_RENDER_MAX_K        32u
#define MOTE_RENDER_MAX_POINT    32.0       /* pixels */
#define MOTE_RENDER_MAX_EXPOSURE 65535.0    /* makes the darkest colour white */
#define MOTE_RENDER_NO_POINT     UINT32_MAX /* index where a pixel has no point */

// ---------------------------------------------------------------- camera

typedef enum mote_projection {
    MOTE_PERSPECTIVE, ///< a pinhole at eye
    MOTE_ORTHOGRAPHIC ///< parallel rays: a map, a plan, an elevation
} mote_projection;

/// Where a picture is taken from. The picture's middle shows target; its upper edge lies towards up. Pixels are square.
typedef struct mote_camera {
    mote_projection projection;
    double eye[3];        ///< world coordinates
    double target[3];     ///< world coordinates, not eye
    double up[3];         ///< any length; where it is along the line of sight, the axis least along that line is taken
    double angle_rad;     ///< PERSPECTIVE: from the upper to the lower edge, above 0, below pi
    double height;        ///< ORTHOGRAPHIC: from the upper to the lower edge, world units, above 0
    double near_depth;    ///< nothing nearer is drawn; 0: PERSPECTIVE: 2^-20 of the distance from eye to target;
                          ///< ORTHOGRAPHIC: no bound, also behind eye
    double far_depth;     ///< nothing farther is drawn; 0: no bound
    uint64_t reserved[8]; ///< zero, see types.h
} mote_camera;
/// Perspective of 40 degrees, from (0, -1, 0) to (0, 0, 0), z up.
MOTE_API mote_camera mote_camera_defaults(void);

/// Moves a camera so that a box fills a picture: target becomes its middle, eye (and height) are as near as shows all
/// eight corners with a margin of 1/50 of the picture. Projection, angle_rad and up stay; near and far become
/// 0 (near: half the distance to the box where 0 would cut it).
/// from    the direction from the box to the camera, any length: (0, 0, 1) looks down
/// width, height  of the picture, pixels
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (an empty or infinite box, no direction, an angle out of range)
MOTE_API mote_status mote_camera_fit(mote_context *ctx, mote_camera *camera, const mote_box *box, const double from[3],
                                     uint32_t width, uint32_t height);

/// Where a camera shows a place: *x, *y in pixels from the left and upper edge (a pixel's middle is at .5), *depth
/// along its axis. Each may be NULL. For legends, world files, and to follow a point from picture to picture. Returns
/// true where the place is in front of the camera and within the picture
MOTE_API bool mote_camera_project(const mote_camera *camera, uint32_t width, uint32_t height, const double place[3],
                                  double *x, double *y, double *depth);
/// The way back: the place at a depth that pixel coordinates show.
MOTE_API void mote_camera_unproject(const mote_camera *camera, uint32_t width, uint32_t height, double x, double y,
                                    double depth, double place[3]);

/// A camera of a path through others (Catmull-Rom through eyes, targets, and the logarithms of angle and height), which
/// passes through cameras[i] at place i.
/// cameras  [count], 1 or more, of one projection
/// place    0 to count - 1; what is outside is the nearest end
/// closed   the path goes on from the last camera to the first: place up to count
MOTE_API mote_camera mote_camera_on_path(const mote_camera *cameras, uint32_t count, bool closed, double place);

// ---------------------------------------------------------------- what is drawn

typedef enum mote_render_mode {
    MOTE_RENDER_POINTS,  ///< each pixel shows its nearest point
    MOTE_RENDER_AVERAGE, ///< each pixel averages all its points within a tolerance of depth: no noise, no moiré
    MOTE_RENDER_SURFACE  ///< a closed, lit surface of elliptical splats, made from the points alone
} mote_render_mode;

typedef enum mote_render_normals {
    MOTE_RENDER_NORMALS_SCREEN, ///< of each frame, from the neighbours among the points that it sees
    MOTE_RENDER_NORMALS_GIVEN   ///< of mote_render_set_normals
} mote_render_normals;

/// What the colours of a picture say.
typedef enum mote_render_show {
    MOTE_RENDER_SHOW_COLOR,       ///< the points' colours, lit
    MOTE_RENDER_SHOW_NORMALS,     ///< x, y, z of the camera's axes as red, green, blue: (n + 1) / 2
    MOTE_RENDER_SHOW_DEPTH,       ///< near bright, far dark, between show_min and show_max
    MOTE_RENDER_SHOW_RADIUS,      ///< SURFACE: of the splats, from blue (show_min) over green to red (show_max)
    MOTE_RENDER_SHOW_ITERATIONS,  ///< SURFACE: how often the radius of the search was set: blue 1, red 8
    MOTE_RENDER_SHOW_NORMAL_ERROR ///< angle to the given normals: blue 0, green up to 22.5 degrees, red beyond
} mote_render_show;

/// A light far away. What it adds is strength times the cosine to the normal.
typedef struct mote_render_light {
    double toward[3];     ///< to the light, any length; camera's axes (x right, y up, z to the viewer) unless world
    double strength;      ///< 0 or more
    bool world;           ///< toward is in the axes of the world: the light stays where the cloud is
    uint8_t color[3];     ///< red, green, blue
    uint64_t reserved[2]; ///< zero, see types.h
} mote_render_light;

typedef struct mote_render_params {
    mote_render_mode mode;
    uint32_t width, height; ///< of the whole picture, pixels
    /// The part of it to draw, which is what the result's arrays hold: large pictures go piece by piece. All four 0:
    /// the whole. What looks at neighbouring pixels (surface, eye-dome lighting, closing) ends at the part's edge:
    /// draw it with a margin, and cut that off.
    uint32_t part_x, part_y, part_width, part_height;
    uint32_t samples;      ///< supersampling: samples · samples for each pixel, 1..MOTE_RENDER_MAX_SAMPLES
    uint8_t background[4]; ///< red, green, blue, alpha; alpha 0: transparent
    uint32_t close_pixels; ///< holes up to so many pixels wide are closed from around them; 0: none; to 64

    double edl_strength; ///< eye-dome lighting: 0 off, 1 usual
    double edl_radius;   ///< pixels, samples not counted; above 0

    uint32_t light_count; ///< 0: unlit: colours as they are
    mote_render_light lights[MOTE_RENDER_MAX_LIGHTS];
    double ambient;  ///< what surfaces show without light, 0..1
    double specular; ///< strength of highlights, 0..1

    double tolerance; ///< AVERAGE, SURFACE: of depth, in spacings of the points: what is nearer together is one surface

    mote_render_normals normals;
    uint32_t k;        ///< SCREEN: a normal from so many neighbours, the point itself among them: 4..MOTE_RENDER_MAX_K
    double share;      ///< SURFACE: a splat covers the share of so many points: 1..64. Holes fall as e^-share
    uint32_t layers;   ///< SCREEN: of points behind each other in a pixel that are seen, 1..MOTE_RENDER_MAX_LAYERS
    double max_radius; ///< SURFACE: no splat is larger, world units; 0: any size
    double max_pixels; ///< SURFACE: nor larger than so many pixels, samples not counted; 0: any size

    mote_render_show show;
    double show_min, show_max; ///< DEPTH, RADIUS: both 0: from the smallest to the largest in the picture
    double point_size;    ///< POINTS: diameter of the discs that points are drawn as, pixels, samples not counted; 0: a
                          ///< sample each. To MOTE_RENDER_MAX_POINT. A disc has the depth of its point
    uint64_t reserved[7]; ///< zero, see types.h
} mote_render_params;
/// 1920 x 1080, points, 1 sample, white; eye-dome lighting 1 over 1.4 pixels; one light from the upper left behind the
/// viewer, ambient 0.25, specular 0.1, of which points without normals show nothing; tolerance 2; k = 8, share = 12,
/// 2 layers, splats of any size.
MOTE_API mote_render_params mote_render_defaults(void);

/// Where a frame goes: arrays of the caller, row after row, part_width · part_height (width · height) pixels; NULL: not
/// wanted.
typedef struct mote_render_result {
    uint8_t *color8;   ///< [4 · pixels] RGBA
    uint16_t *color16; ///< [4 · pixels]
    float *depth;      ///< [pixels]; infinity where nothing is. Of several samples the nearest
    float *normal;     ///< [3 · pixels] x y z; zeros where there is none
    uint32_t *index;  ///< [pixels] the point that is nearest, by its place in the cloud; MOTE_RENDER_NO_POINT. SURFACE:
                      ///< the splat that covers the pixel most, of those averaged
    bool on_device;   ///< the arrays are in the memory of the GPU that the renderer is on
    uint64_t covered; ///< out: pixels, samples counted one by one, that show something
    uint64_t closed;  ///< out: of these, those that close_pixels closed
    uint64_t seen;    ///< out: SURFACE: points that the frame saw, in all layers
    uint64_t splats;  ///< out: SURFACE: of these, those drawn
    uint64_t batches, batches_drawn; ///< out: of the renderer's ranges of its order, and those whose points were read
    double iterations; ///< out: SURFACE: windows of a search, each twice as large as the one before, until one holds
                       ///< all neighbours; mean of the points in front
    double normal_error_deg, normal_error_deviation_deg; ///< out: SHOW_NORMAL_ERROR: mean and standard deviation over
                                                         ///< the pixels that show it
    uint64_t reserved[8];                                ///< zero, see types.h
} mote_render_result;

// ---------------------------------------------------------------- renderer

typedef struct mote_renderer mote_renderer;

/// Makes a renderer of a cloud, on the device that the cloud is on, else on that of ctx. Colours are the columns red,
/// green, blue, as mote reads them; a cloud without them is light grey. Normals are the columns normal_x, normal_y,
/// normal_z, if there are any (see mote_render_set_normals). The cloud must outlive it.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no x, y, z), MOTE_ERROR_UNSUPPORTED (2^32 - 1 points or more),
///          MOTE_ERROR_DATA (coordinates out of range, see above), MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Cost     a sort; 44 bytes per point, with normals 56
MOTE_API mote_status mote_render_create(mote_context *ctx, const mote_cloud *cloud, mote_renderer **out);
/// Reads the cloud anew after its positions or colours changed, the number of points being the same: for clouds that
/// move. What mote_render_set_colors and mote_render_set_normals gave is forgotten.
MOTE_API mote_status mote_render_update(mote_renderer *renderer);
/// Frees the renderer. NULL is allowed.
MOTE_API void mote_render_destroy(mote_renderer *renderer);

/// Gives the points other colours: any attribute through a colour map. Alpha 0 leaves a point out; other alphas count
/// as 255. It is copied.
/// rgba  [4 · points of the cloud] in the order of the cloud, host memory, or device memory if on_device; NULL: the
///       cloud's own colours again
/// Returns  MOTE_OK, MOTE_ERROR_MEMORY, MOTE_ERROR_UNSUPPORTED (on_device, and the renderer is on the CPU)
MOTE_API mote_status mote_render_set_colors(mote_renderer *renderer, const uint8_t *rgba, bool on_device);

/// How many times brighter the cloud's own colours are to be shown so that dark ones are seen. What counts is the
/// brightest channel of each point that is not black: where nine tenths of the points have less than a third of white,
/// it is what brings the value that nine tenths do not exceed to 0.8 of white, rounded to hundredths; otherwise 1. So
/// integers of 10, 12 or 14 bits in fields of 16 are shown as they were taken, and strays do not decide. It is the same
/// for any number of threads, and for the points in any order.
/// exposure  out; 1 for a cloud without colours, and one on a GPU, whose values are not looked at
/// Returns   MOTE_OK, MOTE_ERROR_ARGUMENT (no cloud), MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Cost      a pass over the colours, 0.5 MB for each thread
MOTE_API mote_status mote_render_find_exposure(mote_context *ctx, const mote_cloud *cloud, double *exposure);
/// Shows the cloud's own colours from now on, also after mote_render_update, so many times brighter; what is brighter
/// than white is white. Other colours (mote_render_set_colors) are shown as they are given. A new renderer has 1.
/// exposure  1 / MOTE_RENDER_MAX_EXPOSURE .. MOTE_RENDER_MAX_EXPOSURE
/// Returns   MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_MEMORY, MOTE_CANCELLED
MOTE_API mote_status mote_render_set_exposure(mote_renderer *renderer, double exposure);

/// Gives the points normals, as of mote_normals_estimate, of any length and either direction: for
/// MOTE_RENDER_NORMALS_GIVEN, to light points and averages, and to measure errors against. It is copied.
/// normal   x, y, z: [points of the cloud] each; zeros or NaN: that point has none, and is a disc that faces the camera
/// spacing  [points of the cloud] distance to neighbours, world units: 1 / sqrt(surface_density); 0, infinite or NaN:
///          found in each frame from what it sees; NULL: so are all. Points without a normal are discs a spacing wide
/// Returns  MOTE_OK, MOTE_ERROR_MEMORY, MOTE_ERROR_UNSUPPORTED (on_device, and the renderer is on the CPU)
MOTE_API mote_status mote_render_set_normals(mote_renderer *renderer, const float *const normal[3],
                                             const float *spacing, bool on_device);

/// The box of the points that are drawn.
MOTE_API mote_box mote_render_bounds(const mote_renderer *renderer);

/// As mote_camera_fit, of the points themselves: they reach to the margins, which are alike at opposite edges. Points
/// far from all others do not count (mote_cloud_strays). Of a cloud on a GPU boxes of 1,024 points count instead.
/// params  the picture's size and parts; NULL means defaults
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no points; as mote_camera_fit)
MOTE_API mote_status mote_render_fit(mote_renderer *renderer, mote_camera *camera, const double from[3],
                                     const mote_render_params *params);

/// Draws one frame.
/// params   NULL means defaults
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_UNSUPPORTED, MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Cost     POINTS: one pass over the ranges that the camera sees. SURFACE: the same for each layer, and work that goes
///          with the pixels. 24 bytes per sample for POINTS, 60 for AVERAGE, about 100 for SURFACE, with
///          normals 12 more
/// Source   Schütz et al. 2021 (points, average); Schörkhuber 2016, Preiner et al. 2012 (normals of the screen's
///          neighbours); Botsch et al. 2005 (splats); Boucheny 2009 (eye-dome lighting)
MOTE_API mote_status mote_render_draw(mote_renderer *renderer, const mote_camera *camera,
                                      const mote_render_params *params, mote_render_result *result);

/// Create, draw and destroy in one call.
MOTE_API mote_status mote_render(mote_context *ctx, const mote_cloud *cloud, const mote_camera *camera,
                                 const mote_render_params *params, mote_render_result *result);

// ---------------------------------------------------------------- neighbours of the screen

/// The k nearest neighbours of each point that a frame sees, among the points that it sees.
typedef struct mote_render_neighbors {
    uint64_t seen;        ///< out: points that the frame saw
    uint32_t *point;      ///< out: [seen] which points, by place in the cloud: layer after layer
    uint32_t *neighbor;   ///< out: [seen · k] from near to far, equally far ones in Morton order;
                          ///< MOTE_RENDER_NO_POINT where there are fewer
    float *distance2;     ///< out: [seen · k] squared, world units; infinity where there are fewer
    uint8_t *iterations;  ///< out: [seen] windows, each twice as large as the one before, until one holds them all
    uint64_t reserved[4]; ///< zero, see types.h
} mote_render_neighbors;

/// Finds them. Exact: a search ends when all that its radius can reach has been looked at. A point is its own first
/// neighbour, except where others are in the same place.
/// k       1..MOTE_RENDER_MAX_K
/// params  size, samples and layers count; NULL means defaults
/// out     freed by mote_render_free_neighbors
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_UNSUPPORTED, MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Source   Schörkhuber 2016
MOTE_API mote_status mote_render_find_neighbors(mote_renderer *renderer, const mote_camera *camera,
                                                const mote_render_params *params, uint32_t k,
                                                mote_render_neighbors **out);
/// Frees them. NULL is allowed.
MOTE_API void mote_render_free_neighbors(mote_context *ctx, mote_render_neighbors *neighbors);

#ifdef __cplusplus
}
#endif
#endif

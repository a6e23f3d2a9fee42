/// mote: photon mapping: scenes of triangles and spheres, light stored as points, pictures made of it.
///
/// A scene is geometry, materials, lights and a camera. A photon map is the light of a scene as a cloud: where photons
/// met diffuse surfaces, with their power and direction. The power of light that arrives at a place is gathered from
/// the k photons nearest to it, in a sphere or in an ellipsoid that is flat along the surface.
///
///     mote_scene *scene = NULL;
///     mote_photon_map *map = NULL;
///     mote_photon_params params = mote_photon_defaults();
///     mote_scene_builtin(ctx, "cornell", &scene);
///     mote_photon_emit(scene, NULL, &map);
///     mote_camera camera = mote_scene_camera(scene);
///     mote_photon_render(scene, map, &camera, &params, rgb);
///     mote_photon_destroy(map);
///     mote_scene_destroy(scene);
///
/// Photons are stored, and light is added up, in floats: what is emitted, gathered and rendered needs a scene in the
/// range that render.h states, else it is refused with MOTE_ERROR_DATA.
///
/// Colours are linear red, green and blue. Lengths are world units, radiance is power per area and solid angle.
/// The path of a photon, and of a ray of a picture, depends on the seed and on its number alone: maps and pictures are
/// the same bytes for any number of threads, on CPU and GPU. A scene and a map belong to the context that they were
/// made with.
#ifndef MOTE_PHOTON_H
#define MOTE_PHOTON_H

#include "render.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTE_PHOTON_MAX_K       1024u
#define MOTE_PHOTON_MAX_PHOTONS 1000000000u /* emitted into one map */
#define MOTE_PHOTON_MAX_SAMPLES 256u
#define MOTE_PHOTON_MAX_PASSES  1000000u
#define MOTE_SCENE_MAX_SIZE     100000000u /* triangles and spheres */
#define MOTE_TEXTURE_MAX_SIDE   32768u
#define MOTE_SCENE_MAX_TEXELS   1073741824u /* of all images that a scene from a file names */

// ---------------------------------------------------------------- scenes

typedef enum mote_material_kind {
    MOTE_MATERIAL_DIFFUSE, ///< Lambert's law; on both sides
    MOTE_MATERIAL_MIRROR,
    MOTE_MATERIAL_GLASS, ///< reflects and refracts by Fresnel's equations
    MOTE_MATERIAL_UNLIT  ///< shows its color as radiance, whatever the light; takes light, and gives none
} mote_material_kind;

typedef enum mote_material_alpha { ///< what becomes of rays where alpha, the texture's times the color's, is below 1
    MOTE_ALPHA_OPAQUE,             ///< alpha is not looked at
    MOTE_ALPHA_MASK,               ///< below alpha_cutoff nothing is there
    MOTE_ALPHA_BLEND               ///< a share of 1 - alpha of the rays goes through
} mote_material_alpha;

typedef enum mote_texture_wrap { ///< what a texture shows beyond 0..1
    MOTE_TEXTURE_REPEAT,
    MOTE_TEXTURE_CLAMP, ///< its border
    MOTE_TEXTURE_MIRROR ///< itself, there and back
} mote_texture_wrap;

/// Colours over triangles, of which each is multiplied by that of the material. Between texels colours are bilinear.
typedef struct mote_texture {
    const uint8_t *srgb; ///< [3 · width · height] red, green, blue in sRGB; the first row is where v begins
    uint32_t width, height;
    mote_texture_wrap wrap_u, wrap_v;
    const uint8_t *alpha; ///< [width · height] 255 is opaque; NULL: all are
    uint64_t reserved[3]; ///< zero, see types.h
} mote_texture;

typedef struct mote_material {
    mote_material_kind kind;
    double color[3];    ///< share of light that goes on, each 0..1
    double emission[3]; ///< radiance of a triangle's front, from which its corners run counterclockwise; 0 or more
    double refraction;  ///< GLASS: index, 1 to 10
    uint64_t texture;   ///< 1 + its place in textures; 0: none. Of triangles alone.
    uint32_t emission_texture; ///< the same, by which emission is multiplied
    mote_material_alpha alpha;
    float opacity;       ///< MASK, BLEND: alpha is that of the texture and of the corners times this, 0..1
    float alpha_cutoff;  ///< MASK
    bool thin;           ///< GLASS: a sheet, through which light goes straight on; else the border of a body
    bool shines_on_both; ///< emission is of both sides
    uint8_t reserved[6]; ///< zero, see types.h
} mote_material;

typedef enum mote_light_kind {
    MOTE_LIGHT_POINT, ///< in all directions alike
    MOTE_LIGHT_SPOT, ///< in a cone: full within inner_rad; from there to 0 at outer_rad with the square of the cosine's
                     ///< part of the way, which is 0.001 or more: the formula of glTF's KHR_lights_punctual
    MOTE_LIGHT_DIRECTIONAL, ///< from afar, in one direction
    MOTE_LIGHT_SKY          ///< from all around: full against direction, linear in the cosine down to 0 in it; it is
                            ///< seen where nothing else is. One of a scene.
} mote_light_kind;

/// A light without a surface. Area lights are triangles whose material has emission.
typedef struct mote_light {
    mote_light_kind kind;
    double position[3];
    double direction[3];         ///< all but POINT: in which light goes, of any length above 0
    double intensity[3];         ///< 0 or more; POINT, SPOT: power per solid angle, DIRECTIONAL: power per area across
                                 ///< the direction, SKY: radiance
    double inner_rad, outer_rad; ///< SPOT: angles to direction, 0 <= inner < outer <= pi
    uint64_t reserved[4];        ///< zero, see types.h
} mote_light;

typedef struct mote_sphere {
    double center[3], radius; ///< above 0
    uint32_t material;        ///< one without emission
    uint64_t reserved[2];     ///< zero, see types.h
} mote_sphere;

/// What a scene is made of. All is copied.
typedef struct mote_scene_params {
    const double *positions; ///< [3 · position_count] x y z, finite
    uint64_t position_count;
    const uint32_t *triangles;          ///< [3 · triangle_count] places in positions
    const uint32_t *triangle_materials; ///< [triangle_count]; NULL: all 0
    uint64_t triangle_count;
    const mote_sphere *spheres;
    uint64_t sphere_count;
    const mote_material *materials; ///< [material_count], 1 or more where there is a triangle or a sphere
    uint64_t material_count;
    const mote_light *lights;
    uint64_t light_count;
    mote_camera camera;
    const mote_texture *textures;
    uint64_t texture_count;
    const float *texture_coordinates; ///< [6 · triangle_count] u v of each corner, finite; NULL: all 0
    const float *colors;              ///< [4 · position_count] linear red, green, blue, and alpha, each 0..1, by which
                                      ///< those of triangles' materials are multiplied; NULL: all 1
    uint64_t reserved[4];             ///< zero, see types.h
} mote_scene_params;

typedef struct mote_scene mote_scene;

/// Makes a scene and the bounding-volume tree over its triangles and spheres. Triangles without area are never hit.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (a value out of range; the message names which), MOTE_ERROR_MEMORY,
///          MOTE_ERROR_UNSUPPORTED (more than MOTE_SCENE_MAX_SIZE)
/// Cost     O(n) and a sort
MOTE_API mote_status mote_scene_create(mote_context *ctx, const mote_scene_params *params, mote_scene **out);
/// Makes a built-in scene: "cornell" (a box with a red and a green wall, a mirror and a glass sphere), "cornell-empty"
/// (without the spheres), "ring" (a mirror band and its caustic), "furnace" (a closed box whose walls shine); with
/// places that are dark: "leak" (behind a thin wall), "cupboard", "slit" (a cupboard with one), "low_table", "attic".
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no such scene), MOTE_ERROR_MEMORY
MOTE_API mote_status mote_scene_builtin(mote_context *ctx, const char *name, mote_scene **out);
/// What was in a scene's file.
typedef struct mote_scene_facts {
    uint64_t triangles;
    uint64_t degenerate; ///< further triangles, which have no area and were left out
    uint64_t materials, textures;
    uint64_t lights;  ///< point, spot and directional lights
    uint64_t shining; ///< triangles that are area lights
    bool has_camera;  ///< false: one was placed so that all is seen
    uint64_t glowing; ///< of the triangles that are area lights, those whose emission is a texture's: displays, glow
    uint64_t reserved[3]; ///< zero, see types.h
} mote_scene_facts;

/// Whether a path ends as the files do that mote_scene_read reads: .glb, .gltf, .obj, in any case of letters.
MOTE_API bool mote_scene_is_file(const char *path);
/// Reads a scene: glTF 2.0 (.glb, .gltf; where mote was built with jansson) or Wavefront OBJ with MTL. What of both is
/// understood: docs/formats/scene.md. Files that it names must lie in its folder or below.
/// facts    out; may be NULL
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (another ending), MOTE_ERROR_IO, MOTE_ERROR_DATA (the message names file,
///          place and cause), MOTE_ERROR_UNSUPPORTED (no jansson; more than MOTE_SCENE_MAX_SIZE; an extension that the
///          file requires), MOTE_ERROR_MEMORY. Warnings go to the log of the context.
/// Safe for untrusted input.
MOTE_API mote_status mote_scene_read(mote_context *ctx, const char *path, mote_scene **out, mote_scene_facts *facts);
/// Gives a scene a soft sky and a key light over the left shoulder of the camera; up is the axis that its
/// up is nearest to. To be called before photons are emitted.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (it has a sky), MOTE_ERROR_MEMORY
MOTE_API mote_status mote_scene_add_default_light(mote_scene *scene, const mote_camera *camera);
/// The i-th name that mote_scene_builtin knows; NULL behind the last.
MOTE_API const char *mote_scene_name(uint32_t i);
/// Frees the scene. NULL is allowed.
MOTE_API void mote_scene_destroy(mote_scene *scene);
/// The camera that it came with.
MOTE_API mote_camera mote_scene_camera(const mote_scene *scene);
/// The box of its triangles and spheres.
MOTE_API mote_box mote_scene_bounds(const mote_scene *scene);

// ---------------------------------------------------------------- photon maps

typedef struct mote_photon_emission {
    uint64_t photons; ///< to emit, 1..MOTE_PHOTON_MAX_PHOTONS; each is stored at every diffuse surface that it meets
    uint64_t seed;
    uint64_t reserved[8]; ///< zero, see types.h
} mote_photon_emission;
/// Emission of 200,000 photons, seed 0.
MOTE_API mote_photon_emission mote_photon_emission_defaults(void);

/// What became of the photons. All photons of a light have the same power, and keep it, in whatever colour, until they
/// are absorbed. Where lights get photons by their power, all photons have the same power, and counts are energies.
typedef struct mote_photon_facts {
    uint64_t emitted;
    uint64_t absorbed; ///< by a surface
    uint64_t escaped;  ///< into the open
    uint64_t cut;      ///< met more than 10,000 surfaces; emitted = absorbed + escaped + cut
    uint64_t hits;     ///< of surfaces of any kind
    uint64_t stored, stored_direct, stored_caustic;
    double power;                                    ///< of all lights, red + green + blue
    double absorbed_power, escaped_power, cut_power; ///< measured: sums of the photons' power at their end
    uint64_t reserved[8];                            ///< zero, see types.h
} mote_photon_facts;

typedef struct mote_photon_map mote_photon_map;

/// Emits photons from the lights of a scene, and stores them. Lights get photons in proportion to their power, except
/// where one is weaker than a quarter of another: then half of the photons go to the lights by what they bring to the
/// places that they reach, so that a candle in a closed room is not lost beside the sun outside. The map must not
/// outlive the scene. A scene without light gives an empty map.
/// emission  NULL means defaults
/// Returns   MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_MEMORY, MOTE_ERROR_UNSUPPORTED, MOTE_CANCELLED
/// Cost      a walk through the scene for each photon, on a CPU two; 52 bytes for each stored photon and the index of
///           neighbours
/// Source    Jensen 1996
MOTE_API mote_status mote_photon_emit(mote_scene *scene, const mote_photon_emission *emission, mote_photon_map **out);
/// Frees the map. NULL is allowed.
MOTE_API void mote_photon_destroy(mote_photon_map *map);
/// What became of the photons of a map.
MOTE_API mote_photon_facts mote_photon_map_facts(const mote_photon_map *map);
/// The stored photons, by the number of the photon and then along its path: x y z, power_red power_green power_blue,
/// direction_x direction_y direction_z (in which it flew), normal_x normal_y normal_z (of the surface, on the side that
/// was hit), all float; bounce (uint8: 0 direct from a light, 1 through mirrors and glass alone, 2 off diffuse
/// surfaces). In host memory: of a map on a GPU, the first call makes a copy. Valid as long as the map.
/// Returns  NULL where there is no memory for that copy, or the GPU failed: the context says why
MOTE_API const mote_cloud *mote_photon_cloud(mote_photon_map *map);

typedef enum mote_photon_filter {
    MOTE_PHOTON_FILTER_NONE,
    MOTE_PHOTON_FILTER_CONE,        ///< 1 - d / r
    MOTE_PHOTON_FILTER_EPANECHNIKOV ///< 1 - (d / r)²
} mote_photon_filter;

typedef enum mote_photon_area {
    MOTE_PHOTON_AREA_SURFACE, ///< photons of surfaces that face alike, over what of the disc is such a surface
    MOTE_PHOTON_AREA_DISC     ///< photons that arrive from the front, over the whole disc: as published
} mote_photon_area;

typedef struct mote_photon_gathering {
    uint32_t k;         ///< photons, 2..MOTE_PHOTON_MAX_K
    double compression; ///< of the ellipsoid along the normal, 1 (a sphere) to MOTE_KNN_MAX_COMPRESSION
    double radius;      ///< photons at most so far away; 0: any distance
    mote_photon_filter filter;
    bool on_device; ///< mote_photon_gather: irradiance is in the memory of the GPU that the map is on
    mote_photon_area area;
    uint64_t reserved[7]; ///< zero, see types.h
} mote_photon_gathering;
/// k = 128, compression 4, any distance, cone, over the surface.
MOTE_API mote_photon_gathering mote_photon_gathering_defaults(void);

/// Gathers the irradiance at places: the power of the photons around, divided by the area of the disc that they lie in.
/// The radius of the disc is the distance of the k-th photon that counts: one on a surface that faces the place's
/// normal within 60 degrees, or, over whole discs, one that arrives from the front; never one at the very place. Where
/// the nearest 1024 photons do not hold k that count, the radius is that of the last of them. Where a disc holds more
/// than 256 triangles all of it is taken for surface, and never less than a 64th. Over the surface, what walls hide
/// from the place counts neither as photons nor as area.
/// queries     x, y, z and normals as for mote_knn_search; of a map on a GPU they may be there too
/// irradiance  [3 · queries] out: red, green, blue; 0 where there are fewer than 2 photons
/// Returns     MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_MEMORY, MOTE_CANCELLED,
///             MOTE_ERROR_UNSUPPORTED (queries or irradiance on a device, and the map is on the CPU)
/// Source      Jensen 1996; ellipsoids: Bergholm and Kronvall 2016
MOTE_API mote_status mote_photon_gather(mote_photon_map *map, const mote_cloud *queries,
                                        const mote_photon_gathering *gathering, float *irradiance);

// ---------------------------------------------------------------- pictures

typedef enum mote_photon_method {
    MOTE_PHOTON_FULL,   ///< direct light by shadow rays, caustics from the map, the remainder by final gathering
    MOTE_PHOTON_MAP,    ///< the map itself: radiance gathered where the camera looks
    MOTE_PHOTON_DIRECT, ///< direct light alone, from the map: what shows false bleeding
    MOTE_PHOTON_SHADOW, ///< direct light alone, by shadow rays: what it should be
    MOTE_PHOTON_PATH    ///< a path tracer, which needs no map: slow, and right
} mote_photon_method;

typedef struct mote_photon_params {
    mote_photon_method method;
    uint32_t width, height; ///< pixels
    uint32_t samples;       ///< samples · samples for each pixel, 1..MOTE_PHOTON_MAX_SAMPLES
    uint32_t gather_rays;   ///< FULL: rays of final gathering for each sample, 1..65536
    uint32_t shadow_rays;   ///< FULL, SHADOW: for each sample, 1..65536
    uint64_t seed;
    mote_photon_gathering gathering;
    uint64_t reserved[8]; ///< zero, see types.h
} mote_photon_params;
/// FULL, 512 x 512, 2 · 2 samples, 16 gather rays, 4 shadow rays.
MOTE_API mote_photon_params mote_photon_defaults(void);

/// Makes a picture.
/// map     of this scene; NULL: for SHADOW and PATH
/// params  NULL means defaults
/// rgb     [3 · width · height] out: linear radiance, the first row at the top
/// Returns MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_MEMORY, MOTE_ERROR_UNSUPPORTED, MOTE_CANCELLED
MOTE_API mote_status mote_photon_render(mote_scene *scene, mote_photon_map *map, const mote_camera *camera,
                                        const mote_photon_params *params, float *rgb);
/// Makes a picture as the mean of passes. Each emits photons of its own and gathers fewer of them than the last, so
/// that discs shrink: with more passes the picture goes to what a path tracer makes, caustics included. Memory does not
/// grow with the number of passes.
/// emission  of each pass; NULL means defaults
/// params    of the first pass: its method MAP or DIRECT; k and radius shrink from there on. NULL: defaults, and MAP
/// passes    1..MOTE_PHOTON_MAX_PASSES; the error falls with the cube root of it
/// rgb       [3 · width · height] out: linear radiance, the first row at the top
/// Returns   as mote_photon_emit and mote_photon_render
/// Source    Hachisuka, Ogaki, Jensen 2008; Knaus, Zwicker 2011
MOTE_API mote_status mote_photon_render_progressive(mote_scene *scene, const mote_camera *camera,
                                                    const mote_photon_emission *emission,
                                                    const mote_photon_params *params, uint32_t passes, float *rgb);

#ifdef __cplusplus
}
#endif
#endif

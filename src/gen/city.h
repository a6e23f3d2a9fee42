/* The made-up town behind mote_generate("city"): inner types.
   Its axes u, v follow the streets, which run at an angle to the map's x, y, so that a scanner that sweeps across x
   sees facades of all directions. The town is an endless grid of blocks; what stands in one follows from the seed and
   the block's place alone, so blocks are built when a beam comes near and kept in a small cache per thread.
   Everything here is + - * / sqrt and floor on hashes: the same bytes on every machine. */
#ifndef MOTE_CITY_H
#define MOTE_CITY_H

#include "math/hash.h"
#include "mote/context.h"

#define CITY_BLOCK_U  112.0f /* metres from street to street */
#define CITY_BLOCK_V  80.0f
#define CITY_CELL     8.0f /* side of the cells that list what stands in them */
#define CITY_CELLS_U  14
#define CITY_CELLS_V  10
#define CITY_GROUND   4.0f /* step of a block's height grid */
#define CITY_GROUND_U 29
#define CITY_GROUND_V 21

#define CITY_CARRIAGEWAY 4.0f /* half width of the carriageway, from the street's middle line */
#define CITY_STREET      7.0f /* half width with sidewalks; inside lies the lot */
#define CITY_KERB        0.12f
#define CITY_LEVEL       200.0f /* height of the river's surroundings */
#define CITY_WATER       196.4f
#define CITY_TALLEST     52.0f /* nothing rises higher above the ground */

#define CITY_THINGS  128 /* most things a block holds */
#define CITY_CACHE_U 16  /* blocks in a thread's cache, by place modulo these */
#define CITY_CACHE_V 8

/* The classes of the LAS specification. */
enum {
    CITY_CLASS_OTHER = 1,
    CITY_CLASS_GROUND = 2,
    CITY_CLASS_LOW = 3,
    CITY_CLASS_MEDIUM = 4,
    CITY_CLASS_HIGH = 5,
    CITY_CLASS_BUILDING = 6,
    CITY_CLASS_WATER = 9,
    CITY_CLASS_WIRE = 14,
    CITY_CLASS_TOWER = 15,
    CITY_CLASS_BRIDGE = 17
};

typedef enum city_use {
    CITY_OLD_TOWN, /* houses around a courtyard */
    CITY_OFFICES,
    CITY_CHURCH,
    CITY_SLABS, /* blocks of flats on a lawn */
    CITY_HOUSES,
    CITY_INDUSTRY,
    CITY_PARK,
    CITY_SPORTS,
    CITY_RIVER,
    CITY_POWER, /* the corridor of the power line */
    CITY_FOREST,
    CITY_FIELD
} city_use;

typedef struct city_rgb {
    float r, g, b; /* 0..1 */
} city_rgb;

typedef enum city_shape { CITY_BOX, CITY_CROWN, CITY_CONIFER, CITY_WIRE, CITY_PYLON } city_shape;
typedef enum city_wall { CITY_WALL_PLAIN, CITY_WALL_WINDOWS, CITY_WALL_GLASS, CITY_WALL_HALL, CITY_WALL_CAR } city_wall;
typedef enum city_roof {
    CITY_ROOF_PLAIN,
    CITY_ROOF_TILES,
    CITY_ROOF_GRAVEL,
    CITY_ROOF_METAL,
    CITY_ROOF_STREET
} city_roof;

/* One thing that stands in a block. A box is a convex body: its sides, its bottom, and below a roof
   z <= apex - slope_u |u - middle|, z <= apex - slope_v |v - middle|: flat, gabled or pyramid by the slopes. */
typedef struct city_thing {
    uint8_t shape, class, wall_look, roof_look;
    uint32_t hash;
    float u0, u1, v0, v1, bottom, top; /* bounds, in the block's coordinates */
    float apex, slope_u,
        slope_v; /* box: the roof; crown: foot, trunk radius; wire: z = apex + slope_u u + slope_v u² */
    city_rgb wall, roof;
} city_thing;

typedef struct city_cell {
    uint64_t things[CITY_THINGS / 64]; /* bit set of those whose bounds reach in */
    float top;                         /* the highest of them */
} city_cell;

typedef struct city_block {
    int32_t at_u, at_v; /* number of the block */
    bool built;
    uint8_t use;
    uint32_t hash;
    uint32_t thing_count;
    float ground[CITY_GROUND_V][CITY_GROUND_U];
    city_cell cells[CITY_CELLS_V][CITY_CELLS_U];
    city_thing things[CITY_THINGS];
} city_block;

typedef struct city_cache {
    uint64_t seed;
    city_block blocks[CITY_CACHE_V][CITY_CACHE_U];
} city_cache;

/* ---- noise */

static inline uint64_t city_hash(uint64_t seed, int32_t a, int32_t b) {
    return mote_hash64(seed ^ ((uint64_t)(uint32_t)a << 32 | (uint32_t)b));
}
/* Uniform in [0, 1) from 16 of the bits of a hash: part 0..3. */
static inline float city_unit(uint64_t hash, int part) { return (float)(hash >> (16 * part) & 0xFFFF) * 0x1.0p-16f; }
/* About normal, standard deviation 1: four uniform numbers, scaled. */
static inline float city_gauss(uint64_t hash) {
    return (city_unit(hash, 0) + city_unit(hash, 1) + city_unit(hash, 2) + city_unit(hash, 3) - 2.0f) * 1.7320508f;
}
/* Not fminf and fmaxf: those are calls, for the sake of NaN. */
static inline float city_min(float a, float b) { return a < b ? a : b; }
static inline float city_max(float a, float b) { return a > b ? a : b; }
static inline float city_clamp(float value, float low, float high) {
    return value < low ? low : value > high ? high : value;
}
/* 0 below low, 1 above high, smooth between. */
static inline float city_step(float low, float high, float value) {
    const float t = city_clamp((value - low) / (high - low), 0, 1);
    return t * t * (3 - 2 * t);
}
static inline float city_mix(float a, float b, float t) { return a + (b - a) * t; }

/* Smooth noise in [0, 1) with one hash per lattice point. */
float city_noise(uint64_t seed, double a, double b);

/* ---- city_terrain.c */

/* u of the river's middle at v. */
float city_river(uint64_t seed, double v);
/* Height of the ground, or of the river's bed. */
float city_terrain(uint64_t seed, double u, double v);
/* The height of the ground within a block, taken from the block's grid. */
float city_ground(const city_block *block, float u, float v);

/* ---- city_use.c */

/* What the block of that number is for. */
city_use city_use_of(uint64_t seed, int32_t at_u, int32_t at_v);
/* Whether the power line runs through that row of blocks. */
bool city_has_power(int32_t at_v);

/* ---- city_block.c, city_lots.c */

/* Empties a cache, for the town of a seed. */
void city_cache_clear(city_cache *cache, uint64_t seed);
/* The block of that number, built if need be. Stays valid while blocks less than a cache's width away are asked for. */
city_block *city_find_block(city_cache *cache, int32_t at_u, int32_t at_v);
/* Fills a block's lot, and its streets. */
void city_fill_lot(city_block *block, uint64_t seed);
void city_fill_streets(city_block *block, uint64_t seed);

/* ---- city_trace.c */

/* A line that rises from (u, v, z) in a block: at height z + h it is at (u + slope_u h, v + slope_v h). */
typedef struct city_ray {
    city_block *block;
    float u, v, z, slope_u, slope_v;
} city_ray;

typedef enum city_face {
    CITY_FACE_U0,
    CITY_FACE_U1,
    CITY_FACE_V0,
    CITY_FACE_V1,
    CITY_FACE_ROOF_U0,
    CITY_FACE_ROOF_U1,
    CITY_FACE_ROOF_V0,
    CITY_FACE_ROOF_V1,
    CITY_FACE_BOTTOM
} city_face;

/* Where a ray meets a thing: inside between heights low and high above the ray's foot. */
typedef struct city_hit {
    const city_block *block;
    const city_thing *thing; /* NULL: the ground */
    float low, high;
    float u, v; /* at high, in the block's coordinates */
    city_face face;
} city_hit;

#define CITY_HITS 32

/* All things a ray meets up to height h, highest first. Returns how many. */
uint32_t city_trace(city_cache *cache, city_ray ray, float h, city_hit *hits);
/* How much sunlight reaches a point: 0..1. normal: the ray starts a little way along it. */
float city_sunlight(city_cache *cache, city_block *block, float u, float v, float z, const float normal[3]);

/* ---- city_paint.c */

typedef struct city_surface {
    city_rgb color;    /* under full light */
    float reflectance; /* for the laser, 0..1 */
    float normal[3];   /* along u, v, up */
    float lift;        /* height of the surface above the plain ground: kerbs, grass */
    float ambient;     /* share of the sky that it sees */
    uint8_t class;
} city_surface;

/* Direction to the sun along u, v, up; unit length. */
extern const float city_sun[3];

city_surface city_paint_ground(const city_block *block, float u, float v, uint64_t random);
city_surface city_paint_hit(const city_hit *hit, float u, float v, float z, uint64_t random);

/* ---- city_pulse.c */

typedef struct city_pulse {
    double x, y;          /* where the beam meets the level CITY_LEVEL */
    float tilt_x, tilt_y; /* how far it runs along x, y for every metre upwards */
    uint64_t random;
} city_pulse;

#define CITY_RETURNS 5

typedef struct city_return {
    double x, y, z;
    city_rgb color;
    float intensity; /* 0..1 */
    uint8_t class, use;
} city_return;

/* Sends a pulse. Returns how many echoes come back, 0..CITY_RETURNS, the first one first. */
uint32_t city_send(city_cache *cache, const city_pulse *pulse, city_return *returns);

#endif

/* A laser pulse over the town: what sends it back, in which order, how bright and of which colour. */
#include <math.h>

#include "gen/city.h"

/* The streets run at the angle of the Pythagorean triple 7, 24, 25 to the map. */
#define TURN_COS 0.96
#define TURN_SIN 0.28

#define GROUND_STEPS  3      /* the hills are flat enough for the beam to find its foot in this many steps */
#define RANGE_NOISE_M 0.012f /* standard deviation along the beam */
#define SPOT_NOISE_M  0.02f  /* and across */
#define BOUGH_SALT    0x626f756768ull
#define BOUGH_M       1.5f /* size of a bough */
#define GRAZE_M       0.6f /* a beam that cuts so little off a body is split by its edge */

typedef struct beam {
    city_cache *cache;
    const city_pulse *pulse;
    city_ray ray;
    city_return *returns;
    uint32_t count;
    float energy;  /* the remaining energy of the pulse, 0 to 1 */
    float reached; /* height of the last echo above the foot: what comes later lies below */
} beam;

static uint64_t random_of(const beam *b, uint32_t salt) {
    return mote_hash64(b->pulse->random + (b->count * 256u + salt + 1u) * MOTE_GOLDEN_GAMMA);
}

/* Moves a ray's foot to the height z of the pulse's line, into the block that lies there. */
static void place_foot(beam *b, double u, double v, float z) {
    const double rise = (double)z - (double)CITY_LEVEL;
    u += (double)b->ray.slope_u * rise;
    v += (double)b->ray.slope_v * rise;
    const double block_u = floor(u / (double)CITY_BLOCK_U), block_v = floor(v / (double)CITY_BLOCK_V);
    b->ray.block = city_find_block(b->cache, (int32_t)block_u, (int32_t)block_v);
    b->ray.u = (float)(u - block_u * (double)CITY_BLOCK_U);
    b->ray.v = (float)(v - block_v * (double)CITY_BLOCK_V);
    b->ray.z = z;
}

static void aim(beam *b) {
    const city_pulse *p = b->pulse;
    const double u = TURN_COS * p->x + TURN_SIN * p->y, v = TURN_COS * p->y - TURN_SIN * p->x;
    b->ray.slope_u = (float)TURN_COS * p->tilt_x + (float)TURN_SIN * p->tilt_y;
    b->ray.slope_v = (float)TURN_COS * p->tilt_y - (float)TURN_SIN * p->tilt_x;
    float z = CITY_LEVEL;
    for (int i = 0; i < GROUND_STEPS; i++) {
        place_foot(b, u, v, z);
        z = city_ground(b->ray.block, b->ray.u, b->ray.v);
        if (z < CITY_WATER) z = CITY_WATER;
    }
    place_foot(b, u, v, z);
}

static float dot(const float *a, const float *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Sunlight and the blue light of the sky on a surface. */
static city_rgb lit(const city_surface *s, float sunlight) {
    const float facing = dot(s->normal, city_sun), sun = facing > 0 ? 0.64f * facing * sunlight : 0;
    const float sky = s->ambient * (0.4f + 0.1f * s->normal[2]);
    const city_rgb color = {city_clamp(s->color.r * (sky * 0.93f + sun * 1.04f), 0, 1),
                            city_clamp(s->color.g * (sky + sun), 0, 1),
                            city_clamp(s->color.b * (sky * 1.12f + sun * 0.94f), 0, 1)};
    return color;
}

/* How much of the light that falls along the beam a surface sends back to the scanner. */
static float brightness(const beam *b, const city_surface *s) {
    const float down[3] = {b->ray.slope_u, b->ray.slope_v, 1};
    const float cosine = fabsf(dot(s->normal, down)) / sqrtf(dot(down, down));
    const float leaves = s->class >= CITY_CLASS_LOW && s->class <= CITY_CLASS_HIGH ? 0.4f : 0;
    return s->reflectance * (leaves + (1 - leaves) * cosine) * b->energy;
}

/* An echo from (u, v) of a block, at height z. */
static void echo(beam *b, city_block *block, float u, float v, float z, const city_surface *s) {
    const uint64_t random = random_of(b, 1), spot = mote_hash64(random);
    city_return *r = &b->returns[b->count++];
    const float noise = RANGE_NOISE_M * city_gauss(random);
    const float east = SPOT_NOISE_M * (city_unit(spot, 0) + city_unit(spot, 1) - 1);
    const float north = SPOT_NOISE_M * (city_unit(spot, 2) + city_unit(spot, 3) - 1);
    const double map_u = block->at_u * (double)CITY_BLOCK_U + (double)u,
                 map_v = block->at_v * (double)CITY_BLOCK_V + (double)v;
    r->x = TURN_COS * map_u - TURN_SIN * map_v + (double)(east + noise * b->pulse->tilt_x);
    r->y = TURN_SIN * map_u + TURN_COS * map_v + (double)(north + noise * b->pulse->tilt_y);
    r->z = (double)z + (double)noise;
    r->color = lit(s, city_sunlight(b->cache, block, u, v, z, s->normal));
    r->intensity = city_clamp(brightness(b, s) * (1 + 0.12f * city_gauss(spot)), 0.002f, 1);
    r->class = s->class;
    r->use = block->use;
}

static void echo_hit(beam *b, const city_hit *hit, float h) {
    const float down = hit->high - h;
    const float u = hit->u - b->ray.slope_u * down, v = hit->v - b->ray.slope_v * down, z = b->ray.z + h;
    const city_surface s = city_paint_hit(hit, u, v, z, random_of(b, 2));
    b->reached = h;
    city_block *block = city_find_block(b->cache, hit->block->at_u, hit->block->at_v);
    echo(b, block, u, v, z + s.lift, &s);
}

/* Crowns are ragged: towards their edge, whole boughs are missing. */
static bool is_bough(const city_hit *hit, float u, float v, float z) {
    const city_thing *tree = hit->thing;
    const float radius = (tree->u1 - tree->u0) / 2, half = (tree->top - tree->bottom) / 2;
    const float a = (u - tree->u0 - radius) / radius, b = (v - tree->v0 - radius) / radius;
    const float c = tree->shape == CITY_CROWN ? (z - tree->bottom - half) / half : 0;
    const float bough =
        city_noise(tree->hash ^ BOUGH_SALT, (double)((u + 0.5f * z) / BOUGH_M), (double)((v - 0.4f * z) / BOUGH_M));
    return a * a + b * b + c * c < 0.45f + 0.85f * bough;
}

/* Leaves send back parts of the pulse at random depths, until it is used up, or through, or at something solid. */
static bool pass_leaves(beam *b, const city_hit *hit, float solid) {
    const float low = city_max(city_max(hit->low, solid), 0.3f);
    float h = city_min(hit->high, b->reached);
    uint32_t tries = 0;
    while (b->count < CITY_RETURNS) {
        const uint64_t random = random_of(b, 102 + tries++);
        const float u = city_unit(random, 0);
        h -= 0.15f + 0.9f * u / (1.05f - u); /* most leaves sit near the crown's surface */
        if (h < low) return true;
        const float down = hit->high - h;
        if (!is_bough(hit, hit->u - b->ray.slope_u * down, hit->v - b->ray.slope_v * down, b->ray.z + h)) continue;
        echo_hit(b, hit, h);
        b->energy *= 0.62f;
        if (city_unit(random, 1) < 0.34f) return false;
    }
    return false;
}

/* The trunk below a crown: an upright cylinder. True if the beam misses it. */
static bool pass_trunk(beam *b, const city_hit *hit) {
    const city_thing *tree = hit->thing;
    const float foot_u = hit->u - b->ray.slope_u * hit->high, foot_v = hit->v - b->ray.slope_v * hit->high;
    const float u = foot_u - (tree->u0 + tree->u1) / 2, v = foot_v - (tree->v0 + tree->v1) / 2;
    const float steep = b->ray.slope_u * b->ray.slope_u + b->ray.slope_v * b->ray.slope_v + 1e-6f;
    const float h = city_clamp(-(u * b->ray.slope_u + v * b->ray.slope_v) / steep, 0.2f, hit->low);
    const float off_u = u + b->ray.slope_u * h, off_v = v + b->ray.slope_v * h;
    if (h > hit->low || off_u * off_u + off_v * off_v > tree->slope_u * tree->slope_u) return true;
    if (b->count == CITY_RETURNS) return false;
    city_hit trunk = *hit;
    city_thing bark = *tree;
    bark.shape = CITY_BOX;
    trunk.thing = &bark;
    trunk.face = CITY_FACE_U0;
    echo_hit(b, &trunk, h);
    return false;
}

/* Sends the beam into a thing; true if some of it goes on. solid: top of the next thing that is not leaves, or 0. */
static bool pass(beam *b, const city_hit *hit, float solid) {
    const float luck = city_unit(random_of(b, 100), 0);
    switch ((city_shape)hit->thing->shape) {
    case CITY_CROWN:
    case CITY_CONIFER: return pass_leaves(b, hit, solid) && (solid > 0 || pass_trunk(b, hit));
    case CITY_WIRE:
        echo_hit(b, hit, hit->high);
        b->energy *= 0.7f;
        return true;
    case CITY_PYLON:
        echo_hit(b, hit, hit->high);
        b->energy *= 0.5f;
        return luck < 0.5f;
    case CITY_BOX: break;
    }
    echo_hit(b, hit, hit->high);
    b->energy *= 0.5f;
    return hit->high - hit->low < GRAZE_M && luck < 0.5f;
}

/* Still water throws the beam away, except straight below the scanner. */
static bool water_answers(const beam *b) {
    const float tilt = b->pulse->tilt_x * b->pulse->tilt_x + b->pulse->tilt_y * b->pulse->tilt_y;
    return city_unit(random_of(b, 101), 0) < 0.1f + 0.9f * city_clamp(1 - 25 * tilt, 0, 1);
}

static bool is_tree(const city_hit *hit) {
    return hit->thing->shape == CITY_CROWN || hit->thing->shape == CITY_CONIFER;
}

/* Top of the first thing after hit i that is not a tree; 0 if there is none. */
static float solid_below(const city_hit *hits, uint32_t count, uint32_t i) {
    while (++i < count) {
        if (!is_tree(&hits[i])) return hits[i].high;
    }
    return 0;
}

uint32_t city_send(city_cache *cache, const city_pulse *pulse, city_return *returns) {
    city_hit hits[CITY_HITS];
    beam b = {cache, pulse, {NULL, 0, 0, 0, 0, 0}, returns, 0, 1, CITY_TALLEST};
    aim(&b);
    const uint32_t count = city_trace(cache, b.ray, CITY_TALLEST, hits);
    float covered = CITY_TALLEST; /* things that stand in one another answer once */
    for (uint32_t i = 0; i < count; i++) {
        if (b.count == CITY_RETURNS) return b.count;
        if (hits[i].high > covered) continue;
        if (!pass(&b, &hits[i], solid_below(hits, count, i))) return b.count;
        if (hits[i].thing->shape == CITY_BOX) covered = hits[i].low;
    }
    if (b.count == CITY_RETURNS) return b.count;
    const city_surface s = city_paint_ground(b.ray.block, b.ray.u, b.ray.v, random_of(&b, 2));
    if (s.class == CITY_CLASS_WATER) {
        if (water_answers(&b)) echo(&b, b.ray.block, b.ray.u, b.ray.v, b.ray.z, &s);
    } else {
        echo(&b, b.ray.block, b.ray.u, b.ray.v, b.ray.z + s.lift, &s);
    }
    return b.count;
}

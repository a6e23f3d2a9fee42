/* The town's colours: materials of ground, roofs, walls, leaves; under full light, before sun and shade. */
#include <math.h>

#include "gen/city.h"

const float city_sun[3] = {-0.48f, -0.4f, 0.7805f};

static city_rgb rgb(float r, float g, float b) {
    const city_rgb color = {r, g, b};
    return color;
}

static city_rgb scaled(city_rgb c, float light) { return rgb(c.r * light, c.g * light, c.b * light); }

static city_rgb mixed(city_rgb a, city_rgb b, float t) {
    return rgb(city_mix(a.r, b.r, t), city_mix(a.g, b.g, t), city_mix(a.b, b.b, t));
}

/* The part of a behind the point, in periods. */
static float phase(float a, float period) {
    const float t = a / period;
    return t - floorf(t);
}

/* Patches of about size_m, 0..1, from the block's own coordinates. */
static float patches(const city_block *block, float u, float v, float size_m, uint32_t salt) {
    return city_noise(block->hash ^ salt, (double)(u / size_m), (double)(v / size_m));
}

/* ---- ground */

static void paint_asphalt(const city_block *block, float u, float v, city_surface *s) {
    const float worn = patches(block, u, v, 3, 1) * 0.06f + patches(block, u, v, 0.9f, 2) * 0.03f;
    s->color = rgb(0.33f + worn, 0.335f + worn, 0.35f + worn);
    s->reflectance = 0.14f;
}

static void paint_mark(city_surface *s, uint64_t random) {
    const float light = 0.82f + 0.1f * city_unit(random, 2);
    s->color = rgb(light, light, light * 0.97f);
    s->reflectance = 0.55f;
}

static void paint_grass(const city_block *block, float u, float v, uint64_t random, city_surface *s) {
    const float dry = patches(block, u, v, 9, 3), fine = patches(block, u, v, 0.8f, 4);
    s->color = scaled(mixed(rgb(0.38f, 0.45f, 0.26f), rgb(0.56f, 0.54f, 0.37f), dry * dry), 0.82f + 0.3f * fine);
    s->reflectance = 0.48f;
    if (city_unit(random, 1) < 0.14f) {
        s->class = CITY_CLASS_LOW;
        s->lift = 0.05f + 0.3f * city_unit(random, 2) * city_unit(random, 3);
    }
}

static void paint_paving(const city_block *block, float u, float v, city_surface *s) {
    const bool dark = (((int)(u * 1.25f) + (int)(v * 1.25f)) & 1) != 0;
    const float light = 0.92f + 0.12f * patches(block, u, v, 2, 5) - (dark ? 0.05f : 0);
    s->color = scaled(rgb(0.68f, 0.65f, 0.6f), light);
    s->reflectance = 0.3f;
}

/* Streets: dashed middle line, zebra crossings before the crossroads, kerbs and sidewalks.
   across, along: distance from this street's middle, from the crossing street's. */
static void paint_street(const city_block *block, float u, float v, uint64_t random, city_surface *s) {
    const float off_u = city_min(u, CITY_BLOCK_U - u), off_v = city_min(v, CITY_BLOCK_V - v);
    const bool runs_v = off_u < off_v;
    const float across = runs_v ? off_u : off_v, along = runs_v ? off_v : off_u, at = runs_v ? v : u;
    if (across > CITY_CARRIAGEWAY) {
        s->lift = CITY_KERB;
        paint_paving(block, u, v, s);
        s->color = scaled(s->color, 0.92f);
        if (across < CITY_CARRIAGEWAY + 0.2f) s->color = rgb(0.76f, 0.75f, 0.73f);
        return;
    }
    paint_asphalt(block, u, v, s);
    if (along < CITY_STREET + 0.4f) return; /* the crossroads themselves */
    const bool zebra = along < CITY_STREET + 3.4f && phase(across - 0.25f, 1) < 0.5f;
    const bool stop = along > CITY_STREET + 4 && along < CITY_STREET + 4.4f;
    const bool dash = across < 0.09f && phase(at, 6) < 0.5f && along > CITY_STREET + 5;
    const bool edge = across > 2.3f && across < 2.4f && along > CITY_STREET + 5 && block->use == CITY_OLD_TOWN;
    if (zebra || stop || dash || edge) paint_mark(s, random);
}

/* A football pitch of 88 x 52 m with a running track around it. */
static void paint_pitch(const city_block *block, float u, float v, uint64_t random, city_surface *s) {
    const float x = fabsf(u - CITY_BLOCK_U / 2), y = fabsf(v - CITY_BLOCK_V / 2 - 2), line = 0.09f;
    paint_grass(block, u, v, random, s);
    if (x > 45 || y > 28) return;
    if (x > 40 || y > 24) {
        s->class = CITY_CLASS_GROUND, s->lift = 0;
        s->color = scaled(rgb(0.66f, 0.3f, 0.23f), 0.94f + 0.1f * city_unit(random, 2));
        s->reflectance = 0.3f;
        if (phase(city_max(x - 40, y - 24), 1.25f) < 0.07f) paint_mark(s, random);
        return;
    }
    s->class = CITY_CLASS_GROUND, s->lift = 0;
    s->color = scaled(phase(u, 10) < 0.5f ? rgb(0.32f, 0.47f, 0.25f) : rgb(0.38f, 0.54f, 0.3f),
                      0.95f + 0.1f * city_unit(random, 2));
    const float round = sqrtf(x * x + y * y), box = city_max(y - 15, 27 - x), goal = city_max(y - 7, 34.5f - x);
    const bool outline = (fabsf(x - 38.5f) < line && y < 22.5f) || (fabsf(y - 22.5f) < line && x < 38.5f);
    const bool inner = x < line || fabsf(round - 8) < line || fabsf(box) < line || fabsf(goal) < line;
    if (outline || (inner && x < 38.5f && y < 22.5f)) paint_mark(s, random);
}

static void paint_park(const city_block *block, float u, float v, uint64_t random, city_surface *s) {
    const float x = u - CITY_BLOCK_U / 2, y = v - CITY_BLOCK_V / 2;
    const float round = sqrtf(x * x + y * y), bend = 5 * (patches(block, u, v, 30, 6) - 0.5f);
    const bool path =
        fabsf(round - 16) < 1.4f || fabsf(y - 0.6f * x + bend) < 1.5f || fabsf(y + 0.6f * x + bend) < 1.5f;
    if (!path || round < 14.6f) {
        paint_grass(block, u, v, random, s);
        return;
    }
    s->color = scaled(rgb(0.74f, 0.67f, 0.53f), 0.92f + 0.12f * city_unit(random, 2));
    s->reflectance = 0.35f;
}

static void paint_field(const city_block *block, float u, float v, uint64_t random, city_surface *s) {
    static const float kinds[4][3] = {
        {0.5f, 0.4f, 0.28f}, {0.42f, 0.52f, 0.2f}, {0.76f, 0.66f, 0.36f}, {0.34f, 0.48f, 0.2f}};
    const float *kind = kinds[block->hash % 4];
    const float row = phase(block->hash & 8 ? u : v, 1.5f),
                light = 0.88f + (row < 0.5f ? 0.12f : 0) + 0.1f * patches(block, u, v, 7, 7);
    s->color = scaled(rgb(kind[0], kind[1], kind[2]), light);
    s->reflectance = 0.4f;
    if (row < 0.5f && block->hash % 4 != 0) {
        s->class = CITY_CLASS_LOW;
        s->lift = 0.15f + 0.3f * city_unit(random, 1);
    }
}

/* Parking lots and yards: asphalt with lines every 2.8 m over the strip from v0 to v1. */
static void paint_parking(const city_block *block, float u, float v, float v0, float v1, float u0, uint64_t random,
                          city_surface *s) {
    paint_asphalt(block, u, v, s);
    if (u > u0 && v > v0 && v < v1 && phase(u - u0 - 1.4f, 2.8f) < 0.04f) paint_mark(s, random);
}

static void paint_lot(const city_block *block, float u, float v, uint64_t random, city_surface *s) {
    const float in_u = u - CITY_STREET, in_v = v - CITY_STREET;
    switch ((city_use)block->use) {
    case CITY_OLD_TOWN:
        if (patches(block, u, v, 14, 8) > 0.5f) {
            paint_grass(block, u, v, random, s);
        } else {
            paint_paving(block, u, v, s);
        }
        return;
    case CITY_OFFICES:
        if (in_v > 56 && in_u > 56) {
            paint_parking(block, u, v, 64, 70, CITY_STREET + 57, random, s);
        } else if (in_v > 52 || patches(block, u, v, 11, 9) > 0.66f) {
            paint_grass(block, u, v, random, s);
        } else {
            paint_paving(block, u, v, s);
        }
        return;
    case CITY_CHURCH: paint_paving(block, u, v, s); return;
    case CITY_SLABS:
        if (in_u > 68) {
            paint_asphalt(block, u, v, s);
            if (phase(v - 8.6f, 2.8f) < 0.04f && fabsf(in_u - 77.5f) > 2.6f && in_v < 42) paint_mark(s, random);
        } else if (phase(in_v - 18, 23) < 0.07f) {
            paint_paving(block, u, v, s);
        } else {
            paint_grass(block, u, v, random, s);
        }
        return;
    case CITY_HOUSES:
        if (phase(in_u - 13.5f, (CITY_BLOCK_U - 2 * CITY_STREET) / 5) < 0.17f && (in_v < 12 || in_v > 54)) {
            paint_paving(block, u, v, s);
        } else {
            paint_grass(block, u, v, random, s);
        }
        return;
    case CITY_INDUSTRY: paint_parking(block, u, v, fabsf(in_v - 36) < 9 ? v - 1 : 999, v + 1, 74, random, s); return;
    case CITY_PARK: paint_park(block, u, v, random, s); return;
    case CITY_SPORTS: paint_pitch(block, u, v, random, s); return;
    case CITY_FIELD: paint_field(block, u, v, random, s); return;
    case CITY_FOREST:
        paint_grass(block, u, v, random, s);
        s->color = mixed(s->color, rgb(0.36f, 0.29f, 0.2f), 0.6f);
        return;
    case CITY_RIVER:
    case CITY_POWER: paint_grass(block, u, v, random, s); return;
    }
}

/* The banks: a path above, stones and reed at the water. */
static void paint_river(const city_block *block, float u, float v, float ground, uint64_t random, city_surface *s) {
    if (ground < CITY_WATER) {
        const float waves = patches(block, u, v, 4, 10);
        s->color = rgb(0.2f + 0.04f * waves, 0.31f + 0.05f * waves, 0.33f + 0.05f * waves);
        s->reflectance = 0.06f;
        s->class = CITY_CLASS_WATER;
        s->lift = CITY_WATER - ground + 0.04f * (waves - 0.5f);
    } else if (ground < CITY_WATER + 0.9f) {
        s->color = scaled(rgb(0.6f, 0.57f, 0.5f), 0.8f + 0.3f * patches(block, u, v, 0.7f, 11));
        s->reflectance = 0.3f;
    } else if (ground > CITY_LEVEL - 0.12f && ground < CITY_LEVEL - 0.001f) {
        s->color = scaled(rgb(0.74f, 0.68f, 0.56f), 0.92f + 0.12f * city_unit(random, 2));
        s->reflectance = 0.35f;
    } else {
        paint_grass(block, u, v, random, s);
    }
}

city_surface city_paint_ground(const city_block *block, float u, float v, uint64_t random) {
    city_surface s = {{0, 0, 0}, 0.3f, {0, 0, 1}, 0, 1, CITY_CLASS_GROUND};
    const float ground = city_ground(block, u, v);
    const float off_u = city_min(u, CITY_BLOCK_U - u), off_v = city_min(v, CITY_BLOCK_V - v);
    const bool country = block->use == CITY_FIELD || block->use == CITY_FOREST;
    if (block->use == CITY_RIVER && ground < CITY_LEVEL - 0.001f) {
        paint_river(block, u, v, ground, random, &s);
    } else if (off_u < (country ? CITY_CARRIAGEWAY : CITY_STREET) ||
               off_v < (country ? CITY_CARRIAGEWAY : CITY_STREET)) {
        paint_street(block, u, v, random, &s);
    } else {
        paint_lot(block, u, v, random, &s);
    }
    if (s.class == CITY_CLASS_WATER) return s;
    const float du = (city_ground(block, u + 1, v) - city_ground(block, u - 1, v)) / 2;
    const float dv = (city_ground(block, u, v + 1) - city_ground(block, u, v - 1)) / 2;
    const float length = sqrtf(du * du + dv * dv + 1);
    s.normal[0] = -du / length, s.normal[1] = -dv / length, s.normal[2] = 1 / length;
    return s;
}

/* ---- things */

static void paint_wall(const city_thing *thing, float along, float height, city_surface *s) {
    const float floor_m = 3.1f, width_m = thing->wall_look == CITY_WALL_GLASS ? 1.6f : 2.5f;
    const float up = phase(height, floor_m), side = phase(along, width_m);
    const uint64_t pane = city_hash(thing->hash, (int32_t)floorf(height / floor_m), (int32_t)floorf(along / width_m));
    const float shine = city_unit(pane, 0);
    s->color = thing->wall;
    s->reflectance = 0.42f;
    const bool window =
        thing->wall_look == CITY_WALL_WINDOWS && up > 0.3f && up < 0.78f && side > 0.26f && side < 0.74f;
    const bool glass = thing->wall_look == CITY_WALL_GLASS && up > 0.16f && side > 0.06f;
    if (thing->wall_look == CITY_WALL_HALL && phase(along, 1.1f) < 0.12f) s->color = scaled(s->color, 0.82f);
    if (thing->wall_look == CITY_WALL_WINDOWS && (up > 0.96f || height < 0.7f)) s->color = scaled(s->color, 0.85f);
    if (window || glass) {
        s->color = mixed(rgb(0.16f, 0.2f, 0.26f), rgb(0.44f, 0.54f, 0.62f), shine * shine);
        s->reflectance = 0.1f;
    }
}

/* Solar panels on one roof in eight, on the side that the sun meets. */
static bool is_solar(const city_thing *thing, city_face face, float along, float up) {
    const bool sunny = face == CITY_FACE_ROOF_U0 || face == CITY_FACE_ROOF_V0;
    return thing->roof_look == CITY_ROOF_TILES && sunny && thing->hash % 8 == 0 && along > 0.2f && along < 0.75f &&
           up > 0.25f && up < 0.8f;
}

static void paint_roof(const city_hit *hit, float u, float v, uint64_t random, city_surface *s) {
    const city_thing *thing = hit->thing;
    const bool across_u = hit->face == CITY_FACE_ROOF_U0 || hit->face == CITY_FACE_ROOF_U1;
    const float size_u = thing->u1 - thing->u0, size_v = thing->v1 - thing->v0;
    const float a = u - thing->u0, b = v - thing->v0;
    const float along = across_u ? b : a, down = across_u ? fabsf(a - size_u / 2) : fabsf(b - size_v / 2);
    const float blotch = city_noise(thing->hash, (double)(u / 2.2f), (double)(v / 2.2f));
    s->color = scaled(thing->roof, 0.9f + 0.16f * blotch + 0.06f * city_unit(random, 2));
    s->reflectance = 0.3f;
    if (thing->roof_look == CITY_ROOF_TILES) {
        const float half = (across_u ? size_u : size_v) / 2;
        if (phase(down, 0.4f) < 0.25f) s->color = scaled(s->color, 0.9f);
        if (is_solar(thing, hit->face, along / (across_u ? size_v : size_u), down / half)) {
            s->color = phase(along, 1.05f) < 0.06f || phase(down, 1.6f) < 0.05f ? rgb(0.6f, 0.62f, 0.64f)
                                                                                : rgb(0.09f, 0.12f, 0.24f);
            s->reflectance = 0.08f;
        }
    } else if (thing->roof_look == CITY_ROOF_METAL) {
        if (phase(along, 1.2f) < 0.15f) s->color = scaled(s->color, 0.86f);
        const bool skylight = size_u > 40 && phase(a, 12) > 0.42f && phase(a, 12) < 0.58f && b > 2 && b < size_v - 2;
        if (skylight) s->color = rgb(0.6f, 0.7f, 0.75f), s->reflectance = 0.15f;
    } else if (thing->roof_look == CITY_ROOF_GRAVEL) {
        const float rim = city_min(city_min(a, size_u - a), city_min(b, size_v - b));
        if (rim < 0.4f) s->color = rgb(0.78f, 0.78f, 0.76f), s->lift = 0.45f;
        if (thing->hash % 7 == 0 && rim > 1) s->color = mixed(s->color, rgb(0.4f, 0.48f, 0.24f), 0.8f); /* planted */
    }
}

/* The unit normal of a box's face. */
static void box_normal(const city_thing *thing, city_face face, float normal[3]) {
    const bool roof = face >= CITY_FACE_ROOF_U0 && face <= CITY_FACE_ROOF_V1;
    const bool across_u =
        face == CITY_FACE_U0 || face == CITY_FACE_U1 || face == CITY_FACE_ROOF_U0 || face == CITY_FACE_ROOF_U1;
    const bool lower =
        face == CITY_FACE_U0 || face == CITY_FACE_V0 || face == CITY_FACE_ROOF_U0 || face == CITY_FACE_ROOF_V0;
    const float slope = !roof ? 1 : across_u ? thing->slope_u : thing->slope_v;
    const float up = roof || face == CITY_FACE_BOTTOM ? 1 : 0, length = sqrtf(slope * slope + up);
    normal[0] = across_u ? (lower ? -slope : slope) / length : 0;
    normal[1] = across_u ? 0 : (lower ? -slope : slope) / length;
    normal[2] = up / length;
}

static void paint_leaves(const city_thing *thing, float u, float v, float z, uint64_t random, city_surface *s) {
    const float radius = (thing->u1 - thing->u0) / 2, half = (thing->top - thing->bottom) / 2;
    const float a = (u - thing->u0 - radius) / radius, b = (v - thing->v0 - radius) / radius;
    const float c = (z - thing->bottom - half) / half;
    const float length = sqrtf(a * a + b * b + c * c) + 0.05f;
    s->normal[0] = a / length, s->normal[1] = b / length, s->normal[2] = c / length;
    const float clump = city_noise(thing->hash, (double)(u * 0.9f + z * 0.6f), (double)(v * 0.9f - z * 0.5f));
    s->color = scaled(thing->roof, 0.62f + 0.5f * clump + 0.22f * city_unit(random, 2));
    s->ambient = 0.45f + 0.55f * city_clamp(length, 0, 1); /* it is dark inside the crown */
    s->reflectance = 0.5f;
    const float height = z - thing->apex;
    s->class = height < 0.5f ? CITY_CLASS_LOW : height < 2.5f ? CITY_CLASS_MEDIUM : CITY_CLASS_HIGH;
}

city_surface city_paint_hit(const city_hit *hit, float u, float v, float z, uint64_t random) {
    const city_thing *thing = hit->thing;
    city_surface s = {thing->wall, 0.35f, {0, 0, 1}, 0, 1, thing->class};
    if (thing->shape == CITY_CROWN || thing->shape == CITY_CONIFER) {
        paint_leaves(thing, u, v, z, random, &s);
    } else if (thing->shape == CITY_BOX) {
        box_normal(thing, hit->face, s.normal);
        const bool wall = hit->face <= CITY_FACE_V1;
        if (wall) {
            const float along = hit->face <= CITY_FACE_U1 ? v - thing->v0 : u - thing->u0;
            paint_wall(thing, along, z - thing->bottom - 1.5f, &s);
        } else if (thing->roof_look == CITY_ROOF_STREET) {
            paint_street(hit->block, u, v, random, &s);
        } else {
            paint_roof(hit, u, v, random, &s);
        }
    }
    return s;
}

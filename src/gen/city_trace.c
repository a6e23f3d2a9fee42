/* Beams through the town: which things a line meets, found by walking from cell to cell. */
#include <math.h>

#include "gen/city.h"

#define WIRE_BEAM_M   0.22f /* a beam this close to a wire sends an echo */
#define CONIFER_STEPS 8
#define STEEP         1e-5f /* no slope is smaller, so that all can be divided by */

/* An interval of heights above a ray's foot. */
typedef struct interval {
    float low, high;
    city_face face; /* that ends it above */
} interval;

/* Keeps the heights h with a + slope h <= limit. */
static void clip(interval *range, float a, float slope, float limit, city_face face) {
    if (fabsf(slope) < STEEP) {
        if (a > limit) range->high = range->low - 1;
        return;
    }
    const float h = (limit - a) / slope;
    if (slope > 0 && h < range->high) range->high = h, range->face = face;
    if (slope < 0 && h > range->low) range->low = h;
}

static bool meets_box(const city_thing *box, const city_ray *ray, interval *range) {
    const float middle_u = (box->u0 + box->u1) / 2, middle_v = (box->v0 + box->v1) / 2;
    const float apex = box->apex - ray->z;
    if (box->bottom - ray->z > range->low) range->low = box->bottom - ray->z;
    clip(range, ray->u, ray->slope_u, box->u1, CITY_FACE_U1);
    clip(range, -ray->u, -ray->slope_u, -box->u0, CITY_FACE_U0);
    clip(range, ray->v, ray->slope_v, box->v1, CITY_FACE_V1);
    clip(range, -ray->v, -ray->slope_v, -box->v0, CITY_FACE_V0);
    if (range->low >= range->high) return false;
    const float u = box->slope_u * (ray->u - middle_u), rise_u = box->slope_u * ray->slope_u;
    const float v = box->slope_v * (ray->v - middle_v), rise_v = box->slope_v * ray->slope_v;
    clip(range, u, 1 + rise_u, apex, CITY_FACE_ROOF_U1);
    if (box->slope_u > 0) clip(range, -u, 1 - rise_u, apex, CITY_FACE_ROOF_U0);
    if (box->slope_v > 0) {
        clip(range, v, 1 + rise_v, apex, CITY_FACE_ROOF_V1);
        clip(range, -v, 1 - rise_v, apex, CITY_FACE_ROOF_V0);
    }
    return range->low < range->high;
}

/* An ellipsoid in the thing's bounds. */
static bool meets_crown(const city_thing *crown, const city_ray *ray, interval *range) {
    const float radius = (crown->u1 - crown->u0) / 2, half = (crown->top - crown->bottom) / 2;
    const float squash = radius / half;
    const float u = ray->u - (crown->u0 + radius), v = ray->v - (crown->v0 + radius);
    const float z = (ray->z - (crown->bottom + half)) * squash;
    const float a = ray->slope_u * ray->slope_u + ray->slope_v * ray->slope_v + squash * squash;
    const float b = u * ray->slope_u + v * ray->slope_v + z * squash;
    const float c = u * u + v * v + z * z - radius * radius;
    const float root = b * b - a * c;
    if (root <= 0) return false;
    const float low = (-b - sqrtf(root)) / a, high = (-b + sqrtf(root)) / a;
    if (low > range->low) range->low = low;
    if (high < range->high) range->high = high;
    return range->low < range->high;
}

/* A cone in the thing's bounds; its needles are fuzzy, so steps along the beam are exact enough. */
static bool meets_conifer(const city_thing *cone, const city_ray *ray, interval *range) {
    const float radius = (cone->u1 - cone->u0) / 2, tall = cone->top - cone->bottom, step = tall / CONIFER_STEPS;
    const float u = ray->u - (cone->u0 + radius), v = ray->v - (cone->v0 + radius);
    bool inside = false;
    for (int i = 0; i < CONIFER_STEPS; i++) {
        const float h = cone->top - ray->z - ((float)i + 0.5f) * step;
        const float at_u = u + ray->slope_u * h, at_v = v + ray->slope_v * h;
        const float wide = radius * ((float)i + 0.7f) / CONIFER_STEPS;
        if (at_u * at_u + at_v * at_v > wide * wide) continue;
        if (!inside) range->high = h + step / 2;
        range->low = h - step / 2;
        inside = true;
    }
    return inside && range->high > 0;
}

static bool meets_wire(const city_thing *wire, const city_ray *ray, interval *range) {
    const float v = (wire->v0 + wire->v1) / 2;
    float h = wire->apex - ray->z, u = ray->u + ray->slope_u * h;
    for (int i = 0; i < 2; i++) { /* the wire is nearly level: two steps find its height where the beam is */
        h = wire->apex + u * (wire->slope_u + u * wire->slope_v) - ray->z;
        u = ray->u + ray->slope_u * h;
    }
    range->high = h, range->low = h - 0.01f;
    return h > 0 && u >= wire->u0 && u < wire->u1 && fabsf(ray->v + ray->slope_v * h - v) < WIRE_BEAM_M;
}

/* Half width of a pylon's mast at a height above its foot: it tapers. */
static float mast_half_m(float height, float tall) {
    return city_mix(2.4f, 0.45f, city_clamp(height / (0.6f * tall), 0, 1));
}

/* A lattice mast: legs and braces of its four faces, and three cross-arms. Looked for from the top, step by step. */
static bool meets_pylon(const city_thing *pylon, const city_ray *ray, interval *range) {
    static const float arm_m[3] = {15, 19, 23}, reach_m[3] = {4.4f, 5.6f, 4.4f};
    const float tall = pylon->top - pylon->bottom;
    const float u = ray->u - (pylon->u0 + pylon->u1) / 2, v = ray->v - (pylon->v0 + pylon->v1) / 2;
    for (float height = tall; height > 0.2f; height -= 0.35f) {
        const float h = pylon->bottom + height - ray->z;
        const float at_u = fabsf(u + ray->slope_u * h), at_v = fabsf(v + ray->slope_v * h);
        const float half = mast_half_m(height, tall);
        bool solid = false;
        for (int i = 0; i < 3; i++) {
            solid = solid || (height > arm_m[i] && height < arm_m[i] + 0.8f && at_v < reach_m[i] && at_u < 0.35f);
        }
        const float wide = at_u > at_v ? at_u : at_v, along = at_u > at_v ? at_v : at_u;
        if (fabsf(wide - half) < 0.22f) {
            const float panel = height / (1.6f * half + 0.8f), phase = 2 * (panel - floorf(panel)) - 1;
            solid = solid || along > half - 0.3f || fabsf(along - fabsf(phase) * half) < 0.18f;
        }
        if (!solid || h < 0) continue;
        range->high = h, range->low = h - 0.1f;
        return true;
    }
    return false;
}

static bool meets(const city_thing *thing, const city_ray *ray, interval *range) {
    switch ((city_shape)thing->shape) {
    case CITY_BOX: return meets_box(thing, ray, range);
    case CITY_CROWN: return meets_crown(thing, ray, range);
    case CITY_CONIFER: return meets_conifer(thing, ray, range);
    case CITY_WIRE: return meets_wire(thing, ray, range);
    case CITY_PYLON: return meets_pylon(thing, ray, range);
    }
    return false;
}

/* A walk along a ray from cell to cell of one block after the other. */
typedef struct walk {
    city_cache *cache;
    city_ray ray; /* in the coordinates of the block where the walk is */
    int cell_u, cell_v;
    float next_u, next_v; /* heights at which the ray leaves the cell */
} walk;

/* Height at which a ray from coordinate a leaves a cell. */
static float leaves_at(float a, float slope, int cell) {
    if (fabsf(slope) < STEEP) return 1e9f;
    return ((float)(slope > 0 ? cell + 1 : cell) * CITY_CELL - a) / slope;
}

static walk walk_from(city_cache *cache, const city_ray *ray) {
    walk w = {cache, *ray, (int)(ray->u / CITY_CELL), (int)(ray->v / CITY_CELL), 0, 0};
    if (w.cell_u < 0) w.cell_u = 0;
    if (w.cell_v < 0) w.cell_v = 0;
    if (w.cell_u >= CITY_CELLS_U) w.cell_u = CITY_CELLS_U - 1;
    if (w.cell_v >= CITY_CELLS_V) w.cell_v = CITY_CELLS_V - 1;
    w.next_u = leaves_at(ray->u, ray->slope_u, w.cell_u);
    w.next_v = leaves_at(ray->v, ray->slope_v, w.cell_v);
    return w;
}

/* Goes to the next cell; true if it lies in another block, which is then ray.block. */
static bool walk_on(walk *w) {
    const city_block *from = w->ray.block;
    int32_t at_u = from->at_u, at_v = from->at_v;
    if (w->next_u < w->next_v) {
        w->cell_u += w->ray.slope_u > 0 ? 1 : -1;
        if (w->cell_u == CITY_CELLS_U) at_u++, w->cell_u = 0, w->ray.u -= CITY_BLOCK_U;
        if (w->cell_u < 0) at_u--, w->cell_u = CITY_CELLS_U - 1, w->ray.u += CITY_BLOCK_U;
        w->next_u = leaves_at(w->ray.u, w->ray.slope_u, w->cell_u);
    } else {
        w->cell_v += w->ray.slope_v > 0 ? 1 : -1;
        if (w->cell_v == CITY_CELLS_V) at_v++, w->cell_v = 0, w->ray.v -= CITY_BLOCK_V;
        if (w->cell_v < 0) at_v--, w->cell_v = CITY_CELLS_V - 1, w->ray.v += CITY_BLOCK_V;
        w->next_v = leaves_at(w->ray.v, w->ray.slope_v, w->cell_v);
    }
    if (at_u == from->at_u && at_v == from->at_v) return false;
    w->ray.block = city_find_block(w->cache, at_u, at_v);
    return true;
}

/* What a walk does with the things of one block. False ends it. */
typedef bool (*visit_fn)(void *user, const city_ray *ray, const uint64_t *things);

/* Walks up to height h and visits the things block by block. */
static void walk_ray(city_cache *cache, const city_ray *ray, float h, visit_fn visit, void *user) {
    walk w = walk_from(cache, ray);
    uint64_t things[CITY_THINGS / 64] = {0};
    float entered = 0;
    for (;;) {
        const city_cell *cell = &w.ray.block->cells[w.cell_v][w.cell_u];
        if (cell->top > w.ray.z + entered) {
            for (int i = 0; i < CITY_THINGS / 64; i++) things[i] |= cell->things[i];
        }
        entered = city_min(w.next_u, w.next_v);
        const city_ray here = w.ray;
        const bool ends = entered >= h;
        if ((ends || walk_on(&w)) && (things[0] | things[1]) != 0) {
            if (!visit(user, &here, things)) return;
            things[0] = things[1] = 0;
        }
        if (ends) return;
    }
}

typedef struct hit_list {
    city_hit *hits;
    uint32_t count;
    float h;
} hit_list;

/* Inserts a hit, highest first; when there are too many, the lowest goes. */
static void add_hit(hit_list *list, const city_hit *hit) {
    uint32_t at = list->count < CITY_HITS ? list->count++ : CITY_HITS;
    if (at == CITY_HITS && list->hits[--at].high >= hit->high) return;
    for (; at > 0 && list->hits[at - 1].high < hit->high; at--) list->hits[at] = list->hits[at - 1];
    list->hits[at] = *hit;
}

static bool collect(void *user, const city_ray *ray, const uint64_t *things) {
    hit_list *list = user;
    for (int word = 0; word < CITY_THINGS / 64; word++) {
        for (uint64_t bits = things[word]; bits != 0; bits &= bits - 1) {
            const city_thing *thing = &ray->block->things[64 * word + __builtin_ctzll(bits)];
            interval range = {0, list->h, CITY_FACE_BOTTOM};
            if (!meets(thing, ray, &range)) continue;
            const city_hit hit = {ray->block,
                                  thing,
                                  range.low,
                                  range.high,
                                  ray->u + ray->slope_u * range.high,
                                  ray->v + ray->slope_v * range.high,
                                  range.face};
            add_hit(list, &hit);
        }
    }
    return true;
}

uint32_t city_trace(city_cache *cache, city_ray ray, float h, city_hit *hits) {
    hit_list list = {hits, 0, h};
    walk_ray(cache, &ray, h, collect, &list);
    return list.count;
}

typedef struct shade {
    float h, light;
} shade;

static bool darken(void *user, const city_ray *ray, const uint64_t *things) {
    shade *s = user;
    for (int word = 0; word < CITY_THINGS / 64; word++) {
        for (uint64_t bits = things[word]; bits != 0; bits &= bits - 1) {
            const city_thing *thing = &ray->block->things[64 * word + __builtin_ctzll(bits)];
            interval range = {0, s->h, CITY_FACE_BOTTOM};
            if (thing->shape >= CITY_WIRE || !meets(thing, ray, &range)) continue;
            if (thing->shape == CITY_BOX) {
                s->light = 0;
                return false;
            }
            s->light *= 1 - 0.75f * city_clamp((range.high - range.low) / 2, 0, 1); /* leaves let some light through */
        }
    }
    return true;
}

float city_sunlight(city_cache *cache, city_block *block, float u, float v, float z, const float normal[3]) {
    const float off = 0.08f; /* so that a surface does not shade itself */
    city_ray ray = {block,
                    u + off * normal[0],
                    v + off * normal[1],
                    z + off * normal[2],
                    city_sun[0] / city_sun[2],
                    city_sun[1] / city_sun[2]};
    shade s = {CITY_TALLEST, 1};
    walk_ray(cache, &ray, s.h, darken, &s);
    return s.light;
}

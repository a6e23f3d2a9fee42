/* Rays through a scene: the nearest hit, and whether anything is in between; one copy for C and CUDA. Triangles are
   watertight (Woop, Benthin, Wald 2013): both triangles of an edge compute the same products of it, so that no ray
   passes between them. */
#ifndef MOTE_PHOTON_RAY_H
#define MOTE_PHOTON_RAY_H

#include "photon/photon_scene.h"

#define PHOTON_STACK (3u * PHOTON_MAX_LEVELS + 4u)
#define PHOTON_FAR   1e300
#define PHOTON_WIDER (1 + 0x1p-50) /* what the far side of a box is moved by, for the sake of rounding (Ize 2013) */

typedef struct photon_ray {
    photon_vec origin, direction;
    double inverse[3]; /* of the direction, finite */
    int axis[3];       /* Woop: the axis along which the ray is longest comes last */
    double shear[3];
} photon_ray;

typedef struct photon_hit {
    double t; /* PHOTON_FAR: nothing */
    uint32_t shape;
    uint32_t material;
    uint32_t front;           /* hit where a triangle's corners run counterclockwise, or from outside a sphere */
    photon_vec place, normal; /* the normal looks to where the ray came from */
} photon_hit;

MOTE_HD double photon_axis(photon_vec v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

MOTE_HD photon_ray photon_ray_of(photon_vec origin, photon_vec direction) {
    photon_ray ray;
    ray.origin = origin;
    ray.direction = direction;
    for (int k = 0; k < 3; k++) {
        const double d = photon_axis(direction, k);
        ray.inverse[k] = fabs(d) > 1 / PHOTON_FAR ? 1 / d : d < 0 ? -PHOTON_FAR : PHOTON_FAR;
    }
    const double x = fabs(direction.x), y = fabs(direction.y), z = fabs(direction.z);
    const int last = x > y ? (x > z ? 0 : 2) : (y > z ? 1 : 2);
    const int first = last == 2 ? 0 : last + 1, second = first == 2 ? 0 : first + 1;
    const bool flipped = photon_axis(direction, last) < 0; /* keeps the sense in which corners run */
    ray.axis[0] = flipped ? second : first;
    ray.axis[1] = flipped ? first : second;
    ray.axis[2] = last;
    ray.shear[2] = 1 / photon_axis(direction, last);
    ray.shear[0] = photon_axis(direction, ray.axis[0]) * ray.shear[2];
    ray.shear[1] = photon_axis(direction, ray.axis[1]) * ray.shear[2];
    return ray;
}

/* Where a corner is in the ray's frame, in which the ray is the third axis. */
MOTE_HD photon_vec photon_sheared(const photon_ray *ray, photon_vec corner) {
    const photon_vec v = photon_sub(corner, ray->origin);
    const double along = photon_axis(v, ray->axis[2]);
    return photon_vec_of(photon_axis(v, ray->axis[0]) - ray->shear[0] * along,
                         photon_axis(v, ray->axis[1]) - ray->shear[1] * along, ray->shear[2] * along);
}

/* Returns t, or PHOTON_FAR. */
MOTE_HD double photon_meet_triangle(const photon_ray *ray, const photon_shape *shape, uint32_t *front) {
    const photon_vec a = photon_sheared(ray, shape->a), b = photon_sheared(ray, shape->b),
                     c = photon_sheared(ray, shape->c);
    const double u = c.x * b.y - c.y * b.x, v = a.x * c.y - a.y * c.x, w = b.x * a.y - b.y * a.x;
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return PHOTON_FAR;
    const double area = (u + v) + w;
    if (!(area != 0)) return PHOTON_FAR;
    *front = area > 0;
    return ((u * a.z + v * b.z) + w * c.z) / area;
}

/* The nearer hit in front of near_t; the roots as in Haines et al. 2019, which do not cancel. */
MOTE_HD double photon_meet_sphere(const photon_ray *ray, const photon_shape *shape, double near_t, uint32_t *front) {
    const photon_vec f = photon_sub(ray->origin, shape->a);
    const double r = shape->b.x, half = -photon_dot(f, ray->direction);
    const photon_vec beside = photon_along(f, ray->direction, half);
    const double square = r * r - photon_dot(beside, beside);
    if (!(square >= 0)) return PHOTON_FAR;
    const double q = half + (half < 0 ? -sqrt(square) : sqrt(square));
    const double other = q != 0 ? (photon_dot(f, f) - r * r) / q : 0;
    const double first = q < other ? q : other, second = q < other ? other : q;
    *front = first > near_t;
    return first > near_t ? first : second;
}

MOTE_HD void photon_meet(const photon_view *scene, const photon_ray *ray, uint32_t i, photon_hit *hit) {
    const photon_shape *shape = &scene->shapes[i];
    uint32_t front = 0;
    const double t = shape->is_sphere ? photon_meet_sphere(ray, shape, scene->near_t, &front)
                                      : photon_meet_triangle(ray, shape, &front);
    if (!(t > scene->near_t && t < hit->t)) return;
    hit->t = t;
    hit->shape = i;
    hit->front = front;
}

/* Where a ray enters a box; PHOTON_FAR: it misses it, or all of it is beyond far_t. */
MOTE_HD double photon_enter(const photon_ray *ray, const photon_node *node, uint32_t j, double far_t) {
    double enter = 0, leave = far_t;
    for (int k = 0; k < 3; k++) {
        const double origin = photon_axis(ray->origin, k);
        const double a = ((double)node->low[k][j] - origin) * ray->inverse[k];
        const double b = ((double)node->high[k][j] - origin) * ray->inverse[k];
        const double low = a < b ? a : b, high = (a < b ? b : a) * PHOTON_WIDER;
        enter = low > enter ? low : enter;
        leave = high < leave ? high : leave;
    }
    return node->low[0][j] <= node->high[0][j] && enter <= leave ? enter : PHOTON_FAR;
}

typedef struct photon_waiting {
    double enter;
    uint32_t level, place; /* level 0: a leaf; else a node of level - 1 */
} photon_waiting;

/* Puts the boxes of a node that a ray enters on the stack, the nearest on top. */
MOTE_HD uint32_t photon_push(const photon_view *scene, const photon_ray *ray, const photon_waiting *at, double far_t,
                             photon_waiting *stack, uint32_t height) {
    const photon_node *node = &scene->nodes[scene->level_first[at->level - 1] + at->place];
    const uint32_t floor = height;
    for (uint32_t j = 0; j < PHOTON_WIDTH; j++) {
        photon_waiting next;
        next.enter = photon_enter(ray, node, j, far_t);
        next.level = at->level - 1;
        next.place = at->place * PHOTON_WIDTH + j;
        if (next.enter >= PHOTON_FAR) continue;
        uint32_t to = height++;
        for (; to > floor && stack[to - 1].enter < next.enter; to--) stack[to] = stack[to - 1];
        stack[to] = next;
    }
    return height;
}

/* The nearest shape nearer than far_t; any: the first one found will do. */
MOTE_HD photon_hit photon_walk(const photon_view *scene, const photon_ray *ray, double far_t, bool any) {
    photon_waiting stack[PHOTON_STACK];
    photon_hit hit;
    uint32_t height = 0;
    hit.t = far_t;
    hit.shape = PHOTON_NO_SHAPE;
    hit.material = hit.front = 0;
    hit.place = hit.normal = photon_vec_of(0, 0, 0);
    if (scene->shape_count > 0) {
        stack[0].enter = 0;
        stack[0].level = scene->level_count;
        stack[0].place = 0;
        height = 1;
    }
    while (height > 0 && !(any && hit.shape != PHOTON_NO_SHAPE)) {
        const photon_waiting at = stack[--height];
        if (at.enter > hit.t) continue;
        if (at.level > 0) {
            height = photon_push(scene, ray, &at, hit.t, stack, height);
            continue;
        }
        const uint32_t first = at.place * PHOTON_WIDTH, end = first + PHOTON_WIDTH;
        for (uint32_t i = first; i < end && i < scene->shape_count; i++) photon_meet(scene, ray, i, &hit);
    }
    return hit;
}

/* The nearest hit, with its place and normal. */
MOTE_HD photon_hit photon_trace(const photon_view *scene, photon_vec origin, photon_vec direction) {
    const photon_ray ray = photon_ray_of(origin, direction);
    photon_hit hit = photon_walk(scene, &ray, PHOTON_FAR, false);
    if (hit.shape == PHOTON_NO_SHAPE) return hit;
    const photon_shape *shape = &scene->shapes[hit.shape];
    hit.material = shape->material;
    hit.place = photon_along(origin, direction, hit.t);
    hit.normal = shape->is_sphere
                     ? photon_unit(photon_sub(hit.place, shape->a))
                     : photon_unit(photon_cross(photon_sub(shape->b, shape->a), photon_sub(shape->c, shape->a)));
    if (photon_dot(hit.normal, direction) > 0) hit.normal = photon_scale(hit.normal, -1);
    return hit;
}

/* Whether a shape lies between two places. */
MOTE_HD bool photon_is_shadowed(const photon_view *scene, photon_vec from, photon_vec direction, double distance) {
    const photon_ray ray = photon_ray_of(from, direction);
    return photon_walk(scene, &ray, distance - scene->near_t, true).shape != PHOTON_NO_SHAPE;
}

#endif

/* Rays through a scene: the nearest hit; one copy for C and CUDA. Triangles are
   watertight (Woop, Benthin, Wald 2013): both triangles of an edge compute the same products of it, so that no ray
   passes between them. */
#ifndef MOTE_PHOTON_RAY_H
#define MOTE_PHOTON_RAY_H

#include "photon/scene/photon_scene.h"

#define PHOTON_STACK (3u * PHOTON_MAX_LEVELS + 4u)
#define PHOTON_FAR   1e300
#define PHOTON_SLACK 0x1p-21 /* of what is divided by a direction: eight roundings of a float */
#define PHOTON_WIDE  1e38f   /* where floats end, nearly */

/* Boxes are met in floats, and shapes in doubles. What floats may be wrong by is added to the boxes, so that each box
   is entered that the ray in doubles enters. */
typedef struct photon_ray {
    photon_vec origin, direction;
    uint32_t near_side[3];      /* PHOTON_LOW or PHOTON_HIGH: which side of boxes comes first */
    float inverse[3];           /* of the direction */
    float enters[3], leaves[3]; /* a box is entered at its near side · inverse + enters */
    int axis[3];                /* Woop: the axis along which the ray is longest comes last */
    double start[3], shear[3];  /* the origin along these axes */
} photon_ray;

typedef struct photon_hit {
    double t; /* PHOTON_FAR: nothing */
    uint32_t shape;
    uint32_t material;
    uint32_t front;           /* hit where a triangle's corners run counterclockwise, or from outside a sphere */
    photon_vec place, normal; /* the normal looks to where the ray came from */
} photon_hit;

MOTE_HD double photon_axis(photon_vec v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/* Where an axis' boxes are entered and left. A ray that floats cannot hold is within all of them along this axis. */
MOTE_HD void photon_ray_along(photon_ray *ray, int k, double largest) {
    const double o = photon_axis(ray->origin, k), d = photon_axis(ray->direction, k);
    const double inverse = fabs(d) > 1e-30 ? 1 / d : d < 0 ? -1e30 : 1e30;
    const double slack = PHOTON_SLACK * (largest + fabs(o)) * fabs(inverse), at = -o * inverse;
    const bool fits = fabs(at) + slack < (double)PHOTON_WIDE;
    ray->near_side[k] = d < 0 ? PHOTON_HIGH : PHOTON_LOW;
    ray->inverse[k] = (float)(fits ? inverse : inverse < 0 ? -1e-30 : 1e-30);
    ray->enters[k] = fits ? (float)(at - slack) : -PHOTON_WIDE;
    ray->leaves[k] = fits ? (float)(at + slack) : PHOTON_WIDE;
}

MOTE_HD photon_ray photon_ray_of(photon_vec origin, photon_vec direction, double largest) {
    photon_ray ray;
    ray.origin = origin;
    ray.direction = direction;
    for (int k = 0; k < 3; k++) photon_ray_along(&ray, k, largest);
    const double x = fabs(direction.x), y = fabs(direction.y), z = fabs(direction.z);
    const int last = x > y ? (x > z ? 0 : 2) : (y > z ? 1 : 2);
    const int first = last == 2 ? 0 : last + 1, second = first == 2 ? 0 : first + 1;
    const bool flipped = photon_axis(direction, last) < 0; /* keeps the sense in which corners run */
    ray.axis[0] = flipped ? second : first;
    ray.axis[1] = flipped ? first : second;
    ray.axis[2] = last;
    for (int k = 0; k < 3; k++) ray.start[k] = photon_axis(origin, ray.axis[k]);
    ray.shear[2] = 1 / photon_axis(direction, last);
    ray.shear[0] = photon_axis(direction, ray.axis[0]) * ray.shear[2];
    ray.shear[1] = photon_axis(direction, ray.axis[1]) * ray.shear[2];
    return ray;
}

/* Where a corner is in the ray's frame, in which the ray is the third axis. */
MOTE_HD photon_vec photon_sheared(const photon_ray *ray, const photon_vec *corner) {
    const double *const at = &corner->x; /* x, y, z: read along the ray's axes */
    const double along = at[ray->axis[2]] - ray->start[2];
    return photon_vec_of((at[ray->axis[0]] - ray->start[0]) - ray->shear[0] * along,
                         (at[ray->axis[1]] - ray->start[1]) - ray->shear[1] * along, ray->shear[2] * along);
}

/* Returns t, or PHOTON_FAR, also where t is less than near_t for certain: a ray meets the triangle that it leaves, and
   the division by which that is seen has a slow path, on a GPU, for a quotient of zero. */
MOTE_HD double photon_meet_triangle(const photon_ray *ray, const photon_shape *shape, double near_t, uint32_t *front) {
    const photon_vec a = photon_sheared(ray, &shape->a), b = photon_sheared(ray, &shape->b),
                     c = photon_sheared(ray, &shape->c);
    const double u = c.x * b.y - c.y * b.x, v = a.x * c.y - a.y * c.x, w = b.x * a.y - b.y * a.x;
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return PHOTON_FAR;
    const double area = (u + v) + w;
    if (!(area != 0)) return PHOTON_FAR;
    *front = area > 0;
    const double along = (u * a.z + v * b.z) + w * c.z;
    if (!((area > 0 ? along : -along) > 0.5 * near_t * fabs(area))) return PHOTON_FAR;
    return along / area;
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

/* Meets a shape: of two at the same place the one with the lower number counts, in whatever order they are met. */
MOTE_HD void photon_meet(const photon_view *scene, const photon_ray *ray, uint32_t i, photon_hit *hit) {
    const photon_shape *shape = &scene->shapes[i];
    uint32_t front = 0;
    const double t = shape->is_sphere ? photon_meet_sphere(ray, shape, scene->near_t, &front)
                                      : photon_meet_triangle(ray, shape, scene->near_t, &front);
    const bool ties = t == hit->t && hit->shape != PHOTON_NO_SHAPE && i < hit->shape;
    if (!(t > scene->near_t && (t < hit->t || ties))) return;
    hit->t = t;
    hit->shape = i;
    hit->front = front;
}

/* ---- the walk */

/* A float of at least t. */
MOTE_HD float photon_float_from(double t) { return t < (double)PHOTON_WIDE ? (float)t * (1 + 0x1p-22f) : INFINITY; }

/* Where a is no number, both return b. On a CPU fminf, fmaxf and fmaf may be calls, on a GPU they are instructions. */
#ifdef __CUDA_ARCH__
MOTE_HD float photon_min_float(float a, float b) { return fminf(a, b); }
MOTE_HD float photon_max_float(float a, float b) { return fmaxf(a, b); }
/* Rounded once or twice: boxes are wide enough for both. */
MOTE_HD float photon_nearly_fused(float a, float b, float c) { return fmaf(a, b, c); }
#else
MOTE_HD float photon_nearly_fused(float a, float b, float c) { return a * b + c; }
MOTE_HD float photon_min_float(float a, float b) { return a < b ? a : b; }
MOTE_HD float photon_max_float(float a, float b) { return a > b ? a : b; }
#endif

/* Where a ray enters a box, 0 or more, in the bits of a float whose last two say which box of the node it is: numbers
   that are in the order of the distance. PHOTON_MISSED: it misses it, or all of it is beyond far_t. */
#define PHOTON_MISSED UINT32_MAX
#define PHOTON_BOX    3u

MOTE_HD uint32_t photon_enter(const photon_ray *ray, const photon_four near_sides[3], const photon_four far_sides[3],
                              uint32_t j, float far_t) {
    float enter = 0, leave = far_t;
    for (int k = 0; k < 3; k++) {
        enter = photon_max_float(photon_nearly_fused(near_sides[k].of[j], ray->inverse[k], ray->enters[k]), enter);
        leave = photon_min_float(photon_nearly_fused(far_sides[k].of[j], ray->inverse[k], ray->leaves[k]), leave);
    }
    uint32_t bits;
    memcpy(&bits, &enter, sizeof bits);
    return enter <= leave ? (bits & ~PHOTON_BOX) | j : PHOTON_MISSED;
}

MOTE_HD void photon_order(uint32_t *a, uint32_t *b) {
    const uint32_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
    *a = low;
    *b = high;
}

typedef struct photon_waiting {
    uint32_t enter; /* as photon_enter says */
    uint32_t number;
} photon_waiting;

/* The nearest number on the stack that a ray enters in front of far_t; PHOTON_MISSED: none is left. */
MOTE_HD uint32_t photon_pop(const photon_waiting *stack, uint32_t *height, float far_t) {
    while (*height > 0) {
        const photon_waiting at = stack[--*height];
        const uint32_t bits = at.enter & ~PHOTON_BOX;
        float enter;
        memcpy(&enter, &bits, sizeof enter);
        if (enter <= far_t) return at.number;
    }
    return PHOTON_MISSED;
}

/* Puts the boxes of a node that a ray enters on the stack, the nearest on top, and takes that. */
MOTE_HD uint32_t photon_descend(const photon_view *scene, const photon_ray *ray, uint32_t number, float far_t,
                                photon_waiting *stack, uint32_t *height) {
    const photon_node *node = &scene->nodes[number];
    photon_four near_sides[3], far_sides[3];
    for (int k = 0; k < 3; k++) {
        near_sides[k] = node->side[ray->near_side[k]][k];
        far_sides[k] = node->side[1 - ray->near_side[k]][k];
    }
    uint32_t at[PHOTON_WIDTH];
    for (uint32_t j = 0; j < PHOTON_WIDTH; j++) at[j] = photon_enter(ray, near_sides, far_sides, j, far_t);
    photon_order(&at[0], &at[1]);
    photon_order(&at[2], &at[3]);
    photon_order(&at[0], &at[2]);
    photon_order(&at[1], &at[3]);
    photon_order(&at[1], &at[2]);
    if (at[0] == PHOTON_MISSED) return photon_pop(stack, height, far_t);
    const uint32_t first = PHOTON_WIDTH * number + 1;
    for (uint32_t j = PHOTON_WIDTH; --j > 0;) {
        if (at[j] == PHOTON_MISSED) continue;
        stack[*height].enter = at[j];
        stack[(*height)++].number = first + (at[j] & PHOTON_BOX);
    }
    return first + (at[0] & PHOTON_BOX);
}

MOTE_HD photon_hit photon_no_hit(double far_t) {
    photon_hit hit;
    hit.t = far_t;
    hit.shape = PHOTON_NO_SHAPE;
    hit.material = hit.front = 0;
    hit.place = hit.normal = photon_vec_of(0, 0, 0);
    return hit;
}

MOTE_HD uint32_t photon_lowest_bit(uint64_t bits) {
#ifdef __CUDA_ARCH__
    return (uint32_t)__ffsll((long long)bits) - 1;
#else
    return (uint32_t)__builtin_ctzll(bits);
#endif
}

/* Of few shapes: all boxes of the lowest level are met, which lanes of a GPU do together, then the shapes in them,
   triangles first. Which shape is hit does not depend on the order. */
MOTE_HD photon_hit photon_scan(const photon_view *scene, const photon_ray *ray, double far_t, bool any) {
    const float far_float = photon_float_from(far_t);
    const photon_node *node = &scene->nodes[(scene->first_shape - 1) / PHOTON_WIDTH];
    photon_hit hit = photon_no_hit(far_t);
    uint64_t met = 0;
    for (uint32_t first = 0; first < scene->shape_count; first += PHOTON_WIDTH, node++) {
        photon_four near_sides[3], far_sides[3];
        uint32_t of_node = 0;
        for (int k = 0; k < 3; k++) {
            near_sides[k] = node->side[ray->near_side[k]][k];
            far_sides[k] = node->side[1 - ray->near_side[k]][k];
        }
        for (uint32_t j = 0; j < PHOTON_WIDTH; j++) {
            of_node |= photon_enter(ray, near_sides, far_sides, j, far_float) != PHOTON_MISSED ? 1u << j : 0;
        }
        met |= (uint64_t)of_node << first;
    }
    for (uint32_t round = 0; round < 2; round++) {
        uint64_t rest = round == 0 ? met & ~scene->spheres : met & scene->spheres;
        for (; rest != 0 && !(any && hit.shape != PHOTON_NO_SHAPE); rest &= rest - 1) {
            photon_meet(scene, ray, photon_lowest_bit(rest), &hit);
        }
    }
    return hit;
}

/* The nearest shape nearer than far_t; any: the first one found will do. Lanes of a GPU go down until each of them has
   a shape, so that they meet them together. */
MOTE_HD photon_hit photon_walk(const photon_view *scene, const photon_ray *ray, double far_t, bool any) {
    if (scene->is_scanned) return photon_scan(scene, ray, far_t, any);
    photon_waiting stack[PHOTON_STACK];
    uint32_t height = 0, number = scene->shape_count > 0 ? 0 : PHOTON_MISSED;
    float far_float = photon_float_from(far_t);
    photon_hit hit = photon_no_hit(far_t);
    while (number != PHOTON_MISSED && !(any && hit.shape != PHOTON_NO_SHAPE)) {
        while (number < scene->first_shape) number = photon_descend(scene, ray, number, far_float, stack, &height);
        if (number == PHOTON_MISSED) break;
        photon_meet(scene, ray, number - scene->first_shape, &hit);
        far_float = photon_float_from(hit.t);
        number = photon_pop(stack, &height, far_float);
    }
    return hit;
}

/* The nearest shape in front of far_t, with its place and normal, whether or not it lets rays through. */
MOTE_HD photon_hit photon_trace_any(const photon_view *scene, photon_vec origin, photon_vec direction, double far_t) {
    const photon_ray ray = photon_ray_of(origin, direction, scene->largest);
    photon_hit hit = photon_walk(scene, &ray, far_t, false);
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

#endif

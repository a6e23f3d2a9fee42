/* How much of a disc is surface: one copy for C and CUDA.

        wall |                     a place near a wall, and the disc that its k photons lie in: beyond the wall there
             |   _____             are none, and dividing by the whole disc would make edges and corners dark
          ...|:/      \
          :::|:   o    |           o the place     | the part that is divided by     ::: the part that is not there
          ...|:\______/

   All triangles that meet the ellipsoid, and face as the place does, are clipped with it. In a frame in which the
   ellipsoid is the unit ball, each of them is clipped with a disc around the foot of the place, and what the filter
   weighs is integrated from the foot outwards: of an edge at the distance a from the foot, which runs from t0 to t1,

        foot                                     inside the disc    a · integral of g(a² + t²) dt
          |\ \                                   beyond its rim     g(R²) R² · angle
        a |   \    \  R
      ----+-----t0====t1----                     g(q) is the integral of the weight over a sector of radius root q,
                                                 by q and the sector's angle

   A sphere is cut where its middle and the place say; one that the place does not lie on is taken for a plane. */
#ifndef MOTE_PHOTON_AREA_H
#define MOTE_PHOTON_AREA_H

#include "photon/scene/photon_ray.h"

#define PHOTON_AREA_SHAPES 256u       /* meshes that have more in a disc are taken to fill it */
#define PHOTON_AREA_MIN    (1.0 / 64) /* of a disc: no place is made brighter by more */
#define PHOTON_ON_SPHERE   0.01       /* of its radius: a place so near lies on it */

/* Whether surfaces of these directions face alike, within 60 degrees. */
#define PHOTON_ALIKE_COSINE 0.5

/* The weight of a photon at the square of its distance over that of the disc's radius; its mean over a disc is 1. */
MOTE_HD double photon_filter_weight(mote_photon_filter filter, double square) {
    if (filter == MOTE_PHOTON_FILTER_CONE) return 3 * (1 - sqrt(square));
    if (filter == MOTE_PHOTON_FILTER_EPANECHNIKOV) return 2 * (1 - square);
    return 1;
}

/* The ellipsoid around a place, whose axes are 1 in its frame. */
typedef struct photon_ellipsoid {
    photon_vec place, normal;
    float low[3], high[3]; /* its box, as floats compare with it: the largest below, the smallest above */
    double compression, per_radius;
    mote_photon_filter filter;
} photon_ellipsoid;

/* The largest float that is not above x, and the smallest not below: floats compare with it as they do with x. */
MOTE_HD float photon_float_below(double x) {
    const float f = (float)x;
    return (double)f > x ? nextafterf(f, -INFINITY) : f;
}
MOTE_HD float photon_float_above(double x) { return -photon_float_below(-x); }

MOTE_HD photon_ellipsoid photon_ellipsoid_of(photon_vec place, photon_vec normal, double compression, double radius,
                                             mote_photon_filter filter) {
    photon_ellipsoid e;
    const double flat = 1 - 1 / (compression * compression);
    e.place = place;
    e.normal = normal;
    for (int k = 0; k < 3; k++) {
        const double along = photon_axis(normal, k), at = photon_axis(place, k);
        const double reach = radius * sqrt(photon_max(1 - flat * along * along, 0.0));
        e.low[k] = photon_float_above(at - reach);
        e.high[k] = photon_float_below(at + reach);
    }
    e.compression = compression;
    e.per_radius = 1 / radius;
    e.filter = filter;
    return e;
}

/* Brings a place into the ellipsoid's frame, in which it is a sphere. */
MOTE_HD photon_vec photon_in_ellipsoid(const photon_ellipsoid *e, photon_vec at) {
    const photon_vec v = photon_scale(photon_sub(at, e->place), e->per_radius);
    return photon_along(v, e->normal, (e->compression - 1) * photon_dot(v, e->normal));
}

/* ---- integrals of the filter's weight */

/* g of the square of a distance, in a plane that passes the middle of the ball at the height h. */
MOTE_HD double photon_sector(mote_photon_filter filter, double square, double h) {
    if (filter == MOTE_PHOTON_FILTER_EPANECHNIKOV) return 1 - h * h - 0.5 * square;
    if (filter != MOTE_PHOTON_FILTER_CONE) return 0.5;
    const double d = sqrt(h * h + square), sum = d + h;
    return 1.5 - (sum > 0 ? (d * sum + h * h) / sum : 0.0);
}

/* The nodes and weights of Gauss and Legendre for four values, on 0 to 1. */
MOTE_HD double photon_gauss_at(int i) {
    return i == 0   ? 0.06943184420297371
           : i == 1 ? 0.33000947820757187
           : i == 2 ? 0.6699905217924281
                    : 0.9305681557970262;
}
MOTE_HD double photon_gauss_weight(int i) { return i == 0 || i == 3 ? 0.17392742256872692 : 0.32607257743127307; }

/* Along a part of an edge, at the distance a from the foot. */
MOTE_HD double photon_along_edge(mote_photon_filter filter, double a, double h, double from, double to) {
    if (filter == MOTE_PHOTON_FILTER_NONE) return 0.5 * a * (to - from);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        const double t = from + (to - from) * photon_gauss_at(i);
        sum += photon_gauss_weight(i) * photon_sector(filter, a * a + t * t, h);
    }
    return a * (to - from) * sum;
}

/* ---- triangles */

/* A plane through the ball: the disc that the ball cuts out of it. */
typedef struct photon_section {
    mote_photon_filter filter;
    photon_vec normal, foot;
    double h, square; /* distance of the foot from the middle of the ball; square of the disc's radius */
    double rim;       /* g(R²) R² */
} photon_section;

/* Between the foot and the edge from p to q. *inside: the disc does not reach it from within; *outside: it does not
   from without. */
MOTE_HD double photon_clip_edge(const photon_section *s, photon_vec p, photon_vec q, bool *inside, bool *outside) {
    const photon_vec from = photon_sub(p, s->foot), to = photon_sub(q, s->foot), edge = photon_sub(q, p);
    const double length = photon_length(edge);
    if (!(length > 0)) return 0;
    const double a = photon_dot(photon_cross(from, to), s->normal) / length;
    const double t0 = photon_dot(from, edge) / length, t1 = photon_dot(to, edge) / length;
    const double half2 = s->square - a * a, half = half2 > 0 ? sqrt(half2) : 0;
    const double begin = photon_max(t0, -half), end = photon_min(t1, half);
    if (!(half2 > 0)) {
        *inside = *inside && a > 0;
        *outside = *outside || a < 0;
    } else {
        *inside = false;
    }
    if (!(begin < end)) return s->rim * photon_angle(a * (t1 - t0), a * a + t0 * t1);
    double sum = 0;
    if (begin > t0) sum += s->rim * photon_angle(a * (begin - t0), a * a + t0 * begin);
    if (t1 > end) sum += s->rim * photon_angle(a * (t1 - end), a * a + end * t1);
    if (begin < 0 && end > 0) { /* where the root in g may have a kink */
        sum += photon_along_edge(s->filter, a, s->h, begin, 0);
        return sum + photon_along_edge(s->filter, a, s->h, 0, end);
    }
    return sum + photon_along_edge(s->filter, a, s->h, begin, end);
}

/* A vector across a triangle, twice as long as its area. */
MOTE_HD photon_vec photon_across(const photon_shape *shape) {
    return photon_cross(photon_sub(shape->b, shape->a), photon_sub(shape->c, shape->a));
}

/* Whether a triangle faces as the place does, or the other way: it has two sides. */
MOTE_HD bool photon_lies_alike(const photon_ellipsoid *e, photon_vec across) {
    const double along = photon_dot(across, e->normal);
    return along * along > PHOTON_ALIKE_COSINE * PHOTON_ALIKE_COSINE * photon_dot(across, across);
}

/* What a part of a triangle, a convex polygon, has of the disc. across: of the triangle */
MOTE_HD double photon_polygon_part(const photon_ellipsoid *e, const photon_shape *shape, photon_vec across,
                                   const photon_vec *corners, uint32_t count) {
    const photon_vec a = photon_in_ellipsoid(e, shape->a), b = photon_in_ellipsoid(e, shape->b),
                     c = photon_in_ellipsoid(e, shape->c);
    const photon_vec across_there = photon_cross(photon_sub(b, a), photon_sub(c, a));
    const double length = photon_length(across_there);
    if (!(length > 0)) return 0;
    photon_section s;
    s.filter = e->filter;
    s.normal = photon_scale(across_there, 1 / length);
    const double height = photon_dot(s.normal, a);
    s.h = fabs(height);
    s.square = 1 - height * height;
    if (!(s.square > 0)) return 0;
    s.foot = photon_scale(s.normal, height);
    s.rim = photon_sector(s.filter, s.square, s.h) * s.square;
    bool inside = true, outside = false;
    double sum = 0;
    photon_vec from = photon_in_ellipsoid(e, corners[0]);
    for (uint32_t i = 0; i < count && !outside; i++) {
        const photon_vec to = photon_in_ellipsoid(e, corners[i + 1 < count ? i + 1 : 0]);
        sum += photon_clip_edge(&s, from, to, &inside, &outside);
        from = to;
    }
    if (outside) return 0;
    if (inside) sum = 2 * PHOTON_PI * s.rim;
    /* The frame stretches the triangle by length / that of across, in units of the radius. */
    return sum * (photon_length(across) * e->per_radius * e->per_radius / length) / PHOTON_PI;
}

/* The share of the disc that a triangle covers. */
MOTE_HD double photon_triangle_part(const photon_ellipsoid *e, const photon_shape *shape, photon_vec across) {
    const photon_vec corners[3] = {shape->a, shape->b, shape->c};
    return photon_polygon_part(e, shape, across, corners, 3);
}

/* ---- spheres */

/* Of a sphere of that radius, on which the middle of the ball lies: Archimedes says that a slice's area is its
   height's, and at the height z the square of the distance is 2 R z + (c² - 1) z². */
MOTE_HD double photon_cap_part(const photon_ellipsoid *e, double radius) {
    const double more = e->compression * e->compression - 1;
    const double top = photon_min(1 / (radius + sqrt(radius * radius + more)), radius * (1 - PHOTON_ALIKE_COSINE));
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        const double x = photon_gauss_at(i), z = top * x * x;
        sum += photon_gauss_weight(i) * 2 * x * photon_filter_weight(e->filter, (2 * radius + more * z) * z);
    }
    return 2 * radius * top * sum;
}

MOTE_HD double photon_sphere_part(const photon_ellipsoid *e, const photon_shape *shape) {
    const photon_vec from = photon_sub(e->place, shape->a);
    const double distance = photon_length(from), away = fabs(distance - shape->b.x);
    if (!(fabs(photon_dot(from, e->normal)) > PHOTON_ALIKE_COSINE * distance)) return 0;
    if (away <= PHOTON_ON_SPHERE * shape->b.x) return photon_cap_part(e, shape->b.x * e->per_radius);
    const double h = away * e->per_radius * e->compression, square = 1 - h * h;
    return square > 0 ? 2 * photon_sector(e->filter, square, h) * square : 0;
}

/* Which of a node's boxes the ellipsoid's box meets, as bits. */
MOTE_HD uint32_t photon_boxes_met(const photon_ellipsoid *e, const photon_node *node) {
    uint32_t boxes = (1u << PHOTON_WIDTH) - 1;
    for (int k = 0; k < 3; k++) {
        const photon_four low = node->side[PHOTON_LOW][k], high = node->side[PHOTON_HIGH][k];
        for (uint32_t j = 0; j < PHOTON_WIDTH; j++) {
            if (!(low.of[j] <= e->high[k] && high.of[j] >= e->low[k])) boxes &= ~(1u << j);
        }
    }
    return boxes;
}

#endif

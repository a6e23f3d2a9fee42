/* What of a disc a place sees: one copy for C and CUDA.

        lit    |    dark           A disc reaches through a thin wall, and photons beyond it do not light the place x.
           ____|_                  The plane of the wall cuts the disc; what is beyond counts neither as photons nor as
          /  : |x\                 area.
         ------+------

   Planes of all shapes that rise out of the surface, as seen from the place, cut the disc to a convex cell around it,
   so that nothing in the cell is hidden by them. A cell may be smaller than what is seen, as planes go on where walls
   end: photons and area are cut alike, and so the mean is right. Photons and area are moved a little off their surface:
   on which side of a board they are is then seen. Boards below the place do not rise: of what lies lower than the
   place, and faces up to it, the place's own surface hides it. */
#ifndef MOTE_PHOTON_CUT_H
#define MOTE_PHOTON_CUT_H

#include "photon/gather/photon_area.h"

#define PHOTON_CUT_PLANES  6u          /* of more, those that cut off the most are kept */
#define PHOTON_CUT_HEIGHT  (1.0 / 16)  /* of the radius: what rises less, or lies less deep, hides nothing */
#define PHOTON_CUT_LIFT    (1.0 / 256) /* of the radius: how far things are moved off their surface */
#define PHOTON_CUT_MATTERS (1.0 / 512) /* of a disc's surface: if less is cut off, nothing is */
#define PHOTON_CUT_CORNERS (4u + PHOTON_CUT_PLANES)

/* What is above it is kept. */
typedef struct photon_plane {
    photon_vec normal;
    double at;
} photon_plane;

typedef struct photon_cut {
    photon_plane planes[PHOTON_CUT_PLANES];
    uint32_t count;
    bool matters; /* false: nothing is cut off */
    photon_vec place, normal;
    double lift, height;
} photon_cut;

MOTE_HD photon_cut photon_cut_of(const photon_view *scene, const photon_ellipsoid *e) {
    photon_cut cut;
    const double radius = 1 / e->per_radius;
    cut.count = 0;
    cut.matters = false;
    cut.place = e->place;
    cut.normal = e->normal;
    cut.lift = photon_max(PHOTON_CUT_LIFT * radius, 0x1p-20 * scene->largest); /* places are floats */
    cut.height = photon_max(PHOTON_CUT_HEIGHT * radius, 4 * cut.lift);
    return cut;
}

/* Whether the place's own surface hides what lies there and faces so. */
MOTE_HD bool photon_is_below(const photon_cut *cut, photon_vec at, photon_vec normal) {
    const photon_vec away = photon_sub(at, cut->place);
    return photon_dot(away, cut->normal) < -cut->height && photon_dot(away, normal) < -cut->height;
}

/* Whether a photon counts that lies there, on a surface of that normal. */
MOTE_HD bool photon_cut_keeps(const photon_cut *cut, photon_vec at, photon_vec normal) {
    const photon_vec lifted = photon_along(at, normal, cut->lift);
    for (uint32_t i = 0; i < cut->count; i++) {
        if (!(photon_dot(cut->planes[i].normal, lifted) > cut->planes[i].at)) return false;
    }
    return !photon_is_below(cut, at, normal);
}

/* ---- planes */

/* How far the place is from a plane. */
MOTE_HD double photon_plane_away(const photon_cut *cut, const photon_plane *plane) {
    return photon_dot(plane->normal, cut->place) - plane->at;
}

/* Adds a plane. Where there are more of them than are kept, round walls of many faces mostly, the farther one of the
   two whose directions are the most alike is left out: the nearer one cuts off nearly all that it does. */
MOTE_HD void photon_cut_add(photon_cut *cut, const photon_plane *plane) {
    if (cut->count < PHOTON_CUT_PLANES) {
        cut->planes[cut->count++] = *plane;
        return;
    }
    uint32_t first = 0, second = PHOTON_CUT_PLANES;
    double most = -2;
    for (uint32_t i = 0; i < PHOTON_CUT_PLANES; i++) {
        for (uint32_t j = i + 1; j <= PHOTON_CUT_PLANES; j++) {
            const photon_vec other = j < PHOTON_CUT_PLANES ? cut->planes[j].normal : plane->normal;
            const double alike = photon_dot(cut->planes[i].normal, other);
            if (!(alike > most)) continue;
            most = alike;
            first = i;
            second = j;
        }
    }
    const photon_plane *const later = second < PHOTON_CUT_PLANES ? &cut->planes[second] : plane;
    if (photon_plane_away(cut, &cut->planes[first]) > photon_plane_away(cut, later)) {
        cut->planes[first] = *later;
        if (second < PHOTON_CUT_PLANES) cut->planes[second] = *plane;
    } else if (second < PHOTON_CUT_PLANES) {
        cut->planes[second] = *plane;
    }
}

/* Adds the plane of a triangle, if it rises out of the place's surface within the ellipsoid. */
MOTE_HD void photon_cut_by(photon_cut *cut, const photon_ellipsoid *e, const photon_shape *shape, photon_vec across) {
    const double a = photon_dot(photon_sub(shape->a, e->place), e->normal),
                 b = photon_dot(photon_sub(shape->b, e->place), e->normal),
                 c = photon_dot(photon_sub(shape->c, e->place), e->normal);
    if (!(photon_max(photon_max(a, b), c) > cut->height)) return;
    photon_plane plane;
    plane.normal = photon_unit(across);
    plane.at = photon_dot(plane.normal, shape->a);
    const double side = photon_dot(plane.normal, photon_along(e->place, e->normal, cut->lift)) - plane.at;
    if (!(fabs(side) > 0.25 * cut->lift)) return; /* the place is in it */
    if (side < 0) {
        plane.normal = photon_scale(plane.normal, -1);
        plane.at = -plane.at;
    }
    for (uint32_t i = 0; i < cut->count; i++) { /* the other triangles of the same wall */
        if (photon_dot(plane.normal, cut->planes[i].normal) > 1 - 1e-9 &&
            fabs(plane.at - cut->planes[i].at) < 0.25 * cut->lift) {
            return;
        }
    }
    if (photon_triangle_part(e, shape, across) > 0) photon_cut_add(cut, &plane);
}

/* ---- area */

/* A convex polygon above a plane. Returns how many corners it has. */
MOTE_HD uint32_t photon_clip_polygon(photon_vec *corners, uint32_t count, photon_vec normal, double at) {
    photon_vec kept[PHOTON_CUT_CORNERS];
    uint32_t more = 0;
    for (uint32_t i = 0; i < count; i++) {
        const photon_vec p = corners[i], q = corners[i + 1 < count ? i + 1 : 0];
        const double high = photon_dot(normal, p) - at, next = photon_dot(normal, q) - at;
        if (high > 0 && more < PHOTON_CUT_CORNERS) kept[more++] = p;
        if ((high > 0) != (next > 0) && more < PHOTON_CUT_CORNERS) {
            kept[more++] = photon_along(p, photon_sub(q, p), high / (high - next));
        }
    }
    for (uint32_t i = 0; i < more; i++) corners[i] = kept[i];
    return more;
}

/* What the cut leaves of a triangle that lies alike. */
MOTE_HD double photon_cut_part(const photon_cut *cut, const photon_ellipsoid *e, const photon_shape *shape,
                               photon_vec across) {
    const photon_vec unit = photon_unit(across);
    const photon_vec normal = photon_dot(unit, cut->normal) < 0 ? photon_scale(unit, -1) : unit;
    photon_vec corners[PHOTON_CUT_CORNERS];
    uint32_t count = 3;
    corners[0] = shape->a;
    corners[1] = shape->b;
    corners[2] = shape->c;
    for (uint32_t i = 0; i < cut->count && count > 2; i++) {
        const photon_plane *plane = &cut->planes[i];
        count = photon_clip_polygon(corners, count, plane->normal,
                                    plane->at - cut->lift * photon_dot(plane->normal, normal));
    }
    if (count > 2 && photon_dot(photon_sub(shape->a, cut->place), normal) < -cut->height) {
        count = photon_clip_polygon(corners, count, cut->normal, photon_dot(cut->place, cut->normal) - cut->height);
    }
    return count > 2 ? photon_polygon_part(e, shape, across, corners, count) : 0;
}

/* ---- the walk */

/* What a walk through the shapes in an ellipsoid finds. */
typedef struct photon_parts {
    double whole, kept; /* of the disc: surface, and what the cut leaves of it */
    bool has_sphere;    /* a sphere has a part of it: these are not cut */
    bool has_deep;      /* a triangle that lies alike is hidden by the place's own surface, in part or whole */
} photon_parts;

/* Of the shapes of a node of the lowest level, first and those behind it.
   is_cut  kept is found by the planes of the cut; else whole, and the planes */
MOTE_HD void photon_leaf_parts(const photon_view *scene, const photon_ellipsoid *e, uint32_t first, bool is_cut,
                               photon_cut *cut, photon_parts *parts) {
    for (uint32_t i = first; i < first + PHOTON_WIDTH && i < scene->shape_count; i++) {
        const photon_shape *shape = &scene->shapes[i];
        const uint32_t kind = scene->surfaces[shape->material].kind;
        const bool diffuse = kind == MOTE_MATERIAL_DIFFUSE;
        if (shape->is_sphere) {
            const double part = diffuse && !is_cut ? photon_sphere_part(e, shape) : 0;
            parts->whole += part;
            parts->has_sphere = parts->has_sphere || part > 0;
            continue;
        }
        const photon_vec across = photon_across(shape);
        if (diffuse && photon_lies_alike(e, across)) {
            if (is_cut) {
                parts->kept += photon_cut_part(cut, e, shape, across);
            } else {
                const double part = photon_triangle_part(e, shape, across);
                const photon_vec unit = photon_unit(across);
                const double depth = photon_dot(photon_sub(e->place, shape->a), unit);
                parts->whole += part;
                parts->has_deep = parts->has_deep || (part > 0 && fabs(depth) > cut->height);
            }
        }
        if (!is_cut && kind != MOTE_MATERIAL_GLASS) photon_cut_by(cut, e, shape, across);
    }
}

/* Returns false where there are more shapes than are looked at. */
MOTE_HD bool photon_find_parts(const photon_view *scene, const photon_ellipsoid *e, bool is_cut, photon_cut *cut,
                               photon_parts *parts) {
    uint32_t numbers[PHOTON_STACK], height = 0, leaves = 0;
    if (scene->shape_count > 0) numbers[height++] = 0;
    while (height > 0) {
        const uint32_t first = PHOTON_WIDTH * numbers[--height] + 1;
        if (first >= scene->first_shape) {
            if (++leaves > PHOTON_AREA_SHAPES / PHOTON_WIDTH) return false;
            photon_leaf_parts(scene, e, first - scene->first_shape, is_cut, cut, parts);
            continue;
        }
        const uint32_t boxes = photon_boxes_met(e, &scene->nodes[(first - 1) / PHOTON_WIDTH]);
        for (uint32_t j = 0; j < PHOTON_WIDTH; j++) {
            if (boxes >> j & 1) numbers[height++] = first + j;
        }
    }
    return true;
}

/* More shapes than are looked at are taken to fill the disc, which the planes that were found cut. */
MOTE_HD double photon_filled_part(const photon_ellipsoid *e, photon_cut *cut) {
    if (cut->count == 0) return 1;
    photon_shape plane; /* around the disc */
    const double wide = 4 / e->per_radius;
    plane.a = photon_along(e->place, photon_around(e->normal, 0, 0), wide);
    plane.b = photon_along(e->place, photon_around(e->normal, 0, 1.0 / 3), wide);
    plane.c = photon_along(e->place, photon_around(e->normal, 0, 2.0 / 3), wide);
    plane.material = plane.is_sphere = 0;
    const double kept = photon_cut_part(cut, e, &plane, photon_across(&plane));
    cut->matters = kept > 0 && kept < 1 - PHOTON_CUT_MATTERS;
    return cut->matters ? photon_max(kept, PHOTON_AREA_MIN) : 1;
}

/* The part of an ellipsoid's disc that is surface and seen from the place, as the filter weighs it: PHOTON_AREA_MIN
   to 1. cut  out: by what photons are left out */
MOTE_HD double photon_seen_part(const photon_view *scene, const photon_ellipsoid *e, photon_cut *cut) {
    photon_parts parts;
    parts.whole = parts.kept = 0;
    parts.has_sphere = parts.has_deep = false;
    *cut = photon_cut_of(scene, e);
    if (!photon_find_parts(scene, e, false, cut, &parts)) return photon_filled_part(e, cut);
    if (!(parts.whole > 0)) return 1;
    if (!parts.has_sphere && (cut->count > 0 || parts.has_deep)) {
        photon_find_parts(scene, e, true, cut, &parts);
        cut->matters = parts.kept > 0 && parts.kept < (1 - PHOTON_CUT_MATTERS) * parts.whole;
    }
    return photon_min(photon_max(cut->matters ? parts.kept : parts.whole, PHOTON_AREA_MIN), 1.0);
}

#endif

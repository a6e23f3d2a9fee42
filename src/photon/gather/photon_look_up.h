/* What final gathering is told at a place: one copy for C and CUDA.

   The irradiance is known at every fourth photon, each time of a disc around it. It holds where it was gathered and
   nowhere else: within that disc, on the same side of a surface of nearly the same direction, and where no wall stands
   between the place and the photon.

          lit       |      dark             o  knows its irradiance, of the disc (...)
        (  o  ) (o )|  x                    x  is near, and within the disc, but a wall is between
      ==================================

   Where none of the nearest photons is accepted, light is gathered at the place, of the photons around that it sees;
   where it sees none, it is dark. Those at which irradiance is known do not count there: whether one of them is near
   has decided that light is gathered, and places where it is would be counted twice. Only the PHOTON_LOOK_UP_K nearest
   are looked at, of the known ones and of all, so that the work for a place is bounded. */
#ifndef MOTE_PHOTON_LOOK_UP_H
#define MOTE_PHOTON_LOOK_UP_H

#include "photon/gather/photon_gather.h"
#include "photon/photon_ops.h"

#define PHOTON_LOOK_UP_K      16u
#define PHOTON_LOOK_UP_COSINE 0.9f

/* Between a place and a photon a ray runs at a share of their distance above both surfaces: closely, so that it does
   not pass over what is low, and where that is blocked over the bulge of a curved surface, and of an edge of two facets
   that are alike (tan(26 degrees / 2) / 2 = 0.115). */
#define PHOTON_LOOK_UP_LIFT (1.0 / 64)
#define PHOTON_LOOK_UP_OVER (1.0 / 8)

typedef struct photon_known {
    const photon_record *records;
    const float *irradiance; /* [3 · photons] */
    const double *radius2;   /* [photons] of the discs that it was gathered in */
    double compression;      /* of the discs */
} photon_known;

static inline photon_known photon_known_of(const photon_cloud *photons, const mote_photon_gathering *gathering) {
    const photon_known known = {photons->records, photons->irradiance, photons->radius2, gathering->compression};
    return known;
}

/* A place that is looked up, and what is around it. */
typedef struct photon_place {
    photon_vec at, up;
    float normal[3];
    const uint32_t *near; /* [PHOTON_LOOK_UP_K] photons, nearest first; UINT32_MAX behind the last */
} photon_place;

MOTE_HD photon_place photon_place_of(photon_vec at, const float normal[3], const uint32_t *near) {
    photon_place place;
    place.at = at;
    place.up = photon_vec_of((double)normal[0], (double)normal[1], (double)normal[2]);
    for (int k = 0; k < 3; k++) place.normal[k] = normal[k];
    place.near = near;
    return place;
}

/* Whether a photon lies on the same side of a surface of nearly the same direction. */
MOTE_HD bool photon_is_alike(const photon_record *photon, const float normal[3]) {
    return normal[0] * photon->normal[0] + normal[1] * photon->normal[1] + normal[2] * photon->normal[2] >
           PHOTON_LOOK_UP_COSINE;
}

/* The square of a distance in an ellipsoid that is flat along a normal. */
MOTE_HD double photon_flat_square(photon_vec away, photon_vec normal, double compression) {
    const double along = photon_dot(away, normal);
    return photon_dot(away, away) + (compression * compression - 1) * along * along;
}

MOTE_HD bool photon_is_clear(const photon_view *scene, photon_vec from, photon_vec to) {
    const photon_vec way = photon_sub(to, from);
    const double distance = photon_length(way);
    if (!(distance > 2 * scene->near_t)) return true;
    return !photon_is_shadowed(scene, from, photon_scale(way, 1 / distance), distance);
}

/* Whether nothing stands between a place and a photon. */
MOTE_HD bool photon_is_seen(const photon_view *scene, const photon_place *place, const photon_record *photon) {
    const photon_vec at = photon_vec_of_floats(photon->place), up = photon_vec_of_floats(photon->normal);
    const double distance = photon_length(photon_sub(at, place->at));
    const double low = PHOTON_LOOK_UP_LIFT * distance, high = PHOTON_LOOK_UP_OVER * distance;
    const photon_vec from = photon_along(place->at, place->up, low), to = photon_along(at, up, low);
    if (photon_is_clear(scene, from, to)) return true;
    const photon_vec over = photon_along(place->at, place->up, high), over_to = photon_along(at, up, high);
    return photon_is_clear(scene, over, over_to) && photon_is_clear(scene, from, over) &&
           photon_is_clear(scene, over_to, to);
}

/* Which of the nearest photons tells the irradiance of a place; PHOTON_LOOK_UP_K: none. */
MOTE_HD uint32_t photon_find_known(const photon_view *scene, const photon_known *known, const photon_place *place) {
    for (uint32_t i = 0; i < PHOTON_LOOK_UP_K && place->near[i] != UINT32_MAX; i++) {
        const photon_record *photon = &known->records[place->near[i]];
        if (!photon_is_alike(photon, place->normal)) continue;
        const photon_vec away = photon_sub(place->at, photon_vec_of_floats(photon->place));
        const double square = photon_flat_square(away, photon_vec_of_floats(photon->normal), known->compression);
        if (!(square <= known->radius2[place->near[i]])) continue;
        if (photon_is_seen(scene, place, photon)) return i;
    }
    return PHOTON_LOOK_UP_K;
}

/* The irradiance by the photons around a place that it sees. The last of them, of whatever surface, gives the radius
   and does not count: the mean is right so. records  of all photons of the map */
MOTE_HD void photon_gather_near(const photon_view *scene, const photon_record *records, double compression,
                                const photon_place *place, float irradiance[3]) {
    uint32_t count = 0;
    while (count < PHOTON_LOOK_UP_K && place->near[count] != UINT32_MAX) count++;
    irradiance[0] = irradiance[1] = irradiance[2] = 0;
    if (count < 2) return;
    const photon_vec to_last = photon_sub(photon_vec_of_floats(records[place->near[count - 1]].place), place->at);
    const double radius2 = photon_dot(to_last, to_last);
    if (!(radius2 > 0)) return;
    photon_cut cut;
    const photon_ellipsoid e =
        photon_ellipsoid_of(place->at, place->up, compression, sqrt(radius2), MOTE_PHOTON_FILTER_NONE);
    const double part = photon_seen_part(scene, &e, &cut);
    photon_vec sum = photon_vec_of(0, 0, 0);
    for (uint32_t i = 0; i + 1 < count; i++) {
        const photon_record *photon = &records[place->near[i]];
        const photon_vec away = photon_sub(photon_vec_of_floats(photon->place), place->at);
        const double square = photon_flat_square(away, place->up, compression);
        if (!(square < radius2) || !photon_is_chosen(photon, place->near[i], PHOTON_CHOSEN_REMAINDER)) continue;
        if (!photon_counts(photon, place->normal, square, MOTE_PHOTON_AREA_SURFACE)) continue;
        if (photon_is_kept(&cut, photon) && photon_is_seen(scene, place, photon))
            sum = photon_add(sum, photon_vec_of_floats(photon->power));
    }
    const double share = 1 - 1.0 / PHOTON_IRRADIANCE_EVERY; /* of photons, the remainder is */
    const double area = PHOTON_PI * radius2 * part * share;
    irradiance[0] = (float)(sum.x / area);
    irradiance[1] = (float)(sum.y / area);
    irradiance[2] = (float)(sum.z / area);
}

#endif

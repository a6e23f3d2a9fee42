/* What a ray of final gathering is told where it ended: one copy for C and CUDA.

   The irradiance is known at every fourth photon, each time of a disc around it. It holds where it was gathered and
   nowhere else: near enough to that photon, on the same side of a surface of nearly the same direction, and where no
   wall stands between the place and the photon.

          lit       |      dark             o  knows its irradiance, of the disc (...)
        (  o  ) (o )|  x                    x  is near, and within the disc, but a wall is between
      ==================================

   Near enough is what photons that are spread as evenly as those in the disc leave no gap of: beside a streak of light
   the nearest photon is one of the streak, and its irradiance would make the streak wider than it is.

   And it holds for rays that come from farther away than the disc is wide. A disc is a blur; from afar blurred light is
   as good as sharp light, and from near by it is not: a crack that is lit through a slit is darker in its middle, and
   brighter away from it, when all of it is known by discs that are wider than the crack.

   Where none of the nearest photons is accepted, nothing is known: the ray goes on from there (photon_onward.h). Only
   the PHOTON_LOOK_UP_K nearest are looked at, so that the work for a place is bounded. */
#ifndef MOTE_PHOTON_LOOK_UP_H
#define MOTE_PHOTON_LOOK_UP_H

#include "photon/gather/photon_gather.h"
#include "photon/photon_ops.h"

#define PHOTON_LOOK_UP_K      16u
#define PHOTON_LOOK_UP_COSINE 0.9f

/* How many of the known photons are expected nearer than the farthest that is accepted: where they are spread evenly
   none is found in 1 of 400 places (e to the minus 6). */
#define PHOTON_LOOK_UP_GAP 6.0
/* The radius of a disc that is accepted, at most, of the length of the ray. Of the whole length, the wall beside a
   crack of 5 mm at the foot of a board is 43 % too bright, of half of it 13 % (1 % with the ray higher up). */
#define PHOTON_LOOK_UP_WIDTH 0.5

/* Between a place and a photon rays run at shares of their distance above both surfaces: closely, so that they do not
   pass over what is low, and where that is blocked over the bulge of a curved surface, and of an edge of two facets
   that are alike (tan(26 degrees / 2) / 2 = 0.115). And one higher up: a board that ends above the floor hides from the
   place most of what the photon sees, although each sees the other under its edge. */
#define PHOTON_LOOK_UP_LIFT (1.0 / 64)
#define PHOTON_LOOK_UP_OVER (1.0 / 8)
#define PHOTON_LOOK_UP_HIGH (1.0 / 2)

typedef struct photon_known {
    const photon_record *records;
    const float *irradiance; /* [3 · photons] */
    const double *radius2;   /* [photons] of the discs that it was gathered in */
    double compression;      /* of the discs */
    double near2;            /* of radius2: the square of the farthest distance that is accepted */
} photon_known;

static inline photon_known photon_known_of(const photon_cloud *photons, const mote_photon_gathering *gathering) {
    const double near2 = PHOTON_LOOK_UP_GAP * (PHOTON_IRRADIANCE_EVERY - 1) / gathering->k;
    const photon_known known = {photons->records, photons->irradiance, photons->radius2, gathering->compression,
                                near2 < 1 ? near2 : 1};
    return known;
}

/* A place that is looked up, and what is around it. */
typedef struct photon_place {
    photon_vec at, up;
    double width2; /* the square of the radius of a disc that is accepted, at most */
    float normal[3];
    const uint32_t *near; /* [PHOTON_LOOK_UP_K] photons, nearest first; UINT32_MAX behind the last */
} photon_place;

/* length: of the ray that ended there */
MOTE_HD photon_place photon_place_of(photon_vec at, const float normal[3], double length, const uint32_t *near) {
    photon_place place;
    place.width2 = PHOTON_LOOK_UP_WIDTH * PHOTON_LOOK_UP_WIDTH * length * length;
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
    const double distance = photon_length(photon_sub(at, place->at)), low = PHOTON_LOOK_UP_LIFT * distance,
                 bulge = PHOTON_LOOK_UP_OVER * distance, high = PHOTON_LOOK_UP_HIGH * distance;
    const photon_vec from = photon_along(place->at, place->up, low), to = photon_along(at, up, low);
    if (!photon_is_clear(scene, photon_along(place->at, place->up, high), photon_along(at, up, high))) return false;
    if (photon_is_clear(scene, from, to)) return true;
    const photon_vec over = photon_along(place->at, place->up, bulge), over_to = photon_along(at, up, bulge);
    return photon_is_clear(scene, over, over_to) && photon_is_clear(scene, from, over) &&
           photon_is_clear(scene, over_to, to);
}

/* Which of the nearest photons tells the irradiance of a place; PHOTON_LOOK_UP_K: none. */
MOTE_HD uint32_t photon_find_known(const photon_view *scene, const photon_known *known, const photon_place *place) {
    for (uint32_t i = 0; i < PHOTON_LOOK_UP_K && place->near[i] != UINT32_MAX; i++) {
        const photon_record *photon = &known->records[place->near[i]];
        const double radius2 = known->radius2[place->near[i]];
        if (!photon_is_alike(photon, place->normal) || radius2 > place->width2) continue;
        const photon_vec away = photon_sub(place->at, photon_vec_of_floats(photon->place));
        const double square = photon_flat_square(away, photon_vec_of_floats(photon->normal), known->compression);
        if (!(square <= known->near2 * radius2)) continue;
        if (photon_is_seen(scene, place, photon)) return i;
    }
    return PHOTON_LOOK_UP_K;
}

#endif

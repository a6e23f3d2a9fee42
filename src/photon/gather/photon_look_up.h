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
#include "photon/scene/photon_clear.h"

#define PHOTON_LOOK_UP_K      16u
#define PHOTON_LOOK_UP_COSINE 0.9f

/* How many of the known photons are expected nearer than the farthest that is accepted: where they are spread evenly
   none is found in 1 of 400 places (e to the minus 6). */
#define PHOTON_LOOK_UP_GAP 6.0
/* The radius of a disc that is accepted, at most, of the length of the ray. Of the whole length, the wall beside a
   crack of 5 mm at the foot of a board is 43 % too bright, of half of it 13 % (1 % with the ray higher up). */
#define PHOTON_LOOK_UP_WIDTH 0.5

/* The irradiance of caustics is gathered at each of their photons of no more than these: one ray of many may be noisy,
   and the fewer they are, the sharper is what they tell. */
#define PHOTON_CAUSTIC_K 16u

/* Between a place and a photon rays run at shares of their distance above both surfaces: closely, so that they do not
   pass over what is low, and where that is blocked over the bulge of a curved surface, and of an edge of two facets
   that are alike (tan(26 degrees / 2) / 2 = 0.115). And one higher up: a board that ends above the floor hides from the
   place most of what the photon sees, although each sees the other under its edge. */
#define PHOTON_LOOK_UP_LIFT (1.0 / 64)
#define PHOTON_LOOK_UP_OVER (1.0 / 8)
#define PHOTON_LOOK_UP_HIGH (1.0 / 2)

/* gathered_each: so many photons were gathered from for each at which irradiance is known. */
static inline photon_reach photon_reach_of(const mote_photon_gathering *gathering, double gathered_each, double width) {
    const double near2 = PHOTON_LOOK_UP_GAP * gathered_each / gathering->k;
    const photon_reach reach = {gathering->compression, near2 < 1 ? near2 : 1, width};
    return reach;
}

typedef struct photon_known {
    const photon_record *records;
    const float *irradiance; /* [3 · photons] */
    const double *radius2;   /* [photons] of the discs that it was gathered in */
    photon_reach reach;
} photon_known;

static inline photon_known photon_known_of(const photon_cloud *photons) {
    const photon_known known = {photons->records, photons->irradiance, photons->radius2, photons->reach};
    return known;
}

/* A place that is looked up, and what is around it. */
typedef struct photon_place {
    photon_vec at, up;
    double length2; /* the square of the length of the ray that ended there */
    float normal[3];
    const uint32_t *near; /* [PHOTON_LOOK_UP_K] photons, nearest first; UINT32_MAX behind the last */
} photon_place;

MOTE_HD photon_place photon_place_of(photon_vec at, const float normal[3], double length, const uint32_t *near) {
    photon_place place;
    place.length2 = length * length;
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

/* Where rays between a place and a photon run. */
typedef struct photon_between {
    photon_vec low[2], high[2]; /* at the place, at the photon */
    photon_vec bulge[2];
} photon_between;

MOTE_HD photon_between photon_between_of(const photon_place *place, const photon_record *photon) {
    const photon_vec ends[2] = {place->at, photon_vec_of_floats(photon->place)},
                     up[2] = {place->up, photon_vec_of_floats(photon->normal)};
    const double distance = photon_length(photon_sub(ends[1], ends[0]));
    photon_between b;
    for (int i = 0; i < 2; i++) {
        b.low[i] = photon_along(ends[i], up[i], PHOTON_LOOK_UP_LIFT * distance);
        b.bulge[i] = photon_along(ends[i], up[i], PHOTON_LOOK_UP_OVER * distance);
        b.high[i] = photon_along(ends[i], up[i], PHOTON_LOOK_UP_HIGH * distance);
    }
    return b;
}

/* Whether no shape is near, so that no ray need be traced to see that nothing stands between them. */
MOTE_HD bool photon_is_open(const photon_view *scene, const photon_place *place, const photon_between *b) {
    const photon_vec ends[4] = {b->low[0], b->low[1], b->high[0], b->high[1]};
    const photon_span span = photon_span_of(scene, ends, 4, place->up);
    return photon_is_free(scene, &span);
}

/* Whether nothing stands between a place and a photon. */
MOTE_HD bool photon_is_seen(const photon_view *scene, const photon_place *place, const photon_record *photon) {
    const photon_between b = photon_between_of(place, photon);
    if (photon_is_open(scene, place, &b)) return true;
    if (!photon_is_clear(scene, b.high[0], b.high[1])) return false;
    if (photon_is_clear(scene, b.low[0], b.low[1])) return true;
    return photon_is_clear(scene, b.bulge[0], b.bulge[1]) && photon_is_clear(scene, b.low[0], b.bulge[0]) &&
           photon_is_clear(scene, b.bulge[1], b.low[1]);
}

/* Whether what is known at one of the nearest photons holds at a place, if nothing stands between them. */
MOTE_HD bool photon_holds(const photon_known *known, const photon_place *place, uint32_t i) {
    const photon_record *photon = &known->records[place->near[i]];
    const double radius2 = known->radius2[place->near[i]];
    if (!photon_is_alike(photon, place->normal)) return false;
    if (radius2 > known->reach.width * known->reach.width * place->length2) return false;
    const photon_vec away = photon_sub(place->at, photon_vec_of_floats(photon->place));
    const double square = photon_flat_square(away, photon_vec_of_floats(photon->normal), known->reach.compression);
    return square <= known->reach.near2 * radius2;
}

/* Whether the nearest photon tells the irradiance of a place, as far as that is seen without rays: at most places. */
MOTE_HD bool photon_nearest_holds(const photon_view *scene, const photon_known *known, const photon_place *place) {
    if (place->near[0] == UINT32_MAX || !photon_holds(known, place, 0)) return false;
    const photon_between b = photon_between_of(place, &known->records[place->near[0]]);
    return photon_is_open(scene, place, &b);
}

/* Which of the nearest photons tells the irradiance of a place; PHOTON_LOOK_UP_K: none. */
MOTE_HD uint32_t photon_find_known(const photon_view *scene, const photon_known *known, const photon_place *place) {
    for (uint32_t i = 0; i < PHOTON_LOOK_UP_K && place->near[i] != UINT32_MAX; i++) {
        if (photon_holds(known, place, i) && photon_is_seen(scene, place, &known->records[place->near[i]])) return i;
    }
    return PHOTON_LOOK_UP_K;
}

#endif

/* From the photons around a place to its irradiance: one copy for C and CUDA. */
#ifndef MOTE_PHOTON_GATHER_H
#define MOTE_PHOTON_GATHER_H

#include "photon/photon_emit.h"

MOTE_HD bool photon_is_in_front(const photon_record *photon, const float normal[3]) {
    return photon->direction[0] * normal[0] + photon->direction[1] * normal[1] + photon->direction[2] * normal[2] < 0;
}

/* Whether a photon counts at a place, of which it has this square of a distance: it arrives from the front of the
   normal (zeros: from anywhere), and does not lie at the place itself. Where irradiance is made at photons that is the
   photon there, of which it is known beforehand that it is there: counting it would make all of them too bright. */
MOTE_HD bool photon_counts(const photon_record *photon, const float normal[3], double square) {
    const bool all = normal[0] == 0 && normal[1] == 0 && normal[2] == 0;
    return square > 0 && (all || photon_is_in_front(photon, normal));
}

/* The weight of a photon at the square of its distance over that of the disc's radius; its mean over a disc is 1. */
MOTE_HD double photon_filter_weight(mote_photon_filter filter, double square) {
    if (filter == MOTE_PHOTON_FILTER_CONE) return 3 * (1 - sqrt(square));
    if (filter == MOTE_PHOTON_FILTER_EPANECHNIKOV) return 2 * (1 - square);
    return 1;
}

#endif

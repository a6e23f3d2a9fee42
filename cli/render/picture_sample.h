/* Normals from wider neighbourhoods than lists of neighbours should be long: of a sample of a cloud. */
#ifndef CLI_PICTURE_SAMPLE_H
#define CLI_PICTURE_SAMPLE_H

#include "session.h"

/* Some points of a cloud, by where they are, so that their order decides nothing. It is empty before it is taken, and
   after picture_sample_free. */
typedef struct picture_sample {
    mote_cloud *cloud;     /* NULL: all points */
    mote_knn_index *index; /* of these points; where they are all, the cloud's own */
    uint64_t count;
    uint32_t k; /* neighbours in the sample that reach as far as those that were asked for in the cloud */
} picture_sample;

/* The estimates of mote_normals for each of some points. */
typedef struct picture_normals {
    float *normal[3], *variation; /* of the eigenvalues of a point's neighbours: 0 of a plane, 1/3 of a ball */
} picture_normals;

/* Of how many points one should be taken to reach as far as k neighbours in the cloud do. 0: that is too few neighbours
   for so many points. */
double picture_sample_step(uint64_t points, uint64_t k);
/* Takes one of about step points. */
mote_status picture_sample_take(session *s, const mote_cloud *cloud, mote_knn_index *index, uint64_t k, double step,
                                picture_sample *sample);
mote_status picture_sample_estimate(const picture_sample *sample, const picture_normals *out);
/* What is known of the sample's points, for all points of the cloud: means of their nearest in the sample. */
mote_status picture_sample_spread(session *s, const mote_cloud *cloud, const picture_sample *sample,
                                  const picture_normals *of, const picture_normals *out);
void picture_sample_free(picture_sample *sample);

#endif

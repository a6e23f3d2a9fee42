/* What a backend supplies for normals and outliers: passes over all points of an index. */
#ifndef MOTE_NORMALS_OPS_H
#define MOTE_NORMALS_OPS_H

#include "knn/knn.h"
#include "mote/normals.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NORMALS_ALONE      (-1.0) /* mean distance of a point without neighbours */
#define NORMALS_NON_FINITE (-2.0) /* of one without a finite position */

typedef struct mote_normals_ops {
    /* Fills the arrays of result, and without, which is 0 where counting would have to wait. params are valid;
       PROPAGATE counts as NONE.
       graph  [points · graph_k] out, NULL: not wanted: each point's nearest others, UINT32_MAX where there are fewer;
              k is above graph_k, and radius 0 */
    mote_status (*estimate)(mote_knn_index *index, const mote_normals_params *params, mote_normals_result *result,
                            uint32_t *graph);
    /* The mean distance to the at most k nearest others at most radius away (0: any distance), NORMALS_ALONE without
       any, and how many they are; for points without a finite position NORMALS_NON_FINITE and 0. Either may be NULL. */
    mote_status (*distances)(mote_knn_index *index, uint32_t k, double radius, double *mean, uint32_t *count);
} mote_normals_ops;

extern const mote_normals_ops mote_normals_cpu;
extern const mote_normals_ops mote_normals_on_cuda;

#ifdef __cplusplus
}
#endif
#endif

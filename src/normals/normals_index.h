/* What the entries of normals and outliers share. */
#ifndef MOTE_NORMALS_INDEX_H
#define MOTE_NORMALS_INDEX_H

#include "normals/normals_ops.h"

/* Finds the operations that can work on an index; MOTE_ERROR_UNSUPPORTED when there are none. */
mote_status normals_find_ops(mote_knn_index *index, const mote_normals_ops **ops);

/* Work on an index that is made for it, with progress. */
typedef mote_status (*normals_work)(mote_knn_index *index, void *user);
mote_status normals_with_index(mote_context *ctx, const mote_cloud *cloud, normals_work work, void *user);

/* Refuses parameters that no search takes. */
mote_status outliers_check(mote_context *ctx, const mote_outliers_params *p);

#endif

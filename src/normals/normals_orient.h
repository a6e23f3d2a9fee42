/* Orientation of normals along a graph of neighbours. */
#ifndef MOTE_NORMALS_ORIENT_H
#define MOTE_NORMALS_ORIENT_H

#include "knn/knn.h"
#include "mote/normals.h"

/* Memory for the graph: [points · graph_k]. */
mote_status normals_make_graph(mote_knn_index *index, uint32_t graph_k, uint32_t **neighbours);

/* Flips normals so that those at the ends of each edge of the minimum spanning tree agree, and the topmost point's of
   each part looks up; counts the parts.
   neighbours  [points · graph_k] nearest others of each point, UINT32_MAX where there are fewer */
mote_status normals_propagate(mote_knn_index *index, const uint32_t *neighbours, uint32_t graph_k,
                              mote_normals_result *result);

#endif

/* Orientation of normals along a graph of neighbours. */
#ifndef MOTE_NORMALS_ORIENT_H
#define MOTE_NORMALS_ORIENT_H

#include "knn/knn.h"
#include "mote/normals.h"

/* Flips normals so that those at the ends of each edge of the minimum spanning tree agree, and the topmost point's of
   each part looks up; counts the parts. graph_k: edges of a point. */
mote_status normals_propagate(mote_knn_index *index, uint32_t graph_k, mote_normals_result *result);

#endif

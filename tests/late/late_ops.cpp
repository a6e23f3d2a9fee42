/* The late runtime has no algorithms. */
#include "io/laz/laz_device.h"
#include "io/potree/potree_ops.h"
#include "knn/knn_ops.h"
#include "lod/lod_ops.h"
#include "normals/normals_ops.h"
#include "order/order_ops.h"
#include "photon/photon_ops.h"
#include "planes/planes_ops.h"
#include "render/render_ops.h"

extern "C" const mote_order_ops mote_order_on_cuda = {};
extern "C" const mote_lod_ops mote_lod_on_cuda = {};
extern "C" const mote_potree_ops mote_potree_on_cuda = {};
extern "C" const mote_laz_ops mote_laz_on_cuda = {};
extern "C" const mote_knn_ops mote_knn_on_cuda = {};
extern "C" const mote_normals_ops mote_normals_on_cuda = {};
extern "C" const mote_planes_ops mote_planes_on_cuda = {};
extern "C" const mote_render_ops mote_render_on_cuda = {};
extern "C" const mote_photon_ops mote_photon_on_cuda = {};

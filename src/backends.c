/* The roof: the one file that names the table of every algorithm. A build with CUDA (or a test that emulates a GPU)
   compiles it with MOTE_HAS_CUDA. */
#include "device/backend.h"
#include "io/laz/laz_device.h"
#include "io/potree/potree_ops.h"
#include "knn/knn_ops.h"
#include "lod/lod_ops.h"
#include "normals/normals_ops.h"
#include "order/order_ops.h"
#include "photon/photon_ops.h"
#include "planes/planes_ops.h"
#include "render/render_ops.h"

const mote_backend mote_cpu_backend = {
    .name = "cpu",
    .kind = MOTE_DEVICE_CPU,
    .order = &mote_order_cpu,
    .lod = &mote_lod_cpu,
    .knn = &mote_knn_cpu,
    .normals = &mote_normals_cpu,
    .planes = &mote_planes_cpu,
    .render = &mote_render_cpu,
    .photon = &mote_photon_cpu,
};

#if defined(MOTE_HAS_CUDA)

#include "device/cuda/cuda.h"

static const mote_backend cuda_backend = {
    .name = "cuda",
    .kind = MOTE_DEVICE_CUDA,
    .device = &cuda_device_ops,
    .order = &mote_order_on_cuda,
    .lod = &mote_lod_on_cuda,
    .potree = &mote_potree_on_cuda,
    .laz = &mote_laz_on_cuda,
    .knn = &mote_knn_on_cuda,
    .normals = &mote_normals_on_cuda,
    .planes = &mote_planes_on_cuda,
    .render = &mote_render_on_cuda,
    .photon = &mote_photon_on_cuda,
};
const mote_backend *const mote_gpu_backend = &cuda_backend;

#else

const mote_backend *const mote_gpu_backend = NULL;

#endif

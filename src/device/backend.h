/* What a kind of device can do, and which device does a piece of work.

   backends.c (the roof)   names the table of every algorithm, for the CPU and for GPUs; a build without CUDA has none
   mote_backend            one such table. Entries are coarse. A missing entry is MOTE_ERROR_UNSUPPORTED, never another
                           way that is silently slower
   mote_device             a device of a context, with the table of its kind (core/device.h) */
#ifndef MOTE_BACKEND_H
#define MOTE_BACKEND_H

#include "core/cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mote_order_ops;
struct mote_lod_ops;
struct mote_potree_ops;
struct mote_laz_ops;
struct mote_knn_ops;
struct mote_normals_ops;
struct mote_planes_ops;
struct mote_render_ops;
struct mote_photon_ops;

typedef struct mote_backend {
    const char *name;
    mote_device_kind kind;
    const device_ops *device; /* NULL: it computes in the memory of the host */
    const struct mote_order_ops *order;
    const struct mote_lod_ops *lod;
    const struct mote_potree_ops *potree; /* records made on the device; NULL: the writer gathers them itself */
    const struct mote_laz_ops *laz;       /* chunks decoded on the device; NULL: the cores decode them */
    const struct mote_knn_ops *knn;
    const struct mote_normals_ops *normals;
    const struct mote_planes_ops *planes;
    const struct mote_render_ops *render;
    const struct mote_photon_ops *photon;
} mote_backend;

extern const mote_backend mote_cpu_backend;
extern const mote_backend *const mote_gpu_backend; /* NULL: this build has no CUDA */

#define MOTE_GPU_POINTS 4000000u /* opening a GPU takes about as long as the CPU takes for this many points */

/* The device for work on this many points of the host: the one that the context was made for; under AUTO a GPU
   from MOTE_GPU_POINTS on, where one opens, else the CPU. The answer depends on nothing else, but the first call that
   needs a GPU opens it. */
mote_device *mote_device_choose(mote_context *ctx, uint64_t points);
/* The device for work on a cloud: the one that it is on, else as above. */
mote_device *mote_device_of_cloud(mote_context *ctx, const mote_cloud *cloud);
/* Under AUTO what a GPU cannot do, or has no memory for, goes to the CPU. Returns whether that is so, and tells it:
   then the work is to be done anew, by mote_cpu_device.
   cloud   where it is on the GPU, it stays there; NULL: there is none
   before  mote_context_status before what failed, which is forgotten if it was the first failure */
bool mote_device_falls_back(const mote_device *device, const mote_cloud *cloud, mote_status before, mote_status status);
/* The GPU that mote_device_choose would try for this many points, being warmed up from now on; NULL: the CPU. */
mote_device *mote_device_warm_up(mote_context *ctx, uint64_t points);

#ifdef __cplusplus
}
#endif
#endif

/* The seam: what a backend supplies. Entries are coarse; a missing entry is MOTE_ERROR_UNSUPPORTED,
   never a silent detour. */
#ifndef MOTE_BACKEND_H
#define MOTE_BACKEND_H

#include "mote/context.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mote_cloud;
struct mote_order_ops;
struct mote_lod_ops;
struct mote_potree_ops;
struct mote_laz_ops;
struct mote_knn_ops;
struct mote_normals_ops;
struct mote_planes_ops;

typedef struct mote_backend {
    const char *name;
    mote_device_kind kind;
    const struct mote_order_ops *order;
    const struct mote_lod_ops *lod;
    const struct mote_potree_ops *potree;   /* records made on the device; NULL: the writer gathers them itself */
    const struct mote_laz_ops *laz;         /* chunks decoded on the device; NULL: the cores decode them */
    const struct mote_knn_ops *knn;         /* NULL: none yet */
    const struct mote_normals_ops *normals; /* NULL: none yet */
    const struct mote_planes_ops *planes;   /* NULL: none yet */
} mote_backend;

/* The backend of the GPU. cuda_backend.cu has it; a build without CUDA links cuda_none.c, which has none. */
typedef struct mote_cuda_part {
    const mote_backend *backend; /* NULL: this build has no CUDA */
    /* Fills up to capacity entries and returns how many GPUs there are; if none, writes why into reason. */
    uint32_t (*devices)(mote_device *devices, uint32_t capacity, char *reason, size_t reason_bytes);
    /* Makes a device ready for a context, and gives back all that it holds. */
    mote_status (*open)(mote_context *ctx, int index);
    void (*close)(mote_context *ctx);
    void (*free_device)(mote_context *ctx, void *device); /* cuda_free, for memory that a cloud owns */
    /* Notes that a stage begins (its number in the context, -1 for none), and settles the seconds of all so far. */
    void (*mark)(mote_context *ctx, int stage);
    void (*settle)(mote_context *ctx);
    mote_status (*finish)(mote_context *ctx, const char *what); /* cuda_finish */
    /* Makes the columns of a cloud, as a new cloud in device memory that it owns. */
    mote_status (*upload_cloud)(mote_context *ctx, const struct mote_cloud *cloud, struct mote_cloud **out);
    /* Makes the process's own state on a device, which takes the most of what open takes. From any thread, needs no
       context, tells nobody of failures: open will. NULL: there is nothing to be done beforehand. */
    void (*wake)(int index);
} mote_cuda_part;
extern const mote_cuda_part mote_cuda;

/* Gives a new context the backend that it asked for; under AUTO the CPU's, for the GPU is only woken for work that
   pays. MOTE_ERROR_UNSUPPORTED when there is none such. */
mote_status mote_backend_open(mote_context *ctx);
/* The backend for work on so many points: under AUTO the GPU's from MOTE_GPU_POINTS on, where one answers. */
#define MOTE_GPU_POINTS 4000000u /* waking a GPU takes about as long as the CPU takes for so many */
const mote_backend *mote_backend_for(mote_context *ctx, uint64_t points);

/* Says whether work on so many points may go to a GPU, and if so starts to wake it in a thread of its own, so that
   mote_backend_for need not wait for all of that. */
bool mote_backend_wake(mote_context *ctx, uint64_t points);
/* Whether mote_backend_for would no longer wait for that thread. */
bool mote_backend_is_awake(const mote_context *ctx);
/* Waits for it, before the context goes. */
void mote_backend_end_waking(mote_context *ctx);

#ifdef __cplusplus
}
#endif
#endif

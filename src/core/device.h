/* A device that a context computes on: its memory, its copies, and what it can do.

     mote_context
       devices[0]   the CPU           ops NULL: it computes in the memory of the host
       devices[1]   a GPU             ops → its memory and copies; state → its stream, memory pool, staging buffers
                      \_ backend → a table of operations per algorithm (device/backend.h), the same for all GPUs

   A device belongs to one context and is used from one thread at a time, as the context is. Contexts that open the same
   GPU have a device each: streams and memory of their own. A cloud, an index of neighbours and an octree remember the
   device that they were made on. All work given to a device is done in order, on one stream; so memory that is given
   back may be handed out again at once, and nothing here waits unless it says so. */
#ifndef MOTE_CORE_DEVICE_H
#define MOTE_CORE_DEVICE_H

#include <pthread.h>

#include "mote/context.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mote_backend;
typedef struct mote_device mote_device;

/* A copy that has begun; wait tells when its page-locked memory is free again. */
typedef struct device_transfer {
    void *event; /* NULL: nothing to wait for */
} device_transfer;

/* What a kind of device with memory of its own does. The functions below say what those from alloc on promise. */
typedef struct device_ops {
    /* Fills up to capacity entries and returns how many such devices there are; if none, writes why into reason. */
    uint32_t (*list)(mote_device_info *devices, uint32_t capacity, char *reason, size_t reason_bytes);
    /* Makes the process's own state on a device, which takes most of the time of open. From any thread, needs no
       context, reports no failures: open will. */
    void (*warm_up)(int index);
    mote_status (*open)(mote_device *device);
    void (*close)(mote_device *device); /* gives back all that it holds */
    /* Notes that a stage begins (its number in the context, -1 for none), and adds up the seconds of all so far. */
    void (*begin_stage)(mote_device *device, int stage);
    void (*end_stages)(mote_device *device);
    mote_status (*finish)(mote_device *device, const char *what);

    void *(*alloc)(mote_device *device, uint64_t size_bytes, const char *structure);
    void (*free)(mote_device *device, void *memory);
    uint64_t (*available)(mote_device *device);
    bool (*owns)(mote_device *device, const void *memory);
    void *(*pinned_alloc)(mote_device *device, uint64_t size_bytes, const char *structure);
    void (*pinned_free)(mote_device *device, void *pinned);
    mote_status (*upload)(mote_device *device, void *to, const void *host, uint64_t size_bytes);
    mote_status (*download)(mote_device *device, void *host, const void *from, uint64_t size_bytes);
    mote_status (*fill)(mote_device *device, void *memory, int byte, uint64_t size_bytes);
    mote_status (*upload_begin)(mote_device *device, void *to, const void *pinned, uint64_t size_bytes,
                                device_transfer *transfer);
    mote_status (*wait)(mote_device *device, device_transfer *transfer);
} device_ops;

typedef enum device_state { DEVICE_CLOSED, DEVICE_OPEN, DEVICE_UNUSABLE } device_state;

struct mote_device {
    mote_context *ctx;
    const struct mote_backend *backend; /* its algorithms */
    const device_ops *ops;              /* NULL: it computes in the memory of the host */
    int index;                          /* among those of its kind */
    device_state state;
    void *implementation;     /* of the backend, while it is open: struct cuda_state */
    pthread_t warm_up_thread; /* warms it up beside other work; see device_warm_up */
    bool warming_up;          /* there is such a thread, to be joined */
    bool warm;                /* set by it, atomically, when it is done */
    uint64_t shortages;       /* how often it had no memory to give */
};

/* Begins to warm up a device that is not open, in a thread of its own, so that device_open need not wait for that. */
void device_warm_up(mote_device *device);
/* Whether device_open would no longer wait for that thread. */
bool device_is_warm(const mote_device *device);
/* Opens a device; nothing happens if it is open. Tried once: it stays DEVICE_UNUSABLE after a failure. */
mote_status device_open(mote_device *device);
/* Opens a device where another will do instead: a failure of opening is no failure of the context. */
bool device_try_open(mote_device *device);
/* Waits for the thread that warms it up, and closes it. */
void device_close(mote_device *device);

/* ---- for devices that have memory of their own */

/* Memory of the device, aligned to 256 bytes. structure is a string literal, for --stats. NULL when there is none (the
   failure is noted: MOTE_ERROR_MEMORY). size 0 gives a valid pointer. */
static inline void *device_alloc(mote_device *device, uint64_t size_bytes, const char *structure) {
    return device->ops->alloc(device, size_bytes, structure);
}
/* For ops->alloc: notes that there is none, and what would do. free_bytes: UINT64_MAX: the limit forbids it */
mote_status device_fail_memory(mote_device *device, uint64_t size_bytes, const char *structure, uint64_t free_bytes);
/* NULL is allowed. */
static inline void device_free(mote_device *device, void *memory) {
    if (memory != NULL) device->ops->free(device, memory);
}
/* The largest size that device_alloc could give now: what the device, and the limit of the context, leave. */
static inline uint64_t device_available(mote_device *device) { return device->ops->available(device); }
/* Whether memory is of such a device. */
static inline bool device_owns(mote_device *device, const void *memory) { return device->ops->owns(device, memory); }

/* Page-locked memory of the host: copies from and to it run while host and device work. NULL when there is none. */
static inline void *device_pinned_alloc(mote_device *device, uint64_t size_bytes, const char *structure) {
    return device->ops->pinned_alloc(device, size_bytes, structure);
}
static inline void device_pinned_free(mote_device *device, void *pinned) { device->ops->pinned_free(device, pinned); }

/* Copies between host and device; return when the host's memory may be used again. The host side may be any memory,
   also of the device: device_download from device to device is a copy. */
static inline mote_status device_upload(mote_device *device, void *to, const void *host, uint64_t size_bytes) {
    return device->ops->upload(device, to, host, size_bytes);
}
static inline mote_status device_download(mote_device *device, void *host, const void *from, uint64_t size_bytes) {
    return device->ops->download(device, host, from, size_bytes);
}
/* Fills memory of the device with one byte. */
static inline mote_status device_fill(mote_device *device, void *memory, int byte, uint64_t size_bytes) {
    return device->ops->fill(device, memory, byte, size_bytes);
}
/* A copy that only begins here, in the order of the stream: work launched after it sees it. */
static inline mote_status device_upload_begin(mote_device *device, void *to, const void *pinned, uint64_t size_bytes,
                                              device_transfer *transfer) {
    return device->ops->upload_begin(device, to, pinned, size_bytes, transfer);
}
/* Waits for such a copy and ends it. */
static inline mote_status device_wait(mote_device *device, device_transfer *transfer) {
    return device->ops->wait(device, transfer);
}

#ifdef __cplusplus
}
#endif
#endif

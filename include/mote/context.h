/// mote: the context. One context = one stream of work, used from one thread at a time;
/// different contexts are independent. The library never exits, prints or keeps hidden copies:
/// messages go to the log callback, memory comes from the allocator given here.
#ifndef MOTE_CONTEXT_H
#define MOTE_CONTEXT_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_context mote_context;

/// Where the library's memory comes from. Both functions are called from worker threads too.
typedef struct mote_allocator {
    void *user;
    /// Returns size_bytes (never 0) aligned to 64 bytes, or NULL.
    void *(*allocate)(void *user, size_t size_bytes);
    void (*release)(void *user, void *memory, size_t size_bytes);
} mote_allocator;

/// Called on the caller's thread between steps. done is 0..1 within the running call.
/// Returning false cancels: the call ends with MOTE_CANCELLED and leaves no output.
typedef bool (*mote_progress_fn)(void *user, double done, const char *stage);

typedef enum mote_log_level {
    MOTE_LOG_WARNING,
    MOTE_LOG_INFO,
    MOTE_LOG_NOTE ///< what a person should know of what was done, and is no fault
} mote_log_level;
typedef void (*mote_log_fn)(void *user, mote_log_level level, const char *message);

typedef enum mote_device_kind { MOTE_DEVICE_AUTO, MOTE_DEVICE_CPU, MOTE_DEVICE_CUDA } mote_device_kind;

/// A device to compute on.
typedef struct mote_device_info {
    mote_device_kind kind; ///< CPU or CUDA
    int index;             ///< among those of its kind
    bool usable;           ///< by this version of mote, on this machine
    uint64_t memory_bytes; ///< 0 if unknown
    char name[128];        ///< "AMD EPYC, 2 threads", "NVIDIA H200, compute capability 9.0"
    char reason[160];      ///< why it is not usable; "" if it is
    uint64_t reserved[4];  ///< zero, see types.h
} mote_device_info;
/// Lists the CPU and, where this build has CUDA, the GPUs, or one line that says why there is none. Copies up to
/// capacity entries and returns how many there are.
MOTE_API uint32_t mote_devices(mote_device_info *devices, uint32_t capacity);

/// What this processor, or the system on it, lacks of what the library was compiled for: "AVX2", "FMA" ...; NULL: it
/// lacks nothing. On a processor that does, these can be called: this function, mote_version, mote_devices,
/// mote_status_name, those that give defaults, and mote_context_create, which then returns MOTE_ERROR_UNSUPPORTED.
MOTE_API const char *mote_cpu_lacks(void);

typedef struct mote_context_params {
    mote_device_kind device;     ///< AUTO: the GPU where one answers and the work is large enough to pay, else the CPU
    int device_index;            ///< which GPU, where gpus is 0
    int threads;                 ///< CPU threads; 0 = all cores
    uint64_t memory_limit_bytes; ///< more than this, on the host or on each GPU, fails as if memory had run out;
                                 ///< 0 = no bound
    mote_allocator allocator;    ///< allocate == NULL: the C library's
    mote_progress_fn progress;   ///< NULL: none
    void *progress_user;
    mote_log_fn log; ///< NULL: messages are dropped
    void *log_user;
    void *stream;       ///< CUDA: the caller's cudaStream_t, on which all work is put in order; NULL: one of its own
    bool device_stages; ///< CUDA: times stages on the GPU, by events in the stream that take some 3 µs each; false: a
                        ///< context that has a GPU tells no seconds of stages
    uint64_t gpus; ///< CUDA: several GPUs of this machine, bit i for GPU i, 8 at most; octrees in parts and mote_knn
                   ///< use them all, other calls the first of them. 0: device_index alone
    uint64_t device_memory_limit_bytes; ///< CUDA: the same for each GPU alone; 0: memory_limit_bytes holds there too
    uint64_t reserved[6];               ///< zero, see types.h
} mote_context_params;

/// Automatic device, all cores, the C library's memory, no callbacks.
MOTE_API mote_context_params mote_context_defaults(void);

/// Makes a context. params NULL means defaults. out is NULL on failure; why a device cannot be used is told to
/// params->log.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_MEMORY, MOTE_ERROR_UNSUPPORTED (no such device, or the
///          processor lacks instructions: see mote_cpu_lacks)
MOTE_API mote_status mote_context_create(const mote_context_params *params, mote_context **out);
/// Frees the context. Everything made with it must be freed before. NULL is allowed.
MOTE_API void mote_context_destroy(mote_context *ctx);

/// The message of the first failure since the last mote_context_clear; "" if there was none.
/// Valid until the next call with ctx.
MOTE_API const char *mote_context_message(const mote_context *ctx);
/// Forgets the failure, so that ctx can be used again.
MOTE_API void mote_context_clear(mote_context *ctx);

/// Waits until the GPU has done all work given to ctx, and returns what failed there; on the CPU there is nothing to
/// wait for. Needed only before the caller's own stream reads a result, or to measure: calls that give results to the
/// host wait themselves.
/// Returns  MOTE_OK, MOTE_ERROR_DEVICE
MOTE_API mote_status mote_context_wait(mote_context *ctx);

/// Memory of the GPU that ctx computes on (under AUTO wakes it), for clouds and results that are to stay there, aligned
/// to 256 bytes. NULL when there is none: the context then has a message. size 0 gives a valid pointer.
MOTE_API void *mote_device_alloc(mote_context *ctx, uint64_t size_bytes);
/// Gives it back; NULL is allowed. Work that ctx was given before may still use it.
MOTE_API void mote_device_free(mote_context *ctx, void *device);
/// Copies between host and device, or within either, in the order of the work given to ctx; returns when the host's
/// side may be used.
/// Returns  MOTE_OK, MOTE_ERROR_DEVICE, MOTE_ERROR_UNSUPPORTED (ctx has no GPU)
MOTE_API mote_status mote_device_copy(mote_context *ctx, void *to, const void *from, uint64_t size_bytes);

/// Gives back what calls keep in ctx for the next ones, such as the directions that planes are looked for in; they make
/// it again when they need it. What runs short of memory does the same first.
MOTE_API void mote_context_trim(mote_context *ctx);

/// Bytes of the host's memory that ctx holds now.
MOTE_API uint64_t mote_context_memory_bytes(const mote_context *ctx);
/// The most it held at once since creation or the last reset.
MOTE_API uint64_t mote_context_memory_peak_bytes(const mote_context *ctx);
/// Bytes of the GPU's memory that ctx holds now.
MOTE_API uint64_t mote_context_device_bytes(const mote_context *ctx);
/// The most it held at once since creation or the last reset.
MOTE_API uint64_t mote_context_device_peak_bytes(const mote_context *ctx);
/// Bytes of points that calls have copied from the host to GPUs since ctx was made.
MOTE_API uint64_t mote_context_uploaded_bytes(const mote_context *ctx);
/// Starts new peaks, of host and device and of each structure, at what is held now.
MOTE_API void mote_context_memory_peak_reset(mote_context *ctx);
/// One line of the record that a context keeps of its work, for --stats and --verbose.
typedef struct mote_usage {
    const char *name;
    double seconds;       ///< of a stage, see device_stages; 0 for a structure
    uint64_t peak_bytes;  ///< of a structure in memory; 0 for a stage
    bool on_device;       ///< a structure in the memory of the GPU
    uint64_t reserved[4]; ///< zero, see types.h
} mote_usage;
/// Copies up to capacity lines: stages in the order they first ran, then structures in the order they were first
/// allocated. Returns how many there are.
MOTE_API uint32_t mote_context_usage(const mote_context *ctx, mote_usage *lines, uint32_t capacity);
/// The number of CPU threads that its calls use.
MOTE_API int mote_context_threads(const mote_context *ctx);
/// "cpu" or "cuda"; under AUTO what the last call used.
MOTE_API const char *mote_context_backend(const mote_context *ctx);

#ifdef __cplusplus
}
#endif
#endif

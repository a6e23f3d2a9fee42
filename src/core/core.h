/* What every folder of src/ may use: failing, memory, progress, stages. */
#ifndef MOTE_CORE_H
#define MOTE_CORE_H

#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "core/device.h"
#include "mote/cloud.h"
#include "mote/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A context lists the files that it has mapped, so that whatever fails, or finishes an output, can check them all. */
typedef struct mote_mapped_file mote_mapped_file;
/* The outputs that wait for others before they take their names; io/outputs.c */
typedef struct mote_held_outputs mote_held_outputs;

#define MOTE_MESSAGE_BYTES     1024
#define MOTE_USAGE_LINES       96
#define MOTE_CACHE_MAX_ENTRIES 8
#define MOTE_MAX_DEVICES       9 /* the CPU, and the GPUs of one machine */

/* Memory that a step keeps from one call to the next, see mote_cache_put. */
typedef void (*mote_cache_release_fn)(mote_device *device, void *memory);
typedef struct mote_cache_entry {
    const char *name;
    void *memory;
    mote_cache_release_fn release;
    mote_device *device; /* whose memory release gives back; mote_cpu_device: the host's alone */
    uint64_t size_bytes; /* of a GPU's memory */
} mote_cache_entry;

/* What 0 and 1 of a step's reports mean to the caller of the library. */
typedef struct mote_progress_span {
    double first, last;
} mote_progress_span;

struct mote_context {
    mote_context_params params;
    mote_device devices[MOTE_MAX_DEVICES]; /* [0] is the CPU */
    uint32_t device_count;
    mote_device *last_used; /* what mote_context_backend names; nothing else depends on it */
    int threads;
    pthread_mutex_t lock;           /* guards all below */
    mote_mapped_file *mapped_files; /* the first of a list; core/mapped_file.h */
    uint64_t missing_seen;          /* guard_missing_count() when they were last checked for the sake of progress */
    mote_status status;
    char message[MOTE_MESSAGE_BYTES];
    uint64_t memory_bytes, memory_peak_bytes;
    uint64_t device_bytes, device_peak_bytes;
    uint64_t uploaded_bytes; /* of points, from the host to GPUs */
    mote_usage structures[MOTE_USAGE_LINES];
    uint64_t structure_bytes[MOTE_USAGE_LINES];
    uint32_t structure_count;
    mote_usage stages[MOTE_USAGE_LINES];
    uint32_t stage_count;
    int stage_now;
    double stage_started;
    mote_cache_entry cache[MOTE_CACHE_MAX_ENTRIES];
    uint32_t cache_count;
    mote_held_outputs *held;          /* NULL: outputs take their names at once */
    mote_progress_span progress_span; /* of the running step */
    double progress_done;             /* reported last */
    const char *progress_stage;       /* its stage; NULL: nothing was reported yet */
    bool progress_ended;              /* that was the end of a call: of the one that runs nothing was reported yet */
    double progress_seconds;          /* when the caller was asked last */
    bool stopping;                    /* the caller wants to stop a parallel loop; of all threads, atomic */
};

/* mote_context_create without devices, which device/device_choose.c adds. */
mote_status mote_context_make(const mote_context_params *params, mote_context **out);

/* Notes the failure (the first one wins) and returns its status. Callable from any thread. Where a mapped input changed
   under its reader, that is the failure, whatever seemed wrong with the bytes: MOTE_ERROR_CHANGED. */
__attribute__((format(printf, 3, 4))) mote_status mote_fail(mote_context *ctx, mote_status status, const char *format,
                                                            ...);
#ifdef __clang_analyzer__
/* Lets the analyser see that it returns the status that it is given. */
#define mote_fail(ctx, status, ...) (mote_fail(ctx, status, __VA_ARGS__), (status))
#endif
__attribute__((format(printf, 2, 3))) void mote_warn(mote_context *ctx, const char *format, ...);
/* Tells the log something that is worth knowing and no fault, such as a choice that was made. */
__attribute__((format(printf, 2, 3))) void mote_note(mote_context *ctx, const char *format, ...);
/* Whether a failure may be that of the file that was read, so that another file can be read nevertheless. */
bool mote_is_of_input(mote_status status);
/* The status of the first failure, MOTE_OK if none. */
mote_status mote_context_status(mote_context *ctx);

/* Whether the reserved fields of a caller's struct are zero, as they are in a struct that was initialised. */
bool mote_reserved_is_zero(const void *reserved, size_t size_bytes);
/* Refuses a struct of which they are not. name: of its type; start: what gives an initialised one. */
mote_status mote_check_reserved(mote_context *ctx, const void *reserved, size_t size_bytes, const char *name,
                                const char *start);

/* An allocator without functions becomes the default: the C library's memory, and the system's for large blocks. */
void mote_allocator_complete(mote_allocator *allocator);
/* Memory, aligned to 64 bytes. structure is a string literal that names the use, for --stats.
   NULL when there is none (the failure is noted). size 0 gives a valid pointer. */
void *mote_alloc(mote_context *ctx, uint64_t size_bytes, const char *structure);
void *mote_alloc_zero(mote_context *ctx, uint64_t size_bytes, const char *structure);
/* Grows *memory (which may be NULL) to hold at least count elements, doubling; false when there is none. */
bool mote_reserve(mote_context *ctx, void **memory, uint64_t *capacity, uint64_t count, uint64_t element_bytes,
                  const char *structure);
/* Makes *memory hold at least count elements, not keeping what was in it: for scratch that is used again and again. */
bool mote_reserve_scratch(mote_context *ctx, void **memory, uint64_t *capacity, uint64_t count, uint64_t element_bytes,
                          const char *structure);
char *mote_strdup(mote_context *ctx, const char *text);
void mote_free(mote_context *ctx, void *memory);
/* Makes the memory of one context another's, whatever its limit: what a worker leaves to the context it works for. NULL
   is allowed. */
void mote_hand_over(mote_context *from, mote_context *to, void *memory);

/* Keeps what would be made again in the next call on a device, under a name that lasts as long, in place of what was
   kept under it before. It is the context's then: released with it, by mote_context_trim, or when the memory of that
   device runs short (a GPU: on the caller's thread; mote_cpu_device: on any). size_bytes: what release gives back of
   the memory of a GPU. */
void mote_cache_put(mote_device *device, const char *name, void *memory, uint64_t size_bytes,
                    mote_cache_release_fn release);
/* What is kept under a name, for the caller again; NULL: nothing (any more). */
void *mote_cache_take(mote_device *device, const char *name);
/* Releases what is kept of a device; false if there was nothing. */
bool mote_cache_release(mote_device *device);
/* How much memory of a GPU that would give back. */
uint64_t mote_cache_bytes(const mote_device *device);

/* Bytes that a context may take on each of its GPUs; 0: no bound. */
static inline uint64_t mote_device_limit(const mote_context *ctx) {
    const uint64_t own = ctx->params.device_memory_limit_bytes;
    return own > 0 ? own : ctx->params.memory_limit_bytes;
}
/* For devices: counts bytes of its memory that are about to be taken; false if the limit forbids it.
   Then, or when it is given back: the number of the structure that counted them. */
bool mote_count_device(mote_context *ctx, uint64_t size_bytes, const char *structure, uint32_t *number);
void mote_uncount_device(mote_context *ctx, uint64_t size_bytes, uint32_t number);
/* Counts bytes of points that are copied from the host to a GPU. */
void mote_count_upload(mote_context *ctx, uint64_t size_bytes);
/* Counts memory of the host that the GPU's runtime takes, and mote_alloc does not see; a failure is noted. */
bool mote_count_host(mote_context *ctx, uint64_t size_bytes, const char *structure, uint32_t *number);
void mote_uncount_host(mote_context *ctx, uint64_t size_bytes, uint32_t number);

/* Adds to what a context tells of its work what others have used that worked for it at once: their peaks together. */
void mote_usage_join(mote_context *ctx, mote_context *const *workers, uint32_t count);
/* Adds the seconds of a worker's stages, each times share: of several that worked at once they are the mean. */
void mote_stages_join(mote_context *ctx, const mote_context *worker, double share);

/* Reports progress; MOTE_CANCELLED when the caller wants to stop, MOTE_ERROR_IO when a mapped input turned out to be
   unreadable. On the caller's thread only. */
mote_status mote_progress(mote_context *ctx, double done, const char *stage);
/* Reports once more what was reported last: while one step waits for others, so that it can be cancelled. */
mote_status mote_progress_again(mote_context *ctx);
/* In a parallel loop, before each piece of work of some milliseconds at most: true when the caller wants to stop, and
   the pieces that remain are to be left out. Asks on the caller's thread, where it has not asked for STOP_SECONDS. What
   a loop that was stopped leaves behind is not complete: mote_stopped follows it. */
bool mote_stop(mote_context *ctx);
/* Is asked after such a loop: MOTE_CANCELLED if it was stopped. */
mote_status mote_stopped(mote_context *ctx);
/* A step that calls others, which report 0..1 of their own, gives each its share of what it reports itself. Shares
   nest, so that no step needs to know who calls it:

     const mote_progress_span whole = mote_progress_enter(ctx, 0, 0.3);
     mote_status status = build();
     mote_progress_next(ctx, whole, 0.3, 1);
     if (status == MOTE_OK) status = search();
     mote_progress_leave(ctx, whole);

   Between the first and the last of these lines no step may be left. Equal ends: what is reported meanwhile only asks
   whether to stop. Returns the span of the running step. */
mote_progress_span mote_progress_enter(mote_context *ctx, double first, double last);
void mote_progress_next(mote_context *ctx, mote_progress_span whole, double first, double last);
void mote_progress_leave(mote_context *ctx, mote_progress_span whole);
/* Enters a share without length at what was reported last, for a step that is short wherever it stands. */
mote_progress_span mote_progress_hold(mote_context *ctx);

/* Starts timing a stage (a string literal) and ends the one before; NULL only ends. */
void mote_stage(mote_context *ctx, const char *stage);
double mote_seconds(void);

/* The number of the calling thread within a parallel region, from 0. */
int mote_thread_number(void);

/* The device that computes in the memory of the host. */
static inline mote_device *mote_cpu_device(mote_context *ctx) { return &ctx->devices[0]; }

#define MOTE_TRY(call)                                                                                                 \
    do {                                                                                                               \
        const mote_status try_status = (call);                                                                         \
        if (try_status != MOTE_OK) return try_status;                                                                  \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif

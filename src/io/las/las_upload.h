/* Points on their way into the memory of a GPU: threads fill buffers with decoded chunks or plain records, the caller's
   thread uploads those that are full. Buffers are page-locked and used again and again; what is decoded before the
   GPU is awake goes to some ordinary memory.

     free --a thread fills it--> filled --the caller's thread begins its upload--> in flight --it has arrived--> free */
#ifndef MOTE_LAS_UPLOAD_H
#define MOTE_LAS_UPLOAD_H

#include "io/las/las_source.h"

/* Bytes; small ones are for tests. */
typedef struct las_upload_limits {
    uint64_t buffers;        /* page-locked, all together */
    uint64_t before_warm_up; /* ordinary memory, until the GPU is awake */
    uint64_t block;          /* of the file, that a thread reads at a time */
    /* Chunks from which on the GPU decodes them, in multiples of the largest one: it decodes as
       many at once as there are. 0: the cores do always. */
    uint64_t chunks;  /* of layers */
    uint64_t streams; /* of one stream each */
} las_upload_limits;
las_upload_limits las_upload_defaults(const mote_context *ctx);

/* A buffer and where its points go. */
typedef struct las_part {
    struct las_part *next;
    uint8_t *memory;
    uint64_t at, size_bytes; /* in the memory of the device */
    device_transfer transfer;
    bool pinned; /* else its memory stands behind it */
} las_part;

/* A queue of parts. */
typedef struct las_parts {
    las_part *first, *last;
    uint64_t count;
} las_parts;

typedef struct las_upload {
    mote_context *ctx;
    mote_device *gpu;
    const char *stage, *structure; /* for --stats; structure: of the memory on the device */
    uint64_t points, size_bytes;   /* in all */
    uint64_t needed_bytes;         /* of the device, to begin at all: for what is to become of them, too */
    uint64_t part_bytes;           /* of a buffer; what is larger goes through ordinary memory */
    uint64_t part_count;
    las_part *parts;          /* [part_count], once ready */
    uint8_t *pinned, *device; /* memory; NULL until ready */
    bool declined;            /* there is no GPU, or it has no room for the points */
    las_parts in_flight;      /* uploads that have begun; of the caller's thread only */
    pthread_mutex_t lock;     /* guards all below */
    pthread_cond_t changed;
    bool ready;
    mote_status failure;               /* the first */
    uint64_t before_warm_up_remaining; /* bytes */
    int finished;                      /* threads that have no more to fill */
    las_parts free, filled;
} las_upload;

/* Prepares for points of size_bytes in all, which come in parts of about part_bytes. Close it in any case. */
mote_status las_upload_open(mote_device *gpu, uint64_t points, uint64_t size_bytes, uint64_t part_bytes,
                            const las_upload_limits *limits, las_upload *upload);
void las_upload_close(las_upload *upload);

/* Waits until the GPU is awake and takes its memory. MOTE_ERROR_UNSUPPORTED, and no message: declined. */
mote_status las_upload_ready(las_upload *upload);
/* Waits until all that was filled is uploaded, and hands the memory of the device on. */
mote_status las_upload_finish(las_upload *upload, uint8_t **device);

/* ---- within a parallel region whose thread 0 is the caller's thread */
/* Waits for a buffer of size_bytes bytes, which goes to byte at of the device. A thread that has one gives it back
   before it takes another. */
mote_status las_upload_take(las_upload *upload, uint64_t at, uint64_t size_bytes, las_part **part);
/* Gives a filled buffer back, to be uploaded. */
void las_upload_give(las_upload *upload, las_part *part);
/* Is called by the caller's thread now and then: begins to upload what is filled. */
mote_status las_upload_serve(las_upload *upload);
/* Ends the upload after a failure: who waits for a buffer gets this status instead. */
void las_upload_stop(las_upload *upload, mote_status status);
/* Is called by each thread at its end: the caller's serves the others until they are at theirs too. */
mote_status las_upload_leave(las_upload *upload);

/* ---- las_read.c: mote_las_read with other limits. */
mote_status mote_las_read_by(mote_context *ctx, mote_input *input, const mote_read_params *params,
                             const las_upload_limits *limits, mote_cloud **out);

/* ---- las_upload_bytes.c */
/* Fills the upload with bytes of the file from first on. In pieces, by all threads. */
mote_status mote_las_upload_bytes(las_source *source, las_upload *upload, uint64_t first, uint64_t size_bytes);

/* ---- las_device.c */
/* Reads the points of an opened file, whose chunks are proven, into memory of the device, at which its columns look
   from now on. *done is false, and nothing is changed, where they are to be read onto the host.
   point_bytes  that are to be there for each point beside its record */
mote_status mote_las_to_device(las_source *source, uint32_t point_bytes, const las_upload_limits *limits, bool *done);

/* ---- las_device_laz.c: layered chunks that the GPU decodes. */
/* Whether a file is such that this pays. */
bool mote_las_suits_device(const las_source *source, const las_upload_limits *limits);
/* Uploads the chunks and decodes them there. *device: the records, NULL where they are to be decoded by the cores:
   to the device, or, *on_host, where there is none or something is to be salvaged. */
mote_status mote_las_decode_on_device(mote_device *gpu, las_source *source, uint32_t point_bytes,
                                      const las_upload_limits *limits, uint8_t **device, bool *on_host);

#endif

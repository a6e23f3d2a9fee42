/* The copy program of a record as a GPU runs it. A block of threads makes the records of a tile: it fetches what it
   needs of the points into shared memory, runs the program there, one record per thread, and stores the records in
   one run. Plain data, for C and CUDA; potree_encode.c makes it, potree_cuda.cu runs it. */
#ifndef MOTE_POTREE_ENCODE_H
#define MOTE_POTREE_ENCODE_H

#include "math/host_device.h"
#include "mote/order.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ENCODE_THREADS     256u   /* of a block; at most so many records in a tile */
#define ENCODE_SMALL_ROOM  20480u /* bytes of shared memory for a tile: eight blocks run beside each other */
#define ENCODE_LARGE_ROOM  47104u /* for longer records; with what else a block shares 48 KB */
#define ENCODE_LEAST_TILE  32u
#define ENCODE_GROUPS      16u
#define ENCODE_MOST_WINDOW 128u /* bytes of a record that are fetched as one piece */
#define ENCODE_MOST_STAGED 512u /* bytes of a point that are fetched; what is left is read where it is used */
#define ENCODE_NOT_STAGED  UINT32_MAX

typedef enum encode_kind {
    ENCODE_COPY,
    ENCODE_BITS,
    ENCODE_OR_BITS,
    ENCODE_CONVERT,
    ENCODE_UNIT,
    ENCODE_SUBTRACT,
    ENCODE_LATTICE, /* one axis */
    ENCODE_COLORS
} encode_kind;

/* As potree_op. */
typedef struct encode_op {
    const uint8_t *source; /* NULL: it takes nothing of the point */
    uint32_t stride_bytes;
    uint32_t staged_at; /* bytes from the start of what is fetched of a point, or ENCODE_NOT_STAGED */
    uint32_t to;
    uint32_t size_bytes; /* read of the source */
    uint32_t less;
    uint32_t column; /* CONVERT, UNIT, LATTICE */
    uint8_t kind, shift, mask, left;
    uint8_t axis;                     /* LATTICE */
    uint8_t type;                     /* CONVERT */
    uint8_t aligned_from, aligned_to; /* to 1, 2 or 4 bytes, in every record */
} encode_op;

/* Columns that lie interleaved: of each point one window is fetched, in units of 1, 2 or 4 bytes. */
typedef struct encode_group {
    const uint8_t *first; /* of the first point */
    const uint8_t *end;   /* behind the window of the last point: nothing is read there */
    uint32_t stride_bytes;
    uint32_t unit_bytes, unit_count; /* per point; the last unit may reach beyond what is needed */
    uint32_t staged_at;
} encode_group;

typedef struct encode_element {
    uint32_t at; /* in the record */
    uint32_t type;
} encode_element;

typedef struct encode_program {
    const encode_op *ops;
    const mote_column *columns;
    const encode_element *elements;
    uint32_t op_count, column_count, element_count, group_count;
    encode_group groups[ENCODE_GROUPS];
    uint32_t stride_bytes; /* of a record */
    uint32_t staged_bytes; /* of a point: an odd number of words, so that threads reach for different banks */
    uint32_t tile;         /* records of a block: 32, 64, 128 or 256, so that each tile begins at a multiple of 16 */
    bool small;            /* ENCODE_SMALL_ROOM is enough */
    bool direct;           /* the records are too long for shared memory: made where they belong */
    bool checks_reals;
    uint32_t classes_at; /* UINT32_MAX: none */
    mote_lattice lattice;
    uint32_t base[3];
    double scale[3], offset[3];
    /* of the octree, in device memory */
    const uint32_t *order, *items;
    const uint16_t *item_colors;
} encode_program;

/* Where the records of a tile begin in its room, behind what is fetched. */
MOTE_HD uint32_t encode_staged_room(uint32_t tile, uint32_t staged_bytes) {
    return (tile * staged_bytes + 15) / 16 * 16;
}

/* What is learnt of records while they are made, as 64-bit numbers: per element the smallest key and the largest, the
   points of each class, and whether a real coordinate does not come back. */
#define ENCODE_CLASSES 256u
typedef struct encode_findings {
    uint64_t *low, *high; /* [element_count] keys: potree_math.h; low > high if there is none */
    uint64_t *classes;    /* [ENCODE_CLASSES] */
    uint64_t *inexact;    /* [1] */
} encode_findings;
static inline uint64_t encode_finding_count(uint32_t element_count) {
    return 2ull * element_count + ENCODE_CLASSES + 1;
}
/* memory  [encode_finding_count] */
static inline encode_findings encode_findings_in(uint64_t *memory, uint32_t element_count) {
    encode_findings findings;
    findings.low = memory;
    findings.high = memory + element_count;
    findings.classes = memory + 2ull * element_count;
    findings.inexact = findings.classes + ENCODE_CLASSES;
    return findings;
}

#ifdef __cplusplus
}
#endif
#endif

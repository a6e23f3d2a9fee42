/* The copy program of a record as a GPU runs it. A block of threads makes the records of a tile: it fetches what it
   needs of the points into shared memory, runs the program there, one record per thread, and stores the records in
   one run. Most programs only move bits about: such a tile is made word by word instead, each the union of a few
   rotated and masked words of what was fetched. Plain data, for C and CUDA; potree_encode.c and potree_bit_program.c
   make it, potree_cuda.cu and potree_bit_program_cuda.cu run it. */
#ifndef MOTE_POTREE_ENCODE_PROGRAM_H
#define MOTE_POTREE_ENCODE_PROGRAM_H

#include "io/potree/program/potree_record_op.h"
#include "mote/order.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ENCODE_THREADS      256u   /* of a block, and the most records of a tile */
#define ENCODE_SMALL_BUFFER 20480u /* bytes of shared memory for a tile: eight blocks run beside each other */
#define ENCODE_LARGE_BUFFER 47104u /* for longer records; with what else a block shares 48 KB */
#define ENCODE_MIN_TILE     32u
#define ENCODE_GROUPS       16u
#define ENCODE_MAX_WINDOW   128u /* bytes of a record that are fetched as one piece */
#define ENCODE_MAX_STAGED   512u /* bytes of a point that are fetched; others are read where they are used */
#define ENCODE_PER_THREAD   2u   /* records of a tile of moves */
#define ENCODE_MOVED        (ENCODE_PER_THREAD * ENCODE_THREADS)
#define ENCODE_MOVED_SMALL  14336u /* bytes of shared memory for what is fetched: 28 per record */
#define ENCODE_MOVED_LARGE  22528u
#define ENCODE_MAX_WORDS    ENCODE_THREADS /* of a unit of moves */
#define ENCODE_TERMS        2u             /* that a thread keeps in registers */

/* How the threads of a block share out things of several parts: thread t begins with part t % parts of thing
   t / parts and goes on by that number of things; threads beyond the last whole thing rest. */
typedef struct encode_share {
    uint32_t parts, things;
    uint32_t inverse; /* t / parts = t · inverse >> 16, for every thread */
} encode_share;

/* Columns that lie interleaved: of each point one window is fetched, in units of 1, 2, 4 or 16 bytes. */
typedef struct encode_group {
    const uint8_t *first; /* of the first point */
    const uint8_t *end;   /* behind the window of the last point: nothing is read there */
    uint32_t stride_bytes;
    uint32_t unit_bytes;
    uint32_t staged_at;
    uint32_t reaching;  /* the point whose last unit reaches behind the end; UINT32_MAX: none */
    encode_share share; /* units of a point */
} encode_group;

/* A part of a word: the staged word at `at`, counted in words from the first record of the unit, rotated, masked. */
typedef struct encode_term {
    uint32_t at;
    uint32_t rotated; /* to the left, bits */
    uint32_t mask;
    uint32_t more; /* not 0: one of encode_long makes the word */
} encode_term;

/* A word of more than ENCODE_TERMS terms. */
typedef struct encode_long {
    uint32_t word; /* of the unit */
    uint32_t first_term, term_count;
} encode_long;

/* The program as moves: of units of the fewest records that end with a whole word. */
typedef struct encode_bit_program {
    const encode_term *terms; /* ENCODE_TERMS of each word, then those of the long ones */
    const encode_long *longs;
    const record_op *computed; /* what moves cannot say: from staged bytes to others of the same record; first */
    uint32_t term_count, long_count, computed_count;
    uint32_t unit_records; /* 1, 2 or 4; 0: the program cannot be said in moves */
    encode_share share;    /* words of a unit */
    uint32_t colors_at;    /* where 8 bytes of item_colors are staged, or RECORD_NOT_STAGED */
    uint32_t tile;         /* records of a block: 32 to ENCODE_MOVED */
    bool small;            /* ENCODE_MOVED_SMALL is enough */
} encode_bit_program;

typedef struct encode_element {
    uint32_t at; /* in the record */
    uint16_t type;
    bool has_no_data; /* the key of a number that is in no range */
    uint64_t no_data;
} encode_element;

typedef struct encode_program {
    const record_op *ops;
    const mote_column *columns;
    const encode_element *elements;
    uint32_t op_count, column_count, element_count, group_count;
    encode_group groups[ENCODE_GROUPS];
    uint32_t stride_bytes; /* of a record */
    uint32_t staged_bytes; /* of a point: an odd number of words, so that threads reach for different banks */
    uint32_t tile;         /* records of a block: 32, 64, 128 or 256, so that each tile begins at a multiple of 16 */
    bool small;            /* ENCODE_SMALL_BUFFER is enough */
    bool direct;           /* the records are too long for shared memory: made where they belong */
    bool checks_reals;
    uint32_t classes_at; /* UINT32_MAX: none */
    encode_bit_program bit_program;
    mote_lattice lattice;
    uint32_t base[3];
    double scale[3], offset[3];
    /* of the octree, in device memory */
    const uint32_t *items;
    const uint32_t *index; /* of lod_device_view */
    const uint16_t *item_colors;
} encode_program;

static inline encode_share encode_share_out(uint32_t parts) {
    const encode_share share = {parts, ENCODE_THREADS / parts, (65536 + parts - 1) / parts};
    return share;
}

/* Where the records of a tile begin in its room, behind what is fetched. */
MOTE_HD uint32_t encode_staged_buffer(uint32_t tile, uint32_t staged_bytes) {
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

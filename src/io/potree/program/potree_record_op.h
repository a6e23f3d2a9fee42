/* One operation of the program that makes a record of Potree's from a point: where its bytes come from, what is done
   with them, and where they go. potree_program.c makes the program, once for each plan:

       a point in the cloud                      a record of octree.bin
       x y z | intensity | flags | ...           X Y Z | intensity | flags | ...
         |__________ COPY 14 ______________________^       ^
                            |_______ BITS, OR_BITS ________|

   CPU cores run it operation by operation, a block of points each (potree_gather.c). A GPU runs the same operations
   (potree_cuda.cu): potree_encode.c adds where the bytes are staged and how they are aligned; and potree_bit_program.c
   finds, where all operations only move bits, the words of a record from them. Plain data, for C and CUDA. */
#ifndef MOTE_POTREE_RECORD_OP_H
#define MOTE_POTREE_RECORD_OP_H

#include "math/host_device.h"
#include "mote/order.h"

typedef enum record_op_kind {
    RECORD_COPY,     /* bytes as they are */
    RECORD_BITS,     /* a bit field of a byte to a byte */
    RECORD_OR_BITS,  /* the same, added to the bits that are there */
    RECORD_CONVERT,  /* any type to any, as mote_column_read */
    RECORD_UNIT,     /* a colour to uint16, as column_color */
    RECORD_SUBTRACT, /* in the record: an int32 less a constant */
    RECORD_LATTICE,  /* one axis of the position from lattice coordinates, whatever its source type */
    RECORD_COLORS    /* the colour that the level of detail gives */
} record_op_kind;

#define RECORD_NOT_STAGED UINT32_MAX

typedef struct record_op {
    const uint8_t *source; /* of the first point; NULL: it takes nothing of the point */
    uint32_t stride_bytes; /* of the source */
    uint32_t size_bytes;   /* read of the source */
    uint32_t to;           /* bytes from the start of the record */
    uint32_t less;         /* SUBTRACT, modulo 2^32 */
    uint32_t column;       /* CONVERT, UNIT, LATTICE: its number among the columns of the program */
    uint8_t kind;          /* a record_op_kind */
    uint8_t shift, mask;   /* BITS: (byte >> shift & mask) << to_shift */
    uint8_t to_shift;
    uint8_t axis; /* LATTICE */
    uint8_t type; /* CONVERT: stored type */
    /* What follows is asked for by a GPU alone. */
    uint8_t aligned_from, aligned_to; /* to 1, 2 or 4 bytes, in every record */
    uint32_t staged_at;               /* bytes from the start of what is fetched of a point, or RECORD_NOT_STAGED */
} record_op;

#endif

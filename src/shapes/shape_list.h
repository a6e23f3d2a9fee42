/* Shapes while they are read: positions, parts and shapes in three arrays that grow; finished, each shape points into
   them.

     shapes     [ polygon, feature 0 ][ polygon, feature 0 ][ line, feature 1 ]
     parts       outer  hole            outer                 line
     positions   x y z  x y z  x y z …                                            */
#ifndef MOTE_SHAPE_LIST_H
#define MOTE_SHAPE_LIST_H

#include "core/core.h"
#include "mote/shapes.h"

/* A polygon or line to be, in numbers of the arrays. */
typedef struct shape_place {
    uint64_t first_start; /* in starts */
    uint64_t name;        /* in names */
} shape_place;

struct mote_shapes {
    mote_context *ctx;
    mote_shape *shapes;
    shape_place *places; /* [count] */
    uint64_t count, shape_capacity, place_capacity;
    uint64_t *starts; /* of all parts; behind the parts of each shape, where the last one ends */
    uint64_t start_count, start_capacity;
    double (*positions)[3];
    uint64_t position_count, position_capacity;
    char *names; /* one behind the other, each with its 0 byte; the first is "" */
    uint64_t name_bytes, name_capacity;
    uint64_t name; /* of the present feature, in names */
    char *crs;
};

/* *out is to be destroyed also where this fails. */
mote_status shapes_start(mote_context *ctx, mote_shapes **out);
/* Shapes that begin from here on are of a feature of that name. */
mote_status shapes_set_name(mote_shapes *shapes, const char *name);
/* Begins a shape, which has no part yet. */
mote_status shapes_begin(mote_shapes *shapes, mote_shape_kind kind, uint32_t feature);
/* Begins a part of the last shape. */
mote_status shapes_begin_part(mote_shapes *shapes);
/* Adds to the last part. */
mote_status shapes_add(mote_shapes *shapes, const double position[3]);
/* Ends the last part: a ring drops a last position that is the first. Returns how many positions it has. */
uint64_t shapes_end_part(mote_shapes *shapes);
mote_status shapes_end(mote_shapes *shapes);
/* Makes the shapes point to what is theirs; nothing is added afterwards. */
void shapes_finish(mote_shapes *shapes);

#endif

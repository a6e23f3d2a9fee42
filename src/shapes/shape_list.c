/* Polygons and lines in memory. */
#include "shapes/shape_list.h"

mote_status shapes_start(mote_context *ctx, mote_shapes **out) {
    mote_shapes *shapes = mote_alloc_zero(ctx, sizeof *shapes, "shapes");
    *out = shapes;
    if (shapes == NULL) return MOTE_ERROR_MEMORY;
    shapes->ctx = ctx;
    return shapes_set_name(shapes, "");
}

mote_status shapes_set_name(mote_shapes *shapes, const char *name) {
    const uint64_t bytes = strlen(name) + 1;
    if (bytes == 1 && shapes->name_bytes > 0) {
        shapes->name = 0;
        return MOTE_OK;
    }
    if (!mote_reserve(shapes->ctx, (void **)&shapes->names, &shapes->name_capacity, shapes->name_bytes + bytes, 1,
                      "shapes")) {
        return MOTE_ERROR_MEMORY;
    }
    memcpy(shapes->names + shapes->name_bytes, name, bytes);
    shapes->name = shapes->name_bytes;
    shapes->name_bytes += bytes;
    return MOTE_OK;
}

static mote_status add_start(mote_shapes *shapes) {
    if (!mote_reserve(shapes->ctx, (void **)&shapes->starts, &shapes->start_capacity, shapes->start_count + 1,
                      sizeof *shapes->starts, "shapes")) {
        return MOTE_ERROR_MEMORY;
    }
    shapes->starts[shapes->start_count++] = shapes->position_count;
    return MOTE_OK;
}

mote_status shapes_begin(mote_shapes *shapes, mote_shape_kind kind, uint32_t feature) {
    if (!mote_reserve(shapes->ctx, (void **)&shapes->shapes, &shapes->shape_capacity, shapes->count + 1,
                      sizeof *shapes->shapes, "shapes") ||
        !mote_reserve(shapes->ctx, (void **)&shapes->places, &shapes->place_capacity, shapes->count + 1,
                      sizeof *shapes->places, "shapes")) {
        return MOTE_ERROR_MEMORY;
    }
    shapes->shapes[shapes->count] = (mote_shape){.kind = kind, .feature = feature};
    shapes->places[shapes->count] = (shape_place){.first_start = shapes->start_count, .name = shapes->name};
    shapes->count++;
    return MOTE_OK;
}

mote_status shapes_begin_part(mote_shapes *shapes) {
    shapes->shapes[shapes->count - 1].part_count++;
    return add_start(shapes);
}

mote_status shapes_add(mote_shapes *shapes, const double position[3]) {
    if (!mote_reserve(shapes->ctx, (void **)&shapes->positions, &shapes->position_capacity, shapes->position_count + 1,
                      sizeof *shapes->positions, "shapes")) {
        return MOTE_ERROR_MEMORY;
    }
    memcpy(shapes->positions[shapes->position_count++], position, sizeof *shapes->positions);
    return MOTE_OK;
}

uint64_t shapes_end_part(mote_shapes *shapes) {
    const uint64_t first = shapes->starts[shapes->start_count - 1];
    if (shapes->position_count == first) return 0;
    const double *begin = shapes->positions[first], *end = shapes->positions[shapes->position_count - 1];
    const bool is_ring = shapes->shapes[shapes->count - 1].kind == MOTE_SHAPE_POLYGON;
    if (is_ring && shapes->position_count > first + 1 && begin[0] == end[0] && begin[1] == end[1]) {
        shapes->position_count--;
    }
    return shapes->position_count - first;
}

mote_status shapes_end(mote_shapes *shapes) { return add_start(shapes); }

void shapes_finish(mote_shapes *shapes) {
    for (uint64_t i = 0; i < shapes->count; i++) {
        shapes->shapes[i].name = shapes->names + shapes->places[i].name;
        shapes->shapes[i].part_starts = shapes->starts + shapes->places[i].first_start;
        shapes->shapes[i].positions = (const double(*)[3])shapes->positions;
    }
}

void mote_shapes_destroy(mote_shapes *shapes) {
    if (shapes == NULL) return;
    mote_context *ctx = shapes->ctx;
    mote_free(ctx, shapes->shapes);
    mote_free(ctx, shapes->places);
    mote_free(ctx, shapes->starts);
    mote_free(ctx, shapes->positions);
    mote_free(ctx, shapes->names);
    mote_free(ctx, shapes->crs);
    mote_free(ctx, shapes);
}

uint32_t mote_shapes_count(const mote_shapes *shapes) { return (uint32_t)shapes->count; }
const mote_shape *mote_shapes_at(const mote_shapes *shapes, uint32_t i) { return &shapes->shapes[i]; }
const char *mote_shapes_crs(const mote_shapes *shapes) { return shapes->crs != NULL ? shapes->crs : ""; }

/* Writes chunks of the layered format, a block of points and a layer at a time, each layer to memory of its own. */
#include "io/laz/items/laz_byte14.h"
#include "io/laz/items/laz_fields14.h"
#include "io/laz/items/laz_gpstime14.h"
#include "io/laz/items/laz_point14.h"
#include "io/laz/items/laz_rgb14.h"
#include "io/laz/items/laz_wavepacket14.h"
#include "io/laz/laz_layers.h"

/* No layer adds more for a point than that of the wave packets, at 26 symbols. */
#define POINT_BYTES_MAX 64u

typedef struct laz_part {
    laz_layer layer;
    laz_writer writer;
    void *models;
    bool changed; /* some point differs from the one before: else the layer stays empty */
} laz_part;

typedef struct laz_layered_writer {
    uint32_t record_bytes, part_count; /* part_count 0: not used yet */
    laz_following following;
    laz_part *parts;
} laz_layered_writer;

/* ---- The loops: a layer over a block. */

LAZ_INLINE void write_layer(laz_point_writer *point, laz_part *part, const laz_points *points, const uint8_t *values,
                            uint32_t count, uint32_t stride) {
    laz_writer w = part->writer;
    for (uint32_t i = 0; i < count; i++, values += stride) point(part->models, &w, points, i, values);
    part->writer = w;
}

typedef void layer_writer(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count,
                          uint32_t stride);

static void write_xy(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count, uint32_t stride) {
    write_layer(laz_write_xy14, part, points, values, count, stride);
}
static void write_z(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count, uint32_t stride) {
    write_layer(laz_write_z14, part, points, values, count, stride);
}
static void write_class(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count,
                        uint32_t stride) {
    write_layer(laz_write_class14, part, points, values, count, stride);
}
static void write_flags(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count,
                        uint32_t stride) {
    write_layer(laz_write_flags14, part, points, values, count, stride);
}
static void write_intensity(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count,
                            uint32_t stride) {
    write_layer(laz_write_intensity14, part, points, values, count, stride);
}
static void write_angle(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count,
                        uint32_t stride) {
    write_layer(laz_write_angle14, part, points, values, count, stride);
}
static void write_user(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count,
                       uint32_t stride) {
    write_layer(laz_write_user14, part, points, values, count, stride);
}
static void write_source(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count,
                         uint32_t stride) {
    write_layer(laz_write_source14, part, points, values, count, stride);
}
static void write_gps(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count,
                      uint32_t stride) {
    write_layer(laz_write_gps14, part, points, values, count, stride);
}
static void write_rgb(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count,
                      uint32_t stride) {
    write_layer(laz_write_rgb14, part, points, values, count, stride);
}
static void write_nir(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count,
                      uint32_t stride) {
    write_layer(laz_write_nir14, part, points, values, count, stride);
}
static void write_wave(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count,
                       uint32_t stride) {
    write_layer(laz_write_wave14, part, points, values, count, stride);
}
static void write_byte(laz_part *part, const laz_points *points, const uint8_t *values, uint32_t count,
                       uint32_t stride) {
    write_layer(laz_write_byte14, part, points, values, count, stride);
}

static layer_writer *const layer_writers[LAZ_LAYER_KINDS] = {
    [LAZ_LAYER_XY] = write_xy,
    [LAZ_LAYER_Z] = write_z,
    [LAZ_LAYER_CLASSIFICATION] = write_class,
    [LAZ_LAYER_FLAGS] = write_flags,
    [LAZ_LAYER_INTENSITY] = write_intensity,
    [LAZ_LAYER_SCAN_ANGLE] = write_angle,
    [LAZ_LAYER_USER_DATA] = write_user,
    [LAZ_LAYER_POINT_SOURCE] = write_source,
    [LAZ_LAYER_GPS_TIME] = write_gps,
    [LAZ_LAYER_RGB] = write_rgb,
    [LAZ_LAYER_NIR] = write_nir,
    [LAZ_LAYER_WAVEPACKET] = write_wave,
    [LAZ_LAYER_BYTE] = write_byte,
};

/* ---- Begin */

static uint64_t parts_bytes(uint32_t layers) {
    return LAZ_ALIGNED(sizeof(laz_layered_writer)) + LAZ_ALIGNED(layers * (uint64_t)sizeof(laz_part));
}

static uint64_t state_bytes(const laz_schema *schema) {
    return parts_bytes(mote_laz_layer_count(schema)) + mote_laz_layers_model_bytes(schema);
}

/* Lays the state out in its memory, once. */
static void place_parts(laz_layered_writer *all, const laz_schema *schema) {
    if (all->part_count > 0) return;
    const uint32_t count = mote_laz_layer_count(schema);
    uint8_t *models = (uint8_t *)all + parts_bytes(count);
    all->record_bytes = schema->record_bytes;
    all->following.plain = schema->items[0].version >= 4;
    all->parts = (laz_part *)(void *)((uint8_t *)all + LAZ_ALIGNED(sizeof *all));
    for (uint32_t i = 0; i < count; i++) {
        all->parts[i] = (laz_part){.layer = mote_laz_layer_at(schema, i), .models = models};
        models += mote_laz_layer_facts[all->parts[i].layer.kind].model_bytes;
    }
    all->part_count = count;
}

static void start_parts(laz_layered_writer *all, const uint8_t *first) {
    const uint32_t channel = laz_channel_of(first);
    laz_channels_start(&all->following.channels, channel);
    for (uint32_t i = 0; i < all->part_count; i++) {
        laz_part *part = &all->parts[i];
        laz_writer_start(&part->writer);
        part->changed = part->layer.kind <= LAZ_LAYER_Z; /* these are never empty */
        mote_laz_layer_facts[part->layer.kind].start(part->models, channel, first + part->layer.at);
    }
}

/* ---- Write */

/* Does a block have anything for this layer but what the first record of the chunk has? */
static bool is_changed(const laz_part *part, const uint8_t *first, const uint8_t *records, uint32_t count,
                       uint32_t stride) {
    const uint32_t size_bytes = mote_laz_layer_facts[part->layer.kind].size_bytes;
    const uint8_t *value = first + part->layer.at, *at = records + part->layer.at;
    const bool flags = part->layer.kind == LAZ_LAYER_FLAGS;
    for (uint32_t i = 0; i < count; i++, at += stride) {
        if (flags ? laz_pack_flags(*at) != laz_pack_flags(*value) : memcmp(at, value, size_bytes) != 0) return true;
    }
    /* Colours that stay the same are coded nevertheless unless they are grey. */
    return part->layer.kind == LAZ_LAYER_RGB && (laz_rgb14_used(value, value) & LAZ_RGB_COLOURED) != 0;
}

static mote_status write_block(mote_context *ctx, laz_layered_writer *all, const uint8_t *first, const uint8_t *records,
                               uint32_t count) {
    laz_xy14 *xy = all->parts[LAZ_LAYER_XY].models;
    for (uint32_t i = 0; i < all->part_count; i++) {
        laz_part *part = &all->parts[i];
        const uint8_t *values = records + part->layer.at;
        if (laz_writer_reserve(ctx, &part->writer, (uint64_t)count * POINT_BYTES_MAX) != MOTE_OK) {
            return MOTE_ERROR_MEMORY;
        }
        part->changed = part->changed || is_changed(part, first, records, count, all->record_bytes);
        layer_writers[part->layer.kind](part, &xy->points, values, count, all->record_bytes);
        if (i == LAZ_LAYER_XY) laz_follow_channels(&all->following, &xy->points, count);
    }
    return MOTE_OK;
}

/* Ends the layers and puts the chunk together. */
static mote_status put_chunk(mote_context *ctx, laz_layered_writer *all, const uint8_t *first, uint64_t count,
                             laz_writer *w) {
    uint64_t size_bytes = all->record_bytes + 4u + 4u * (uint64_t)all->part_count;
    for (uint32_t i = 0; i < all->part_count; i++) {
        laz_part *part = &all->parts[i];
        if (laz_writer_reserve(ctx, &part->writer, 0) != MOTE_OK) return MOTE_ERROR_MEMORY;
        laz_writer_finish(&part->writer);
        if (!part->changed) part->writer.at = 0;
        size_bytes += part->writer.at;
    }
    if (laz_writer_reserve(ctx, w, size_bytes) != MOTE_OK) return MOTE_ERROR_MEMORY;
    uint8_t *to = w->data + w->at;
    memcpy(to, first, all->record_bytes);
    laz_put_u32(to += all->record_bytes, (uint32_t)count);
    for (uint32_t i = 0; i < all->part_count; i++) laz_put_u32(to += 4, (uint32_t)all->parts[i].writer.at);
    to += 4;
    for (uint32_t i = 0; i < all->part_count; i++) {
        memcpy(to, all->parts[i].writer.data, all->parts[i].writer.at);
        to += all->parts[i].writer.at;
    }
    w->at += size_bytes;
    return MOTE_OK;
}

static mote_status write_points(mote_context *ctx, void *state, const laz_schema *schema, const uint8_t *records,
                                uint64_t count, laz_writer *w) {
    laz_layered_writer *all = state;
    place_parts(all, schema);
    start_parts(all, records);
    for (uint64_t i = 1; i < count; i += LAZ_BLOCK_POINTS) {
        const uint32_t n = (uint32_t)(count - i < LAZ_BLOCK_POINTS ? count - i : LAZ_BLOCK_POINTS);
        const mote_status status = write_block(ctx, all, records, records + i * all->record_bytes, n);
        if (status != MOTE_OK) return status;
    }
    return put_chunk(ctx, all, records, count, w);
}

static void release(mote_context *ctx, void *state) {
    const laz_layered_writer *all = state;
    for (uint32_t i = 0; i < all->part_count; i++) mote_free(ctx, all->parts[i].writer.data);
}

const laz_writing mote_laz_write_layered = {state_bytes, write_points, release};

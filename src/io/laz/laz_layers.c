/* The layers of the layered format as a table. */
#include "io/laz/laz_layers.h"

#include "io/laz/items/laz_byte14.h"
#include "io/laz/items/laz_fields14.h"
#include "io/laz/items/laz_gpstime14.h"
#include "io/laz/items/laz_point14.h"
#include "io/laz/items/laz_rgb14.h"
#include "io/laz/items/laz_wavepacket14.h"

#define MODELS(type) ((uint32_t)LAZ_ALIGNED(sizeof(type)))

const laz_layer_facts mote_laz_layer_facts[LAZ_LAYER_KINDS] = {
    [LAZ_LAYER_XY] = {0, LAZ_POINT14_BYTES, 0, MODELS(laz_xy14), laz_start_xy14},
    [LAZ_LAYER_Z] = {LAZ_AT_Z, 4, LAZ_WANT_Z, MODELS(laz_z14), laz_start_z14},
    [LAZ_LAYER_CLASSIFICATION] = {LAZ_AT_CLASSIFICATION, 1, LAZ_WANT_CLASSIFICATION, MODELS(laz_symbols14),
                                  laz_start_class14},
    [LAZ_LAYER_FLAGS] = {LAZ_AT_FLAGS, 1, LAZ_WANT_FLAGS, MODELS(laz_symbols14), laz_start_flags14},
    [LAZ_LAYER_INTENSITY] = {LAZ_AT_INTENSITY, 2, LAZ_WANT_INTENSITY, MODELS(laz_intensity14), laz_start_intensity14},
    [LAZ_LAYER_SCAN_ANGLE] = {LAZ_AT_SCAN_ANGLE, 2, LAZ_WANT_SCAN_ANGLE, MODELS(laz_short14), laz_start_short14},
    [LAZ_LAYER_USER_DATA] = {LAZ_AT_USER_DATA, 1, LAZ_WANT_USER_DATA, MODELS(laz_symbols14), laz_start_user14},
    [LAZ_LAYER_POINT_SOURCE] = {LAZ_AT_POINT_SOURCE, 2, LAZ_WANT_POINT_SOURCE, MODELS(laz_short14), laz_start_short14},
    [LAZ_LAYER_GPS_TIME] = {LAZ_AT_GPS_TIME, 8, LAZ_WANT_GPS_TIME, MODELS(laz_gps14), laz_start_gps14},
    [LAZ_LAYER_RGB] = {0, LAZ_RGB_BYTES, LAZ_WANT_RGB, MODELS(laz_rgb14), laz_start_rgb14},
    [LAZ_LAYER_NIR] = {LAZ_RGB_BYTES, LAZ_NIR14_BYTES, LAZ_WANT_NIR, MODELS(laz_nir14), laz_start_nir14},
    [LAZ_LAYER_WAVEPACKET] = {0, LAZ_WAVEPACKET_BYTES, LAZ_WANT_WAVEPACKET, MODELS(laz_wave14), laz_start_wave14},
    [LAZ_LAYER_BYTE] = {0, 1, LAZ_WANT_EXTRA, MODELS(laz_byte14), laz_start_byte14},
};

/* The layers of an item: their number, and the first kind (those of extra bytes are all of one kind). */
static uint32_t layers_of(const laz_item *item, laz_layer_kind *first) {
    switch (item->kind) {
    case LAZ_POINT14: *first = LAZ_LAYER_XY; return LAZ_LAYER_GPS_TIME + 1;
    case LAZ_RGB14: *first = LAZ_LAYER_RGB; return 1;
    case LAZ_RGBNIR14: *first = LAZ_LAYER_RGB; return 2;
    case LAZ_WAVEPACKET14: *first = LAZ_LAYER_WAVEPACKET; return 1;
    default: *first = LAZ_LAYER_BYTE; return item->size_bytes;
    }
}

uint32_t mote_laz_layer_count(const laz_schema *schema) {
    uint32_t count = 0;
    laz_layer_kind first;
    for (uint32_t i = 0; i < schema->item_count; i++) count += layers_of(&schema->items[i], &first);
    return count;
}

laz_layer mote_laz_layer_at(const laz_schema *schema, uint32_t index) {
    laz_layer_kind first = LAZ_LAYER_XY;
    uint32_t at = 0;
    for (uint32_t i = 0; i < schema->item_count; i++) {
        const uint32_t count = layers_of(&schema->items[i], &first);
        if (index < count) break;
        index -= count;
        at += schema->items[i].size_bytes;
    }
    if (first == LAZ_LAYER_BYTE) return (laz_layer){first, at + index};
    return (laz_layer){first + index, at + mote_laz_layer_facts[first + index].at};
}

const char *mote_laz_walk_start(laz_layer_walk *walk, const laz_schema *schema, const uint8_t *data,
                                uint64_t size_bytes, uint64_t points, uint64_t *fault_at) {
    walk->data = data;
    walk->size_bytes = size_bytes;
    walk->size_at = schema->record_bytes + 4u;
    walk->at = walk->size_at + 4u * (uint64_t)mote_laz_layer_count(schema);
    *fault_at = 0;
    if (size_bytes < walk->at) return "the chunk is smaller than its first point and the sizes of its layers";
    *fault_at = schema->record_bytes;
    if (laz_get_u32(data + schema->record_bytes) == points) return NULL;
    return "the chunk's own count of points is not that of the file";
}

const char *mote_laz_walk_next(laz_layer_walk *walk, uint32_t *layer_bytes, uint64_t *fault_at) {
    *layer_bytes = laz_get_u32(walk->data + walk->size_at);
    *fault_at = walk->size_at;
    if (*layer_bytes > walk->size_bytes - walk->at) return "a layer is larger than the rest of the chunk";
    walk->size_at += 4;
    walk->at += *layer_bytes;
    return NULL;
}

uint64_t mote_laz_layers_model_bytes(const laz_schema *schema) {
    const uint32_t count = mote_laz_layer_count(schema);
    uint64_t size_bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_bytes += mote_laz_layer_facts[mote_laz_layer_at(schema, i).kind].model_bytes;
    }
    return size_bytes;
}

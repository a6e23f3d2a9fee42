/* Any layer of a chunk but the first, decoded by a warp. */
#ifndef MOTE_LAZ_WARP_ITEMS_H
#define MOTE_LAZ_WARP_ITEMS_H

#include "io/laz/warp/laz_warp_colours.cuh"
#include "io/laz/warp/laz_warp_fields.cuh"
#include "io/laz/warp/laz_warp_gps.cuh"
#include "io/laz/warp/laz_warp_wave.cuh"

/* ---- any other layer */

WARP_INLINE bool warp_read_integers(const warp_task *t) {
    warp_integer_item item;
    return warp_read_points(t, &item);
}
WARP_INLINE bool warp_read_table(const warp_task *t) {
    warp_table_item item;
    return warp_read_points(t, &item);
}
WARP_INLINE bool warp_read_gps(const warp_task *t) {
    warp_gps_item item;
    return warp_read_points(t, &item);
}
WARP_INLINE bool warp_read_rgb(const warp_task *t) {
    warp_rgb_item item;
    return warp_read_points(t, &item);
}
WARP_INLINE bool warp_read_nir(const warp_task *t) {
    warp_nir_item item;
    return warp_read_points(t, &item);
}
WARP_INLINE bool warp_read_wave(const warp_task *t) {
    warp_wave_item item;
    return warp_read_points(t, &item);
}
WARP_INLINE bool warp_read_byte(const warp_task *t) {
    warp_byte_item item;
    return warp_read_points(t, &item);
}

WARP_INLINE bool warp_read_layer(const warp_task *t) {
    switch (warp_field(t)->kind) {
    case LAZ_LAYER_Z:
    case LAZ_LAYER_INTENSITY:
    case LAZ_LAYER_SCAN_ANGLE:
    case LAZ_LAYER_POINT_SOURCE: return warp_read_integers(t);
    case LAZ_LAYER_CLASSIFICATION:
    case LAZ_LAYER_FLAGS:
    case LAZ_LAYER_USER_DATA: return warp_read_table(t);
    case LAZ_LAYER_GPS_TIME: return warp_read_gps(t);
    case LAZ_LAYER_RGB: return warp_read_rgb(t);
    case LAZ_LAYER_NIR: return warp_read_nir(t);
    case LAZ_LAYER_WAVEPACKET: return warp_read_wave(t);
    default: return warp_read_byte(t);
    }
}

/* ---- a layer without bytes: all points have the value of the first one */

WARP_INLINE void warp_copy_value(const warp_task *t) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, kind = warp_field(t)->kind;
    CUDA_ROLLED for (uint32_t unit = 0; unit < LAZ_UNITS_MAX; unit++) {
        uint32_t at;
        const uint32_t bytes = laz_unit_bytes(kind, unit, &at);
        if (bytes == 0) break;
        const uint64_t value = warp_load(warp_first_value(t) + at, bytes);
        CUDA_ROLLED for (uint32_t i = lane; i < t->places->points; i += CUDA_WARP) {
            uint64_t here = value;
            if (kind == LAZ_LAYER_FLAGS && i > 0) { /* around the scanner channel */
                here = (value & ~(uint64_t)LAZ_CHANNEL_MASK) | warp_channel(warp_described(t)[i]) << LAZ_CHANNEL_SHIFT;
            }
            warp_put(t, unit, i, here, bytes);
        }
    }
}

#endif

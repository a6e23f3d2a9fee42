/* What the format says of the layered items, apart from how a machine decodes them: bytes of the record, symbols,
   contexts, predictions. One copy for the CPU (laz_layered.c) and the GPU (laz_cuda.cu).
   Source: M. Isenburg, LASzip, 2013, and LASzip 3. */
#ifndef MOTE_LAZ_FORMAT14_H
#define MOTE_LAZ_FORMAT14_H

#include "io/laz/items/laz_rules.h"

#define LAZ_CHANNELS      4u /* of the scanner; each has models and last values of its own */
#define LAZ_POINT14_BYTES 30u

/* Bytes of the record. */
enum {
    LAZ_AT_X = 0,
    LAZ_AT_Y = 4,
    LAZ_AT_Z = 8,
    LAZ_AT_INTENSITY = 12,
    LAZ_AT_RETURNS = 14, /* number low, count high */
    LAZ_AT_FLAGS = 15,   /* the scanner channel is in the middle of them */
    LAZ_AT_CLASSIFICATION = 16,
    LAZ_AT_USER_DATA = 17,
    LAZ_AT_SCAN_ANGLE = 18,
    LAZ_AT_POINT_SOURCE = 20,
    LAZ_AT_GPS_TIME = 22
};

#define LAZ_CHANNEL_SHIFT 4u
#define LAZ_CHANNEL_MASK  0x30u

/* Kinds of layers; those of POINT14 come first and in order. */
typedef enum laz_layer_kind {
    LAZ_LAYER_XY,
    LAZ_LAYER_Z,
    LAZ_LAYER_CLASSIFICATION,
    LAZ_LAYER_FLAGS,
    LAZ_LAYER_INTENSITY,
    LAZ_LAYER_SCAN_ANGLE,
    LAZ_LAYER_USER_DATA,
    LAZ_LAYER_POINT_SOURCE,
    LAZ_LAYER_GPS_TIME,
    LAZ_LAYER_RGB,
    LAZ_LAYER_NIR,
    LAZ_LAYER_WAVEPACKET,
    LAZ_LAYER_BYTE,
    LAZ_LAYER_KINDS
} laz_layer_kind;

/* The units of a layer, each of which goes to a place of its own in a record of which only some is kept: bytes of a
   unit and where it stands in the field of the layer; 0: there is none. */
MOTE_HD uint32_t laz_unit_bytes(uint32_t kind, uint32_t unit, uint32_t *at) {
    *at = 0;
    switch (kind) {
    case LAZ_LAYER_XY: *at = unit < 2 ? 4 * unit : (uint32_t)LAZ_AT_RETURNS; return unit < 2 ? 4 : unit == 2;
    case LAZ_LAYER_RGB: *at = 2 * unit; return unit < 3 ? 2 : 0;
    case LAZ_LAYER_WAVEPACKET: *at = unit == 0 ? 0 : 4 * unit - 3; return unit == 0 ? 1 : unit < 8 ? 4 : 0;
    case LAZ_LAYER_Z: return unit == 0 ? 4 : 0;
    case LAZ_LAYER_GPS_TIME: return unit == 0 ? 8 : 0;
    case LAZ_LAYER_INTENSITY:
    case LAZ_LAYER_SCAN_ANGLE:
    case LAZ_LAYER_POINT_SOURCE:
    case LAZ_LAYER_NIR: return unit == 0 ? 2 : 0;
    default: return unit == 0;
    }
}

/* What of a point differs from the one before in its channel. */
enum {
    LAZ_CHANGED_RETURN = 3, /* 0 the same, 1 one more, 2 one less, 3 coded */
    LAZ_CHANGED_RETURNS = 1 << 2,
    LAZ_CHANGED_ANGLE = 1 << 3,
    LAZ_CHANGED_GPS = 1 << 4,
    LAZ_CHANGED_SOURCE = 1 << 5,
    LAZ_CHANGED_CHANNEL = 1 << 6
};

/* Where a return stands among those of its pulse. */
enum { LAZ_LAST_RETURN = 1, LAZ_FIRST_RETURN = 2 };

/* ---- First layer: channel, returns, x, y */
#define LAZ_CHANGED_SYMBOLS  128u
#define LAZ_CHANGED_CONTEXTS 8u
#define LAZ_RETURNS          16u
#define LAZ_RETURN_STEPS     13u /* +2 … +14, modulo 16 */
#define LAZ_MEDIANS          12u
#define LAZ_X_CONTEXTS       2u
#define LAZ_Y_CONTEXTS       22u

/* Which of six kinds a return is for the medians of its steps, by [count][number]. */
static const uint8_t laz_return_kind[LAZ_RETURNS][LAZ_RETURNS] = {
    {0, 1, 2, 3, 4, 5, 3, 4, 4, 5, 5, 5, 5, 5, 5, 5}, {1, 0, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3},
    {2, 1, 2, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3}, {3, 3, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
    {4, 3, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, {5, 3, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
    {3, 3, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4}, {4, 3, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4},
    {4, 3, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4}, {5, 3, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4},
    {5, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4}, {5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 4, 4, 4},
    {5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 4, 4}, {5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 4},
    {5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5}, {5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5}};

/* The context of the changes: of what kind the last point was. gps_changed: 0 or 1. */
MOTE_HD uint32_t laz_changed_context(uint32_t number, uint32_t count, uint32_t gps_changed) {
    return (uint32_t)(number == 1) | (uint32_t)(number >= count) << 1 | gps_changed << 2;
}

/* The number of a return from the one before, where the changes tell it. */
MOTE_HD uint32_t laz_next_return(uint32_t last, uint32_t changed) {
    const uint32_t step = changed & LAZ_CHANGED_RETURN; /* 0, 1, or 2 for -1 */
    return (last + (step == 2 ? 15 : step)) & 15u;
}

/* The context of dy: by the width of dx and whether the return is the only one of its pulse. */
MOTE_HD uint32_t laz_y_context(uint32_t count, uint32_t kx) {
    return (uint32_t)(count == 1) + (kx < 20 ? kx & ~1u : 20);
}

MOTE_HD uint32_t laz_z_context(uint32_t count, uint32_t kx, uint32_t ky) {
    const uint32_t k = (kx + ky) / 2;
    return (uint32_t)(count == 1) + (k < 18 ? k & ~1u : 18);
}

MOTE_HD uint32_t laz_place_of(uint32_t number, uint32_t count) {
    return (number == 1 ? (uint32_t)LAZ_FIRST_RETURN : 0u) | (number >= count ? (uint32_t)LAZ_LAST_RETURN : 0u);
}

/* Returns between it and the last one, at most 7. */
MOTE_HD uint32_t laz_level_of(uint32_t number, uint32_t count) {
    const uint32_t level = number < count ? count - number : number - count;
    return level < 7 ? level : 7;
}

/* ---- z */
#define LAZ_LEVELS     8u
#define LAZ_Z_CONTEXTS 20u

/* ---- Classification, flags, user data, extra bytes */
#define LAZ_TABLE_MODELS   64u
#define LAZ_BYTE_SYMBOLS   256u
#define LAZ_FLAG_SYMBOLS   64u
#define LAZ_BYTE14_SYMBOLS 256u

/* The six flags without the scanner channel between them, and back. */
MOTE_HD uint32_t laz_pack_flags(uint32_t byte) { return (byte & 15u) | (byte >> 6) << 4; }
MOTE_HD uint32_t laz_unpack_flags(uint32_t flags) { return (flags & 15u) | (flags >> 4) << 6; }

/* Which of the 64 models codes a class: the format chooses by the last one and by whether the return is the only one.
 */
MOTE_HD uint32_t laz_class14_context(uint32_t last, uint32_t place) {
    return (last & 31u) * 2 + (uint32_t)(place == (LAZ_FIRST_RETURN | LAZ_LAST_RETURN));
}
MOTE_HD uint32_t laz_user14_context(uint32_t last) { return last / 4; }

/* ---- Intensity, scan angle, point source */
#define LAZ_PLACES         4u
#define LAZ_INTENSITIES    (2u * LAZ_PLACES)
#define LAZ_ANGLE_CONTEXTS 2u

#endif

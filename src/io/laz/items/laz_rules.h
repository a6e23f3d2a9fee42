/* What the format says of the items that formats 0 to 5 and 6 to 10 share: how times, colours and wave packets are
   predicted from the ones before. One copy for the CPU and the GPU. Source: M. Isenburg, LASzip, 2013, and LASzip 3. */
#ifndef MOTE_LAZ_RULES_H
#define MOTE_LAZ_RULES_H

#include "math/host_device.h"

/* ---- GPS time */
#define LAZ_GPS_SEQUENCES 4u
#define LAZ_GPS_CONTEXTS  9u
#define LAZ_GPS_EXTREMES  3u /* unusual steps in a row; the next one is then the new usual step */
/* Sequences can be switched only so often for one time; hostile bytes go round for ever. */
#define LAZ_GPS_SWITCHES 8u

/* The symbols of a sequence whose usual step is 0. */
enum { LAZ_GPS_STEP = 0, LAZ_GPS_NEW = 1, LAZ_GPS_OTHER = 2, LAZ_GPS_STILL_SYMBOLS = 5 };

/* Contexts of the integers. */
enum { LAZ_GPS_FIRST_STEP = 0, LAZ_GPS_HIGH = 8 };

/* After a step: a multiple of it, 0 to 500; 501 to 510: times -1 to -10; */
#define LAZ_GPS_MULTIPLES   500u
#define LAZ_GPS_BACKWARD    10u
#define LAZ_GPS_NEW_AFTER   (LAZ_GPS_MULTIPLES + LAZ_GPS_BACKWARD + 1) /* a new sequence; behind it: another one */
#define LAZ_GPS_MULTI_TYPES (LAZ_GPS_NEW_AFTER + LAZ_GPS_SEQUENCES)

/* How a step is predicted from the last one for a symbol of the multiples, and the context. */
MOTE_HD uint32_t laz_gps_predict(uint32_t step, uint32_t symbol, uint32_t *context) {
    if (symbol <= LAZ_GPS_MULTIPLES) {
        *context = symbol == 0 ? 7 : symbol == 1 ? 1 : symbol < 10 ? 2 : symbol < LAZ_GPS_MULTIPLES ? 3 : 4;
        return symbol * step;
    }
    *context = symbol < LAZ_GPS_MULTIPLES + LAZ_GPS_BACKWARD ? 5 : 6;
    return (LAZ_GPS_MULTIPLES - symbol) * step;
}

/* The symbol for a step: its multiple of the last one, rounded half away from zero. 2^31 is where the reference's
   conversion wraps to the least integer. */
MOTE_HD uint32_t laz_gps_symbol(uint32_t step, uint32_t last) {
    const float ratio = (float)(int32_t)step / (float)(int32_t)last;
    const double rounded = (double)ratio + (ratio >= 0 ? 0.5 : -0.5);
    const int32_t multiple = rounded < 2147483648.0 ? (int32_t)rounded : INT32_MIN;
    if (multiple >= 0) return (uint32_t)multiple < LAZ_GPS_MULTIPLES ? (uint32_t)multiple : LAZ_GPS_MULTIPLES;
    return LAZ_GPS_MULTIPLES + (multiple > -(int32_t)LAZ_GPS_BACKWARD ? 0u - (uint32_t)multiple : LAZ_GPS_BACKWARD);
}

MOTE_HD bool laz_gps_is_extreme(uint32_t symbol) {
    return symbol == 0 || symbol == LAZ_GPS_MULTIPLES || symbol == LAZ_GPS_MULTIPLES + LAZ_GPS_BACKWARD;
}

MOTE_HD uint64_t laz_widen(uint32_t step) { return (uint64_t)(int64_t)(int32_t)step; }

/* ---- Colours */
#define LAZ_RGB_BYTES      6u
#define LAZ_NIR14_BYTES    2u
#define LAZ_RGB_USED       128u
#define LAZ_NIR_USED       4u
#define LAZ_COLOUR_SYMBOLS 256u
#define LAZ_RGB_COLOURED   (1u << 6) /* of the symbol; the bits below: bytes of the record that changed */

MOTE_HD uint32_t laz_clamp_byte(int32_t value) { return (uint32_t)(value < 0 ? 0 : value > 255 ? 255 : value); }

/* What is predicted for a byte of green and of blue, from the last one and how the colours before changed. */
MOTE_HD uint32_t laz_predict_green(int32_t red_change, int32_t last) { return laz_clamp_byte(red_change + last); }
MOTE_HD uint32_t laz_predict_blue(int32_t red_change, int32_t green_change, int32_t last) {
    return laz_clamp_byte((red_change + green_change) / 2 + last);
}

/* The prediction for a colour of six bytes: 0 and 1 (low and high) are red's, 2 and 3 green's, 4 and 5 blue's. */
MOTE_HD uint32_t laz_green(const uint8_t *last, const uint8_t *now, uint32_t half) {
    return laz_predict_green(now[half] - last[half], last[2 + half]);
}
MOTE_HD uint32_t laz_blue(const uint8_t *last, const uint8_t *now, uint32_t half) {
    return laz_predict_blue(now[half] - last[half], now[2 + half] - last[2 + half], last[4 + half]);
}

/* ---- Wave packets */
#define LAZ_WAVEPACKET_BYTES 29u
#define LAZ_WAVE_INDICES     256u
#define LAZ_WAVE_AXES        3u

/* Bytes of the item: the index; then: */
enum { LAZ_AT_WAVE_OFFSET = 1, LAZ_AT_WAVE_SIZE = 9, LAZ_AT_WAVE_RETURN = 13, LAZ_AT_WAVE_AXES = 17 };

/* Where a packet lies. */
enum { LAZ_WAVE_SAME, LAZ_WAVE_BEHIND, LAZ_WAVE_NEAR, LAZ_WAVE_ANYWHERE, LAZ_WAVE_PLACES };

/* Where a wave packet lies, as its symbol says: moved bytes behind the one before it, which has size_bytes. */
MOTE_HD uint32_t laz_wave_place(uint64_t moved, uint32_t size_bytes) {
    if (moved == 0) return LAZ_WAVE_SAME;
    if (moved != laz_widen((uint32_t)moved)) return LAZ_WAVE_ANYWHERE;
    return moved == size_bytes ? LAZ_WAVE_BEHIND : LAZ_WAVE_NEAR;
}

#endif

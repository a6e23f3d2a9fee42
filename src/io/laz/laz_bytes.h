/* Numbers in records, which stand at any address. */
#ifndef MOTE_LAZ_BYTES_H
#define MOTE_LAZ_BYTES_H

#include <stdint.h>
#include <string.h>

#define LAZ_INLINE static inline __attribute__((always_inline))

LAZ_INLINE uint16_t laz_get_u16(const uint8_t *from) {
    uint16_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

LAZ_INLINE uint32_t laz_get_u32(const uint8_t *from) {
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

LAZ_INLINE uint64_t laz_get_u64(const uint8_t *from) {
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

LAZ_INLINE void laz_put_u16(uint8_t *to, uint32_t value) {
    const uint16_t v = (uint16_t)value;
    memcpy(to, &v, sizeof v);
}

LAZ_INLINE void laz_put_u32(uint8_t *to, uint32_t value) { memcpy(to, &value, sizeof value); }

LAZ_INLINE void laz_put_u64(uint8_t *to, uint64_t value) { memcpy(to, &value, sizeof value); }

#endif

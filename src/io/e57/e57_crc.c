/* CRC-32C (Castagnoli), reflected, as iSCSI has it. Source: RFC 3720, appendix B.4. */
#include "io/e57/e57.h"

#ifdef __SSE4_2__
#include <nmmintrin.h>

uint32_t mote_e57_crc(const uint8_t *bytes, size_t count) {
    uint64_t crc = UINT32_MAX;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        crc = _mm_crc32_u64(crc, word);
    }
    for (; i < count; i++) crc = _mm_crc32_u8((uint32_t)crc, bytes[i]);
    return ~(uint32_t)crc;
}
#else
/* The remainders of four bits: small enough to be written down, and machines without the instruction are rare. */
static const uint32_t remainders[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t mote_e57_crc(const uint8_t *bytes, size_t count) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ remainders[crc & 15];
        crc = crc >> 4 ^ remainders[crc & 15];
    }
    return ~crc;
}
#endif

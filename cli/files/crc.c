/* CRC-32, eight bytes a step (M. Kounavis and F. Berry 2005), and joined as polynomials. */
#include "files/crc.h"

#include <string.h>

#define POLYNOMIAL 0xEDB88320u /* x^32 is this, bit 31 the coefficient of x^0 */
#define ONE        0x80000000u
#define BYTE_SHIFT 0x00800000u /* x^8 */

void crc_prepare(crc_tables *tables) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t rest = i;
        for (int bit = 0; bit < 8; bit++) rest = (rest & 1) != 0 ? rest >> 1 ^ POLYNOMIAL : rest >> 1;
        tables->entry[0][i] = rest;
    }
    for (uint32_t i = 0; i < 256; i++) {
        for (int k = 1; k < 8; k++) {
            const uint32_t before = tables->entry[k - 1][i];
            tables->entry[k][i] = before >> 8 ^ tables->entry[0][before & 255];
        }
    }
}

uint32_t crc_of(const crc_tables *tables, const void *data, size_t size_bytes) {
    const uint8_t *at = data;
    const uint32_t(*const entry)[256] = tables->entry;
    uint32_t crc = UINT32_MAX;
    for (; size_bytes >= 8; size_bytes -= 8, at += 8) {
        uint32_t low, high;
        memcpy(&low, at, 4);
        memcpy(&high, at + 4, 4);
        low ^= crc;
        crc = entry[7][low & 255] ^ entry[6][low >> 8 & 255] ^ entry[5][low >> 16 & 255] ^ entry[4][low >> 24] ^
              entry[3][high & 255] ^ entry[2][high >> 8 & 255] ^ entry[1][high >> 16 & 255] ^ entry[0][high >> 24];
    }
    for (; size_bytes > 0; size_bytes--, at++) crc = crc >> 8 ^ entry[0][(crc ^ *at) & 255];
    return ~crc;
}

/* The product of two polynomials, modulo the one of the checksum. */
static uint32_t multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (uint32_t bit = ONE; bit != 0; bit >>= 1) {
        if ((a & bit) != 0) product ^= b;
        b = (b & 1) != 0 ? b >> 1 ^ POLYNOMIAL : b >> 1;
    }
    return product;
}

uint32_t crc_join(uint32_t first, uint32_t second, uint64_t second_bytes) {
    uint32_t shift = ONE, square = BYTE_SHIFT;
    for (; second_bytes != 0; second_bytes >>= 1) {
        if ((second_bytes & 1) != 0) shift = multiply(shift, square);
        square = multiply(square, square);
    }
    return multiply(shift, first) ^ second;
}

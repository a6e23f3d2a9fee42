/* CRC-32 as zip files have it, of pieces that may be summed apart and joined. */
#ifndef CLI_CRC_H
#define CLI_CRC_H

#include <stddef.h>
#include <stdint.h>

typedef struct crc_tables {
    uint32_t entry[8][256];
} crc_tables;

void crc_prepare(crc_tables *tables);
uint32_t crc_of(const crc_tables *tables, const void *data, size_t size_bytes);
/* The checksum of two pieces that follow each other, from the checksum of each. */
uint32_t crc_join(uint32_t first, uint32_t second, uint64_t second_bytes);

#endif

/* The codes of encoding BROTLI: positions and colours as Morton codes, everything else as it is, column by column. */
#include "io/potree/potree.h"
#include "math/morton.h"

/* The lowest 16 bits of three numbers, interleaved: bit 3i of the first, 3i+1 of the second, 3i+2 of the third. */
static uint64_t interleave(uint32_t a, uint32_t b, uint32_t c) {
    return mote_morton_spread(a & 0xFFFF) | mote_morton_spread(b & 0xFFFF) << 1 | mote_morton_spread(c & 0xFFFF) << 2;
}

static void code_positions(const uint8_t *records, uint32_t stride, uint32_t count, uint8_t *out) {
    for (uint32_t j = 0; j < count; j++, records += stride, out += POTREE_POSITION_CODED) {
        uint32_t p[3];
        memcpy(p, records, sizeof p);
        const uint64_t codes[2] = {interleave(p[0] >> 16, p[1] >> 16, p[2] >> 16), interleave(p[0], p[1], p[2])};
        memcpy(out, codes, sizeof codes);
    }
}

static void code_colors(const uint8_t *records, uint32_t stride, uint32_t count, uint8_t *out) {
    for (uint32_t j = 0; j < count; j++, records += stride, out += POTREE_COLOR_CODED) {
        uint16_t c[3];
        memcpy(c, records, sizeof c);
        const uint64_t code = interleave(c[0], c[1], c[2]);
        memcpy(out, &code, sizeof code);
    }
}

static void code_plain(const uint8_t *records, uint32_t stride, uint32_t count, uint8_t *out, uint32_t size_bytes) {
    switch (size_bytes) {
    case 1:
        for (uint32_t j = 0; j < count; j++) out[j] = records[(uint64_t)j * stride];
        break;
    case 2:
        for (uint32_t j = 0; j < count; j++) memcpy(out + 2ull * j, records + (uint64_t)j * stride, 2);
        break;
    case 4:
        for (uint32_t j = 0; j < count; j++) memcpy(out + 4ull * j, records + (uint64_t)j * stride, 4);
        break;
    default:
        for (uint32_t j = 0; j < count; j++) memcpy(out + 8ull * j, records + (uint64_t)j * stride, 8);
        break;
    }
}

void potree_code_block(const potree_plan *plan, const uint8_t *records, uint32_t count, uint64_t first, uint64_t total,
                       uint8_t *node_data) {
    for (uint32_t a = 0; a < plan->attribute_count; a++) {
        const potree_attribute *attribute = &plan->attributes[a];
        const uint32_t size_bytes = potree_coded_bytes(attribute);
        const uint8_t *from = records + attribute->at;
        uint8_t *to = node_data + total * attribute->coded_at + first * size_bytes;
        switch (attribute->role) {
        case POTREE_POSITION: code_positions(from, plan->stride_bytes, count, to); break;
        case POTREE_COLOR: code_colors(from, plan->stride_bytes, count, to); break;
        default: code_plain(from, plan->stride_bytes, count, to, size_bytes); break;
        }
    }
}

void potree_position_decode(const uint8_t coded[POTREE_POSITION_CODED], uint32_t xyz[3]) {
    uint64_t codes[2];
    memcpy(codes, coded, sizeof codes);
    for (uint32_t k = 0; k < 3; k++) {
        xyz[k] = (mote_morton_compact(codes[0] >> k) & 0xFFFF) << 16 | (mote_morton_compact(codes[1] >> k) & 0xFFFF);
    }
}

void potree_color_decode(const uint8_t coded[POTREE_COLOR_CODED], uint16_t rgb[3]) {
    uint64_t code;
    memcpy(&code, coded, sizeof code);
    for (uint32_t k = 0; k < 3; k++) rgb[k] = (uint16_t)mote_morton_compact(code >> k);
}

/* Codes without the bits that no point uses, and cells by 32-bit products: both must agree with the plain way. */
#include "math/hash.h"
#include "order/lattice/lattice_math.h"
#include "order/lattice/order_compact_codes_math.h"
#include "support/support.h"

/* The bits of code at the places that the axes use, closed up, one at a time. */
static uint64_t naive_squeeze(uint64_t code, const uint32_t bits[3]) {
    uint64_t key = 0;
    uint32_t at = 0;
    for (uint32_t bit = 0; bit < 63; bit++) {
        const uint32_t axis = 2 - bit % 3;
        if (bit / 3 < bits[axis]) key |= (code >> bit & 1) << at++;
    }
    return key;
}

static void check_bits(const uint32_t bits[3]) {
    const order_compaction s = order_compaction_make(bits);
    assert_int_equal(s.bits, bits[0] + bits[1] + bits[2]);
    assert_int_equal(order_compaction_is_identity(s), bits[0] == bits[1] && bits[1] == bits[2]);
    for (uint64_t i = 0; i < 40; i++) {
        uint32_t cell[3];
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t max = (1u << bits[k]) - 1;
            cell[k] = i == 0 ? max : i < 22 ? 1u << i & max : (uint32_t)mote_hash_pair(i, k) & max;
        }
        const uint64_t code = mote_morton_encode(cell[0], cell[1], cell[2]);
        const uint64_t key = order_compact_code(code, s);
        assert_int_equal(key, naive_squeeze(code, bits));
        assert_int_equal(order_expand_code(key, s), code);
        assert_int_equal(order_cell_key(cell[0], cell[1], cell[2], s), key);
        assert_int_equal(order_key_code(key, s), code);
        assert_int_equal(order_cell_code(cell[0], cell[1], cell[2]), code);
        const uint32_t levels = (uint32_t)(i % (s.low_bits / 3 + 1));
        assert_int_equal(order_cell_key(cell[0] >> levels, cell[1] >> levels, cell[2] >> levels,
                                        order_compaction_coarser(s, levels)),
                         key >> 3 * levels);
    }
}

/* Each bit of each coordinate alone, and cells at random. */
static void codes_of_cells_agree(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 3 * MOTE_MORTON_BITS + 1000; i++) {
        const uint64_t bit = i < 3 * MOTE_MORTON_BITS ? 1ull << i : mote_hash64(i) >> 1;
        const uint32_t side = (1u << MOTE_MORTON_BITS) - 1;
        const uint32_t x = bit & side, y = bit >> MOTE_MORTON_BITS & side, z = bit >> 2 * MOTE_MORTON_BITS & side;
        assert_int_equal(order_cell_code(x, y, z), mote_morton_encode(x, y, z));
    }
}

static void squeezes_all_shapes(void **state) {
    (void)state;
    for (uint32_t x = 0; x <= 21; x++) {
        for (uint32_t y = 0; y <= 21; y++) {
            for (uint32_t z = 0; z <= 21; z++) check_bits((const uint32_t[3]){x, y, z});
        }
    }
}

static void check_quick_cell(uint32_t p, uint64_t side) {
    if (!lattice_divisor_fits(side)) return;
    assert_int_equal(lattice_cell_int32(p, lattice_divisor_make((uint32_t)side)),
                     mote_cell_of(p, mote_cell_divisor_make(side)));
}

static void check_cells(uint64_t side) {
    const mote_cell_divisor by = mote_cell_divisor_make(side);
    for (uint64_t i = 0; i < 4000; i++) {
        const uint64_t edge = (i >> 2) * side >> MOTE_MORTON_BITS; /* about the border of a cell */
        const uint64_t near = i % 4 < 3 ? edge + i % 4 - 1 : mote_hash64(i) >> (i % 32);
        const uint64_t beyond = side > 1000 ? side - 1000 + i : i;
        assert_int_equal(lattice_cell((uint32_t)near, by), mote_cell_of((uint32_t)near, by));
        assert_int_equal(lattice_cell((uint32_t)beyond, by), mote_cell_of((uint32_t)beyond, by));
        check_quick_cell((uint32_t)near, side);
        check_quick_cell((uint32_t)beyond, side);
    }
    assert_int_equal(lattice_cell(UINT32_MAX, by), mote_cell_of(UINT32_MAX, by));
    check_quick_cell(UINT32_MAX, side);
}

static void cells_agree(void **state) {
    (void)state;
    const uint64_t sides[] = {1,          2,          3,          5,          1000,     (1u << 21) - 1,
                              1u << 21,   3000001,    999999937,  2147483647, 1u << 31, (1ull << 31) + 1,
                              4294967295, 1ull << 32, 1ull << 40, 1ull << 51};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) check_cells(sides[i]);
    for (uint64_t i = 0; i < 200; i++) check_cells((mote_hash64(i) >> (33 + i % 31)) + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(squeezes_all_shapes), cmocka_unit_test(cells_agree),
                                       cmocka_unit_test(codes_of_cells_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

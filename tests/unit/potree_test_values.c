/* Potree folders: how positions, flags and colours are stored, and what comes back of them. */
#include <math.h>
#include <mote_have.h>
#include <stdlib.h>
#include <string.h>

#include "io/potree/potree.h"
#include "reference/potree_reference.h"
#include "unit/potree_test.h"

#if MOTE_HAVE_JANSSON

void keeps_positions_of_any_type(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    static const mote_type types[] = {MOTE_INT8,  MOTE_UINT16,  MOTE_INT32,  MOTE_UINT32,
                                      MOTE_INT64, MOTE_FLOAT32, MOTE_FLOAT64};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        const mote_column_spec specs[] = {
            {"x", types[t], 0, 0}, {"y", types[t], 0, 0}, {"z", types[t], 0, 0}, {"n", MOTE_UINT32, 0, 0}};
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_cloud_create(ctx, 3000, specs, 4, &cloud), MOTE_OK);
        for (int k = 0; k < 3; k++) potree_fill_random(cloud, specs[k].name);
        const uint32_t stride = mote_cloud_find(cloud, "x")->stride_bytes, size = mote_type_size(types[t]);
        for (uint64_t i = 0; i < 3000; i++) { /* within what a Potree position holds exactly */
            for (uint32_t k = 0; k < 3; k++) {
                const double real = (double)potree_random_below(1u << 24) / 256 - 20000;
                const float narrow = (float)real;
                const int64_t whole = (int64_t)potree_random_below(1u << 30) - (types[t] == MOTE_INT64 ? 1ll << 40 : 0);
                uint8_t *to = (uint8_t *)mote_cloud_column_data(cloud, "x") + i * stride + k * size;
                if (types[t] == MOTE_FLOAT64) memcpy(to, &real, 8);
                if (types[t] == MOTE_FLOAT32) memcpy(to, &narrow, 4);
                if (types[t] == MOTE_INT64 || types[t] == MOTE_UINT32 || types[t] == MOTE_INT32)
                    memcpy(to, &whole, size);
            }
        }
        potree_check_round_trip(ctx, cloud);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* A double that the format cannot hold comes back as the nearest step, as int32. */
void rounds_to_the_nearest_step(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const double xyz[4][3] = {{0, 0, 0}, {1000, 1000, 1000}, {1.0 / 3, 2.0 / 3, 1e-9}, {NAN, 1, 1}};
    mote_column columns[3];
    memset(columns, 0, sizeof columns);
    for (int k = 0; k < 3; k++) {
        static const char *const names[3] = {"x", "y", "z"};
        columns[k].name = names[k];
        columns[k].type = MOTE_FLOAT64;
        columns[k].data = &xyz[0][k];
        columns[k].stride_bytes = 24;
    }
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_wrap(ctx, 4, columns, 3, &cloud), MOTE_OK);
    mote_lod *lod = potree_build(ctx, cloud, MOTE_LOD_ADDITIVE, MOTE_LOD_FILTER_NONE);
    potree_write_ok(ctx, lod, test_path("steps"), 0, NULL);
    mote_cloud *back = potree_read_back(ctx, test_path("steps"), -1);
    assert_int_equal(mote_cloud_count(back), 3);
    assert_int_equal(mote_lod_skipped(lod), 1);
    uint32_t *order = potree_order(lod, -1);
    for (uint64_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            const mote_column *column = mote_cloud_column(back, k);
            assert_int_equal(column->type, MOTE_INT32);
            assert_true(fabs(mote_column_value(column, i) - xyz[order[i]][k]) <= column->scale / 2);
        }
    }
    free(order);
    mote_cloud_destroy(back);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void packs_and_leaves_out_flags(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    enum { COUNT = 1000 };
    static uint8_t records[COUNT][16];
    for (uint32_t i = 0; i < COUNT; i++) {
        const int32_t p[3] = {(int32_t)potree_random_below(1000), (int32_t)potree_random_below(1000), (int32_t)i};
        memcpy(records[i], p, 12);
        records[i][12] =
            (uint8_t)(potree_random_below(16) | potree_random_below(2) << 6); /* flags, and the scan direction */
        records[i][13] = (uint8_t)potree_random_below(256);
    }
    static const struct {
        const char *name;
        uint8_t at, shift, bits;
    } fields[] = {{"synthetic", 12, 0, 1},
                  {"key_point", 12, 1, 1},
                  {"withheld", 12, 2, 1},
                  {"overlap", 12, 3, 1},
                  {"scanner_channel", 12, 4, 2},
                  {"scan_direction_flag", 12, 6, 1},
                  {"edge_of_flight_line", 12, 7, 1},
                  {"return_number", 13, 0, 4},
                  {"number_of_returns", 13, 4, 4}};
    mote_column columns[12];
    memset(columns, 0, sizeof columns);
    for (uint32_t c = 0; c < 12; c++) {
        static const char *const axes[3] = {"x", "y", "z"};
        columns[c].name = c < 3 ? axes[c] : fields[c - 3].name;
        columns[c].type = c < 3 ? MOTE_INT32 : MOTE_UINT8;
        columns[c].data = c < 3 ? &records[0][4 * c] : &records[0][fields[c - 3].at];
        columns[c].stride_bytes = 16;
        columns[c].bit_shift = c < 3 ? 0 : fields[c - 3].shift;
        columns[c].bit_count = c < 3 ? 0 : fields[c - 3].bits;
    }
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_wrap(ctx, COUNT, columns, 12, &cloud), MOTE_OK);
    potree_check_round_trip(ctx, cloud);
    potree_reference set = potree_reference_open(test_path("trip.default"));
    static const char *const names[] = {"position", "return number", "number of returns", "classification flags",
                                        "scan direction flag"};
    const json_t *attributes = json_object_get(set.json, "attributes");
    assert_int_equal(json_array_size(attributes), 5);
    for (size_t a = 0; a < 5; a++) {
        assert_string_equal(json_string_value(json_object_get(json_array_get(attributes, a), "name")), names[a]);
    }
    potree_reference_close(&set);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Bit by bit, from the definition. */
void codes_are_as_defined(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        uint32_t xyz[3], back[3];
        uint16_t rgb[3], rgb_back[3];
        uint8_t record[18], coded[24];
        for (int k = 0; k < 3; k++) {
            xyz[k] = potree_random_below(UINT32_MAX);
            rgb[k] = (uint16_t)potree_random_below(65536);
        }
        memcpy(record, xyz, 12);
        memcpy(record + 12, rgb, 6);
        potree_attribute attributes[2];
        memset(attributes, 0, sizeof attributes);
        attributes[0].role = POTREE_POSITION;
        attributes[1].role = POTREE_COLOR;
        attributes[1].at = 12;
        attributes[1].coded_at = 16;
        potree_plan plan;
        memset(&plan, 0, sizeof plan);
        plan.attributes = attributes;
        plan.attribute_count = 2;
        plan.stride_bytes = 18;
        potree_code_block(&plan, record, 1, 0, 1, coded);
        uint64_t high = 0, low = 0, color = 0, words[3];
        for (int bit = 0; bit < 16; bit++) {
            for (int k = 0; k < 3; k++) {
                high |= (uint64_t)(xyz[k] >> (16 + bit) & 1) << (3 * bit + k);
                low |= (uint64_t)(xyz[k] >> bit & 1) << (3 * bit + k);
                color |= (uint64_t)(rgb[k] >> bit & 1) << (3 * bit + k);
            }
        }
        memcpy(words, coded, sizeof words);
        assert_true(words[0] == high && words[1] == low && words[2] == color);
        potree_position_decode(coded, back);
        potree_color_decode(coded + 16, rgb_back);
        assert_memory_equal(xyz, back, sizeof xyz);
        assert_memory_equal(rgb, rgb_back, sizeof rgb);
    }
}

#endif

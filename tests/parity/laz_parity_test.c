/* Layered chunks that the GPU decodes: the same points, failures and warnings as from the cores. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "parity/parity_support.h"
#include "parity/read_support.h"
#include "support/laz_files.h"
#include "support/laz_records.h"

/* The GPU decodes however few chunks there are. */
static const las_upload_limits limits = {
    .buffers = 256u << 10, .before_warm_up = 100u << 10, .block = 3000, .chunks = 1, .streams = 1};

typedef struct readers {
    listener l[2];
    mote_context *cpu, *gpu;
} readers;

static int open_readers(void **state) {
    readers *on = *state = calloc(1, sizeof *on);
    on->cpu = context_for(MOTE_DEVICE_CPU, 2, &on->l[0]);
    on->gpu = context_for(MOTE_DEVICE_CUDA, 2, &on->l[1]);
    return 0;
}

static int close_readers(void **state) {
    readers *on = *state;
    mote_context_destroy(on->gpu);
    mote_context_destroy(on->cpu);
    free(on);
    return 0;
}

#define READ_TEST(test) cmocka_unit_test_setup_teardown(test, open_readers, close_readers)

static uint64_t peak_of(mote_context *ctx, const char *structure) {
    mote_usage lines[MOTE_USAGE_LINES];
    const uint32_t count = mote_context_usage(ctx, lines, MOTE_USAGE_LINES);
    for (uint32_t i = 0; i < count && i < MOTE_USAGE_LINES; i++) {
        if (strcmp(lines[i].name, structure) == 0) return lines[i].peak_bytes;
    }
    return 0;
}

/* Whether the GPU decoded anything since the last call; alone: and the cores nothing. */
static bool did_decode(mote_context *gpu, bool alone) {
    const bool did = peak_of(gpu, "LAZ models") > 0 && (!alone || peak_of(gpu, "LAZ decoder") == 0);
    mote_context_memory_peak_reset(gpu);
    return did;
}

static mote_status check(readers *on, const char *path, const mote_read_params *params) {
    return check_path(on->cpu, on->gpu, on->l, path, params, &limits);
}

static void check_file(readers *on, const laz_made *m, const mote_read_params *params) {
    const char *const path = test_path("made.laz");
    test_write_file(path, m->file.data, m->file.size);
    assert_int_equal(check(on, path, params), MOTE_OK);
    assert_true(did_decode(on->gpu, true));
}

/* ---- all items */

static uint32_t kind_made;

static void make_kind(uint8_t *records, uint64_t count, uint32_t format, uint32_t record_bytes) {
    laz_make_kind(records, (uint32_t)count, record_bytes, format, kind_made);
}

static void all_items(void **state) {
    readers *on = *state;
    const mote_read_params params = to_device();
    const uint32_t points = (uint32_t)parity_extent(120, 300, 3000);
    for (uint32_t format = 6; format < LAS_FORMATS; format++) {
        for (kind_made = 0; kind_made < KINDS; kind_made++) {
            for (uint32_t version = 3; version <= 4; version++) {
                laz_made m = laz_make_of(on->cpu, format, 3 * (version - 3), points, 100, version, make_kind);
                check_file(on, &m, &params);
                laz_free_made(&m);
            }
        }
    }
}

static void make_tame_records(uint8_t *records, uint64_t count, uint32_t format, uint32_t record_bytes) {
    laz_make_records(records, count, format, record_bytes);
}

/* Times from four sequences that take turns, and some from nowhere; coordinates that jump over the whole range. */
static void make_jumps(uint8_t *records, uint64_t count, uint32_t format, uint32_t record_bytes) {
    static const uint32_t edges[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF};
    double times[] = {1e5, 2e8, 3e3, 4e9};
    laz_make_records(records, count, format, record_bytes);
    for (uint64_t i = 0; i < count; i++, records += record_bytes) {
        const uint32_t pick = laz_random_bits() % 4;
        times[pick] += 1e-3 * (laz_random_bits() % 40) - 5e-3;
        if (laz_random_bits() % 20 == 0) times[pick] = laz_random_bits();
        if (mote_las_has_gps_time(format) && i % 5 > 0) memcpy(records + 20, &times[pick], 8);
        for (uint32_t k = 0; k < 3 && i % 3 == 0; k++) memcpy(records + 4 * k, &edges[laz_random_bits() % 6], 4);
        records[14] = (uint8_t)laz_random_bits();
    }
}

static void formats_0_to_5(void **state) {
    readers *on = *state;
    const mote_read_params params = to_device();
    const uint32_t points = (uint32_t)parity_extent(120, 400, 3000);
    laz_records_maker *const makers[] = {make_tame_records, make_jumps};
    for (uint32_t format = 0; format < 6; format++) {
        for (uint32_t m = 0; m < 2; m++) {
            laz_made made = laz_make_of(on->cpu, format, format * 2, points, 100, 0, makers[m]);
            check_file(on, &made, &params);
            laz_free_made(&made);
        }
    }
}

static void all_sizes_of_chunks(void **state) {
    readers *on = *state;
    const mote_read_params params = to_device();
    static const struct {
        uint32_t points, chunk_points;
    } cases[] = {{1, 1}, {20, 1}, {33, 2}, {64, 31}, {99, 33}, {520, 255}, {1300, LAZ_VARIABLE}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        for (uint32_t format = 3; format < LAS_FORMATS; format += 3) {
            laz_made m = laz_make(on->cpu, format, 1, cases[c].points, cases[c].chunk_points);
            check_file(on, &m, &params);
            laz_free_made(&m);
        }
    }
}

/* A chunk has so many points that its models halve their counts. */
static void long_chunks(void **state) {
    readers *on = *state;
    const mote_read_params params = to_device();
    for (uint32_t format = 3; format < 8; format += 4) {
        laz_made m = laz_make(on->cpu, format, 0, parity_extent(2500, 15000, 120000), 40000);
        check_file(on, &m, &params);
        laz_free_made(&m);
    }
}

/* Files whose layers are mostly empty, and one point that is not like the others. */
static void parts_of_records(void **state) {
    readers *on = *state;
    static const char *const selections[] = {
        "x,y,z", "intensity,classification,red", "gps_time", "scanner_channel", "nir,green", "z,user_data,extra"};
    mote_read_params params = to_device();
    for (kind_made = SURVEY; kind_made <= CONSTANT; kind_made++) {
        laz_made m = laz_make_of(on->cpu, 8, 2, 250, 100, 3 + kind_made, make_kind);
        for (size_t s = 0; s < sizeof selections / sizeof selections[0]; s++) {
            params.select = selections[s];
            check_file(on, &m, &params);
        }
        laz_free_made(&m);
    }
    laz_made m = laz_make(on->cpu, 5, 2, 250, 100);
    for (size_t s = 0; s < sizeof selections / sizeof selections[0]; s++) {
        params.select = selections[s];
        if (s != 3) check_file(on, &m, &params); /* it has no scanner channel */
    }
    laz_free_made(&m);
}

/* ---- real files */

static bool has_old_items(const char *items) {
    return strstr(items, "POINT10 v1") != NULL || strstr(items, "RGB12 v1") != NULL ||
           strstr(items, "GPSTIME11 v1") != NULL || strstr(items, "BYTE v1") != NULL;
}

/* Whether the GPU decodes its chunks. */
static bool is_known(mote_context *ctx, const char *path, uint64_t *points) {
    mote_las_facts facts = {0};
    mote_cloud *cloud = NULL;
    bool known = false;
    *points = 0;
    if (mote_cloud_read(ctx, path, NULL, &cloud) == MOTE_OK) {
        *points = mote_cloud_count(cloud);
        known = mote_cloud_las_facts(cloud, &facts) &&
                (facts.compressor == LAZ_LAYERED ||
                 (facts.compressor == LAZ_POINTWISE_CHUNK && !has_old_items(facts.items)));
    }
    mote_cloud_destroy(cloud);
    mote_context_clear(ctx);
    return known;
}

static int check_folder(readers *on, const char *name, uint64_t max_points) {
    char folder[4096], path[4500];
    const mote_read_params params = to_device();
    uint64_t points;
    int files = 0;
    snprintf(folder, sizeof folder, "%s", test_data(name));
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        const size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".laz") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!is_known(on->cpu, path, &points) || points > max_points) continue;
        assert_int_equal(check(on, path, &params), MOTE_OK);
        assert_int_equal(did_decode(on->gpu, true), points > 0);
        files++;
    }
    closedir(entries);
    return files;
}

static void real_files(void **state) {
    readers *on = *state;
    if (test_data("laz") == NULL) skip();
    const uint64_t max_points = parity_extent(1100, 20000, UINT64_MAX);
    assert_true(check_folder(on, "laz", max_points) >= 15);
    assert_true(check_folder(on, "copc", max_points) >= 3);
}

/* Nodes of an octree: chunks in another order than that of the file. */
static void nodes_of_an_octree(void **state) {
    readers *on = *state;
    const char *const name = parity_extent(0, 1, 1) == 1 ? "copc/ellipsoid.copc.laz" : "copc/simple.copc.laz";
    if (test_data(name) == NULL) skip();
    mote_read_params params = to_device();
    params.resolution = parity_extent(0, 0, 1) == 1 ? 0.5 : 5;
    assert_int_equal(check(on, test_data(name), &params), MOTE_OK);
    assert_true(did_decode(on->gpu, true));
}

/* ---- damage */

static void broken_files(void **state) {
    readers *on = *state;
    if (test_data("broken") == NULL) skip();
    char folder[4096], path[4500];
    snprintf(folder, sizeof folder, "%s", test_data("broken"));
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    int failures = 0;
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        const size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".laz") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        mote_read_params params = to_device();
        failures += check(on, path, &params) != MOTE_OK;
        params.salvage = true;
        check(on, path, &params);
    }
    closedir(entries);
    assert_true(failures >= 5);
}

static void cut_files(void **state) {
    readers *on = *state;
    mote_read_params params = to_device();
    const char *const cut = test_path("cut");
    const size_t cuts = parity_extent(7, 25, 97);
    int failures = 0;
    for (uint32_t format = 3; format < 8; format += 4) {
        laz_made m = laz_make(on->cpu, format, 1, 500, 100);
        for (size_t size = 0; size < m.file.size; size += 1 + m.file.size / cuts) {
            test_write_file(cut, m.file.data, size);
            params.salvage = false;
            failures += check(on, cut, &params) != MOTE_OK;
            params.salvage = true;
            check(on, cut, &params);
        }
        laz_free_made(&m);
    }
    assert_true(failures > 0);
}

/* Turned bits, wild sizes of layers and another count, in one chunk or several. */
static void damage(readers *on, uint32_t format, uint32_t turns) {
    const char *const path = test_path("damaged.laz");
    laz_made m = laz_make(on->cpu, format, 2, 300, 50);
    uint8_t *data = malloc(m.file.size);
    int failures = 0;
    for (uint32_t turn = 0; turn < turns; turn++) {
        memcpy(data, m.file.data, m.file.size);
        for (uint32_t n = 0; n <= turn % 3; n++) {
            const uint32_t chunk = laz_random_bits() % m.chunks;
            const uint64_t size = m.chunk_at[chunk + 1] - m.chunk_at[chunk];
            uint8_t *bytes = data + m.chunk_at[chunk];
            if (turn % 5 == 0) {
                memset(bytes + m.record_bytes + 4 * (laz_random_bits() % 15), (int)laz_random_bits(), 1 + turn % 4);
            } else {
                bytes[laz_random_bits() % size] ^= (uint8_t)(1u << turn % 8);
            }
        }
        test_write_file(path, data, m.file.size);
        mote_read_params params = to_device();
        failures += check(on, path, &params) == MOTE_ERROR_DATA;
        params.salvage = turn % 2 == 0;
        if (params.salvage) check(on, path, &params);
    }
    assert_true(failures > (int)turns / 3);
    free(data);
    laz_free_made(&m);
}

static void damaged_chunks(void **state) {
    damage(*state, 10, (uint32_t)parity_extent(7, 40, 1500));
    damage(*state, 5, (uint32_t)parity_extent(7, 40, 1500));
}

/* Bytes of layers that are noise: nothing ends where it should, nothing hangs. */
static void noise(void **state) {
    readers *on = *state;
    const mote_read_params params = to_device();
    laz_made made[] = {laz_make(on->cpu, 10, 2, 300, 100), laz_make(on->cpu, 5, 2, 300, 100)};
    for (uint32_t turn = 0; turn < parity_extent(4, 8, 200); turn++) {
        const laz_made m = made[turn / 2 % 2];
        for (uint32_t chunk = 0; chunk < m.chunks; chunk++) {
            const uint64_t first = m.chunk_at[chunk] + m.record_bytes + (m.format < 6 ? 0 : 4 + 4 * 15);
            for (uint64_t at = first; at < m.chunk_at[chunk + 1]; at++) {
                m.file.data[at] = turn % 2 == 0 ? (uint8_t)laz_random_bits() : 0xFF;
            }
        }
        test_write_file(test_path("noise.laz"), m.file.data, m.file.size);
        assert_int_equal(check(on, test_path("noise.laz"), &params), MOTE_ERROR_DATA);
        assert_true(did_decode(on->gpu, false));
    }
    laz_free_made(&made[0]);
    laz_free_made(&made[1]);
}

/* ---- memory */

/* Under a limit chunks go in waves; under a lower one the cores decode them. Points are the same. */
static void little_memory(void **state) {
    readers *on = *state;
    laz_made m = laz_make(on->cpu, 6, 0, 250, 4);
    const mote_read_params params = to_device();
    test_write_file(test_path("made.laz"), m.file.data, m.file.size);
    assert_int_equal(check(on, test_path("made.laz"), &params), MOTE_OK);
    const uint64_t whole = peak_of(on->gpu, "LAZ models");
    assert_true(whole > 32u << 20);
    for (uint32_t part = 1; part <= 4; part++) {
        listener l[2];
        mote_context_params limited = params_for(MOTE_DEVICE_CUDA, 2, &l[1]);
        limited.memory_limit_bytes = whole * part / 4 + (part == 4 ? whole : 16u << 20);
        mote_context *gpu = NULL;
        assert_int_equal(mote_context_create(&limited, &gpu), MOTE_OK);
        mote_context *cpu = context_for(MOTE_DEVICE_CPU, 2, &l[0]);
        assert_int_equal(check_path(cpu, gpu, l, test_path("made.laz"), &params, &limits), MOTE_OK);
        const uint64_t peak = peak_of(gpu, "LAZ models");
        if (part == 1) assert_int_equal(peak, 0);
        if (part == 3) assert_in_range(peak, 1, whole - 1);
        if (part == 4) assert_int_equal(peak, whole);
        mote_context_destroy(gpu);
        mote_context_destroy(cpu);
    }
    laz_free_made(&m);
}

int main(void) {
    if (!parity_can_run()) return PARITY_SKIPPED;
    const struct CMUnitTest tests[] = {
        READ_TEST(all_items),
        READ_TEST(formats_0_to_5),
        READ_TEST(all_sizes_of_chunks),
        READ_TEST(long_chunks),
        READ_TEST(parts_of_records),
        READ_TEST(real_files),
        READ_TEST(nodes_of_an_octree),
        READ_TEST(broken_files),
        READ_TEST(cut_files),
        READ_TEST(damaged_chunks),
        READ_TEST(noise),
        READ_TEST(little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

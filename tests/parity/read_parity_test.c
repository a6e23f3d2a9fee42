/* Reading into the memory of a GPU gives what reading onto the host gives: points, everything around them, failures. */
#define _GNU_SOURCE /* truncate */
#include <dirent.h>
#include <unistd.h>

#include "device/backend.h"
#include "device/cuda/cuda.h"
#include "io/las/las_upload.h"
#include "parity/parity_support.h"
#include "parity/read_support.h"
#include "support/laz_files.h"

/* Buffers for a few points each; what is larger goes through ordinary memory. */
static const las_upload_limits tiny = {.buffers = 4096, .before_warm_up = 1000, .block = 100};
static const las_upload_limits by_gpu = {
    .buffers = 4096, .before_warm_up = 1000, .block = 100, .chunks = 1, .streams = 1};
static const las_upload_limits small = {.buffers = 256u << 10, .before_warm_up = 100u << 10, .block = 3000};

/* ---- what is whole */

static void check_made(mote_context *cpu, mote_context *gpu, listener *l, const laz_made *m) {
    static const las_upload_limits *const limits[] = {&tiny, &small};
    const mote_read_params params = to_device();
    const char *const laz = test_path("made.laz"), *const las = test_path("made.las");
    test_write_file(laz, m->file.data, m->file.size);
    mote_cloud *cloud = read_ok(cpu, laz);
    write_ok(cpu, cloud, las, NULL);
    mote_cloud_destroy(cloud);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(check_path(cpu, gpu, l, laz, &params, limits[i]), MOTE_OK);
        assert_int_equal(check_path(cpu, gpu, l, las, &params, limits[i]), MOTE_OK);
    }
}

static void all_formats(void **state) {
    (void)state;
    static const struct {
        uint64_t points;
        uint32_t chunk_points, extra;
        int threads;
    } cases[] = {{0, 100, 0, 2}, {1, 100, 3, 2}, {2500, 100, 0, 1}, {2501, 100, 5, 4}, {2500, LAZ_VARIABLE, 0, 3}};
    const uint32_t step = (uint32_t)parity_extent(3, 1, 1); /* watched, each format in some of the cases */
    for (uint32_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        listener l[2];
        mote_context *cpu = context_for(MOTE_DEVICE_CPU, cases[c].threads, &l[0]);
        mote_context *gpu = context_for(MOTE_DEVICE_CUDA, cases[c].threads, &l[1]);
        for (uint32_t format = c % step; format < LAS_FORMATS; format += step) {
            laz_made m = laz_make(cpu, format, cases[c].extra, cases[c].points, cases[c].chunk_points);
            check_made(cpu, gpu, l, &m);
            laz_free_made(&m);
        }
        mote_context_destroy(gpu);
        mote_context_destroy(cpu);
    }
}

static int check_folder(mote_context *cpu, mote_context *gpu, listener *l, const char *name) {
    char folder[4096], path[4500];
    const mote_read_params params = to_device();
    const las_upload_limits usual = las_upload_defaults(gpu);
    int files = 0;
    snprintf(folder, sizeof folder, "%s", test_data(name));
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        assert_int_equal(check_path(cpu, gpu, l, path, &params, files % 2 != 0 ? &small : &usual), MOTE_OK);
        files++;
    }
    closedir(entries);
    return files;
}

static void real_files(void **state) {
    (void)state;
    if (test_data("las") == NULL) skip();
    listener l[2];
    mote_context *cpu = context_for(MOTE_DEVICE_CPU, 2, &l[0]), *gpu = context_for(MOTE_DEVICE_CUDA, 2, &l[1]);
    assert_true(check_folder(cpu, gpu, l, "las") > 40);
    assert_true(check_folder(cpu, gpu, l, "laz") > 30);
    mote_context_destroy(gpu);
    mote_context_destroy(cpu);
}

static void parts_of_files(void **state) {
    (void)state;
    listener l[2];
    mote_context *cpu = context_for(MOTE_DEVICE_CPU, 3, &l[0]), *gpu = context_for(MOTE_DEVICE_CUDA, 3, &l[1]);
    mote_read_params params = to_device();
    params.select = "intensity,classification,red";
    laz_made m = laz_make(cpu, 7, 0, 2500, 100);
    test_write_file(test_path("made.laz"), m.file.data, m.file.size);
    mote_cloud *cloud = read_ok(cpu, test_path("made.laz"));
    write_ok(cpu, cloud, test_path("made.las"), NULL);
    mote_cloud_destroy(cloud);
    assert_int_equal(check_path(cpu, gpu, l, test_path("made.laz"), &params, &small), MOTE_OK);
    assert_int_equal(check_path(cpu, gpu, l, test_path("made.las"), &params, &small), MOTE_OK);
    if (test_data("copc/lone-star.copc.laz") != NULL) {
        params = to_device();
        params.resolution = 0.5;
        assert_int_equal(check_path(cpu, gpu, l, test_data("copc/lone-star.copc.laz"), &params, &small), MOTE_OK);
    }
    laz_free_made(&m);
    mote_context_destroy(gpu);
    mote_context_destroy(cpu);
}

static void what_stays_on_the_host(void **state) {
    (void)state;
    listener l;
    mote_context *gpu = context_for(MOTE_DEVICE_CUDA, 2, &l);
    mote_read_params params = to_device();
    const mote_box everywhere = {{-1e9, -1e9, -1e9}, {1e9, 1e9, 1e9}};
    laz_made m = laz_make(gpu, 3, 0, 250, 100);
    const char *const paths[] = {test_path("a.laz"), test_path("b.laz")};
    for (int i = 0; i < 2; i++) test_write_file(paths[i], m.file.data, m.file.size);
    mote_cloud *cloud = NULL;
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    assert_int_equal(mote_cloud_read_many(gpu, paths, 1, &params, &cloud), MOTE_OK);
    assert_true(mote_cloud_on_device(cloud));
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_cloud_read_many(gpu, paths, 2, &params, &cloud), MOTE_OK);
    assert_false(mote_cloud_on_device(cloud));
    assert_int_equal(mote_cloud_count(cloud), 500);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_reader_open(gpu, paths[0], &params, &reader), MOTE_OK);
    assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
    assert_false(mote_cloud_on_device(piece));
    mote_reader_close(reader);
    params.bounds = &everywhere;
    assert_int_equal(mote_cloud_read(gpu, paths[0], &params, &cloud), MOTE_OK);
    assert_false(mote_cloud_on_device(cloud));
    mote_cloud_destroy(cloud);
    laz_free_made(&m);
    mote_context_destroy(gpu);
}

/* ---- what is not */

static void check_cuts(mote_context *cpu, mote_context *gpu, listener *l, const char *path, mote_read_params params) {
    const file_bytes whole = load(path);
    const char *const cut = test_path("cut");
    int failures = 0;
    for (size_t size = 0; size < whole.size; size += 1 + whole.size / parity_extent(31, 97, 97)) {
        test_write_file(cut, whole.data, size);
        failures += check_path(cpu, gpu, l, cut, &params, &small) != MOTE_OK;
    }
    assert_true(failures > 0);
    free(whole.data);
}

static void cut_files(void **state) {
    (void)state;
    listener l[2];
    mote_context *cpu = context_for(MOTE_DEVICE_CPU, 3, &l[0]), *gpu = context_for(MOTE_DEVICE_CUDA, 3, &l[1]);
    static const uint32_t formats[] = {3, 7};
    for (size_t f = 0; f < 2; f++) {
        mote_read_params params = to_device();
        laz_made m = laz_make(cpu, formats[f], 0, 2500, 100);
        test_write_file(test_path("made.laz"), m.file.data, m.file.size);
        mote_cloud *cloud = read_ok(cpu, test_path("made.laz"));
        write_ok(cpu, cloud, test_path("made.las"), NULL);
        mote_cloud_destroy(cloud);
        check_cuts(cpu, gpu, l, test_path("made.las"), params);
        check_cuts(cpu, gpu, l, test_path("made.laz"), params);
        params.salvage = true;
        check_cuts(cpu, gpu, l, test_path("made.laz"), params);
        laz_free_made(&m);
    }
    mote_context_destroy(gpu);
    mote_context_destroy(cpu);
}

/* Several damaged chunks: the first one is told, whichever thread found which. */
static void damaged_chunks(void **state) {
    (void)state;
    listener l[2];
    mote_context *cpu = context_for(MOTE_DEVICE_CPU, 4, &l[0]), *gpu = context_for(MOTE_DEVICE_CUDA, 4, &l[1]);
    laz_made m = laz_make(cpu, 7, 2, 2500, 100);
    int failures = 0;
    for (uint32_t first = 0; first < m.chunks; first += 3) {
        uint8_t *data = malloc(m.file.size);
        memcpy(data, m.file.data, m.file.size);
        /* The first layer's size is beyond the chunk's end: one of the places where any value is noticed. */
        for (uint32_t chunk = first; chunk < m.chunks; chunk += 5) {
            memset(data + m.chunk_at[chunk] + m.record_bytes + 4, 0xFF, 4);
        }
        test_write_file(test_path("damaged.laz"), data, m.file.size);
        mote_read_params params = to_device();
        failures += check_path(cpu, gpu, l, test_path("damaged.laz"), &params, &small) == MOTE_ERROR_DATA;
        params.salvage = true;
        check_path(cpu, gpu, l, test_path("damaged.laz"), &params, &tiny);
        free(data);
    }
    assert_int_equal(failures, (m.chunks + 2) / 3);
    laz_free_made(&m);
    mote_context_destroy(gpu);
    mote_context_destroy(cpu);
}

static void a_file_that_becomes_shorter(void **state) {
    (void)state;
    listener l;
    mote_context *gpu = context_for(MOTE_DEVICE_CUDA, 2, &l);
    laz_made m = laz_make(gpu, 3, 0, 2500, 100);
    test_write_file(test_path("made.laz"), m.file.data, m.file.size);
    mote_cloud *cloud = read_ok(gpu, test_path("made.laz"));
    write_ok(gpu, cloud, test_path("short.las"), NULL);
    mote_cloud_destroy(cloud);
    mote_input input;
    const mote_read_params params = to_device();
    assert_int_equal(mote_input_open(gpu, test_path("short.las"), &input), MOTE_OK);
    assert_int_equal(truncate(input.path, 40000), 0);
    assert_int_equal(mote_las_read_by(gpu, &input, &params, &small, &cloud), MOTE_ERROR_CHANGED);
    assert_null(cloud);
    assert_non_null(strstr(mote_context_message(gpu), "offset 40000: the file became shorter"));
    mote_context_clear(gpu); /* and so it is for a thread that begins behind the end */
    uint8_t behind[10];
    assert_int_equal(mote_input_copy(gpu, &input, 60000, sizeof behind, behind), MOTE_ERROR_CHANGED);
    assert_non_null(strstr(mote_context_message(gpu), "offset 40000: the file became shorter"));
    mote_input_close(gpu, &input);
    assert_int_equal(mote_context_device_bytes(gpu), 0);
    laz_free_made(&m);
    mote_context_destroy(gpu);
}

/* ---- memory and cancelling */

/* A context that a test may make fail; NULL where that fails its making. */
static mote_context *fragile_context(const mote_context_params *params) {
    mote_context *ctx = NULL;
    const mote_status status = mote_context_create(params, &ctx);
    if (status != MOTE_OK) assert_null(ctx);
    return ctx;
}

static void *failing_allocate(void *user, size_t size_bytes) {
    test_allocator *allocator = user;
    const long call = __atomic_add_fetch(&allocator->calls, 1, __ATOMIC_RELAXED);
    if (call == allocator->fail_at) return NULL;
    __atomic_add_fetch(&allocator->open, 1, __ATOMIC_RELAXED);
    return aligned_alloc(64, (size_bytes + 63) / 64 * 64);
}

static void failing_release(void *user, void *memory, size_t size_bytes) {
    test_allocator *allocator = user;
    (void)size_bytes;
    __atomic_sub_fetch(&allocator->open, 1, __ATOMIC_RELAXED);
    free(memory);
}

static void each_allocation_fails(const char *path, const las_upload_limits *limits) {
    const mote_read_params reading = to_device();
    mote_status status = MOTE_ERROR_MEMORY;
    for (long n = 1; status != MOTE_OK; n++) {
        listener l;
        test_allocator allocator = {.fail_at = n};
        mote_context_params params = params_for(MOTE_DEVICE_CUDA, 3, &l);
        params.allocator = (mote_allocator){&allocator, failing_allocate, failing_release};
        mote_context *ctx = fragile_context(&params);
        if (ctx == NULL) continue;
        mote_cloud *cloud = NULL;
        status = read_by(ctx, path, &reading, limits, &cloud);
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        assert_int_equal(cloud != NULL, status == MOTE_OK);
        assert_int_equal(status == MOTE_OK, allocator.calls < n);
        if (cloud != NULL) assert_true(mote_cloud_on_device(cloud));
        mote_cloud_destroy(cloud);
        assert_int_equal(mote_context_device_bytes(ctx), 0);
        mote_context_destroy(ctx);
        assert_int_equal(allocator.open, 0);
        assert_true(n < 10000);
    }
}

static void each_step_cancels(const char *path, const las_upload_limits *limits) {
    const mote_read_params reading = to_device();
    mote_status status = MOTE_CANCELLED;
    long n = 0;
    for (; status != MOTE_OK; n++) {
        listener l;
        mote_context *ctx = context_for(MOTE_DEVICE_CUDA, 3, &l);
        l.calls_left = n;
        mote_cloud *cloud = NULL;
        status = read_by(ctx, path, &reading, limits, &cloud);
        assert_true(status == MOTE_OK || status == MOTE_CANCELLED);
        assert_int_equal(cloud != NULL, status == MOTE_OK);
        mote_cloud_destroy(cloud);
        assert_int_equal(mote_context_device_bytes(ctx), 0);
        mote_context_destroy(ctx);
    }
    assert_true(n > 1);
}

static void under_limits(const char *path, uint64_t points_bytes) {
    const mote_read_params reading = to_device();
    for (uint64_t limit = 1000; limit < 8 * points_bytes; limit += limit / 3) {
        listener l;
        mote_context_params params = params_for(MOTE_DEVICE_CUDA, 3, &l);
        params.memory_limit_bytes = limit;
        mote_context *ctx = fragile_context(&params);
        if (ctx == NULL) continue;
        const las_upload_limits usual = las_upload_defaults(ctx);
        mote_cloud *cloud = NULL;
        const mote_status status = read_by(ctx, path, &reading, &usual, &cloud);
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        if (limit < points_bytes && cloud != NULL) assert_false(mote_cloud_on_device(cloud));
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

static void failures_leave_nothing(void **state) {
    (void)state;
    listener l;
    mote_context *cpu = context_for(MOTE_DEVICE_CPU, 2, &l);
    laz_made m = laz_make(cpu, 7, 0, 2500, 100);
    const char *const laz = test_path("whole.laz"), *const las = test_path("whole.las");
    test_write_file(laz, m.file.data, m.file.size);
    mote_cloud *cloud = read_ok(cpu, laz);
    write_ok(cpu, cloud, las, NULL);
    mote_cloud_destroy(cloud);
    each_allocation_fails(laz, &small);
    each_allocation_fails(laz, &tiny);
    each_allocation_fails(las, &small);
    each_step_cancels(laz, &small);
    each_step_cancels(las, &small);
    laz_made few = laz_make(cpu, 7, 0, 150, 50);
    test_write_file(test_path("few.laz"), few.file.data, few.file.size);
    each_allocation_fails(test_path("few.laz"), &by_gpu);
    each_step_cancels(test_path("few.laz"), &by_gpu);
    laz_free_made(&few);
    mote_context_destroy(cpu);
    under_limits(laz, m.points * m.record_bytes);
    under_limits(las, m.points * m.record_bytes);
    laz_free_made(&m);
}

/* ---- waking */

/* So many points that the GPU is woken for them: chunks are decoded meanwhile, more than may wait in ordinary
   memory. */
static void the_gpu_is_woken_for_many(void **state) {
    (void)state;
    listener l[2];
    mote_context *cpu = context_for(MOTE_DEVICE_CPU, 3, &l[0]);
    laz_made m = laz_make(cpu, 0, 0, 4100000, 65000);
    const char *const laz = test_path("many.laz"), *const las = test_path("many.las");
    test_write_file(laz, m.file.data, m.file.size);
    mote_cloud *cloud = read_ok(cpu, laz);
    write_ok(cpu, cloud, las, NULL);
    mote_cloud_destroy(cloud);
    const uint64_t group = 2ull * 65000 * m.record_bytes;
    const las_upload_limits limits[] = {
        {16 * group, 1ull << 30, 100000, 0, 0}, {16 * group, 3 * group, 1u << 20, 0, 0}, tiny};
    const mote_read_params params = to_device();
    for (size_t i = parity_extent(2, 0, 0); i < 3; i++) {
        mote_context *gpu = context_for(MOTE_DEVICE_AUTO, 3, &l[1]);
        assert_int_equal(check_path(cpu, gpu, l, laz, &params, &limits[i]), MOTE_OK);
        assert_string_equal(mote_context_backend(gpu), "cuda");
        mote_context_destroy(gpu);
    }
    mote_context *gpu = context_for(MOTE_DEVICE_AUTO, 3, &l[1]);
    assert_int_equal(check_path(cpu, gpu, l, las, &params, &limits[0]), MOTE_OK);
    mote_context_destroy(gpu);
    laz_free_made(&m);
    mote_context_destroy(cpu);
}

static void the_gpu_sleeps_on(void **state) {
    (void)state;
    listener l;
    mote_context *ctx = context_for(MOTE_DEVICE_AUTO, 2, &l);
    laz_made m = laz_make(ctx, 3, 0, 250, 100);
    const mote_read_params params = to_device();
    test_write_file(test_path("few.laz"), m.file.data, m.file.size);
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_read(ctx, test_path("few.laz"), &params, &cloud), MOTE_OK);
    assert_false(mote_cloud_on_device(cloud));
    assert_int_not_equal(ctx->devices[1].state, DEVICE_OPEN);
    mote_cloud_destroy(cloud);
    laz_free_made(&m);
    mote_context_destroy(ctx);
}

/* Woken, and then nobody asks for it. */
static void a_context_ends_while_it_wakes(void **state) {
    (void)state;
    listener l;
    mote_context *ctx = context_for(MOTE_DEVICE_AUTO, 2, &l);
    assert_non_null(mote_device_warm_up(ctx, MOTE_GPU_POINTS));
    assert_non_null(mote_device_warm_up(ctx, MOTE_GPU_POINTS));
    assert_null(mote_device_warm_up(ctx, MOTE_GPU_POINTS - 1));
    mote_context_destroy(ctx);
}

int main(void) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.device = MOTE_DEVICE_CUDA;
    if (mote_context_create(&params, &ctx) != MOTE_OK) {
        print_message("[  SKIPPED ] no GPU answers\n");
        return 77; /* counts as skipped */
    }
    mote_context_destroy(ctx);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_formats),
        cmocka_unit_test(real_files),
        cmocka_unit_test(parts_of_files),
        cmocka_unit_test(what_stays_on_the_host),
        cmocka_unit_test(cut_files),
        cmocka_unit_test(damaged_chunks),
        cmocka_unit_test(a_file_that_becomes_shorter),
        cmocka_unit_test(failures_leave_nothing),
        cmocka_unit_test(the_gpu_is_woken_for_many),
        cmocka_unit_test(the_gpu_sleeps_on),
        cmocka_unit_test(a_context_ends_while_it_wakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

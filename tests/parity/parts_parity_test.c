/* Octrees in parts on one GPU and on several are those of the CPU, byte for byte; so is a cloud that is larger than
   what each of several GPUs may hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parity/parity_support.h"
#include "reference/potree_reference.h"
#include "support/parts_clouds.h"
#include "support/support.h"

#define GPUS_MAX 3u

static uint32_t gpu_count;

/* A context of the first GPUs. */
static mote_context *context_of(uint32_t gpus, uint64_t memory_limit_bytes) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.device = MOTE_DEVICE_CUDA;
    params.gpus = (1ull << gpus) - 1;
    params.threads = 2;
    params.memory_limit_bytes = memory_limit_bytes;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

static void in_parts(mote_context *ctx, const char *path, const mote_lod_params *params, uint64_t part_points,
                     uint64_t workers, mote_parts_report *report, const char *folder) {
    mote_parts_params parts = mote_parts_defaults();
    mote_potree_params potree = mote_potree_defaults();
    potree.name = "parts";
    parts.part_points = part_points;
    parts.workers = workers;
    if (mote_lod_write_parts(ctx, &path, 1, NULL, params, folder, &potree, &parts, report) != MOTE_OK) {
        fail_msg("%s", mote_context_message(ctx));
    }
    assert_string_equal(mote_context_backend(ctx), "cuda");
}

/* Every kind, schemes and samplings in turn. */
static void gpus_make_the_same(void **state) {
    (void)state;
    mote_context *cpu = parity_cpu_context();
    char one[512], many[512];
    snprintf(one, sizeof one, "%s", test_path("parts_parity_one"));
    snprintf(many, sizeof many, "%s", test_path("parts_parity_many"));
    const uint32_t step = (uint32_t)parity_extent(4, 1, 1), turn = (uint32_t)test_turn(step);
    for (uint32_t k = 0; k < PARTS_KINDS; k++) {
        const parts_kind *kind = &parts_kinds[k];
        const parts_inputs inputs = {{parts_cloud_file(cpu, kind, "las")}, 1};
        for (uint32_t variant = (k + turn) % step; variant < 4; variant += step) {
            if (!parity_is_mine()) continue;
            mote_lod_params params = mote_lod_defaults();
            params.merge_points = variant % 2 ? 50 : 1000;
            params.sampling = variant == 2 ? MOTE_LOD_FIRST : MOTE_LOD_RANDOM;
            params.grid = variant == 1 ? 16 : 128;
            if (variant % 2 == 1) params.scheme = MOTE_LOD_REPLACING;
            if (variant == 3) params.filter = MOTE_LOD_FILTER_CELL;
            /* What chooses by the input's order, or averages cells, does not go below those of the root. */
            const uint64_t crowd = kind->equal > 3000 ? kind->equal : 3000;
            parts_in_one(cpu, &inputs, &params, one);
            for (uint32_t gpus = 1; gpus <= gpu_count; gpus++) {
                mote_parts_report report;
                mote_context *cuda = context_of(gpus, 0);
                in_parts(cuda, inputs.paths[0], &params, variant < 2 ? crowd : kind->points + 1, 0, &report, many);
                potree_reference_same_folders(one, many);
                /* Points of one code are in order as they are. */
                assert_true(mote_context_device_peak_bytes(cuda) > 0 || kind->points <= kind->equal + 1);
                assert_true(report.workers == (gpus < report.parts ? gpus : report.parts));
                mote_context_destroy(cuda);
            }
        }
    }
    mote_context_destroy(cpu);
}

/* Averages that look at points around a part are the cores' work, also where a GPU was asked for. */
static void averages_look_across_on_cores(void **state) {
    (void)state;
    mote_context *cpu = parity_cpu_context();
    char one[512], many[512];
    snprintf(one, sizeof one, "%s", test_path("parts_parity_one"));
    snprintf(many, sizeof many, "%s", test_path("parts_parity_many"));
    const parts_inputs inputs = {{parts_cloud_file(cpu, &parts_kinds[0], "las")}, 1};
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        mote_context *cuda = context_of(gpu_count, 0);
        mote_lod_params params = mote_lod_defaults();
        mote_parts_params parts = mote_parts_defaults();
        mote_potree_params potree = mote_potree_defaults();
        mote_parts_report report;
        params.scheme = MOTE_LOD_REPLACING;
        params.filter = gaussian ? MOTE_LOD_FILTER_GAUSSIAN : MOTE_LOD_FILTER_NEIGHBORS;
        parts.part_points = 9000;
        potree.name = "parts";
        parts_in_one(cpu, &inputs, &params, one);
        if (mote_lod_write_parts(cuda, inputs.paths, 1, NULL, &params, many, &potree, &parts, &report) != MOTE_OK) {
            fail_msg("%s", mote_context_message(cuda));
        }
        potree_reference_same_folders(one, many);
        assert_true(report.parts > 3);
        mote_context_destroy(cuda);
    }
    mote_context_destroy(cpu);
}

/* More workers than GPUs; and a part of which the GPU holds but a piece at a time. */
static void parts_may_exceed_a_gpu(void **state) {
    (void)state;
    mote_context *cpu = parity_cpu_context(), *cuda = context_of(gpu_count, 0);
    char one[512];
    snprintf(one, sizeof one, "%s", test_path("parts_parity_one"));
    const parts_inputs inputs = {{parts_cloud_file(cpu, &parts_kinds[0], "las")}, 1};
    mote_lod_params params = mote_lod_defaults();
    mote_parts_report report;
    params.merge_points = 100;
    params.grid = 16;
    parts_in_one(cpu, &inputs, &params, one);
    in_parts(cuda, inputs.paths[0], &params, 9000, gpu_count + 2, &report, test_path("parts_parity_many"));
    potree_reference_same_folders(one, test_path("parts_parity_many"));
    assert_int_equal(report.workers, gpu_count + 2);
    mote_context_destroy(cuda);
    mote_context_destroy(cpu);
}

/* A cloud in memory that no GPU holds by itself: the parts are shared out. */
static void gpus_share_a_cloud(void **state) {
    (void)state;
    static const char *const kinds[] = {"city", "clusters"};
    char why[PARITY_WHY_BYTES];
    mote_context *cpu = parity_cpu_context();
    for (uint32_t k = 0; k < 2; k++) {
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_generate(cpu, kinds[k], 300000, NULL, &cloud), MOTE_OK);
        for (uint32_t gpus = 1; gpus <= gpu_count; gpus++) {
            mote_context *cuda = context_of(gpus, 20u << 20);
            mote_lod_params params = mote_lod_defaults();
            mote_lod *a = NULL, *b = NULL;
            params.grid = 16;
            params.merge_points = 300;
            assert_int_equal(mote_lod_build(cpu, cloud, &params, &a), MOTE_OK);
            if (mote_lod_build(cuda, cloud, &params, &b) != MOTE_OK) fail_msg("%s", mote_context_message(cuda));
            assert_true(b->cuda == NULL);
            if (!parity_same_lods(a, b, false, why)) fail_msg("%s, %u GPUs: %s", kinds[k], gpus, why);
            mote_lod_destroy(a);
            mote_lod_destroy(b);
            mote_context_destroy(cuda);
        }
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(cpu);
}

/* A cloud of five times what the GPU may hold, in memory and as a file, while the host has enough: the bytes of the
   cores, within the limit. */
static void five_times_the_device_memory(void **state) {
    (void)state;
    mote_context *cpu = parity_cpu_context();
    mote_cloud *cloud = NULL;
    char path[512], one[512], many[512];
    mote_potree_params potree = mote_potree_defaults();
    mote_lod_params params = mote_lod_defaults();
    snprintf(path, sizeof path, "%s", test_path("parts_parity_five.las"));
    snprintf(one, sizeof one, "%s", test_path("parts_parity_one"));
    snprintf(many, sizeof many, "%s", test_path("parts_parity_many"));
    assert_int_equal(mote_generate(cpu, "city", 600000, NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_write(cpu, cloud, path, NULL), MOTE_OK);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_cloud_read(cpu, path, NULL, &cloud), MOTE_OK);
    const parts_inputs inputs = {{path}, 1};
    potree.name = "parts";
    parts_in_one(cpu, &inputs, &params, one);
    const uint64_t whole_bytes = 600000 * (36 + mote_lod_device_point_bytes(&params));
    /* In memory, by the GPU in pieces; in parts, each of which is made there with its records. */
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        mote_context_params context = mote_context_defaults();
        mote_context *cuda = NULL;
        mote_parts_report report;
        context.device = MOTE_DEVICE_CUDA;
        context.device_memory_limit_bytes = in_memory ? whole_bytes / 5 : (24u << 20) + whole_bytes / 5;
        assert_int_equal(mote_context_create(&context, &cuda), MOTE_OK);
        if (in_memory) {
            mote_lod *lod = NULL;
            if (mote_lod_build(cuda, cloud, &params, &lod) != MOTE_OK) fail_msg("%s", mote_context_message(cuda));
            assert_true(lod->cuda == NULL);
            assert_int_equal(mote_potree_write(cuda, lod, many, &potree, NULL), MOTE_OK);
            mote_lod_destroy(lod);
        } else {
            in_parts(cuda, path, &params, 0, 1, &report, many);
            assert_in_range(report.parts, 5, 7);
        }
        assert_in_range(mote_context_device_peak_bytes(cuda), whole_bytes / 32, context.device_memory_limit_bytes);
        potree_reference_same_folders(one, many);
        mote_context_destroy(cuda);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(cpu);
}

/* Not even one place fits. */
static void no_device_memory_says_what_would_do(void **state) {
    (void)state;
    mote_context *cpu = parity_cpu_context(), *cuda = NULL;
    mote_context_params context = mote_context_defaults();
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    context.device = MOTE_DEVICE_CUDA;
    context.device_memory_limit_bytes = 1u << 20;
    assert_int_equal(mote_context_create(&context, &cuda), MOTE_OK);
    assert_int_equal(mote_generate(cpu, "city", 50000, NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_lod_build(cuda, cloud, NULL, &lod), MOTE_ERROR_MEMORY);
    assert_non_null(strstr(mote_context_message(cuda), "would do"));
    mote_cloud_destroy(cloud);
    mote_context_destroy(cuda);
    mote_context_destroy(cpu);
}

static void refuses_gpus_that_are_not(void **state) {
    (void)state;
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.device = MOTE_DEVICE_CUDA;
    params.gpus = 1 | 1ull << 60;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_ERROR_UNSUPPORTED);
    params.gpus = UINT64_MAX;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_ERROR_ARGUMENT);
    params.gpus = 1;
    params.device = MOTE_DEVICE_CPU;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_ERROR_ARGUMENT);
    assert_null(ctx);
}

int main(void) {
    setenv("MOTE_EMULATOR_DEVICES", "3", 1);
    mote_context *cuda = parity_context(0);
    if (cuda == NULL) return PARITY_SKIPPED;
    mote_context_destroy(cuda);
    mote_device_info devices[1 + GPUS_MAX];
    gpu_count = mote_devices(devices, 1 + GPUS_MAX) - 1;
    if (gpu_count > GPUS_MAX) gpu_count = GPUS_MAX;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_make_the_same),
        cmocka_unit_test(averages_look_across_on_cores),
        cmocka_unit_test(parts_may_exceed_a_gpu),
        cmocka_unit_test(gpus_share_a_cloud),
        cmocka_unit_test(refuses_gpus_that_are_not),
        cmocka_unit_test(five_times_the_device_memory),
        cmocka_unit_test(no_device_memory_says_what_would_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

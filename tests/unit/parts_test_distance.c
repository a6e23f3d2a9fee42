/* Sampling by distance of parts: points keep their distance across borders as in one piece. */
#include <mote_have.h>
#include <stdio.h>
#include <string.h>

#include "parts_test.h"
#include "support/cloud_files.h"
#include "support/support.h"

#if MOTE_HAVE_JANSSON // as all that compares folders

/* Of how many points parts may be: at first so few; memory has to hold a place, a cell of the root's where cells are
   averaged, and what bears upon a point. */
static uint64_t find_size(mote_context *ctx, const char *path, const mote_lod_params *params, uint64_t size) {
    mote_parts_params parts = mote_parts_defaults();
    for (;; size *= 2) {
        parts.part_points = size;
        if (mote_lod_write_parts(ctx, &path, 1, NULL, params, test_path("parts_parts"), NULL, &parts, NULL) ==
            MOTE_OK) {
            return size;
        }
        assert_non_null(strstr(mote_context_message(ctx), "out of memory"));
        mote_context_clear(ctx);
    }
}

/* Wherever the borders are, and however few points memory holds at once: pieces have no more than parts do. */
void distances_of_parts(void **state) {
    (void)state;
    static const uint32_t grids[] = {128, 16, 64, 8};
    static const uint32_t merges[] = {50, 700, 200, 50, 700, 200, 50, 100};
    mote_context *ctx = test_context(2);
    uint32_t cuts = 0, fine = 0;
    const uint64_t step = test_watched(4, 3), turn = test_turn(step);
    for (uint64_t k = 0; k < PARTS_KINDS; k++) {
        const parts_inputs one = {{parts_cloud_file(ctx, &parts_kinds[k], k % 2 ? "las" : "laz")}, 1};
        for (uint64_t v = (k + turn) % step; v < 8; v += step) {
            mote_lod_params params = mote_lod_defaults();
            params.sampling = MOTE_LOD_POISSON;
            params.seed = k * 8 + v;
            params.grid = grids[v % 4];
            params.merge_points = merges[v];
            if (v > 4) params.scheme = MOTE_LOD_REPLACING;
            if (v == 6) params.filter = MOTE_LOD_FILTER_CELL;
            const uint64_t size = find_size(ctx, one.paths[0], &params, 2500 + (uint64_t)(test_random(k, v) * 9000));
            const mote_parts_report report = parts_compare(ctx, &one, &params, size, 1 + v % 3, 1);
            cuts += report.parts > 1;
            fine += report.parts > 1 && report.rounds == 2;
        }
    }
    print_message("%u of several parts, %u with fine codes\n", cuts, fine);
    assert_true(cuts > 2 && fine > 0);
    mote_context_destroy(ctx);
}

/* Nine decades of density, of one place with all others around it, of which a round reaches few levels. */
void distances_of_few_points(void **state) {
    (void)state;
    const parts_kind nine = {"nine", test_watched(8000, 20000), 0, 0, 9, false};
    const uint64_t sizes[] = {1200, 3000, 7000, nine.points - 1};
    mote_context *ctx = test_context(3);
    const parts_inputs one = {{parts_cloud_file(ctx, &nine, "las")}, 1};
    for (uint64_t s = test_turn(2); s < 4; s += 2) {
        mote_lod_params params = mote_lod_defaults();
        params.sampling = MOTE_LOD_POISSON;
        params.merge_points = 30;
        params.grid = s % 2 ? 32 : 128;
        parts_compare(ctx, &one, &params, sizes[s], 1, 2);
    }
    mote_context_destroy(ctx);
}

static mote_parts_params small_parts(void) {
    mote_parts_params parts = mote_parts_defaults();
    parts.part_points = 700;
    return parts;
}

static mote_lod_params small_nodes(void) {
    mote_lod_params params = mote_lod_defaults();
    params.merge_points = 20;
    params.grid = 16;
    params.sampling = MOTE_LOD_POISSON;
    return params;
}

static mote_status write_parts(mote_context *ctx, void *user) {
    const char *path = user;
    const mote_parts_params parts = small_parts();
    const mote_lod_params params = small_nodes();
    return mote_lod_write_parts(ctx, &path, 1, NULL, &params, test_path("parts_failed"), NULL, &parts, NULL);
}

/* How often progress of the sampling was another than before. */
typedef struct sampling_watch {
    double last;
    uint32_t steps;
    bool went_back;
} sampling_watch;

static bool watch_sampling(void *user, double done, const char *stage) {
    sampling_watch *watch = user;
    if (done < watch->last) watch->went_back = true;
    if (done > watch->last && strcmp(stage, "sampling") == 0) watch->steps++;
    watch->last = done;
    return true;
}

/* Sampling by distance takes the most time of all steps: whoever watches sees that it goes on. */
void distances_show_progress(void **state) {
    (void)state;
    const parts_kind six = {"six", 5000, 0, 0, 6, false};
    sampling_watch watch = {.last = 0};
    mote_context_params own = mote_context_defaults();
    mote_context *files = test_context(2), *ctx = NULL;
    const char *path = parts_cloud_file(files, &six, "las");
    own.threads = 2;
    own.progress = watch_sampling;
    own.progress_user = &watch;
    assert_int_equal(mote_context_create(&own, &ctx), MOTE_OK);
    assert_int_equal(write_parts(ctx, (void *)(uintptr_t)path), MOTE_OK);
    assert_false(watch.went_back);
    if (watch.steps < 20) fail_msg("%u steps of sampling", watch.steps);
    mote_context_destroy(ctx);
    mote_context_destroy(files);
}

static mote_status write_copc(mote_context *ctx, void *user) {
    const char *path = user;
    const mote_parts_params parts = small_parts();
    mote_lod_params params = small_nodes();
    params.max_node_points = 0;
    return mote_copc_write_parts(ctx, &path, 1, NULL, &params, test_path("parts_failed.copc.laz"), NULL, &parts, NULL);
}

void distances_survive_failures(void **state) {
    (void)state;
    const parts_kind few = {"few", test_watched(900, 1500), 0.01, 0, 0, false};
    mote_context *ctx = test_context(2);
    char path[512];
    snprintf(path, sizeof path, "%s", parts_cloud_file(ctx, &few, "las"));
    test_each_allocation_fails(write_parts, path);
    test_each_step_cancels(write_parts, path);
    test_each_allocation_fails(write_copc, path);
    mote_context_destroy(ctx);
}

#endif

/* Under AUTO, a GPU that has no memory for some work leaves it to the CPU, and says so, whichever work it is; where a
   GPU was asked for, it fails. */
#include <stdio.h>
#include <stdlib.h>

#include "core/cloud.h"
#include "device/backend.h"
#include "lod/lod_octree.h"
#include "mote/order.h"
#include "mote/planes.h"
#include "mote/render.h"
#include "parity/parity_support.h"
#include "render/renderer.h"

#define LIMIT_BYTES (64u << 20)

typedef struct told {
    uint32_t notes, warnings;
    char last[MOTE_MESSAGE_BYTES];
} told;

static void listen(void *user, mote_log_level level, const char *message) {
    told *t = user;
    t->notes += level == MOTE_LOG_NOTE;
    t->warnings += level == MOTE_LOG_WARNING;
    if (level == MOTE_LOG_NOTE) snprintf(t->last, sizeof t->last, "%s", message);
}

typedef struct bench {
    mote_context *ctx;
    void *ballast; /* all of the GPU's memory but some bytes */
    mote_cloud *cloud;
    told told;
} bench;

static void open_bench(bench *b, mote_device_kind device) {
    mote_context_params params = mote_context_defaults();
    memset(b, 0, sizeof *b);
    params.device = device;
    params.device_memory_limit_bytes = LIMIT_BYTES;
    params.threads = 2;
    params.log = listen;
    params.log_user = &b->told;
    assert_int_equal(mote_context_create(&params, &b->ctx), MOTE_OK);
    b->ballast = cuda_alloc(gpu_of(b->ctx), LIMIT_BYTES - 1000, "ballast");
    assert_non_null(b->ballast);
    assert_int_equal(mote_generate(b->ctx, "uniform", MOTE_GPU_POINTS, NULL, &b->cloud), MOTE_OK);
}

static void close_bench(bench *b) {
    mote_cloud_destroy(b->cloud);
    cuda_free(gpu_of(b->ctx), b->ballast);
    mote_context_destroy(b->ctx);
}

/* What was done is what the CPU has done, and told. */
static void expect_left(bench *b, mote_status status, uint32_t notes) {
    if (status != MOTE_OK) fail_msg("%s", mote_context_message(b->ctx));
    assert_int_equal(mote_context_status(b->ctx), MOTE_OK);
    assert_string_equal(mote_context_message(b->ctx), "");
    assert_ptr_equal(b->ctx->last_used, mote_cpu_device(b->ctx));
    assert_int_equal(b->told.notes, notes);
    assert_int_equal(b->told.warnings, 0);
    assert_non_null(strstr(b->told.last, "the cores do what the GPU cannot: out of GPU memory: "));
}

static void expect_failed(bench *b, mote_status status) {
    assert_int_equal(status, MOTE_ERROR_MEMORY);
    assert_non_null(strstr(mote_context_message(b->ctx), "out of GPU memory: "));
    mote_context_clear(b->ctx);
    assert_int_equal(b->told.notes, 0);
}

static void do_all(mote_device_kind device) {
    const bool is_auto = device == MOTE_DEVICE_AUTO;
    bench b;
    mote_lod *lod = NULL;
    mote_renderer *renderer = NULL;
    mote_lattice lattice;
    open_bench(&b, device);
    assert_int_equal(mote_order_lattice(b.ctx, b.cloud, &lattice, NULL), MOTE_OK);
    uint64_t *codes = malloc(MOTE_GPU_POINTS * sizeof *codes);
    uint32_t *order = malloc(MOTE_GPU_POINTS * sizeof *order), *moved = malloc(MOTE_GPU_POINTS * sizeof *moved);
    assert_true(codes != NULL && order != NULL && moved != NULL);
    mote_status status = mote_order_codes(b.ctx, b.cloud, &lattice, codes);
    if (is_auto) expect_left(&b, status, 1);
    if (!is_auto) expect_failed(&b, status);
    for (uint32_t i = 0; i < MOTE_GPU_POINTS && !is_auto; i++) codes[i] = i;
    status = mote_order_sort(b.ctx, codes, order, MOTE_GPU_POINTS);
    if (is_auto) expect_left(&b, status, 2);
    if (!is_auto) expect_failed(&b, status);
    for (uint64_t i = 1; i < MOTE_GPU_POINTS && is_auto; i++) assert_true(codes[i - 1] <= codes[i]);
    for (uint32_t i = 0; i < MOTE_GPU_POINTS; i++) order[i] = MOTE_GPU_POINTS - 1 - i;
    status = mote_order_permute(b.ctx, order, sizeof *order, sizeof *order, order, MOTE_GPU_POINTS, moved);
    if (is_auto) expect_left(&b, status, 3);
    if (!is_auto) expect_failed(&b, status);
    for (uint32_t i = 0; i < MOTE_GPU_POINTS && is_auto; i++) assert_int_equal(moved[i], i);
    status = mote_lod_build(b.ctx, b.cloud, NULL, &lod);
    if (is_auto) expect_left(&b, status, 4);
    if (!is_auto) expect_failed(&b, status);
    if (is_auto) assert_ptr_equal(lod->device, mote_cpu_device(b.ctx));
    mote_lod_destroy(lod);
    status = mote_render_create(b.ctx, b.cloud, &renderer);
    if (is_auto) expect_left(&b, status, 5);
    if (!is_auto) expect_failed(&b, status);
    if (is_auto) assert_ptr_equal(renderer->device, mote_cpu_device(b.ctx));
    mote_render_destroy(renderer);
    mote_planes *planes = NULL;
    status = mote_planes_find(b.ctx, b.cloud, NULL, NULL, &planes);
    if (is_auto) expect_left(&b, status, 6);
    if (!is_auto) expect_failed(&b, status);
    assert_true((planes != NULL) == is_auto);
    mote_planes_destroy(planes);
    free(codes);
    free(order);
    free(moved);
    close_bench(&b);
}

static void cores_do_what_the_gpu_cannot(void **state) {
    (void)state;
    do_all(MOTE_DEVICE_AUTO);
}

static void a_gpu_that_was_asked_for_fails(void **state) {
    (void)state;
    do_all(MOTE_DEVICE_CUDA);
}

int main(void) {
    if (!parity_can_run()) return PARITY_SKIPPED;
    const struct CMUnitTest tests[] = {cmocka_unit_test(cores_do_what_the_gpu_cannot),
                                       cmocka_unit_test(a_gpu_that_was_asked_for_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

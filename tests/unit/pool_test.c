/* The pool of device memory, over a source that only pretends. */
#include <stdlib.h>

#include "device/pool.h"
#include "support/support.h"

#define SEGMENT POOL_SEGMENT_BYTES

/* Hands out addresses, not memory: the pool must never touch it. */
typedef struct fake_source {
    uint64_t size_bytes, held_bytes, next; /* next address, in gaps of none: neighbours must not be joined */
    int taken, given;
} fake_source;

static void *fake_allocate(void *user, uint64_t size_bytes) {
    fake_source *f = user;
    if (size_bytes > f->size_bytes - f->held_bytes) return NULL;
    f->held_bytes += size_bytes;
    f->taken++;
    const uint64_t at = f->next;
    f->next += size_bytes;
    return (void *)(uintptr_t)at;
}

static void fake_release(void *user, void *memory, uint64_t size_bytes) {
    fake_source *f = user;
    assert_true((uintptr_t)memory >= 4096 && (uintptr_t)memory + size_bytes <= f->next);
    assert_true(f->held_bytes >= size_bytes);
    f->held_bytes -= size_bytes;
    f->given++;
}

static uint64_t fake_left(void *user) {
    const fake_source *f = user;
    return f->size_bytes - f->held_bytes;
}

typedef struct fixture {
    fake_source fake;
    mote_context *ctx;
    pool *p;
} fixture;

static void open_limited(fixture *f, uint64_t device_bytes, uint64_t limit_bytes) {
    memset(f, 0, sizeof *f);
    f->fake.size_bytes = device_bytes;
    f->fake.next = 4096;
    mote_context_params params = mote_context_defaults();
    params.device = MOTE_DEVICE_CPU;
    params.memory_limit_bytes = limit_bytes;
    assert_int_equal(mote_context_create(&params, &f->ctx), MOTE_OK);
    const pool_source source = {&f->fake, fake_allocate, fake_release, fake_left};
    f->p = pool_make(mote_cpu_device(f->ctx), &source);
    assert_non_null(f->p);
}

static void finish(fixture *f) {
    pool_destroy(f->p);
    assert_int_equal(f->fake.held_bytes, 0);
    assert_int_equal(f->fake.taken, f->fake.given);
    assert_int_equal(mote_context_device_bytes(f->ctx), 0);
    assert_int_equal(mote_context_memory_bytes(f->ctx), 0);
    mote_context_destroy(f->ctx);
}

static void takes_segments_and_keeps_them(void **state) {
    (void)state;
    fixture f;
    open_limited(&f, 10 * SEGMENT, 0);
    void *a = pool_take(f.p, 1000, "a");
    void *b = pool_take(f.p, 0, "b");
    assert_int_equal((uintptr_t)a % POOL_ALIGNMENT, 0);
    assert_ptr_equal(b, (uint8_t *)a + 1024);
    assert_int_equal(f.fake.held_bytes, SEGMENT);
    void *large = pool_take(f.p, 2 * SEGMENT + 1, "large");
    assert_int_equal(f.fake.held_bytes, 3 * SEGMENT + POOL_ALIGNMENT);
    assert_int_equal(mote_context_device_bytes(f.ctx), 1000 + 2 * SEGMENT + 1);
    pool_give(f.p, large);
    pool_give(f.p, a);
    pool_give(f.p, b);
    pool_give(f.p, NULL);
    assert_int_equal(mote_context_device_bytes(f.ctx), 0);
    assert_int_equal(mote_context_device_peak_bytes(f.ctx), 1000 + 2 * SEGMENT + 1);
    /* The same again takes nothing from the device. */
    assert_ptr_equal(pool_take(f.p, 2 * SEGMENT, "large"), large);
    assert_ptr_equal(pool_take(f.p, SEGMENT, "a"), a);
    assert_int_equal(f.fake.taken, 2);
    finish(&f);
}

static void fits_best_and_joins(void **state) {
    (void)state;
    fixture f;
    open_limited(&f, SEGMENT, 0);
    uint8_t *blocks[8];
    for (int i = 0; i < 8; i++) blocks[i] = pool_take(f.p, i < 7 ? 1024u << i : SEGMENT - 127 * 1024, "block");
    assert_int_equal(f.fake.held_bytes, SEGMENT);
    assert_int_equal(pool_available(f.p), 0);
    pool_give(f.p, blocks[6]);
    pool_give(f.p, blocks[3]);
    pool_give(f.p, blocks[1]);
    assert_ptr_equal(pool_take(f.p, 2000, "block"), blocks[1]);
    assert_ptr_equal(pool_take(f.p, 8000, "block"), blocks[3]);
    /* Three neighbours, the middle one last, become one. */
    pool_give(f.p, blocks[2]);
    pool_give(f.p, blocks[4]);
    pool_give(f.p, blocks[3]);
    assert_ptr_equal(pool_take(f.p, 28 * 1024, "block"), blocks[2]);
    assert_int_equal(f.fake.taken, 1);
    finish(&f);
}

static void never_joins_segments(void **state) {
    (void)state;
    fixture f;
    open_limited(&f, 2 * SEGMENT, 0);
    void *a = pool_take(f.p, SEGMENT, "a"), *b = pool_take(f.p, SEGMENT, "b");
    assert_ptr_equal((uint8_t *)a + SEGMENT, b);
    pool_give(f.p, a);
    pool_give(f.p, b);
    assert_int_equal(pool_available(f.p), 2 * SEGMENT);
    /* The two are one stretch of addresses, but only by chance: both go back, and a larger one comes. */
    assert_non_null(pool_take(f.p, SEGMENT + 1, "c"));
    assert_int_equal(f.fake.given, 2);
    assert_int_equal(f.fake.taken, 3);
    finish(&f);
}

static void falls_back_to_what_is_needed(void **state) {
    (void)state;
    fixture f;
    open_limited(&f, SEGMENT / 2, 0);
    assert_non_null(pool_take(f.p, 5000, "a"));
    assert_int_equal(f.fake.held_bytes, 5120);
    assert_null(pool_take(f.p, SEGMENT / 2, "b"));
    assert_non_null(strstr(mote_context_message(f.ctx), "33554432 bytes for b, 33549312 are free"));
    assert_int_equal(mote_context_device_bytes(f.ctx), 5000);
    mote_context_clear(f.ctx);
    assert_non_null(pool_take(f.p, SEGMENT / 2 - 5120, "c"));
    assert_null(pool_take(f.p, UINT64_MAX, "d"));
    assert_null(pool_take(f.p, UINT64_MAX - 100, "d"));
    finish(&f);
}

static void keeps_the_limit(void **state) {
    (void)state;
    fixture f;
    open_limited(&f, 10 * SEGMENT, 100000);
    void *a = pool_take(f.p, 60000, "a");
    assert_non_null(a);
    assert_int_equal(pool_available(f.p), 40000);
    assert_null(pool_take(f.p, 40001, "b"));
    assert_non_null(strstr(mote_context_message(f.ctx), "40001 bytes for b, beyond the limit of 100000"));
    pool_give(f.p, a);
    assert_non_null(pool_take(f.p, 100000, "b"));
    assert_int_equal(pool_available(f.p), 0);
    finish(&f);
}

/* Any order of taking and giving: blocks never overlap, and all comes back. */
static void survives_any_order(void **state) {
    (void)state;
    enum { BLOCKS = 200 };
    fixture f;
    uint8_t *at[BLOCKS] = {NULL};
    uint64_t size[BLOCKS] = {0};
    open_limited(&f, 64 * SEGMENT, 0);
    uint64_t random = 42, held = 0;
    for (int step = 0; step < 20000; step++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint64_t i = (random >> 33) % BLOCKS;
        if (at[i] != NULL) {
            pool_give(f.p, at[i]);
            held -= size[i];
            at[i] = NULL;
        } else {
            size[i] = (random >> 40) % (i < 10 ? 2 * SEGMENT : 100000);
            at[i] = pool_take(f.p, size[i], "block");
            assert_non_null(at[i]);
            held += size[i];
            for (uint64_t j = 0; j < BLOCKS; j++) {
                if (j == i || at[j] == NULL) continue;
                assert_true(at[j] + size[j] <= at[i] || at[i] + size[i] <= at[j]);
            }
        }
        assert_int_equal(mote_context_device_bytes(f.ctx), held);
    }
    for (int i = 0; i < BLOCKS; i++) pool_give(f.p, at[i]);
    assert_int_equal(pool_available(f.p), 64 * SEGMENT);
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(takes_segments_and_keeps_them),
                                       cmocka_unit_test(fits_best_and_joins),
                                       cmocka_unit_test(never_joins_segments),
                                       cmocka_unit_test(falls_back_to_what_is_needed),
                                       cmocka_unit_test(keeps_the_limit),
                                       cmocka_unit_test(survives_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

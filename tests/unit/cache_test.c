/* What steps keep in a context between calls: found again by name, and given up where memory is short. */
#include "device/pool.h"
#include "support/support.h"

#define LIMIT_BYTES 100000u

static int released;

static void count_release(mote_device *device, void *memory) {
    released++;
    mote_free(device->ctx, memory);
}

static mote_context *limited_context(void) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.device = MOTE_DEVICE_CPU;
    params.memory_limit_bytes = LIMIT_BYTES;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    ctx->devices[ctx->device_count].ctx = ctx; /* so much of a GPU that things can be kept on it */
    ctx->device_count++;
    released = 0;
    return ctx;
}

static void *keep_some(mote_context *ctx, const char *name, uint64_t size_bytes, bool on_device) {
    void *memory = mote_alloc(ctx, size_bytes, "kept");
    assert_non_null(memory);
    mote_cache_put(&ctx->devices[on_device], name, memory, size_bytes, count_release);
    return memory;
}

static void is_found_by_name(void **state) {
    (void)state;
    mote_context *ctx = limited_context();
    void *one = keep_some(ctx, "one", 10, false), *two = keep_some(ctx, "two", 20, true);
    assert_ptr_equal(mote_cache_take(&ctx->devices[1], "two"), two);
    assert_null(mote_cache_take(&ctx->devices[1], "two"));
    assert_null(mote_cache_take(mote_cpu_device(ctx), "three"));
    assert_null(mote_cache_take(&ctx->devices[1], "one")); /* the host's */
    assert_ptr_equal(mote_cache_take(mote_cpu_device(ctx), "one"), one);
    mote_free(ctx, one);
    mote_free(ctx, two);
    one = keep_some(ctx, "one", 10, false);
    two = keep_some(ctx, "one", 20, false); /* in its place */
    assert_int_equal(released, 1);
    assert_ptr_equal(mote_cache_take(mote_cpu_device(ctx), "one"), two);
    mote_free(ctx, two);
    mote_context_destroy(ctx);
}

static void more_than_there_is_room_for(void **state) {
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    mote_context *ctx = limited_context();
    for (int i = 0; i < 10; i++) keep_some(ctx, names[i], 10, false);
    assert_int_equal(released, 10 - MOTE_CACHE_MAX_ENTRIES);
    void *last = mote_cache_take(mote_cpu_device(ctx), "j");
    assert_non_null(last);
    mote_free(ctx, last);
    mote_context_trim(ctx);
    assert_int_equal(released, 9);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void is_given_up_when_memory_is_short(void **state) {
    (void)state;
    mote_context *ctx = limited_context();
    keep_some(ctx, "host", LIMIT_BYTES - 1000, false);
    keep_some(ctx, "device", 100, true);
    void *large = mote_alloc(ctx, LIMIT_BYTES / 2, "large");
    assert_non_null(large);
    assert_int_equal(released, 1); /* what lies on the device does not help the host */
    assert_int_equal(mote_context_status(ctx), MOTE_OK);
    assert_null(mote_alloc(ctx, LIMIT_BYTES, "too large"));
    assert_int_equal(mote_context_status(ctx), MOTE_ERROR_MEMORY);
    mote_free(ctx, large);
    mote_context_destroy(ctx); /* releases the rest */
    assert_int_equal(released, 2);
}

/* ---- of a device */

static uint8_t arena[1 << 16];

static void *take_arena(void *user, uint64_t size_bytes) {
    uint64_t *remaining = user;
    if (size_bytes > *remaining) return NULL;
    *remaining -= size_bytes;
    return arena;
}

static void give_arena(void *user, void *memory, uint64_t size_bytes) {
    assert_ptr_equal(memory, arena);
    *(uint64_t *)user += size_bytes;
}

static uint64_t arena_left(void *user) { return *(const uint64_t *)user; }

static pool *the_pool;

static void give_to_pool(mote_device *device, void *memory) {
    (void)device;
    released++;
    pool_give(the_pool, memory);
}

/* Both where the device has no more and where the limit forbids more. */
static void is_given_up_when_the_device_is_full(void **state) {
    (void)state;
    for (uint64_t size = sizeof arena; size <= LIMIT_BYTES; size += LIMIT_BYTES - sizeof arena) {
        uint64_t remaining = size == sizeof arena ? sizeof arena : 2 * LIMIT_BYTES;
        mote_context *ctx = limited_context();
        const pool_source source = {&remaining, take_arena, give_arena, arena_left};
        the_pool = pool_make(&ctx->devices[1], &source);
        assert_non_null(the_pool);
        void *kept = pool_take(the_pool, size * 3 / 4, "kept");
        assert_non_null(kept);
        const uint64_t available = pool_available(the_pool), kept_bytes = size * 3 / 4;
        mote_cache_put(&ctx->devices[1], "kept", kept, kept_bytes, give_to_pool);
        assert_int_equal(pool_available(the_pool), available + kept_bytes); /* it would be given up */
        assert_int_equal(released, 0);
        void *other = pool_take(the_pool, size / 2, "other");
        assert_non_null(other);
        assert_int_equal(released, 1);
        assert_int_equal(mote_context_status(ctx), MOTE_OK);
        assert_null(pool_take(the_pool, size * 3 / 4, "too much"));
        assert_int_equal(mote_context_status(ctx), MOTE_ERROR_MEMORY);
        pool_destroy(the_pool);
        mote_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_found_by_name),
        cmocka_unit_test(more_than_there_is_room_for),
        cmocka_unit_test(is_given_up_when_memory_is_short),
        cmocka_unit_test(is_given_up_when_the_device_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

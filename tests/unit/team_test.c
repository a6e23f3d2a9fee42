/* Workers share items out: every item is done once, the first failure is told, a cancel and messages pass through. */
#include "device/team.h"

#include <stdio.h>
#include <time.h>

#include "support/support.h"

#define ITEMS   40u
#define WORKERS 3u

typedef struct test_items {
    const mote_team *team;
    uint32_t done[ITEMS]; /* atomic */
    uint32_t fails;       /* the item that does; ITEMS: none */
    bool waits;           /* all others, until they are cancelled */
} test_items;

static void rest(void) { nanosleep(&(struct timespec){0, 200000}, NULL); }

static mote_status do_item(void *user, mote_context *worker, uint32_t item) {
    test_items *items = user;
    void *memory = mote_alloc(worker, 1000, "items");
    assert_non_null(memory);
    mote_status status = mote_progress(worker, 0.5, "doing items");
    rest();
    while (items->waits && item != items->fails && status == MOTE_OK) {
        rest();
        status = mote_progress_again(worker);
    }
    if (status == MOTE_OK) mote_note(worker, "item %u", item);
    if (item == items->fails) status = mote_fail(worker, MOTE_ERROR_DATA, "item %u is wrong", item);
    __atomic_add_fetch(&items->done[item], 1, __ATOMIC_RELAXED);
    mote_free(worker, memory);
    return status;
}

/* What the caller hears, on its own thread. */
typedef struct test_ear {
    pthread_t thread;
    uint32_t messages;
    double done;
    bool cancels;
} test_ear;

static void hear(void *user, mote_log_level level, const char *message) {
    test_ear *ear = user;
    (void)level;
    assert_true(pthread_equal(ear->thread, pthread_self()));
    ear->messages += strncmp(message, "item ", 5) == 0;
}

static bool see(void *user, double done, const char *stage) {
    test_ear *ear = user;
    (void)stage;
    assert_true(pthread_equal(ear->thread, pthread_self()));
    assert_true(done >= ear->done && done <= 1);
    ear->done = done;
    return !ear->cancels;
}

static mote_context *context_of(test_ear *ear) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    *ear = (test_ear){.thread = pthread_self()};
    params.device = MOTE_DEVICE_CPU;
    params.threads = 2;
    params.log = hear;
    params.progress = see;
    params.log_user = params.progress_user = ear;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

/* The status of all items by so many workers, which then are gone and have left nothing. */
static mote_status run(mote_context *ctx, uint32_t workers, test_items *items, const uint64_t *weights) {
    mote_team team;
    const team_work work = {.run = do_item, .user = items, .item_count = ITEMS, .weights = weights};
    assert_int_equal(mote_team_begin(ctx, workers, 1 << 20, &team), MOTE_OK);
    items->team = &team;
    const mote_status status = mote_team_run(&team, &work);
    mote_team_end(&team);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    return status;
}

static void each_item_is_done_once(void **state) {
    (void)state;
    uint64_t weights[ITEMS];
    for (uint32_t i = 0; i < ITEMS; i++) weights[i] = i * 7 % 11;
    for (uint32_t workers = 1; workers <= WORKERS; workers++) {
        test_ear ear;
        test_items items = {.fails = ITEMS};
        mote_context *ctx = context_of(&ear);
        assert_int_equal(run(ctx, workers, &items, workers == 2 ? NULL : weights), MOTE_OK);
        for (uint32_t i = 0; i < ITEMS; i++) assert_int_equal(items.done[i], 1);
        assert_int_equal(ear.messages, ITEMS);
        /* What workers held at once is the context's to tell. */
        assert_true(mote_context_memory_peak_bytes(ctx) >= 1000 * workers);
        mote_context_destroy(ctx);
    }
}

static void the_first_failure_is_told(void **state) {
    (void)state;
    for (uint32_t workers = 1; workers <= WORKERS; workers++) {
        test_ear ear;
        test_items items = {.fails = 0, .waits = true};
        mote_context *ctx = context_of(&ear);
        assert_int_equal(run(ctx, workers, &items, NULL), MOTE_ERROR_DATA);
        assert_string_equal(mote_context_message(ctx), "item 0 is wrong");
        for (uint32_t i = WORKERS; i < ITEMS; i++) assert_int_equal(items.done[i], 0);
        mote_context_destroy(ctx);
    }
}

static void a_cancel_reaches_all(void **state) {
    (void)state;
    for (uint32_t workers = 1; workers <= WORKERS; workers++) {
        test_ear ear;
        test_items items = {.fails = ITEMS, .waits = true};
        mote_context *ctx = context_of(&ear);
        ear.cancels = true;
        assert_int_equal(run(ctx, workers, &items, NULL), MOTE_CANCELLED);
        assert_string_equal(mote_context_message(ctx), "cancelled while doing items");
        mote_context_destroy(ctx);
    }
}

static mote_status do_bound(void *user, mote_context *worker, uint32_t item) {
    test_items *items = user;
    assert_ptr_equal(worker, items->team->workers[item]);
    __atomic_add_fetch(&items->done[item], 1, __ATOMIC_RELAXED);
    return MOTE_OK;
}

static void bound_items_stay_where_they_are(void **state) {
    (void)state;
    test_ear ear;
    test_items items = {.fails = ITEMS};
    mote_team team;
    mote_context *ctx = context_of(&ear);
    const team_work work = {.run = do_bound, .user = &items, .item_count = WORKERS, .is_bound = true};
    assert_int_equal(mote_team_begin(ctx, WORKERS, 0, &team), MOTE_OK);
    items.team = &team;
    for (uint32_t turn = 1; turn <= 5; turn++) {
        ear.done = 0;
        assert_int_equal(mote_team_run(&team, &work), MOTE_OK);
        for (uint32_t i = 0; i < WORKERS; i++) assert_int_equal(items.done[i], turn);
    }
    mote_team_end(&team);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_item_is_done_once),
        cmocka_unit_test(the_first_failure_is_told),
        cmocka_unit_test(a_cancel_reaches_all),
        cmocka_unit_test(bound_items_stay_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

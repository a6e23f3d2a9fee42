/* Calls have their turns by place: the first few of a loop, all that differ in who calls. */
#include <stdlib.h>

#include "support/support.h"

#define LOOP 200u

/* What a run of the places below has called, and the number of its call that had its turn. */
typedef struct test_run {
    uint64_t calls, turned_at;
} test_run;

static void __attribute__((noinline)) call(call_places *places, test_run *run) {
    run->calls++;
    if (call_places_turn(places)) run->turned_at = run->calls;
    __asm__ volatile(""); /* no call is the last of a function, which would leave no trace on the stack */
}

static void __attribute__((noinline)) call_twice(call_places *places, test_run *run) {
    call(places, run);
    call(places, run);
    __asm__ volatile("");
}

/* Calls 1 to LOOP are of one place, then each of two is called by two. */
static void __attribute__((noinline)) work(call_places *places, test_run *run) {
    for (uint32_t i = 0; i < LOOP; i++) call(places, run);
    call_twice(places, run);
    call_twice(places, run);
}

static void each_place_has_its_turns(void **state) {
    (void)state;
    static const uint64_t expected[] = {1, 2, LOOP + 1, LOOP + 2, LOOP + 3, LOOP + 4, 0};
    call_places *const places = call_places_make(2);
    for (uint32_t r = 0; r < sizeof expected / sizeof expected[0]; r++) {
        test_run run = {0, 0};
        call_places_begin_run(places);
        work(places, &run);
        assert_int_equal(run.turned_at, expected[r]);
        assert_true(places->has_turned == (expected[r] > 0));
    }
    free(places);
}

/* With as many turns as there are calls each has one, in order of the places. */
static void every_call_may_have_its_turn(void **state) {
    (void)state;
    call_places *const places = call_places_make(UINT64_MAX);
    for (uint64_t r = 1; r <= LOOP + 5; r++) {
        test_run run = {0, 0};
        call_places_begin_run(places);
        work(places, &run);
        assert_int_equal(run.turned_at, r <= LOOP + 4 ? r : 0);
    }
    free(places);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_place_has_its_turns),
        cmocka_unit_test(every_call_may_have_its_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

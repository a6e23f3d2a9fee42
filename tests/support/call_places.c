#include "support/call_places.h"

#include <execinfo.h>
#include <stdlib.h>

#include "support/support.h"

/* A recursion is a few places, not one for each depth. */
#define STACK_DEPTH 10

call_places *call_places_make(uint64_t most) {
    call_places *const places = calloc(1, sizeof *places);
    assert_non_null(places);
    places->most = most;
    assert_int_equal(pthread_mutex_init(&places->lock, NULL), 0);
    return places;
}

void call_places_begin_run(call_places *places) {
    places->run++;
    places->has_turned = false;
}

static uint64_t hash_stack(void) {
    void *stack[STACK_DEPTH];
    const int depth = backtrace(stack, STACK_DEPTH);
    uint64_t hash = 1;
    for (int i = 0; i < depth; i++) hash = mote_hash_pair(hash, (uint64_t)(uintptr_t)stack[i]);
    return hash | 1;
}

static call_place *find(call_places *places, uint64_t stack) {
    for (uint64_t i = 0; i < CALL_PLACES_MAX; i++) {
        call_place *const place = &places->places[((stack >> 1) + i) % CALL_PLACES_MAX];
        if (place->stack == 0) place->stack = stack;
        if (place->stack == stack) return place;
    }
    abort(); /* in any thread */
}

bool call_places_turn(call_places *places) {
    const uint64_t stack = hash_stack();
    pthread_mutex_lock(&places->lock);
    call_place *const place = find(places, stack);
    if (place->run != places->run) place->calls = 0;
    place->run = places->run;
    place->calls++;
    const bool turns = !places->has_turned && place->calls > place->turns_taken && place->turns_taken < places->most;
    if (turns) place->turns_taken++;
    if (turns) places->has_turned = true;
    pthread_mutex_unlock(&places->lock);
    return turns;
}

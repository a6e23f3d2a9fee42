/* Runs the threads of a block in turn. A thread runs until it waits; then another goes on that need not wait, else one
   begins that has not yet. So the first warp of a block runs as far ahead of the others as barriers allow. A fiber
   whose thread has ended begins the next: kernels that never wait need but one. */
#include "emulator/emulator.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/device_memory.h"
#include "emulator/fiber.h"
#include "emulator/include/cuda_runtime.h"
#include "math/hash.h"

#define MAX_THREADS   1024u
#define MAX_BLOCKS    0x7FFFFFFFull
#define WARP          32u
#define POISON        0xA5A5A5A5A5A5A5A5ull
#define KERNELS_MAX   1024u
#define SPOILED_EVERY 64u /* blocks of a kernel */

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

enum thread_state { RUNS, AT_BARRIER, IN_WARP, ENDED };

struct thread {
    thread_state state;
    fiber *on;
    const char *file; /* where it waits */
    int line;
    int kind; /* emulator_barrier_kind or emulator_warp_kind */
    uint32_t mask, source;
    uint64_t value, result;
};

struct block_run {
    const char *kernel;
    void (*work)(void *user);
    void *user;
    uint32_t threads;
    emulator_order running;      /* not mixed */
    uint32_t lanes[WARP];        /* in which order those of each warp begin and go on */
    uint32_t order[MAX_THREADS]; /* in which threads begin, warp by warp */
    uint32_t begun, ended;
    uint32_t ready[MAX_THREADS]; /* a ring of those that may go on */
    uint32_t ready_first, ready_count;
    uint32_t at_barrier;
    const thread *barrier_one;                                               /* of those that wait there */
    uint32_t warp_waits[MAX_THREADS / WARP], warp_ended[MAX_THREADS / WARP]; /* lanes */
    uint32_t self;                                                           /* the thread that runs */
    thread all[MAX_THREADS];
};

struct settings {
    bool known;
    emulator_order order;
    uint64_t seed;
};

static block_run run;
static settings chosen;
static emulator_work work_done;
static fiber *free_fibers[MAX_THREADS + 1];
static uint32_t free_fiber_count;
static pthread_mutex_t one_launch = PTHREAD_MUTEX_INITIALIZER;

/* ---- failing */

static const char *const barrier_names[] = {"__syncthreads", "__syncthreads_or", "__syncthreads_and",
                                            "__syncthreads_count"};
static const char *const warp_names[] = {"__syncwarp", "a shuffle", "a vote", "__match_any_sync"};

static const char *base_name(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash != nullptr ? slash + 1 : file;
}

static void print_thread(uint32_t i) {
    const thread *t = &run.all[i];
    switch (t->state) {
    case ENDED: fprintf(stderr, "has ended\n"); break;
    case RUNS: fprintf(stderr, "runs\n"); break;
    case AT_BARRIER:
        fprintf(stderr, "waits at %s, %s:%d\n", barrier_names[t->kind], base_name(t->file), t->line);
        break;
    case IN_WARP:
        fprintf(stderr, "waits at %s of lanes 0x%08x, %s:%d\n", warp_names[t->kind], t->mask, base_name(t->file),
                t->line);
        break;
    }
}

static bool waits_alike(const thread *a, const thread *b) {
    if (a->state != b->state) return false;
    if (a->state == ENDED || a->state == RUNS) return true;
    return a->kind == b->kind && a->line == b->line && a->file == b->file &&
           (a->state == AT_BARRIER || a->mask == b->mask);
}

/* Says what all threads of the block do, as ranges of the same, and ends the program. */
[[noreturn]] static void fail_block(const char *why) {
    uint32_t lines = 0;
    fprintf(stderr, "emulator: kernel %s, block %u, thread %u: %s\n", run.kernel, blockIdx.x, run.self, why);
    for (uint32_t i = 0; i < run.threads && lines < 40; lines++) {
        const uint32_t first = i;
        while (i < run.threads && waits_alike(&run.all[first], &run.all[i])) i++;
        fprintf(stderr, "  thread %u to %u ", first, i - 1);
        print_thread(first);
    }
    abort();
}

[[noreturn]] static void fail_launch(const char *kernel, const char *why) {
    fprintf(stderr, "emulator: kernel %s: %s\n", kernel, why);
    abort();
}

/* ---- turns */

static void make_ready(uint32_t i) {
    run.all[i].state = RUNS;
    run.ready[(run.ready_first + run.ready_count++) % MAX_THREADS] = i;
}

static void release_barrier(void) {
    bool any = false, all = true;
    uint64_t count = 0;
    for (uint32_t i = 0; i < run.threads; i++) {
        if (run.all[i].state != AT_BARRIER) continue;
        any = any || run.all[i].value != 0;
        all = all && run.all[i].value != 0;
        count += run.all[i].value;
    }
    for (uint32_t i = 0; i < run.threads; i++) {
        thread *t = &run.all[run.order[i]];
        if (t->state != AT_BARRIER) continue;
        t->result = t->kind == EMULATOR_OR ? any : t->kind == EMULATOR_AND ? all : count;
        make_ready(run.order[i]);
    }
    run.at_barrier = 0;
}

static void thread_ended(void) {
    run.all[run.self].state = ENDED;
    run.warp_ended[run.self / WARP] |= 1u << run.self % WARP;
    run.ended++;
    if (run.at_barrier > 0 && run.at_barrier == run.threads - run.ended) release_barrier();
}

/* What each fiber does: begins threads as long as none waits to go on. */
static void give_turn(fiber *from);
static void run_threads(void) {
    fiber *self = free_fibers[free_fiber_count]; /* just taken from there */
    for (;;) {
        while (run.ready_count == 0 && run.begun < run.threads) {
            run.self = run.order[run.begun++];
            run.all[run.self].on = self;
            threadIdx.x = run.self;
            run.work(run.user);
            thread_ended();
        }
        free_fibers[free_fiber_count++] = self;
        give_turn(self);
    }
}

static fiber *take_fiber(void) {
    if (free_fiber_count == 0) free_fibers[free_fiber_count++] = fiber_make(run_threads);
    return free_fibers[--free_fiber_count];
}

/* Goes on where the next turn is; returns when it is the caller's again. */
static void give_turn(fiber *from) {
    fiber *to;
    if (run.ready_count > 0) {
        to = run.all[run.ready[run.ready_first]].on;
        run.ready_first = (run.ready_first + 1) % MAX_THREADS;
        run.ready_count--;
    } else if (run.begun < run.threads) {
        to = take_fiber();
    } else if (run.ended == run.threads) {
        to = fiber_of_thread();
    } else {
        fail_block("no thread can go on: a barrier or a mask names threads that do not come");
    }
    if (to == from) return;
    work_done.switches++;
    fiber_switch(from, to);
}

/* The running thread waits, as its state says. */
static void wait_turn(void) {
    const uint32_t self = run.self;
    give_turn(run.all[self].on);
    run.self = self;
    threadIdx.x = self;
}

static thread *note_place(int kind, uint64_t value, const char *file, int line) {
    thread *self = &run.all[run.self];
    if (run.threads == 0) fail_launch("(none)", "a barrier or an intrinsic outside of a kernel");
    self->kind = kind;
    self->value = value;
    self->file = file;
    self->line = line;
    return self;
}

/* ---- barriers */

/* All that wait are alike: each was compared when it came. */
static void check_same_barrier(const thread *self) {
    if (run.at_barrier == 0) run.barrier_one = self;
    if (!waits_alike(self, run.barrier_one)) fail_block("threads of a block at different barriers");
}

int emulator_barrier(emulator_barrier_kind kind, bool predicate, const char *file, int line) {
    thread *self = note_place(kind, predicate, file, line);
    self->state = AT_BARRIER;
    check_same_barrier(self);
    if (++run.at_barrier == run.threads - run.ended) release_barrier();
    wait_turn();
    return (int)self->result;
}

/* ---- warps */

uint32_t emulator_lane(void) { return run.self % WARP; }

/* Gives every lane of a complete mask its result. */
static void exchange(emulator_warp_kind kind, uint32_t mask, thread *warp) {
    uint64_t votes = 0;
    if (kind == EMULATOR_WARP_SYNC) return;
    for (uint32_t i = 0; i < WARP; i++) votes |= (mask >> i & 1) != 0 && warp[i].value != 0 ? 1ull << i : 0;
    for (uint32_t i = 0; i < WARP; i++) {
        if ((mask >> i & 1) == 0) continue;
        if (kind == EMULATOR_BALLOT) {
            warp[i].result = votes;
        } else if (kind == EMULATOR_SHUFFLE) { /* from a lane that takes no part: anything */
            warp[i].result = (mask >> warp[i].source & 1) != 0 ? warp[warp[i].source].value : POISON;
        } else {
            warp[i].result = 0;
            for (uint32_t j = 0; j < WARP; j++) {
                if ((mask >> j & 1) != 0 && warp[j].value == warp[i].value) warp[i].result |= 1ull << j;
            }
        }
    }
}

/* Whether lanes that all wait wait for the same. If only their masks differ, some may yet go on to it. */
static bool agree(const thread *self, const thread *warp) {
    for (uint32_t i = 0; i < WARP; i++) {
        if ((self->mask >> i & 1) == 0) continue;
        if (warp[i].mask != self->mask) return false;
        if (warp[i].kind != self->kind || (warp[i].line != self->line && self->kind != EMULATOR_WARP_SYNC)) {
            fail_block("lanes of a mask at different intrinsics");
        }
    }
    return true;
}

uint64_t emulator_warp(emulator_warp_kind kind, uint32_t mask, uint64_t value, uint32_t source, const char *file,
                       int line) {
    thread *self = note_place(kind, value, file, line);
    const uint32_t w = run.self / WARP, first = w * WARP, own = 1u << run.self % WARP;
    self->state = IN_WARP;
    self->mask = mask;
    self->source = source % WARP;
    if ((mask & own) == 0) fail_block("a lane is not in its own mask");
    if ((mask & run.warp_ended[w]) != 0) fail_block("a mask names a lane that has ended");
    run.warp_waits[w] |= own;
    if ((run.warp_waits[w] & mask) != mask || !agree(self, &run.all[first])) {
        wait_turn();
        return self->result;
    }
    exchange(kind, mask, &run.all[first]);
    run.warp_waits[w] &= ~mask;
    self->state = RUNS;
    for (uint32_t i = 0; i < WARP; i++) {
        if ((mask & ~own) >> run.lanes[i] & 1) make_ready(first + run.lanes[i]);
    }
    return self->result;
}

/* ---- launches */

static uint64_t common_divisor(uint64_t a, uint64_t b) { return b == 0 ? a : common_divisor(b, a % b); }

/* A permutation of 0 … count - 1: the i-th of them. */
static uint64_t shuffled(uint64_t i, uint64_t count) {
    uint64_t step = mote_hash64(chosen.seed + count) % count | 1;
    while (common_divisor(step, count) != 1) step++;
    const uint64_t start = mote_hash64(chosen.seed + work_done.launches) % count;
    return (uint64_t)((unsigned __int128)step * i + start) % count;
}

static uint64_t in_order(uint64_t i, uint64_t count) {
    if (run.running == EMULATOR_SHUFFLED) return shuffled(i, count);
    return run.running == EMULATOR_DESCENDING ? count - 1 - i : i;
}

void emulator_set_order(emulator_order order, uint64_t seed) {
    chosen.known = true;
    chosen.order = order;
    chosen.seed = seed;
}

static void order_from_environment(void) {
    const char *text = getenv("MOTE_EMULATOR_ORDER");
    if (text == nullptr) {
        emulator_set_order(EMULATOR_MIXED, 0);
    } else if (strcmp(text, "ascending") == 0) {
        emulator_set_order(EMULATOR_ASCENDING, 0);
    } else if (strcmp(text, "descending") == 0) {
        emulator_set_order(EMULATOR_DESCENDING, 0);
    } else {
        emulator_set_order(EMULATOR_SHUFFLED, strtoull(text, nullptr, 10));
    }
}

emulator_work emulator_work_done(void) { return work_done; }

/* Where the linker has put all __shared__ variables (shared.ld). */
extern "C" uint64_t cuda_shared_begin[], cuda_shared_end[];

/* The loop is volatile, for it must not become a call of memset: the address sanitizer looks into that, and there are
   its red zones between the variables. */
__attribute__((no_sanitize("address", "undefined"))) static void spoil_shared(void) {
    for (volatile uint64_t *at = cuda_shared_begin; at < cuda_shared_end; at++) *at = POISON;
}

/* How many blocks of a kernel have run, of which it is one more. */
static uint64_t count_block(const char *kernel) {
    static struct {
        const char *kernel; /* a literal */
        uint64_t blocks;
    } counts[KERNELS_MAX];
    uint64_t i = mote_hash64((uint64_t)(uintptr_t)kernel) % KERNELS_MAX;
    for (uint32_t tries = 0; counts[i].kernel != nullptr && counts[i].kernel != kernel; tries++) {
        if (tries == KERNELS_MAX) fail_launch(kernel, "is one kernel more than the emulator counts: KERNELS_MAX");
        i = (i + 1) % KERNELS_MAX;
    }
    counts[i].kernel = kernel;
    return counts[i].blocks++;
}

/* What a block finds in its shared memory is not what it hopes for: the first blocks of each kernel, and every so many
   after. Each time would be slow: with red zones, the variables of all kernels are 12 MB. */
static void spoil_now_and_then(void) {
    const uint64_t before = count_block(run.kernel);
    if ((before & (before - 1)) == 0 || before % SPOILED_EVERY == 0) spoil_shared();
}

static void run_block(uint64_t block) {
    blockIdx.x = (unsigned int)block;
    run.begun = run.ended = run.ready_first = run.ready_count = run.at_barrier = 0;
    for (uint32_t i = 0; i < run.threads; i++) run.all[i].state = RUNS;
    memset(run.warp_waits, 0, sizeof run.warp_waits);
    memset(run.warp_ended, 0, sizeof run.warp_ended);
    spoil_now_and_then();
    fiber_switch(fiber_of_thread(), take_fiber());
}

static void begin_launch(const char *name, uint64_t blocks, uint64_t threads, void (*work)(void *user), void *user) {
    if (blocks < 1 || blocks > MAX_BLOCKS) fail_launch(name, "needs 1 to 2^31 - 1 blocks");
    if (threads < WARP || threads > MAX_THREADS || threads % WARP != 0) {
        fail_launch(name, "needs 32 to 1024 threads a block, whole warps");
    }
    if (!chosen.known) order_from_environment();
    work_done.launches++;
    run.running = chosen.order;
    if (chosen.order == EMULATOR_MIXED)
        run.running = (emulator_order)(mote_hash64(work_done.launches) % EMULATOR_MIXED);
    run.kernel = name;
    run.work = work;
    run.user = user;
    run.threads = (uint32_t)threads;
    blockDim = {run.threads, 1, 1};
    gridDim = {(unsigned int)blocks, 1, 1};
    for (uint32_t i = 0; i < WARP; i++) run.lanes[i] = (uint32_t)in_order(i, WARP);
    for (uint32_t i = 0; i < run.threads; i++) {
        run.order[i] = (uint32_t)in_order(i / WARP, run.threads / WARP) * WARP + run.lanes[i % WARP];
    }
}

void emulator_run(const char *name, uint64_t blocks, uint64_t threads, void (*work)(void *user), void *user) {
    pthread_mutex_lock(&one_launch);
    begin_launch(name, blocks, threads, work, user);
    for (uint64_t i = 0; i < blocks; i++) run_block(in_order(i, blocks));
    run.threads = 0;
    pthread_mutex_unlock(&one_launch);
}

void emulator_check_pointer(const char *kernel, const void *pointer) {
    if (pointer == nullptr || device_memory_has(pointer)) return;
    fail_launch(kernel, "a parameter points to memory that is not the device's");
}

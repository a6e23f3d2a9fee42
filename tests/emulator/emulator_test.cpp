/* The emulator itself: what threads of a block and lanes of a warp tell each other, in every order of running, and that
   it notices what would hang or be undefined on a GPU. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/cuda/cuda_primitives.h"
#include "emulator/emulator_fixture.h"

/* ---- barriers */

static __global__ void sum_kernel(const uint32_t *in, uint32_t count, uint32_t *sums) {
    __shared__ uint32_t part[BLOCK];
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < count ? in[i] : 0;
    for (uint32_t half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

static void sum_by_blocks(mote_device *gpu) {
    const uint32_t count = 1000, blocks = cuda_blocks(count, BLOCK);
    uint32_t *in = take<uint32_t>(gpu, count), *sums = take<uint32_t>(gpu, blocks);
    for (uint32_t i = 0; i < count; i++) in[i] = i * i;
    CUDA_LAUNCH(gpu, sum_kernel, blocks, BLOCK, in, count, sums);
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t expected = 0;
        for (uint32_t i = BLOCK * b; i < BLOCK * (b + 1) && i < count; i++) expected += i * i;
        assert_int_equal(sums[b], expected);
    }
    cuda_free(gpu, in);
    cuda_free(gpu, sums);
}

static void test_barriers(void **state) {
    (void)state;
    in_all_orders(sum_by_blocks);
}

/* Threads may have ended where all that are left meet. */
static __global__ void votes_kernel(int *votes) {
    if (threadIdx.x >= 64) return;
    const int odd = (int)threadIdx.x % 2;
    const int any = __syncthreads_or(threadIdx.x == 17), none = __syncthreads_or(0);
    const int all = __syncthreads_and(1), not_all = __syncthreads_and(odd);
    const int count = __syncthreads_count(odd);
    if (threadIdx.x != 5) return;
    votes[0] = any != 0, votes[1] = none != 0, votes[2] = all != 0, votes[3] = not_all != 0, votes[4] = count;
}

static void vote_in_block(mote_device *gpu) {
    static const int expected[5] = {1, 0, 1, 0, 32};
    int *votes = take<int>(gpu, 5);
    CUDA_LAUNCH(gpu, votes_kernel, 2, BLOCK, votes);
    assert_memory_equal(votes, expected, sizeof expected);
    cuda_free(gpu, votes);
}

static void test_votes_of_a_block(void **state) {
    (void)state;
    in_all_orders(vote_in_block);
}

/* ---- warps */

struct lane_results {
    uint32_t from, from_segment, up, down, swapped, ballot, any, all, match, match_wide, half;
    uint64_t wide;
    double real;
    float narrow;
    int32_t minus;
};

static __global__ void lanes_kernel(lane_results *results) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, value = 100 * (threadIdx.x / CUDA_WARP) + lane;
    lane_results *r = &results[threadIdx.x];
    r->from = __shfl_sync(CUDA_ALL, value, 7);
    r->from_segment = __shfl_sync(CUDA_ALL, value, 9, 8);
    r->up = __shfl_up_sync(CUDA_ALL, value, 3);
    r->down = __shfl_down_sync(CUDA_ALL, value, 5, 16);
    r->swapped = __shfl_xor_sync(CUDA_ALL, value, 1);
    r->ballot = __ballot_sync(CUDA_ALL, lane % 3 == 0);
    r->any = (uint32_t)__any_sync(CUDA_ALL, lane == 31);
    r->all = (uint32_t)__all_sync(CUDA_ALL, lane != 31);
    r->match = __match_any_sync(CUDA_ALL, lane / 4);
    r->match_wide = __match_any_sync(CUDA_ALL, (unsigned long long)(lane % 2) << 40);
    r->wide = __shfl_sync(CUDA_ALL, (unsigned long long)value << 33, (int)lane ^ 2);
    r->real = __shfl_down_sync(CUDA_ALL, value + 0.25, 1);
    r->narrow = __shfl_up_sync(CUDA_ALL, (float)value + 0.5f, 1);
    r->minus = __shfl_sync(CUDA_ALL, -(int)value, 2);
    r->half = 0;
    if (lane < 16) r->half = __ballot_sync(0xFFFFu, lane & 1); /* the others go on and meet them again below */
    __syncwarp();
}

static void check_lane(const lane_results *r, uint32_t warp, uint32_t lane) {
    const uint32_t base = 100 * warp, value = base + lane;
    assert_int_equal(r->from, base + 7);
    assert_int_equal(r->from_segment, base + lane / 8 * 8 + 1);
    assert_int_equal(r->up, lane < 3 ? value : value - 3);
    assert_int_equal(r->down, lane % 16 + 5 < 16 ? value + 5 : value);
    assert_int_equal(r->swapped, base + (lane ^ 1));
    assert_int_equal(r->ballot, 0x49249249u);
    assert_int_equal(r->any, 1);
    assert_int_equal(r->all, 0);
    assert_int_equal(r->match, 0xFu << lane / 4 * 4);
    assert_int_equal(r->match_wide, lane % 2 == 0 ? 0x55555555u : 0xAAAAAAAAu);
    assert_true(r->wide == (uint64_t)(base + (lane ^ 2)) << 33);
    assert_true(r->real == (lane < 31 ? value + 1 : value) + 0.25);
    assert_true(r->narrow == (float)(lane > 0 ? value - 1 : value) + 0.5f);
    assert_int_equal(r->minus, -(int)(base + 2));
    assert_int_equal(r->half, lane < 16 ? 0xAAAAu : 0);
}

static void ask_lanes(mote_device *gpu) {
    lane_results *results = take<lane_results>(gpu, BLOCK);
    CUDA_LAUNCH(gpu, lanes_kernel, 1, BLOCK, results);
    for (uint32_t i = 0; i < BLOCK; i++) check_lane(&results[i], i / CUDA_WARP, i % CUDA_WARP);
    cuda_free(gpu, results);
}

static void test_warps(void **state) {
    (void)state;
    in_all_orders(ask_lanes);
}

/* ---- atomics, and variants of a kernel */

template <int ADD> static __global__ void atomics_kernel(uint32_t *counts, unsigned long long *wide, int *least) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&counts[i % 3], (uint32_t)ADD);
    atomicAdd(wide, 1ull << 32);
    atomicMin(least, 50 - (int)i);
    atomicMax(&counts[3], i);
    atomicOr(&counts[4], 1u << i % 20);
    atomicAnd(&counts[5], ~(1u << i % 10));
    atomicXor(&counts[6], i);
    if (atomicCAS(&counts[7], 0u, i + 1) == 0) atomicExch(&counts[8], i + 1);
}

static void count_by_atomics(mote_device *gpu) {
    uint32_t *counts = take<uint32_t>(gpu, 9), parity = 0;
    unsigned long long *wide = take<unsigned long long>(gpu, 1);
    int *least = take<int>(gpu, 1);
    assert_int_equal(cuda_fill(gpu, counts, 0, 9 * sizeof *counts), MOTE_OK);
    counts[5] = 0xFFFFFFFFu, *wide = 0, *least = 1000;
    CUDA_LAUNCH(gpu, (atomics_kernel<2>), 4, BLOCK, counts, wide, least);
    for (uint32_t i = 0; i < 4 * BLOCK; i++) parity ^= i;
    assert_int_equal(counts[0] + counts[1] + counts[2], 2 * 4 * BLOCK);
    assert_true(*wide == (uint64_t)(4 * BLOCK) << 32);
    assert_int_equal(*least, 51 - 4 * (int)BLOCK);
    assert_int_equal(counts[3], 4 * BLOCK - 1);
    assert_int_equal(counts[4], 0xFFFFF);
    assert_int_equal(counts[5], 0xFFFFFC00u);
    assert_int_equal(counts[6], parity);
    assert_int_equal(counts[7], counts[8]);
    cuda_free(gpu, counts);
    cuda_free(gpu, wide);
    cuda_free(gpu, least);
}

static void test_atomics(void **state) {
    (void)state;
    in_all_orders(count_by_atomics);
}

static void test_arithmetic(void **state) {
    (void)state;
    assert_int_equal(__popc(0xF0F0u) + __popcll(1ull << 63), 9);
    assert_int_equal(__ffs(0), 0);
    assert_int_equal(__ffs(8), 4);
    assert_int_equal(__ffsll(1ll << 40), 41);
    assert_int_equal(__clz(0), 32);
    assert_int_equal(__clz(1), 31);
    assert_int_equal(__clzll(0), 64);
    assert_int_equal(__clzll(1), 63);
    assert_int_equal(__brev(1), 0x80000000u);
    assert_true(__brevll(6) == 0x6000000000000000ull);
    assert_true(__umul64hi(1ull << 63, 6) == 3);
    assert_int_equal(__funnelshift_l(0x80000001u, 0x7u, 4), 0x78);
    assert_int_equal(__funnelshift_l(1, 2, 32), 2);
    assert_int_equal(min(3u, 5) + max(-1, 2), 5);
    assert_true(max(2.5, 1.0) == 2.5);
    assert_int_equal(alignof(uint4), 16);
    assert_int_equal(sizeof(uint3), 12);
    assert_int_equal(alignof(ushort4), 8);
}

/* ---- the order of running */

static __global__ void order_kernel(uint32_t *turn, uint32_t *when) {
    when[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(turn, 1u);
}

static void test_orders(void **state) {
    (void)state;
    mote_device *gpu = make_gpu(0);
    const uint32_t count = 5 * BLOCK;
    uint32_t *turn = take<uint32_t>(gpu, 1), *when = take<uint32_t>(gpu, count), moved = 0;
    uint8_t seen[5 * BLOCK] = {0};
    *turn = 0;
    emulator_set_order(EMULATOR_DESCENDING, 0);
    CUDA_LAUNCH(gpu, order_kernel, 5, BLOCK, turn, when);
    for (uint32_t i = 0; i < count; i++) assert_int_equal(when[i], count - 1 - i);
    *turn = 0;
    emulator_set_order(EMULATOR_SHUFFLED, 3);
    CUDA_LAUNCH(gpu, order_kernel, 5, BLOCK, turn, when);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(when[i] < count);
        assert_int_equal(seen[when[i]]++, 0);
        moved += when[i] != i;
    }
    assert_true(moved > count / 2);
    emulator_set_order(EMULATOR_ASCENDING, 0);
    cuda_free(gpu, turn);
    cuda_free(gpu, when);
    mote_context_destroy(gpu->ctx);
}

/* ---- what must be noticed; each ends a child process, which says why */

static __global__ void half_block_kernel(int) {
    if (threadIdx.x <= 64) __syncthreads();
    __syncwarp();
}
static __global__ void other_barrier_kernel(int) {
    if (threadIdx.x < 64) {
        __syncthreads();
    } else {
        __syncthreads();
    }
}
static __global__ void missing_lane_kernel(int) {
    if (threadIdx.x != 3) __shfl_sync(CUDA_ALL, 1, 0);
    if (threadIdx.x == 3) __syncthreads();
}
static __global__ void ended_lane_kernel(int) {
    if (threadIdx.x == 3) return;
    __ballot_sync(CUDA_ALL, 1);
}
static __global__ void other_mask_kernel(int) { __ballot_sync(threadIdx.x % 2 != 0 ? CUDA_ALL : 0x55555555u, 1); }
static __global__ void other_intrinsic_kernel(int) {
    if (threadIdx.x % 2 != 0) {
        __ballot_sync(CUDA_ALL, 1);
    } else {
        __shfl_sync(CUDA_ALL, 1, 0);
    }
}
static __global__ void not_in_mask_kernel(int) { __syncwarp(0xFFFFu); }
static __global__ void nothing_kernel(int) {}
static __global__ void pointer_kernel(int *at) { *at = 1; }
#ifdef MOTE_SANITIZED_ADDRESS
static __global__ void shared_kernel(int places, int *sum) {
    __shared__ int values[32];
    int *volatile first = values; /* else its bounds are known, which the other sanitizer sees to */
    first[threadIdx.x + (unsigned)places] = 1;
    __syncthreads();
    *sum += values[0];
}
#endif

/* Runs work in a child, which must be ended with a message that has text in it. */
static void assert_noticed(const char *text, void (*work)(mote_device *gpu)) {
    char said[4096];
    int ends[2];
    fflush(nullptr);
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        work(make_gpu(0));
        _exit(0);
    }
    close(ends[1]);
    size_t size = 0;
    for (ssize_t n; size + 1 < sizeof said && (n = read(ends[0], said + size, sizeof said - 1 - size)) > 0;) {
        size += (size_t)n;
    }
    said[size] = '\0';
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
    if (strstr(said, text) == nullptr) fail_msg("\"%s\" is not in what was said:\n%s", text, said);
}

static void test_notices_threads(void **state) {
    (void)state;
    assert_noticed("no thread can go on", [](mote_device *gpu) { CUDA_LAUNCH(gpu, half_block_kernel, 1, 96, 0); });
    assert_noticed("at different barriers", [](mote_device *gpu) { CUDA_LAUNCH(gpu, other_barrier_kernel, 1, 96, 0); });
    assert_noticed("no thread can go on", [](mote_device *gpu) { CUDA_LAUNCH(gpu, missing_lane_kernel, 1, 32, 0); });
    assert_noticed("lane that has ended", [](mote_device *gpu) { CUDA_LAUNCH(gpu, ended_lane_kernel, 1, 32, 0); });
    assert_noticed("a mask names", [](mote_device *gpu) { CUDA_LAUNCH(gpu, other_mask_kernel, 1, 32, 0); });
    assert_noticed("at different intrinsics",
                   [](mote_device *gpu) { CUDA_LAUNCH(gpu, other_intrinsic_kernel, 1, 32, 0); });
    assert_noticed("not in its own mask", [](mote_device *gpu) { CUDA_LAUNCH(gpu, not_in_mask_kernel, 1, 32, 0); });
}

static void test_notices_launches(void **state) {
    (void)state;
    assert_noticed("blocks", [](mote_device *gpu) { CUDA_LAUNCH(gpu, nothing_kernel, 0, 32, 0); });
    assert_noticed("blocks", [](mote_device *gpu) { CUDA_LAUNCH(gpu, nothing_kernel, 1ull << 31, 32, 0); });
    assert_noticed("whole warps", [](mote_device *gpu) { CUDA_LAUNCH(gpu, nothing_kernel, 1, 33, 0); });
    assert_noticed("whole warps", [](mote_device *gpu) { CUDA_LAUNCH(gpu, nothing_kernel, 1, 2048, 0); });
}

static void test_notices_memory(void **state) {
    (void)state;
    assert_noticed("not the device's", [](mote_device *gpu) {
        int on_host = 0;
        CUDA_LAUNCH(gpu, pointer_kernel, 1, 32, &on_host);
    });
    assert_noticed("not given back", [](mote_device *gpu) {
        take<int>(gpu, 1);
        mote_context_destroy(gpu->ctx);
    });
#ifdef MOTE_SANITIZED_ADDRESS
    assert_noticed("buffer-overflow",
                   [](mote_device *gpu) { CUDA_LAUNCH(gpu, shared_kernel, 1, 32, 1, take<int>(gpu, 1)); });
#endif
}

/* ---- the backend */

static void test_memory_limit(void **state) {
    (void)state;
    mote_device *gpu = make_gpu(1000);
    assert_int_equal(cuda_available(gpu), 1000);
    uint8_t *memory = take<uint8_t>(gpu, 600);
    assert_int_equal(memory[599], 0xA5);
    assert_int_equal(cuda_available(gpu), 400);
    assert_null(cuda_alloc(gpu, 401, "test"));
    assert_true(cuda_is_device_memory(gpu, memory + 599));
    assert_false(cuda_is_device_memory(gpu, &gpu));
    cuda_free(gpu, memory);
    assert_int_equal(mote_context_device_bytes(gpu->ctx), 0);
    assert_int_equal(mote_context_device_peak_bytes(gpu->ctx), 600);
    mote_context_destroy(gpu->ctx);
}

static void test_primitives(void **state) {
    (void)state;
    uint32_t keys[4] = {0x31, 0x12, 0x33, 0x11}, values[4] = {0, 1, 2, 3}, other_keys[4], other_values[4];
    cuda_pairs32 pairs = {keys, values, other_keys, other_values};
    static const uint32_t by_high_digit[4] = {1, 3, 0, 2};
    mote_device *gpu = make_gpu(0);
    assert_int_equal(cuda_sort32(gpu, &pairs, 4, 4, 8), MOTE_OK);
    assert_memory_equal(pairs.values, by_high_digit, sizeof by_high_digit);
    uint32_t numbers[4] = {5, 0xFFFFFFFFu, 2, 9}, found[4];
    uint64_t sums[4], how_many;
    assert_int_equal(cuda_sum32_wide(gpu, numbers, sums, 4), MOTE_OK);
    assert_true(sums[0] == 0 && sums[3] == 0x100000006ull);
    assert_int_equal(cuda_sum32(gpu, numbers, numbers, 4), MOTE_OK);
    assert_true(numbers[0] == 0 && numbers[1] == 5 && numbers[2] == 4 && numbers[3] == 6);
    static const uint8_t flags[4] = {0, 1, 0, 200};
    assert_int_equal(cuda_select(gpu, flags, 4, found, &how_many), MOTE_OK);
    assert_true(how_many == 2 && found[0] == 1 && found[1] == 3);
    mote_context_destroy(gpu->ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barriers),        cmocka_unit_test(test_votes_of_a_block),
        cmocka_unit_test(test_warps),           cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_arithmetic),      cmocka_unit_test(test_orders),
        cmocka_unit_test(test_notices_threads), cmocka_unit_test(test_notices_launches),
        cmocka_unit_test(test_notices_memory),  cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_primitives),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}

/* In place of CUDA's <cuda_runtime.h>: CUDA C as far as mote's kernels use it, for a C++17 compiler: kernels run on the
   CPU, on one thread, when they are launched. Every CUDA thread has a stack of its own and runs until it waits for
   others: at a barrier, or at an intrinsic of its warp. What would hang or be undefined on a GPU ends the program with
   a message. */
#ifndef MOTE_CUDA_EMULATOR_H
#define MOTE_CUDA_EMULATOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tuple>
#include <type_traits>

#include "emulator/cuda_vector.h"

#define __global__
#define __device__
#define __host__
/* Blocks run one after the other, so one copy will do. The section is how the emulator finds it, to spoil it
   (shared.ld). */
#define __shared__ static __attribute__((section("cuda.shared")))
/* Not forced: in kernels of many variants that takes a compiler three times as long, and the tests run as long. */
#define __forceinline__ inline
#define __noinline__    __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__

struct dim3 {
    unsigned int x, y, z;
};
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
static const int warpSize = 32;

/* ---- launching */

#define CUDA_ROLLED
#define CUDA_LAUNCH(gpu, kernel, blocks, threads, ...)                                                                 \
    emulator_launcher((gpu), #kernel, (uint64_t)(blocks), (uint64_t)(threads), (kernel))(__VA_ARGS__)

struct mote_device;

/* Runs work(user) for every thread of every block. */
void emulator_run(const char *name, uint64_t blocks, uint64_t threads, void (*work)(void *user), void *user);
/* Whether a kernel may be handed a pointer: ends the program if not. */
void emulator_check_pointer(const char *kernel, const void *pointer);

template <class T> static inline void emulator_check_parameter(const char *kernel, const T &value) {
    if constexpr (std::is_pointer_v<T>) emulator_check_pointer(kernel, (const void *)value);
}

template <class... P> struct emulator_launch {
    const char *name;
    uint64_t blocks, threads;
    void (*kernel)(P...);

    struct bound {
        void (*kernel)(P...);
        std::tuple<P...> parameters;
    };
    static void call(void *user) {
        const bound *b = (const bound *)user;
        std::apply(b->kernel, b->parameters);
    }
    void operator()(P... parameters) const {
        static_assert((sizeof(P) + ... + 0) <= 4096, "parameters of a kernel take up to 4 KB");
        static_assert((std::is_trivially_copyable_v<P> && ...), "parameters of a kernel are plain data");
        (emulator_check_parameter(name, parameters), ...);
        bound b = {kernel, std::tuple<P...>(parameters...)};
        emulator_run(name, blocks, threads, call, &b);
    }
};

template <class... P>
static inline emulator_launch<P...> emulator_launcher(const mote_device *, const char *name, uint64_t blocks,
                                                      uint64_t threads, void (*kernel)(P...)) {
    return {name, blocks, threads, kernel};
}

/* ---- barriers of a block; where says who waits, for the message */

enum emulator_barrier_kind { EMULATOR_SYNC, EMULATOR_OR, EMULATOR_AND, EMULATOR_COUNT };
int emulator_barrier(emulator_barrier_kind kind, bool predicate, const char *file, int line);

#define EMULATOR_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

static inline void __syncthreads(EMULATOR_HERE) { emulator_barrier(EMULATOR_SYNC, false, file, line); }
static inline int __syncthreads_or(int predicate, EMULATOR_HERE) {
    return emulator_barrier(EMULATOR_OR, predicate != 0, file, line);
}
static inline int __syncthreads_and(int predicate, EMULATOR_HERE) {
    return emulator_barrier(EMULATOR_AND, predicate != 0, file, line);
}
static inline int __syncthreads_count(int predicate, EMULATOR_HERE) {
    return emulator_barrier(EMULATOR_COUNT, predicate != 0, file, line);
}

/* ---- intrinsics of a warp: every lane brings a value and, to shuffle, says whose it wants */

enum emulator_warp_kind { EMULATOR_WARP_SYNC, EMULATOR_SHUFFLE, EMULATOR_BALLOT, EMULATOR_MATCH };
uint64_t emulator_warp(emulator_warp_kind kind, uint32_t mask, uint64_t value, uint32_t source, const char *file,
                       int line);
uint32_t emulator_lane(void);

static inline void __syncwarp(unsigned int mask = 0xFFFFFFFFu, EMULATOR_HERE) {
    emulator_warp(EMULATOR_WARP_SYNC, mask, 0, 0, file, line);
}
static inline unsigned int __ballot_sync(unsigned int mask, int predicate, EMULATOR_HERE) {
    return (unsigned int)emulator_warp(EMULATOR_BALLOT, mask, predicate != 0, 0, file, line);
}
static inline int __any_sync(unsigned int mask, int predicate, EMULATOR_HERE) {
    return emulator_warp(EMULATOR_BALLOT, mask, predicate != 0, 0, file, line) != 0;
}
static inline int __all_sync(unsigned int mask, int predicate, EMULATOR_HERE) {
    return emulator_warp(EMULATOR_BALLOT, mask, predicate != 0, 0, file, line) == mask;
}

template <class T> static inline unsigned int __match_any_sync(unsigned int mask, T value, EMULATOR_HERE) {
    static_assert(sizeof value == 4 || sizeof value == 8, "32 or 64 bits");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return (unsigned int)emulator_warp(EMULATOR_MATCH, mask, bits, 0, file, line);
}

template <class T>
static inline T emulator_shuffle(unsigned int mask, T value, uint32_t source, const char *file, int line) {
    static_assert(std::is_arithmetic_v<T> && (sizeof value == 4 || sizeof value == 8), "32 or 64 bits");
    /* Not memcpy, of which a sanitizer makes calls. */
    using word = std::conditional_t<sizeof value == 4, uint32_t, uint64_t>;
    const word bits = __builtin_bit_cast(word, value);
    return __builtin_bit_cast(T, (word)emulator_warp(EMULATOR_SHUFFLE, mask, bits, source, file, line));
}

/* The lane itself where what it asks for lies beyond its segment of width lanes. */
template <class T>
static inline T __shfl_sync(unsigned int mask, T value, int from, int width = warpSize, EMULATOR_HERE) {
    const uint32_t lane = emulator_lane(), side = (uint32_t)width;
    return emulator_shuffle(mask, value, (lane & ~(side - 1)) | ((uint32_t)from & (side - 1)), file, line);
}
template <class T>
static inline T __shfl_up_sync(unsigned int mask, T value, unsigned int by, int width = warpSize, EMULATOR_HERE) {
    const uint32_t lane = emulator_lane(), at = lane & ((uint32_t)width - 1);
    return emulator_shuffle(mask, value, at >= by ? lane - by : lane, file, line);
}
template <class T>
static inline T __shfl_down_sync(unsigned int mask, T value, unsigned int by, int width = warpSize, EMULATOR_HERE) {
    const uint32_t lane = emulator_lane(), at = lane & ((uint32_t)width - 1);
    return emulator_shuffle(mask, value, by < (uint32_t)width - at ? lane + by : lane, file, line);
}
template <class T>
static inline T __shfl_xor_sync(unsigned int mask, T value, int with, int width = warpSize, EMULATOR_HERE) {
    const uint32_t lane = emulator_lane(), other = lane ^ (uint32_t)with;
    const uint32_t segment_end = (lane & ~((uint32_t)width - 1)) + (uint32_t)width;
    return emulator_shuffle(mask, value, other < segment_end ? other : lane, file, line);
}

/* ---- atomics: threads take turns only where they wait, so plain arithmetic is atomic */

template <class T> static inline T emulator_replace(T *at, T value) {
    const T old = *at;
    *at = value;
    return old;
}

// clang-format off
#define EMULATOR_ATOMICS(T)                                                                                            \
    static inline T atomicMin(T *at, T value) { return emulator_replace(at, value < *at ? value : *at); }              \
    static inline T atomicMax(T *at, T value) { return emulator_replace(at, value > *at ? value : *at); }              \
    static inline T atomicAnd(T *at, T value) { return emulator_replace(at, (T)(*at & value)); }                       \
    static inline T atomicOr(T *at, T value) { return emulator_replace(at, (T)(*at | value)); }                        \
    static inline T atomicXor(T *at, T value) { return emulator_replace(at, (T)(*at ^ value)); }
EMULATOR_ATOMICS(int)
EMULATOR_ATOMICS(unsigned int)
EMULATOR_ATOMICS(long long)
EMULATOR_ATOMICS(unsigned long long)
#undef EMULATOR_ATOMICS

#define EMULATOR_EXCHANGES(T)                                                                                          \
    static inline T atomicExch(T *at, T value) { return emulator_replace(at, value); }                                 \
    static inline T atomicCAS(T *at, T compare, T value) { return emulator_replace(at, *at == compare ? value : *at); }
EMULATOR_EXCHANGES(int)
EMULATOR_EXCHANGES(unsigned int)
EMULATOR_EXCHANGES(unsigned long long)
#undef EMULATOR_EXCHANGES

static inline int atomicAdd(int *at, int value) { return emulator_replace(at, (int)((unsigned)*at + (unsigned)value)); }
static inline unsigned int atomicAdd(unsigned int *at, unsigned int value) { return emulator_replace(at, *at + value); }
static inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long value) { return emulator_replace(at, *at + value); }
static inline int atomicSub(int *at, int value) { return emulator_replace(at, (int)((unsigned)*at - (unsigned)value)); }
static inline unsigned int atomicSub(unsigned int *at, unsigned int value) { return emulator_replace(at, *at - value); }
static inline unsigned int atomicInc(unsigned int *at, unsigned int last) { return emulator_replace(at, *at >= last ? 0 : *at + 1); }
// clang-format on

static inline void __threadfence(void) {}
static inline void __threadfence_block(void) {}

/* ---- arithmetic */

static inline unsigned int __float_as_uint(float value) {
    unsigned int bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline float __uint_as_float(unsigned int bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline int __popc(unsigned int x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned int)x); }
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long reversed = 0;
    for (int i = 0; i < 64; i++) reversed |= (x >> i & 1) << (63 - i);
    return reversed;
}
static inline unsigned int __brev(unsigned int x) { return (unsigned int)(__brevll(x) >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    __extension__ typedef unsigned __int128 wide;
    return (unsigned long long)((wide)a * b >> 64);
}
static inline unsigned int __umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)((unsigned long long)a * b >> 32);
}
static inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int by) {
    return (unsigned int)(((unsigned long long)high << 32 | low) << (by & 31) >> 32);
}
template <class T> static inline T __ldg(const T *at) { return *at; }

// clang-format off
#define EMULATOR_MIN_MAX(T)                                                                                            \
    static inline T min(T a, T b) { return b < a ? b : a; }                                                            \
    static inline T max(T a, T b) { return a < b ? b : a; }
EMULATOR_MIN_MAX(int)
EMULATOR_MIN_MAX(unsigned int)
EMULATOR_MIN_MAX(long)
EMULATOR_MIN_MAX(unsigned long)
EMULATOR_MIN_MAX(long long)
EMULATOR_MIN_MAX(unsigned long long)
#undef EMULATOR_MIN_MAX
// clang-format on
/* Of a number and NaN it is the number, as in CUDA. */
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
/* CUDA has these, so that a literal need not be unsigned. */
static inline unsigned int min(unsigned int a, int b) { return min(a, (unsigned int)b); }
static inline unsigned int min(int a, unsigned int b) { return min((unsigned int)a, b); }
static inline unsigned int max(unsigned int a, int b) { return max(a, (unsigned int)b); }
static inline unsigned int max(int a, unsigned int b) { return max((unsigned int)a, b); }

#endif

/* What the threads of a warp, and of a block, tell each other. All lanes of the warp (threads of the block) call a
   function together; blocks have one dimension. "lanes" is a set of lanes, lane i as bit i, as __ballot_sync gives it.

     lane                      0   1   2   3   4   5   6   7 ...
     value                     3   1   4   1   5   9   2   6
     warp_sum, over 8 lanes   31  31  31  31  31  31  31  31     as warp_min, warp_max, warp_or: every lane gets it
     warp_scan_inclusive       3   4   8   9  14  23  25  31
     warp_scan_exclusive       0   3   4   8   9  14  23  25
     warp_scan_max             3   3   4   4   5   9   9   9
     warp_before               3   3   1   4   1   5   9   2     warp_after: the other way

     wanted                    no yes yes  no yes  no  no yes    lanes = 10010110b
     warp_rank(lanes)          0   0   1   2   2   3   3   3     places of a list without gaps

   A sum of floats is one of pairs: first lanes LANES / 2 apart, last neighbours. */
#ifndef MOTE_WARP_CUH
#define MOTE_WARP_CUH

#include "device/cuda/cuda_kernel.cuh"

/* ---- lanes */

static __device__ __forceinline__ uint32_t warp_lane(void) { return threadIdx.x % CUDA_WARP; }

/* How many of the lanes come before this one. */
static __device__ __forceinline__ uint32_t warp_rank(uint32_t lanes) {
    return (uint32_t)__popc(lanes & ((1u << warp_lane()) - 1));
}

/* The first of the lanes; there is one. */
static __device__ __forceinline__ uint32_t warp_first(uint32_t lanes) { return (uint32_t)__ffs((int)lanes) - 1; }

/* The n-th of the lanes, from 0; there are more than n. */
static __device__ __forceinline__ uint32_t warp_nth(uint32_t lanes, uint32_t n) {
    for (; n > 0; n--) lanes &= lanes - 1;
    return warp_first(lanes);
}

/* What one lane has. */
template <class T> static __device__ __forceinline__ T warp_broadcast(T value, uint32_t lane) {
    return __shfl_sync(CUDA_ALL, value, (int)lane);
}

/* What the lane n before this one, or behind it, has; where there is none, the lane's own. */
template <class T> static __device__ __forceinline__ T warp_before(T value, uint32_t n = 1) {
    return __shfl_up_sync(CUDA_ALL, value, n);
}

template <class T> static __device__ __forceinline__ T warp_after(T value, uint32_t n = 1) {
    return __shfl_down_sync(CUDA_ALL, value, n);
}

/* What the lane has whose number differs in these bits: lanes exchange their values in pairs. */
template <class T> static __device__ __forceinline__ T warp_exchange(T value, uint32_t bits) {
    return __shfl_xor_sync(CUDA_ALL, value, (int)bits);
}

/* The value of the first of the lanes; *same: all lanes that have it. For work that goes value by value:
   for (uint32_t rest = __ballot_sync(CUDA_ALL, any), same; rest != 0; rest &= ~same) warp_value_of(rest, value, &same)
 */
template <class T> static __device__ __forceinline__ T warp_value_of(uint32_t lanes, T value, uint32_t *same) {
    const T first = warp_broadcast(value, warp_first(lanes));
    *same = __ballot_sync(CUDA_ALL, value == first);
    return first;
}

/* ---- reduce: over groups of LANES neighbours, a power of two, or all of the warp; every lane gets its group's */

template <uint32_t LANES = CUDA_WARP, class T> static __device__ __forceinline__ T warp_min(T value) {
#pragma unroll
    for (uint32_t away = LANES / 2; away > 0; away /= 2) value = min(value, warp_exchange(value, away));
    return value;
}

template <uint32_t LANES = CUDA_WARP, class T> static __device__ __forceinline__ T warp_max(T value) {
#pragma unroll
    for (uint32_t away = LANES / 2; away > 0; away /= 2) value = max(value, warp_exchange(value, away));
    return value;
}

template <uint32_t LANES = CUDA_WARP, class T> static __device__ __forceinline__ T warp_sum(T value) {
#pragma unroll
    for (uint32_t away = LANES / 2; away > 0; away /= 2) value += warp_exchange(value, away);
    return value;
}

template <uint32_t LANES = CUDA_WARP, class T> static __device__ __forceinline__ T warp_or(T value) {
#pragma unroll
    for (uint32_t away = LANES / 2; away > 0; away /= 2) value |= warp_exchange(value, away);
    return value;
}

/* ---- scan, of integers */

/* The sum over this lane and those before it. The last lane has that of all. */
template <class T> static __device__ __forceinline__ T warp_scan_inclusive(T value) {
#pragma unroll
    for (uint32_t away = 1; away < CUDA_WARP; away *= 2) {
        const T other = warp_before(value, away);
        if (warp_lane() >= away) value += other;
    }
    return value;
}

/* The sum over the lanes before this one. */
template <class T> static __device__ __forceinline__ T warp_scan_exclusive(T value) {
    return warp_scan_inclusive(value) - value;
}

/* The largest value of this lane and those before it. */
template <class T> static __device__ __forceinline__ T warp_scan_max(T value) {
#pragma unroll
    for (uint32_t away = 1; away < CUDA_WARP; away *= 2) value = max(value, warp_before(value, away));
    return value;
}

/* ---- compaction: lists without gaps, in the order of the lanes */

/* The place of this lane's item in a list of *count items to which the lanes that want it append theirs; *count, the
   same in all lanes, becomes the longer list's. */
template <class T> static __device__ __forceinline__ T warp_append(bool wanted, T *count) {
    const uint32_t lanes = __ballot_sync(CUDA_ALL, wanted);
    const T place = *count + warp_rank(lanes);
    *count += (uint32_t)__popc(lanes);
    return place;
}

/* The same for a list of several warps, whose length is in memory: one atomic operation for the lanes that append.
   Which warp comes first is not known. */
template <class T> static __device__ __forceinline__ T warp_reserve(T *count, uint32_t lanes) {
    T first = 0;
    if (warp_lane() == 0) first = atomicAdd(count, (T)__popc(lanes));
    return warp_broadcast(first, 0) + warp_rank(lanes);
}

/* ---- a block of WARPS warps. buffer: [WARPS] in shared memory, free again after the caller's next __syncthreads */

/* The sum over all threads, to each of them. */
template <uint32_t WARPS, class T> static __device__ __forceinline__ T block_sum(T value, T *buffer) {
    value = warp_sum(value);
    if (warp_lane() == 0) buffer[threadIdx.x / CUDA_WARP] = value;
    __syncthreads();
    T sum = 0;
    for (uint32_t w = 0; w < WARPS; w++) sum += buffer[w];
    return sum;
}

/* warp_append for a block: *count, the same in all threads, becomes longer by those of the block. */
template <uint32_t WARPS>
static __device__ __forceinline__ uint32_t block_append(bool wanted, uint32_t *buffer, uint32_t *count) {
    const uint32_t lanes = __ballot_sync(CUDA_ALL, wanted), warp = threadIdx.x / CUDA_WARP;
    if (warp_lane() == 0) buffer[warp] = (uint32_t)__popc(lanes);
    __syncthreads();
    uint32_t place = *count + warp_rank(lanes);
    for (uint32_t w = 0; w < WARPS; w++) {
        if (w < warp) place += buffer[w];
        *count += buffer[w];
    }
    return place;
}

/* The sum over the threads before this one; *total: over all. */
template <uint32_t WARPS, class T>
static __device__ __forceinline__ T block_scan_exclusive(T value, T *buffer, T *total) {
    const uint32_t warp = threadIdx.x / CUDA_WARP;
    const T inclusive = warp_scan_inclusive(value);
    if (warp_lane() == CUDA_WARP - 1) buffer[warp] = inclusive;
    __syncthreads();
    T before = 0;
    *total = 0;
    for (uint32_t w = 0; w < WARPS; w++) {
        before += w < warp ? buffer[w] : 0;
        *total += buffer[w];
    }
    return before + inclusive - value;
}

#endif

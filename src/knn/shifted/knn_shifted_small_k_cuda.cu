/* Shifted sorting, up to 64 neighbours: a warp has one query and all its candidates in registers. A square that enough
   of them do not exceed is searched for by counting; what it leaves, some more than k, is put in order by 25 bits of
   the squares, and by keys if these tell another order. */
#include <math.h>

#include "knn/index/knn_sort_cuda.cuh"
#include "knn/shifted/knn_shifted_traversal_cuda.cuh"

#define WARPS      4u
#define LEFT       128u             /* candidates that the first cut may leave */
#define CUT_TRIES  48               /* 31 halvings, and some that do better */
#define CUT_CLEVER 8                /* tries before every other one is a halving */
#define GRADE_MAX  ((1u << 25) - 2) /* of squares, above seven bits of a slot */
#define NO_GRADE   UINT32_MAX

/* The candidates of a warp that are left: a square and its number among all candidates, which later is an index. */
typedef struct shifted_candidates {
    uint64_t key[LEFT];
    uint2 item[LEFT];
    __device__ __forceinline__ uint32_t &index_at(uint32_t i) { return item[i].y; }
} shifted_candidates;

/* ---- a square that few do not exceed. Squares are bits. */

/* 1 if a is at most b; both below 2^31. */
static __device__ inline uint32_t is_within(uint32_t a, uint32_t b) { return (a - (b + 1)) >> 31; }

template <int N> static __device__ inline uint32_t count_mine(const uint32_t (&square)[N], uint32_t max_square) {
    uint32_t count = 0;
#pragma unroll
    for (int i = 0; i < N; i++) count += is_within(square[i], max_square);
    return count;
}

template <int N> static __device__ inline uint32_t count_within(const uint32_t (&square)[N], uint32_t max_square) {
    uint32_t count = 0;
    if (N <= 4) {
#pragma unroll
        for (int i = 0; i < N; i++) count += (uint32_t)__popc(__ballot_sync(CUDA_ALL, square[i] <= max_square));
    } else {
        count = warp_sum(count_mine(square, max_square));
    }
    return count;
}

/* The largest of the lanes' least squares: a third of all candidates may lie below it. */
template <int N> static __device__ inline uint32_t first_guess(const uint32_t (&square)[N]) {
    uint32_t min_square = square[0];
#pragma unroll
    for (int i = 1; i < N; i++) min_square = min(min_square, square[i]);
    return warp_max(min_square < KNN_SHIFTED_NONE ? min_square : 0);
}

/* Squares between which the count goes from below k to k or more. */
typedef struct small_k_bracket {
    uint32_t low, high;
    uint32_t low_count, high_count; /* high_count UINT32_MAX: only guessed */
} small_k_bracket;

/* Squares grow as their number does, about. */
static __device__ inline uint32_t next_try(const small_k_bracket *b, uint32_t aim, int tries) {
    const bool known = b->high_count != UINT32_MAX;
    const float low = knn_float_of(b->low), high = knn_float_of(b->high);
    const float wanted = (float)aim + 0.5f - (float)b->low_count;
    const float rise = known ? high - low : low, run = (float)(known ? b->high_count - b->low_count : b->low_count);
    const uint32_t at = knn_bits_of(low + rise * (wanted / run));
    const bool halve = tries > CUT_CLEVER && tries % 2 == 0;
    return !halve && at > b->low && at < b->high ? at : b->low + (b->high - b->low) / 2;
}

/* A square that k or more do not exceed, and at most `accepted` if such a one is found; more than those are within
   `largest`. */
template <int N>
static __device__ inline uint32_t cut(const uint32_t (&square)[N], uint32_t guess, uint32_t largest, uint32_t k,
                                      uint32_t accepted) {
    const uint32_t aim = (k + accepted) / 2;
    small_k_bracket b = {0, largest, 0, UINT32_MAX};
    uint32_t at = min(guess, largest);
    CUDA_ROLLED
    for (int tries = 0; tries < CUT_TRIES; tries++) {
        const uint32_t count = count_within(square, at);
        if (count >= k) {
            b.high = at;
            b.high_count = count;
            if (count <= accepted) break;
        } else {
            b.low = at;
            b.low_count = count;
        }
        if (b.high - b.low <= 1) break;
        at = next_try(&b, aim, tries);
    }
    return b.high;
}

/* Lists those within. Returns how many there are; if more than LEFT, they are not listed.
   number  [N] of the candidates */
template <int N>
static __device__ inline uint32_t keep_within(const uint32_t (&square)[N], const uint32_t (&number)[N],
                                              uint32_t max_square, shifted_candidates *list) {
    const uint32_t mine = count_mine(square, max_square), end = warp_scan_inclusive(mine);
    const uint32_t count = warp_broadcast(end, CUDA_WARP - 1);
    uint32_t to = end - mine;
    if (count > LEFT) return count;
#pragma unroll
    for (int i = 0; i < N; i++) {
        if (square[i] <= max_square) list->item[to++] = make_uint2(square[i], number[i]);
    }
    __syncwarp();
    return count;
}

/* The largest square of a neighbour, if k are found at most at one; lowers most to it. */
static __device__ inline void lower(const knn_shifted_args *args, uint32_t found, float slack, uint32_t *max_square) {
    *max_square = min(*max_square, knn_shifted_insertion_place(&args->bounds, found, slack));
}

/* Cuts what is listed once more, if it is more than accepted. Returns how many are left. */
static __device__ inline uint32_t cut_list(const knn_shifted_args *args, uint32_t count, uint32_t accepted, float slack,
                                           uint32_t lane, shifted_candidates *list, uint32_t *max_square) {
    uint32_t square[LEFT / CUDA_WARP], number[LEFT / CUDA_WARP];
    if (count <= accepted) return count;
#pragma unroll
    for (uint32_t i = 0; i < LEFT / CUDA_WARP; i++) {
        const uint32_t slot = i * CUDA_WARP + lane;
        const uint2 item = list->item[min(slot, count - 1)];
        square[i] = slot < count ? item.x : KNN_SHIFTED_NONE;
        number[i] = item.y;
    }
    __syncwarp();
    const float guess = knn_float_of(*max_square) * ((float)args->k / (float)count);
    lower(args, cut(square, knn_bits_of(guess), *max_square, args->k, accepted), slack, max_square);
    return keep_within(square, number, *max_square, list);
}

/* ---- order */

template <int N> struct small_k_row {
    uint64_t key[N];
    uint32_t index[N];
};

/* Whether the entries are in order, number i · 32 + lane being the lane's i-th. */
template <int N> static __device__ inline bool is_ordered(const small_k_row<N> *row, uint32_t lane) {
    bool wrong = false;
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int next = i + 1 < N ? i + 1 : i; /* lane 31 comes before lane 0 of that */
        const uint64_t brought = lane == 0 ? row->key[next] : row->key[i];
        const uint32_t index_brought = lane == 0 ? row->index[next] : row->index[i];
        const uint64_t key = __shfl_sync(CUDA_ALL, (unsigned long long)brought, (int)(lane + 1));
        const uint32_t index = __shfl_sync(CUDA_ALL, index_brought, (int)(lane + 1));
        const bool exists = i + 1 < N || lane + 1 < CUDA_WARP;
        wrong = wrong || (exists && knn_is_before(key, index, row->key[i], row->index[i]));
    }
    return __ballot_sync(CUDA_ALL, wrong) == 0;
}

/* The point of a candidate's number. */
template <uint32_t CHUNKS>
static __device__ inline uint4 point_of(const knn_shifted_args *args, uint32_t place, uint32_t number) {
    const uint32_t order = number / (CHUNKS * CUDA_WARP), i = number % (CHUNKS * CUDA_WARP);
    const uint32_t insertion_places = __ldg((const uint32_t *)(args->insertion_places + place) + order);
    const uint32_t first = insertion_places > args->beside ? insertion_places - args->beside : 0;
    return __ldg(args->orders.near[0] + ((uint64_t)order * args->points.count + first + i));
}

static __device__ inline uint32_t grade_of(uint32_t square, float fine, uint32_t slot) {
    return (uint32_t)fminf(knn_float_of(square) * fine, (float)GRADE_MAX) * LEFT + slot;
}

/* Keys of the remaining candidates, at least one and at most N · 32, in order. */
template <int KIND, bool ELLIPSOID, uint32_t CHUNKS, int N>
static __device__ inline void order_row(const knn_shifted_args *args, uint32_t place, uint32_t count,
                                        uint32_t max_square, uint32_t lane, shifted_candidates *list,
                                        small_k_row<N> *row) {
    const float largest = knn_float_of(max_square);
    const float fine = largest > 1e-30f && largest < 1e30f ? (float)GRADE_MAX / largest : 0;
    const knn_shifted_exact query = knn_shifted_exact_of<KIND, ELLIPSOID>(args, place);
    uint32_t grade[N];
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t slot = i * CUDA_WARP + lane;
        const uint2 item = list->item[min(slot, count - 1)];
        const uint4 point = point_of<CHUNKS>(args, place, item.y);
        const uint64_t key = knn_shifted_key<KIND, ELLIPSOID>(args, &query, point);
        const bool is_one = slot < count && key <= args->limit;
        row->key[i] = is_one ? key : UINT64_MAX;
        row->index[i] = is_one ? __ldg(args->points.order + point.w) : UINT32_MAX;
        grade[i] = is_one ? grade_of(item.x, fine, slot) : NO_GRADE;
    }
    __syncwarp();
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
        list->key[i * CUDA_WARP + lane] = row->key[i];
        list->item[i * CUDA_WARP + lane].y = row->index[i];
    }
    __syncwarp();
    knn_sort_grades<CUDA_WARP>(grade, lane, NULL);
#pragma unroll
    for (int i = 0; i < N; i++) {
        const bool is_one = grade[i] != NO_GRADE;
        row->key[i] = is_one ? list->key[grade[i] % LEFT] : UINT64_MAX;
        row->index[i] = is_one ? list->item[grade[i] % LEFT].y : UINT32_MAX;
    }
    if (is_ordered(row, lane)) return;
    __syncwarp();
    knn_sort_list<CUDA_WARP>(list, N * CUDA_WARP, lane);
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
        row->key[i] = list->key[i * CUDA_WARP + lane];
        row->index[i] = list->item[i * CUDA_WARP + lane].y;
    }
}

template <bool ELLIPSOID, int N>
static __device__ inline void write_row(const knn_shifted_args *args, uint32_t place, uint32_t lane,
                                        const small_k_row<N> *row) {
    const uint32_t out = __ldg(args->queries.order + place);
    uint32_t found = 0;
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t nth = i * CUDA_WARP + lane;
        found += (uint32_t)__popc(__ballot_sync(CUDA_ALL, nth < args->k && row->index[i] != UINT32_MAX));
        if (nth < args->k) knn_shifted_write<ELLIPSOID>(args, out, nth, row->key[i], row->index[i]);
    }
    if (args->rows.count != NULL && lane == 0) args->rows.count[out] = found;
}

template <int KIND, bool ELLIPSOID, uint32_t CHUNKS, int N>
static __device__ inline void finish(const knn_shifted_args *args, uint32_t place, uint32_t count, uint32_t max_square,
                                     uint32_t lane, shifted_candidates *list) {
    small_k_row<N> row;
#pragma unroll
    for (int i = 0; i < N; i++) {
        row.key[i] = UINT64_MAX;
        row.index[i] = UINT32_MAX;
    }
    if (count > 0) order_row<KIND, ELLIPSOID, CHUNKS, N>(args, place, count, max_square, lane, list, &row);
    write_row<ELLIPSOID, N>(args, place, lane, &row);
}

/* ---- the search */

/* Lists what may be among the neighbours of a query; more than LEFT: nothing is listed. */
template <bool ELLIPSOID, uint32_t CHUNKS>
static __device__ inline uint32_t list_near(const knn_shifted_args *args, uint32_t place, uint32_t accepted,
                                            float slack, uint32_t lane, shifted_candidates *list,
                                            uint32_t *max_square) {
    const knn_shifted_query q = knn_shifted_query_of<ELLIPSOID>(args, place);
    uint32_t square[KNN_SHIFTS * CHUNKS], number[KNN_SHIFTS * CHUNKS];
    uint4 point;
#pragma unroll
    for (uint32_t order = 0; order < KNN_SHIFTS; order++) {
#pragma unroll
        for (uint32_t i = 0; i < CHUNKS; i++) {
            const uint32_t at = order * CHUNKS + i;
            square[at] = knn_shifted_try<ELLIPSOID>(args, &q, order, i * CUDA_WARP + lane, &point);
            number[at] = at * CUDA_WARP + lane;
        }
    }
    const uint32_t first_accepted = CHUNKS > 1 ? LEFT : accepted;
    if (count_within(square, *max_square) > first_accepted) {
        lower(args, cut(square, first_guess(square), *max_square, args->k, first_accepted), slack, max_square);
    }
    return keep_within(square, number, *max_square, list);
}

template <int KIND, bool ELLIPSOID, uint32_t CHUNKS>
static __global__ __launch_bounds__(WARPS *CUDA_WARP) void search_small_k(knn_shifted_args args) {
    __shared__ shifted_candidates lists[WARPS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const uint64_t at = (uint64_t)blockIdx.x * WARPS + warp;
    if (at >= args.query_count) return;
    const uint32_t place = args.list != NULL ? __ldg(args.list + at) : (uint32_t)at;
    shifted_candidates *const list = &lists[warp];
    uint32_t count = 0, max_square = 0;
    if (place < args.queries.extent->finite && args.points.extent->finite > 0) {
        const uint32_t accepted = args.k <= CUDA_WARP ? CUDA_WARP : 2 * CUDA_WARP;
        const float slack = knn_shifted_slack<KIND>(&args, place);
        max_square = knn_shifted_max(&args.bounds, slack);
        count = list_near<ELLIPSOID, CHUNKS>(&args, place, accepted, slack, lane, list, &max_square);
        if (count > LEFT) {
            if (lane == 0) args.hard.list[atomicAdd(args.hard.count, 1u)] = place;
            return;
        }
        if (CHUNKS > 1) count = cut_list(&args, count, accepted, slack, lane, list, &max_square);
    }
    const uint32_t wide = max(count, args.k); /* a row is written whole */
    if (wide <= CUDA_WARP) {
        finish<KIND, ELLIPSOID, CHUNKS, 1>(&args, place, count, max_square, lane, list);
    } else if (wide <= 2 * CUDA_WARP) {
        finish<KIND, ELLIPSOID, CHUNKS, 2>(&args, place, count, max_square, lane, list);
    } else {
        finish<KIND, ELLIPSOID, CHUNKS, 4>(&args, place, count, max_square, lane, list);
    }
}

template <int KIND, bool ELLIPSOID> static void launch_small_k(mote_device *gpu, const knn_shifted_args *args) {
    const uint32_t blocks = cuda_blocks(args->query_count, WARPS), threads = WARPS * CUDA_WARP;
    if (args->beside <= CUDA_WARP / 2) {
        CUDA_LAUNCH(gpu, (search_small_k<KIND, ELLIPSOID, 1>), blocks, threads, *args);
    } else if (args->beside <= CUDA_WARP) {
        CUDA_LAUNCH(gpu, (search_small_k<KIND, ELLIPSOID, 2>), blocks, threads, *args);
    } else if (args->beside <= 2 * CUDA_WARP) {
        CUDA_LAUNCH(gpu, (search_small_k<KIND, ELLIPSOID, 4>), blocks, threads, *args);
    } else {
        CUDA_LAUNCH(gpu, (search_small_k<KIND, ELLIPSOID, 8>), blocks, threads, *args);
    }
}

mote_status knn_shifted_search_small_k(mote_device *gpu, const knn_shifted_args *args) {
    const bool ellipsoidal = args->normals != NULL;
    switch (args->metric.kind) {
    case KNN_INT:
        ellipsoidal ? launch_small_k<KNN_INT, true>(gpu, args) : launch_small_k<KNN_INT, false>(gpu, args);
        break;
    case KNN_FLOAT:
        ellipsoidal ? launch_small_k<KNN_FLOAT, true>(gpu, args) : launch_small_k<KNN_FLOAT, false>(gpu, args);
        break;
    case KNN_DOUBLE:
        ellipsoidal ? launch_small_k<KNN_DOUBLE, true>(gpu, args) : launch_small_k<KNN_DOUBLE, false>(gpu, args);
        break;
    }
    return cuda_launched(gpu, "searching neighbours");
}

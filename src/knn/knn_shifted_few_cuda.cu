/* Shifted sorting, up to 64 neighbours: a warp has one query and all its candidates in registers. A square that enough
   of them do not exceed is searched for by counting; what it leaves, some more than k, is put in order by 25 bits of
   the squares, and by keys if these tell another order. */
#include <math.h>

#include "knn/knn_shifted_walk_cuda.h"

#define WARPS      8u
#define LEFT       128u             /* candidates that the first cut may leave */
#define CUT_TRIES  48               /* 31 halvings, and some that do better */
#define CUT_CLEVER 8                /* tries before every other one is a halving */
#define GRADE_MOST ((1u << 25) - 2) /* of squares, above seven bits of a slot */
#define NO_GRADE   UINT32_MAX

/* The candidates of a warp that are left. */
typedef struct few_list {
    uint64_t key[LEFT];
    float square[LEFT];
    uint32_t who[LEFT]; /* a curve place, later an index */
} few_list;

/* ---- a square that few do not exceed */

template <int N> static __device__ inline uint32_t count_within(const float (&square)[N], float most) {
    uint32_t count = 0;
    if (N <= 4) {
#pragma unroll
        for (int i = 0; i < N; i++) count += (uint32_t)__popc(__ballot_sync(CUDA_ALL, square[i] <= most));
    } else {
#pragma unroll
        for (int i = 0; i < N; i++) count += square[i] <= most;
#pragma unroll
        for (int away = CUDA_WARP / 2; away > 0; away /= 2) count += __shfl_xor_sync(CUDA_ALL, count, away);
    }
    return count;
}

/* The largest of the lanes' least squares: a third of so many candidates may lie below. */
template <int N> static __device__ inline float first_guess(const float (&square)[N]) {
    float least = INFINITY;
#pragma unroll
    for (int i = 0; i < N; i++) least = fminf(least, square[i]);
    least = least < INFINITY ? least : 0;
#pragma unroll
    for (int away = CUDA_WARP / 2; away > 0; away /= 2) least = fmaxf(least, __shfl_xor_sync(CUDA_ALL, least, away));
    return least;
}

/* Squares between which the count goes from below k to k or more; in bits they order as they do in floats. */
typedef struct few_bracket {
    float low, high;
    uint32_t low_count, high_count; /* high_count UINT32_MAX: only guessed */
} few_bracket;

static __device__ inline float next_try(const few_bracket *b, uint32_t aim, int tries) {
    const uint32_t low = knn_bits_of(b->low), high = knn_bits_of(b->high);
    float at = (float)aim + 0.5f - (float)b->low_count;
    if (b->high_count != UINT32_MAX) {
        at = b->low + (b->high - b->low) * (at / (float)(b->high_count - b->low_count));
    } else {
        at = b->low + b->low * 1.25f * (at / (float)b->low_count);
    }
    const bool halve = tries > CUT_CLEVER && tries % 2 == 0;
    return !halve && at > b->low && at < b->high ? at : knn_float_of(low + (high - low) / 2);
}

/* A square that k or more do not exceed, and at most `accepted` if such a one is found; the largest if there are not
   more. Of numbers that are not NaN. */
template <int N>
static __device__ inline float cut(const float (&square)[N], float largest, uint32_t k, uint32_t accepted) {
    const uint32_t aim = (k + accepted) / 2;
    few_bracket b = {0, largest, 0, UINT32_MAX};
    if (count_within(square, largest) <= accepted) return largest;
    float at = fminf(first_guess(square), largest);
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
        if (knn_bits_of(b.high) - knn_bits_of(b.low) <= 1) break;
        at = next_try(&b, aim, tries);
    }
    return b.high;
}

/* Lists those within. Returns how many there are, of which the first LEFT are listed. */
template <int N>
static __device__ inline uint32_t keep_within(const float (&square)[N], const uint32_t (&who)[N], float most,
                                              uint32_t lane, few_list *list) {
    uint32_t count = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        const bool kept = square[i] <= most;
        const uint32_t lanes = __ballot_sync(CUDA_ALL, kept);
        const uint32_t to = count + (uint32_t)__popc(lanes & ((1u << lane) - 1));
        if (kept && to < LEFT) {
            list->square[to] = square[i];
            list->who[to] = who[i];
        }
        count += (uint32_t)__popc(lanes);
    }
    __syncwarp();
    return count;
}

/* Cuts what is listed once more. Returns how many are left. */
static __device__ inline uint32_t cut_list(const knn_shifted_ask *ask, uint32_t count, uint32_t accepted, float slack,
                                           uint32_t lane, few_list *list, float *most) {
    float square[LEFT / CUDA_WARP];
    uint32_t who[LEFT / CUDA_WARP];
    if (count <= accepted) return count;
#pragma unroll
    for (uint32_t i = 0; i < LEFT / CUDA_WARP; i++) {
        const uint32_t slot = i * CUDA_WARP + lane;
        square[i] = slot < count ? list->square[slot] : NAN;
        who[i] = slot < count ? list->who[slot] : 0;
    }
    __syncwarp();
    const float found = cut(square, *most, ask->k, accepted);
    *most = fminf(*most, knn_shifted_beside(&ask->bounds, found, slack));
    return keep_within(square, who, *most, lane, list);
}

/* ---- order */

/* Sorts N · 32 numbers; number i · 32 + lane is the lane's i-th. */
template <int N> static __device__ inline void sort_grades(uint32_t (&grade)[N], uint32_t lane) {
#pragma unroll
    for (uint32_t run = 2; run <= N * CUDA_WARP; run *= 2) {
#pragma unroll
        for (uint32_t apart = run / 2; apart > 0; apart /= 2) {
#pragma unroll
            for (uint32_t i = 0; i < N; i++) {
                const uint32_t rows = apart / CUDA_WARP;
                const bool ascending = ((i * CUDA_WARP + lane) & run) == 0;
                if (rows == 0) {
                    const uint32_t other = __shfl_xor_sync(CUDA_ALL, grade[i], (int)apart);
                    const bool least = ((lane & apart) == 0) == ascending;
                    grade[i] = least ? min(grade[i], other) : max(grade[i], other);
                } else if ((i & rows) == 0) {
                    const uint32_t one = grade[i], other = grade[i + rows];
                    grade[i] = ascending ? min(one, other) : max(one, other);
                    grade[i + rows] = ascending ? max(one, other) : min(one, other);
                }
            }
        }
    }
}

static __device__ inline void order_two(few_list *list, uint32_t a, uint32_t b, bool ascending) {
    const uint64_t key_a = list->key[a], key_b = list->key[b];
    const uint32_t who_a = list->who[a], who_b = list->who[b];
    if (knn_is_before(key_b, who_b, key_a, who_a) != ascending) return;
    list->key[a] = key_b;
    list->key[b] = key_a;
    list->who[a] = who_b;
    list->who[b] = who_a;
}

/* The same of whole entries, where grades tie or mislead. */
static __device__ void sort_list(few_list *list, uint32_t count, uint32_t lane) {
    CUDA_ROLLED
    for (uint32_t run = 2; run <= count; run *= 2) {
        CUDA_ROLLED
        for (uint32_t apart = run / 2; apart > 0; apart /= 2) {
            for (uint32_t i = lane; i < count / 2; i += CUDA_WARP) {
                const uint32_t a = 2 * i - (i & (apart - 1));
                order_two(list, a, a + apart, (a & run) == 0);
            }
            __syncwarp();
        }
    }
}

template <int N> struct few_row {
    uint64_t key[N];
    uint32_t index[N];
};

/* Whether the entries are in order, number i · 32 + lane being the lane's i-th. */
template <int N> static __device__ inline bool is_ordered(const few_row<N> *row, uint32_t lane) {
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

/* Keys of what is left, their order, and the row; count is at most N · 32. */
template <int KIND, bool SQUEEZED, int N>
static __device__ inline void finish(const knn_shifted_ask *ask, uint32_t place, uint32_t count, float most,
                                     uint32_t lane, few_list *list) {
    const float fine = most > 1e-30f && most < 1e30f ? (float)GRADE_MOST / most : 0;
    const uint32_t out = __ldg(ask->queries.order + place);
    uint32_t grade[N], found = 0;
    few_row<N> row;
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t slot = i * CUDA_WARP + lane;
        uint64_t key = UINT64_MAX;
        uint32_t index = UINT32_MAX;
        grade[i] = NO_GRADE;
        if (slot < count) {
            const uint32_t who = list->who[slot];
            key = knn_shifted_key<KIND, SQUEEZED>(ask, place, who);
            if (key <= ask->limit) {
                index = __ldg(ask->points.order + who);
                grade[i] = (uint32_t)fminf(list->square[slot] * fine, (float)GRADE_MOST) * LEFT + slot;
            } else {
                key = UINT64_MAX;
            }
        }
        list->key[slot] = key;
        list->who[slot] = index;
    }
    __syncwarp();
    sort_grades(grade, lane);
#pragma unroll
    for (int i = 0; i < N; i++) {
        const bool exists = grade[i] != NO_GRADE;
        row.key[i] = exists ? list->key[grade[i] % LEFT] : UINT64_MAX;
        row.index[i] = exists ? list->who[grade[i] % LEFT] : UINT32_MAX;
    }
    if (!is_ordered(&row, lane)) {
        __syncwarp();
        sort_list(list, N * CUDA_WARP, lane);
#pragma unroll
        for (uint32_t i = 0; i < N; i++) {
            row.key[i] = list->key[i * CUDA_WARP + lane];
            row.index[i] = list->who[i * CUDA_WARP + lane];
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t nth = i * CUDA_WARP + lane;
        found += (uint32_t)__popc(__ballot_sync(CUDA_ALL, nth < ask->k && row.index[i] != UINT32_MAX));
        if (nth < ask->k) knn_shifted_write<SQUEEZED>(ask, out, nth, row.key[i], row.index[i]);
    }
    if (ask->rows.count != NULL && lane == 0) ask->rows.count[out] = found;
}

template <int KIND, bool SQUEEZED>
static __device__ inline void finish_any(const knn_shifted_ask *ask, uint32_t place, uint32_t count, float most,
                                         uint32_t lane, few_list *list) {
    const uint32_t wide = max(count, ask->k); /* a row is written whole */
    if (wide <= CUDA_WARP) {
        finish<KIND, SQUEEZED, 1>(ask, place, count, most, lane, list);
    } else if (wide <= 2 * CUDA_WARP) {
        finish<KIND, SQUEEZED, 2>(ask, place, count, most, lane, list);
    } else {
        finish<KIND, SQUEEZED, 4>(ask, place, count, most, lane, list);
    }
}

/* ---- the search */

/* Lists what may be among the neighbours of a query; more than LEFT: they are not all listed. */
template <bool SQUEEZED, uint32_t CHUNKS>
static __device__ inline uint32_t list_near(const knn_shifted_ask *ask, uint32_t place, uint32_t accepted, float slack,
                                            uint32_t lane, few_list *list, float *most) {
    const knn_shifted_query q = knn_shifted_query_of<SQUEEZED>(ask, place);
    float square[KNN_SHIFTS * CHUNKS];
    uint32_t who[KNN_SHIFTS * CHUNKS];
#pragma unroll
    for (uint32_t order = 0; order < KNN_SHIFTS; order++) {
#pragma unroll
        for (uint32_t i = 0; i < CHUNKS; i++) {
            const uint32_t at = order * CHUNKS + i;
            square[at] = knn_shifted_try<SQUEEZED>(ask, &q, order, i * CUDA_WARP + lane, &who[at]);
        }
    }
    const uint32_t first_accepted = CHUNKS > 1 ? LEFT : accepted;
    const float found = cut(square, *most, ask->k, first_accepted);
    *most = fminf(*most, knn_shifted_beside(&ask->bounds, found, slack));
    return keep_within(square, who, *most, lane, list);
}

template <int KIND, bool SQUEEZED, uint32_t CHUNKS>
static __global__ __launch_bounds__(WARPS *CUDA_WARP) void search_few(knn_shifted_ask ask) {
    __shared__ few_list lists[WARPS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const uint64_t at = (uint64_t)blockIdx.x * WARPS + warp;
    if (at >= ask.asked) return;
    const uint32_t place = ask.list != NULL ? __ldg(ask.list + at) : (uint32_t)at;
    few_list *const list = &lists[warp];
    uint32_t count = 0;
    float most = INFINITY;
    if (place < ask.queries.extent->finite) {
        const uint32_t accepted = ask.k <= CUDA_WARP ? CUDA_WARP : 2 * CUDA_WARP;
        const float slack = knn_shifted_slack<KIND>(&ask);
        most = knn_shifted_most<KIND, SQUEEZED>(&ask, ask.limit, slack);
        count = list_near<SQUEEZED, CHUNKS>(&ask, place, accepted, slack, lane, list, &most);
        if (count > LEFT) {
            if (lane == 0) ask.hard.list[atomicAdd(ask.hard.count, 1u)] = place;
            return;
        }
        if (CHUNKS > 1) count = cut_list(&ask, count, accepted, slack, lane, list, &most);
    }
    finish_any<KIND, SQUEEZED>(&ask, place, count, most, lane, list);
}

template <int KIND, bool SQUEEZED> static void launch_few(mote_context *ctx, const knn_shifted_ask *ask) {
    const uint32_t blocks = cuda_blocks(ask->asked, WARPS), threads = WARPS * CUDA_WARP;
    if (ask->beside <= CUDA_WARP / 2) {
        CUDA_LAUNCH(ctx, (search_few<KIND, SQUEEZED, 1>), blocks, threads, *ask);
    } else if (ask->beside <= CUDA_WARP) {
        CUDA_LAUNCH(ctx, (search_few<KIND, SQUEEZED, 2>), blocks, threads, *ask);
    } else {
        CUDA_LAUNCH(ctx, (search_few<KIND, SQUEEZED, 4>), blocks, threads, *ask);
    }
}

mote_status knn_shifted_search_few(mote_context *ctx, const knn_shifted_ask *ask) {
    const bool squeezed = ask->normals != NULL;
    switch (ask->metric.kind) {
    case KNN_INT: squeezed ? launch_few<KNN_INT, true>(ctx, ask) : launch_few<KNN_INT, false>(ctx, ask); break;
    case KNN_FLOAT: squeezed ? launch_few<KNN_FLOAT, true>(ctx, ask) : launch_few<KNN_FLOAT, false>(ctx, ask); break;
    case KNN_DOUBLE: squeezed ? launch_few<KNN_DOUBLE, true>(ctx, ask) : launch_few<KNN_DOUBLE, false>(ctx, ask); break;
    }
    return cuda_launched(ctx, "searching neighbours");
}

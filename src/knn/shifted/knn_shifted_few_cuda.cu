/* Shifted sorting, up to 64 neighbours: a warp has one query and all its candidates in registers. A square that enough
   of them do not exceed is searched for by counting; what it leaves, some more than k, is put in order by 25 bits of
   the squares, and by keys if these tell another order. */
#include <math.h>

#include "knn/shifted/knn_shifted_walk_cuda.h"

#define WARPS      4u
#define LEFT       128u             /* candidates that the first cut may leave */
#define CUT_TRIES  48               /* 31 halvings, and some that do better */
#define CUT_CLEVER 8                /* tries before every other one is a halving */
#define GRADE_MOST ((1u << 25) - 2) /* of squares, above seven bits of a slot */
#define NO_GRADE   UINT32_MAX

/* The candidates of a warp that are left: a square and its number among all candidates, which later is an index. */
typedef struct few_list {
    uint64_t key[LEFT];
    uint2 item[LEFT];
} few_list;

/* ---- a square that few do not exceed. Squares are bits. */

/* 1 if a is at most b; both below 2^31. */
static __device__ inline uint32_t is_within(uint32_t a, uint32_t b) { return (a - (b + 1)) >> 31; }

template <int N> static __device__ inline uint32_t count_mine(const uint32_t (&square)[N], uint32_t most) {
    uint32_t count = 0;
#pragma unroll
    for (int i = 0; i < N; i++) count += is_within(square[i], most);
    return count;
}

template <int N> static __device__ inline uint32_t count_within(const uint32_t (&square)[N], uint32_t most) {
    uint32_t count = 0;
    if (N <= 4) {
#pragma unroll
        for (int i = 0; i < N; i++) count += (uint32_t)__popc(__ballot_sync(CUDA_ALL, square[i] <= most));
    } else {
        count = count_mine(square, most);
#pragma unroll
        for (int away = CUDA_WARP / 2; away > 0; away /= 2) count += __shfl_xor_sync(CUDA_ALL, count, away);
    }
    return count;
}

/* The largest of the lanes' least squares: a third of so many candidates may lie below. */
template <int N> static __device__ inline uint32_t first_guess(const uint32_t (&square)[N]) {
    uint32_t least = square[0];
#pragma unroll
    for (int i = 1; i < N; i++) least = min(least, square[i]);
    least = least < KNN_SHIFTED_NONE ? least : 0;
#pragma unroll
    for (int away = CUDA_WARP / 2; away > 0; away /= 2) least = max(least, __shfl_xor_sync(CUDA_ALL, least, away));
    return least;
}

/* Squares between which the count goes from below k to k or more. */
typedef struct few_bracket {
    uint32_t low, high;
    uint32_t low_count, high_count; /* high_count UINT32_MAX: only guessed */
} few_bracket;

/* Squares grow as their number does, about. */
static __device__ inline uint32_t next_try(const few_bracket *b, uint32_t aim, int tries) {
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
    few_bracket b = {0, largest, 0, UINT32_MAX};
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
static __device__ inline uint32_t keep_within(const uint32_t (&square)[N], const uint32_t (&number)[N], uint32_t most,
                                              uint32_t lane, few_list *list) {
    uint32_t to = count_mine(square, most);
    const uint32_t mine = to;
#pragma unroll
    for (uint32_t by = 1; by < CUDA_WARP; by *= 2) {
        const uint32_t before = __shfl_up_sync(CUDA_ALL, to, by);
        to += lane >= by ? before : 0;
    }
    const uint32_t count = __shfl_sync(CUDA_ALL, to, CUDA_WARP - 1);
    to -= mine;
    if (count > LEFT) return count;
#pragma unroll
    for (int i = 0; i < N; i++) {
        if (square[i] <= most) list->item[to++] = make_uint2(square[i], number[i]);
    }
    __syncwarp();
    return count;
}

/* The largest square of a neighbour, if k are found at most at one; lowers most to it. */
static __device__ inline void lower(const knn_shifted_ask *ask, uint32_t found, float slack, uint32_t *most) {
    *most = min(*most, knn_shifted_beside(&ask->bounds, found, slack));
}

/* Cuts what is listed once more, if it is more than accepted. Returns how many are left. */
static __device__ inline uint32_t cut_list(const knn_shifted_ask *ask, uint32_t count, uint32_t accepted, float slack,
                                           uint32_t lane, few_list *list, uint32_t *most) {
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
    const float guess = knn_float_of(*most) * ((float)ask->k / (float)count);
    lower(ask, cut(square, knn_bits_of(guess), *most, ask->k, accepted), slack, most);
    return keep_within(square, number, *most, lane, list);
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
    const uint32_t index_a = list->item[a].y, index_b = list->item[b].y;
    if (knn_is_before(key_b, index_b, key_a, index_a) != ascending) return;
    list->key[a] = key_b;
    list->key[b] = key_a;
    list->item[a].y = index_b;
    list->item[b].y = index_a;
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

/* The point of a candidate's number. */
template <uint32_t CHUNKS>
static __device__ inline uint4 point_of(const knn_shifted_ask *ask, uint32_t place, uint32_t number) {
    const uint32_t order = number / (CHUNKS * CUDA_WARP), i = number % (CHUNKS * CUDA_WARP);
    const uint32_t stands = __ldg((const uint32_t *)(ask->stands + place) + order);
    const uint32_t first = stands > ask->beside ? stands - ask->beside : 0;
    return __ldg(ask->orders.near[0] + ((uint64_t)order * ask->points.count + first + i));
}

static __device__ inline uint32_t grade_of(uint32_t square, float fine, uint32_t slot) {
    return (uint32_t)fminf(knn_float_of(square) * fine, (float)GRADE_MOST) * LEFT + slot;
}

/* Keys of what is left, at least one and at most N · 32, in order. */
template <int KIND, bool SQUEEZED, uint32_t CHUNKS, int N>
static __device__ inline void order_row(const knn_shifted_ask *ask, uint32_t place, uint32_t count, uint32_t most,
                                        uint32_t lane, few_list *list, few_row<N> *row) {
    const float largest = knn_float_of(most);
    const float fine = largest > 1e-30f && largest < 1e30f ? (float)GRADE_MOST / largest : 0;
    const knn_shifted_exact query = knn_shifted_exact_of<KIND, SQUEEZED>(ask, place);
    uint32_t grade[N];
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t slot = i * CUDA_WARP + lane;
        const uint2 item = list->item[min(slot, count - 1)];
        const uint4 point = point_of<CHUNKS>(ask, place, item.y);
        const uint64_t key = knn_shifted_key<KIND, SQUEEZED>(ask, &query, point);
        const bool is_one = slot < count && key <= ask->limit;
        row->key[i] = is_one ? key : UINT64_MAX;
        row->index[i] = is_one ? __ldg(ask->points.order + point.w) : UINT32_MAX;
        grade[i] = is_one ? grade_of(item.x, fine, slot) : NO_GRADE;
    }
    __syncwarp();
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
        list->key[i * CUDA_WARP + lane] = row->key[i];
        list->item[i * CUDA_WARP + lane].y = row->index[i];
    }
    __syncwarp();
    sort_grades(grade, lane);
#pragma unroll
    for (int i = 0; i < N; i++) {
        const bool is_one = grade[i] != NO_GRADE;
        row->key[i] = is_one ? list->key[grade[i] % LEFT] : UINT64_MAX;
        row->index[i] = is_one ? list->item[grade[i] % LEFT].y : UINT32_MAX;
    }
    if (is_ordered(row, lane)) return;
    __syncwarp();
    sort_list(list, N * CUDA_WARP, lane);
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
        row->key[i] = list->key[i * CUDA_WARP + lane];
        row->index[i] = list->item[i * CUDA_WARP + lane].y;
    }
}

template <bool SQUEEZED, int N>
static __device__ inline void write_row(const knn_shifted_ask *ask, uint32_t place, uint32_t lane,
                                        const few_row<N> *row) {
    const uint32_t out = __ldg(ask->queries.order + place);
    uint32_t found = 0;
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t nth = i * CUDA_WARP + lane;
        found += (uint32_t)__popc(__ballot_sync(CUDA_ALL, nth < ask->k && row->index[i] != UINT32_MAX));
        if (nth < ask->k) knn_shifted_write<SQUEEZED>(ask, out, nth, row->key[i], row->index[i]);
    }
    if (ask->rows.count != NULL && lane == 0) ask->rows.count[out] = found;
}

template <int KIND, bool SQUEEZED, uint32_t CHUNKS, int N>
static __device__ inline void finish(const knn_shifted_ask *ask, uint32_t place, uint32_t count, uint32_t most,
                                     uint32_t lane, few_list *list) {
    few_row<N> row;
#pragma unroll
    for (int i = 0; i < N; i++) {
        row.key[i] = UINT64_MAX;
        row.index[i] = UINT32_MAX;
    }
    if (count > 0) order_row<KIND, SQUEEZED, CHUNKS, N>(ask, place, count, most, lane, list, &row);
    write_row<SQUEEZED, N>(ask, place, lane, &row);
}

/* ---- the search */

/* Lists what may be among the neighbours of a query; more than LEFT: nothing is listed. */
template <bool SQUEEZED, uint32_t CHUNKS>
static __device__ inline uint32_t list_near(const knn_shifted_ask *ask, uint32_t place, uint32_t accepted, float slack,
                                            uint32_t lane, few_list *list, uint32_t *most) {
    const knn_shifted_query q = knn_shifted_query_of<SQUEEZED>(ask, place);
    uint32_t square[KNN_SHIFTS * CHUNKS], number[KNN_SHIFTS * CHUNKS];
    uint4 point;
#pragma unroll
    for (uint32_t order = 0; order < KNN_SHIFTS; order++) {
#pragma unroll
        for (uint32_t i = 0; i < CHUNKS; i++) {
            const uint32_t at = order * CHUNKS + i;
            square[at] = knn_shifted_try<SQUEEZED>(ask, &q, order, i * CUDA_WARP + lane, &point);
            number[at] = at * CUDA_WARP + lane;
        }
    }
    const uint32_t first_accepted = CHUNKS > 1 ? LEFT : accepted;
    if (count_within(square, *most) > first_accepted) {
        lower(ask, cut(square, first_guess(square), *most, ask->k, first_accepted), slack, most);
    }
    return keep_within(square, number, *most, lane, list);
}

template <int KIND, bool SQUEEZED, uint32_t CHUNKS>
static __global__ __launch_bounds__(WARPS *CUDA_WARP) void search_few(knn_shifted_ask ask) {
    __shared__ few_list lists[WARPS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const uint64_t at = (uint64_t)blockIdx.x * WARPS + warp;
    if (at >= ask.asked) return;
    const uint32_t place = ask.list != NULL ? __ldg(ask.list + at) : (uint32_t)at;
    few_list *const list = &lists[warp];
    uint32_t count = 0, most = 0;
    if (place < ask.queries.extent->finite && ask.points.extent->finite > 0) {
        const uint32_t accepted = ask.k <= CUDA_WARP ? CUDA_WARP : 2 * CUDA_WARP;
        const float slack = knn_shifted_slack<KIND>(&ask);
        most = knn_shifted_most(&ask.bounds, slack);
        count = list_near<SQUEEZED, CHUNKS>(&ask, place, accepted, slack, lane, list, &most);
        if (count > LEFT) {
            if (lane == 0) ask.hard.list[atomicAdd(ask.hard.count, 1u)] = place;
            return;
        }
        if (CHUNKS > 1) count = cut_list(&ask, count, accepted, slack, lane, list, &most);
    }
    const uint32_t wide = max(count, ask.k); /* a row is written whole */
    if (wide <= CUDA_WARP) {
        finish<KIND, SQUEEZED, CHUNKS, 1>(&ask, place, count, most, lane, list);
    } else if (wide <= 2 * CUDA_WARP) {
        finish<KIND, SQUEEZED, CHUNKS, 2>(&ask, place, count, most, lane, list);
    } else {
        finish<KIND, SQUEEZED, CHUNKS, 4>(&ask, place, count, most, lane, list);
    }
}

template <int KIND, bool SQUEEZED> static void launch_few(mote_context *ctx, const knn_shifted_ask *ask) {
    const uint32_t blocks = cuda_blocks(ask->asked, WARPS), threads = WARPS * CUDA_WARP;
    if (ask->beside <= CUDA_WARP / 2) {
        CUDA_LAUNCH(ctx, (search_few<KIND, SQUEEZED, 1>), blocks, threads, *ask);
    } else if (ask->beside <= CUDA_WARP) {
        CUDA_LAUNCH(ctx, (search_few<KIND, SQUEEZED, 2>), blocks, threads, *ask);
    } else if (ask->beside <= 2 * CUDA_WARP) {
        CUDA_LAUNCH(ctx, (search_few<KIND, SQUEEZED, 4>), blocks, threads, *ask);
    } else {
        CUDA_LAUNCH(ctx, (search_few<KIND, SQUEEZED, 8>), blocks, threads, *ask);
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

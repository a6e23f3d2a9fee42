/* A try of a warp that selects (photon_select_cuda.cuh): some of its queries, with the points within one radius. For
   .cu files only. */
#ifndef MOTE_PHOTON_SELECT_WARP_CUDA_H
#define MOTE_PHOTON_SELECT_WARP_CUDA_H

#include "photon/gather/photon_select_memory_cuda.cuh"

template <bool ELLIPSOID, class POLICY, class VISITOR> struct photon_select_try {
    const knn_search_args *args;
    const VISITOR *visitor;
    photon_select_memory<POLICY> *memory;
    knn_distance_bounds bounds;
    float limit; /* the largest square of a point within the caller's radius */
    uint32_t lane, first;

    /* ---- the queries, and the points around them */

    /* Shares the lanes out among some queries of the group, given as bits. */
    __device__ inline photon_select_query share_lanes(uint32_t active) const {
        photon_select_query q;
        const knn_frame<KNN_FLOAT, false> frame = {};
        const uint32_t count = (uint32_t)__popc(active);
        q.parts_log2 = (uint32_t)__clz((int)(count - 1)) - 27;
        q.slot = lane >> q.parts_log2;
        q.part = lane & ((1u << q.parts_log2) - 1);
        q.exists = q.slot < count;
        q.number = warp_nth(active, q.exists ? q.slot : 0);
        q.place = first + q.number;
        q.row = __ldg(args->queries.order + q.place);
        const float3 at = knn_view_at<KNN_FLOAT, false>(&args->tree.metric, &frame, &args->queries, q.place);
        q.at = make_float4(at.x + 0.0f, at.y + 0.0f, at.z + 0.0f, 0); /* there is no -0 */
        q.normal = ELLIPSOID ? knn_scaled_normal(args, q.place, &bounds) : q.at;
        q.direction = visitor->direction(q.place);
        return q;
    }

    __device__ inline float square_to(const photon_select_query *q, const float4 &point) const {
        return knn_bounded_square<ELLIPSOID>(point.x - q->at.x, point.y - q->at.y, point.z - q->at.z, q->normal);
    }

    /* The queries for which a lane's point counts, as bits of their slots. */
    __device__ inline uint32_t counts_for(const photon_select_query *q, bool alike, bool near,
                                          const float4 &point) const {
        if (alike) return near && visitor->counts(point, q->direction) ? UINT32_MAX : 0;
        uint32_t slots = 0;
        for (uint32_t s = 0; s < CUDA_WARP >> q->parts_log2; s++) {
            const uint32_t from = s << q->parts_log2;
            const float3 direction =
                make_float3(warp_broadcast(q->direction.x, from), warp_broadcast(q->direction.y, from),
                            warp_broadcast(q->direction.z, from));
            slots |= near && visitor->counts(point, direction) ? 1u << s : 0;
        }
        return slots;
    }

    /* A lane's point of four leaves of the list, and what decides whether it counts. */
    struct leaf_point {
        float x, y, z;
        uint32_t place;
        bool exists;
        float4 of;
    };

    __device__ inline leaf_point load_leaf_point(uint32_t listed, uint32_t first_leaf, uint32_t finite) const {
        const uint32_t which = first_leaf + lane / KNN_CUDA_LEAF;
        const uint32_t leaf = memory->walk.listed[0][which < listed ? which : listed - 1];
        leaf_point p;
        p.place = leaf * KNN_CUDA_LEAF + lane % KNN_CUDA_LEAF;
        p.exists = which < listed && p.place < finite;
        const float *const views = args->tree.points.views + knn_slot_of(p.place, 0);
        p.x = __ldg(views) + 0.0f;
        p.y = __ldg(views + KNN_CUDA_LEAF) + 0.0f;
        p.z = __ldg(views + 2 * KNN_CUDA_LEAF) + 0.0f;
        p.of = visitor->of_point(p.place < finite ? p.place : finite - 1);
        return p;
    }

    /* Brings the points of the listed leaves that are within the radius of the box. False: they are too many. */
    __device__ inline bool bring_leaves(const photon_select_query *q, const photon_select_box_test<ELLIPSOID> *box,
                                        bool alike, uint32_t listed, uint32_t *count, uint32_t *seen) const {
        const uint32_t finite = args->tree.points.extent->finite;
        if (listed == 0) return true;
        leaf_point next = load_leaf_point(listed, 0, finite);
        CUDA_ROLLED
        for (uint32_t i = 0; i < listed; i += CUDA_WARP / KNN_CUDA_LEAF) {
            const leaf_point p = next; /* the next ones are on their way meanwhile */
            next = load_leaf_point(listed, i + CUDA_WARP / KNN_CUDA_LEAF, finite);
            const float gap =
                knn_square(knn_gap(p.x, p.x, box->low[0], box->high[0]), knn_gap(p.y, p.y, box->low[1], box->high[1]),
                           knn_gap(p.z, p.z, box->low[2], box->high[2]));
            const bool near = p.exists && gap <= box->max;
            const uint32_t slots = counts_for(q, alike, near, p.of);
            const uint32_t lanes = __ballot_sync(CUDA_ALL, slots != 0);
            *seen += (uint32_t)__popc(__ballot_sync(CUDA_ALL, near));
            if (*count + (uint32_t)__popc(lanes) > POLICY::points || *seen > VISITOR::max_seen) return false;
            const uint32_t to = *count + warp_rank(lanes);
            if (slots != 0) {
                memory->point[to] = make_float4(p.x, p.y, p.z, __uint_as_float(p.place));
                memory->counts[to] = (typename POLICY::slots)slots;
            }
            *count += (uint32_t)__popc(lanes);
        }
        return true;
    }

    /* Brings the points within a radius of the queries, and fills up with points at no place, so that four at a time
       can be tried by each lane. False: they are too many. alike: out, all queries have the same direction. */
    __device__ inline bool bring_points(const photon_select_query *q, float max, bool *alike, uint32_t *count,
                                        uint32_t *seen) const {
        photon_select_box_test<ELLIPSOID> box;
        const knn_leaf_range none = {0, 0};
        const knn_frame<KNN_FLOAT, false> frame = {};
        knn_walk<1> w;
        const float3 first_direction = make_float3(warp_broadcast(q->direction.x, 0), warp_broadcast(q->direction.y, 0),
                                                   warp_broadcast(q->direction.z, 0));
        *alike = __all_sync(CUDA_ALL, q->direction.x == first_direction.x && q->direction.y == first_direction.y &&
                                          q->direction.z == first_direction.z);
        const float at[3] = {q->at.x, q->at.y, q->at.z};
        for (int k = 0; k < 3; k++) {
            box.low[k] = warp_min(at[k]);
            box.high[k] = warp_max(at[k]);
        }
        box.max = max;
        box.normal = *alike ? q->normal : make_float4(0, 0, 0, 0);
        box.compression = bounds.compression;
        *count = *seen = 0;
        w.waiting = knn_push_top(&args->tree, memory->walk.waiting, lane);
        while (w.waiting > 0) {
            knn_list_leaves<1, KNN_WAITING>(&args->tree, &frame, box, KNN_NO_NODE, none, lane, memory->walk.waiting,
                                            memory->walk.listed, &w);
            if (!bring_leaves(q, &box, *alike, w.listed[0], count, seen)) return false;
        }
        const uint32_t whole = 4u << q->parts_log2, filled = (*count + whole - 1) / whole * whole;
        for (uint32_t i = *count + lane; i < filled; i += CUDA_WARP) {
            memory->point[i] = make_float4(NAN, 0, 0, 0);
            memory->counts[i] = 0;
        }
        *count = filled;
        return true;
    }

    /* ---- which are within, and where the k-th is */

    /* The bin of a square is the integer next to scale times that: the last bits of it plus 2^23.
       parts_log2: that of the query, perhaps a constant. */
    template <bool ALIKE>
    __device__ __forceinline__ void try_points(const photon_select_query *q, uint32_t parts_log2, float max,
                                               float scale, uint32_t count) const {
        const uint32_t rounds = count >> parts_log2;
        const float mine = q->exists ? max : -1;
        uint32_t word = 0;
        CUDA_ROLLED
        for (uint32_t round = 0; round < rounds; round += 4) {
            const uint32_t first_point = (round << parts_log2) + q->part;
            uint32_t bits = 0;
            float square[4];
#pragma unroll
            for (uint32_t j = 0; j < 4; j++) { /* all loads first, which nothing that is stored may overtake */
                const uint32_t i = first_point + (j << parts_log2);
                const float4 p = memory->point[i];
                const float dx = p.x - q->at.x, dy = p.y - q->at.y, dz = p.z - q->at.z;
                square[j] = knn_bounded_square<ELLIPSOID>(dx, dy, dz, q->normal);
                bool within = square[j] <= mine;
                if (!VISITOR::all) {
                    within = within && (__float_as_uint(dx) | __float_as_uint(dy) | __float_as_uint(dz)) != 0;
                }
                if (!ALIKE) within = within && (memory->counts[i] >> q->slot & 1) != 0;
                bits |= within ? 1u << j : 0;
            }
#pragma unroll
            for (uint32_t j = 0; j < 4; j++) {
                const uint32_t bin = __float_as_uint(fmaf(square[j], scale, 0x1p23f));
                uint32_t *const two = &memory->histogram[bin % (POLICY::bins / 2) * POLICY::queries + q->slot];
                if ((bits >> j & 1) != 0) atomicAdd(two, (bin & POLICY::bins / 2) != 0 ? 0x10000u : 1u);
            }
            word |= bits << (round % CUDA_WARP);
            if (round % CUDA_WARP == CUDA_WARP - 4 || round + 4 >= rounds) {
                memory->within[round / CUDA_WARP * CUDA_WARP + lane] = word;
                word = 0;
            }
        }
    }

    /* Between which squares the k-th is, if it is within the radius.
       Squares of floats in lower bins than that of the k-th by floats are before it by keys, too, and those in higher
       bins behind it, if floats cannot err by what is between: knn_distance_bound_near tells how far they may. */
    __device__ inline photon_select_kth find_bin(const photon_select_query *q, float max, float scale) const {
        photon_select_kth kth;
        const uint32_t *const words = &memory->histogram[q->slot];
        uint32_t sums = 0; /* of the lower half of the bins, and of the upper one */
        for (uint32_t b = 0; b < POLICY::bins / 2; b++) sums += words[b * POLICY::queries];
        const uint32_t lower = sums & 0xFFFF;
        const bool is_upper = lower < args->k;
        uint32_t bin = is_upper ? POLICY::bins / 2 : 0, count = is_upper ? lower : 0;
        for (uint32_t b = 0; b < POLICY::bins / 2; b++) {
            const uint32_t word = words[b * POLICY::queries];
            count += is_upper ? word >> 16 : word & 0xFFFF;
            bin += count < args->k;
        }
        kth.total = lower + (sums >> 16);
        const float low = ((float)bin - 0.5f) / scale * (1 - 0x1p-20f);
        const float high = ((float)bin + 0.5f) / scale * (1 + 0x1p-20f);
        kth.certain = low * (1 - (1 + bounds.compression) * 0x1p-16f);
        if (!(knn_distance_bound_near<KNN_FLOAT, ELLIPSOID>(args, kth.certain, &bounds) < low)) kth.certain = -1;
        kth.most = knn_distance_bound_near<KNN_FLOAT, ELLIPSOID>(args, high, &bounds);
        kth.by_radius = q->exists && max >= limit && kth.total < args->k;
        kth.found = q->exists && kth.total >= args->k && (kth.most <= max || max >= limit);
        kth.key = args->limit;
        return kth;
    }

    /* ---- the k-th */

    /* The number of a point, of a lane's bits from a round on. */
    __device__ inline uint32_t point_of(const photon_select_query *q, uint32_t first_round, uint32_t bit) const {
        return ((first_round + warp_first(bit)) << q->parts_log2) + q->part;
    }

    __device__ inline void add_to_edge(const photon_select_query *q, uint32_t first_round, uint32_t bits) const {
        for (; bits != 0; bits &= bits - 1) {
            const uint32_t at = atomicAdd(&memory->edge_count[q->slot], 1u);
            if (at >= POLICY::edge) continue;
            memory->edge.at[q->slot * POLICY::edge + at] = (uint16_t)point_of(q, first_round, bits);
        }
    }

    /* The points between the bounds become those of the edge, and their bits zero, as those behind it. Returns how many
       remain for the query. All points are looked at once more, four at a time: of those with a bit alone, lanes have
       different numbers. */
    __device__ inline uint32_t collect_edge(const photon_select_query *q, const photon_select_kth *kth,
                                            uint32_t rounds) const {
        uint32_t certain = 0;
        for (uint32_t first_round = 0; first_round < rounds; first_round += CUDA_WARP) {
            uint32_t *const word = &memory->within[first_round + lane];
            const uint32_t end = rounds - first_round < CUDA_WARP ? rounds - first_round : CUDA_WARP;
            const uint32_t within = kth->found ? *word : 0;
            uint32_t below = 0, most = 0;
            CUDA_ROLLED
            for (uint32_t round = 0; round < end; round += 4) {
                uint32_t below_bits = 0, most_bits = 0;
#pragma unroll
                for (uint32_t j = 0; j < 4; j++) {
                    const uint32_t i = ((first_round + round + j) << q->parts_log2) + q->part;
                    const float square = square_to(q, memory->point[i]);
                    below_bits |= square < kth->certain ? 1u << j : 0;
                    most_bits |= square <= kth->most ? 1u << j : 0;
                }
                below |= below_bits << round;
                most |= most_bits << round;
            }
            const uint32_t kept = within & below;
            if (kth->found) *word = kept;
            add_to_edge(q, first_round, within & most & ~below);
            certain += (uint32_t)__popc(kept);
            __syncwarp(); /* lanes that added to the edge go on with the others */
        }
        for (uint32_t away = 1u << q->parts_log2 >> 1; away > 0; away /= 2) certain += warp_exchange(certain, away);
        return certain;
    }

    __device__ inline uint64_t key_to(const knn_exact *query, const knn_ellipsoid *of, const float4 &point) const {
        knn_exact other;
        other.value[0] = (double)point.x;
        other.value[1] = (double)point.y;
        other.value[2] = (double)point.z;
        return knn_key_from<KNN_FLOAT, ELLIPSOID>(args, query, &other, of);
    }

    /* Whether one point of the edge is before another: floats cannot tell these, so exact keys do. */
    __device__ inline bool is_before(uint32_t a, uint32_t b) const {
        const uint64_t key = memory->edge.key[a], other = memory->edge.key[b];
        if (key != other) return key < other;
        return row_of(memory->edge.at[a]) < row_of(memory->edge.at[b]);
    }

    __device__ inline uint32_t row_of(uint32_t i) const {
        return __ldg(args->tree.points.order + __float_as_uint(memory->point[i].w));
    }

    /* The k-th of all is one of the edge; those before it get their bits back. */
    __device__ inline void choose_kth(const photon_select_query *q, const knn_exact *query, const knn_ellipsoid *of,
                                      uint32_t certain, photon_select_kth *kth) const {
        const uint32_t begin = q->slot * POLICY::edge, parts = 1u << q->parts_log2;
        uint32_t count = kth->found ? memory->edge_count[q->slot] : 0;
        if (count > POLICY::edge) count = 0;
        for (uint32_t e = q->part; e < count; e += parts) {
            const float4 point = memory->point[memory->edge.at[begin + e]];
            memory->edge.key[begin + e] = key_to(query, of, point);
        }
        __syncwarp();
        for (uint32_t e = q->part; e < count; e += parts) {
            uint32_t before = certain;
            for (uint32_t f = 0; f < count; f++) before += is_before(begin + f, begin + e);
            if (before + 1 == args->k) memory->kth[q->slot] = e;
        }
        __syncwarp();
        const uint32_t which = memory->kth[q->slot];
        kth->found = kth->found && which < count;
        if (!kth->found) return;
        const uint64_t key = memory->edge.key[begin + which];
        kth->by_radius = key > args->limit;
        if (!kth->by_radius) kth->key = key;
        for (uint32_t e = 0; e < count; e++) {
            const uint32_t i = memory->edge.at[begin + e], round = i >> q->parts_log2;
            const bool before = kth->by_radius || is_before(begin + e, begin + which) || (VISITOR::all && e == which);
            if ((i & (parts - 1)) != q->part || !before) continue;
            memory->within[round / CUDA_WARP * CUDA_WARP + lane] |= 1u << (round % CUDA_WARP);
        }
    }

    /* ---- the visit */

    /* Where fewer than k are within the caller's radius: those whose keys are. */
    __device__ inline void keep_within_limit(const photon_select_query *q, const knn_exact *query,
                                             const knn_ellipsoid *of, uint32_t rounds) const {
        for (uint32_t first_round = 0; first_round < rounds; first_round += CUDA_WARP) {
            uint32_t *const word = &memory->within[first_round + lane];
            uint32_t kept = 0;
            for (uint32_t rest = *word; rest != 0; rest &= rest - 1) {
                const float4 point = memory->point[point_of(q, first_round, rest)];
                if (key_to(query, of, point) <= args->limit) kept |= rest & (0 - rest);
            }
            *word = kept;
        }
    }

    __device__ inline void visit(const photon_select_query *q, uint32_t rounds, const photon_select_kth *kth) const {
        const bool resolved = kth->found || kth->by_radius;
        const double radius2 = knn_real(kth->key);
        const typename VISITOR::disc disc = visitor->disc_of(radius2, q->direction);
        typename VISITOR::visited_sum sum = {};
        uint32_t visited = 0, first_round = 0, next_round = resolved ? 0 : rounds;
        CUDA_ROLLED
        for (uint32_t rest = 0; rest != 0 || next_round < rounds;) { /* lanes go on to their next word on their own */
            if (rest == 0) {
                rest = memory->within[next_round + lane];
                visited += (uint32_t)__popc(rest);
                first_round = next_round;
                next_round += CUDA_WARP;
            }
            const uint32_t one = rest & (0 - rest), others = rest ^ one, two = others & (0 - others);
            const uint32_t i = one != 0 ? point_of(q, first_round, one) : 0;
            const uint32_t j = two != 0 ? point_of(q, first_round, two) : i; /* two at once: neither waits */
            const float4 a = memory->point[i], b = memory->point[j];
            const typename VISITOR::loaded load_a = visitor->load(__float_as_uint(a.w)),
                                           load_b = visitor->load(__float_as_uint(b.w));
            visitor->add(&sum, load_a, &disc, a.x - q->at.x, a.y - q->at.y, a.z - q->at.z, one != 0);
            visitor->add(&sum, load_b, &disc, b.x - q->at.x, b.y - q->at.y, b.z - q->at.z, two != 0);
            rest = others ^ two;
        }
        __syncwarp();
        visitor->merge(&sum, 1u << q->parts_log2);
        for (uint32_t away = 1u << q->parts_log2 >> 1; away > 0; away /= 2) visited += warp_exchange(visited, away);
        if (resolved && q->part == 0 && visited > 0) visitor->finish(q->row, &sum, radius2);
    }

    /* ---- of the k nearest of all points, those that count */

    /* Visits those before the last that counts. False: the k-th of those that count is among them, or it is not known
       which they are. */
    __device__ inline bool visit_before_last(const photon_select_query *q, const knn_exact *query,
                                             const knn_ellipsoid *of, uint32_t rounds,
                                             const photon_select_kth *kth) const {
        uint64_t last = 0;
        uint32_t last_row = 0, count = 0;
        if (!kth->found || kth->by_radius) return false;
        for (uint32_t first_round = 0; first_round < rounds; first_round += CUDA_WARP) {
            uint32_t *const word = &memory->within[first_round + lane];
            uint32_t kept = 0;
            for (uint32_t rest = *word; rest != 0;) { /* two at once: neither waits */
                const uint32_t bits[2] = {rest & (0 - rest), (rest & (rest - 1)) & (0 - (rest & (rest - 1)))};
                uint64_t key[2];
                uint32_t row[2];
                bool counts[2];
#pragma unroll
                for (uint32_t j = 0; j < 2; j++) {
                    const uint32_t i = point_of(q, first_round, bits[j] != 0 ? bits[j] : bits[0]);
                    const float4 point = memory->point[i];
                    key[j] = key_to(query, of, point);
                    row[j] = row_of(i);
                    counts[j] = visitor->faces(__float_as_uint(point.w), q->direction);
                }
#pragma unroll
                for (uint32_t j = 0; j < 2; j++) {
                    if (bits[j] == 0 || !counts[j] || knn_is_zero(key[j])) continue;
                    kept |= bits[j];
                    count++;
                    if (knn_is_before(key[j], row[j], last, last_row)) continue;
                    last = key[j];
                    last_row = row[j];
                }
                rest ^= bits[0] | bits[1];
            }
            *word = kept;
        }
        __syncwarp();
        count = warp_sum(count);
        for (uint32_t away = CUDA_WARP / 2; away > 0; away /= 2) {
            const uint64_t key = warp_exchange((unsigned long long)last, away);
            const uint32_t row = warp_exchange(last_row, away);
            if (!knn_is_before(last, last_row, key, row)) continue;
            last = key;
            last_row = row;
        }
        if (count >= visitor->wanted()) {
            if (lane == 0) visitor->holds_wanted(q->row);
            return false;
        }
        const typename VISITOR::disc disc = visitor->disc_of(knn_real(last), q->direction);
        typename VISITOR::visited_sum sum = {};
        for (uint32_t first_round = 0; first_round < rounds; first_round += CUDA_WARP) {
            for (uint32_t rest = memory->within[first_round + lane]; rest != 0; rest &= rest - 1) {
                const uint32_t i = point_of(q, first_round, rest);
                const float4 point = memory->point[i];
                const typename VISITOR::loaded loaded = visitor->load(__float_as_uint(point.w));
                visitor->add(&sum, loaded, &disc, point.x - q->at.x, point.y - q->at.y, point.z - q->at.z,
                             row_of(i) != last_row);
            }
        }
        __syncwarp();
        visitor->merge(&sum, CUDA_WARP);
        if (lane == 0) visitor->finish(q->row, count > 1 ? &sum : NULL, knn_real(last));
        return true;
    }

    /* ---- a try */

    typedef struct result {
        bool fits;        /* else nothing was done */
        bool all;         /* points of the index were tried: a larger radius finds no more */
        bool rare;        /* of all points that may be searched for, fewer than k count: no radius will do */
        uint32_t done;    /* queries, as bits of their numbers */
        float most, next; /* the largest square that one of these needed; what the others should be tried with */
    } result;

    __device__ inline result try_queries(uint32_t active, float max) const {
        result r = {false, false, false, 0, 0, max};
        const photon_select_query q = share_lanes(active);
        uint32_t count, seen;
        bool alike;
        if (!bring_points(&q, max, &alike, &count, &seen)) {
            r.rare = seen > VISITOR::max_seen && count < args->k;
            return r;
        }
        r.fits = true;
        r.all = seen >= args->tree.points.extent->finite;
        const uint32_t rounds = count >> q.parts_log2;
        const float scale = (float)(POLICY::bins - 1) / max * (1 - 0x1p-20f);
        __syncwarp();
        for (uint32_t i = lane; i < POLICY::bins / 2 * POLICY::queries; i += CUDA_WARP) memory->histogram[i] = 0;
        if (lane < POLICY::queries) {
            memory->edge_count[lane] = 0;
            memory->kth[lane] = UINT32_MAX;
        }
        __syncwarp();
        if (alike && q.parts_log2 == POLICY::usual_parts_log2) {
            try_points<true>(&q, POLICY::usual_parts_log2, max, scale, count);
        } else {
            try_points<false>(&q, q.parts_log2, max, scale, count);
        }
        __syncwarp();
        photon_select_kth kth = find_bin(&q, max, scale);
        const bool enough = kth.found || kth.by_radius;
        __syncwarp();
        const uint32_t certain = collect_edge(&q, &kth, rounds);
        __syncwarp();
        knn_exact query;
        knn_ellipsoid of = {{0, 0, 0}, 0};
        knn_exact_of<KNN_FLOAT>(&args->queries, q.place, &query);
        if (ELLIPSOID) of = knn_ellipsoid_at(args, q.place);
        choose_kth(&q, &query, &of, certain, &kth);
        __syncwarp();
        if constexpr (VISITOR::all) {
            kth.found = visit_before_last(&q, &query, &of, rounds, &kth);
            kth.by_radius = false;
        } else {
            if (kth.by_radius) keep_within_limit(&q, &query, &of, rounds);
            visit(&q, rounds, &kth);
        }
        /* Too many are at the edge: a radius that is hardly larger than the k-th's distance has finer bins. */
        const bool finer = enough && !kth.found && !kth.by_radius && !VISITOR::all && kth.most < 0.9f * max;
        const bool done = enough && !finer;
        if (done && q.part == 0 && !kth.found && !kth.by_radius) visitor->defer(q.row, q.place);
        r.done = warp_or(done ? 1u << q.number : 0);
        r.most = warp_max(kth.found ? fminf(kth.most, max) : 0.0f);
        const float more = 1.3f * (float)args->k / (float)(kth.total + 1);
        const float next = finer ? 1.05f * kth.most : max * fminf(fmaxf(more, 1.3f), 8.0f);
        r.next = warp_max(q.exists && !done ? next : 0.0f);
        __syncwarp();
        return r;
    }
};

#endif

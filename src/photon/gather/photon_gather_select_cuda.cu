/* Gathering on a GPU without rows: a warp finds the discs of some queries, and adds up the power in them as it goes.

   facing      [x y z -] [x y z -] ...      of each photon, in the order of the index
   power       [r g b -] [r g b -] ...      in steps, likewise
   directions  [x y z -] [x y z -] ...      of each query, in the order of the curve, for spheres

   The records themselves lie in the order of photon and path: a photon's neighbours are far from it there. */
#include "photon/gather/photon_gather_cuda.h"
#include "photon/gather/photon_select_cuda.cuh"

#define THREADS 256u

/* ---- photons and queries in the order of the curve */

static __global__ void put_in_order(const photon_record *records, const uint32_t *order, uint64_t count,
                                    mote_photon_area area, double steps, float4 *facings, uint4 *powers) {
    const uint64_t place = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (place >= count) return;
    const photon_record *const record = &records[order[place]];
    const float *const facing = photon_facing(record, area), *const power = record->power;
    facings[place] = make_float4(facing[0], facing[1], facing[2], 0);
    powers[place] = make_uint4(photon_power_steps(power[0], steps), photon_power_steps(power[1], steps),
                               photon_power_steps(power[2], steps), 0);
}

static mote_status need_in_order(mote_device *gpu, const knn_search_args *args, mote_photon_area area,
                                 photon_cloud *photons) {
    const uint64_t count = args->tree.points.count;
    if (photons->in_order != NULL && photons->in_order_area == (int)area) return MOTE_OK;
    if (photons->in_order == NULL) {
        photons->in_order = cuda_alloc(gpu, count * (sizeof(float4) + sizeof(uint4)), "photons");
    }
    if (photons->in_order == NULL) return MOTE_ERROR_MEMORY;
    photons->in_order_area = (int)area;
    float4 *const facings = (float4 *)photons->in_order;
    CUDA_LAUNCH(gpu, put_in_order, cuda_blocks(count, THREADS), THREADS, photons->records, args->tree.points.order,
                count, area, photon_sum_steps(photons->unit), facings, (uint4 *)(facings + count));
    return cuda_launched(gpu, "photons in order");
}

static __global__ void read_directions(const photon_query_columns queries, const uint32_t *order, uint64_t count,
                                       float4 *directions) {
    const uint64_t place = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (place >= count) return;
    float normal[3];
    photon_read_normal(&queries, order[place], normal);
    directions[place] = make_float4(normal[0], normal[1], normal[2], 0);
}

/* ---- the visitors */

/* Places of queries that no radius helped, in any order; and how many of them have no answer in the end. */
typedef struct deferred_queries {
    uint32_t *places, *count, *remaining;
} deferred_queries;

/* Gathers from the k nearest photons that count. */
struct gather_visitor {
    static constexpr bool all = false;
    static constexpr uint32_t max_seen = PHOTON_SELECT_SEEN;

    photon_select_args to;
    const float4 *facings;
    const uint4 *powers;
    const double *normals;    /* of the queries, as the search has them for ellipsoids, */
    const float4 *directions; /* or for spheres */
    deferred_queries deferred;

    struct visited_sum {
        photon_power_sum power;
    };

    __device__ inline float3 direction(uint32_t place) const {
        if (normals != NULL) {
            const double *const n = normals + 3ull * place;
            return make_float3((float)__ldg(n), (float)__ldg(n + 1), (float)__ldg(n + 2));
        }
        const float4 at = __ldg(&directions[place]);
        return make_float3(at.x, at.y, at.z);
    }

    __device__ inline float4 of_point(uint32_t place) const { return __ldg(&facings[place]); }

    __device__ inline bool counts(const float4 &point, const float3 &direction) const {
        const float facing[3] = {point.x, point.y, point.z}, normal[3] = {direction.x, direction.y, direction.z};
        return photon_faces(facing, normal, to.params.area);
    }

    typedef photon_float_disc disc;
    typedef uint4 loaded;

    __device__ inline disc disc_of(double radius2, const float3 &direction) const {
        const float normal[3] = {direction.x, direction.y, direction.z};
        return photon_float_disc_of(&to.terms, normal, radius2);
    }

    __device__ inline loaded load(uint32_t place) const { return __ldg(&powers[place]); }

    __device__ inline void add(visited_sum *sum, const loaded &photon, const disc *of, float dx, float dy, float dz,
                               bool counts) const {
        const uint32_t power[3] = {photon.x, photon.y, photon.z};
        const uint32_t weight = photon_weight_steps(&to.terms, of, dx, dy, dz);
        photon_sum_weighted(&sum->power, power, counts ? weight : 0);
    }

    __device__ inline void merge(visited_sum *sum, uint32_t lanes) const {
        for (uint32_t away = lanes / 2; away > 0; away /= 2) {
            for (int k = 0; k < 3; k++) {
                sum->power.steps[k] += warp_exchange((unsigned long long)sum->power.steps[k], away);
            }
        }
    }

    __device__ inline void finish(uint32_t row, const visited_sum *sum, double radius2) const {
        photon_irradiance_of(&sum->power, radius2, to.steps, to.share, to.irradiance + 3ull * row);
        to.radius2[row] = radius2;
    }

    __device__ inline void defer(uint32_t row, uint32_t place) const {
        to.unresolved[row] = 1;
        deferred.places[atomicAdd(deferred.count, 1u)] = place;
    }
};

/* What is unresolved of a query: of the nearest 1,024 photons k count. */
#define HOLDS_K 2u

/* Gathers for deferred queries, one at a time. */
struct deferred_visitor : gather_visitor {
    static constexpr uint32_t max_seen = UINT32_MAX;

    __device__ inline uint8_t state(uint32_t row) const { return *(const volatile uint8_t *)&to.unresolved[row]; }

    __device__ inline bool is_deferred(uint32_t row) const { return state(row) != 0; }

    __device__ inline bool holds_k(uint32_t row) const { return state(row) == HOLDS_K; }

    __device__ inline void finish(uint32_t row, const visited_sum *sum, double radius2) const {
        to.unresolved[row] = 0;
        gather_visitor::finish(row, sum, radius2);
    }

    __device__ inline void defer(uint32_t, uint32_t) const {}

    __device__ inline void count_unanswered() const { atomicAdd(deferred.remaining, 1u); }
};

/* Gathers from those that count among the 1,024 nearest, where they are fewer than k. */
struct rare_visitor : deferred_visitor {
    static constexpr bool all = true;

    __device__ inline bool counts(const float4 &, const float3 &) const { return true; }

    __device__ inline uint32_t wanted() const { return to.params.k; }

    __device__ inline void holds_wanted(uint32_t row) const { to.unresolved[row] = HOLDS_K; }

    __device__ inline bool faces(uint32_t place, const float3 &direction) const {
        return gather_visitor::counts(of_point(place), direction);
    }

    __device__ inline void finish(uint32_t row, const visited_sum *sum, double radius2) const {
        to.unresolved[row] = 0;
        if (sum != NULL) gather_visitor::finish(row, sum, radius2);
    }
};

bool photon_can_select(const knn_search_args *args) { return knn_can_select(args); }

mote_status photon_select_on_cuda(mote_device *gpu, const knn_search_args *args, photon_cloud *photons,
                                  const photon_select_args *to, uint32_t *remaining) {
    MOTE_TRY(need_in_order(gpu, args, to->params.area, photons));
    const uint64_t count = args->end;
    float4 *const directions =
        (float4 *)cuda_alloc(gpu, count * (sizeof *directions + sizeof(uint32_t)) + sizeof(uint32_t), "photon queries");
    if (directions == NULL) return MOTE_ERROR_MEMORY;
    uint32_t *const places = (uint32_t *)(directions + count);
    const deferred_queries deferred = {places, places + count, remaining};
    rare_visitor rare;
    rare.to = *to;
    rare.facings = (const float4 *)photons->in_order;
    rare.powers = (const uint4 *)(rare.facings + args->tree.points.count);
    rare.normals = args->normals;
    rare.directions = directions;
    rare.deferred = deferred;
    if (args->normals == NULL) {
        CUDA_LAUNCH(gpu, read_directions, cuda_blocks(count, THREADS), THREADS, to->queries, args->queries.order, count,
                    directions);
    }
    mote_status status = cuda_fill(gpu, deferred.count, 0, sizeof *deferred.count);
    if (status == MOTE_OK) status = cuda_fill(gpu, remaining, 0, sizeof *remaining);
    if (status == MOTE_OK) status = photon_select_launch(gpu, args, static_cast<gather_visitor>(rare));
    if (status == MOTE_OK) {
        status = photon_select_launch_deferred(gpu, args, rare, static_cast<deferred_visitor>(rare), deferred.places,
                                               deferred.count);
    }
    cuda_free(gpu, directions);
    return status;
}

/* Gathering on a GPU without rows: a warp finds the discs of some queries, and adds up the power in them as it goes.

   in order    [facing x y z | -][steps of power r g b | -]     of each photon, 48 bytes, in the order of the index

   The records themselves lie in the order of photon and path: a photon's neighbours are far from it there. */
#include "knn/knn_visit_cuda.cuh"
#include "photon/photon_gather_cuda.h"

#define THREADS 256u

/* ---- photons in the order of the index */

typedef struct alignas(16) photon_in_order {
    float4 facing;
    double steps[4];
} photon_in_order;

static __global__ void put_in_order(const photon_record *records, const uint32_t *order, uint64_t count,
                                    mote_photon_area area, double steps, photon_in_order *to) {
    const uint64_t place = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (place >= count) return;
    const photon_record *const record = &records[order[place]];
    const float *const facing = photon_facing(record, area);
    to[place].facing = make_float4(facing[0], facing[1], facing[2], 0);
    for (int k = 0; k < 3; k++) to[place].steps[k] = (double)record->power[k] * steps;
}

static mote_status need_in_order(mote_device *gpu, const knn_search_args *args, mote_photon_area area,
                                 photon_cloud *photons) {
    const uint64_t count = args->tree.points.count;
    if (photons->in_order != NULL && photons->in_order_area == (int)area) return MOTE_OK;
    if (photons->in_order == NULL) photons->in_order = cuda_alloc(gpu, count * sizeof(photon_in_order), "photons");
    if (photons->in_order == NULL) return MOTE_ERROR_MEMORY;
    photons->in_order_area = (int)area;
    CUDA_LAUNCH(gpu, put_in_order, cuda_blocks(count, THREADS), THREADS, photons->records, args->tree.points.order,
                count, area, photon_sum_steps(photons->unit), (photon_in_order *)photons->in_order);
    return cuda_launched(gpu, "photons in order");
}

/* ---- the visitors */

/* Places of queries that are left, in any order. */
typedef struct left_queries {
    uint32_t *places, *count;
} left_queries;

/* Of the k nearest that count. */
struct gather_visitor {
    static constexpr bool all = false;
    static constexpr uint32_t max_seen = KNN_SELECT_SEEN;

    photon_select_args to;
    const photon_in_order *photons;
    left_queries left;

    struct visited_sum {
        photon_power_sum power;
    };

    __device__ inline float3 direction(uint32_t row) const {
        float normal[3];
        photon_read_normal(&to.queries, row, normal);
        return make_float3(normal[0], normal[1], normal[2]);
    }

    __device__ inline float4 of_point(uint32_t place) const { return __ldg(&photons[place].facing); }

    __device__ inline bool counts(const float4 &point, const float3 &direction) const {
        const float facing[3] = {point.x, point.y, point.z}, normal[3] = {direction.x, direction.y, direction.z};
        return photon_faces(facing, normal, to.params.area);
    }

    struct disc {
        double radius2, inverse;
    };

    struct loaded {
        double steps[3];
    };

    __device__ inline disc disc_of(double radius2) const { return {radius2, 1 / radius2}; }

    /* square / radius2 as IEEE 754 rounds it, for squares of differences of floats, so that nothing here overflows or
       vanishes: the first quotient is within two units of its last place, the second within one, and then the third
       is the right one, as the inverse is (Markstein 1990). A division takes twice as long, and may branch. */
    __device__ inline double share_of(double square, const disc *of) const {
        const double first = square * of->inverse;
        const double second = fma(fma(-of->radius2, first, square), of->inverse, first);
        return fma(fma(-of->radius2, second, square), of->inverse, second);
    }

    __device__ inline loaded load(uint32_t place) const {
        const double *const from = photons[place].steps;
        return {{__ldg(from), __ldg(from + 1), __ldg(from + 2)}};
    }

    __device__ inline void add(visited_sum *sum, const loaded *photon, double share, bool counts) const {
        photon_sum_weighted(&sum->power, photon->steps, counts ? photon_filter_weight(to.params.filter, share) : 0);
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

    __device__ inline void leave(uint32_t row, uint32_t place) const {
        to.unresolved[row] = 1;
        left.places[atomicAdd(left.count, 1u)] = place;
    }
};

/* Of those that count among the 1,024 nearest, where they are fewer than k. What it leaves is left before. */
struct rare_visitor : gather_visitor {
    static constexpr bool all = true;
    static constexpr uint32_t max_seen = UINT32_MAX;

    __device__ inline bool counts(const float4 &, const float3 &) const { return true; }

    __device__ inline uint32_t wanted() const { return to.params.k; }

    __device__ inline bool faces(uint32_t place, const float3 &direction) const {
        return gather_visitor::counts(of_point(place), direction);
    }

    __device__ inline void finish(uint32_t row, const visited_sum *sum, double radius2) const {
        to.unresolved[row] = 0;
        if (sum != NULL) gather_visitor::finish(row, sum, radius2);
    }

    __device__ inline void leave(uint32_t, uint32_t) const {}
};

bool photon_can_select(const knn_search_args *args) { return knn_can_select(args); }

mote_status photon_select_on_cuda(mote_device *gpu, const knn_search_args *args, photon_cloud *photons,
                                  const photon_select_args *to) {
    MOTE_TRY(need_in_order(gpu, args, to->params.area, photons));
    uint32_t *const memory = (uint32_t *)cuda_alloc(gpu, ((uint64_t)args->end + 1) * sizeof *memory, "photon queries");
    if (memory == NULL) return MOTE_ERROR_MEMORY;
    const left_queries left = {memory + 1, memory};
    rare_visitor rare;
    rare.to = *to;
    rare.photons = (const photon_in_order *)photons->in_order;
    rare.left = left;
    mote_status status = cuda_fill(gpu, left.count, 0, sizeof *left.count);
    if (status == MOTE_OK) status = knn_select_launch(gpu, args, static_cast<gather_visitor>(rare));
    if (status == MOTE_OK) status = knn_select_launch_all(gpu, args, rare, left.places, left.count);
    cuda_free(gpu, memory);
    return status;
}

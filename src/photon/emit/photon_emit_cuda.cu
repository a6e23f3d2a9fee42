/* Emitting photons on a GPU.

   photons  0 1 2 3 ...      a lane has one after the other: when its photon ends, it takes the next one of all
   spool    [2.0][0.0][3.0][0.1]...   records as they come, each with its photon and its place on the photon's path
   counts   [2 1 3 1 ...]    records of each photon; their sums tell where its records belong
   records  [0.0][0.1][1.0][2.0]...   in the order of photon and path, as on the CPU

   Where the spool is too small, photons are traced once more instead. */
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "photon/photon_cuda.h"

#define BATCH 1048576u /* photons between two reports of progress */

struct emit_policy {
    static constexpr uint32_t threads = 128;
    static constexpr uint32_t blocks = 6;        /* of a multiprocessor: 80 registers; 4 to 8 are as fast */
    static constexpr uint32_t spool_records = 4; /* for each photon */
    static constexpr uint32_t chunk = 64;        /* photons that a warp takes at once */
    static constexpr uint64_t small_spool = 256ull << 20;
};

typedef struct photon_spool {
    photon_record *records; /* [capacity] */
    uint2 *owners;          /* [capacity] the photon of each, and the record's place on its path */
    uint64_t capacity;
    unsigned long long *used; /* how many there would be */
} photon_spool;

/* What kernels need of an emission. */
typedef struct emit_args {
    photon_view scene;
    uint64_t seed;
    double unit;
    uint64_t first, end; /* photons */
} emit_args;

/* ---- flights */

static __device__ inline void add_tally(const photon_tally *mine, photon_tally *tally) {
    const unsigned long long *from = (const unsigned long long *)mine;
    unsigned long long *to = (unsigned long long *)tally;
    for (uint32_t i = 0; i < sizeof *mine / sizeof *from; i++) {
        const unsigned long long sum = warp_sum(from[i]);
        if (warp_lane() == 0 && sum > 0) atomicAdd(to + i, sum);
    }
}

/* A photon's record among those of all. */
static __device__ inline void spool_record(const photon_spool *spool, const photon_record *record, uint64_t photon,
                                           uint32_t place) {
    const unsigned long long at = atomicAdd(spool->used, 1ull);
    if (at >= spool->capacity) return;
    spool->records[at] = *record;
    spool->owners[at] = make_uint2((uint32_t)photon, place);
}

/* The photons that a warp has taken and not begun. */
typedef struct photon_chunk {
    uint32_t next, left;
} photon_chunk;

/* Each lane that wants one gets a photon of the batch; UINT32_MAX: there are no more. All lanes of a warp call this. */
static __device__ inline uint32_t take_photon(uint32_t *taken, uint32_t count, bool wants, photon_chunk *chunk) {
    const uint32_t lanes = __ballot_sync(CUDA_ALL, wants), wanted = (uint32_t)__popc(lanes), rank = warp_rank(lanes);
    const photon_chunk old = *chunk;
    const bool renews = wanted > old.left && old.next < count;
    const uint32_t from_old = min(wanted, old.left);
    if (renews) {
        uint32_t first = 0;
        if (warp_lane() == 0) first = atomicAdd(taken, emit_policy::chunk);
        chunk->next = min(warp_broadcast(first, 0), count);
        chunk->left = min(emit_policy::chunk, count - chunk->next);
    }
    const uint32_t from_new = renews ? min(wanted - from_old, chunk->left) : 0, used = renews ? from_new : from_old;
    const uint32_t place = rank < from_old ? old.next + rank : chunk->next + (rank - from_old);
    const bool exists = wants && rank < from_old + from_new;
    chunk->next += used;
    chunk->left -= used;
    return exists ? place : UINT32_MAX;
}

/* Traces photons: counts their records, and spools them. */
static __global__ __launch_bounds__(emit_policy::threads,
                                    emit_policy::blocks) void count_photons(const emit_args args, uint32_t *taken,
                                                                            uint32_t *counts, photon_spool spool,
                                                                            photon_tally *tally) {
    uint64_t number = 0;
    photon_chunk chunk = {0, 0};
    photon_tally mine;
    photon_flight flight;
    uint32_t count = 0;
    bool flies = false;
    memset(&mine, 0, sizeof mine);
    for (;;) {
        if (__ballot_sync(CUDA_ALL, !flies) != 0) {
            const uint32_t mine_next = take_photon(taken, (uint32_t)(args.end - args.first), !flies, &chunk);
            if (mine_next != UINT32_MAX) {
                number = args.first + mine_next;
                flight = photon_flight_begin(&args.scene, args.seed, number, args.unit);
                count = 0;
                flies = true;
            }
        }
        if (__ballot_sync(CUDA_ALL, flies) == 0) break;
        if (flies) {
            photon_record record;
            bool stores;
            flies = photon_flight_step(&args.scene, &flight, &record, &stores, &mine);
            if (stores) spool_record(&spool, &record, number, count++);
            if (!flies) {
                photon_flight_end(&flight, args.unit, &mine);
                counts[number] = count;
            }
        }
        __syncwarp();
    }
    add_tally(&mine, tally);
}

#define RECORD_WORDS (sizeof(photon_record) / sizeof(uint32_t))

/* A warp moves as many records as it has lanes, word by word, as they stand one behind the other. */
static __global__ void move_records(const photon_record *records, const uint2 *owners, uint64_t count,
                                    const uint64_t *starts, photon_record *to) {
    const uint64_t first = ((uint64_t)blockIdx.x * emit_policy::threads + threadIdx.x) / CUDA_WARP * CUDA_WARP;
    if (first >= count) return;
    const uint32_t here = count - first < CUDA_WARP ? (uint32_t)(count - first) : CUDA_WARP;
    const uint32_t *const from_words = (const uint32_t *)(records + first);
    uint32_t *const to_words = (uint32_t *)to;
    uint64_t place = 0;
    if (warp_lane() < here) {
        const uint2 owner = owners[first + warp_lane()];
        place = starts[owner.x] + owner.y;
    }
    for (uint32_t i = 0; i < RECORD_WORDS; i++) {
        const uint32_t word = i * CUDA_WARP + warp_lane(), record = word / RECORD_WORDS;
        const uint64_t begin = warp_broadcast((unsigned long long)place, record) * RECORD_WORDS;
        if (record < here) to_words[begin + word % RECORD_WORDS] = from_words[word];
    }
}

/* Traces photons again and stores their records. */
static __global__ __launch_bounds__(emit_policy::threads) void store_photons(const emit_args args,
                                                                             const uint64_t *starts,
                                                                             photon_record *records) {
    const uint64_t lanes = (uint64_t)gridDim.x * emit_policy::threads;
    uint64_t number = args.first + (uint64_t)blockIdx.x * emit_policy::threads + threadIdx.x, at = 0;
    photon_tally unused;
    photon_flight flight;
    bool flies = false;
    memset(&unused, 0, sizeof unused);
    for (; number < args.end;) {
        photon_record record;
        bool stores;
        if (!flies) {
            flight = photon_flight_begin(&args.scene, args.seed, number, args.unit);
            at = starts[number];
        }
        flies = photon_flight_step(&args.scene, &flight, &record, &stores, &unused);
        if (stores) records[at++] = record;
        if (!flies) number += lanes;
    }
}

/* ---- the host's side */

typedef struct emitter {
    mote_device *gpu;
    const photon_emitting *e;
    uint32_t *counts; /* [photons] records of each */
    uint64_t *starts; /* [photons] where they begin */
    photon_tally *tally;
    uint32_t *taken; /* how many photons of a batch lanes have taken */
    photon_spool spool;
    photon_cloud *to;
} emitter;

static uint32_t blocks_for(const emitter *m, uint64_t photons) {
    return cuda_blocks_up_to(cuda_full_blocks(m->gpu, emit_policy::threads), photons, emit_policy::threads);
}

static emit_args args_of(const emitter *m, uint64_t first) {
    const uint64_t photons = m->e->photons;
    emit_args args;
    args.scene = m->e->scene->cuda->view;
    args.seed = m->e->seed;
    args.unit = m->e->unit;
    args.first = first;
    args.end = photons - first < BATCH ? photons : first + BATCH;
    return args;
}

/* Sums of power of the photons of a batch fit into the low halves. */
static mote_status fetch_tally(emitter *m, photon_tally *tally) {
    photon_tally batch;
    MOTE_TRY(cuda_download(m->gpu, &batch, m->tally, sizeof batch));
    tally->hits += batch.hits;
    for (int i = 0; i < 3; i++) tally->stored[i] += batch.stored[i];
    for (int i = 0; i < PHOTON_FATES; i++) {
        tally->fates[i] += batch.fates[i];
        photon_tally_power(tally->power[i], batch.power[i][0]);
    }
    return MOTE_OK;
}

static mote_status count_all(emitter *m, photon_tally *tally) {
    const uint64_t photons = m->e->photons;
    for (uint64_t first = 0; first < photons; first += BATCH) {
        const emit_args args = args_of(m, first);
        MOTE_TRY(mote_progress(m->gpu->ctx, 0.7 * (double)first / (double)photons, "emitting photons"));
        MOTE_TRY(cuda_fill(m->gpu, m->tally, 0, sizeof *m->tally));
        MOTE_TRY(cuda_fill(m->gpu, m->taken, 0, sizeof *m->taken));
        const uint32_t resident = cuda_resident_blocks(m->gpu, (const void *)count_photons, emit_policy::threads);
        CUDA_LAUNCH(m->gpu, count_photons, cuda_blocks_up_to(resident, args.end - first, emit_policy::threads),
                    emit_policy::threads, args, m->taken, m->counts, m->spool, m->tally);
        MOTE_TRY(cuda_launched(m->gpu, "photons"));
        MOTE_TRY(fetch_tally(m, tally));
    }
    return MOTE_OK;
}

static mote_status store_all(emitter *m) {
    const uint64_t photons = m->e->photons;
    if (m->to->count <= m->spool.capacity) {
        CUDA_LAUNCH(m->gpu, move_records, cuda_blocks(m->to->count, emit_policy::threads), emit_policy::threads,
                    m->spool.records, m->spool.owners, m->to->count, m->starts, m->to->records);
        return cuda_launched(m->gpu, "photons");
    }
    for (uint64_t first = 0; first < photons; first += BATCH) {
        const emit_args args = args_of(m, first);
        MOTE_TRY(mote_progress(m->gpu->ctx, 0.7 + 0.3 * (double)first / (double)photons, "emitting photons"));
        CUDA_LAUNCH(m->gpu, store_photons, blocks_for(m, args.end - first), emit_policy::threads, args, m->starts,
                    m->to->records);
        MOTE_TRY(cuda_launched(m->gpu, "photons"));
    }
    return MOTE_OK;
}

/* Whether there is memory to spare for a spool. A small one is taken without asking, as far as the caller's limit is
   not known to be near: asking takes longer than it is worth. */
static bool may_spool(mote_device *gpu, uint64_t size_bytes) {
    if (size_bytes <= emit_policy::small_spool && mote_device_limit(gpu->ctx) == 0) return true;
    return size_bytes <= cuda_available(gpu) / 4;
}

/* Counters, and a spool where there is memory to spare. */
static mote_status reserve(emitter *m) {
    mote_device *gpu = m->gpu;
    const uint64_t photons = m->e->photons, wanted = photons * emit_policy::spool_records;
    m->counts = (uint32_t *)cuda_alloc(gpu, photons * sizeof *m->counts, "photon counts");
    m->starts = (uint64_t *)cuda_alloc(gpu, photons * sizeof *m->starts, "photon counts");
    m->tally = (photon_tally *)cuda_alloc(gpu, sizeof *m->tally, "photon counts");
    m->spool.used = (unsigned long long *)cuda_alloc(gpu, sizeof *m->spool.used, "photon counts");
    m->taken = (uint32_t *)cuda_alloc(gpu, sizeof *m->taken, "photon counts");
    if (m->counts == NULL || m->starts == NULL || m->tally == NULL || m->spool.used == NULL || m->taken == NULL)
        return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_fill(gpu, m->spool.used, 0, sizeof *m->spool.used));
    if (!may_spool(gpu, wanted * (sizeof *m->spool.records + sizeof *m->spool.owners))) return MOTE_OK;
    m->spool.records = (photon_record *)cuda_alloc(gpu, wanted * sizeof *m->spool.records, "photon spool");
    m->spool.owners = (uint2 *)cuda_alloc(gpu, wanted * sizeof *m->spool.owners, "photon spool");
    if (m->spool.records == NULL || m->spool.owners == NULL) return MOTE_ERROR_MEMORY;
    m->spool.capacity = wanted;
    return MOTE_OK;
}

static mote_status emit(emitter *m, photon_tally *tally) {
    mote_device *gpu = m->gpu;
    MOTE_TRY(reserve(m));
    MOTE_TRY(count_all(m, tally));
    MOTE_TRY(photon_check_stored(gpu->ctx, tally, &m->to->count));
    MOTE_TRY(cuda_sum32_wide(gpu, m->counts, m->starts, m->e->photons));
    m->to->records = (photon_record *)cuda_alloc(gpu, m->to->count * sizeof *m->to->records, "photons");
    return m->to->records != NULL ? store_all(m) : MOTE_ERROR_MEMORY;
}

mote_status photon_emit_on_cuda(mote_device *gpu, const photon_emitting *e, photon_cloud *to, photon_tally *tally) {
    emitter m;
    memset(&m, 0, sizeof m);
    m.gpu = gpu;
    m.e = e;
    m.to = to;
    const mote_status status = emit(&m, tally);
    cuda_free(gpu, m.spool.owners);
    cuda_free(gpu, m.spool.records);
    cuda_free(gpu, m.spool.used);
    cuda_free(gpu, m.taken);
    cuda_free(gpu, m.tally);
    cuda_free(gpu, m.starts);
    cuda_free(gpu, m.counts);
    return status;
}

/* ---- choosing */

static __global__ void flag_chosen(const photon_record *records, uint64_t count, int choice, uint8_t *flags) {
    const uint64_t i = (uint64_t)blockIdx.x * emit_policy::threads + threadIdx.x;
    if (i < count) flags[i] = photon_is_chosen(&records[i], i, choice);
}

static __global__ void take_chosen(const photon_record *records, const uint32_t *numbers, uint64_t count,
                                   photon_record *to) {
    const uint64_t i = (uint64_t)blockIdx.x * emit_policy::threads + threadIdx.x;
    if (i < count) to[i] = records[numbers[i]];
}

typedef struct chooser {
    uint8_t *flags;
    uint32_t *numbers;
    uint64_t *found;
} chooser;

static mote_status choose(mote_device *gpu, const photon_cloud *from, int choice, const chooser *c, photon_cloud *to) {
    if (c->flags == NULL || c->numbers == NULL || c->found == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_fill(gpu, c->found, 0, sizeof *c->found));
    if (from->count > 0) {
        CUDA_LAUNCH(gpu, flag_chosen, cuda_blocks(from->count, emit_policy::threads), emit_policy::threads,
                    from->records, from->count, choice, c->flags);
        MOTE_TRY(cuda_select(gpu, c->flags, from->count, c->numbers, c->found));
    }
    MOTE_TRY(cuda_download(gpu, &to->count, c->found, sizeof to->count));
    to->records = (photon_record *)cuda_alloc(gpu, to->count * sizeof *to->records, "photons");
    if (to->records == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(gpu, take_chosen, cuda_blocks(to->count, emit_policy::threads), emit_policy::threads, from->records,
                c->numbers, to->count, to->records);
    return cuda_launched(gpu, "photons");
}

mote_status photon_choose_on_cuda(mote_device *gpu, const photon_cloud *from, int choice, photon_cloud *to) {
    chooser c;
    c.flags = (uint8_t *)cuda_alloc(gpu, from->count, "photon choice");
    c.numbers = (uint32_t *)cuda_alloc(gpu, from->count * sizeof *c.numbers, "photon choice");
    c.found = (uint64_t *)cuda_alloc(gpu, sizeof *c.found, "photon choice");
    const mote_status status = choose(gpu, from, choice, &c, to);
    cuda_free(gpu, c.found);
    cuda_free(gpu, c.numbers);
    cuda_free(gpu, c.flags);
    return status;
}

/* Potree records on the GPU: the kernel that makes any and learns what is in them, and their way to the host, piece
   after piece. */
#include "device/cuda/warp.cuh"
#include "io/potree/potree_ops.h"
#include "io/potree/program/potree_program_cuda.cuh"
#include "lod/lod_device_view.h"

/* Beside the constants of potree_encode_program.h, which the host shares; other numbers were not measured. */
struct merge_policy {
    static constexpr uint32_t rounds = 2; /* blocks that look at flags: of what the GPU holds at once */
};

typedef unsigned long long potree_word; /* what atomic operations of 64 bits take */

/* ---- the program, one record per thread */

static __device__ __forceinline__ bool run_program(const encode_program &program, const uint8_t *staged, uint32_t index,
                                                   uint64_t item, uint8_t *record) {
    bool inexact = false;
    for (uint32_t o = 0; o < program.op_count; o++) {
        const record_op op = program.ops[o];
        const uint8_t *from = op.kind == RECORD_SUBTRACT          ? record + op.to
                              : op.staged_at != RECORD_NOT_STAGED ? staged + op.staged_at
                                                                  : op.source + (uint64_t)index * op.stride_bytes;
        if (run_op(program, op, from, item, record + op.to)) inexact = true;
    }
    return inexact;
}

/* ---- ranges and classes of a tile */

/* A warp looks at one element of all records. Few tiles widen what is known, so few need the atomic operation. */
static __device__ __forceinline__ void find_range(const encode_element &element, uint32_t stride_bytes,
                                                  const uint8_t *tile, uint32_t count, potree_word *low_of_all,
                                                  potree_word *high_of_all) {
    potree_word low = UINT64_MAX, high = 0;
    for (uint32_t j = threadIdx.x % CUDA_WARP; j < count; j += CUDA_WARP) {
        uint64_t key;
        if (!potree_key(tile + (uint64_t)j * stride_bytes + element.at, (mote_type)element.type, &key)) continue;
        if (element.has_no_data && key == element.no_data) continue;
        low = min(low, (potree_word)key);
        high = max(high, (potree_word)key);
    }
    low = warp_min(low);
    high = warp_max(high);
    if (threadIdx.x % CUDA_WARP != 0 || low > high) return;
    if (low < *low_of_all) atomicMin(low_of_all, low);
    if (high > *high_of_all) atomicMax(high_of_all, high);
}

static __device__ __forceinline__ void find_ranges(const encode_program &program, const uint8_t *tile, uint32_t count,
                                                   const encode_findings &findings) {
    for (uint32_t e = threadIdx.x / CUDA_WARP; e < program.element_count; e += ENCODE_THREADS / CUDA_WARP) {
        find_range(program.elements[e], program.stride_bytes, tile, count, (potree_word *)findings.low + e,
                   (potree_word *)findings.high + e);
    }
}

/* classes  [ENCODE_CLASSES] shared, zero before */
static __device__ __forceinline__ void count_classes(const encode_program &program, const uint8_t *tile, uint32_t count,
                                                     uint32_t *classes, const encode_findings &findings) {
    if (program.classes_at == UINT32_MAX) return;
    if (threadIdx.x < count) {
        atomicAdd(&classes[tile[(uint64_t)threadIdx.x * program.stride_bytes + program.classes_at]], 1u);
    }
    __syncthreads();
    const uint32_t found = classes[threadIdx.x];
    if (found > 0) atomicAdd((potree_word *)findings.classes + threadIdx.x, (potree_word)found);
}

/* ---- the kernel */

/* A tile begins at a multiple of 16 bytes on both sides. */
static __device__ __forceinline__ void store_tile(const encode_quad *tile, uint32_t size_bytes, uint8_t *to) {
    const uint32_t quads = size_bytes / sizeof(encode_quad);
    for (uint32_t q = threadIdx.x; q < quads; q += ENCODE_THREADS) ((encode_quad *)to)[q] = tile[q];
    const uint32_t at = quads * (uint32_t)sizeof(encode_quad) + threadIdx.x;
    if (at < size_bytes) to[at] = ((const uint8_t *)tile)[at];
}

/* Records of count items from the first-th on; a block makes a tile. */
template <uint32_t buffer_bytes, bool measured>
static __global__ void encode_records(const encode_program program, uint64_t first, uint64_t count, uint8_t *records,
                                      const encode_findings findings) {
    __shared__ encode_quad buffer[buffer_bytes / sizeof(encode_quad)];
    __shared__ uint32_t index[ENCODE_THREADS];
    __shared__ uint32_t classes[measured ? ENCODE_CLASSES : 1];
    const uint64_t begin = (uint64_t)blockIdx.x * program.tile, remaining = count - begin;
    const uint32_t here = remaining < program.tile ? (uint32_t)remaining : program.tile;
    const uint64_t item = first + begin + threadIdx.x;
    if (threadIdx.x < here) index[threadIdx.x] = lod_device_row(program.index, program.items[item]);
    if (measured) classes[threadIdx.x] = 0;
    __syncthreads();

    uint8_t *const staged = (uint8_t *)buffer;
    uint8_t *const to = records + begin * program.stride_bytes;
    const uint32_t staged_quads =
        program.direct ? 0 : encode_staged_buffer(program.tile, program.staged_bytes) / (uint32_t)sizeof(encode_quad);
    uint8_t *const tile = program.direct ? to : (uint8_t *)(buffer + staged_quads);
    fetch(program, index, here, staged);
    __syncthreads();

    if (threadIdx.x < here) {
        const bool inexact = run_program(program, staged + threadIdx.x * program.staged_bytes, index[threadIdx.x], item,
                                         tile + (uint64_t)threadIdx.x * program.stride_bytes);
        if (measured && inexact && *findings.inexact == 0) atomicOr((potree_word *)findings.inexact, (potree_word)1);
    }
    __syncthreads();

    if (measured) {
        find_ranges(program, tile, here, findings);
        count_classes(program, tile, here, classes, findings);
    }
    if (!program.direct) store_tile(buffer + staged_quads, here * program.stride_bytes, to);
}

/* ---- a program on the device */

/* The tables of a program, and the program that looks at them. */
typedef struct device_program {
    encode_program program;
    void *tables;
} device_program;

/* What a program looks at. */
typedef struct program_table {
    const void *from;
    uint64_t size_bytes;
    uint64_t at; /* where the tables are together */
} program_table;

enum { TABLE_OPS, TABLE_COLUMNS, TABLE_ELEMENTS, TABLE_COMPUTED, TABLE_TERMS, TABLE_LONGS, PROGRAM_TABLES };

/* Lists the tables of a program, one behind the other; returns their size together. */
static uint64_t list_tables(const encode_program *program, program_table *tables) {
    const encode_bit_program *bit_program = &program->bit_program;
    const program_table all[PROGRAM_TABLES] = {
        {program->ops, program->op_count * sizeof *program->ops, 0},
        {program->columns, program->column_count * sizeof *program->columns, 0},
        {program->elements, program->element_count * sizeof *program->elements, 0},
        {bit_program->computed, bit_program->computed_count * sizeof *bit_program->computed, 0},
        {bit_program->terms, bit_program->term_count * sizeof *bit_program->terms, 0},
        {bit_program->longs, bit_program->long_count * sizeof *bit_program->longs, 0}};
    uint64_t size_bytes = 0;
    for (uint32_t t = 0; t < PROGRAM_TABLES; t++) {
        tables[t] = all[t];
        tables[t].at = size_bytes;
        size_bytes += (all[t].size_bytes + 15) / 16 * 16;
    }
    return size_bytes;
}

/* All tables go in one copy. */
static mote_status upload_program(mote_device *gpu, const encode_program *program, device_program *out) {
    program_table tables[PROGRAM_TABLES];
    const uint64_t size_bytes = list_tables(program, tables);
    uint8_t *const together = (uint8_t *)mote_alloc_zero(gpu->ctx, size_bytes, "potree");
    if (together == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t t = 0; t < PROGRAM_TABLES; t++) {
        if (tables[t].size_bytes > 0) memcpy(together + tables[t].at, tables[t].from, tables[t].size_bytes);
    }
    out->program = *program;
    out->tables = cuda_alloc(gpu, size_bytes, "potree");
    mote_status status = out->tables != NULL ? cuda_upload(gpu, out->tables, together, size_bytes) : MOTE_ERROR_MEMORY;
    /* From here on the program looks at them there. */
    const uint8_t *memory = (const uint8_t *)out->tables;
    out->program.ops = (const record_op *)(memory + tables[TABLE_OPS].at);
    out->program.columns = (const mote_column *)(memory + tables[TABLE_COLUMNS].at);
    out->program.elements = (const encode_element *)(memory + tables[TABLE_ELEMENTS].at);
    out->program.bit_program.computed = (const record_op *)(memory + tables[TABLE_COMPUTED].at);
    out->program.bit_program.terms = (const encode_term *)(memory + tables[TABLE_TERMS].at);
    out->program.bit_program.longs = (const encode_long *)(memory + tables[TABLE_LONGS].at);
    mote_free(gpu->ctx, together);
    return status;
}

static mote_status launch(mote_device *gpu, const encode_program *program, uint64_t first, uint64_t count,
                          uint8_t *records, const encode_findings *findings) {
    const uint32_t blocks = cuda_blocks(count, program->tile);
    const encode_findings none = {NULL, NULL, NULL, NULL};
    if (findings == NULL && program->bit_program.unit_records > 0) {
        potree_launch_bit_program(gpu, program, first, count, records);
    } else if (program->small && findings != NULL) {
        CUDA_LAUNCH(gpu, (encode_records<ENCODE_SMALL_BUFFER, true>), blocks, ENCODE_THREADS, *program, first, count,
                    records, *findings);
    } else if (program->small) {
        CUDA_LAUNCH(gpu, (encode_records<ENCODE_SMALL_BUFFER, false>), blocks, ENCODE_THREADS, *program, first, count,
                    records, none);
    } else if (findings != NULL) {
        CUDA_LAUNCH(gpu, (encode_records<ENCODE_LARGE_BUFFER, true>), blocks, ENCODE_THREADS, *program, first, count,
                    records, *findings);
    } else {
        CUDA_LAUNCH(gpu, (encode_records<ENCODE_LARGE_BUFFER, false>), blocks, ENCODE_THREADS, *program, first, count,
                    records, none);
    }
    return cuda_launched(gpu, "making Potree records");
}

static mote_status make_records(mote_lod *lod, const encode_program *program, uint64_t item_count,
                                const void **records) {
    mote_device *gpu = lod->device;
    device_program uploaded = {};
    cuda_free(gpu, lod->device_records);
    lod->device_records = cuda_alloc(gpu, item_count * program->stride_bytes, "potree records");
    mote_status status = lod->device_records != NULL ? upload_program(gpu, program, &uploaded) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && item_count > 0) {
        status = launch(gpu, &uploaded.program, 0, item_count, (uint8_t *)lod->device_records, NULL);
    }
    cuda_free(gpu, uploaded.tables);
    if (status == MOTE_OK) *records = lod->device_records;
    return status;
}

/* ---- the way to the host */

typedef struct stream_slot {
    uint8_t *device, *pinned;
    device_transfer transfer;
} stream_slot;

struct potree_stream {
    mote_device *gpu;
    device_program uploaded;
    uint64_t *memory; /* of the findings, on the device */
    encode_findings findings;
    uint64_t slot_bytes, kept_bytes; /* of a slot; of one that an octree before has left, 0: there is none */
    stream_slot slots[POTREE_IN_FLIGHT];
    uint64_t begun, taken;
};

static mote_status reset_findings(potree_stream *stream) {
    const uint32_t elements = stream->uploaded.program.element_count;
    const uint64_t size_bytes = encode_finding_count(elements) * sizeof(uint64_t);
    stream->memory = (uint64_t *)cuda_alloc(stream->gpu, size_bytes, "potree");
    if (stream->memory == NULL) return MOTE_ERROR_MEMORY;
    stream->findings = encode_findings_in(stream->memory, elements);
    MOTE_TRY(cuda_fill(stream->gpu, stream->memory, 0, size_bytes));
    return cuda_fill(stream->gpu, stream->findings.low, 0xFF, elements * sizeof(uint64_t));
}

/* Page-locked memory that stays in the context for the next octree: to take it takes as long as to write a part of a
   million points. It is the host's, and given back when that runs short. */
typedef struct kept_slots {
    mote_device *gpu;
    uint64_t slot_bytes;
    uint8_t *pinned[POTREE_IN_FLIGHT];
} kept_slots;
#define KEPT "potree buffers"

static void release_kept(mote_device *cpu, void *memory) {
    kept_slots *kept = (kept_slots *)memory;
    for (uint32_t s = 0; s < POTREE_IN_FLIGHT; s++) cuda_pinned_free(kept->gpu, kept->pinned[s]);
    mote_free(cpu->ctx, kept);
}

/* Slots that are too small for this octree, or another GPU's, go. */
static void take_kept(potree_stream *stream) {
    mote_device *cpu = mote_cpu_device(stream->gpu->ctx);
    kept_slots *kept = (kept_slots *)mote_cache_take(cpu, KEPT);
    if (kept == NULL) return;
    if (kept->gpu == stream->gpu && kept->slot_bytes >= stream->slot_bytes) {
        stream->kept_bytes = kept->slot_bytes;
        for (uint32_t s = 0; s < POTREE_IN_FLIGHT; s++) {
            stream->slots[s].pinned = kept->pinned[s];
            kept->pinned[s] = NULL;
        }
    }
    release_kept(cpu, kept);
}

static void keep_slots(potree_stream *stream) {
    mote_device *cpu = mote_cpu_device(stream->gpu->ctx);
    const bool failed = mote_context_status(cpu->ctx) != MOTE_OK;
    kept_slots *kept = failed ? NULL : (kept_slots *)mote_alloc_zero(cpu->ctx, sizeof *kept, KEPT);
    for (uint32_t s = 0; s < POTREE_IN_FLIGHT; s++) {
        if (kept == NULL) cuda_pinned_free(stream->gpu, stream->slots[s].pinned);
        if (kept != NULL) kept->pinned[s] = stream->slots[s].pinned;
    }
    if (kept == NULL) return;
    kept->gpu = stream->gpu;
    kept->slot_bytes = stream->kept_bytes > 0 ? stream->kept_bytes : stream->slot_bytes;
    mote_cache_put(cpu, KEPT, kept, 0, release_kept);
}

static void close_stream(potree_stream *stream) {
    if (stream == NULL) return;
    mote_device *gpu = stream->gpu;
    for (uint32_t s = 0; s < POTREE_IN_FLIGHT; s++) {
        stream_slot *slot = &stream->slots[s];
        if (slot->transfer.event != NULL) cuda_wait(gpu, &slot->transfer);
        cuda_free(gpu, slot->device);
    }
    keep_slots(stream);
    cuda_free(gpu, stream->memory);
    cuda_free(gpu, stream->uploaded.tables);
    mote_free(gpu->ctx, stream);
}

static mote_status open_stream(mote_device *gpu, const encode_program *program, uint64_t batch_items,
                               potree_stream **out) {
    *out = NULL;
    potree_stream *stream = (potree_stream *)mote_alloc_zero(gpu->ctx, sizeof *stream, "potree");
    if (stream == NULL) return MOTE_ERROR_MEMORY;
    stream->gpu = gpu;
    stream->slot_bytes = batch_items * program->stride_bytes;
    take_kept(stream);
    mote_status status = upload_program(gpu, program, &stream->uploaded);
    if (status == MOTE_OK) status = reset_findings(stream);
    if (status != MOTE_OK) {
        close_stream(stream);
        return status;
    }
    *out = stream;
    return MOTE_OK;
}

/* As large as the others, which may be kept. */
static uint8_t *take_slot(potree_stream *stream) {
    const uint64_t size_bytes = stream->kept_bytes > 0 ? stream->kept_bytes : stream->slot_bytes;
    return (uint8_t *)cuda_pinned_alloc(stream->gpu, size_bytes, KEPT);
}

static mote_status begin_batch(potree_stream *stream, uint64_t first, uint64_t count) {
    const encode_program *program = &stream->uploaded.program;
    stream_slot *slot = &stream->slots[stream->begun % POTREE_IN_FLIGHT];
    /* A slot gets its memory when it is first used: few points need only one. */
    mote_device *gpu = stream->gpu;
    if (slot->device == NULL) slot->device = (uint8_t *)cuda_alloc(gpu, stream->slot_bytes, "potree buffers");
    if (slot->device == NULL) return MOTE_ERROR_MEMORY;
    if (slot->pinned == NULL) slot->pinned = take_slot(stream);
    if (slot->pinned == NULL) return mote_fail(gpu->ctx, MOTE_ERROR_MEMORY, "out of memory: page-locked buffers");
    MOTE_TRY(launch(stream->gpu, program, first, count, slot->device, &stream->findings));
    MOTE_TRY(
        cuda_download_begin(stream->gpu, slot->pinned, slot->device, count * program->stride_bytes, &slot->transfer));
    stream->begun++;
    return MOTE_OK;
}

static mote_status take_batch(potree_stream *stream, const uint8_t **records) {
    stream_slot *slot = &stream->slots[stream->taken++ % POTREE_IN_FLIGHT];
    MOTE_TRY(cuda_wait(stream->gpu, &slot->transfer));
    slot->transfer.event = NULL;
    *records = slot->pinned;
    return MOTE_OK;
}

static mote_status fetch_findings(potree_stream *stream, uint64_t *findings) {
    const uint64_t count = encode_finding_count(stream->uploaded.program.element_count);
    return cuda_download(stream->gpu, findings, stream->memory, count * sizeof *findings);
}

/* ---- the bits of flags */

typedef struct merged_columns {
    mote_column columns[POTREE_MERGED];
    uint32_t count;
} merged_columns;

/* bits  [POTREE_MERGED] */
static __global__ void merge_bits(const merged_columns merged, uint64_t count, potree_word *bits) {
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    potree_word all[POTREE_MERGED];
    for (uint32_t c = 0; c < POTREE_MERGED; c++) all[c] = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        for (uint32_t c = 0; c < POTREE_MERGED; c++) {
            if (c >= merged.count) continue;
            all[c] |= potree_raw_bits(&merged.columns[c], column_at(&merged.columns[c], i));
        }
    }
    for (uint32_t c = 0; c < POTREE_MERGED; c++) {
        all[c] = warp_or(all[c]);
        if (threadIdx.x % CUDA_WARP == 0 && all[c] != 0) atomicOr(&bits[c], all[c]);
    }
}

static mote_status find_bits(mote_device *gpu, const mote_column *columns, uint32_t column_count, uint64_t count,
                             uint64_t *bits) {
    uint64_t found[POTREE_MERGED] = {};
    merged_columns merged = {};
    merged.count = column_count;
    memcpy(merged.columns, columns, column_count * sizeof *columns);
    potree_word *memory = (potree_word *)cuda_alloc(gpu, sizeof found, "potree");
    if (memory == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_fill(gpu, memory, 0, sizeof found);
    if (status == MOTE_OK) {
        const uint32_t max = merge_policy::rounds * cuda_full_blocks(gpu, ENCODE_THREADS);
        CUDA_LAUNCH(gpu, merge_bits, cuda_blocks_up_to(max, count, ENCODE_THREADS), ENCODE_THREADS, merged, count,
                    memory);
        status = cuda_launched(gpu, "looking at the flags");
    }
    if (status == MOTE_OK) status = cuda_download(gpu, found, memory, sizeof found);
    memcpy(bits, found, column_count * sizeof *bits);
    cuda_free(gpu, memory);
    return status;
}

extern "C" const mote_potree_ops mote_potree_on_cuda = {find_bits,  make_records,   open_stream, begin_batch,
                                                        take_batch, fetch_findings, close_stream};

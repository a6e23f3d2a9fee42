/* Potree records on the GPU: the kernel that makes them, and their way to the host, piece after piece.
   Of a point at random in memory a warp fetches whole windows, a few neighbouring lanes each, so that all bytes of a
   sector that comes are used and many are on their way at once. */
#include "backend/cuda_kernel.h"
#include "io/potree_math.h"
#include "io/potree_ops.h"
#include "lod/lod_cuda.h"

#define FETCHED_AT_ONCE 6u /* units that a thread has on their way: registers bound it */
#define UNITING_BLOCKS  2048u

typedef unsigned long long potree_word; /* what atomic operations of 64 bits take */

struct alignas(16) encode_quad {
    uint32_t words[4];
};

/* ---- moves; aligned says to how many bytes an address is aligned: 1, 2 or 4 */

static __device__ __forceinline__ uint32_t load2(const uint8_t *from, uint32_t aligned) {
    uint16_t value;
    if (aligned < 2) return from[0] | (uint32_t)from[1] << 8;
    memcpy(&value, __builtin_assume_aligned(from, 2), sizeof value);
    return value;
}

static __device__ __forceinline__ uint32_t load4(const uint8_t *from, uint32_t aligned) {
    uint32_t value;
    if (aligned < 4) return load2(from, aligned) | load2(from + 2, aligned) << 16;
    memcpy(&value, __builtin_assume_aligned(from, 4), sizeof value);
    return value;
}

static __device__ __forceinline__ void store2(uint8_t *to, uint32_t value, uint32_t aligned) {
    const uint16_t half = (uint16_t)value;
    if (aligned < 2) {
        to[0] = (uint8_t)value;
        to[1] = (uint8_t)(value >> 8);
    } else {
        memcpy(__builtin_assume_aligned(to, 2), &half, sizeof half);
    }
}

static __device__ __forceinline__ void store4(uint8_t *to, uint32_t value, uint32_t aligned) {
    if (aligned < 4) {
        store2(to, value, aligned);
        store2(to + 2, value >> 16, aligned);
    } else {
        memcpy(__builtin_assume_aligned(to, 4), &value, sizeof value);
    }
}

/* The lowest size_bytes of a value. */
static __device__ __forceinline__ void store_value(uint8_t *to, uint64_t value, uint32_t size_bytes, uint32_t aligned) {
    switch (size_bytes) {
    case 1: *to = (uint8_t)value; break;
    case 2: store2(to, (uint32_t)value, aligned); break;
    case 4: store4(to, (uint32_t)value, aligned); break;
    default: store4(to, (uint32_t)value, aligned); store4(to + 4, (uint32_t)(value >> 32), aligned);
    }
}

static __device__ __forceinline__ void copy_bytes(const encode_op &op, const uint8_t *from, uint8_t *to) {
    uint32_t at = 0;
    for (; at + 4 <= op.size_bytes; at += 4) store4(to + at, load4(from + at, op.aligned_from), op.aligned_to);
    if (op.size_bytes & 2) {
        store2(to + at, load2(from + at, op.aligned_from), op.aligned_to);
        at += 2;
    }
    if (op.size_bytes & 1) to[at] = from[at];
}

/* ---- what is fetched */

/* The last unit of the last point may reach behind what there is. */
static __device__ __noinline__ void fetch_rest(const uint8_t *from, const uint8_t *end, uint8_t *to) {
    while (from < end) *to++ = *from++;
}

/* First all loads of a turn, then all stores: so the loads are on their way together. */
template <typename unit>
static __device__ __forceinline__ void fetch_group(const encode_group &group, const uint32_t *index, uint32_t count,
                                                   uint32_t staged_bytes, uint8_t *staged) {
    const uint32_t units = group.unit_count, records_on = ENCODE_THREADS / units, units_on = ENCODE_THREADS % units;
    uint32_t record = threadIdx.x / units, number = threadIdx.x % units;
    while (record < count) {
        unit values[FETCHED_AT_ONCE];
        uint32_t places[FETCHED_AT_ONCE];
        for (uint32_t f = 0; f < FETCHED_AT_ONCE; f++) {
            values[f] = 0;
            places[f] = UINT32_MAX;
            if (record < count) {
                const uint32_t place = record * staged_bytes + group.staged_at + number * (uint32_t)sizeof(unit);
                const uint8_t *from =
                    group.first + (uint64_t)index[record] * group.stride_bytes + number * sizeof(unit);
                if (from + sizeof(unit) <= group.end) {
                    memcpy(&values[f], __builtin_assume_aligned(from, sizeof(unit)), sizeof(unit));
                    places[f] = place;
                } else {
                    fetch_rest(from, group.end, staged + place);
                }
            }
            record += records_on;
            number += units_on;
            if (number >= units) {
                number -= units;
                record++;
            }
        }
        for (uint32_t f = 0; f < FETCHED_AT_ONCE; f++) {
            if (places[f] == UINT32_MAX) continue;
            memcpy(__builtin_assume_aligned(staged + places[f], sizeof(unit)), &values[f], sizeof(unit));
        }
    }
}

static __device__ __forceinline__ void fetch(const encode_program &program, const uint32_t *index, uint32_t count,
                                             uint8_t *staged) {
    for (uint32_t g = 0; g < program.group_count; g++) {
        const encode_group &group = program.groups[g];
        switch (group.unit_bytes) {
        case 4: fetch_group<uint32_t>(group, index, count, program.staged_bytes, staged); break;
        case 2: fetch_group<uint16_t>(group, index, count, program.staged_bytes, staged); break;
        default: fetch_group<uint8_t>(group, index, count, program.staged_bytes, staged);
        }
    }
}

/* ---- the program, one record per thread */

/* Returns whether a real coordinate does not come back. */
static __device__ __forceinline__ bool run_lattice(const encode_program &program, const encode_op &op,
                                                   const uint8_t *from, uint8_t *to) {
    const mote_column &column = program.columns[op.column];
    const uint32_t k = op.axis;
    const uint32_t x = program.base[k] + potree_lattice_step(&column, from, &program.lattice, (int)k);
    store4(to, x, op.aligned_to);
    return program.checks_reals && !potree_comes_back(&column, from, x, program.scale[k], program.offset[k]);
}

static __device__ __forceinline__ void run_convert(const encode_program &program, const encode_op &op,
                                                   const uint8_t *from, uint8_t *to) {
    const mote_column &column = program.columns[op.column];
    if (op.kind == ENCODE_UNIT) {
        store2(to, column_color(&column, from), op.aligned_to);
    } else {
        const mote_type type = (mote_type)op.type;
        store_value(to, column_convert(&column, from, type), column_type_bytes(type), op.aligned_to);
    }
}

static __device__ __forceinline__ bool run_op(const encode_program &program, const encode_op &op, const uint8_t *from,
                                              uint64_t item, uint8_t *to) {
    switch (op.kind) {
    case ENCODE_COPY: copy_bytes(op, from, to); break;
    case ENCODE_BITS: *to = potree_bits(*from, op.shift, op.mask, op.left); break;
    case ENCODE_OR_BITS: *to = (uint8_t)(*to | potree_bits(*from, op.shift, op.mask, op.left)); break;
    case ENCODE_CONVERT:
    case ENCODE_UNIT: run_convert(program, op, from, to); break;
    case ENCODE_SUBTRACT: store4(to, load4(to, op.aligned_to) - op.less, op.aligned_to); break;
    case ENCODE_LATTICE: return run_lattice(program, op, from, to);
    default: {
        const uint16_t *color = program.item_colors + 4 * item;
        for (uint32_t c = 0; c < 3; c++) store2(to + 2 * c, color[c], op.aligned_to);
    }
    }
    return false;
}

static __device__ __forceinline__ bool run_program(const encode_program &program, const uint8_t *staged, uint32_t index,
                                                   uint64_t item, uint8_t *record) {
    bool inexact = false;
    for (uint32_t o = 0; o < program.op_count; o++) {
        const encode_op op = program.ops[o];
        const uint8_t *from =
            op.staged_at != ENCODE_NOT_STAGED ? staged + op.staged_at : op.source + (uint64_t)index * op.stride_bytes;
        if (run_op(program, op, from, item, record + op.to)) inexact = true;
    }
    return inexact;
}

/* ---- ranges and classes of a tile */

static __device__ __forceinline__ potree_word smaller(potree_word a, potree_word b) { return a < b ? a : b; }
static __device__ __forceinline__ potree_word larger(potree_word a, potree_word b) { return a > b ? a : b; }

/* A warp looks at one element of all records. Few tiles widen what is known, so few need the atomic operation. */
static __device__ __forceinline__ void find_range(const encode_element &element, uint32_t stride_bytes,
                                                  const uint8_t *tile, uint32_t count, potree_word *low_of_all,
                                                  potree_word *high_of_all) {
    potree_word low = UINT64_MAX, high = 0;
    for (uint32_t j = threadIdx.x % CUDA_WARP; j < count; j += CUDA_WARP) {
        uint64_t key;
        if (!potree_key(tile + (uint64_t)j * stride_bytes + element.at, (mote_type)element.type, &key)) continue;
        low = smaller(low, key);
        high = larger(high, key);
    }
    for (int step = CUDA_WARP / 2; step > 0; step /= 2) {
        low = smaller(low, __shfl_xor_sync(CUDA_ALL, low, step));
        high = larger(high, __shfl_xor_sync(CUDA_ALL, high, step));
    }
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
template <uint32_t room_bytes, bool measured>
static __global__ void encode_records(const encode_program program, uint64_t first, uint64_t count, uint8_t *records,
                                      const encode_findings findings) {
    __shared__ encode_quad room[room_bytes / sizeof(encode_quad)];
    __shared__ uint32_t index[ENCODE_THREADS];
    __shared__ uint32_t classes[measured ? ENCODE_CLASSES : 1];
    const uint64_t begin = (uint64_t)blockIdx.x * program.tile, left = count - begin;
    const uint32_t here = left < program.tile ? (uint32_t)left : program.tile;
    const uint64_t item = first + begin + threadIdx.x;
    if (threadIdx.x < here) index[threadIdx.x] = program.order[program.items[item]];
    if (measured) classes[threadIdx.x] = 0;
    __syncthreads();

    uint8_t *const staged = (uint8_t *)room;
    uint8_t *const to = records + begin * program.stride_bytes;
    const uint32_t staged_quads =
        program.direct ? 0 : encode_staged_room(program.tile, program.staged_bytes) / (uint32_t)sizeof(encode_quad);
    uint8_t *const tile = program.direct ? to : (uint8_t *)(room + staged_quads);
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
    if (!program.direct) store_tile(room + staged_quads, here * program.stride_bytes, to);
}

/* ---- a program on the device */

/* The tables of a program, and the program that looks at them. */
typedef struct device_program {
    encode_program program;
    void *tables;
} device_program;

static uint64_t round_up(uint64_t size_bytes) { return (size_bytes + 15) / 16 * 16; }

static mote_status upload_program(mote_context *ctx, const encode_program *program, device_program *out) {
    const uint64_t op_bytes = program->op_count * sizeof *program->ops;
    const uint64_t column_bytes = program->column_count * sizeof *program->columns;
    const uint64_t element_bytes = program->element_count * sizeof *program->elements;
    out->program = *program;
    out->tables = cuda_alloc(ctx, round_up(op_bytes) + round_up(column_bytes) + element_bytes, "potree");
    if (out->tables == NULL) return MOTE_ERROR_MEMORY;
    uint8_t *const ops = (uint8_t *)out->tables;
    uint8_t *const columns = ops + round_up(op_bytes), *const elements = columns + round_up(column_bytes);
    out->program.ops = (const encode_op *)ops;
    out->program.columns = (const mote_column *)columns;
    out->program.elements = (const encode_element *)elements;
    MOTE_TRY(cuda_upload(ctx, ops, program->ops, op_bytes));
    if (column_bytes > 0) MOTE_TRY(cuda_upload(ctx, columns, program->columns, column_bytes));
    return cuda_upload(ctx, elements, program->elements, element_bytes);
}

static mote_status launch(mote_context *ctx, const encode_program *program, uint64_t first, uint64_t count,
                          uint8_t *records, const encode_findings *findings) {
    const uint32_t blocks = cuda_blocks(count, program->tile);
    const encode_findings none = {NULL, NULL, NULL, NULL};
    if (program->small && findings != NULL) {
        CUDA_LAUNCH(ctx, (encode_records<ENCODE_SMALL_ROOM, true>), blocks, ENCODE_THREADS, *program, first, count,
                    records, *findings);
    } else if (program->small) {
        CUDA_LAUNCH(ctx, (encode_records<ENCODE_SMALL_ROOM, false>), blocks, ENCODE_THREADS, *program, first, count,
                    records, none);
    } else if (findings != NULL) {
        CUDA_LAUNCH(ctx, (encode_records<ENCODE_LARGE_ROOM, true>), blocks, ENCODE_THREADS, *program, first, count,
                    records, *findings);
    } else {
        CUDA_LAUNCH(ctx, (encode_records<ENCODE_LARGE_ROOM, false>), blocks, ENCODE_THREADS, *program, first, count,
                    records, none);
    }
    return cuda_launched(ctx, "making Potree records");
}

static mote_status make_records(mote_context *ctx, mote_lod *lod, const encode_program *program, const void **records) {
    lod_cuda *device = lod->device;
    device_program made = {};
    cuda_free(ctx, device->records);
    device->records = cuda_alloc(ctx, device->item_count * program->stride_bytes, "potree records");
    mote_status status = device->records != NULL ? upload_program(ctx, program, &made) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && device->item_count > 0) {
        status = launch(ctx, &made.program, 0, device->item_count, (uint8_t *)device->records, NULL);
    }
    cuda_free(ctx, made.tables);
    if (status == MOTE_OK) *records = device->records;
    return status;
}

/* ---- the way to the host */

typedef struct stream_slot {
    uint8_t *device, *pinned;
    cuda_ticket ticket;
} stream_slot;

struct potree_stream {
    mote_context *ctx;
    device_program made;
    uint64_t *memory; /* of the findings, on the device */
    encode_findings findings;
    uint64_t slot_bytes;
    stream_slot slots[POTREE_IN_FLIGHT];
    uint64_t begun, taken;
};

static mote_status reset_findings(potree_stream *stream) {
    const uint32_t elements = stream->made.program.element_count;
    const uint64_t size_bytes = encode_finding_count(elements) * sizeof(uint64_t);
    stream->memory = (uint64_t *)cuda_alloc(stream->ctx, size_bytes, "potree");
    if (stream->memory == NULL) return MOTE_ERROR_MEMORY;
    stream->findings = encode_findings_in(stream->memory, elements);
    MOTE_TRY(cuda_fill(stream->ctx, stream->memory, 0, size_bytes));
    return cuda_fill(stream->ctx, stream->findings.low, 0xFF, elements * sizeof(uint64_t));
}

static void close_stream(potree_stream *stream) {
    if (stream == NULL) return;
    mote_context *ctx = stream->ctx;
    for (uint32_t s = 0; s < POTREE_IN_FLIGHT; s++) {
        stream_slot *slot = &stream->slots[s];
        if (slot->ticket.event != NULL) cuda_wait(ctx, &slot->ticket);
        cuda_free(ctx, slot->device);
        cuda_pinned_free(ctx, slot->pinned);
    }
    cuda_free(ctx, stream->memory);
    cuda_free(ctx, stream->made.tables);
    mote_free(ctx, stream);
}

static mote_status open_stream(mote_context *ctx, const mote_lod *lod, const encode_program *program,
                               uint64_t piece_items, potree_stream **out) {
    const uint64_t items = lod->device->item_count;
    *out = NULL;
    potree_stream *stream = (potree_stream *)mote_alloc_zero(ctx, sizeof *stream, "potree");
    if (stream == NULL) return MOTE_ERROR_MEMORY;
    stream->ctx = ctx;
    stream->slot_bytes = (piece_items < items ? piece_items : items) * program->stride_bytes;
    mote_status status = upload_program(ctx, program, &stream->made);
    if (status == MOTE_OK) status = reset_findings(stream);
    if (status != MOTE_OK) {
        close_stream(stream);
        return status;
    }
    *out = stream;
    return MOTE_OK;
}

/* A slot gets its memory when it is first used: few points need only one. */
static mote_status ready_slot(potree_stream *stream, stream_slot *slot) {
    mote_context *ctx = stream->ctx;
    if (slot->device == NULL) slot->device = (uint8_t *)cuda_alloc(ctx, stream->slot_bytes, "potree buffers");
    if (slot->device == NULL) return MOTE_ERROR_MEMORY;
    if (slot->pinned == NULL) slot->pinned = (uint8_t *)cuda_pinned_alloc(ctx, stream->slot_bytes, "potree buffers");
    if (slot->pinned == NULL) return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: page-locked buffers");
    return MOTE_OK;
}

static mote_status begin_piece(potree_stream *stream, uint64_t first, uint64_t count) {
    const encode_program *program = &stream->made.program;
    stream_slot *slot = &stream->slots[stream->begun % POTREE_IN_FLIGHT];
    MOTE_TRY(ready_slot(stream, slot));
    MOTE_TRY(launch(stream->ctx, program, first, count, slot->device, &stream->findings));
    MOTE_TRY(
        cuda_download_begin(stream->ctx, slot->pinned, slot->device, count * program->stride_bytes, &slot->ticket));
    stream->begun++;
    return MOTE_OK;
}

static mote_status take_piece(potree_stream *stream, const uint8_t **records) {
    stream_slot *slot = &stream->slots[stream->taken++ % POTREE_IN_FLIGHT];
    MOTE_TRY(cuda_wait(stream->ctx, &slot->ticket));
    slot->ticket.event = NULL;
    *records = slot->pinned;
    return MOTE_OK;
}

static mote_status fetch_findings(potree_stream *stream, uint64_t *findings) {
    const uint64_t count = encode_finding_count(stream->made.program.element_count);
    return cuda_download(stream->ctx, findings, stream->memory, count * sizeof *findings);
}

/* ---- the bits of flags */

typedef struct united_columns {
    mote_column columns[POTREE_UNITED];
    uint32_t count;
} united_columns;

/* bits  [POTREE_UNITED] */
static __global__ void unite_bits(const united_columns united, uint64_t count, potree_word *bits) {
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    potree_word all[POTREE_UNITED];
    for (uint32_t c = 0; c < POTREE_UNITED; c++) all[c] = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        for (uint32_t c = 0; c < POTREE_UNITED; c++) {
            if (c >= united.count) continue;
            all[c] |= potree_raw_bits(&united.columns[c], column_at(&united.columns[c], i));
        }
    }
    for (uint32_t c = 0; c < POTREE_UNITED; c++) {
        for (int lane = CUDA_WARP / 2; lane > 0; lane /= 2) all[c] |= __shfl_xor_sync(CUDA_ALL, all[c], lane);
        if (threadIdx.x % CUDA_WARP == 0 && all[c] != 0) atomicOr(&bits[c], all[c]);
    }
}

static mote_status find_bits(mote_context *ctx, const mote_column *columns, uint32_t column_count, uint64_t count,
                             uint64_t *bits) {
    uint64_t found[POTREE_UNITED] = {};
    united_columns united = {};
    united.count = column_count;
    memcpy(united.columns, columns, column_count * sizeof *columns);
    potree_word *memory = (potree_word *)cuda_alloc(ctx, sizeof found, "potree");
    if (memory == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_fill(ctx, memory, 0, sizeof found);
    if (status == MOTE_OK) {
        const uint32_t blocks = cuda_blocks(count, ENCODE_THREADS);
        CUDA_LAUNCH(ctx, unite_bits, blocks < UNITING_BLOCKS ? blocks : UNITING_BLOCKS, ENCODE_THREADS, united, count,
                    memory);
        status = cuda_launched(ctx, "looking at the flags");
    }
    if (status == MOTE_OK) status = cuda_download(ctx, found, memory, sizeof found);
    memcpy(bits, found, column_count * sizeof *bits);
    cuda_free(ctx, memory);
    return status;
}

extern "C" const mote_potree_ops mote_potree_on_cuda = {find_bits,  make_records,   open_stream, begin_piece,
                                                        take_piece, fetch_findings, close_stream};

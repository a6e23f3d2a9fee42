/* What a thread of a block does for the records of a tile: fetch, and run operations. Of a point at random in memory a
   warp fetches whole windows, a few neighbouring lanes each, so that all bytes of a sector that comes are used and many
   are on their way at once. */
#ifndef MOTE_POTREE_PROGRAM_CUDA_H
#define MOTE_POTREE_PROGRAM_CUDA_H

#include "device/cuda/cuda_kernel.cuh"
#include "io/potree/potree_math.h"
#include "io/potree/program/potree_encode_program.h"

/* Makes records by the moves of a program, whose tables are on the device: src/io/potree/potree_bit_program_cuda.cu */
void potree_launch_bit_program(mote_device *gpu, const encode_program *program, uint64_t first, uint64_t count,
                               uint8_t *records);

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

static __device__ __forceinline__ void copy_bytes(const record_op &op, const uint8_t *from, uint8_t *to) {
    uint32_t at = 0;
    for (; at + 4 <= op.size_bytes; at += 4) store4(to + at, load4(from + at, op.aligned_from), op.aligned_to);
    if (op.size_bytes & 2) {
        store2(to + at, load2(from + at, op.aligned_from), op.aligned_to);
        at += 2;
    }
    if (op.size_bytes & 1) to[at] = from[at];
}

/* ---- what is fetched */

static __device__ __forceinline__ uint32_t first_thing(const encode_share &share) {
    return threadIdx.x * share.inverse >> 16;
}

/* Staged bytes are aligned to words. */
template <typename unit> static __device__ __forceinline__ void stage(const unit &value, uint8_t *to) {
    memcpy(__builtin_assume_aligned(to, sizeof(unit)), &value, sizeof(unit));
}
static __device__ __forceinline__ void stage(const encode_quad &value, uint8_t *to) {
    for (uint32_t w = 0; w < 4; w++) ((uint32_t *)to)[w] = value.words[w];
}

/* The last unit of the last point, which reaches behind what there is; records of a thread: every step-th. */
static __device__ __forceinline__ void fetch_rest(const encode_group &group, const uint32_t *index, uint32_t count,
                                                  uint32_t staged_bytes, uint8_t *staged) {
    const uint32_t unit_at = (group.share.parts - 1) * group.unit_bytes;
    const uint8_t *const from = group.first + (uint64_t)group.reaching * group.stride_bytes + unit_at;
#pragma unroll 1
    for (uint32_t record = first_thing(group.share); record < count; record += group.share.things) {
        if (index[record] != group.reaching) continue;
        uint8_t *const to = staged + record * staged_bytes + group.staged_at + unit_at;
#pragma unroll 1
        for (uint32_t b = 0; b < (uint32_t)(group.end - from); b++) to[b] = from[b];
    }
}

/* Where a thread is: the unit of a point that it fetches, of every so-manieth record. */
typedef struct fetch_lane {
    const uint8_t *from; /* the unit of the first point */
    uint32_t stride_bytes;
    uint32_t reaching;
    const uint32_t *point; /* of the next record */
    uint8_t *to;
    uint32_t things, step_bytes; /* from record to record */
} fetch_lane;

/* First all loads, then all stores: so the loads are on their way together. Returns whether a unit was left out, the
   one that reaches behind the end. */
template <typename unit, uint32_t at_once, bool checks>
static __device__ __forceinline__ bool fetch_turn(fetch_lane &lane, const uint32_t *end) {
    unit values[at_once] = {};
    bool here[at_once], found = false;
#pragma unroll
    for (uint32_t f = 0; f < at_once; f++, lane.point += lane.things) {
        here[f] = !checks || lane.point < end;
        if (!here[f]) continue;
        const uint32_t point = *lane.point;
        if (checks && point == lane.reaching) {
            found = true;
            here[f] = false;
        } else {
            values[f] = *(const unit *)(lane.from + (uint64_t)point * lane.stride_bytes);
        }
    }
#pragma unroll
    for (uint32_t f = 0; f < at_once; f++, lane.to += lane.step_bytes) {
        if (here[f]) stage(values[f], lane.to);
    }
    return found;
}

/* Only the last turn can reach beyond the last record, so the others need not look. */
template <typename unit, uint32_t at_once>
static __device__ __forceinline__ void fetch_group(const encode_group &group, const uint32_t *index, uint32_t count,
                                                   uint32_t staged_bytes, uint8_t *staged) {
    const uint32_t things = group.share.things, thing = first_thing(group.share);
    const uint32_t number = threadIdx.x - thing * group.share.parts, unit_at = number * (uint32_t)sizeof(unit);
    const bool reaches = group.reaching != UINT32_MAX;
    fetch_lane lane = {group.first + unit_at,
                       group.stride_bytes,
                       number == group.share.parts - 1 ? group.reaching : UINT32_MAX,
                       index + thing,
                       staged + thing * staged_bytes + group.staged_at + unit_at,
                       things,
                       things * staged_bytes};
    bool found = false;
    if (thing >= things) return;
    if (sizeof(unit) == 4 && !reaches) {
#pragma unroll 1
        for (uint32_t remaining = count; remaining >= at_once * things; remaining -= at_once * things) {
            fetch_turn<unit, at_once, false>(lane, index + count);
        }
    }
#pragma unroll 1
    while (lane.point < index + count) found = fetch_turn<unit, at_once, true>(lane, index + count) || found;
    if (found) fetch_rest(group, index, count, staged_bytes, staged);
}

/* staged  aligned to words, as staged_bytes is */
static __device__ __forceinline__ void fetch(const encode_program &program, const uint32_t *index, uint32_t count,
                                             uint8_t *staged) {
    for (uint32_t g = 0; g < program.group_count; g++) {
        const encode_group &group = program.groups[g];
        switch (group.unit_bytes) {
        case 16: fetch_group<encode_quad, 2>(group, index, count, program.staged_bytes, staged); break;
        case 4: fetch_group<uint32_t, 6>(group, index, count, program.staged_bytes, staged); break;
        case 2: fetch_group<uint16_t, 4>(group, index, count, program.staged_bytes, staged); break;
        default: fetch_group<uint8_t, 4>(group, index, count, program.staged_bytes, staged);
        }
    }
}

/* ---- operations of one record */

/* Returns whether a real coordinate does not come back. */
static __device__ __forceinline__ bool run_lattice(const encode_program &program, const record_op &op,
                                                   const uint8_t *from, uint8_t *to) {
    const mote_column &column = program.columns[op.column];
    const uint32_t k = op.axis;
    const uint32_t x = program.base[k] + potree_lattice_step(&column, from, &program.lattice, (int)k);
    store4(to, x, op.aligned_to);
    return program.checks_reals && !potree_comes_back(&column, from, x, program.scale[k], program.offset[k]);
}

static __device__ __forceinline__ void run_convert(const encode_program &program, const record_op &op,
                                                   const uint8_t *from, uint8_t *to) {
    const mote_column &column = program.columns[op.column];
    if (op.kind == RECORD_UNIT) {
        store2(to, column_color(&column, from), op.aligned_to);
    } else {
        const mote_type type = (mote_type)op.type;
        store_value(to, column_convert(&column, from, type), column_type_bytes(type), op.aligned_to);
    }
}

static __device__ __forceinline__ bool run_op(const encode_program &program, const record_op &op, const uint8_t *from,
                                              uint64_t item, uint8_t *to) {
    switch (op.kind) {
    case RECORD_COPY: copy_bytes(op, from, to); break;
    case RECORD_BITS: *to = potree_bits(*from, op.shift, op.mask, op.to_shift); break;
    case RECORD_OR_BITS: *to = (uint8_t)(*to | potree_bits(*from, op.shift, op.mask, op.to_shift)); break;
    case RECORD_CONVERT:
    case RECORD_UNIT: run_convert(program, op, from, to); break;
    case RECORD_SUBTRACT: store4(to, load4(from, op.aligned_from) - op.less, op.aligned_to); break;
    case RECORD_LATTICE: return run_lattice(program, op, from, to);
    default: {
        const uint16_t *color = program.item_colors + 4 * item;
        for (uint32_t c = 0; c < 3; c++) store2(to + 2 * c, color[c], op.aligned_to);
    }
    }
    return false;
}

#endif

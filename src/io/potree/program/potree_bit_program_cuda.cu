/* Records whose program is said in moves: a tile is made word by word, each the union of a few rotated and masked words
   of what was fetched, and goes straight to memory. */
#include "io/potree/program/potree_program_cuda.cuh"
#include "lod/lod_device_view.h"

/* Words of a thread, whose stores are on their way together. As set here: 1.48 ms for 100 M records of a city
   (H200, 6.2 GB), which is the speed of a device copy. */
struct words_policy {
    static constexpr uint32_t items = 4;
};

/* ---- before the words */

/* The loads of a thread's records are on their way together.
   index   [count] of points
   staged  of the tile; gets the colours of items, if there are some */
static __device__ __forceinline__ void find_points(const encode_program &program, uint64_t first, uint32_t count,
                                                   uint32_t *index, uint32_t *staged) {
    const uint64_t *const item_colors = (const uint64_t *)program.item_colors;
    const bool colored = program.bit_program.colors_at != RECORD_NOT_STAGED;
    uint32_t positions[ENCODE_PER_THREAD] = {};
    uint64_t colors[ENCODE_PER_THREAD] = {};
#pragma unroll
    for (uint32_t r = 0; r < ENCODE_PER_THREAD; r++) {
        const uint32_t at = threadIdx.x + r * ENCODE_THREADS;
        if (at < count) positions[r] = program.items[first + at];
        if (at < count && colored) colors[r] = item_colors[first + at];
    }
#pragma unroll
    for (uint32_t r = 0; r < ENCODE_PER_THREAD; r++) {
        const uint32_t at = threadIdx.x + r * ENCODE_THREADS;
        if (at < count) index[at] = lod_device_row(program.index, positions[r]);
    }
    if (!colored) return;
#pragma unroll
    for (uint32_t r = 0; r < ENCODE_PER_THREAD; r++) {
        const uint32_t at = threadIdx.x + r * ENCODE_THREADS;
        if (at >= count) continue;
        uint32_t *const to = staged + (at * program.staged_bytes + program.bit_program.colors_at) / 4;
        to[0] = (uint32_t)colors[r];
        to[1] = (uint32_t)(colors[r] >> 32);
    }
}

static __device__ __forceinline__ void compute(const encode_program &program, uint64_t first, uint32_t count,
                                               uint8_t *staged) {
    for (uint32_t at = threadIdx.x; at < count; at += ENCODE_THREADS) {
        uint8_t *const record = staged + at * program.staged_bytes;
        for (uint32_t o = 0; o < program.bit_program.computed_count; o++) {
            const record_op &op = program.bit_program.computed[o];
            if (op.kind == RECORD_SUBTRACT && op.aligned_from == 4) {
                *(uint32_t *)(record + op.to) = *(const uint32_t *)(record + op.staged_at) - op.less;
            } else {
                run_op(program, op, record + op.staged_at, first + at, record + op.to);
            }
        }
    }
}

/* ---- the words */

static __device__ __forceinline__ uint32_t term_of(const encode_term &term, const uint32_t *unit) {
    return __funnelshift_l(unit[term.at], unit[term.at], term.rotated) & term.mask;
}

static __device__ __forceinline__ encode_term load_term(const encode_program &program, uint32_t number) {
    const encode_quad *const quads = (const encode_quad *)program.bit_program.terms;
    const encode_quad quad = quads[number];
    const encode_term term = {quad.words[0], quad.words[1], quad.words[2], quad.words[3]};
    return term;
}

/* A tile that is not full may end within a word. */
static __device__ __forceinline__ void store_word(uint32_t word, uint32_t at, uint32_t size_bytes, uint8_t *to) {
    if (at + 4 <= size_bytes) {
        *(uint32_t *)(to + at) = word;
    } else {
#pragma unroll 1
        for (; at < size_bytes; at++, word >>= 8) to[at] = (uint8_t)word;
    }
}

/* A thread makes the same word of every so-manieth unit; all threads together store one run. */
static __device__ __forceinline__ void make_words(const encode_program &program, const encode_term *terms,
                                                  const uint32_t *staged, uint32_t size_bytes, uint8_t *to) {
    const encode_share &share = program.bit_program.share;
    const uint32_t unit_words = program.bit_program.unit_records * (program.staged_bytes / 4),
                   thing = first_thing(share);
    if (thing >= share.things || terms[0].more != 0) return;
    const uint32_t step_bytes = share.things * share.parts * 4, step = share.things * unit_words;
    const uint32_t *unit = staged + thing * unit_words;
    uint32_t at = threadIdx.x * 4;
    uint8_t *word = to + at;
#pragma unroll 1
    for (; at + (words_policy::items - 1) * step_bytes + 4 <= size_bytes; at += words_policy::items * step_bytes) {
#pragma unroll
        for (uint32_t f = 0; f < words_policy::items; f++, word += step_bytes, unit += step) {
            *(uint32_t *)word = term_of(terms[0], unit) | term_of(terms[1], unit);
        }
    }
#pragma unroll 1
    for (; at < size_bytes; at += step_bytes, unit += step) {
        store_word(term_of(terms[0], unit) | term_of(terms[1], unit), at, size_bytes, to);
    }
}

static __device__ __forceinline__ void make_long_word(const encode_program &program, const encode_long entry,
                                                      const uint32_t *staged, uint32_t size_bytes, uint8_t *to) {
    const uint32_t unit_words = program.bit_program.unit_records * (program.staged_bytes / 4);
    const uint32_t unit_bytes = 4 * program.bit_program.share.parts;
    const uint32_t *unit = staged + threadIdx.x * unit_words;
    uint32_t at = threadIdx.x * unit_bytes + 4 * entry.word;
    for (; at < size_bytes; at += ENCODE_THREADS * unit_bytes, unit += ENCODE_THREADS * unit_words) {
        uint32_t word = 0;
        for (uint32_t t = 0; t < entry.term_count; t++) {
            word |= term_of(load_term(program, entry.first_term + t), unit);
        }
        store_word(word, at, size_bytes, to);
    }
}

/* ---- the kernel */

/* Records of count items from the first-th on; a block makes a tile, which begins at a multiple of 16 bytes. */
template <uint32_t buffer_bytes, bool computes>
static __global__ void __launch_bounds__(ENCODE_THREADS)
    move_records(const encode_program program, uint64_t first, uint64_t count, uint8_t *records) {
    __shared__ uint32_t staged[buffer_bytes / 4];
    __shared__ uint32_t index[ENCODE_MOVED];
    const uint64_t begin = (uint64_t)blockIdx.x * program.bit_program.tile, remaining = count - begin;
    const uint32_t here = remaining < program.bit_program.tile ? (uint32_t)remaining : program.bit_program.tile;
    find_points(program, first + begin, here, index, staged);
    __syncthreads();

    fetch(program, index, here, (uint8_t *)staged);
    const encode_share &share = program.bit_program.share;
    const uint32_t part = threadIdx.x - first_thing(share) * share.parts;
    const encode_term terms[ENCODE_TERMS] = {load_term(program, part * ENCODE_TERMS),
                                             load_term(program, part * ENCODE_TERMS + 1)};
    __syncthreads();

    if (computes) {
        compute(program, first + begin, here, (uint8_t *)staged);
        __syncthreads();
    }
    uint8_t *const to = records + begin * program.stride_bytes;
    make_words(program, terms, staged, here * program.stride_bytes, to);
    for (uint32_t l = 0; l < program.bit_program.long_count; l++) {
        make_long_word(program, program.bit_program.longs[l], staged, here * program.stride_bytes, to);
    }
}

void potree_launch_bit_program(mote_device *gpu, const encode_program *program, uint64_t first, uint64_t count,
                               uint8_t *records) {
    const uint32_t blocks = cuda_blocks(count, program->bit_program.tile);
    const bool computes = program->bit_program.computed_count > 0;
    if (program->bit_program.small && !computes) {
        CUDA_LAUNCH(gpu, (move_records<ENCODE_MOVED_SMALL, false>), blocks, ENCODE_THREADS, *program, first, count,
                    records);
    } else if (program->bit_program.small) {
        CUDA_LAUNCH(gpu, (move_records<ENCODE_MOVED_SMALL, true>), blocks, ENCODE_THREADS, *program, first, count,
                    records);
    } else if (!computes) {
        CUDA_LAUNCH(gpu, (move_records<ENCODE_MOVED_LARGE, false>), blocks, ENCODE_THREADS, *program, first, count,
                    records);
    } else {
        CUDA_LAUNCH(gpu, (move_records<ENCODE_MOVED_LARGE, true>), blocks, ENCODE_THREADS, *program, first, count,
                    records);
    }
}

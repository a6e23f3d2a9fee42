/* Says the program of a record in moves: which bit of what is fetched, or computed, each bit of the record is, and of
   these the terms of every word of a unit. */
#include "io/potree/potree.h"

#define NO_BIT     UINT16_MAX
#define MAX_STAGED 704u /* bytes of a record with what is computed: 32 records fit */
#define WORD_BITS  32u

typedef struct bit_program_maker {
    potree_encoding *encoding;
    encode_program *program;
    encode_bit_program *bit_program;
    uint16_t *bits; /* of each bit of the record: which bit of its staged bytes, or NO_BIT for zero */
} bit_program_maker;

/* ---- operations to bits */

static void move_bits(bit_program_maker *maker, uint32_t to, uint32_t from, uint32_t count) {
    for (uint32_t b = 0; b < count; b++) maker->bits[to + b] = (uint16_t)(from + b);
}

/* Moves the bits of a field of a byte that several operations may fill. False if two want the same bit. */
static bool move_field(bit_program_maker *maker, const record_op *op) {
    for (uint32_t b = op->to_shift; b < 8; b++) {
        const uint32_t from = b - op->to_shift + op->shift;
        if (from >= 8 || (op->mask >> (b - op->to_shift) & 1) == 0) continue;
        uint16_t *bit = &maker->bits[8 * op->to + b];
        if (*bit != NO_BIT) return false;
        *bit = (uint16_t)(8 * op->staged_at + from);
    }
    return true;
}

/* Bytes of a record that are to be staged beside what is fetched. */
static uint32_t stage(bit_program_maker *maker, uint32_t size_bytes) {
    const uint32_t at = maker->program->staged_bytes;
    maker->program->staged_bytes += (size_bytes + 3) / 4 * 4;
    return at;
}

static void compute(bit_program_maker *maker, const record_op *op, uint32_t staged_at, uint32_t size_bytes) {
    record_op *computed = &maker->encoding->computed[maker->bit_program->computed_count++];
    *computed = *op;
    computed->staged_at = staged_at;
    computed->aligned_from = staged_at % 4 == 0 ? 4 : staged_at % 2 == 0 ? 2 : 1;
    computed->to = stage(maker, size_bytes);
    computed->aligned_to = 4;
    move_bits(maker, 8 * op->to, 8 * computed->to, 8 * size_bytes);
}

/* The bits of an integer, or of a field of it, that its conversion only moves and fills up with zeros. Returns how
   many; 0 if there is more to it. */
static uint32_t plain_bits(const record_op *op, const mote_column *column, uint32_t to_bits) {
    const uint32_t bits = 8 * op->size_bytes;
    const bool is_unsigned = column->type == MOTE_UINT8 || column->type == MOTE_UINT16 || column->type == MOTE_UINT32 ||
                             column->type == MOTE_UINT64;
    if (mote_type_is_float(column->type) || mote_type_is_float((mote_type)op->type)) return 0;
    if (op->kind == RECORD_UNIT && !(is_unsigned && bits <= 16)) return 0; /* others are cut to 65535 */
    if (op->kind == RECORD_UNIT && (column->scale != 1 || column->offset != 0)) return 0;
    if (column->bit_count > 0) {
        if (column->bit_shift + column->bit_count > bits) return 0;
        return column->bit_count < to_bits ? column->bit_count : to_bits;
    }
    if (to_bits > bits && !is_unsigned) return 0;
    return bits < to_bits ? bits : to_bits;
}

static void convert(bit_program_maker *maker, const record_op *op) {
    const mote_column *column = &maker->encoding->columns[op->column];
    const uint32_t size_bytes = mote_type_size((mote_type)op->type);
    const uint32_t plain = plain_bits(op, column, 8 * size_bytes);
    if (plain == 0) {
        compute(maker, op, op->staged_at, size_bytes);
    } else {
        move_bits(maker, 8 * op->to, 8 * op->staged_at + (column->bit_count > 0 ? column->bit_shift : 0), plain);
    }
}

/* The difference is taken of what would be moved, which must lie together. */
static bool subtract(bit_program_maker *maker, const record_op *op) {
    const uint16_t *bits = &maker->bits[8 * op->to];
    for (uint32_t b = 0; b < WORD_BITS; b++) {
        if (bits[b] == NO_BIT || bits[b] != bits[0] + b) return false;
    }
    if (bits[0] % 8 != 0) return false;
    compute(maker, op, bits[0] / 8, 4);
    return true;
}

/* False if moves cannot say it. */
static bool translate(bit_program_maker *maker, const record_op *op) {
    if (op->kind == RECORD_COLORS) {
        maker->bit_program->colors_at = stage(maker, 8);
        move_bits(maker, 8 * op->to, 8 * maker->bit_program->colors_at, 48);
        return true;
    }
    if (op->kind == RECORD_SUBTRACT) return subtract(maker, op);
    if (op->staged_at == RECORD_NOT_STAGED) return false;
    switch (op->kind) {
    case RECORD_COPY: move_bits(maker, 8 * op->to, 8 * op->staged_at, 8 * op->size_bytes); return true;
    case RECORD_BITS:
    case RECORD_OR_BITS: return move_field(maker, op);
    case RECORD_LATTICE: compute(maker, op, op->staged_at, 4); return true;
    default: convert(maker, op); return true;
    }
}

static bool translate_all(bit_program_maker *maker) {
    const encode_program *program = maker->program;
    for (uint32_t b = 0; b < 8 * program->stride_bytes; b++) maker->bits[b] = NO_BIT;
    for (uint32_t o = 0; o < program->op_count; o++) {
        if (!translate(maker, &maker->encoding->ops[o]) || program->staged_bytes + 8 > MAX_STAGED) return false;
    }
    maker->program->staged_bytes |= 4;
    return true;
}

/* ---- bits to words */

/* terms  [WORD_BITS] */
static uint32_t find_terms(const bit_program_maker *maker, uint32_t word, encode_term *terms) {
    const uint32_t record_bits = 8 * maker->program->stride_bytes, staged_words = maker->program->staged_bytes / 4;
    uint32_t count = 0;
    for (uint32_t b = 0; b < WORD_BITS; b++) {
        const uint32_t place = WORD_BITS * word + b, from = maker->bits[place % record_bits];
        if (from == NO_BIT) continue;
        const uint32_t at = place / record_bits * staged_words + from / WORD_BITS;
        const uint32_t rotated = (b - from) % WORD_BITS;
        uint32_t t = 0;
        while (t < count && (terms[t].at != at || terms[t].rotated != rotated)) t++;
        if (t == count) {
            const encode_term term = {at, rotated, 0, 0};
            terms[count++] = term;
        }
        terms[t].mask |= 1u << b;
    }
    return count;
}

static mote_status add_long(bit_program_maker *maker, uint32_t word, const encode_term *terms, uint32_t count) {
    potree_encoding *encoding = maker->encoding;
    encode_bit_program *bit_program = maker->bit_program;
    if (!mote_reserve(encoding->ctx, (void **)&encoding->terms, &encoding->term_capacity,
                      bit_program->term_count + count, sizeof *terms, "potree") ||
        !mote_reserve(encoding->ctx, (void **)&encoding->longs, &encoding->long_capacity,
                      bit_program->long_count + 1ull, sizeof *encoding->longs, "potree")) {
        return MOTE_ERROR_MEMORY;
    }
    const encode_long entry = {word, bit_program->term_count, count};
    encoding->longs[bit_program->long_count++] = entry;
    memcpy(encoding->terms + bit_program->term_count, terms, count * sizeof *terms);
    bit_program->term_count += count;
    encoding->terms[word * ENCODE_TERMS].more = 1;
    return MOTE_OK;
}

static mote_status make_words(bit_program_maker *maker) {
    potree_encoding *encoding = maker->encoding;
    const uint32_t words = maker->bit_program->share.parts;
    maker->bit_program->term_count = words * ENCODE_TERMS;
    if (!mote_reserve(encoding->ctx, (void **)&encoding->terms, &encoding->term_capacity,
                      maker->bit_program->term_count, sizeof *encoding->terms, "potree")) {
        return MOTE_ERROR_MEMORY;
    }
    memset(encoding->terms, 0, maker->bit_program->term_count * sizeof *encoding->terms);
    for (uint32_t w = 0; w < words; w++) {
        encode_term terms[WORD_BITS];
        const uint32_t count = find_terms(maker, w, terms);
        if (count <= ENCODE_TERMS) {
            memcpy(encoding->terms + (size_t)w * ENCODE_TERMS, terms, count * sizeof *terms);
        } else {
            MOTE_TRY(add_long(maker, w, terms, count));
        }
    }
    return MOTE_OK;
}

/* ---- the whole */

static void choose_tile(const encode_program *program, encode_bit_program *bit_program) {
    bit_program->tile = ENCODE_MOVED;
    bit_program->small = bit_program->tile * program->staged_bytes <= ENCODE_MOVED_SMALL;
    while (bit_program->tile * program->staged_bytes > ENCODE_MOVED_LARGE) bit_program->tile /= 2;
}

mote_status potree_bit_program_make(potree_encoding *encoding) {
    encode_program *program = &encoding->program;
    encode_bit_program *bit_program = &program->bit_program;
    const uint32_t stride = program->stride_bytes, fetched_bytes = program->staged_bytes;
    const uint32_t unit_records = stride % 4 == 0 ? 1 : stride % 2 == 0 ? 2 : 4;
    const uint32_t words = unit_records * stride / 4;
    memset(bit_program, 0, sizeof *bit_program);
    bit_program->colors_at = RECORD_NOT_STAGED;
    if (words > ENCODE_MAX_WORDS) return MOTE_OK;
    bit_program_maker maker = {encoding, program, bit_program, NULL};
    maker.bits = mote_alloc(encoding->ctx, 8ull * stride * sizeof *maker.bits, "potree");
    encoding->computed = mote_alloc(encoding->ctx, program->op_count * sizeof *encoding->computed, "potree");
    mote_status status = maker.bits != NULL && encoding->computed != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && translate_all(&maker)) {
        bit_program->unit_records = unit_records;
        bit_program->share = encode_share_out(words);
        status = make_words(&maker);
        choose_tile(program, bit_program);
    } else {
        memset(bit_program, 0, sizeof *bit_program);
        program->staged_bytes = fetched_bytes;
    }
    bit_program->computed = encoding->computed;
    bit_program->terms = encoding->terms;
    bit_program->longs = encoding->longs;
    mote_free(encoding->ctx, maker.bits);
    return status;
}

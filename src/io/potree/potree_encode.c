/* Turns the copy program of a plan into one for a GPU: which bytes of a point are fetched together, how the values are
   aligned, how many records a block makes. */
#include "io/potree/potree_encode.h"
#include "io/potree/potree.h"
#include "lod/lod_cuda.h"

typedef struct encode_maker {
    const potree_plan *plan;
    potree_encoding *encoding;
    encode_program *program;
    uint64_t point_count;
} encode_maker;

/* ---- operations */

static encode_op *add_op(encode_maker *maker, encode_kind kind, uint32_t to) {
    encode_op *op = &maker->encoding->ops[maker->program->op_count++];
    memset(op, 0, sizeof *op);
    op->kind = (uint8_t)kind;
    op->to = to;
    op->staged_at = ENCODE_NOT_STAGED;
    return op;
}

static void add_column_op(encode_maker *maker, encode_kind kind, const mote_column *column, mote_type type,
                          uint32_t to) {
    encode_op *op = add_op(maker, kind, to);
    op->source = column->data;
    op->stride_bytes = column->stride_bytes;
    op->size_bytes = mote_type_size(column->type);
    op->type = (uint8_t)type;
    op->column = maker->program->column_count;
    maker->encoding->columns[maker->program->column_count++] = *column;
}

static void add_lattice_ops(encode_maker *maker, uint32_t to) {
    for (uint32_t k = 0; k < 3; k++) {
        add_column_op(maker, ENCODE_LATTICE, maker->plan->attributes[0].columns[k], MOTE_INT32, to + 4 * k);
        maker->encoding->ops[maker->program->op_count - 1].axis = (uint8_t)k;
    }
}

static void add_plain_op(encode_maker *maker, encode_kind kind, const potree_op *from) {
    encode_op *op = add_op(maker, kind, from->to);
    op->source = from->source;
    op->stride_bytes = from->stride_bytes;
    op->size_bytes = from->kind == POTREE_OP_COPY ? from->size_bytes : 1;
    op->shift = from->shift;
    op->mask = from->mask;
    op->left = from->left;
}

/* Without averages a point has its own colour. */
static void add_color_ops(encode_maker *maker, uint32_t to) {
    if (maker->program->item_colors != NULL) {
        add_op(maker, ENCODE_COLORS, to);
        return;
    }
    const potree_attribute *color = maker->plan->attributes;
    while (color->role != POTREE_COLOR) color++;
    for (uint32_t c = 0; c < 3; c++) add_column_op(maker, ENCODE_UNIT, color->columns[c], MOTE_UINT16, to + 2 * c);
}

static void translate(encode_maker *maker, const potree_op *op) {
    switch (op->kind) {
    case POTREE_OP_COPY: add_plain_op(maker, ENCODE_COPY, op); break;
    case POTREE_OP_BITS: add_plain_op(maker, ENCODE_BITS, op); break;
    case POTREE_OP_OR_BITS: add_plain_op(maker, ENCODE_OR_BITS, op); break;
    case POTREE_OP_CONVERT: add_column_op(maker, ENCODE_CONVERT, &op->column, op->type, op->to); break;
    case POTREE_OP_UNIT: add_column_op(maker, ENCODE_UNIT, &op->column, MOTE_UINT16, op->to); break;
    case POTREE_OP_SUBTRACT: add_op(maker, ENCODE_SUBTRACT, op->to)->less = op->less; break;
    case POTREE_OP_LATTICE: add_lattice_ops(maker, op->to); break;
    case POTREE_OP_COLORS: add_color_ops(maker, op->to); break;
    }
}

/* ---- what is fetched */

/* The window of one point while operations join it. */
typedef struct encode_window {
    const uint8_t *low, *high;
    uint32_t stride_bytes;
    uint32_t group; /* its number; ENCODE_NOT_STAGED where it is not fetched */
} encode_window;

static bool joins(const encode_window *window, const encode_op *op) {
    const uint8_t *high = op->source + op->size_bytes;
    const uint8_t *low = op->source < window->low ? op->source : window->low;
    high = high > window->high ? high : window->high;
    const uint64_t wide = (uint64_t)((uintptr_t)high - (uintptr_t)low);
    return op->stride_bytes == window->stride_bytes && wide <= op->stride_bytes && wide <= ENCODE_MOST_WINDOW;
}

/* Every operation with a source gets a window (its number in staged_at). Returns how many there are. */
static uint32_t find_windows(const encode_maker *maker, encode_window *windows) {
    uint32_t count = 0;
    for (uint32_t o = 0; o < maker->program->op_count; o++) {
        encode_op *op = &maker->encoding->ops[o];
        if (op->source == NULL || op->stride_bytes == 0) continue;
        uint32_t w = 0;
        while (w < count && !joins(&windows[w], op)) w++;
        if (w == count) {
            windows[count].low = op->source;
            windows[count].high = op->source + op->size_bytes;
            windows[count++].stride_bytes = op->stride_bytes;
        }
        if (op->source < windows[w].low) windows[w].low = op->source;
        if (op->source + op->size_bytes > windows[w].high) windows[w].high = op->source + op->size_bytes;
        op->staged_at = w;
    }
    return count;
}

/* The largest power of two up to most that divides all of bits; 8 is none that is fetched. */
static uint32_t aligned(uint64_t bits, uint32_t most) {
    while (most > 1 && bits % most != 0) most /= most == 16 ? 4 : 2;
    return most;
}

static void stage_windows(encode_maker *maker, encode_window *windows, uint32_t count) {
    encode_program *program = maker->program;
    for (uint32_t w = 0; w < count; w++) {
        encode_window *window = &windows[w];
        const uint32_t wide = (uint32_t)(window->high - window->low);
        window->group = ENCODE_NOT_STAGED;
        const uint32_t unit_bytes = aligned((uintptr_t)window->low | window->stride_bytes, wide > 8 ? 16 : 4);
        const uint32_t units = (wide + unit_bytes - 1) / unit_bytes;
        if (program->group_count == ENCODE_GROUPS || wide > ENCODE_MOST_WINDOW ||
            program->staged_bytes + units * unit_bytes > ENCODE_MOST_STAGED) {
            continue;
        }
        encode_group *group = &program->groups[program->group_count];
        group->first = window->low;
        const uint64_t before_last = maker->point_count > 0 ? maker->point_count - 1 : 0;
        group->end = window->low + before_last * window->stride_bytes + wide;
        group->stride_bytes = window->stride_bytes;
        group->unit_bytes = unit_bytes;
        group->share = encode_share_out(units);
        group->reaching = units * unit_bytes > wide ? (uint32_t)before_last : UINT32_MAX;
        group->staged_at = program->staged_bytes;
        program->staged_bytes += (units * unit_bytes + 3) / 4 * 4;
        window->group = program->group_count++;
    }
    program->staged_bytes |= 4; /* an odd number of words */
}

/* Where operations find their values, and how these are aligned. */
static void settle_ops(encode_maker *maker, const encode_window *windows) {
    encode_program *program = maker->program;
    for (uint32_t o = 0; o < program->op_count; o++) {
        encode_op *op = &maker->encoding->ops[o];
        op->aligned_to = (uint8_t)aligned(program->stride_bytes | op->to, 4);
        op->aligned_from = (uint8_t)aligned((uintptr_t)op->source | op->stride_bytes, 4);
        if (op->kind == ENCODE_SUBTRACT) op->aligned_from = op->aligned_to;
        if (op->staged_at == ENCODE_NOT_STAGED) continue;
        const encode_window *window = &windows[op->staged_at];
        op->staged_at = ENCODE_NOT_STAGED;
        if (window->group == ENCODE_NOT_STAGED) continue;
        op->staged_at = program->groups[window->group].staged_at + (uint32_t)(op->source - window->low);
        op->aligned_from = (uint8_t)aligned(op->staged_at, 4);
    }
}

static bool fits(const encode_program *program, uint32_t tile, uint32_t room_bytes) {
    const uint64_t record_bytes = program->direct ? 0 : (uint64_t)tile * program->stride_bytes;
    return encode_staged_room(tile, program->staged_bytes) + record_bytes <= room_bytes;
}

static void choose_tile(encode_program *program) {
    program->tile = ENCODE_THREADS;
    program->small = fits(program, program->tile, ENCODE_SMALL_ROOM);
    program->direct = !program->small && !fits(program, ENCODE_LEAST_TILE, ENCODE_LARGE_ROOM);
    while (!program->small && !fits(program, program->tile, ENCODE_LARGE_ROOM)) program->tile /= 2;
}

/* ---- the whole */

static void list_elements(encode_maker *maker) {
    const potree_plan *plan = maker->plan;
    for (uint32_t a = 0; a < plan->attribute_count; a++) {
        const potree_attribute *attribute = &plan->attributes[a];
        for (uint32_t e = 0; e < attribute->elements; e++) {
            encode_element *element = &maker->encoding->elements[attribute->range + e];
            element->at = attribute->at + e * mote_type_size(attribute->type);
            element->type = (uint32_t)attribute->type;
        }
    }
}

static void take_constants(encode_maker *maker, const lod_cuda *device) {
    const potree_plan *plan = maker->plan;
    encode_program *program = maker->program;
    program->stride_bytes = plan->stride_bytes;
    program->element_count = plan->element_count;
    program->classes_at = plan->classes_at;
    program->checks_reals = plan->checks_reals;
    program->lattice = *plan->lattice;
    memcpy(program->base, plan->base, sizeof program->base);
    memcpy(program->scale, plan->scale, sizeof program->scale);
    memcpy(program->offset, plan->offset, sizeof program->offset);
    program->items = device->items;
    program->index = lod_cuda_index(device);
    program->item_colors = device->item_colors;
    program->ops = maker->encoding->ops;
    program->columns = maker->encoding->columns;
    program->elements = maker->encoding->elements;
}

mote_status potree_encoding_make(const potree_plan *plan, const struct lod_cuda *device, potree_encoding *encoding) {
    const uint64_t most = plan->op_count + 4; /* a position and a colour may take three each */
    encode_maker maker = {plan, encoding, &encoding->program, plan->cloud->count};
    memset(encoding, 0, sizeof *encoding);
    encoding->ctx = plan->ctx;
    encoding->ops = mote_alloc(plan->ctx, most * sizeof *encoding->ops, "potree");
    encoding->columns = mote_alloc(plan->ctx, most * sizeof *encoding->columns, "potree");
    encoding->elements = mote_alloc(plan->ctx, plan->element_count * sizeof *encoding->elements, "potree");
    encode_window *windows = mote_alloc(plan->ctx, most * sizeof *windows, "potree");
    bool made = encoding->ops != NULL && encoding->columns != NULL && encoding->elements != NULL && windows != NULL;
    if (made) {
        take_constants(&maker, device);
        for (uint64_t o = 0; o < plan->op_count; o++) translate(&maker, &plan->ops[o]);
        stage_windows(&maker, windows, find_windows(&maker, windows));
        settle_ops(&maker, windows);
        list_elements(&maker);
        made = potree_moves_make(encoding) == MOTE_OK;
        choose_tile(&encoding->program);
    }
    mote_free(plan->ctx, windows);
    return made ? MOTE_OK : MOTE_ERROR_MEMORY;
}

void potree_encoding_free(potree_encoding *encoding) {
    if (encoding->ctx == NULL) return;
    mote_free(encoding->ctx, encoding->ops);
    mote_free(encoding->ctx, encoding->columns);
    mote_free(encoding->ctx, encoding->elements);
    mote_free(encoding->ctx, encoding->computed);
    mote_free(encoding->ctx, encoding->terms);
    mote_free(encoding->ctx, encoding->longs);
    memset(encoding, 0, sizeof *encoding);
}

/* Turns the copy program of a plan into one for a GPU: which bytes of a point are fetched together, how the values are
   aligned, how many records a block makes. */
#include "io/potree/potree.h"

typedef struct encode_maker {
    const potree_plan *plan;
    potree_encoding *encoding;
    encode_program *program;
    uint64_t point_count;
} encode_maker;

/* ---- operations */

static record_op *add_op(encode_maker *maker, const record_op *from) {
    record_op *op = &maker->encoding->ops[maker->program->op_count++];
    *op = *from;
    return op;
}

/* Points of a tree without averages have their own colours. */
static void add_own_colors(encode_maker *maker, uint32_t to) {
    const potree_attribute *color = maker->plan->attributes;
    while (color->role != POTREE_COLOR) color++;
    for (uint32_t c = 0; c < 3; c++) {
        const mote_column *column = color->columns[c];
        const record_op unit = {.kind = RECORD_UNIT,
                                .source = column->data,
                                .stride_bytes = column->stride_bytes,
                                .size_bytes = mote_type_size(column->type),
                                .type = MOTE_UINT16,
                                .column = maker->program->column_count,
                                .to = to + 2 * c,
                                .staged_at = RECORD_NOT_STAGED};
        maker->encoding->columns[maker->program->column_count++] = *column;
        add_op(maker, &unit);
    }
}

static void take_program(encode_maker *maker) {
    const potree_plan *plan = maker->plan;
    maker->program->column_count = (uint32_t)plan->op_column_count;
    if (plan->op_column_count > 0) {
        memcpy(maker->encoding->columns, plan->op_columns, plan->op_column_count * sizeof *plan->op_columns);
    }
    for (uint64_t o = 0; o < plan->op_count; o++) {
        if (plan->ops[o].kind == RECORD_COLORS && maker->program->item_colors == NULL) {
            add_own_colors(maker, plan->ops[o].to);
        } else {
            add_op(maker, &plan->ops[o]);
        }
    }
}

/* ---- what is fetched */

/* The window of one point while operations join it. */
typedef struct encode_window {
    const uint8_t *low, *high;
    uint32_t stride_bytes;
    uint32_t group; /* its number; RECORD_NOT_STAGED where it is not fetched */
} encode_window;

static bool joins(const encode_window *window, const record_op *op) {
    const uint8_t *high = op->source + op->size_bytes;
    const uint8_t *low = op->source < window->low ? op->source : window->low;
    high = high > window->high ? high : window->high;
    const uint64_t wide = (uint64_t)((uintptr_t)high - (uintptr_t)low);
    return op->stride_bytes == window->stride_bytes && wide <= op->stride_bytes && wide <= ENCODE_MAX_WINDOW;
}

/* Every operation with a source gets a window (its number in staged_at). Returns how many there are. */
static uint32_t find_windows(const encode_maker *maker, encode_window *windows) {
    uint32_t count = 0;
    for (uint32_t o = 0; o < maker->program->op_count; o++) {
        record_op *op = &maker->encoding->ops[o];
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
static uint32_t aligned(uint64_t bits, uint32_t max) {
    while (max > 1 && bits % max != 0) max /= max == 16 ? 4 : 2;
    return max;
}

static void stage_windows(encode_maker *maker, encode_window *windows, uint32_t count) {
    encode_program *program = maker->program;
    for (uint32_t w = 0; w < count; w++) {
        encode_window *window = &windows[w];
        const uint32_t wide = (uint32_t)(window->high - window->low);
        window->group = RECORD_NOT_STAGED;
        const uint32_t unit_bytes = aligned((uintptr_t)window->low | window->stride_bytes, wide > 8 ? 16 : 4);
        const uint32_t units = (wide + unit_bytes - 1) / unit_bytes;
        if (program->group_count == ENCODE_GROUPS || wide > ENCODE_MAX_WINDOW ||
            program->staged_bytes + units * unit_bytes > ENCODE_MAX_STAGED) {
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
static void place_sources(encode_maker *maker, const encode_window *windows) {
    encode_program *program = maker->program;
    for (uint32_t o = 0; o < program->op_count; o++) {
        record_op *op = &maker->encoding->ops[o];
        op->aligned_to = (uint8_t)aligned(program->stride_bytes | op->to, 4);
        op->aligned_from = (uint8_t)aligned((uintptr_t)op->source | op->stride_bytes, 4);
        if (op->kind == RECORD_SUBTRACT) op->aligned_from = op->aligned_to;
        if (op->staged_at == RECORD_NOT_STAGED) continue;
        const encode_window *window = &windows[op->staged_at];
        op->staged_at = RECORD_NOT_STAGED;
        if (window->group == RECORD_NOT_STAGED) continue;
        op->staged_at = program->groups[window->group].staged_at + (uint32_t)(op->source - window->low);
        op->aligned_from = (uint8_t)aligned(op->staged_at, 4);
    }
}

static bool fits(const encode_program *program, uint32_t tile, uint32_t buffer_bytes) {
    const uint64_t record_bytes = program->direct ? 0 : (uint64_t)tile * program->stride_bytes;
    return encode_staged_buffer(tile, program->staged_bytes) + record_bytes <= buffer_bytes;
}

/* ---- the whole */

static void list_elements(encode_maker *maker) {
    const potree_plan *plan = maker->plan;
    for (uint32_t a = 0; a < plan->attribute_count; a++) {
        const potree_attribute *attribute = &plan->attributes[a];
        for (uint32_t e = 0; e < attribute->elements; e++) {
            encode_element *element = &maker->encoding->elements[attribute->range + e];
            element->at = attribute->at + e * mote_type_size(attribute->type);
            element->type = (uint16_t)attribute->type;
            element->has_no_data = attribute->has_no_data;
            element->no_data = attribute->no_data;
        }
    }
}

static void take_constants(encode_maker *maker, const lod_device_view *view) {
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
    program->items = view->items;
    program->index = view->index;
    program->item_colors = view->item_colors;
    program->ops = maker->encoding->ops;
    program->columns = maker->encoding->columns;
    program->elements = maker->encoding->elements;
}

mote_status potree_encoding_make(const potree_plan *plan, const lod_device_view *view, potree_encoding *encoding) {
    const uint64_t max = plan->op_count + 3; /* a colour may take three */
    encode_maker maker = {plan, encoding, &encoding->program, plan->cloud->count};
    memset(encoding, 0, sizeof *encoding);
    encoding->ctx = plan->ctx;
    encoding->ops = mote_alloc(plan->ctx, max * sizeof *encoding->ops, "potree");
    encoding->columns = mote_alloc(plan->ctx, max * sizeof *encoding->columns, "potree");
    encoding->elements = mote_alloc(plan->ctx, plan->element_count * sizeof *encoding->elements, "potree");
    encode_window *windows = mote_alloc(plan->ctx, max * sizeof *windows, "potree");
    bool is_made = encoding->ops != NULL && encoding->columns != NULL && encoding->elements != NULL && windows != NULL;
    if (is_made) {
        take_constants(&maker, view);
        take_program(&maker);
        stage_windows(&maker, windows, find_windows(&maker, windows));
        place_sources(&maker, windows);
        list_elements(&maker);
        is_made = potree_bit_program_make(encoding) == MOTE_OK;
        encode_program *program = &encoding->program;
        program->tile = ENCODE_THREADS;
        program->small = fits(program, program->tile, ENCODE_SMALL_BUFFER);
        program->direct = !program->small && !fits(program, ENCODE_MIN_TILE, ENCODE_LARGE_BUFFER);
        while (!program->small && !fits(program, program->tile, ENCODE_LARGE_BUFFER)) program->tile /= 2;
    }
    mote_free(plan->ctx, windows);
    return is_made ? MOTE_OK : MOTE_ERROR_MEMORY;
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

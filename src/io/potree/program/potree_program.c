/* Compiles the plan of a record into a list of copies, as few and as long as the source allows. */
#include "io/potree/potree.h"

static record_op *add_op(potree_plan *plan, record_op_kind kind, uint32_t to) {
    if (!mote_reserve(plan->ctx, (void **)&plan->ops, &plan->op_capacity, plan->op_count + 1ull, sizeof *plan->ops,
                      "potree")) {
        return NULL;
    }
    record_op *op = &plan->ops[plan->op_count++];
    memset(op, 0, sizeof *op);
    op->kind = (uint8_t)kind;
    op->to = to;
    op->staged_at = RECORD_NOT_STAGED;
    return op;
}

/* Bytes that follow those of the last operation on both sides lengthen it. */
static mote_status add_copy(potree_plan *plan, const mote_column *column, uint32_t to) {
    const uint32_t size_bytes = mote_type_size(column->type);
    if (plan->op_count > 0) {
        record_op *last = &plan->ops[plan->op_count - 1];
        if (last->kind == RECORD_COPY && last->stride_bytes == column->stride_bytes &&
            last->source + last->size_bytes == (const uint8_t *)column->data && last->to + last->size_bytes == to &&
            last->size_bytes + size_bytes <= column->stride_bytes) {
            last->size_bytes += size_bytes;
            return MOTE_OK;
        }
    }
    record_op *op = add_op(plan, RECORD_COPY, to);
    if (op == NULL) return MOTE_ERROR_MEMORY;
    op->source = column->data;
    op->stride_bytes = column->stride_bytes;
    op->size_bytes = size_bytes;
    return MOTE_OK;
}

/* (byte >> shift & mask) << left; a field beside that of the last operation, on both sides, widens its mask. */
static mote_status add_bits(potree_plan *plan, const mote_column *column, uint32_t to, uint8_t to_shift, bool first) {
    record_op *last = first ? NULL : &plan->ops[plan->op_count - 1];
    if (last != NULL && last->source == column->data && last->stride_bytes == column->stride_bytes &&
        column->bit_shift - last->shift == to_shift - last->to_shift && to_shift > last->to_shift) {
        last->mask |= (uint8_t)(((1u << column->bit_count) - 1) << (to_shift - last->to_shift));
        return MOTE_OK;
    }
    record_op *op = add_op(plan, first ? RECORD_BITS : RECORD_OR_BITS, to);
    if (op == NULL) return MOTE_ERROR_MEMORY;
    op->source = column->data;
    op->stride_bytes = column->stride_bytes;
    op->size_bytes = 1;
    op->shift = column->bit_shift;
    op->mask = column->bit_count > 0 ? (uint8_t)((1u << column->bit_count) - 1) : 0xFF;
    op->to_shift = to_shift;
    return MOTE_OK;
}

static mote_status add_convert(potree_plan *plan, record_op_kind kind, const mote_column *column, mote_type type,
                               uint32_t to) {
    record_op *op = add_op(plan, kind, to);
    if (op == NULL || !mote_reserve(plan->ctx, (void **)&plan->op_columns, &plan->op_column_capacity,
                                    plan->op_column_count + 1, sizeof *plan->op_columns, "potree")) {
        return MOTE_ERROR_MEMORY;
    }
    op->source = column->data;
    op->stride_bytes = column->stride_bytes;
    op->size_bytes = mote_type_size(column->type);
    op->type = (uint8_t)type;
    op->column = (uint32_t)plan->op_column_count;
    plan->op_columns[plan->op_column_count++] = *column;
    return MOTE_OK;
}

static mote_status add_value(potree_plan *plan, const mote_column *column, mote_type type, uint32_t to) {
    if (column->bit_count == 0 && column->type == type) return add_copy(plan, column, to);
    if (column->type == MOTE_UINT8 && type == MOTE_UINT8) return add_bits(plan, column, to, 0, true);
    return add_convert(plan, RECORD_CONVERT, column, type, to);
}

static bool plain_integers(const potree_plan *plan, const potree_attribute *position) {
    bool plain = plan->lattice->integer && plan->lattice->shift == 0;
    for (int k = 0; k < 3; k++) {
        plain = plain && position->columns[k]->type == MOTE_INT32 && position->columns[k]->bit_count == 0;
    }
    return plain;
}

static mote_status add_position(potree_plan *plan, const potree_attribute *position) {
    if (!plain_integers(plan, position)) {
        plan->checks_reals = !plan->lattice->integer;
        for (uint32_t k = 0; k < 3; k++) {
            MOTE_TRY(add_convert(plan, RECORD_LATTICE, position->columns[k], MOTE_INT32, position->at + 4 * k));
            plan->ops[plan->op_count - 1].axis = (uint8_t)k;
        }
        return MOTE_OK;
    }
    for (uint32_t k = 0; k < 3; k++) MOTE_TRY(add_copy(plan, position->columns[k], position->at + 4 * k));
    return MOTE_OK;
}

static mote_status add_color(potree_plan *plan, const potree_attribute *color) {
    if (plan->averaged_colors) { return add_op(plan, RECORD_COLORS, color->at) != NULL ? MOTE_OK : MOTE_ERROR_MEMORY; }
    for (uint32_t c = 0; c < 3; c++) {
        const mote_column *column = color->columns[c];
        if (mote_color_is_plain(column)) {
            MOTE_TRY(add_value(plan, column, MOTE_UINT16, color->at + 2 * c));
        } else {
            MOTE_TRY(add_convert(plan, RECORD_UNIT, column, MOTE_UINT16, color->at + 2 * c));
        }
    }
    return MOTE_OK;
}

static mote_status add_flags(potree_plan *plan, const potree_attribute *flags) {
    bool first = true;
    for (uint32_t f = 0; f < 4; f++) {
        const mote_column *column = flags->columns[f];
        if (column == NULL) continue;
        mote_column low = *column; /* the lowest byte holds the bit, whatever the integer */
        low.data = (const uint8_t *)column->data + column->bit_shift / 8;
        low.bit_shift = column->bit_shift % 8;
        low.bit_count = 1;
        MOTE_TRY(add_bits(plan, &low, flags->at, (uint8_t)f, first));
        first = false;
    }
    return MOTE_OK;
}

mote_status potree_program_make(potree_plan *plan) {
    for (uint32_t a = 0; a < plan->attribute_count; a++) {
        const potree_attribute *attribute = &plan->attributes[a];
        switch (attribute->role) {
        case POTREE_POSITION: MOTE_TRY(add_position(plan, attribute)); break;
        case POTREE_COLOR: MOTE_TRY(add_color(plan, attribute)); break;
        case POTREE_FLAGS: MOTE_TRY(add_flags(plan, attribute)); break;
        case POTREE_PLAIN: MOTE_TRY(add_value(plan, attribute->columns[0], attribute->type, attribute->at)); break;
        }
    }
    /* Copied integers become X where the grid does not begin at the source's zero; last, so as to divide no copy. */
    const potree_attribute *position = &plan->attributes[0];
    if (!plain_integers(plan, position)) return MOTE_OK;
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t less = (uint32_t)(uint64_t)plan->lattice->min[k] - plan->base[k];
        if (less == 0) continue;
        record_op *op = add_op(plan, RECORD_SUBTRACT, position->at + 4 * k);
        if (op == NULL) return MOTE_ERROR_MEMORY;
        op->less = less;
    }
    return MOTE_OK;
}

/* Turns nodes into operations on slots: a part leaves its result in the first slot that is free, so that no more slots
   are needed than parts wait for others. Numbers and masks have slots of their own. */
#include "where/where_program.h"

typedef struct where_compiler {
    where_program *program;
    where_op nowhere; /* where operations go after a failure */
    mote_status status;
} where_compiler;

static where_op *add_op(where_compiler *c, where_kind kind) {
    where_program *program = c->program;
    if (c->status == MOTE_OK && !mote_reserve(program->ctx, (void **)&program->ops, &program->op_capacity,
                                              program->op_count + 1, sizeof *program->ops, "expression")) {
        c->status = MOTE_ERROR_MEMORY;
    }
    if (c->status != MOTE_OK) return &c->nowhere;
    where_op *op = &program->ops[program->op_count++];
    *op = (where_op){.kind = kind};
    return op;
}

/* Whether a slot is there. */
static bool has_slot(where_compiler *c, const where_node *node, uint32_t slot) {
    if (c->status == MOTE_OK && slot >= WHERE_SLOTS) {
        c->status = where_wrong(c->program, NULL, node->place,
                                "more than %u results wait for others here: set brackets otherwise", WHERE_SLOTS);
    }
    return c->status == MOTE_OK;
}

static void emit_number(where_compiler *c, uint32_t index, uint32_t slot) {
    const where_node *node = &c->program->nodes[index];
    if (!has_slot(c, node, slot)) return;
    if (node->left != WHERE_NONE && node->kind != WHERE_NUMBER) emit_number(c, node->left, slot);
    if (node->right != WHERE_NONE && node->kind != WHERE_NUMBER) emit_number(c, node->right, slot + 1);
    where_op *op = add_op(c, node->kind);
    op->to = op->a = (uint8_t)slot;
    op->b = (uint8_t)(slot + 1);
    op->number = node->number;
    op->name = node->name;
}

static void emit_truth(where_compiler *c, uint32_t index, uint32_t mask);

/* The right part is skipped where the left one decides for the whole block. */
static void emit_junction(where_compiler *c, const where_node *node, uint32_t mask) {
    emit_truth(c, node->left, mask);
    add_op(c, node->kind == WHERE_AND ? WHERE_SKIP_IF_NONE : WHERE_SKIP_IF_ALL)->a = (uint8_t)mask;
    const uint64_t skip = c->program->op_count - 1;
    emit_truth(c, node->right, mask + 1);
    where_op *op = add_op(c, node->kind);
    op->to = op->a = (uint8_t)mask;
    op->b = (uint8_t)(mask + 1);
    if (c->status == MOTE_OK) c->program->ops[skip].target = (uint32_t)c->program->op_count;
}

/* The numbers of a comparison have all slots: those before are masks by now. */
static void emit_truth(where_compiler *c, uint32_t index, uint32_t mask) {
    const where_node *node = &c->program->nodes[index];
    if (!has_slot(c, node, mask)) return;
    if (node->kind == WHERE_AND || node->kind == WHERE_OR) {
        emit_junction(c, node, mask);
        return;
    }
    bool b_is_number = false;
    if (node->kind == WHERE_NOT) {
        emit_truth(c, node->left, mask);
    } else {
        emit_number(c, node->left, 0);
        b_is_number = node->right != WHERE_NONE && c->program->nodes[node->right].kind == WHERE_NUMBER;
        if (node->right != WHERE_NONE && !b_is_number) emit_number(c, node->right, 1);
    }
    where_op *op = add_op(c, node->kind);
    op->to = (uint8_t)mask;
    op->a = node->kind == WHERE_NOT ? (uint8_t)mask : 0;
    op->b = 1;
    op->b_is_number = b_is_number;
    op->number = b_is_number ? c->program->nodes[node->right].number : 0;
    op->first_range = node->first_range;
    op->range_count = node->range_count;
}

static where_code emit(where_compiler *c, uint32_t index) {
    where_code code = {(uint32_t)c->program->op_count, 0};
    if (index != WHERE_NONE && where_is_truth(c->program->nodes[index].kind)) {
        emit_truth(c, index, 0);
    } else if (index != WHERE_NONE) {
        emit_number(c, index, 0);
    }
    code.end = (uint32_t)c->program->op_count;
    return code;
}

mote_status where_compile(where_program *program) {
    where_compiler compiler = {.program = program};
    for (uint64_t i = 0; i < program->statement_count; i++) {
        where_statement *statement = &program->statements[i];
        statement->condition_code = emit(&compiler, statement->condition);
        statement->value_code = emit(&compiler, statement->value);
        if (statement->value == WHERE_NONE || !where_is_truth(program->nodes[statement->value].kind)) continue;
        add_op(&compiler, WHERE_AS_NUMBER); /* "withheld = z > 120" */
        statement->value_code.end = (uint32_t)program->op_count;
    }
    return compiler.status;
}

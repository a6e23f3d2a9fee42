/* Where points that meet a condition can be, by its comparisons of x, y and z with numbers: nodes of an octree outside
   need not be read. The box may be larger than needed, never smaller. */
#include "core/standard_names.h"
#include "where/where_program.h"

static const mote_box everywhere = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
static const mote_box nowhere = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static bool is_empty(const mote_box *box) {
    return !(box->min[0] <= box->max[0] && box->min[1] <= box->max[1] && box->min[2] <= box->max[2]);
}

static mote_box intersection(mote_box a, mote_box b) {
    for (int k = 0; k < 3; k++) {
        a.min[k] = fmax(a.min[k], b.min[k]);
        a.max[k] = fmin(a.max[k], b.max[k]);
    }
    return is_empty(&a) ? nowhere : a;
}

static mote_box hull(mote_box a, mote_box b) {
    for (int k = 0; k < 3; k++) {
        a.min[k] = fmin(a.min[k], b.min[k]);
        a.max[k] = fmax(a.max[k], b.max[k]);
    }
    return a;
}

/* 0, 1, 2 of a coordinate; 3: it is none. */
static int axis_of(const where_program *program, uint32_t index) {
    const where_node *node = &program->nodes[index];
    if (node->kind != WHERE_NAME || !mote_names_axis(program->names[node->name].text)) return 3;
    return (program->names[node->name].text[0] | 0x20) - 'x';
}

static mote_box slab(int axis, double low, double high) {
    mote_box box = everywhere;
    box.min[axis] = low;
    box.max[axis] = high;
    return low <= high ? box : nowhere;
}

/* "number < x" is "x > number". */
static where_kind turned(where_kind kind) {
    switch (kind) {
    case WHERE_LESS: return WHERE_GREATER;
    case WHERE_AT_MOST: return WHERE_AT_LEAST;
    case WHERE_GREATER: return WHERE_LESS;
    case WHERE_AT_LEAST: return WHERE_AT_MOST;
    default: return kind;
    }
}

static where_kind opposite(where_kind kind) {
    switch (kind) {
    case WHERE_EQUAL: return WHERE_UNEQUAL;
    case WHERE_UNEQUAL: return WHERE_EQUAL;
    case WHERE_LESS: return WHERE_AT_LEAST;
    case WHERE_AT_MOST: return WHERE_GREATER;
    case WHERE_GREATER: return WHERE_AT_MOST;
    default: return WHERE_LESS;
    }
}

static mote_box box_of_comparison(const where_program *program, const where_node *node, bool negated) {
    where_kind kind = negated ? opposite(node->kind) : node->kind;
    uint32_t name = node->left, number = node->right;
    if (program->nodes[number].kind != WHERE_NUMBER) {
        name = node->right, number = node->left;
        kind = turned(kind);
    }
    const int axis = axis_of(program, name);
    const double value = program->nodes[number].number;
    if (axis == 3 || program->nodes[number].kind != WHERE_NUMBER || isnan(value)) return everywhere;
    switch (kind) {
    case WHERE_EQUAL: return slab(axis, value, value);
    case WHERE_LESS:
    case WHERE_AT_MOST: return slab(axis, -INFINITY, value);
    case WHERE_GREATER:
    case WHERE_AT_LEAST: return slab(axis, value, INFINITY);
    default: return everywhere;
    }
}

static mote_box box_of_list(const where_program *program, const where_node *node) {
    const int axis = axis_of(program, node->left);
    mote_box box = nowhere;
    if (axis == 3) return everywhere;
    for (uint32_t r = 0; r < node->range_count; r++) {
        const where_range *range = &program->ranges[node->first_range + r];
        box = hull(box, slab(axis, range->low, range->high));
    }
    return box;
}

/* A box that holds all points for which the node is true or, negated, false. */
static mote_box box_of(const where_program *program, uint32_t index, bool negated) {
    const where_node *node = &program->nodes[index];
    if (where_is_comparison(node->kind)) return box_of_comparison(program, node, negated);
    switch (node->kind) {
    case WHERE_NOT: return box_of(program, node->left, !negated);
    case WHERE_IN: return negated ? everywhere : box_of_list(program, node);
    case WHERE_AND:
    case WHERE_OR: {
        const mote_box left = box_of(program, node->left, negated), right = box_of(program, node->right, negated);
        return (node->kind == WHERE_AND) != negated ? intersection(left, right) : hull(left, right);
    }
    default: return everywhere;
    }
}

void mote_where_box(const where_program *program, mote_box *box) {
    *box = box_of(program, program->statements[0].condition, false);
}

#include "reference/where_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "support/random.h"

#define NODES_MAX 256
#define ITEMS_MAX 4

typedef enum kind {
    NUMBER,
    COLUMN,
    MINUS,
    ABS,
    FLOOR,
    CEIL,
    ROUND,
    SQRT,
    ADD,
    SUBTRACT,
    TIMES,
    DIVIDED,
    REMAINDER,
    LEAST,
    GREATEST,
    EQUAL,
    UNEQUAL,
    LESS,
    AT_MOST,
    MORE,
    AT_LEAST,
    IN,
    BETWEEN,
    KNOWN,
    TRUTH,
    NOT,
    AND,
    OR,
} kind;

typedef struct node {
    kind kind;
    int parts[3];
    double number;
    const char *column;
    double low[ITEMS_MAX], high[ITEMS_MAX];
    int items;
} node;

struct where_reference {
    node nodes[NODES_MAX];
    int count, root;
    uint64_t seed, drawn;
    const mote_cloud *cloud;
    char text[WHERE_REFERENCE_TEXT];
    size_t length;
};

/* ---- making */

static uint32_t draw(where_reference *e, uint32_t below) {
    return (uint32_t)(test_random(e->seed, e->drawn++) * below);
}

static int add(where_reference *e, kind what, int a, int b, int c) {
    node *n = &e->nodes[e->count];
    memset(n, 0, sizeof *n);
    n->kind = what;
    n->parts[0] = a, n->parts[1] = b, n->parts[2] = c;
    return e->count++;
}

/* Values that points have, so that comparisons are true for some. */
static double number_of(where_reference *e) {
    static const double some[] = {0, 1, 2, 0.5, 3, 100, 1e-3, 255, 1e6};
    if (draw(e, 3) == 0 || mote_cloud_count(e->cloud) == 0) return some[draw(e, sizeof some / sizeof some[0])];
    const mote_column *column = mote_cloud_column(e->cloud, draw(e, mote_cloud_column_count(e->cloud)));
    const double value = mote_column_value(column, draw(e, (uint32_t)mote_cloud_count(e->cloud)));
    return isfinite(value) ? fabs(value) : 7;
}

static int make_number(where_reference *e, int depth) {
    if (depth == 0 || e->count > NODES_MAX - 32 || draw(e, 3) == 0) {
        const bool constant = draw(e, 3) == 0;
        const int leaf = add(e, constant ? NUMBER : COLUMN, -1, -1, -1);
        if (constant) e->nodes[leaf].number = number_of(e);
        if (!constant)
            e->nodes[leaf].column = mote_cloud_column(e->cloud, draw(e, mote_cloud_column_count(e->cloud)))->name;
        return leaf;
    }
    const kind what = MINUS + draw(e, GREATEST - MINUS + 1);
    const int a = make_number(e, depth - 1), b = what >= ADD ? make_number(e, depth - 1) : -1;
    return add(e, what, a, b, -1);
}

static int make_list(where_reference *e, int depth) {
    const int list = add(e, IN, make_number(e, depth), -1, -1);
    const int items = 1 + (int)draw(e, ITEMS_MAX);
    e->nodes[list].items = items;
    for (int i = 0; i < items; i++) {
        const double a = number_of(e), b = draw(e, 2) == 0 ? a : number_of(e);
        e->nodes[list].low[i] = fmin(a, b);
        e->nodes[list].high[i] = fmax(a, b);
    }
    return list;
}

static int make_condition(where_reference *e, int depth) {
    const bool leaf = depth == 0 || e->count > NODES_MAX - 32;
    const uint32_t choice = leaf ? draw(e, 10) : 7 + draw(e, 9);
    if (choice < 6) return add(e, EQUAL + choice, make_number(e, 2), make_number(e, 1), -1);
    switch (choice) {
    case 6: return make_list(e, 1);
    case 7: return add(e, BETWEEN, make_number(e, 1), make_number(e, 1), make_number(e, 1));
    case 8: return add(e, KNOWN, make_number(e, 1), -1, -1);
    case 9: return add(e, TRUTH, make_number(e, 1), -1, -1);
    case 10:
    case 11: return add(e, NOT, make_condition(e, depth - 1), -1, -1);
    case 12:
    case 13: return add(e, OR, make_condition(e, depth - 1), make_condition(e, depth - 1), -1);
    default: return add(e, AND, make_condition(e, depth - 1), make_condition(e, depth - 1), -1);
    }
}

/* ---- writing */

/* From what binds least: or, and, not, comparisons, sums, products, signs, the rest. */
static int rank_of(kind what) {
    switch (what) {
    case OR: return 0;
    case AND: return 1;
    case NOT: return 2;
    case ADD:
    case SUBTRACT: return 4;
    case TIMES:
    case DIVIDED:
    case REMAINDER: return 5;
    case MINUS: return 6;
    default: return what >= EQUAL && what <= BETWEEN ? 3 : 7;
    }
}

static void put(where_reference *e, const char *text) {
    const size_t room = sizeof e->text - e->length;
    const int length = snprintf(e->text + e->length, room, "%s", text);
    e->length += (size_t)length < room ? (size_t)length : room - 1;
}

static void put_number(where_reference *e, double number) {
    char digits[40];
    snprintf(digits, sizeof digits, "%.17g", number);
    put(e, digits);
}

static void write_node(where_reference *e, int index, int least);

static void write_pair(where_reference *e, const node *n, const char *sign, int left, int right) {
    write_node(e, n->parts[0], left);
    put(e, draw(e, 2) == 0 ? " " : "");
    put(e, sign);
    put(e, draw(e, 2) == 0 ? " " : "");
    write_node(e, n->parts[1], right);
}

static void write_call(where_reference *e, const node *n, const char *name) {
    put(e, name);
    put(e, "(");
    write_node(e, n->parts[0], 4);
    if (n->kind == LEAST || n->kind == GREATEST) {
        put(e, ", ");
        write_node(e, n->parts[1], 4);
    }
    put(e, ")");
}

static void write_items(where_reference *e, const node *n) {
    write_node(e, n->parts[0], 4);
    put(e, draw(e, 2) == 0 ? " in (" : " IN(");
    for (int i = 0; i < n->items; i++) {
        if (i > 0) put(e, ", ");
        put_number(e, n->low[i]);
        if (n->low[i] != n->high[i]) put(e, ":");
        if (n->low[i] != n->high[i]) put_number(e, n->high[i]);
    }
    put(e, ")");
}

static void write_plain(where_reference *e, const node *n) {
    static const char *const comparisons[] = {"==", "!=", "<", "<=", ">", ">="};
    const bool word = draw(e, 2) == 0;
    switch (n->kind) {
    case NUMBER: put_number(e, n->number); break;
    case COLUMN: put(e, n->column); break;
    case MINUS:
        put(e, "-");
        write_node(e, n->parts[0], 6);
        break;
    case ABS: write_call(e, n, "abs"); break;
    case FLOOR: write_call(e, n, "Floor"); break;
    case CEIL: write_call(e, n, "ceil"); break;
    case ROUND: write_call(e, n, "round"); break;
    case SQRT: write_call(e, n, "sqrt"); break;
    case LEAST: write_call(e, n, "min"); break;
    case GREATEST: write_call(e, n, "max"); break;
    case KNOWN: write_call(e, n, "known"); break;
    case ADD: write_pair(e, n, "+", 4, 5); break;
    case SUBTRACT: write_pair(e, n, "-", 4, 5); break;
    case TIMES: write_pair(e, n, "*", 5, 6); break;
    case DIVIDED: write_pair(e, n, "/", 5, 6); break;
    case REMAINDER: write_pair(e, n, "%", 5, 6); break;
    case IN: write_items(e, n); break;
    case BETWEEN:
        write_node(e, n->parts[0], 4);
        put(e, " between ");
        write_node(e, n->parts[1], 4);
        put(e, word ? " and " : " && ");
        write_node(e, n->parts[2], 4);
        break;
    case TRUTH: write_node(e, n->parts[0], 4); break;
    case NOT:
        put(e, word ? "not " : "!");
        write_node(e, n->parts[0], word ? 2 : 6);
        break;
    case AND: write_pair(e, n, word ? " and " : "&&", 1, 2); break;
    case OR: write_pair(e, n, word ? " or " : "||", 0, 1); break;
    default: write_pair(e, n, comparisons[n->kind - EQUAL], 4, 4);
    }
}

/* A truth of a number is written as the number, and binds as that does. */
static int rank_at(const where_reference *e, int index) {
    const node *n = &e->nodes[index];
    return n->kind == TRUTH ? rank_at(e, n->parts[0]) : rank_of(n->kind);
}

/* least: what binds less is put in brackets. */
static void write_node(where_reference *e, int index, int least) {
    const bool brackets = rank_at(e, index) < least || draw(e, 8) == 0;
    if (brackets) put(e, "(");
    write_plain(e, &e->nodes[index]);
    if (brackets) put(e, ")");
}

static where_reference *make(const mote_cloud *cloud, uint64_t seed, int (*grow)(where_reference *e, int depth)) {
    where_reference *e = calloc(1, sizeof *e);
    if (e == NULL) abort();
    e->seed = seed;
    e->cloud = cloud;
    e->root = grow(e, (int)draw(e, 5));
    write_node(e, e->root, 0);
    return e;
}

where_reference *where_reference_condition(const mote_cloud *cloud, uint64_t seed) {
    return make(cloud, seed, make_condition);
}

where_reference *where_reference_number(const mote_cloud *cloud, uint64_t seed) {
    return make(cloud, seed, make_number);
}

void where_reference_free(where_reference *expression) { free(expression); }

const char *where_reference_text(const where_reference *expression) { return expression->text; }

/* ---- meaning */

static double column_at(const mote_cloud *cloud, const char *name, uint64_t i) {
    const mote_column *column = mote_cloud_find(cloud, name);
    mote_column_limits limits;
    if (mote_cloud_limits(cloud, name, &limits) && mote_is_no_data(column, &limits, i)) return NAN;
    return mote_column_value(column, i);
}

static double value_of(const where_reference *e, int index, const mote_cloud *cloud, uint64_t i) {
    const node *n = &e->nodes[index];
    if (n->kind == NUMBER) return n->number;
    if (n->kind == COLUMN) return column_at(cloud, n->column, i);
    const double a = value_of(e, n->parts[0], cloud, i), b = n->parts[1] >= 0 ? value_of(e, n->parts[1], cloud, i) : 0;
    switch (n->kind) {
    case MINUS: return -a;
    case ABS: return fabs(a);
    case FLOOR: return floor(a);
    case CEIL: return ceil(a);
    case ROUND: return round(a);
    case SQRT: return sqrt(a);
    case ADD: return a + b;
    case SUBTRACT: return a - b;
    case TIMES: return a * b;
    case DIVIDED: return a / b;
    case REMAINDER: return fmod(a, b);
    case LEAST: return isnan(a) || isnan(b) ? (double)NAN : a < b ? a : b;
    default: return isnan(a) || isnan(b) ? (double)NAN : a > b ? a : b;
    }
}

static bool is_in(const node *n, double value) {
    for (int k = 0; k < n->items; k++) {
        if (value >= n->low[k] && value <= n->high[k]) return true;
    }
    return false;
}

static bool holds(const where_reference *e, int index, const mote_cloud *cloud, uint64_t i) {
    const node *n = &e->nodes[index];
    if (n->kind == NOT) return !holds(e, n->parts[0], cloud, i);
    if (n->kind == AND) return holds(e, n->parts[0], cloud, i) && holds(e, n->parts[1], cloud, i);
    if (n->kind == OR) return holds(e, n->parts[0], cloud, i) || holds(e, n->parts[1], cloud, i);
    const double a = value_of(e, n->parts[0], cloud, i);
    const double b = n->parts[1] >= 0 ? value_of(e, n->parts[1], cloud, i) : 0;
    switch (n->kind) {
    case EQUAL: return a == b;
    case UNEQUAL: return a != b;
    case LESS: return a < b;
    case AT_MOST: return a <= b;
    case MORE: return a > b;
    case AT_LEAST: return a >= b;
    case BETWEEN: return a >= b && a <= value_of(e, n->parts[2], cloud, i);
    case IN: return is_in(n, a);
    case KNOWN: return !isnan(a);
    default: return !isnan(a) && a != 0;
    }
}

bool where_reference_holds(const where_reference *e, const mote_cloud *cloud, uint64_t i) {
    return holds(e, e->root, cloud, i);
}

double where_reference_value(const where_reference *e, const mote_cloud *cloud, uint64_t i) {
    return value_of(e, e->root, cloud, i);
}

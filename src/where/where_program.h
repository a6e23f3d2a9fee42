/* The inside of a program. */
#ifndef MOTE_WHERE_PROGRAM_H
#define MOTE_WHERE_PROGRAM_H

#include <math.h>

#include "where/where_expression.h"

#define WHERE_NONE UINT32_MAX

/* Kinds of nodes and of operations. Those from WHERE_EQUAL on give a truth, the others a number. */
typedef enum where_kind {
    WHERE_NUMBER,
    WHERE_NAME,
    WHERE_NEGATE,
    WHERE_ABS,
    WHERE_FLOOR,
    WHERE_CEIL,
    WHERE_ROUND,
    WHERE_SQRT,
    WHERE_ADD,
    WHERE_SUBTRACT,
    WHERE_MULTIPLY,
    WHERE_DIVIDE,
    WHERE_REMAINDER,
    WHERE_MIN,
    WHERE_MAX,
    WHERE_EQUAL,
    WHERE_UNEQUAL,
    WHERE_LESS,
    WHERE_AT_MOST,
    WHERE_GREATER,
    WHERE_AT_LEAST,
    WHERE_IN,    /* in one of some ranges */
    WHERE_TRUTH, /* of a number: it is known, and not 0 */
    WHERE_KNOWN,
    WHERE_NOT,
    WHERE_AND,
    WHERE_OR,
    /* Operations alone: the rest of an "and" or "or" is skipped where a whole block is decided. */
    WHERE_SKIP_IF_NONE,
    WHERE_SKIP_IF_ALL,
    WHERE_AS_NUMBER,
} where_kind;

static inline bool where_is_truth(where_kind kind) { return kind >= WHERE_EQUAL; }
static inline bool where_is_comparison(where_kind kind) { return kind >= WHERE_EQUAL && kind <= WHERE_AT_LEAST; }

/* A part of the text, in bytes. */
typedef struct where_place {
    uint32_t begin, end;
} where_place;

typedef struct where_node {
    where_kind kind;
    where_place place;
    uint32_t left, right; /* WHERE_NONE: there is none */
    double number;
    uint32_t name;                     /* WHERE_NAME: its index */
    uint32_t first_range, range_count; /* WHERE_IN */
} where_node;

/* A range of values, borders included. */
typedef struct where_range {
    double low, high;
} where_range;

typedef struct where_name {
    char *text;
    where_place place; /* where it stands first */
    bool may_lack;     /* where a cloud has no such attribute, it is 0 */
} where_name;

/* to, a and b are slots, of numbers or of masks by the kind. */
typedef struct where_op {
    where_kind kind;
    uint8_t to, a, b;
    bool b_is_number; /* a comparison with `number` */
    double number;
    uint32_t name, first_range, range_count, target; /* target: the operation to go on with */
} where_op;

/* Operations [begin, end). */
typedef struct where_code {
    uint32_t begin, end;
} where_code;

/* A condition, or an assignment. */
typedef struct where_statement {
    uint32_t target;           /* name; WHERE_NONE: a condition alone */
    uint32_t value, condition; /* nodes; WHERE_NONE */
    where_code value_code, condition_code;
} where_statement;

struct where_program {
    mote_context *ctx;
    char *text;
    const char *title; /* of messages */
    where_node *nodes;
    uint64_t node_count, node_capacity;
    where_range *ranges;
    uint64_t range_count, range_capacity;
    where_name *names;
    uint64_t name_count, name_capacity;
    where_op *ops;
    uint64_t op_count, op_capacity;
    where_statement *statements;
    uint64_t statement_count, statement_capacity;
};

/* ---- where_names.c */
/* "TITLE: why", and below it the text with a caret under the place. */
__attribute__((format(printf, 4, 5))) mote_status where_wrong(const where_program *program, const char *source,
                                                              where_place place, const char *format, ...);
/* What of the names is nearest to a word, as "; did you mean …?"; "" if nothing is. names: ends with NULL */
#define WHERE_HINT_BYTES 200
void where_hint(const char *word, const char *const *names, char hint[WHERE_HINT_BYTES]);

/* ---- where_compile.c */
mote_status where_compile(where_program *program);
/* What an operation on numbers gives; b: of those with two operands. Rounds halves away from zero, as people expect. */
static inline double where_compute(where_kind kind, double a, double b) {
    switch (kind) {
    case WHERE_NEGATE: return -a;
    case WHERE_ABS: return fabs(a);
    case WHERE_FLOOR: return floor(a);
    case WHERE_CEIL: return ceil(a);
    case WHERE_ROUND: return round(a);
    case WHERE_SQRT: return sqrt(a);
    case WHERE_ADD: return a + b;
    case WHERE_SUBTRACT: return a - b;
    case WHERE_MULTIPLY: return a * b;
    case WHERE_DIVIDE: return a / b;
    case WHERE_REMAINDER: return fmod(a, b);
    /* Neither the smaller nor the larger is known where one of the two is not. */
    case WHERE_MIN: return isnan(a) || a < b ? a : b;
    case WHERE_MAX: return isnan(a) || a > b ? a : b;
    default: return NAN;
    }
}

/* ---- where_run.c */
/* Runs code over a block, which leaves its result in slot 0. */
void where_run(const where_bound *bound, where_code code, uint64_t first, uint64_t count, where_scratch *scratch);

/* ---- where_load.c */
/* The values of a block in the world, NaN for what is not known. */
void where_load(const where_column *column, uint64_t first, uint64_t count, double *out);

#endif

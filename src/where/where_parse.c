/* Parses expressions by recursive descent, one function per rank of the operators, from those that bind least:

     or ||  |  and &&  |  not  |  == != < <= > >= in between  |  + -  |  * / %  |  - + !  |  ( ) names numbers functions

   Whether a part is a number or a truth is known from its kind, so that a mistake shows where it stands. */
#include "where/where_token.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

#define TEXT_BYTES_MAX (1u << 14)
#define NODES_MAX      4096u
#define NESTING_MAX    64u

typedef struct where_parser {
    where_program *program;
    where_token token; /* the next one */
    uint32_t nesting;
    mote_status status;
} where_parser;

static uint32_t parse_or(where_parser *p);
static uint32_t parse_sum(where_parser *p);
static uint32_t parse_unary(where_parser *p);

/* ---- steps */

static void advance(where_parser *p) { where_next_token(p->program->text, p->token.place.end, &p->token); }

/* Notes a mistake; the first one stays. Nothing more is parsed then. */
#define WRONG(p, at, ...) (fail(p, where_wrong((p)->program, NULL, at, __VA_ARGS__)))
static uint32_t fail(where_parser *p, mote_status status) {
    if (p->status == MOTE_OK) p->status = status;
    p->token.word = WORD_END;
    return WHERE_NONE;
}

/* Something stands where nothing that is expected does. */
static uint32_t unexpected(where_parser *p, const char *expected) {
    if (p->status != MOTE_OK) return WHERE_NONE;
    const where_token *token = &p->token;
    if (token->word == WORD_WRONG) return WRONG(p, token->place, "%s", token->wrong);
    if (token->word == WORD_ASSIGN) return WRONG(p, token->place, "\"=\" sets a value; to compare, write \"==\"");
    if (token->word == WORD_END) return WRONG(p, token->place, "it ends where %s is expected", expected);
    return WRONG(p, token->place, "%s is expected here", expected);
}

static bool take(where_parser *p, where_word word) {
    if (p->token.word != word) return false;
    advance(p);
    return true;
}

static uint32_t add_node(where_parser *p, where_kind kind, where_place place, uint32_t left, uint32_t right) {
    where_program *program = p->program;
    if (p->status != MOTE_OK) return WHERE_NONE;
    if (program->node_count == NODES_MAX) return WRONG(p, place, "more than %u parts", NODES_MAX);
    if (!mote_reserve(program->ctx, (void **)&program->nodes, &program->node_capacity, program->node_count + 1,
                      sizeof *program->nodes, "expression")) {
        return fail(p, MOTE_ERROR_MEMORY);
    }
    program->nodes[program->node_count] = (where_node){.kind = kind, .place = place, .left = left, .right = right};
    return (uint32_t)program->node_count++;
}

static where_node *node_at(const where_parser *p, uint32_t index) { return &p->program->nodes[index]; }

static bool is_number(const where_parser *p, uint32_t index) { return node_at(p, index)->kind == WHERE_NUMBER; }

/* A part that must be a number. */
static uint32_t number(where_parser *p, uint32_t index) {
    if (p->status != MOTE_OK || !where_is_truth(node_at(p, index)->kind)) return index;
    return WRONG(p, node_at(p, index)->place, "a number is needed, and this is true or false");
}

/* A part that must be a truth: a number becomes one. */
static uint32_t truth(where_parser *p, uint32_t index) {
    if (p->status != MOTE_OK || where_is_truth(node_at(p, index)->kind)) return index;
    return add_node(p, WHERE_TRUTH, node_at(p, index)->place, index, WHERE_NONE);
}

static where_place span(const where_parser *p, uint32_t left, uint32_t right) {
    return (where_place){node_at(p, left)->place.begin, node_at(p, right)->place.end};
}

/* An operation on numbers; on constants it is done now. right: WHERE_NONE for those of one operand. */
static uint32_t operation(where_parser *p, where_kind kind, where_place place, uint32_t left, uint32_t right) {
    left = number(p, left);
    if (right != WHERE_NONE) right = number(p, right);
    if (p->status != MOTE_OK) return WHERE_NONE;
    const bool constant = is_number(p, left) && (right == WHERE_NONE || is_number(p, right));
    const uint32_t index = add_node(p, constant ? WHERE_NUMBER : kind, place, left, right);
    if (constant && index != WHERE_NONE) {
        const double b = right != WHERE_NONE ? node_at(p, right)->number : 0;
        node_at(p, index)->number = where_compute(kind, node_at(p, left)->number, b);
    }
    return index;
}

/* ---- names and numbers */

static uint32_t find_name(where_parser *p, const char *text, size_t length, where_place place) {
    where_program *program = p->program;
    for (uint32_t i = 0; i < program->name_count; i++) {
        if (strlen(program->names[i].text) == length && memcmp(program->names[i].text, text, length) == 0) return i;
    }
    char *copy = mote_alloc(program->ctx, length + 1, "expression");
    if (copy == NULL || !mote_reserve(program->ctx, (void **)&program->names, &program->name_capacity,
                                      program->name_count + 1, sizeof *program->names, "expression")) {
        mote_free(program->ctx, copy);
        return fail(p, MOTE_ERROR_MEMORY);
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    program->names[program->name_count] = (where_name){copy, place, false};
    return (uint32_t)program->name_count++;
}

static uint32_t find_token(where_parser *p, const where_token *token) {
    const where_place inner = token->inner;
    return find_name(p, p->program->text + inner.begin, inner.end - inner.begin, token->place);
}

static uint32_t add_name(where_parser *p, uint32_t name, where_place place) {
    const uint32_t index = add_node(p, WHERE_NAME, place, WHERE_NONE, WHERE_NONE);
    if (index != WHERE_NONE) node_at(p, index)->name = name;
    return index;
}

/* PDAL's name for the four flags of LAS as one number, of which point formats 0 to 5 lack the last. */
static bool is_flags(const where_parser *p, const where_token *token) {
    static const char name[] = "ClassFlags";
    const uint32_t length = token->inner.end - token->inner.begin;
    return !token->is_quoted && length == strlen(name) &&
           strncasecmp(p->program->text + token->inner.begin, name, length) == 0;
}

static uint32_t add_flags(where_parser *p, where_place place) {
    static const char *const flags[] = {"synthetic", "key_point", "withheld", "overlap"};
    uint32_t sum = WHERE_NONE;
    for (uint32_t bit = 0; bit < 4 && p->status == MOTE_OK; bit++) {
        const uint32_t before = (uint32_t)p->program->name_count;
        const uint32_t name = find_name(p, flags[bit], strlen(flags[bit]), place);
        if (bit == 3 && name == before) p->program->names[name].may_lack = true;
        uint32_t flag = add_name(p, name, place);
        const uint32_t factor = add_node(p, WHERE_NUMBER, place, WHERE_NONE, WHERE_NONE);
        if (p->status != MOTE_OK) return WHERE_NONE;
        node_at(p, factor)->number = 1u << bit;
        flag = operation(p, WHERE_MULTIPLY, place, flag, factor);
        sum = bit == 0 ? flag : operation(p, WHERE_ADD, place, sum, flag);
    }
    return sum;
}

/* "name(" */
static uint32_t parse_function(where_parser *p, const where_token *name) {
    static const struct {
        const char *name;
        where_kind kind;
        bool of_two;
    } functions[] = {{"abs", WHERE_ABS, false},     {"floor", WHERE_FLOOR, false}, {"ceil", WHERE_CEIL, false},
                     {"round", WHERE_ROUND, false}, {"sqrt", WHERE_SQRT, false},   {"min", WHERE_MIN, true},
                     {"max", WHERE_MAX, true},      {"known", WHERE_KNOWN, false}};
    static const char *const names[] = {"abs", "floor", "ceil", "round", "sqrt", "min", "max", "known", NULL};
    const uint32_t length = name->place.end - name->place.begin;
    const char *text = p->program->text + name->place.begin;
    size_t f = 0;
    while (names[f] != NULL && (strlen(names[f]) != length || strncasecmp(names[f], text, length) != 0)) f++;
    if (names[f] == NULL) {
        char hint[WHERE_HINT_BYTES], word[MOTE_NAME_BYTES];
        snprintf(word, sizeof word, "%.*s", (int)(length < MOTE_NAME_BYTES ? length : MOTE_NAME_BYTES - 1), text);
        where_hint(word, names, hint);
        return WRONG(p, name->place, "no such function%s",
                     hint[0] != '\0' ? hint : "; there are abs, floor, ceil, round, sqrt, min, max and known");
    }
    advance(p);
    const uint32_t first = parse_sum(p);
    uint32_t second = WHERE_NONE;
    if (functions[f].of_two) {
        if (!take(p, WORD_COMMA)) return unexpected(p, "a comma and a second value");
        second = parse_sum(p);
    }
    where_place place = {name->place.begin, p->token.place.end};
    if (!take(p, WORD_CLOSE)) return unexpected(p, "\")\"");
    if (functions[f].kind != WHERE_KNOWN) return operation(p, functions[f].kind, place, first, second);
    return add_node(p, WHERE_KNOWN, place, number(p, first), WHERE_NONE);
}

static uint32_t parse_primary(where_parser *p) {
    const where_token token = p->token;
    uint32_t index = WHERE_NONE;
    if (take(p, WORD_NUMBER)) {
        index = add_node(p, WHERE_NUMBER, token.place, WHERE_NONE, WHERE_NONE);
        if (index != WHERE_NONE) node_at(p, index)->number = token.number;
        return index;
    }
    if (take(p, WORD_NAME)) {
        if (!token.is_quoted && p->token.word == WORD_OPEN) return parse_function(p, &token);
        return is_flags(p, &token) ? add_flags(p, token.place) : add_name(p, find_token(p, &token), token.place);
    }
    if (!take(p, WORD_OPEN)) return unexpected(p, "an attribute or a number");
    index = parse_or(p);
    const where_place end = p->token.place;
    if (!take(p, WORD_CLOSE)) return unexpected(p, "\")\"");
    if (index != WHERE_NONE) node_at(p, index)->place = (where_place){token.place.begin, end.end};
    return index;
}

/* ---- arithmetic */

static uint32_t parse_prefixed(where_parser *p) {
    const where_token sign = p->token;
    advance(p);
    const uint32_t operand = parse_unary(p);
    if (p->status != MOTE_OK) return WHERE_NONE;
    const where_place place = {sign.place.begin, node_at(p, operand)->place.end};
    if (sign.word == WORD_PLUS) return number(p, operand);
    if (sign.word == WORD_MINUS) return operation(p, WHERE_NEGATE, place, operand, WHERE_NONE);
    return add_node(p, WHERE_NOT, place, truth(p, operand), WHERE_NONE);
}

static uint32_t parse_unary(where_parser *p) {
    const where_word word = p->token.word;
    if (p->nesting == NESTING_MAX) return WRONG(p, p->token.place, "nested more than %u deep", NESTING_MAX);
    p->nesting++;
    const bool prefixed = word == WORD_PLUS || word == WORD_MINUS || word == WORD_BANG;
    const uint32_t index = prefixed ? parse_prefixed(p) : parse_primary(p);
    p->nesting--;
    return index;
}

static uint32_t parse_product(where_parser *p) {
    uint32_t left = parse_unary(p);
    for (;;) {
        const where_kind kind = p->token.word == WORD_TIMES       ? WHERE_MULTIPLY
                                : p->token.word == WORD_DIVIDED   ? WHERE_DIVIDE
                                : p->token.word == WORD_REMAINDER ? WHERE_REMAINDER
                                                                  : WHERE_NUMBER;
        if (kind == WHERE_NUMBER || p->status != MOTE_OK) return left;
        advance(p);
        const uint32_t right = parse_unary(p);
        if (p->status == MOTE_OK) left = operation(p, kind, span(p, left, right), left, right);
    }
}

static uint32_t parse_sum(where_parser *p) {
    uint32_t left = parse_product(p);
    for (;;) {
        const where_kind kind = p->token.word == WORD_PLUS    ? WHERE_ADD
                                : p->token.word == WORD_MINUS ? WHERE_SUBTRACT
                                                              : WHERE_NUMBER;
        if (kind == WHERE_NUMBER || p->status != MOTE_OK) return left;
        advance(p);
        const uint32_t right = parse_product(p);
        if (p->status == MOTE_OK) left = operation(p, kind, span(p, left, right), left, right);
    }
}

/* ---- comparisons */

static where_kind comparison_of(where_word word) {
    switch (word) {
    case WORD_EQUAL: return WHERE_EQUAL;
    case WORD_UNEQUAL: return WHERE_UNEQUAL;
    case WORD_LESS: return WHERE_LESS;
    case WORD_AT_MOST: return WHERE_AT_MOST;
    case WORD_GREATER: return WHERE_GREATER;
    case WORD_AT_LEAST: return WHERE_AT_LEAST;
    default: return WHERE_NUMBER;
    }
}

static bool is_nan(const where_parser *p, uint32_t index) {
    return index != WHERE_NONE && is_number(p, index) && isnan(node_at(p, index)->number);
}

static uint32_t parse_compared(where_parser *p, uint32_t left) {
    const where_kind kind = comparison_of(p->token.word);
    advance(p);
    const uint32_t right = parse_sum(p);
    left = number(p, left);
    if (number(p, right) == WHERE_NONE || p->status != MOTE_OK) return WHERE_NONE;
    if (comparison_of(p->token.word) != WHERE_NUMBER) {
        return WRONG(p, p->token.place,
                     "comparisons are not chained: join two by \"&&\", or write \"between … and …\"");
    }
    if (is_nan(p, left) || is_nan(p, right)) {
        return WRONG(p, node_at(p, is_nan(p, left) ? left : right)->place,
                     "nothing equals nan: write known(…) or !known(…)");
    }
    return add_node(p, kind, span(p, left, right), left, right);
}

static uint32_t add_range(where_parser *p, double low, double high) {
    where_program *program = p->program;
    if (!mote_reserve(program->ctx, (void **)&program->ranges, &program->range_capacity, program->range_count + 1,
                      sizeof *program->ranges, "expression")) {
        return fail(p, MOTE_ERROR_MEMORY);
    }
    program->ranges[program->range_count] = (where_range){low, high};
    return (uint32_t)program->range_count++;
}

/* A constant of a list. */
static double parse_constant(where_parser *p) {
    const uint32_t index = number(p, parse_sum(p));
    if (p->status != MOTE_OK) return 0;
    if (is_number(p, index) && !is_nan(p, index)) return node_at(p, index)->number;
    WRONG(p, node_at(p, index)->place, "a list holds numbers that stand in it");
    return 0;
}

/* "2", "5:7", "5:" or ":7" */
static void parse_range(where_parser *p) {
    const where_place begin = p->token.place;
    double low = -INFINITY, high;
    if (p->token.word != WORD_COLON) low = parse_constant(p);
    high = low;
    if (take(p, WORD_COLON)) {
        const bool open = p->token.word == WORD_COMMA || p->token.word == WORD_CLOSE;
        high = open ? (double)INFINITY : parse_constant(p);
    }
    if (p->status == MOTE_OK && low > high) WRONG(p, begin, "this range ends before it begins");
    if (p->status == MOTE_OK) add_range(p, low, high);
}

static uint32_t parse_list(where_parser *p, uint32_t left) {
    const uint32_t first = (uint32_t)p->program->range_count;
    left = number(p, left);
    if (!take(p, WORD_OPEN)) return unexpected(p, "\"(\" and a list like (2, 5:7)");
    do parse_range(p);
    while (take(p, WORD_COMMA));
    const where_place end = p->token.place;
    if (!take(p, WORD_CLOSE)) return unexpected(p, "\",\" or \")\"");
    if (p->status != MOTE_OK) return WHERE_NONE;
    const where_place place = {node_at(p, left)->place.begin, end.end};
    const uint32_t index = add_node(p, WHERE_IN, place, left, WHERE_NONE);
    if (index == WHERE_NONE) return WHERE_NONE;
    node_at(p, index)->first_range = first;
    node_at(p, index)->range_count = (uint32_t)p->program->range_count - first;
    return index;
}

static uint32_t parse_between(where_parser *p, uint32_t left) {
    const uint32_t low = number(p, parse_sum(p));
    if (!take(p, WORD_AND)) return unexpected(p, "\"and\" and the other end");
    const uint32_t high = number(p, parse_sum(p));
    left = number(p, left);
    if (p->status != MOTE_OK) return WHERE_NONE;
    const where_place place = span(p, left, high);
    const uint32_t above = add_node(p, WHERE_AT_LEAST, place, left, low);
    const uint32_t below = add_node(p, WHERE_AT_MOST, place, left, high);
    return add_node(p, WHERE_AND, place, above, below);
}

static uint32_t parse_comparison(where_parser *p) {
    uint32_t left = parse_sum(p);
    if (p->status != MOTE_OK) return WHERE_NONE;
    if (comparison_of(p->token.word) != WHERE_NUMBER) return parse_compared(p, left);
    const where_token negation = p->token;
    const bool negated = take(p, WORD_NOT);
    if (take(p, WORD_IN)) {
        left = parse_list(p, left);
    } else if (take(p, WORD_BETWEEN)) {
        left = parse_between(p, left);
    } else if (negated) {
        return WRONG(p, negation.place, "\"not\" stands before a condition, \"in\" or \"between\"");
    }
    if (!negated || p->status != MOTE_OK) return left;
    return add_node(p, WHERE_NOT, node_at(p, left)->place, left, WHERE_NONE);
}

/* ---- conditions */

static uint32_t parse_not(where_parser *p) {
    const where_place begin = p->token.place;
    if (!take(p, WORD_NOT)) return parse_comparison(p);
    if (p->nesting == NESTING_MAX) return WRONG(p, begin, "nested more than %u deep", NESTING_MAX);
    p->nesting++;
    const uint32_t operand = truth(p, parse_not(p));
    p->nesting--;
    if (p->status != MOTE_OK) return WHERE_NONE;
    return add_node(p, WHERE_NOT, (where_place){begin.begin, node_at(p, operand)->place.end}, operand, WHERE_NONE);
}

static uint32_t parse_and(where_parser *p) {
    uint32_t left = parse_not(p);
    while (p->status == MOTE_OK && take(p, WORD_AND)) {
        const uint32_t right = truth(p, parse_not(p));
        left = truth(p, left);
        if (p->status == MOTE_OK) left = add_node(p, WHERE_AND, span(p, left, right), left, right);
    }
    return left;
}

static uint32_t parse_or(where_parser *p) {
    uint32_t left = parse_and(p);
    while (p->status == MOTE_OK && take(p, WORD_OR)) {
        const uint32_t right = truth(p, parse_and(p));
        left = truth(p, left);
        if (p->status == MOTE_OK) left = add_node(p, WHERE_OR, span(p, left, right), left, right);
    }
    return left;
}

/* ---- the whole */

static void add_statement(where_parser *p, uint32_t target, uint32_t value, uint32_t condition) {
    where_program *program = p->program;
    if (p->status != MOTE_OK) return;
    if (!mote_reserve(program->ctx, (void **)&program->statements, &program->statement_capacity,
                      program->statement_count + 1, sizeof *program->statements, "expression")) {
        fail(p, MOTE_ERROR_MEMORY);
        return;
    }
    program->statements[program->statement_count++] =
        (where_statement){.target = target, .value = value, .condition = condition};
}

static void parse_condition(where_parser *p) {
    const uint32_t condition = truth(p, parse_or(p));
    if (p->status == MOTE_OK && p->token.word != WORD_END) unexpected(p, "\"&&\", \"||\" or the end");
    add_statement(p, WHERE_NONE, WHERE_NONE, condition);
}

static void parse_assignment(where_parser *p) {
    const where_token target = p->token;
    uint32_t condition = WHERE_NONE;
    if (!take(p, WORD_NAME)) {
        unexpected(p, "an attribute that is to be set");
        return;
    }
    if (p->token.word == WORD_EQUAL) {
        WRONG(p, p->token.place, "\"==\" compares; to set a value, write \"=\"");
        return;
    }
    if (!take(p, WORD_ASSIGN)) {
        unexpected(p, "\"=\"");
        return;
    }
    const uint32_t name = find_token(p, &target);
    const uint32_t value = parse_or(p);
    if (p->status == MOTE_OK && take(p, WORD_WHERE)) condition = truth(p, parse_or(p));
    add_statement(p, name, value, condition);
}

static void parse_assignments(where_parser *p) {
    do parse_assignment(p);
    while (p->status == MOTE_OK && take(p, WORD_SEMICOLON) && p->token.word != WORD_END);
    if (p->status == MOTE_OK && p->token.word != WORD_END) unexpected(p, "an operator, \"where\", \";\" or the end");
}

static mote_status parse(mote_context *ctx, const char *text, const char *title, void (*rule)(where_parser *p),
                         where_program **out) {
    where_program *program = *out = mote_alloc_zero(ctx, sizeof *program, "expression");
    if (program == NULL) return MOTE_ERROR_MEMORY;
    where_parser parser = {.program = program};
    program->ctx = ctx;
    program->title = title;
    program->text = mote_strdup(ctx, text);
    if (program->text == NULL) {
        parser.status = MOTE_ERROR_MEMORY;
    } else if (strlen(text) > TEXT_BYTES_MAX) {
        parser.status = mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: longer than %u bytes", title, TEXT_BYTES_MAX);
    } else {
        advance(&parser);
        rule(&parser);
    }
    if (parser.status == MOTE_OK) parser.status = where_compile(program);
    if (parser.status == MOTE_OK) return MOTE_OK;
    mote_where_free(program);
    *out = NULL;
    return parser.status;
}

mote_status mote_where_condition(mote_context *ctx, const char *text, where_program **out) {
    return parse(ctx, text, "where", parse_condition, out);
}

mote_status mote_where_assignments(mote_context *ctx, const char *text, where_program **out) {
    return parse(ctx, text, "set", parse_assignments, out);
}

void mote_where_free(where_program *program) {
    if (program == NULL) return;
    mote_context *ctx = program->ctx;
    for (uint64_t i = 0; i < program->name_count; i++) mote_free(ctx, program->names[i].text);
    mote_free(ctx, program->names);
    mote_free(ctx, program->nodes);
    mote_free(ctx, program->ranges);
    mote_free(ctx, program->ops);
    mote_free(ctx, program->statements);
    mote_free(ctx, program->text);
    mote_free(ctx, program);
}

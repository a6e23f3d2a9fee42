/* The words of an expression. */
#ifndef MOTE_WHERE_TOKEN_H
#define MOTE_WHERE_TOKEN_H

#include "where/where_program.h"

typedef enum where_word {
    WORD_END,
    WORD_NUMBER,
    WORD_NAME,
    WORD_OPEN,
    WORD_CLOSE,
    WORD_COMMA,
    WORD_COLON,
    WORD_SEMICOLON,
    WORD_ASSIGN,
    WORD_PLUS,
    WORD_MINUS,
    WORD_TIMES,
    WORD_DIVIDED,
    WORD_REMAINDER,
    WORD_EQUAL,
    WORD_UNEQUAL,
    WORD_LESS,
    WORD_AT_MOST,
    WORD_GREATER,
    WORD_AT_LEAST,
    WORD_BANG,
    WORD_NOT,
    WORD_AND,
    WORD_OR,
    WORD_IN,
    WORD_BETWEEN,
    WORD_WHERE,
    WORD_WRONG, /* nothing of these */
} where_word;

typedef struct where_token {
    where_word word;
    where_place place;
    where_place inner; /* of a name: without its quotes */
    bool is_quoted;    /* a name that is one whatever it says */
    double number;     /* WORD_NUMBER */
    const char *wrong; /* WORD_WRONG: what is wrong with it */
} where_token;

/* The word that begins at or behind a byte of the text. */
void where_next_token(const char *text, uint32_t at, where_token *token);

#endif

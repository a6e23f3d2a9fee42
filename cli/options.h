/* The options of a command: rows of a table, parsed and explained by the same code for all commands.
   Options may stand anywhere; "--name value" and "--name=value" are the same; "--" ends them. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_TEXT,   /* const char * */
    OPTION_COUNT,  /* uint64_t; k, M, G count in thousands: 5M, 1.5k */
    OPTION_BYTES,  /* uint64_t, not 0; k, M, G count in 1024s */
    OPTION_MEMORY, /* the same; auto: machine_memory */
    OPTION_INT,    /* int */
    OPTION_REAL,   /* double */
    OPTION_CHOICE, /* int: which of the words in values, "auto|cpu|cuda" */
    OPTION_LIST    /* text_list: may be given several times */
} option_kind;

#define TEXT_LIST_MAX 32

typedef struct text_list {
    const char *items[TEXT_LIST_MAX];
    int count;
} text_list;

typedef struct option {
    const char *name; /* without dashes */
    char letter;      /* "-n"; 0 if none */
    option_kind kind;
    void *target;
    bool *given;        /* set when the option occurs; may be NULL */
    const char *values; /* what help calls the value: "N"; of a choice its words */
    const char *help;   /* with default and unit; "\n" continues on a line of its own */
} option;

/* What help says of a command. */
typedef struct command_help {
    const char *synopsis; /* "mote gen KIND OUT [options]" */
    const char *summary;
    const char *examples;  /* whole lines */
    const char *notes;     /* whole lines; NULL if none */
    const char *no_output; /* of a command without -o: why, and what to do instead */
} command_help;

/* What most commands have in common. */
typedef struct common_options {
    int threads; /* 0: all cores */
    bool threads_given;
    const char *device;
    uint64_t memory_bytes;        /* 0 = no bound */
    uint64_t device_memory_bytes; /* 0 = memory_bytes */
    uint64_t seed;
    bool seed_given;
    bool quiet, verbose, json, hash;
    const char *output;       /* of -o; NULL if not given */
    const char *where;        /* condition that points must meet; NULL: all are read */
    const char *format;       /* of the output: an ending without its dot; NULL: by its ending */
    bool force;               /* an output that is named by its place in the line may replace a file, too */
    const char *crs, *to_crs; /* of the inputs: what they are in, and what they are brought to; NULL: as they are */
    bool crs_ballpark, where_in_given;
    int where_in;   /* 1: --where sees the coordinates that --to-crs makes */
    bool no_stages; /* on a GPU: events between them would take time */
} common_options;

/* Which of them a command has. */
enum {
    COMMON_RUN = 1,  /* --device --threads --memory --device-memory --verbose --quiet */
    COMMON_SEED = 2, /* --seed */
    COMMON_JSON = 4,
    COMMON_HASH = 8,
    COMMON_OUTPUT = 16, /* --output --force --format */
    COMMON_WHERE = 32,  /* --where */
    COMMON_CRS = 64,    /* --crs --to-crs --crs-ballpark --where-in */
};

typedef struct arguments {
    const char **words; /* what is not an option, in order; points into argv */
    int count;
} arguments;

/* The options of a command. */
typedef struct option_table {
    const char *command;
    const command_help *help;
    const option *rows; /* [count], the first own of them the command's own */
    int own, count;
} option_table;

typedef enum parse_result { PARSE_RUN, PARSE_HELP, PARSE_WRONG } parse_result;

/* Parses argv[1…]. PARSE_HELP: help was asked for and printed, end with 0. PARSE_WRONG: the mistake was explained,
   end with EXIT_USAGE. argv is reordered so that arguments may point into it.
   rows  ends with a row without name */
parse_result options_parse(const command_help *help, const option *rows, unsigned common_mask, common_options *common,
                           int argc, char **argv, arguments *out);

/* Says what is wrong with the usage of a command ("mote: error: …" and where to find help); returns EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int usage_error(const char *command, const char *format, ...);

/* Sets what a row points at. false: the word is not what option_wants says. */
bool option_store(const option *row, const char *word);
/* "a whole number", "one of auto|cpu": what the value of a row has to be. */
const char *option_wants(const option *row);

/* A whole text as a number, with k, M, G for powers of unit (1000 or 1024; 0: no letters). */
bool parse_count(const char *word, uint64_t kilo, uint64_t *out);
bool parse_real(const char *word, double *out);
/* "x,y,z", each finite. */
bool parse_place(const char *list, double place[3]);

#endif

#include "io_command.h"

int io_command_run(const io_command *command, void *options, int argc, char **argv) {
    const unsigned mask = COMMON_RUN | COMMON_JSON | COMMON_HASH | COMMON_OUTPUT | COMMON_WHERE | COMMON_CRS;
    common_options common;
    arguments words;
    io_paths paths;
    const parse_result parsed = options_parse(command->help, command->rows, mask, &common, argc, argv, &words);
    if (parsed != PARSE_RUN) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    int code = io_paths_take(argv[0], &common, &words, command->output_optional, &paths);
    if (code == EXIT_DONE) code = command->check(options, &common, &paths);
    if (code != EXIT_DONE) return code;
    session s;
    code = session_open(&s, argv[0], &common);
    if (code == EXIT_DONE) code = session_hold(&s);
    if (code == EXIT_DONE) note_same_inputs(&s, &paths);
    if (code == EXIT_DONE) code = command->run(&s, options, &paths);
    return session_close(&s, code);
}

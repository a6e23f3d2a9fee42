/* mote bench: holds its place. */
#include "command.h"
#include "options.h"

int cmd_bench(int argc, char **argv) {
    (void)argc, (void)argv;
    return usage_error("", "bench is not here yet");
}

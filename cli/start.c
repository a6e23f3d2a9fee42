/* main: compiled for any processor, so that one which cannot run the rest is told so. */
#include <mote/mote.h>
#include <stdio.h>

#include "command.h"

int main(int argc, char **argv) {
    const char *lacks = mote_cpu_lacks();
    if (lacks != NULL) {
        fprintf(stderr, "mote: error: this processor has no %s; mote needs one of x86-64-v3 (2013 or later)\n", lacks);
        return EXIT_FAILED;
    }
    return command_run(argc, argv);
}

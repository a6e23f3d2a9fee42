/* mote view: holds its place until the viewer lands. */
#include "command.h"
#include "options.h"

int cmd_view(int argc, char **argv) {
    (void)argc, (void)argv;
    return usage_error("", "view is not here yet");
}

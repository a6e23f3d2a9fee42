/* `mote view`: serves a level-of-detail octree and its page to the browser. */
#ifndef MOTE_CLI_CMD_VIEW_H
#define MOTE_CLI_CMD_VIEW_H

/// argv[0] is "view". Returns the exit code of the command.
int cmd_view(int argc, char **argv);

#endif

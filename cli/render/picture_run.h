/* Reads a cloud and makes its pictures. */
#ifndef CLI_PICTURE_RUN_H
#define CLI_PICTURE_RUN_H

#include "render/picture_plan.h"

/* Returns an exit code. */
int picture_run(session *s, picture_plan *plan);

#endif

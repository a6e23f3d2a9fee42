/* A few points that stretch the box, told to people. */
#ifndef CLI_STRAYS_TEXT_H
#define CLI_STRAYS_TEXT_H

#include <mote/mote.h>

typedef struct strays_text {
    char chars[512];
} strays_text;

/* "1 of 1,000,000 points lies 5,430,000 units from the rest: see mote outliers, --bounds …"; points: of the cloud. */
strays_text strays_say(const mote_strays *strays, uint64_t points);

#endif

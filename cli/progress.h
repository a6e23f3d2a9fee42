/* The progress bar: one line on standard error, only on a terminal, gone at the end. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress_bar {
    bool enabled;
    bool visible;
    bool unicode;
    uint64_t points; /* for the rate; 0 = unknown */
    double started;  /* when the running call began */
    double drawn;    /* when the bar was drawn last */
    double done;
} progress_bar;

void progress_start(progress_bar *bar, bool wanted);
/* What has been done of the running call, 0..1; draws at most 20 times a second. */
void progress_update(progress_bar *bar, double done, const char *stage);
/* Takes the bar off the terminal, e.g. before a message. */
void progress_clear(progress_bar *bar);

double seconds_now(void);

#endif

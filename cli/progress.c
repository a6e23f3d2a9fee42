/* The progress bar. */
#define _GNU_SOURCE /* struct winsize, clock_gettime */
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "print.h"
#include "text.h"

#define PATIENCE_S 0.4  /* what is done sooner needs no bar */
#define FRAME_S    0.05 /* between two drawings */
#define BAR_CELLS  24

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool terminal_is_unicode(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0') return strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL;
    }
    return false;
}

void progress_start(progress_bar *bar, bool wanted) {
    memset(bar, 0, sizeof *bar);
    bar->enabled = wanted && isatty(STDERR_FILENO) == 1;
    bar->unicode = terminal_is_unicode();
    bar->started = seconds_now();
}

/* BAR_CELLS cells, the last one in eighths where the terminal can. */
static void append_bar(char *line, size_t size, double done, bool unicode) {
    static const char *const eighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const int steps = (int)(done * BAR_CELLS * 8);
    for (int cell = 0; cell < BAR_CELLS; cell++) {
        const int filled = steps - cell * 8;
        const char *shape = filled >= 8 ? "█" : filled > 0 ? eighths[filled] : " ";
        if (!unicode) shape = filled >= 4 ? "#" : ".";
        strncat(line, shape, size - strlen(line) - 1);
    }
}

static int terminal_columns(void) {
    struct winsize window;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return 80;
    return window.ws_col;
}

void progress_clear(progress_bar *bar) {
    if (bar->visible) fputs("\r\033[K", stderr);
    bar->visible = false;
}

static void draw(progress_bar *bar, double now, const char *stage) {
    char shape[BAR_CELLS * 4 + 1] = "", rate[64] = "";
    const double spent = now - bar->started;
    const int columns = terminal_columns();
    append_bar(shape, sizeof shape, bar->done, bar->unicode);
    if (bar->points > 0 && bar->done > 0) {
        snprintf(rate, sizeof rate, "  %s points/s", text_rate((double)bar->points * bar->done / spent).chars);
    }
    const double remaining = bar->done > 0 ? spent * (1 - bar->done) / bar->done : -1;
    progress_clear(bar);
    bar->visible = true;
    print_to(stderr, "%-20.20s", stage);
    if (columns >= 20 + BAR_CELLS + 10) print_to(stderr, " %s %3d %%", shape, (int)(bar->done * 100));
    if (columns >= 20 + BAR_CELLS + 40) print_to(stderr, "%s", rate);
    if (columns >= 20 + BAR_CELLS + 54 && remaining >= 60) print_to(stderr, "  %s left", text_seconds(remaining).chars);
    if (columns >= 20 + BAR_CELLS + 54 && remaining >= 0 && remaining < 60)
        print_to(stderr, "  %.0f s left", ceil(remaining));
    fflush(stderr);
}

void progress_update(progress_bar *bar, double done, const char *stage) {
    if (!bar->enabled) return;
    const double now = seconds_now();
    if (!(done >= 0)) done = 0;
    if (done > 1) done = 1;
    if (done + 1e-9 < bar->done) bar->started = now; /* another call began */
    bar->done = done;
    if (!bar->visible && now - bar->started < PATIENCE_S) return;
    if (now - bar->drawn < FRAME_S) return;
    bar->drawn = now;
    draw(bar, now, stage);
}

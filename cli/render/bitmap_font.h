/* A small font for legends: 5 x 7 pixels, and a row for what hangs below. */
#ifndef CLI_BITMAP_FONT_H
#define CLI_BITMAP_FONT_H

#include <stdbool.h>
#include <stdint.h>

#define FONT_HEIGHT 8 /* of a line without gaps, pixels at scale 1 */

/* What is done for each pixel of a letter. */
typedef void font_dot_fn(void *user, int64_t x, int64_t y);

/* ASCII; other characters are drawn as "?". */
uint32_t font_text_width(const char *text, uint32_t scale);
/* The upper left corner is at x, y. */
void font_draw_text(const char *text, uint32_t scale, int64_t x, int64_t y, font_dot_fn *dot, void *user);

#endif

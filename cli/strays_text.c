#include "strays_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

/* Three digits, which is enough for how far. */
static text distance_text(double distance) {
    char rounded[32];
    snprintf(rounded, sizeof rounded, "%.3g", distance);
    const double value = strtod(rounded, NULL);
    return value >= 1000 && value < 1e15 ? text_count((uint64_t)value) : text_real(value);
}

/* A side of the box of the rest, a little outside of it, with no more digits than tell it from the other side. */
static text side_text(double value, double size, bool upper) {
    const int decimals = size > 0 ? 3 - (int)floor(log10(size)) : 6;
    if (decimals < -15 || decimals > 15) return text_real(value);
    const double step = pow(10, -decimals);
    const double outside = upper ? ceil(value / step) * step : floor(value / step) * step;
    return text_fixed(outside, decimals > 0 ? decimals : 0);
}

strays_text strays_say(const mote_strays *strays, uint64_t points) {
    strays_text out;
    text low[3], high[3];
    double size = 0;
    for (int k = 0; k < 3; k++) size = fmax(size, strays->rest.max[k] - strays->rest.min[k]);
    for (int k = 0; k < 3; k++) {
        low[k] = side_text(strays->rest.min[k], size, false);
        high[k] = side_text(strays->rest.max[k], size, true);
    }
    snprintf(out.chars, sizeof out.chars,
             "%s of %s points %s %s units from the rest: see mote outliers, --bounds %s,%s,%s,%s,%s,%s",
             text_count(strays->count).chars, text_count(points).chars, strays->count == 1 ? "lies" : "lie up to",
             distance_text(strays->distance).chars, low[0].chars, low[1].chars, low[2].chars, high[0].chars,
             high[1].chars, high[2].chars);
    return out;
}

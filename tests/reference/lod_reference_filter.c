/* Averages of colours over cells, summed over every original point of the cloud. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/lod_reference.h"

void reference_filter_begin(const lod_reference *r, uint32_t level, reference_filter *f) {
    f->r = r;
    f->level = level;
    f->cell_level = reference_cell_level(r, level);
    f->cells = malloc((3 * r->count + 1) * sizeof *f->cells);
    if (f->cells == NULL) abort();
    for (uint64_t i = 0; i < r->count; i++) {
        for (uint64_t k = 0; k < 3; k++) {
            f->cells[3 * i + k] = reference_cell(r->points[i].p[k], r->lattice.side[k], f->cell_level);
        }
    }
}

void reference_filter_end(reference_filter *f) {
    free(f->cells);
    memset(f, 0, sizeof *f);
}

static bool within_reach(const reference_filter *f, uint64_t i, uint64_t j, uint32_t reach) {
    for (uint64_t k = 0; k < 3; k++) {
        const int64_t apart = (int64_t)f->cells[3 * i + k] - (int64_t)f->cells[3 * j + k];
        if (apart > (int64_t)reach || apart < -(int64_t)reach) return false;
    }
    return true;
}

void reference_average(const reference_filter *f, uint64_t position, uint32_t reach, uint16_t average[3]) {
    uint64_t sum[3] = {0, 0, 0}, count = 0;
    for (uint64_t i = 0; i < f->r->count; i++) {
        if (!within_reach(f, position, i, reach)) continue;
        for (int k = 0; k < 3; k++) sum[k] += f->r->points[i].rgb[k];
        count++;
    }
    for (int k = 0; k < 3; k++) average[k] = (uint16_t)((2 * sum[k] + count) / (2 * count));
}

/* Where a point lies within its cell along one axis, 0..1. With eighths: the middle of its eighth; below the finest
   grid nothing is known, and the eighth at the middle of what is known counts. */
static double place_in_cell(const reference_filter *f, uint64_t i, int k, bool eighths) {
    const uint64_t p = f->r->points[i].p[k], side = f->r->lattice.side[k];
    const uint32_t cell = f->cells[3 * i + (uint64_t)k];
    if (!eighths) return ldexp((double)p / (double)side, (int)f->cell_level) - cell;
    const uint32_t left = f->r->finest - f->cell_level, known = left < 3 ? left : 3;
    const uint32_t part = reference_cell(p, side, f->cell_level + known) - (cell << known);
    const uint32_t eighth = known == 3 ? part : (2 * part + 1) << (2 - known);
    return (eighth + 0.5) / 8;
}

static double weight_of(const reference_filter *f, uint64_t target, uint64_t i, bool eighths) {
    const double largest = 1.5 * sqrt(3);
    double distance2 = 0;
    for (int k = 0; k < 3; k++) {
        const double away = (double)f->cells[3 * target + (uint64_t)k] - (double)f->cells[3 * i + (uint64_t)k];
        const double d = away + 0.5 - place_in_cell(f, i, k, eighths);
        distance2 += d * d;
    }
    const double x = sqrt(distance2) / largest;
    return exp(-x * x / 0.1);
}

double reference_average_weighted(const reference_filter *f, uint64_t position, bool eighths, double average[3]) {
    double sum[3] = {0, 0, 0}, weight = 0, doubt = 0;
    for (uint64_t i = 0; i < f->r->count; i++) {
        if (!within_reach(f, position, i, 1)) continue;
        const double w = weight_of(f, position, i, eighths);
        for (int k = 0; k < 3; k++) sum[k] += w * f->r->points[i].rgb[k];
        weight += w;
    }
    for (int k = 0; k < 3; k++) average[k] = sum[k] / weight;
    for (int k = 0; k < 3; k++) {
        double off = 0;
        for (uint64_t i = 0; i < f->r->count; i++) {
            if (within_reach(f, position, i, 1)) off += fabs(f->r->points[i].rgb[k] - average[k]);
        }
        doubt = fmax(doubt, off / 65536 / weight);
    }
    return doubt;
}

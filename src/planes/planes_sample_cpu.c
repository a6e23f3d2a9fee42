/* Free points spread evenly over all, on CPU cores. */
#include "planes/planes_cpu.h"

static void take_point(const planes_cpu *p, uint32_t at, planes_sample *sample, uint32_t to) {
    sample->place[to] = at;
    sample->x[to] = p->x[at];
    sample->y[to] = p->y[at];
    sample->z[to] = p->z[at];
    sample->normal[to] = p->normal != NULL ? p->normal[at] : 0;
}

mote_status planes_read_places_cpu(planes_points *points, planes_sample *sample) {
    for (uint32_t i = 0; i < sample->count; i++) take_point(planes_on_cpu(points), sample->place[i], sample, i);
    return MOTE_OK;
}

mote_status planes_read_sample_cpu(planes_points *points, uint32_t max, planes_sample *sample) {
    const planes_cpu *p = planes_on_cpu(points);
    const uint64_t found = p->free_count, wanted = found < max ? found : max;
    uint64_t rank = 0, next = wanted > 0 ? found / (2 * wanted) : 0;
    sample->count = 0;
    for (uint32_t i = 0; i < points->count && sample->count < wanted; i++) {
        if (p->free_points[i] == 0) continue;
        if (rank++ < next) continue;
        take_point(p, i, sample, sample->count++);
        next = (2 * (uint64_t)sample->count + 1) * found / (2 * wanted);
    }
    return MOTE_OK;
}

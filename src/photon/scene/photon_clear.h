/* Whether rays that are near each other can meet a shape at all: one copy for C and CUDA.

   Between a place on an open wall and a photon on the same wall nothing stands. That is seen by one look for all rays
   between them: the box around the rays overlaps the box of no shape but of those that lie below the rays, in the
   surface itself mostly.

        ____________
       |  ray       |  low, high
       |  ray       |
       |____________|  · · · · · · · · · · above: what does not rise above it hides nothing
     =================== the surface

   The answer no is no answer: then the rays tell. So it does not show in results, only in time. */
#ifndef MOTE_PHOTON_CLEAR_H
#define MOTE_PHOTON_CLEAR_H

#include "photon/scene/photon_ray.h"

/* What is around the rays: a box, and a plane below them. */
typedef struct photon_span {
    float low[3], high[3];
    photon_vec up;
    double above; /* along up */
} photon_span;

/* ends: where rays begin and end */
MOTE_HD photon_span photon_span_of(const photon_view *scene, const photon_vec *ends, uint32_t count, photon_vec up) {
    photon_span span;
    photon_vec low = ends[0], high = ends[0];
    span.up = up;
    span.above = photon_dot(up, ends[0]);
    for (uint32_t i = 1; i < count; i++) {
        const photon_vec at = ends[i];
        low = photon_vec_of(photon_min(low.x, at.x), photon_min(low.y, at.y), photon_min(low.z, at.z));
        high = photon_vec_of(photon_max(high.x, at.x), photon_max(high.y, at.y), photon_max(high.z, at.z));
        span.above = photon_min(span.above, photon_dot(up, at));
    }
    for (int k = 0; k < 3; k++) {
        const double from = photon_axis(low, k), to = photon_axis(high, k);
        const double slack = PHOTON_SLACK * (scene->largest + (to - from)); /* of floats */
        span.low[k] = (float)(from - slack);
        span.high[k] = (float)(to + slack);
    }
    span.above -= 0x1p-40 * scene->largest;
    return span;
}

/* Which of a node's boxes overlap it, a bit each. */
MOTE_HD uint32_t photon_overlapped(const photon_node *node, const photon_span *span) {
    uint32_t bits = 0;
    for (uint32_t j = 0; j < PHOTON_WIDTH; j++) {
        bool overlaps = true;
        for (int k = 0; k < 3; k++) {
            overlaps &= node->side[PHOTON_LOW][k].of[j] <= span->high[k];
            overlaps &= node->side[PHOTON_HIGH][k].of[j] >= span->low[k];
        }
        bits |= overlaps ? 1u << j : 0;
    }
    return bits;
}

MOTE_HD bool photon_rises(const photon_shape *shape, const photon_span *span) {
    const double a = photon_dot(span->up, shape->a);
    if (shape->is_sphere) return a + shape->b.x > span->above;
    return photon_max(a, photon_max(photon_dot(span->up, shape->b), photon_dot(span->up, shape->c))) > span->above;
}

/* Whether no shape is there, as far as boxes tell. */
MOTE_HD bool photon_is_free(const photon_view *scene, const photon_span *span) {
    if (scene->is_scanned) {
        const photon_node *node = &scene->nodes[(scene->first_shape - 1) / PHOTON_WIDTH];
        for (uint32_t first = 0; first < scene->shape_count; first += PHOTON_WIDTH, node++) {
            for (uint32_t bits = photon_overlapped(node, span); bits != 0; bits &= bits - 1) {
                if (photon_rises(&scene->shapes[first + photon_lowest_bit(bits)], span)) return false;
            }
        }
        return true;
    }
    uint32_t stack[PHOTON_STACK], height = 0;
    if (scene->shape_count > 0) stack[height++] = 0;
    while (height > 0) {
        const uint32_t number = stack[--height], first = PHOTON_WIDTH * number + 1;
        for (uint32_t bits = photon_overlapped(&scene->nodes[number], span); bits != 0; bits &= bits - 1) {
            const uint32_t next = first + photon_lowest_bit(bits);
            if (next < scene->first_shape) {
                stack[height++] = next;
            } else if (photon_rises(&scene->shapes[next - scene->first_shape], span)) {
                return false;
            }
        }
    }
    return true;
}

#endif

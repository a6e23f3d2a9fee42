/* Clouds whose shape or density is unlike a uniform one's: a table of its own of a benchmark, each cloud beside the
   first, so that it shows where time does not follow the number of points. */
#ifndef CLI_BENCH_SHAPES_H
#define CLI_BENCH_SHAPES_H

#include "bench/bench.h"

#define BENCH_SHAPES      13
#define BENCH_SHAPES_CASE "shapes" /* --case */

typedef struct bench_shape {
    const char *name;
    void (*place)(uint64_t i, uint64_t n, double at[3]); /* where point i of n stands */
} bench_shape;
/* [BENCH_SHAPES]; the first is uniform, what the others are compared with */
const bench_shape *bench_shapes(void);

/* n points of it: doubles, of the host. */
mote_status bench_shape_cloud(session *s, const bench_shape *of, uint64_t count, mote_cloud **out);

/* Whether --case asks for the table: for all clouds, or, as "shapes room" does, for the first and some by the beginning
   of their name. */
bool bench_shapes_wanted(const char *only);
/* Whether it asks for a cloud; only where it asks for the table. */
bool bench_shape_wanted(const bench_shape *of, const char *only);
/* What the clouds are. */
void bench_shapes_print_end(void);

#endif

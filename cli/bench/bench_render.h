/* The parts of mote bench render. */
#ifndef CLI_BENCH_RENDER_H
#define CLI_BENCH_RENDER_H

#include "bench/bench.h"

/* Whole processes, from a file to a picture: "file las" and "file laz". */
extern const char *const bench_render_files[3]; /* names of the cases, then NULL */
/* Runs those whose name begins as o->only does; all, if that is NULL. */
int bench_render_run_files(session *s, const bench_options *o);

#endif

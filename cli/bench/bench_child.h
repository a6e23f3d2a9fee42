/* Benchmarks of whole processes: commands of this binary, each in a fresh process, so that memory and start are honest.
 */
#ifndef CLI_BENCH_CHILD_H
#define CLI_BENCH_CHILD_H

#include <sys/resource.h>

#include "bench/bench.h"

/* Runs the words, which end with NULL, as a command of this binary; collects its standard output. Returns its exit
   code. */
int bench_run_child(const char **words, char *text_out, size_t size, struct rusage *usage);
/* --device as users run it: the GPU wakes while the file is read, where auto takes it. */
const char *bench_child_device(const session *s, uint64_t points);
/* Reads a file once, so that the first run finds it in the page cache like the others. */
void bench_warm_up(const char *path);

#endif

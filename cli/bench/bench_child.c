#define _GNU_SOURCE /* wait4, pipe */
#include "bench/bench_child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAKES_FROM 4000000u /* points from which --device auto takes the GPU */

static void run_child(const char **words, int output) {
    dup2(output, STDOUT_FILENO);
    execv("/proc/self/exe", (char *const *)(uintptr_t)words);
    _exit(127);
}

int bench_run_child(const char **words, char *text_out, size_t size, struct rusage *usage) {
    int ends[2];
    size_t length = 0;
    if (pipe(ends) != 0) return EXIT_FAILED;
    const pid_t child = fork();
    if (child == 0) run_child(words, ends[1]);
    close(ends[1]);
    for (;;) {
        const ssize_t got = read(ends[0], text_out + length, size - 1 - length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        length += (size_t)got;
    }
    text_out[length] = '\0';
    close(ends[0]);
    int status = 0;
    while (child > 0 && wait4(child, &status, 0, usage) < 0 && errno == EINTR) continue;
    if (child < 0) return EXIT_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

const char *bench_child_device(const session *s, uint64_t points) {
    if (!bench_on_gpu(s)) return "cpu";
    return strcmp(s->options.device, "cuda") == 0 && points >= WAKES_FROM ? "auto" : s->options.device;
}

void bench_warm_up(const char *path) {
    static char piece[1 << 20];
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && read(file, piece, sizeof piece) > 0) continue;
    if (file >= 0) close(file);
}

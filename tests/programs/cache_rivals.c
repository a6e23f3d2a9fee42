/* Preloaded into a program: before it first removes or renames a file it makes the file $MOTE_STOPPED and waits, at
   most 30 s, until there is a file $MOTE_GO_ON. So another program has all the time to do its work in between. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void wait_once(void) {
    static char stopped;
    const char *const here = getenv("MOTE_STOPPED"), *const go_on = getenv("MOTE_GO_ON");
    if (here == NULL || go_on == NULL || __atomic_test_and_set(&stopped, __ATOMIC_ACQ_REL)) return;
    const int file = open(here, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
    for (int i = 0; i < 3000 && access(go_on, F_OK) != 0; i++) {
        nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
    }
}

int unlink(const char *path) {
    int (*const own)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
    wait_once();
    return own(path);
}

int rename(const char *from, const char *to) {
    int (*const own)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    wait_once();
    return own(from, to);
}

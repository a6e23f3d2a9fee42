#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "core/guarded_range.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOTHING_MISSING UINT64_MAX

/* The handler reads ranges while other threads begin and end theirs, and may take no lock. So a range, once allocated,
 * is never freed, only used again, and a version tells whether it was changed while it was being read:
 *
 *   first_range → [version | begin | size | missing_at] → [ … ] → [ … ] → NULL
 *                  odd: being changed; begin 0:
   free */
struct guarded_range {
    atomic_uint version;
    _Atomic uintptr_t begin;
    _Atomic uint64_t size_bytes;
    _Atomic uint64_t missing_at; /* the lowest offset that was missing, or NOTHING_MISSING */
    struct guarded_range *next;
};

/* One per process, as handlers of signals are. */
static _Atomic(guarded_range *) first_range;
static _Atomic uint64_t missing_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows, and changes of ranges */
static uint64_t used_ranges;
static bool installed;
static struct sigaction handler_before;
static uintptr_t page_bytes;

/* ---- within the handler: only what is safe in one */

static bool range_holds(guarded_range *range, uintptr_t at) {
    const unsigned version = atomic_load(&range->version);
    const uintptr_t begin = atomic_load(&range->begin);
    const uint64_t size_bytes = atomic_load(&range->size_bytes);
    if (version % 2 != 0 || version != atomic_load(&range->version)) return false; /* not the one that is being read */
    return begin != 0 && at >= begin && at - begin < size_bytes;
}

static void note_missing(guarded_range *range, uint64_t offset) {
    uint64_t known = atomic_load(&range->missing_at);
    while (offset < known && !atomic_compare_exchange_weak(&range->missing_at, &known, offset)) {}
    atomic_fetch_add(&missing_count, 1);
}

/* Puts zeros in place of everything from the page on; false if the system refuses. */
static bool replace_from(guarded_range *range, uintptr_t at) {
    const uintptr_t begin = atomic_load(&range->begin), page = at / page_bytes * page_bytes;
    const size_t size_bytes = (size_t)(begin + atomic_load(&range->size_bytes) - page);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    note_missing(range, page - begin);
    return mmap((void *)page, size_bytes, PROT_READ, flags, -1, 0) !=
           MAP_FAILED; /* NOLINT(performance-no-int-to-ptr) */
}

/* What would have happened without this handler. */
static void pass_on(int number, siginfo_t *info, void *machine) {
    const bool sent = info->si_code <= 0; /* by a process; else by the processor, for an instruction */
    if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
        handler_before.sa_sigaction(number, info, machine);
    } else if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN) {
        handler_before.sa_handler(number);
    } else if (handler_before.sa_handler == SIG_DFL || !sent) {
        struct sigaction standard = {.sa_handler = SIG_DFL}; /* the instruction runs again, and the system acts */
        sigaction(SIGBUS, &standard, NULL);
        if (sent) raise(SIGBUS);
    }
}

static void handle(int number, siginfo_t *info, void *machine) {
    const int error = errno;
    const uintptr_t at = (uintptr_t)info->si_addr;
    guarded_range *range = info->si_code > 0 ? atomic_load(&first_range) : NULL;
    while (range != NULL && !range_holds(range, at)) range = range->next;
    if (range == NULL || !replace_from(range, at)) pass_on(number, info, machine);
    errno = error;
}

/* ---- beginning and ending; the lock is held */

static bool install(void) {
    struct sigaction ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    if (installed) return true;
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&ours.sa_mask);
    installed = sigaction(SIGBUS, &ours, &handler_before) == 0;
    return installed;
}

/* A handler that was put over this one since may call it: then it stays. */
static void uninstall(void) {
    struct sigaction now;
    if (sigaction(SIGBUS, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO) == 0 || now.sa_sigaction != handle) return;
    installed = sigaction(SIGBUS, &handler_before, NULL) != 0;
}

static guarded_range *free_range(void) {
    guarded_range *range = atomic_load(&first_range);
    while (range != NULL && atomic_load(&range->begin) != 0) range = range->next;
    if (range != NULL) return range;
    range = calloc(1, sizeof *range);
    if (range == NULL) return NULL;
    range->next = atomic_load(&first_range);
    atomic_store(&first_range, range);
    return range;
}

static void set_range(guarded_range *range, uintptr_t begin, uint64_t size_bytes) {
    atomic_fetch_add(&range->version, 1);
    atomic_store(&range->begin, begin);
    atomic_store(&range->size_bytes, size_bytes);
    atomic_store(&range->missing_at, NOTHING_MISSING);
    atomic_fetch_add(&range->version, 1);
}

guarded_range *guard_begin(const void *memory, uint64_t size_bytes) {
    pthread_mutex_lock(&lock);
    guarded_range *range = install() ? free_range() : NULL;
    if (range != NULL) {
        set_range(range, (uintptr_t)memory, size_bytes);
        used_ranges++;
    }
    pthread_mutex_unlock(&lock);
    return range;
}

void guard_end(guarded_range *range) {
    if (range == NULL) return;
    pthread_mutex_lock(&lock);
    set_range(range, 0, 0);
    if (--used_ranges == 0) uninstall();
    pthread_mutex_unlock(&lock);
}

bool guard_found_missing(const guarded_range *range, uint64_t *offset) {
    *offset = atomic_load(&range->missing_at);
    return *offset != NOTHING_MISSING;
}

uint64_t guard_missing_count(void) { return atomic_load(&missing_count); }

/* Preloaded into a program: the MOTE_FAIL_AT-th allocation that the program itself asks for fails, counted from where
   its main begins; its libraries get what they ask for, and so does what is linked into it and starts before main
   (CUDA's runtime, which takes memory for granted). With MOTE_FAIL_COUNT it says at the end how many there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static uintptr_t program_begin, program_end;
static long fail_at, seen;
static int (*program_main)(int, char **, char **);

/* The first object is the program. */
static int look_at_program(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size, (void)user;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        const uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;
        if (program_begin == 0 || begin < program_begin) program_begin = begin;
        if (end > program_end) program_end = end;
    }
    return 1;
}

static int begin_main(int argc, char **argv, char **environment) {
    const char *number = getenv("MOTE_FAIL_AT");
    fail_at = number != NULL ? atol(number) : 0;
    dl_iterate_phdr(look_at_program, NULL);
    return program_main(argc, argv, environment);
}

/* What a program's first instructions call. */
int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end) {
    int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    program_main = program;
    return next(begin_main, argc, argv, init, fini, loader_fini, stack_end);
}

static bool fails(const void *caller) {
    if ((uintptr_t)caller < program_begin || (uintptr_t)caller >= program_end) return false;
    if (__atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED) != fail_at) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

__attribute__((destructor)) static void tell_count(void) {
    if (getenv("MOTE_FAIL_COUNT") != NULL) fprintf(stderr, "allocations %ld\n", seen);
}

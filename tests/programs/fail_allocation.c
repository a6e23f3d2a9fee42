/* Preloaded into a program: the MOTE_FAIL_AT-th allocation that the program itself asks for fails, counted from where
   its main begins; its libraries get what they ask for, and so does what is linked into it and starts before main
   (CUDA's runtime, which takes memory for granted). With MOTE_FAIL_COUNT it says at the end how many there were. With
MOTE_FAIL_LEAKS it says how many of the program's blocks nobody gave back, and where the first was asked for. */
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
void __libc_free(void *memory);

static uintptr_t program_begin, program_end;
static long fail_at, seen;

/* The program's blocks, by address: an open hash table, of which a block that was given back leaves its place to
   others. Beside it, where in the program each was asked for. */
#define BLOCKS     (1u << 16)
#define GIVEN_BACK ((void *)1)
static void *blocks[BLOCKS];
static uintptr_t asked_at[BLOCKS];
static char blocks_lock;

static size_t place_of(const void *memory) { return (size_t)(((uintptr_t)memory >> 4) * 2654435761u % BLOCKS); }

static void lock_blocks(void) {
    while (__atomic_test_and_set(&blocks_lock, __ATOMIC_ACQUIRE)) {}
}

static void unlock_blocks(void) { __atomic_clear(&blocks_lock, __ATOMIC_RELEASE); }

static void *keep(void *memory, const void *caller) {
    if (memory == NULL || (uintptr_t)caller < program_begin || (uintptr_t)caller >= program_end) return memory;
    lock_blocks();
    size_t at = place_of(memory);
    while (blocks[at] != NULL && blocks[at] != GIVEN_BACK) at = (at + 1) % BLOCKS;
    blocks[at] = memory;
    asked_at[at] = (uintptr_t)caller - program_begin;
    unlock_blocks();
    return memory;
}

static void give_back(const void *memory) {
    if (memory == NULL) return;
    lock_blocks();
    size_t at = place_of(memory);
    for (size_t i = 0; i < BLOCKS && blocks[at] != NULL; i++, at = (at + 1) % BLOCKS) {
        if (blocks[at] != memory) continue;
        blocks[at] = GIVEN_BACK;
        break;
    }
    unlock_blocks();
}
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

void *malloc(size_t size) {
    const void *caller = __builtin_return_address(0);
    return fails(caller) ? NULL : keep(__libc_malloc(size), caller);
}

void *calloc(size_t count, size_t size) {
    const void *caller = __builtin_return_address(0);
    return fails(caller) ? NULL : keep(__libc_calloc(count, size), caller);
}

void *realloc(void *memory, size_t size) {
    const void *caller = __builtin_return_address(0);
    if (fails(caller)) return NULL;
    void *grown = __libc_realloc(memory, size);
    if (grown == NULL && size > 0) return NULL;
    give_back(memory);
    return keep(grown, caller);
}

void *aligned_alloc(size_t alignment, size_t size) {
    const void *caller = __builtin_return_address(0);
    return fails(caller) ? NULL : keep(__libc_memalign(alignment, size), caller);
}

void free(void *memory) {
    give_back(memory);
    __libc_free(memory);
}

__attribute__((destructor)) static void tell_count(void) {
    if (getenv("MOTE_FAIL_COUNT") != NULL) fprintf(stderr, "allocations %ld\n", seen);
    if (getenv("MOTE_FAIL_LEAKS") == NULL) return;
    long left = 0;
    uintptr_t first = 0;
    for (size_t at = 0; at < BLOCKS; at++) {
        if (blocks[at] == NULL || blocks[at] == GIVEN_BACK) continue;
        if (left++ == 0) first = asked_at[at];
    }
    fprintf(stderr, "left %ld, asked for at %#lx\n", left, (unsigned long)first);
}

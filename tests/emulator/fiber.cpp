#include "emulator/fiber.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef MOTE_SANITIZED_ADDRESS
#include <sanitizer/common_interface_defs.h>
#define STACK_BYTES (512u << 10) /* red zones make frames larger */
#else
#define STACK_BYTES (128u << 10)
#endif
#define GUARD_BYTES 4096u
#define MAX_FIBERS  1025u /* the threads of a block, and one that begins the next */

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

struct fiber {
#if defined(__x86_64__)
    void *stack_pointer;
#else
    ucontext_t registers;
#endif
    void (*run)(void);
};

/* Stacks, as the address sanitizer is told of them: the thread's, and those of all fibers side by side as one. So it
   hears only of who comes and goes, not of each turn. */
struct stack_area {
    uint8_t *bottom;
    size_t bytes;
    void *fake; /* the sanitizer's, while others run */
};

static fiber thread_fiber;
static fiber *came_from, *gone_to;
[[maybe_unused]] static stack_area of_thread;
static stack_area of_fibers;

fiber *fiber_of_thread(void) { return &thread_fiber; }

/* The sanitizer must know on which stack it is. */
static void before_switch(fiber *from, fiber *to) {
    came_from = from;
    gone_to = to;
#ifdef MOTE_SANITIZED_ADDRESS
    if (from == &thread_fiber) __sanitizer_start_switch_fiber(&of_thread.fake, of_fibers.bottom, of_fibers.bytes);
    if (to == &thread_fiber) __sanitizer_start_switch_fiber(&of_fibers.fake, of_thread.bottom, of_thread.bytes);
#endif
}

static void after_switch(const fiber *self) {
    (void)self;
#ifdef MOTE_SANITIZED_ADDRESS
    if (came_from == &thread_fiber) {
        const void *bottom;
        __sanitizer_finish_switch_fiber(of_fibers.fake, &bottom, &of_thread.bytes);
        of_thread.bottom = (uint8_t *)bottom;
    }
    if (self == &thread_fiber) __sanitizer_finish_switch_fiber(of_thread.fake, nullptr, nullptr);
#endif
}

static void begin(void) {
    fiber *self = gone_to;
    after_switch(self);
    self->run();
    abort();
}

#if defined(__x86_64__)
/* Keeps what the calling convention asks a function to keep, changes stacks, and returns on the other one. */
extern "C" void fiber_exchange(void **from_stack_pointer, void *to_stack_pointer);
__asm__(".text\n"
        ".p2align 4\n"
        ".type fiber_exchange, @function\n"
        "fiber_exchange:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size fiber_exchange, . - fiber_exchange\n");

static void prepare(fiber *f, uint8_t *, uint8_t *top) {
    void **at = (void **)top;
    *--at = nullptr; /* where begin would return to */
    *--at = (void *)begin;
    at -= 6; /* the registers */
    for (int i = 0; i < 6; i++) at[i] = nullptr;
    f->stack_pointer = at;
}

void fiber_switch(fiber *from, fiber *to) {
    before_switch(from, to);
    fiber_exchange(&from->stack_pointer, to->stack_pointer);
    after_switch(from);
}
#else
static void prepare(fiber *f, uint8_t *bottom, uint8_t *top) {
    getcontext(&f->registers);
    f->registers.uc_stack.ss_sp = bottom;
    f->registers.uc_stack.ss_size = (size_t)(top - bottom);
    f->registers.uc_link = nullptr;
    makecontext(&f->registers, begin, 0);
}

void fiber_switch(fiber *from, fiber *to) {
    before_switch(from, to);
    swapcontext(&from->registers, &to->registers);
    after_switch(from);
}
#endif

fiber *fiber_make(void (*run)(void)) {
    static uint32_t made;
    fiber *f = (fiber *)calloc(1, sizeof *f);
    if (made == 0) {
        of_fibers.bytes = MAX_FIBERS * (size_t)(GUARD_BYTES + STACK_BYTES);
        of_fibers.bottom = (uint8_t *)mmap(nullptr, of_fibers.bytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    uint8_t *memory = of_fibers.bottom + (size_t)made * (GUARD_BYTES + STACK_BYTES);
    if (f == nullptr || of_fibers.bottom == MAP_FAILED || made == MAX_FIBERS ||
        mprotect(memory, GUARD_BYTES, PROT_NONE) != 0) {
        fprintf(stderr, "emulator: no memory for a stack\n");
        abort();
    }
    f->run = run;
    /* Tops at different places of a page: else all would meet in the same lines of the cache. */
    prepare(f, memory + GUARD_BYTES, memory + GUARD_BYTES + STACK_BYTES - (made++ % 32) * 128);
    return f;
}

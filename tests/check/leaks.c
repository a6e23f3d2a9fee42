/* Leaks are looked for while all threads are there. By itself LeakSanitizer looks after the OpenMP of LLVM has ended its
   threads, and dies ("Tracer caught signal 11") of one that the kernel still lists while its memory is gone: on a busy
   machine one test in twenty. What is registered by a constructor runs before shared libraries end. */
#include <sanitizer/lsan_interface.h>
#include <stdlib.h>

__attribute__((constructor)) static void look_before_threads_end(void) {
    atexit(__lsan_do_leak_check);
}

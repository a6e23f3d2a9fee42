/* A file under another name, one that is gone, and the caller's own handler of faults. */
#define _GNU_SOURCE /* sigsetjmp */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "changing_input_test.h"

/* Who maps a file keeps it when another takes its name: the result is that of the old one. */
void changing_replaced_by_name(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = NULL;
    uint64_t before = 0, after = 0;
    changing_input("a.las", false, false);
    assert_int_equal(mote_cloud_read(ctx, test_path("a.las"), NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_hash(ctx, cloud, &before), MOTE_OK);
    test_write_file(test_path("b.las"), "something else", 14);
    assert_int_equal(rename(test_path("b.las"), test_path("a.las")), 0);
    assert_int_equal(mote_cloud_check(cloud), MOTE_OK);
    assert_int_equal(mote_cloud_hash(ctx, cloud, &after), MOTE_OK);
    assert_true(before == after);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* What fails while an input is gone is the input's fault; without it the context works again. */
void changing_context_recovers(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = NULL;
    uint64_t hash = 0;
    changing_input("a.las", false, false);
    assert_int_equal(mote_cloud_read(ctx, test_path("a.las"), NULL, &cloud), MOTE_OK);
    assert_int_equal(truncate(test_path("a.las"), 5000), 0);
    assert_int_equal(mote_cloud_check(cloud), MOTE_ERROR_CHANGED);
    assert_non_null(strstr(mote_context_message(ctx), "a.las: offset 5000: the file became shorter"));
    mote_context_clear(ctx);
    assert_int_equal(mote_cloud_hash(ctx, cloud, &hash), MOTE_ERROR_CHANGED); /* still */
    mote_cloud_destroy(cloud);
    mote_context_clear(ctx);
    changing_input("a.las", false, false);
    assert_int_equal(mote_cloud_read(ctx, test_path("a.las"), NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_hash(ctx, cloud, &hash), MOTE_OK);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static sigjmp_buf back;
static volatile sig_atomic_t own_faults;

static void own_handler(int number, siginfo_t *info, void *machine) {
    (void)number;
    (void)info;
    (void)machine;
    own_faults++;
    siglongjmp(back, 1);
}

/* Faults of the caller's own mappings go to the caller's handler, before, while and after the library has its own. */
static void fault(const volatile char *memory) {
    const int before = own_faults;
    if (sigsetjmp(back, 1) == 0) {
        (void)memory[0];
        fail_msg("the page is there");
    }
    assert_int_equal(own_faults, before + 1);
}

void changing_handlers(void **state) {
    (void)state;
    struct sigaction ours = {.sa_sigaction = own_handler, .sa_flags = SA_SIGINFO}, before, now;
    mote_context *ctx = test_context(2);
    mote_cloud *clouds[2] = {NULL, NULL};
    uint64_t hash;
    changing_input("a.las", false, false);
    test_write_file(test_path("own"), "12345678", 8);
    const int file = open(test_path("own"), O_RDWR);
    const char *memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(sigaction(SIGBUS, &ours, &before), 0);
    fault(memory);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mote_cloud_read(ctx, test_path("a.las"), NULL, &clouds[i]), MOTE_OK);
        fault(memory);
    }
    assert_int_equal(truncate(test_path("a.las"), 9000), 0);
    assert_int_equal(mote_cloud_hash(ctx, clouds[1], &hash), MOTE_ERROR_CHANGED);
    for (int i = 0; i < 2; i++) {
        fault(memory);
        mote_cloud_destroy(clouds[i]);
    }
    assert_int_equal(sigaction(SIGBUS, NULL, &now), 0);
    assert_true(now.sa_sigaction == own_handler);
    fault(memory);
    sigaction(SIGBUS, &before, NULL);
    munmap((void *)(uintptr_t)memory, 4096);
    close(file);
    mote_context_destroy(ctx);
}

/* How much memory --memory auto means: of the machine, and of control groups of both versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "machine_memory.h"

/* Writes root/path with its folders. */
static void put(const char *root, const char *path, const char *text) {
    char name[1024];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0755);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static const char *new_root(const char *name) {
    static char root[512];
    snprintf(root, sizeof root, "./%s", name);
    put(root, "/proc/meminfo", "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:    8000000 kB\n");
    return root;
}

static void the_machine_alone(void **state) {
    (void)state;
    const char *root = new_root("machine_plain");
    assert_int_equal(machine_memory(root), 8000000ull * 1024 / 8 * 7);
    put(root, "/proc/self/cgroup", "0::/\n");
    assert_int_equal(machine_memory(root), 8000000ull * 1024 / 8 * 7);
    assert_int_equal(machine_memory("./machine_none"), 0); /* nothing is known */
    assert_true(machine_memory("") > 1u << 20);
}

/* The least of a group and those around it; a service that states none is bound by its slice. */
static void groups_of_version_2(void **state) {
    (void)state;
    const char *root = new_root("machine_two");
    put(root, "/proc/self/cgroup", "0::/user.slice/job.scope\n");
    put(root, "/sys/fs/cgroup/user.slice/memory.max", "1073741824\n");
    put(root, "/sys/fs/cgroup/user.slice/job.scope/memory.max", "max\n");
    assert_int_equal(machine_memory(root), 1073741824ull / 8 * 7);
    put(root, "/sys/fs/cgroup/user.slice/job.scope/memory.max", "536870912\n");
    assert_int_equal(machine_memory(root), 536870912ull / 8 * 7);
}

static void groups_of_version_1(void **state) {
    (void)state;
    const char *root = new_root("machine_one");
    put(root, "/proc/self/cgroup", "9:cpu:/slurm\n4:memory:/slurm/job_7/step_0\n0::/\n");
    put(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put(root, "/sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "268435456\n");
    put(root, "/sys/fs/cgroup/memory/slurm/job_7/step_0/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(machine_memory(root), 268435456ull / 8 * 7);
}

/* The path that a container is told may be that of the machine, whose groups it does not see: its own is the root. */
static void a_container(void **state) {
    (void)state;
    const char *root = new_root("machine_box");
    put(root, "/proc/self/cgroup", "4:memory:/docker/0123456789\n");
    put(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "134217728\n");
    assert_int_equal(machine_memory(root), 134217728ull / 8 * 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_alone),
        cmocka_unit_test(groups_of_version_2),
        cmocka_unit_test(groups_of_version_1),
        cmocka_unit_test(a_container),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

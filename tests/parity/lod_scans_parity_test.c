/* Octrees of real scans, of whatever format, types and extent: CPU = GPU. */
#define _GNU_SOURCE /* scandir, alphasort */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "parity/parity_support.h"

/* Files take these in turn, so that each meets many kinds of clouds. */
static const mote_lod_params rows[] = {
    {MOTE_LOD_ADDITIVE, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE, 128, 1000, 1u << 24, 0, false, {0}},
    {MOTE_LOD_REPLACING, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_GAUSSIAN, 16, 200, 0, 7, false, {0}},
    {MOTE_LOD_ADDITIVE, MOTE_LOD_FIRST, MOTE_LOD_FILTER_NONE, 8, 50, 0, 0, false, {0}},
    {MOTE_LOD_ADDITIVE, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NONE, 32, 300, 0, 1, false, {0}},
    {MOTE_LOD_REPLACING, MOTE_LOD_FIRST, MOTE_LOD_FILTER_NEIGHBORS, 32, 100, 0, 0, false, {0}},
    {MOTE_LOD_REPLACING, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_CELL, 64, 500, 0, 2, false, {0}},
};

static void compare(const parity_pair *on, const mote_cloud *cloud, const mote_lod_params *p, const char *path) {
    char why[PARITY_WHY_BYTES];
    mote_lod *cpu = NULL, *gpu = NULL;
    const mote_status right = mote_lod_build(on->cpu, cloud, p, &cpu);
    const mote_status status = mote_lod_build(on->cuda, cloud, p, &gpu);
    if (right != status) {
        fail_msg("%s: CPU \"%s\", GPU \"%s\"", path, mote_context_message(on->cpu), mote_context_message(on->cuda));
    }
    if (right == MOTE_OK && !parity_same_lods(cpu, gpu, p->filter != MOTE_LOD_FILTER_NONE, why)) {
        fail_msg("%s: %s", path, why);
    }
    mote_lod_destroy(cpu);
    mote_lod_destroy(gpu);
    mote_context_clear(on->cpu);
    mote_context_clear(on->cuda);
}

/* Returns whether the file was one to compare. */
static bool check_file(const parity_pair *on, const char *path, uint32_t number) {
    const uint64_t max = parity_extent(1100, 20000, 2000000);
    mote_cloud *cloud = NULL;
    const bool read = mote_cloud_read(on->cpu, path, NULL, &cloud) == MOTE_OK;
    mote_context_clear(on->cpu);
    const bool compared = read && mote_cloud_count(cloud) <= max && mote_cloud_find(cloud, "z") != NULL;
    for (uint32_t r = 0; r < 2 && compared; r++) {
        compare(on, cloud, &rows[(number + 3 * r) % (sizeof rows / sizeof rows[0])], path);
    }
    mote_cloud_destroy(cloud);
    return compared;
}

static void scans_are_the_same(void **state) {
    static const char *const folders[] = {"las", "laz", "ply", "pcd"};
    const parity_pair *on = *state;
    uint32_t number = 0;
    if (test_data("las") == NULL) skip();
    for (size_t f = 0; f < sizeof folders / sizeof folders[0]; f++) {
        char folder[4096], path[4500];
        struct dirent **entries = NULL;
        snprintf(folder, sizeof folder, "%s", test_data(folders[f]));
        const int count = scandir(folder, &entries, NULL, alphasort);
        assert_true(count > 0);
        for (int i = 0; i < count; i++) {
            snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
            if (entries[i]->d_name[0] != '.' && check_file(on, path, number)) number++;
            free(entries[i]);
        }
        free(entries);
    }
    print_message("%u real clouds compared\n", number);
    assert_true(number > 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {PARITY_TEST(scans_are_the_same)};
    return parity_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : PARITY_SKIPPED;
}

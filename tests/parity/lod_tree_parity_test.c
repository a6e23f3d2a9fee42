/* Octrees whose number of nodes nobody could guess, chains, and heaps that no octree can hold. */
#include <string.h>

#include "math/hash.h"
#include "parity/parity_support.h"

#define GROUP 11u /* points; each group is a path of nodes of its own, nearly down to single codes */

static mote_cloud *make_groups(mote_context *ctx, uint64_t groups) {
    static const char *const names[3] = {"x", "y", "z"};
    mote_column_spec specs[3];
    mote_cloud *cloud = NULL;
    memset(specs, 0, sizeof specs);
    for (int k = 0; k < 3; k++) {
        specs[k].name = names[k];
        specs[k].type = MOTE_INT32;
        specs[k].scale = 0.001;
    }
    assert_int_equal(mote_cloud_create(ctx, groups * GROUP, specs, 3, &cloud), MOTE_OK);
    const uint32_t stride_bytes = mote_cloud_column(cloud, 0)->stride_bytes;
    for (int k = 0; k < 3; k++) {
        uint8_t *column = mote_cloud_column_data(cloud, names[k]);
        for (uint64_t i = 0; i < groups * GROUP; i++) {
            const uint64_t group = i % groups, place = mote_hash_pair(group, (uint64_t)k) % (1u << 20);
            const int32_t of_group = (int32_t)(2 * place + (i / groups >> k & 1));
            const int32_t value = i == 0 ? 0 : i == 1 ? (1 << 21) - 1 : of_group; /* the box: a cell is a unit */
            memcpy(column + i * stride_bytes, &value, sizeof value);
        }
    }
    return cloud;
}

static void compare(const parity_pair *on, const mote_cloud *cloud, const mote_lod_params *p, uint64_t nodes) {
    char why[PARITY_WHY_BYTES];
    mote_lod *a = NULL, *b = NULL;
    assert_int_equal(mote_lod_build(on->cpu, cloud, p, &a), MOTE_OK);
    if (mote_lod_build(on->cuda, cloud, p, &b) != MOTE_OK) fail_msg("%s", mote_context_message(on->cuda));
    if (!parity_same_lods(a, b, false, why)) fail_msg("merge %u: %s", p->merge_points, why);
    assert_true(a->node_count >= nodes);
    mote_lod_destroy(a);
    mote_lod_destroy(b);
}

/* The GPU takes room for a guess of 4,096 and 16 nodes for each merge_points; here are more. */
static void nodes_find_more_room(void **state) {
    const parity_pair *on = *state;
    const uint64_t groups = parity_extent(700, 700, 20000);
    mote_cloud *cloud = make_groups(on->cpu, groups);
    mote_lod_params p = mote_lod_defaults();
    p.merge_points = GROUP - 1;
    compare(on, cloud, &p, 4096 + 16 * (groups * GROUP / p.merge_points) + 1);
    mote_cloud_destroy(cloud);
}

/* Chains of nodes below many leaves; and one that is longer than may be. */
static void chains_are_the_same(void **state) {
    const parity_pair *on = *state;
    mote_cloud *cloud = awkward_cloud_make(on->cpu, awkward_cloud_named("heap of duplicates"), 600, 0);
    mote_lod_params p = mote_lod_defaults();
    for (p.max_node_points = 5; p.max_node_points <= 125; p.max_node_points *= 5) compare(on, cloud, &p, 2);
    p.max_node_points = 1;
    mote_lod *a = NULL, *b = NULL;
    assert_int_equal(mote_lod_build(on->cpu, cloud, &p, &a), MOTE_ERROR_UNSUPPORTED);
    assert_int_equal(mote_lod_build(on->cuda, cloud, &p, &b), MOTE_ERROR_UNSUPPORTED);
    assert_string_equal(mote_context_message(on->cpu), mote_context_message(on->cuda));
    p.max_node_points = 20;
    p.scheme = MOTE_LOD_REPLACING;
    mote_context_clear(on->cpu);
    mote_context_clear(on->cuda);
    assert_int_equal(mote_lod_build(on->cpu, cloud, &p, &a), MOTE_ERROR_UNSUPPORTED);
    assert_int_equal(mote_lod_build(on->cuda, cloud, &p, &b), MOTE_ERROR_UNSUPPORTED);
    assert_string_equal(mote_context_message(on->cpu), mote_context_message(on->cuda));
    mote_cloud_destroy(cloud);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PARITY_TEST(nodes_find_more_room),
        PARITY_TEST(chains_are_the_same),
    };
    return parity_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : PARITY_SKIPPED;
}

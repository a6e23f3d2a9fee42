/* Normals, density and outliers against the reference: every awkward cloud, every kind of neighbourhood and
   direction. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reference/awkward_clouds.h"
#include "reference/normals_reference.h"
#include "support/support.h"

static const int thread_counts[] = {1, 2, 7};

static void check(mote_context *ctx, const mote_cloud *cloud, const mote_normals_params *p, const char *name) {
    char what[256];
    snprintf(what, sizeof what, "%s, %llu points, k %u, radius %g, direction %d, %d threads", name,
             (unsigned long long)mote_cloud_count(cloud), p->k, p->radius, (int)p->orient, mote_context_threads(ctx));
    if (p->orient == MOTE_ORIENT_PROPAGATE) {
        normals_reference_check_propagate(ctx, cloud, p, what);
    } else {
        normals_reference_check(ctx, cloud, p, what);
    }
}

static void estimates_from_the_nearest(void **state) {
    (void)state;
    static const uint32_t ks[] = {3, 4, 8, 11, 13, 16, 40};
    static const uint64_t sizes[] = {0, 1, 2, 3, 4, 8, 9, 17, 65, 250};
    uint32_t turn = 0;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            mote_context *ctx = test_context(thread_counts[turn % 3]);
            mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], sizes[s], 0);
            for (uint32_t i = turn % 2; i < sizeof ks / sizeof ks[0]; i += 2) {
                mote_normals_params p = mote_normals_defaults();
                p.k = ks[i];
                p.orient = i % 3 == 0 ? MOTE_ORIENT_UP : i % 3 == 1 ? MOTE_ORIENT_VIEWPOINT : MOTE_ORIENT_NONE;
                p.viewpoint[i % 3] = 5e5;
                check(ctx, cloud, &p, awkward_clouds[c].name);
            }
            turn++;
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
    }
}

static void estimates_within_a_radius(void **state) {
    (void)state;
    static const double parts[] = {1e-9, 0.05, 0.2, 3};
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_context *ctx = test_context(thread_counts[c % 3]);
        mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], test_extent(120, 300), 0);
        for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            mote_normals_params p = mote_normals_defaults();
            p.radius = parts[i] * awkward_cloud_size(&awkward_clouds[c]);
            p.k = 0;
            check(ctx, cloud, &p, awkward_clouds[c].name);
            p.k = 12 + c;
            check(ctx, cloud, &p, awkward_clouds[c].name);
        }
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

static void propagates_along_the_tree(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 1, 5, 40, 200};
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            mote_context *ctx = test_context(thread_counts[(c + s) % 3]);
            mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], sizes[s], 0);
            mote_normals_params p = mote_normals_defaults();
            p.k = 3 + (c + 3 * s) % 12;
            p.orient = MOTE_ORIENT_PROPAGATE;
            p.graph_k = 1 + (c + 5 * s) % 9;
            check(ctx, cloud, &p, awkward_clouds[c].name);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
    }
}

static void finds_outliers(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 3, 9, 200};
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            mote_context *ctx = test_context(thread_counts[(c + s) % 3]);
            mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], sizes[s], 0);
            mote_outliers_params p = mote_outliers_defaults();
            p.k = 1 + (c + 3 * s) % 17;
            p.sigmas = (double)(c % 5) * 0.5;
            normals_reference_check_outliers(ctx, cloud, &p, awkward_clouds[c].name);
            p.method = MOTE_OUTLIERS_RADIUS;
            p.min_neighbors = 1 + (c + s) % 14;
            p.radius = 0.1 * awkward_cloud_size(&awkward_clouds[c]);
            normals_reference_check_outliers(ctx, cloud, &p, awkward_clouds[c].name);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_from_the_nearest),
        cmocka_unit_test(estimates_within_a_radius),
        cmocka_unit_test(propagates_along_the_tree),
        cmocka_unit_test(finds_outliers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

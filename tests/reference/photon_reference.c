/* Photon mapping, naively. */
#include "reference/photon_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photon/photon_ray.h"
#include "support/support.h"

static double next_in(photon_random *random, double low, double high) {
    return low + (high - low) * photon_next(random);
}

mote_scene *photon_reference_scene(mote_context *ctx, uint32_t shapes, uint64_t seed) {
    photon_random random = photon_random_of(seed, 100, shapes);
    const uint32_t spheres = shapes / 3, triangles = shapes - spheres;
    double *positions = malloc(9 * triangles * sizeof *positions);
    uint32_t *corners = malloc(3 * triangles * sizeof *corners);
    mote_sphere *balls = calloc(spheres + 1, sizeof *balls);
    mote_material material;
    mote_scene_params p;
    mote_scene *scene = NULL;
    memset(&material, 0, sizeof material);
    memset(&p, 0, sizeof p);
    for (uint32_t i = 0; i < triangles; i++) {
        double middle[3];
        for (int k = 0; k < 3; k++) middle[k] = next_in(&random, -1, 1);
        for (uint32_t j = 0; j < 3; j++) {
            corners[3 * i + j] = i % 8 == 7 ? 3 * i : 3 * i + j;
            for (uint32_t k = 0; k < 3; k++) { positions[9 * i + 3 * j + k] = middle[k] + next_in(&random, -0.3, 0.3); }
        }
    }
    for (uint32_t i = 0; i < spheres; i++) {
        for (int k = 0; k < 3; k++) balls[i].center[k] = next_in(&random, -1, 1);
        balls[i].radius = next_in(&random, 0.01, 0.3);
    }
    p.positions = positions;
    p.position_count = 3ull * triangles;
    p.triangles = corners;
    p.triangle_count = triangles;
    p.spheres = balls;
    p.sphere_count = spheres;
    p.materials = &material;
    p.material_count = 1;
    assert_int_equal(mote_scene_create(ctx, &p, &scene), MOTE_OK);
    free(balls);
    free(corners);
    free(positions);
    return scene;
}

/* Moeller and Trumbore 1997: another method than the one under test. */
static double meet_triangle(const photon_shape *s, photon_vec origin, photon_vec direction) {
    const photon_vec e = photon_sub(s->b, s->a), f = photon_sub(s->c, s->a), p = photon_cross(direction, f);
    const double det = photon_dot(e, p);
    if (det == 0) return PHOTON_FAR;
    const photon_vec from = photon_sub(origin, s->a), q = photon_cross(from, e);
    const double u = photon_dot(from, p) / det, v = photon_dot(direction, q) / det;
    return u < 0 || v < 0 || u + v > 1 ? PHOTON_FAR : photon_dot(f, q) / det;
}

static double meet_sphere(const photon_shape *s, photon_vec origin, photon_vec direction, double near_t) {
    const photon_vec from = photon_sub(origin, s->a);
    const double b = photon_dot(from, direction), c = photon_dot(from, from) - s->b.x * s->b.x, d = b * b - c;
    if (d < 0) return PHOTON_FAR;
    return -b - sqrt(d) > near_t ? -b - sqrt(d) : -b + sqrt(d);
}

static double nearest(const photon_view *view, photon_vec origin, photon_vec direction) {
    double best = PHOTON_FAR;
    for (uint32_t i = 0; i < view->shape_count; i++) {
        const photon_shape *s = &view->shapes[i];
        const double t =
            s->is_sphere ? meet_sphere(s, origin, direction, view->near_t) : meet_triangle(s, origin, direction);
        if (t > view->near_t && t < best) best = t;
    }
    return best;
}

void photon_reference_check_rays(mote_scene *scene, uint32_t rays, uint64_t seed) {
    photon_random random = photon_random_of(seed, 101, 0);
    for (uint32_t i = 0; i < rays; i++) {
        const photon_vec origin =
            photon_vec_of(next_in(&random, -2, 2), next_in(&random, -2, 2), next_in(&random, -2, 2));
        photon_vec direction = photon_around(photon_vec_of(0, 0, 1), next_in(&random, -1, 1), photon_next(&random));
        if (i % 10 == 0) direction = photon_vec_of(i % 20 == 0, 0, i % 20 != 0); /* along an axis */
        const double expected = nearest(&scene->view, origin, direction);
        const photon_hit hit = photon_trace(&scene->view, origin, direction);
        if (expected == PHOTON_FAR ? hit.shape != PHOTON_NO_SHAPE : fabs(hit.t - expected) > 1e-9) {
            fail_msg("ray %u of %u shapes: %g, expected %g", i, scene->view.shape_count, hit.t, expected);
        }
        if (hit.shape != PHOTON_NO_SHAPE) {
            assert_true(photon_dot(hit.normal, direction) <= 0);
            assert_true(photon_is_shadowed(&scene->view, origin, direction, hit.t + 1e-6));
            assert_false(photon_is_shadowed(&scene->view, origin, direction, hit.t - 1e-6));
        }
    }
}

/* ---- gathering */

typedef struct near_photon {
    double square;
    uint64_t row;
    bool front;
} near_photon;

static int by_distance(const void *a, const void *b) {
    const near_photon *x = a, *y = b;
    if (x->square != y->square) return x->square < y->square ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

static double value(const mote_cloud *cloud, const char *name, uint64_t i) {
    return mote_column_value(mote_cloud_find(cloud, name), i);
}

static photon_vec vec(const mote_cloud *cloud, const char *x, const char *y, const char *z, uint64_t i) {
    return photon_vec_of(value(cloud, x, i), value(cloud, y, i), value(cloud, z, i));
}

static double weight_of(mote_photon_filter filter, double part) {
    return filter == MOTE_PHOTON_FILTER_NONE   ? 1
           : filter == MOTE_PHOTON_FILTER_CONE ? 3 - 3 * part
                                               : 2 - 2 * part * part;
}

/* All photons by distance; of the nearest 1024 those in front; of these k. */
static void gather(const mote_cloud *photons, photon_vec place, photon_vec normal, const mote_photon_gathering *g,
                   near_photon *list, double irradiance[3]) {
    const uint64_t count = mote_cloud_count(photons);
    uint64_t within = 0, found = 0;
    for (uint64_t i = 0; i < count; i++) {
        const photon_vec d = photon_sub(vec(photons, "x", "y", "z", i), place);
        const double along = photon_dot(d, normal);
        near_photon one = {photon_dot(d, d) + (g->compression * g->compression - 1) * along * along, i, false};
        one.front = one.square > 0 && /* the photon at the place itself does not count */
                    photon_dot(vec(photons, "direction_x", "direction_y", "direction_z", i), normal) < 0;
        if (g->radius == 0 || one.square <= g->radius * g->radius) list[within++] = one;
    }
    qsort(list, within, sizeof *list, by_distance);
    within = within < MOTE_KNN_MAX_K ? within : MOTE_KNN_MAX_K;
    for (uint64_t i = 0; i < within && found < g->k; i++) {
        if (list[i].front) list[found++] = list[i];
    }
    irradiance[0] = irradiance[1] = irradiance[2] = 0;
    const bool by_radius = found < g->k && g->radius > 0;
    if (!by_radius && found < 2) return;
    const double square = by_radius ? g->radius * g->radius : list[found - 1].square;
    for (uint64_t i = 0; i < (by_radius ? found : found - 1); i++) {
        const double weight = weight_of(g->filter, sqrt(list[i].square / square)) / (PHOTON_PI * square);
        irradiance[0] += weight * value(photons, "power_red", list[i].row);
        irradiance[1] += weight * value(photons, "power_green", list[i].row);
        irradiance[2] += weight * value(photons, "power_blue", list[i].row);
    }
}

void photon_reference_check_gather(mote_context *ctx, mote_photon_map *map, const mote_photon_gathering *g,
                                   uint32_t places) {
    static const mote_column_spec specs[] = {{"x", MOTE_FLOAT32, 1, 0},        {"y", MOTE_FLOAT32, 1, 0},
                                             {"z", MOTE_FLOAT32, 1, 0},        {"normal_x", MOTE_FLOAT32, 1, 0},
                                             {"normal_y", MOTE_FLOAT32, 1, 0}, {"normal_z", MOTE_FLOAT32, 1, 0}};
    const mote_cloud *photons = mote_photon_cloud(map);
    const uint64_t count = mote_cloud_count(photons);
    near_photon *list = malloc(count * sizeof *list);
    float *irradiance = malloc(3 * places * sizeof *irradiance);
    mote_cloud *queries = NULL;
    assert_int_equal(mote_cloud_create(ctx, places, specs, 6, &queries), MOTE_OK);
    for (uint32_t i = 0; i < places; i++) {
        for (uint32_t k = 0; k < 6; k++) {
            float v = (float)value(photons, specs[k].name, (uint64_t)i * 37 % count);
            if (k < 3 && i % 2 == 1) v += 0.01f * (float)k;
            const mote_column *column = mote_cloud_find(queries, specs[k].name);
            memcpy((char *)mote_cloud_column_data(queries, specs[k].name) + (uint64_t)i * column->stride_bytes, &v, 4);
        }
    }
    assert_int_equal(mote_photon_gather(map, queries, g, irradiance), MOTE_OK);
    for (uint32_t i = 0; i < places; i++) {
        double expected[3];
        gather(photons, vec(queries, "x", "y", "z", i), vec(queries, "normal_x", "normal_y", "normal_z", i), g, list,
               expected);
        for (int k = 0; k < 3; k++) {
            const double got = (double)irradiance[3 * i + (uint32_t)k];
            if (fabs(got - expected[k]) > 1e-5 * expected[k] + 1e-12) {
                fail_msg("place %u, k %u, c %g, radius %g, filter %d: %g, expected %g", i, g->k, g->compression,
                         g->radius, (int)g->filter, got, expected[k]);
            }
        }
    }
    mote_cloud_destroy(queries);
    free(irradiance);
    free(list);
}

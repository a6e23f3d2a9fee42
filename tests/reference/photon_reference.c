/* Photon mapping, naively. */
#include "reference/photon_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photon/gather/photon_cut.h"
#include "photon/photon_map.h"
#include "photon/scene/photon_clear.h"
#include "support/support.h"

static double next_in(photon_random *random, double low, double high) {
    return low + (high - low) * photon_next(random);
}

mote_scene *photon_reference_scene(mote_context *ctx, uint32_t triangles, uint32_t spheres, double size,
                                   uint64_t seed) {
    photon_random random = photon_random_of(seed, 100, triangles + spheres);
    double *positions = malloc(9 * triangles * sizeof *positions + 1);
    uint32_t *corners = malloc(3 * triangles * sizeof *corners + 1);
    mote_sphere *balls = calloc(spheres + 1, sizeof *balls);
    mote_material material;
    mote_scene_params p;
    mote_scene *scene = NULL;
    memset(&material, 0, sizeof material);
    memset(&p, 0, sizeof p);
    for (uint32_t i = 0; i < triangles; i++) {
        double middle[3];
        for (int k = 0; k < 3; k++) middle[k] = next_in(&random, -size, size);
        for (uint32_t j = 0; j < 3; j++) {
            corners[3 * i + j] = i % 8 == 7 ? 3 * i : 3 * i + j;
            for (uint32_t k = 0; k < 3; k++) {
                positions[9 * i + 3 * j + k] = middle[k] + next_in(&random, -0.3 * size, 0.3 * size);
            }
        }
        if (triangles > 16 && i % 8 == 3) memcpy(positions + 9 * i, positions + 9 * (i - 1), 9 * sizeof *positions);
    }
    for (uint32_t i = 0; i < spheres; i++) {
        for (int k = 0; k < 3; k++) balls[i].center[k] = next_in(&random, -size, size);
        balls[i].radius = next_in(&random, 0.01 * size, 0.3 * size);
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

/* Whether a triangle in front of this one is the same. */
static bool is_second(const photon_view *view, uint32_t shape) {
    for (uint32_t i = 0; i < shape; i++) {
        if (memcmp(&view->shapes[i], &view->shapes[shape], sizeof *view->shapes) == 0) return true;
    }
    return false;
}

/* Where shapes are few, looking at all of them finds what the tree does. */
static void check_scan(const photon_view *view, photon_vec origin, photon_vec direction, const photon_hit *hit) {
    photon_view scanned = *view;
    photon_scan_if_few(&scanned);
    const photon_hit other = photon_trace(&scanned, origin, direction);
    assert_true(other.shape == hit->shape && other.front == hit->front);
    assert_memory_equal(&other.t, &hit->t, sizeof hit->t);
    assert_true(photon_is_shadowed(&scanned, origin, direction, 1) == photon_is_shadowed(view, origin, direction, 1));
}

void photon_reference_check_rays(mote_scene *scene, uint32_t rays, double size, uint64_t seed) {
    photon_random random = photon_random_of(seed, 101, 0);
    for (uint32_t i = 0; i < rays; i++) {
        const photon_vec at = photon_vec_of(next_in(&random, -2, 2), next_in(&random, -2, 2), next_in(&random, -2, 2));
        const photon_vec origin = photon_scale(at, size);
        photon_vec direction = photon_around(photon_vec_of(0, 0, 1), next_in(&random, -1, 1), photon_next(&random));
        if (i % 10 == 0) direction = photon_vec_of(i % 20 == 0, 0, i % 20 != 0); /* along an axis */
        const double expected = nearest(&scene->view, origin, direction);
        const photon_hit hit = photon_trace(&scene->view, origin, direction);
        check_scan(&scene->view, origin, direction, &hit);
        if (expected == PHOTON_FAR ? hit.shape != PHOTON_NO_SHAPE : fabs(hit.t - expected) > 1e-9 * size) {
            fail_msg("ray %u of %u shapes: %g, expected %g", i, scene->view.shape_count, hit.t, expected);
        }
        if (hit.shape != PHOTON_NO_SHAPE) {
            assert_false(is_second(&scene->view, hit.shape));
            assert_true(photon_dot(hit.normal, direction) <= 0);
            assert_true(photon_is_shadowed(&scene->view, origin, direction, hit.t + 1e-6 * size));
            assert_false(photon_is_shadowed(&scene->view, origin, direction, hit.t - 1e-6 * size));
        }
    }
}

/* Rays from one of the ends to another: all are within the box around them, and above the plane below them. */
static void check_span(const photon_view *view, const photon_vec ends[4]) {
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t j = 0; j < 4; j++) {
            const photon_vec way = photon_sub(ends[j], ends[i]);
            const double length = photon_length(way);
            if (!(length > 2 * view->near_t)) continue;
            assert_false(photon_is_shadowed(view, ends[i], photon_scale(way, 1 / length), length));
        }
    }
}

uint32_t photon_reference_check_free(mote_scene *scene, uint32_t spans, double size, uint64_t seed) {
    photon_random random = photon_random_of(seed, 102, 0);
    photon_view scanned = scene->view;
    uint32_t free_spans = 0;
    photon_scan_if_few(&scanned);
    for (uint32_t i = 0; i < spans; i++) {
        const photon_shape *const shape =
            &scene->view.shapes[i % scene->view.shape_count]; /* near it, above it or not */
        const photon_vec up = photon_around(photon_vec_of(0, 0, 1), next_in(&random, -1, 1), photon_next(&random));
        const double reach = size * pow(0.1, next_in(&random, 0, 5));
        photon_vec ends[4];
        for (uint32_t j = 0; j < 4; j++) {
            const photon_vec away =
                photon_vec_of(next_in(&random, -1, 1), next_in(&random, -1, 1), next_in(&random, -1, 1));
            ends[j] = photon_along(photon_along(shape->a, up, 1.5 * reach), away, reach);
        }
        const photon_span span = photon_span_of(&scene->view, ends, 4, up);
        const bool is_free = photon_is_free(&scene->view, &span);
        assert_true(is_free == photon_is_free(&scanned, &span));
        if (is_free) check_span(&scene->view, ends);
        free_spans += is_free;
    }
    return free_spans;
}

/* ---- areas */

/* Sums over small pieces of a surface what the filter weighs of those whose middles lie in the ellipsoid. */
static double piece_part(const photon_ellipsoid *e, photon_vec middle, double area) {
    const photon_vec d = photon_scale(photon_sub(middle, e->place), e->per_radius);
    const double along = photon_dot(d, e->normal);
    const double square = photon_dot(d, d) + (e->compression * e->compression - 1) * along * along;
    if (square > 1) return 0;
    const double weight = e->filter == MOTE_PHOTON_FILTER_NONE   ? 1
                          : e->filter == MOTE_PHOTON_FILTER_CONE ? 3 - 3 * sqrt(square)
                                                                 : 2 - 2 * square;
    return weight * area * e->per_radius * e->per_radius / PHOTON_PI;
}

/* side² triangles of the same size. */
/* cut: what it does not keep does not count; NULL: all does */
static double naive_triangle(const photon_ellipsoid *e, const photon_shape *s, int side, const photon_cut *cut) {
    const photon_vec u = photon_sub(s->b, s->a), v = photon_sub(s->c, s->a), across = photon_cross(u, v);
    const double area = photon_length(across) / 2 / (side * side);
    double sum = 0;
    const double along = photon_dot(photon_unit(across), e->normal);
    const photon_vec facing = photon_scale(photon_unit(across), along < 0 ? -1 : 1);
    if (!(fabs(along) > 0.5)) return 0;
    for (int i = 0; i < side; i++) {
        for (int j = 0; j < 2 * (side - i) - 1; j++) {
            const int column = j / 2;
            const double third = (j % 2 == 0 ? 1 : 2) / 3.0, at_u = (column + third) / side, at_v = (i + third) / side;
            const photon_vec at = photon_along(photon_along(s->a, u, at_u), v, at_v);
            if (cut == NULL || photon_cut_keeps(cut, at, facing)) sum += piece_part(e, at, area);
        }
    }
    return sum;
}

/* Patches of a sphere, by height along the normal, as far as the ellipsoid reaches, and by the turn around it. */
static double naive_sphere(const photon_ellipsoid *e, const photon_shape *s, int side) {
    const double radius = s->b.x * e->per_radius, range = fmin(0.51 / (radius * radius), 0.5);
    double sum = 0;
    for (int i = 0; i < side; i++) {
        for (int j = 0; j < side; j++) {
            const double cosine = 1 - range * (i + 0.5) / side;
            const photon_vec out = photon_around(e->normal, cosine, (j + 0.5) / side);
            const double area = 2 * PHOTON_PI * s->b.x * s->b.x * range / ((double)side * side);
            sum += piece_part(e, photon_along(s->a, out, s->b.x), area);
        }
    }
    return sum;
}

static double naive_part(const photon_view *view, const photon_ellipsoid *e, int side, const photon_cut *cut) {
    double sum = 0;
    for (uint32_t i = 0; i < view->shape_count; i++) {
        const photon_shape *s = &view->shapes[i];
        sum += s->is_sphere ? naive_sphere(e, s, side) : naive_triangle(e, s, side, cut);
    }
    return sum > 0 ? fmin(fmax(sum, PHOTON_AREA_MIN), 1) : 1;
}

void photon_reference_check_area(mote_scene *scene, uint32_t places, uint64_t seed) {
    photon_random random = photon_random_of(seed, 102, 0);
    const photon_view *view = &scene->view;
    for (uint32_t i = 0; i < places; i++) {
        const photon_shape *s = &view->shapes[i * 7 % view->shape_count];
        photon_vec normal = photon_around(photon_vec_of(0, 0, 1), next_in(&random, -1, 1), photon_next(&random));
        photon_vec place = photon_along(s->a, normal, s->b.x);
        if (!s->is_sphere) {
            const double u = photon_next(&random), v = photon_next(&random) * (1 - u);
            const photon_vec ab = photon_sub(s->b, s->a), ac = photon_sub(s->c, s->a);
            normal = photon_unit(photon_cross(ab, ac));
            if (!(photon_length(normal) > 0)) continue;
            if (i % 2 == 0) normal = photon_scale(normal, -1);
            place = photon_along(photon_along(s->a, ab, i % 5 == 0 ? 0 : u), ac, i % 10 == 0 ? 0 : v);
        }
        const double c = i % 3 == 0 ? 1 : next_in(&random, 1, 9), radius = next_in(&random, 0.02, 0.5);
        const photon_ellipsoid e = photon_ellipsoid_of(place, normal, c, radius, (mote_photon_filter)(i % 3));
        photon_cut cut;
        const double got = photon_seen_part(view, &e, &cut);
        const double expected = naive_part(view, &e, 300, cut.matters ? &cut : NULL);
        if (fabs(got - expected) > 0.004) {
            fail_msg("place %u of %u shapes, c %g, radius %g, filter %d, %u planes: %g, expected %g", i,
                     view->shape_count, c, radius, (int)e.filter, cut.matters ? cut.count : 0, got, expected);
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

/* All photons by distance; of the nearest 1024 those that count; of these k. The part that is surface is that of the
   library, which photon_reference_check_area looks at, and so is what walls cut off. error: by how much irradiance may
   be off, since weights are right within some 2^-20. */
static void gather(const photon_view *view, const mote_cloud *photons, photon_vec place, photon_vec normal,
                   const mote_photon_gathering *g, near_photon *list, double irradiance[3], double error[3]) {
    const uint64_t count = mote_cloud_count(photons);
    uint64_t within = 0, found = 0;
    for (uint64_t i = 0; i < count; i++) {
        const photon_vec d = photon_sub(vec(photons, "x", "y", "z", i), place);
        const double along = photon_dot(d, normal);
        near_photon one = {photon_dot(d, d) + (g->compression * g->compression - 1) * along * along, i, false};
        const photon_vec of = vec(photons, "normal_x", "normal_y", "normal_z", i),
                         direction = vec(photons, "direction_x", "direction_y", "direction_z", i);
        one.front =
            one.square > 0 && /* the photon at the place itself does not count */
            (g->area == MOTE_PHOTON_AREA_DISC ? photon_dot(direction, normal) < 0 : photon_dot(of, normal) > 0.5);
        if (g->radius == 0 || one.square <= g->radius * g->radius) list[within++] = one;
    }
    qsort(list, within, sizeof *list, by_distance);
    within = within < MOTE_KNN_MAX_K ? within : MOTE_KNN_MAX_K;
    for (uint64_t i = 0; i < within && found < g->k; i++) {
        if (list[i].front) list[found++] = list[i];
    }
    for (int k = 0; k < 3; k++) irradiance[k] = error[k] = 0;
    const bool by_radius = found < g->k && g->radius > 0;
    if (!by_radius && found < 2) return;
    const double square = by_radius ? g->radius * g->radius : list[found - 1].square;
    const photon_ellipsoid e = photon_ellipsoid_of(place, normal, g->compression, sqrt(square), g->filter);
    photon_cut cut = {.matters = false};
    const double part = g->area == MOTE_PHOTON_AREA_DISC ? 1 : photon_seen_part(view, &e, &cut);
    for (uint64_t i = 0; i < (by_radius ? found : found - 1); i++) {
        const photon_vec at = vec(photons, "x", "y", "z", list[i].row),
                         facing = vec(photons, "normal_x", "normal_y", "normal_z", list[i].row);
        if (cut.matters && !photon_cut_keeps(&cut, at, facing)) continue;
        const double weight = weight_of(g->filter, sqrt(list[i].square / square)) / (PHOTON_PI * square * part);
        static const char *const powers[3] = {"power_red", "power_green", "power_blue"};
        for (int k = 0; k < 3; k++) {
            const double power = value(photons, powers[k], list[i].row);
            irradiance[k] += weight * power;
            error[k] += 1e-6 * power / (PHOTON_PI * square * part);
        }
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
        double expected[3], error[3];
        gather(&map->scene->view, photons, vec(queries, "x", "y", "z", i),
               vec(queries, "normal_x", "normal_y", "normal_z", i), g, list, expected, error);
        for (int k = 0; k < 3; k++) {
            const double got = (double)irradiance[3 * i + (uint32_t)k];
            if (fabs(got - expected[k]) > 1e-5 * expected[k] + error[k] + 1e-12) {
                fail_msg("place %u, k %u, c %g, radius %g, filter %d: %g, expected %g", i, g->k, g->compression,
                         g->radius, (int)g->filter, got, expected[k]);
            }
        }
    }
    mote_cloud_destroy(queries);
    free(irradiance);
    free(list);
}

mote_photon_map *photon_reference_map(mote_scene *scene, uint64_t photons, uint64_t seed) {
    mote_photon_emission emission = mote_photon_emission_defaults();
    mote_photon_map *map = NULL;
    emission.photons = photons;
    emission.seed = seed;
    assert_int_equal(mote_photon_emit(scene, &emission, &map), MOTE_OK);
    return map;
}

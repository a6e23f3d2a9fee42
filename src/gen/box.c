/* Box: a photon map. Photons leave a square light in the ceiling of a unit box with two spheres in it, downwards by
   Lambert's law, and at each surface stay or go on, also by Lambert's law: so they are dense where the light is near,
   and sparse on the ceiling and below the spheres. Each has the normal of its surface, into the box. A point hangs on
   its own number alone, and on + - * / and sqrt: the same bytes everywhere. */
#include <math.h>

#include "gen/gen_internal.h"

#define SPHERES    2
#define LIGHT_SIDE 0.3
#define STAYS      0.6 /* probability, at each surface */
#define BOUNCES    8   /* after this many it stays for sure */

static const double centers[SPHERES][3] = {{0.29, 0.66, 0.2}, {0.7, 0.33, 0.17}};
static const double radii[SPHERES] = {0.2, 0.17};

typedef struct box {
    uint64_t seed;
    float *normals[3];
} box;

typedef struct photon {
    double at[3], normal[3];
} photon;

/* A direction around a normal, by Lambert's law: above a uniform point of the unit disc (Malley). */
static void draw_direction(gen_stream *stream, const double normal[3], double way[3]) {
    double u, v, rest;
    do {
        u = 2 * gen_unit(stream) - 1;
        v = 2 * gen_unit(stream) - 1;
        rest = 1 - (u * u + v * v);
    } while (rest <= 0);
    /* Two axes across the normal, without a case where they vanish (Duff et al. 2017). */
    const double sign = normal[2] < 0 ? -1 : 1, a = -1 / (sign + normal[2]), b = normal[0] * normal[1] * a;
    const double first[3] = {1 + sign * normal[0] * normal[0] * a, sign * b, -sign * normal[0]};
    const double second[3] = {b, sign + normal[1] * normal[1] * a, -normal[1]};
    for (int k = 0; k < 3; k++) way[k] = u * first[k] + v * second[k] + sqrt(rest) * normal[k];
}

/* How far it is along a way to a sphere, from outside; infinite if it is not met. */
static double to_sphere(int i, const double from[3], const double way[3]) {
    double along = 0, away = -radii[i] * radii[i];
    for (int k = 0; k < 3; k++) {
        const double d = centers[i][k] - from[k];
        along += d * way[k];
        away += d * d;
    }
    const double root = along * along - away; /* the way has unit length */
    return along > 0 && away > 0 && root > 0 ? along - sqrt(root) : INFINITY;
}

static double to_wall(int axis, const double from[3], const double way[3]) {
    if (way[axis] == 0) return INFINITY;
    return ((way[axis] > 0 ? 1 : 0) - from[axis]) / way[axis];
}

static void land_on_wall(int axis, bool far, photon *p) {
    for (int k = 0; k < 3; k++) {
        p->normal[k] = 0;
        p->at[k] = p->at[k] < 0 ? 0 : p->at[k] > 1 ? 1 : p->at[k];
    }
    p->normal[axis] = far ? -1 : 1;
    p->at[axis] = far ? 1 : 0;
}

static void land_on_sphere(int i, photon *p) {
    double square = 0;
    for (int k = 0; k < 3; k++) square += (p->at[k] - centers[i][k]) * (p->at[k] - centers[i][k]);
    for (int k = 0; k < 3; k++) p->normal[k] = (p->at[k] - centers[i][k]) / sqrt(square);
}

/* Lets a photon fly on to the next surface. */
static void fly(gen_stream *stream, photon *p) {
    double way[3], nearest = INFINITY;
    int axis = 0, sphere = -1;
    draw_direction(stream, p->normal, way);
    for (int k = 0; k < 3; k++) {
        const double distance = to_wall(k, p->at, way);
        axis = distance < nearest ? k : axis;
        nearest = distance < nearest ? distance : nearest;
    }
    for (int i = 0; i < SPHERES; i++) {
        const double distance = to_sphere(i, p->at, way);
        sphere = distance < nearest ? i : sphere;
        nearest = distance < nearest ? distance : nearest;
    }
    for (int k = 0; k < 3; k++) p->at[k] += nearest * way[k];
    if (sphere >= 0) {
        land_on_sphere(sphere, p);
    } else {
        land_on_wall(axis, way[axis] > 0, p);
    }
}

static photon trace(gen_stream *stream) {
    photon p = {{0, 0, 1}, {0, 0, -1}};
    for (int k = 0; k < 2; k++) p.at[k] = 0.5 + LIGHT_SIDE * (gen_unit(stream) - 0.5);
    for (int bounce = 0; bounce < BOUNCES; bounce++) {
        fly(stream, &p);
        if (gen_unit(stream) < STAYS) break;
    }
    return p;
}

static void fill_box(const void *user, uint64_t first, uint64_t count, float *xyz) {
    const box *shape = user;
    for (uint64_t i = 0; i < count; i++) {
        gen_stream stream = gen_stream_at(mote_hash_pair(shape->seed, first + i), 0);
        const photon p = trace(&stream);
        for (uint64_t k = 0; k < 3; k++) {
            xyz[3 * i + k] = (float)p.at[k];
            shape->normals[k][first + i] = (float)p.normal[k];
        }
    }
}

mote_status gen_box(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out) {
    static const mote_column_spec specs[3] = {
        {"normal_x", MOTE_FLOAT32, 0, 0}, {"normal_y", MOTE_FLOAT32, 0, 0}, {"normal_z", MOTE_FLOAT32, 0, 0}};
    float *xyz = NULL;
    box shape;
    shape.seed = params->seed;
    MOTE_TRY(gen_cloud_xyz(ctx, count, out, &xyz));
    for (int k = 0; k < 3; k++) {
        MOTE_TRY(mote_cloud_add_column(*out, &specs[k]));
        shape.normals[k] = mote_cloud_column_data(*out, specs[k].name);
    }
    return gen_fill(ctx, count, fill_box, &shape, xyz);
}

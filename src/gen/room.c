/* Room: the cloud of the published plane tables. A room of 10 x 8 x 3 m under a gabled roof, eight planes with
   Gaussian noise along their normals, outliers all around, shuffled. The noise takes log and cos of the C library:
   the same library gives the same bytes. */
#include <math.h>

#include "gen/gen_internal.h"

#define PLANE_COUNT   8
#define PLANE_DRAWS   4u /* two across the plane, two for the noise */
#define OUTLIER_DRAWS 3u
#define TWO_PI        6.283185307179586
#define SHUFFLE_STEP  (1u << 19) /* swaps between two calls of the progress function */

typedef struct plane {
    double origin[3], u[3], v[3];
} plane;

static const plane planes[PLANE_COUNT] = {
    {{0, 0, 0}, {10, 0, 0}, {0, 8, 0}},              /* floor */
    {{0, 0, 3}, {10, 0, 0}, {0, 8, 0}},              /* ceiling */
    {{0, 0, 0}, {0, 8, 0}, {0, 0, 3}},               /* four walls */
    {{10, 0, 0}, {0, 8, 0}, {0, 0, 3}},              /* */
    {{0, 0, 0}, {10, 0, 0}, {0, 0, 3}},              /* */
    {{0, 8, 0}, {10, 0, 0}, {0, 0, 3}},              /* */
    {{0, -0.5, 2.625}, {10, 0, 0}, {0, 4.5, 3.375}}, /* two sides of the roof */
    {{0, 8.5, 2.625}, {10, 0, 0}, {0, -4.5, 3.375}}, /* */
};
static const double outlier_origin[3] = {-1, -1.5, -0.5}, outlier_size[3] = {12, 11, 7};

typedef struct room {
    uint64_t seed;
    double noise_m;
    double normals[PLANE_COUNT][3];
    uint64_t ends[PLANE_COUNT]; /* points of plane i: ends[i-1] … ends[i] - 1; the rest are outliers */
} room;

/* Shares the points among the planes by area; the last takes what rounding leaves. */
static room room_of_params(uint64_t count, const mote_gen_params *params) {
    room shape;
    double areas[PLANE_COUNT], total = 0;
    shape.seed = params->seed;
    shape.noise_m = params->noise_m;
    for (int i = 0; i < PLANE_COUNT; i++) {
        const double *a = planes[i].u, *b = planes[i].v;
        const double cross[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
        areas[i] = sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]);
        for (int k = 0; k < 3; k++) shape.normals[i][k] = cross[k] / areas[i];
        total += areas[i];
    }
    const uint64_t on_planes = (uint64_t)((double)count * (1 - params->outlier_ratio) + 0.5);
    uint64_t used = 0;
    for (int i = 0; i < PLANE_COUNT; i++) {
        used += i == PLANE_COUNT - 1 ? on_planes - used : (uint64_t)((double)on_planes * areas[i] / total);
        shape.ends[i] = used;
    }
    return shape;
}

static double gauss(gen_stream *stream) {
    const double a = gen_unit(stream), b = gen_unit(stream); /* Box and Muller 1958, the cosine only */
    return sqrt(-2 * log(1 - a)) * cos(TWO_PI * b);
}

static int plane_of(const room *shape, uint64_t point) {
    int i = 0;
    while (i < PLANE_COUNT && point >= shape->ends[i]) i++;
    return i < PLANE_COUNT ? i : -1;
}

static void fill_room(const void *user, uint64_t first, uint64_t count, float *xyz) {
    const room *shape = user;
    const uint64_t on_planes = shape->ends[PLANE_COUNT - 1];
    for (uint64_t i = 0; i < count; i++, xyz += 3) {
        const uint64_t point = first + i;
        if (point < on_planes) {
            gen_stream stream = gen_stream_at(shape->seed, PLANE_DRAWS * point);
            const int p = plane_of(shape, point);
            const double a = gen_unit(&stream), b = gen_unit(&stream), g = shape->noise_m * gauss(&stream);
            for (int k = 0; k < 3; k++) {
                xyz[k] =
                    (float)(planes[p].origin[k] + a * planes[p].u[k] + b * planes[p].v[k] + g * shape->normals[p][k]);
            }
        } else {
            gen_stream stream =
                gen_stream_at(shape->seed, PLANE_DRAWS * on_planes + OUTLIER_DRAWS * (point - on_planes));
            for (int k = 0; k < 3; k++) xyz[k] = (float)(outlier_origin[k] + outlier_size[k] * gen_unit(&stream));
        }
    }
}

mote_status gen_room(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out) {
    static const mote_column_spec label_spec = {"plane", MOTE_INT8, 0, 0};
    float *xyz = NULL;
    MOTE_TRY(gen_cloud_xyz(ctx, count, out, &xyz));
    MOTE_TRY(mote_cloud_add_column(*out, &label_spec));
    int8_t *labels = mote_cloud_column_data(*out, "plane");
    const room shape = room_of_params(count, params);
    MOTE_TRY(gen_fill(ctx, count, fill_room, &shape, xyz));
    for (uint64_t i = 0; i < count; i++) labels[i] = (int8_t)plane_of(&shape, i);
    const uint64_t on_planes = shape.ends[PLANE_COUNT - 1];
    const uint64_t drawn = PLANE_DRAWS * on_planes + OUTLIER_DRAWS * (count - on_planes);
    /* Fisher and Yates, from the end, on points and labels at once. */
    gen_stream stream = gen_stream_at(params->seed, drawn);
    for (uint64_t i = count; i-- > 1;) {
        const uint64_t j = gen_next(&stream) % (i + 1);
        for (int k = 0; k < 3; k++) {
            const float coordinate = xyz[3 * i + (uint64_t)k];
            xyz[3 * i + (uint64_t)k] = xyz[3 * j + (uint64_t)k];
            xyz[3 * j + (uint64_t)k] = coordinate;
        }
        const int8_t label = labels[i];
        labels[i] = labels[j];
        labels[j] = label;
        if (i % SHUFFLE_STEP == 0) { MOTE_TRY(mote_progress(ctx, 1 - (double)i / (double)count, "shuffling points")); }
    }
    return MOTE_OK;
}

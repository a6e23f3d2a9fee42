/* The room that mote_generate makes, its planes as they are, and how far off others are. */
#include <math.h>
#include <string.h>

#include "core/cloud.h"
#include "math/eigen3.h"
#include "reference/planes_reference.h"

planes_reference_plane planes_reference_room(int i) {
    static const double rectangles[PLANES_REFERENCE_ROOM][9] = {
        {0, 0, 0, 10, 0, 0, 0, 8, 0},
        {0, 0, 3, 10, 0, 0, 0, 8, 0},
        {0, 0, 0, 0, 8, 0, 0, 0, 3},
        {10, 0, 0, 0, 8, 0, 0, 0, 3},
        {0, 0, 0, 10, 0, 0, 0, 0, 3},
        {0, 8, 0, 10, 0, 0, 0, 0, 3},
        {0, -0.5, 2.625, 10, 0, 0, 0, 4.5, 3.375},
        {0, 8.5, 2.625, 10, 0, 0, 0, -4.5, 3.375},
    };
    const double *at = rectangles[i], *u = at + 3, *v = at + 6;
    planes_reference_plane plane;
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        plane.normal[k] = u[p] * v[q] - u[q] * v[p];
        plane.middle[k] = at[k] + u[k] / 2 + v[k] / 2;
    }
    plane.area =
        sqrt(plane.normal[0] * plane.normal[0] + plane.normal[1] * plane.normal[1] + plane.normal[2] * plane.normal[2]);
    for (int k = 0; k < 3; k++) plane.normal[k] /= plane.area;
    return plane;
}

static double angle_between(const double a[3], const double b[3]) {
    double cross = 0, dot = 0;
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        cross += (a[p] * b[q] - a[q] * b[p]) * (a[p] * b[q] - a[q] * b[p]);
        dot += a[k] * b[k];
    }
    return atan2(sqrt(cross), fabs(dot)) * 180 / 3.14159265358979323846;
}

/* ---- what the points themselves say */

typedef struct moments {
    double n, first[3], products[6]; /* xx xy xz yy yz zz, of differences to a place */
} moments;

static void add_point(moments *m, const double at[3]) {
    m->n += 1;
    for (int k = 0, product = 0; k < 3; k++) {
        m->first[k] += at[k];
        for (int j = k; j < 3; j++) m->products[product++] += at[k] * at[j];
    }
}

/* Normal and middle of the plane of least squares. */
static void fit_plane(const moments *m, double normal[3], double middle[3]) {
    double matrix[EIGEN3_NUMBERS];
    for (int k = 0, product = 0; k < 3; k++) {
        middle[k] = m->first[k] / m->n;
        for (int j = k; j < 3; j++, product++) {
            matrix[product] = m->products[product] / m->n - m->first[k] / m->n * (m->first[j] / m->n);
        }
    }
    eigen3_solve(matrix, 1);
    const double values[3] = {matrix[0], matrix[3], matrix[5]};
    int min = values[1] < values[0] ? 1 : 0;
    if (values[2] < values[min]) min = 2;
    for (int k = 0; k < 3; k++) normal[k] = matrix[6 + 3 * min + k];
}

planes_reference_score planes_reference_oracle(const mote_cloud *room) {
    static const char *const names[3] = {"x", "y", "z"};
    const mote_column *real = mote_cloud_find(room, "plane");
    planes_reference_score score;
    memset(&score, 0, sizeof score);
    for (int i = 0; i < PLANES_REFERENCE_ROOM; i++) {
        const planes_reference_plane plane = planes_reference_room(i);
        moments m;
        double normal[3], middle[3], away = 0;
        memset(&m, 0, sizeof m);
        for (uint64_t p = 0; p < mote_cloud_count(room); p++) {
            double at[3];
            if ((int)mote_column_value(real, p) != i) continue;
            for (int k = 0; k < 3; k++) at[k] = mote_column_value(mote_cloud_find(room, names[k]), p) - plane.middle[k];
            add_point(&m, at);
        }
        fit_plane(&m, normal, middle);
        for (int k = 0; k < 3; k++) away += normal[k] * middle[k];
        score.angle_deg = fmax(score.angle_deg, angle_between(normal, plane.normal));
        score.distance = fmax(score.distance, fabs(away));
        score.found++;
    }
    score.precision = score.recall = 1;
    return score;
}

/* ---- what was found */

/* Which plane of the room it is: less than a degree and 5 cm off. */
static int plane_of_room(const mote_plane *found, double *angle, double *distance) {
    for (int i = 0; i < PLANES_REFERENCE_ROOM; i++) {
        const planes_reference_plane real = planes_reference_room(i);
        double away = -found->offset;
        for (int k = 0; k < 3; k++) away += found->normal[k] * real.middle[k];
        *angle = angle_between(found->normal, real.normal);
        *distance = fabs(away);
        if (*angle < 1 && *distance < 0.05) return i;
    }
    return -1;
}

planes_reference_score planes_reference_judge(const mote_cloud *room, const mote_planes *planes,
                                              const int32_t *labels) {
    planes_reference_score score;
    int times[PLANES_REFERENCE_ROOM] = {0}, real_of[MOTE_PLANES_MAX];
    memset(&score, 0, sizeof score);
    for (uint32_t i = 0; i < mote_planes_count(planes); i++) {
        double angle, distance;
        real_of[i] = plane_of_room(mote_planes_at(planes, i), &angle, &distance);
        score.false_planes += real_of[i] < 0;
        if (real_of[i] < 0) continue;
        times[real_of[i]]++;
        score.angle_deg = fmax(score.angle_deg, angle);
        score.distance = fmax(score.distance, distance);
    }
    for (int i = 0; i < PLANES_REFERENCE_ROOM; i++) {
        score.found += times[i] > 0;
        score.twice += times[i] > 1;
    }
    const mote_column *real = mote_cloud_find(room, "plane");
    double right = 0, labelled = 0, on_planes = 0;
    for (uint64_t i = 0; i < mote_cloud_count(room); i++) {
        const int is = (int)mote_column_value(real, i);
        on_planes += is >= 0;
        labelled += labels[i] >= 0;
        right += labels[i] >= 0 && is >= 0 && real_of[labels[i]] == is;
    }
    score.precision = labelled > 0 ? right / labelled : 1;
    score.recall = on_planes > 0 ? right / on_planes : 1;
    return score;
}

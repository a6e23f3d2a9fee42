/* A cloud of the program's own points, without a file and without a copy: normals of them, and a PLY of both.
 *   cc own_points.c $(pkg-config --cflags --libs mote) -lm -o own_points && ./own_points bowl.ply
 */
#include <math.h>
#include <mote/mote.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 100

typedef struct point {
    double place[3];
    float normal[3];
} point;

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: own_points OUT.ply\n"), 2;
    point *points = calloc(SIDE * SIDE, sizeof *points);
    float *axes[3] = {malloc(SIDE * SIDE * sizeof(float)), malloc(SIDE * SIDE * sizeof(float)),
                      malloc(SIDE * SIDE * sizeof(float))};
    mote_context *ctx = NULL;
    mote_cloud *cloud = NULL;
    mote_status status = mote_context_create(NULL, &ctx);
    if (points == NULL || axes[0] == NULL || axes[1] == NULL || axes[2] == NULL) status = MOTE_ERROR_MEMORY;
    for (int i = 0; status == MOTE_OK && i < SIDE * SIDE; i++) { /* a bowl of one metre */
        const double x = i % SIDE / (SIDE - 1.0) - 0.5, y = i / SIDE / (SIDE - 1.0) - 0.5;
        points[i].place[0] = x;
        points[i].place[1] = y;
        points[i].place[2] = x * x + y * y;
    }

    /* Columns are views: where the first value lies, and how far it is to the next. */
    mote_column columns[6] = {0};
    static const char *const names[6] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
    for (int k = 0; k < 6; k++) {
        columns[k].name = names[k];
        columns[k].type = k < 3 ? MOTE_FLOAT64 : MOTE_FLOAT32;
        columns[k].stride_bytes = sizeof(point);
        if (points == NULL) continue;
        columns[k].data = k < 3 ? (void *)&points[0].place[k] : (void *)&points[0].normal[k - 3];
    }
    if (status == MOTE_OK) status = mote_cloud_wrap(ctx, SIDE * SIDE, columns, 6, &cloud);

    mote_normals_result found = {.normal_x = axes[0], .normal_y = axes[1], .normal_z = axes[2]};
    if (status == MOTE_OK) status = mote_normals(ctx, cloud, NULL, &found);
    for (int i = 0; status == MOTE_OK && i < SIDE * SIDE; i++) {
        for (int k = 0; k < 3; k++) points[i].normal[k] = axes[k][i];
    }
    if (status == MOTE_OK) status = mote_cloud_write(ctx, cloud, argv[1], NULL);

    if (status != MOTE_OK) {
        fprintf(stderr, "own_points: %s\n", ctx != NULL ? mote_context_message(ctx) : mote_status_name(status));
    } else {
        printf("%d points; in the middle the normal is %.2f %.2f %.2f\n", SIDE * SIDE,
               (double)points[SIDE * SIDE / 2 + SIDE / 2].normal[0],
               (double)points[SIDE * SIDE / 2 + SIDE / 2].normal[1],
               (double)points[SIDE * SIDE / 2 + SIDE / 2].normal[2]);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    for (int k = 0; k < 3; k++) free(axes[k]);
    free(points);
    return status != MOTE_OK;
}

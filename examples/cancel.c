/* Progress, and an end before it is done: an octree of a city is made, and given up after some share of it. Nothing is
 * left behind, neither files nor memory.
 *   cc cancel.c $(pkg-config --cflags --libs mote) -o cancel && ./cancel city.mote 0.5
 */
#include <mote/mote.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct patience {
    double end; /* the share of all the work after which it is given up; above 1: never */
    unsigned calls;
} patience;

/* Called between the steps of each call, on the thread that made it; false cancels. */
static bool watch(void *user, double done, const char *stage) {
    patience *p = user;
    if (p->calls++ % 20 == 0) fprintf(stderr, "%3.0f %%  %s\n", 100 * done, stage);
    return done < p->end;
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: cancel DIR SHARE\n"), 2;
    patience p = {.end = atof(argv[2])};
    mote_context_params params = mote_context_defaults();
    params.progress = watch;
    params.progress_user = &p;
    mote_context *ctx = NULL;
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    mote_status status = mote_context_create(&params, &ctx);
    if (status == MOTE_OK) status = mote_generate(ctx, "city", 200000, NULL, &cloud);
    if (status == MOTE_OK) status = mote_lod_build(ctx, cloud, NULL, &lod);
    if (status == MOTE_OK) status = mote_potree_write(ctx, lod, argv[1], NULL, NULL);

    if (status == MOTE_CANCELLED) {
        printf("given up: %s\n", mote_context_message(ctx));
    } else if (status != MOTE_OK) {
        fprintf(stderr, "cancel: %s\n", ctx != NULL ? mote_context_message(ctx) : mote_status_name(status));
    } else {
        printf("done: %s\n", argv[1]);
    }
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    return status != MOTE_OK && status != MOTE_CANCELLED;
}

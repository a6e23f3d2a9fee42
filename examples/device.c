/* Points that are on a GPU already: their neighbours are found there, on the program's own stream, and stay there.
 *   cc device.c $(pkg-config --cflags --libs mote) -o device && ./device
 * A program that has a cudaStream_t of its own gives it to the context: params.stream = stream. Work is put in the
 * order of that stream; kernels of the program before and after need no synchronization. Without a GPU it says so.
 */
#include <mote/mote.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 100000u
#define K     8u

static int fail(mote_context *ctx, mote_status status) {
    fprintf(stderr, "device: %s\n", ctx != NULL ? mote_context_message(ctx) : mote_status_name(status));
    return 1;
}

int main(void) {
    mote_context_params params = mote_context_defaults();
    params.device = MOTE_DEVICE_CUDA;
    params.stream = NULL; /* a cudaStream_t of the program */
    mote_context *ctx = NULL;
    mote_status status = mote_context_create(&params, &ctx);
    if (status != MOTE_OK) {
        printf("skipped: no GPU answers (%s)\n", mote_status_name(status));
        return 77;
    }

    /* Points of the program's: here copied to the GPU, elsewhere what a kernel made. */
    float *host = malloc(3 * COUNT * sizeof *host);
    float *place = mote_device_alloc(ctx, 3 * COUNT * sizeof *place);
    uint32_t *index = mote_device_alloc(ctx, K * COUNT * sizeof *index), first[K] = {0};
    if (host == NULL || place == NULL || index == NULL) status = MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; status == MOTE_OK && i < 3 * COUNT; i++) host[i] = (float)(i * 2654435761u >> 8) / (1 << 24);
    if (status == MOTE_OK) status = mote_device_copy(ctx, place, host, 3 * COUNT * sizeof *place);

    mote_column columns[3] = {0};
    static const char *const names[3] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        columns[k].name = names[k];
        columns[k].type = MOTE_FLOAT32;
        columns[k].data = place + k; /* x y z x y z … */
        columns[k].stride_bytes = 3 * sizeof *place;
    }
    mote_cloud *cloud = NULL;
    if (status == MOTE_OK) status = mote_cloud_wrap_device(ctx, COUNT, columns, 3, &cloud);

    mote_knn_params knn = mote_knn_defaults();
    knn.k = K;
    mote_knn_result result = {.index32 = index, .on_device = true}; /* nothing comes to the host, and nothing waits */
    if (status == MOTE_OK) status = mote_knn(ctx, cloud, NULL, &knn, &result);

    /* A kernel of the program on the same stream would use index from here on. The host waits, and looks at one row. */
    if (status == MOTE_OK) status = mote_context_wait(ctx);
    if (status == MOTE_OK) status = mote_device_copy(ctx, first, index, sizeof first);
    const int code = status == MOTE_OK ? 0 : fail(ctx, status);
    if (code == 0) printf("point 0 and its nearest: %u %u %u %u\n", first[0], first[1], first[2], first[3]);
    mote_cloud_destroy(cloud);
    mote_device_free(ctx, index);
    mote_device_free(ctx, place);
    mote_context_destroy(ctx);
    free(host);
    return code;
}

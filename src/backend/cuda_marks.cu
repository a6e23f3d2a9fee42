/* Stages timed by marks in the stream: the host is ahead of the device, so its clock would say nothing. */
#include "backend/cuda_state.h"

mote_status cuda_marks_open(mote_context *ctx) {
    if (!ctx->params.device_stages) return MOTE_OK;
    for (uint32_t i = 0; i < CUDA_MARKS; i++) {
        CUDA_TRY(ctx, cudaEventCreate(&ctx->cuda->marks[i].event), "making an event");
    }
    return MOTE_OK;
}

void cuda_marks_close(mote_context *ctx) {
    for (uint32_t i = 0; i < CUDA_MARKS; i++) {
        if (ctx->cuda->marks[i].event != NULL) cudaEventDestroy(ctx->cuda->marks[i].event);
    }
}

/* The last mark becomes the first one: its stage still runs. */
static void keep_last_mark(cuda_state *s) {
    if (s->mark_count < 2) return;
    const cuda_mark last = s->marks[s->mark_count - 1];
    s->marks[s->mark_count - 1] = s->marks[0];
    s->marks[0] = last;
    s->mark_count = 1;
}

void cuda_settle_stages(mote_context *ctx) {
    cuda_state *s = ctx->cuda;
    if (s->mark_count < 2) return;
    cuda_enter(ctx);
    const bool reached = cudaEventSynchronize(s->marks[s->mark_count - 1].event) == cudaSuccess;
    for (uint32_t i = 0; i + 1 < s->mark_count && reached; i++) {
        float milliseconds = 0;
        if (s->marks[i].stage < 0) continue;
        if (cudaEventElapsedTime(&milliseconds, s->marks[i].event, s->marks[i + 1].event) != cudaSuccess) continue;
        ctx->stages[s->marks[i].stage].seconds += 1e-3 * (double)milliseconds;
    }
    keep_last_mark(s);
}

/* Times are for people: a mark that fails is left out. A lost device is noted by the work itself. */
void cuda_mark_stage(mote_context *ctx, int stage) {
    cuda_state *s = ctx->cuda;
    cuda_enter(ctx);
    if (s->mark_count == CUDA_MARKS) cuda_settle_stages(ctx);
    cuda_mark *mark = &s->marks[s->mark_count];
    if (cudaEventRecord(mark->event, s->stream) != cudaSuccess) return;
    mark->stage = stage;
    s->mark_count++;
}

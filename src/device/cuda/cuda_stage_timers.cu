/* Stages timed by events in the stream: the host is ahead of the device, so its clock would say nothing. */
#include "device/cuda/cuda_state.h"

mote_status cuda_stage_timers_open(mote_device *gpu) {
    if (!gpu->ctx->params.device_stages) return MOTE_OK;
    for (uint32_t i = 0; i < CUDA_STAGE_TIMERS; i++) {
        CUDA_TRY(gpu, cudaEventCreate(&state_of(gpu)->timers[i].event), "making an event");
    }
    return MOTE_OK;
}

void cuda_stage_timers_close(mote_device *gpu) {
    for (uint32_t i = 0; i < CUDA_STAGE_TIMERS; i++) {
        if (state_of(gpu)->timers[i].event != NULL) cudaEventDestroy(state_of(gpu)->timers[i].event);
    }
}

/* The last mark becomes the first one: its stage still runs. */
static void keep_last_mark(cuda_state *s) {
    if (s->timer_count < 2) return;
    const cuda_stage_timer last = s->timers[s->timer_count - 1];
    s->timers[s->timer_count - 1] = s->timers[0];
    s->timers[0] = last;
    s->timer_count = 1;
}

void cuda_end_stages(mote_device *gpu) {
    cuda_state *s = state_of(gpu);
    if (s->timer_count < 2) return;
    cuda_enter(gpu);
    const bool reached = cudaEventSynchronize(s->timers[s->timer_count - 1].event) == cudaSuccess;
    for (uint32_t i = 0; i + 1 < s->timer_count && reached; i++) {
        float milliseconds = 0;
        if (s->timers[i].stage < 0) continue;
        if (cudaEventElapsedTime(&milliseconds, s->timers[i].event, s->timers[i + 1].event) != cudaSuccess) continue;
        gpu->ctx->stages[s->timers[i].stage].seconds += 1e-3 * (double)milliseconds;
    }
    keep_last_mark(s);
}

/* Times are for people: a mark that fails is left out. A lost device is noted by the work itself. */
void cuda_begin_stage(mote_device *gpu, int stage) {
    cuda_state *s = state_of(gpu);
    cuda_enter(gpu);
    if (s->timer_count == CUDA_STAGE_TIMERS) cuda_end_stages(gpu);
    cuda_stage_timer *mark = &s->timers[s->timer_count];
    if (cudaEventRecord(mark->event, s->stream) != cudaSuccess) return;
    mark->stage = stage;
    s->timer_count++;
}

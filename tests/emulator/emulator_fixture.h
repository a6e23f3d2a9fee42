/* What tests of the emulator share. */
#ifndef MOTE_EMULATOR_FIXTURE_H
#define MOTE_EMULATOR_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
extern "C" {
#include <cmocka.h>
}

#include "device/cuda/cuda_kernel.cuh"
#include "emulator/emulator.h"
#include "support/gpu.h"

#define BLOCK 128u /* threads */

static mote_device *make_gpu(uint64_t memory_limit_bytes) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = nullptr;
    params.device = MOTE_DEVICE_CUDA;
    params.memory_limit_bytes = memory_limit_bytes;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return gpu_of(ctx);
}

template <class T> static T *take(mote_device *gpu, uint64_t count) {
    T *memory = (T *)cuda_alloc(gpu, count * sizeof(T), "test");
    assert_non_null(memory);
    return memory;
}

/* Does work in every order of running. */
static void in_all_orders(void (*work)(mote_device *gpu)) {
    mote_device *gpu = make_gpu(0);
    for (uint64_t seed = 0; seed < 6; seed++) {
        emulator_set_order(seed == 0 ? EMULATOR_ASCENDING : seed == 1 ? EMULATOR_DESCENDING : EMULATOR_SHUFFLED, seed);
        work(gpu);
    }
    mote_context_destroy(gpu->ctx);
}

#endif

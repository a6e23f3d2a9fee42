/* The emulator itself: what threads of a block and lanes of a warp tell each other, in every order of running, and that
   it notices what would hang or be undefined on a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
extern "C" {
#include <cmocka.h>
}

#include "backend/cuda_kernel.h"
#include "emulator/emulator.h"

static mote_context *make_context(void) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = nullptr;
    params.device = MOTE_DEVICE_CUDA;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

/* ---- a sum over blocks of numbers, by barriers and shared memory */

static __global__ void sum_kernel(const uint32_t *in, uint32_t count, uint32_t *sums) {
    __shared__ uint32_t part[256];
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < count ? in[i] : 0;
    for (uint32_t half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

static void test_barriers(void **state) {
    (void)state;
    mote_context *ctx = make_context();
    const uint32_t count = 1000, blocks = cuda_blocks(count, 256);
    uint32_t *in = (uint32_t *)cuda_alloc(ctx, count * sizeof *in, "in");
    uint32_t *sums = (uint32_t *)cuda_alloc(ctx, blocks * sizeof *sums, "sums");
    for (uint32_t i = 0; i < count; i++) in[i] = i * i;
    for (int order = EMULATOR_ASCENDING; order <= EMULATOR_SHUFFLED; order++) {
        emulator_set_order((emulator_order)order, 5);
        CUDA_LAUNCH(ctx, sum_kernel, blocks, 256, in, count, sums);
        for (uint32_t b = 0; b < blocks; b++) {
            uint32_t expected = 0;
            for (uint32_t i = 256 * b; i < 256 * b + 256 && i < count; i++) expected += i * i;
            assert_int_equal(sums[b], expected);
        }
    }
    cuda_free(ctx, in);
    cuda_free(ctx, sums);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_barriers)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}

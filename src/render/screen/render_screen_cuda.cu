/* What a frame sees, on a GPU: layers of points, the quadtree over them, and neighbours. A warp makes a block. */
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "render/render_cuda.h"
#include "render/screen/render_around_cuda.cuh"

#define THREADS 256u
#define WARPS   (THREADS / CUDA_WARP)

typedef struct render_layer_keys {
    const uint64_t *keys[MOTE_RENDER_MAX_LAYERS]; /* each [samples]: depth and place of the point that is seen */
} render_layer_keys;

static render_layer_keys keys_of_layers(const render_frame_cuda *frame) {
    render_layer_keys keys;
    for (uint32_t l = 0; l < MOTE_RENDER_MAX_LAYERS; l++) keys.keys[l] = frame->keys[l];
    return keys;
}

/* The key of a sample of a block: bit, row after row. */
static __device__ __forceinline__ uint64_t key_of(const render_view *view, const uint64_t *keys, uint32_t u, uint32_t v,
                                                  uint32_t bit) {
    const uint32_t x = u * RENDER_BLOCK + bit % RENDER_BLOCK, y = v * RENDER_BLOCK + bit / RENDER_BLOCK;
    return x < view->width && y < view->height ? keys[(uint64_t)y * view->width + x] : RENDER_NO_KEY;
}

static __global__ void mask_blocks(render_screen screen, render_layer_keys all) {
    const uint32_t b = blockIdx.x * WARPS + threadIdx.x / CUDA_WARP;
    uint32_t u, v, near_depth = UINT32_MAX, far_depth = 0;
    if (b >= screen.block_count) return;
    render_place_of_block(&screen, b, &u, &v);
    for (uint32_t l = 0; l < screen.layer_count; l++) {
        uint64_t mask = 0;
        for (uint32_t half = 0; half < 2; half++) {
            const uint64_t key = key_of(&screen.view, all.keys[l], u, v, half * CUDA_WARP + warp_lane());
            const bool shown = key != RENDER_NO_KEY;
            mask |= (uint64_t)__ballot_sync(CUDA_ALL, shown) << half * CUDA_WARP;
            near_depth = min(near_depth, shown ? render_key_depth(key) : UINT32_MAX);
            far_depth = max(far_depth, shown ? render_key_depth(key) : 0);
        }
        if (warp_lane() == 0) {
            screen.layers[l].mask[b] = mask;
            screen.layers[l].first[b] = render_popcount(mask);
        }
    }
    if (warp_lane() == 0 && b + 1 == screen.block_count) { /* where the sum of all will be */
        screen.layers[screen.layer_count - 1].first[screen.block_count] = 0;
    }
    near_depth = warp_min(near_depth);
    far_depth = warp_max(far_depth);
    if (warp_lane() != 0) return;
    const bool empty = near_depth == UINT32_MAX;
    const float near_float = empty ? INFINITY : render_float_of_ordered(near_depth);
    const float far_float = empty ? -INFINITY : render_float_of_ordered(far_depth);
    screen.near_depth[b] = near_float - fabsf(near_float) * 0x1p-22f;
    screen.far_depth[b] = far_float + fabsf(far_float) * 0x1p-22f;
}

static __global__ void list_seen(render_screen screen, render_points points, render_layer_keys all) {
    const uint32_t b = blockIdx.x * WARPS + threadIdx.x / CUDA_WARP;
    uint32_t u, v;
    if (b >= screen.block_count) return;
    render_place_of_block(&screen, b, &u, &v);
    for (uint32_t l = 0; l < screen.layer_count; l++) {
        const uint64_t mask = screen.layers[l].mask[b];
        for (uint32_t bit = warp_lane(); bit < RENDER_BLOCK_SAMPLES; bit += CUDA_WARP) {
            if ((mask >> bit & 1) == 0) continue;
            const uint32_t to = screen.layers[l].first[b] + render_popcount(mask & ((1ull << bit) - 1));
            const uint32_t sample =
                (v * RENDER_BLOCK + bit / RENDER_BLOCK) * screen.view.width + u * RENDER_BLOCK + bit % RENDER_BLOCK;
            const uint32_t place = (uint32_t)all.keys[l][sample];
            screen.seen.place[to] = place;
            screen.seen.sample[to] = sample;
            for (int k = 0; k < 3; k++) screen.seen.at[k][to] = render_at(&points, k, place);
        }
    }
}

static mote_status reserve_screen(mote_renderer *renderer, render_screen *screen) {
    const uint64_t blocks = screen->block_count, all = blocks * screen->layer_count;
    uint64_t *mask = (uint64_t *)render_buffer_of(renderer, all * sizeof(uint64_t));
    uint32_t *first = (uint32_t *)render_buffer_of(renderer, (all + 1) * sizeof(uint32_t));
    screen->near_depth = (float *)render_buffer_of(renderer, blocks * sizeof(float));
    screen->far_depth = (float *)render_buffer_of(renderer, blocks * sizeof(float));
    if (mask == NULL || first == NULL || screen->near_depth == NULL || screen->far_depth == NULL) {
        return MOTE_ERROR_MEMORY;
    }
    for (uint32_t l = 0; l < screen->layer_count; l++) { /* the end of a layer is the beginning of the next */
        screen->layers[l].mask = mask + l * blocks;
        screen->layers[l].first = first + l * blocks;
    }
    return MOTE_OK;
}

static mote_status reserve_seen(mote_renderer *renderer, render_seen *seen, uint64_t count) {
    seen->place = (uint32_t *)render_buffer_of(renderer, count * sizeof(uint32_t));
    seen->sample = (uint32_t *)render_buffer_of(renderer, count * sizeof(uint32_t));
    bool complete = seen->place != NULL && seen->sample != NULL;
    for (int k = 0; k < 3; k++) {
        seen->at[k] = (double *)render_buffer_of(renderer, count * sizeof(double));
        complete = complete && seen->at[k] != NULL;
    }
    return complete ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* How many points are seen, and in front. The device marks what the frame shows meanwhile, so that it does not wait for
   the host. */
static mote_status count_seen(mote_renderer *renderer) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    const uint32_t blocks = frame->screen.block_count;
    const render_layer *layers = frame->screen.layers, *last = &layers[frame->screen.layer_count - 1];
    uint32_t *const answer = (uint32_t *)cuda_answer(gpu);
    device_transfer seen, front;
    if (answer == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_download_begin(gpu, answer, last->first + blocks, sizeof *answer, &seen));
    mote_status status = cuda_download_begin(gpu, answer + 1, layers[0].first + blocks, sizeof *answer, &front);
    if (status == MOTE_OK) status = render_note_shown_cuda(renderer, &frame->screen.view);
    const mote_status seen_known = cuda_wait(gpu, &seen), front_known = cuda_wait(gpu, &front);
    frame->seen_count = answer[0];
    frame->front_count = answer[1];
    return status != MOTE_OK ? status : seen_known != MOTE_OK ? seen_known : front_known;
}

mote_status render_see_cuda(mote_renderer *renderer, const render_job *job) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    render_screen *screen = &frame->screen;
    render_layer_keys keys;
    screen->view = job->view;
    screen->layer_count = job->params->layers;
    render_screen_size(screen);
    for (uint32_t l = 0; l + 1 < screen->layer_count; l++) MOTE_TRY(render_find_behind_cuda(renderer, job, l));
    keys = keys_of_layers(frame);
    MOTE_TRY(reserve_screen(renderer, screen));
    const uint32_t blocks = cuda_blocks(screen->block_count, WARPS);
    const uint64_t all = (uint64_t)screen->block_count * screen->layer_count;
    CUDA_LAUNCH(gpu, mask_blocks, blocks, THREADS, *screen, keys);
    MOTE_TRY(cuda_launched(gpu, "making the quadtree"));
    MOTE_TRY(cuda_sum32(gpu, screen->layers[0].first, screen->layers[0].first, all + 1));
    MOTE_TRY(count_seen(renderer));
    MOTE_TRY(reserve_seen(renderer, &screen->seen, frame->seen_count));
    CUDA_LAUNCH(gpu, list_seen, blocks, THREADS, *screen, renderer->points, keys);
    return cuda_launched(gpu, "listing points");
}

/* ---- neighbours as lists */

typedef struct neighbor_lists {
    uint32_t *point, *neighbor;
    float *distance2;
    uint8_t *iterations;
} neighbor_lists;

/* Writes what was found of a seen point. */
struct write_neighbors {
    render_points points;
    uint32_t k;
    neighbor_lists out;
    __device__ void neighbor(uint32_t i, uint32_t j, double distance2, uint32_t place, uint32_t) const {
        out.neighbor[(uint64_t)i * k + j] = render_row(&points, place);
        out.distance2[(uint64_t)i * k + j] = (float)distance2;
    }
    __device__ void end(uint32_t i, uint32_t windows, uint32_t count, double) const {
        out.iterations[i] = (uint8_t)windows;
        for (uint32_t j = count; j < k; j++) {
            out.neighbor[(uint64_t)i * k + j] = MOTE_RENDER_NO_POINT;
            out.distance2[(uint64_t)i * k + j] = INFINITY;
        }
    }
};

static __device__ __forceinline__ float radius_of(const render_screen *screen, uint32_t i, uint32_t k) {
    const uint32_t sample = screen->seen.sample[i], width = screen->view.width;
    return render_radius_of(screen, sample % width, sample / width, k);
}

static __global__ void name_points(render_screen screen, render_points points, uint32_t count, uint32_t *point) {
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) point[i] = render_row(&points, screen.seen.place[i]);
}

template <uint32_t MAX>
static __global__ void __launch_bounds__(AROUND_THREADS)
    find_neighbors(render_screen screen, render_points points, render_deferred deferred, uint32_t k,
                   neighbor_lists out) {
    __shared__ render_around_tile tile;
    const write_neighbors visit = {points, k, out};
    const auto begin = [&](uint32_t i, float *radius) {
        *radius = radius_of(&screen, i, k);
        return true;
    };
    render_find_in_tile<MAX>(&screen, &deferred, k, screen.layer_count, &tile, begin, visit);
}

static __global__ void find_deferred(render_screen screen, render_points points, render_deferred deferred, uint32_t k,
                                     neighbor_lists out) {
    const write_neighbors visit = {points, k, out};
    render_for_deferred(
        &deferred, [&](uint32_t i) { render_find_by_warp(&screen, i, k, radius_of(&screen, i, k), INFINITY, visit); });
}

mote_status render_find_neighbors_cuda(mote_renderer *renderer, uint32_t k, mote_render_neighbors *out) {
    mote_device *gpu = renderer->device;
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    const uint64_t count = frame->seen_count;
    neighbor_lists lists;
    if (count == 0) return mote_progress(renderer->ctx, 1, "finding neighbours");
    lists.point = (uint32_t *)render_buffer_of(renderer, count * sizeof(uint32_t));
    lists.neighbor = (uint32_t *)render_buffer_of(renderer, count * k * sizeof(uint32_t));
    lists.distance2 = (float *)render_buffer_of(renderer, count * k * sizeof(float));
    lists.iterations = (uint8_t *)render_buffer_of(renderer, count);
    if (lists.point == NULL || lists.neighbor == NULL || lists.distance2 == NULL || lists.iterations == NULL) {
        return MOTE_ERROR_MEMORY;
    }
    const auto find = k <= 8 ? find_neighbors<8> : k <= 16 ? find_neighbors<16> : find_neighbors<MOTE_RENDER_MAX_K>;
    const render_deferred deferred = {(uint32_t *)render_buffer_of(renderer, count * sizeof(uint32_t)),
                                      &frame->counters->deferred, &frame->counters->deferred_taken};
    if (deferred.points == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(gpu, name_points, cuda_blocks(count, THREADS), THREADS, frame->screen, renderer->points,
                (uint32_t)count, lists.point);
    CUDA_LAUNCH(gpu, find, render_around_tiles(&frame->screen), AROUND_THREADS, frame->screen, renderer->points,
                deferred, k, lists);
    CUDA_LAUNCH(gpu, find_deferred, cuda_resident_blocks(gpu, (const void *)find_deferred, THREADS), THREADS,
                frame->screen, renderer->points, deferred, k, lists);
    MOTE_TRY(cuda_launched(gpu, "finding neighbours"));
    MOTE_TRY(cuda_download(gpu, out->point, lists.point, count * sizeof(uint32_t)));
    MOTE_TRY(cuda_download(gpu, out->neighbor, lists.neighbor, count * k * sizeof(uint32_t)));
    MOTE_TRY(cuda_download(gpu, out->distance2, lists.distance2, count * k * sizeof(float)));
    MOTE_TRY(cuda_download(gpu, out->iterations, lists.iterations, count));
    return mote_progress(renderer->ctx, 1, "finding neighbours");
}

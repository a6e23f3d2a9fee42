/* Splats on a GPU: they are made here. They are drawn tile by tile (render_tiles_cuda.cu), or, where some of them cover
   so much that lists of tiles would be long, here: a warp for each, its lanes over the samples that the splat can
   cover. Limits and sums are kept by atomics on integers then, so that their order does not matter. */
#include "device/cuda/warp.cuh"
#include "render/screen/render_dense_cuda.cuh"
#include "render/splat/render_splat_cuda.cuh"

#define THREADS   128u
#define WARPS     (THREADS / CUDA_WARP)
#define MIN_DENSE 5u /* samples of the picture for each that shows a point: with more it is hardly dense anywhere */

/* ---- making splats */

/* Neighbours that were found, for render_end_shape by one thread.

     near    k seen points for each seen point in front, of which the first count are set
     found   bits 31…16 windows that it took    bits 15…0 count; 0: not known yet */

struct keep_neighbors {
    uint32_t k;
    uint32_t *near, *found;
    __device__ void neighbor(uint32_t i, uint32_t j, double, uint32_t, uint32_t seen) const {
        near[(uint64_t)i * k + j] = seen;
    }
    __device__ void end(uint32_t i, uint32_t windows, uint32_t count, double) const {
        found[i] = windows << 16 | count;
    }
};

/* Whether a point needs neighbours that are not known yet, and its first radius. */
static __device__ __forceinline__ bool begin_search(const render_screen *screen, const render_points *points,
                                                    const render_splat_rules *rules, const keep_neighbors *keep,
                                                    uint32_t i, float *radius) {
    render_shape shape;
    if (keep->found[i] != 0 || !render_begin_shape(screen, points, rules, i, &shape)) return false;
    const uint32_t sample = screen->seen.sample[i], width = screen->view.width;
    *radius = render_radius_of(screen, sample % width, sample / width, rules->k);
    return true;
}

template <uint32_t LAYERS>
static __global__ void __launch_bounds__(DENSE_THREADS)
    search_dense(render_screen screen, render_points points, render_splat_rules rules, keep_neighbors keep) {
    __shared__ render_dense_part part;
    const auto begin = [&](uint32_t i, float *radius) {
        return begin_search(&screen, &points, &rules, &keep, i, radius);
    };
    render_find_in_part<LAYERS>(&screen, rules.k, &part, begin, keep);
}

template <uint32_t MAX>
static __global__ void __launch_bounds__(AROUND_THREADS)
    search_around(render_screen screen, render_points points, render_deferred deferred, render_splat_rules rules,
                  keep_neighbors keep) {
    __shared__ render_around_tile tile;
    const auto begin = [&](uint32_t i, float *radius) {
        return begin_search(&screen, &points, &rules, &keep, i, radius);
    };
    render_find_in_tile<MAX>(&screen, &deferred, rules.k, 1, &tile, begin, keep);
}

static __global__ void search_deferred(render_screen screen, render_deferred deferred, render_splat_rules rules,
                                       keep_neighbors keep) {
    render_for_deferred(&deferred, [&](uint32_t i) {
        double limit2;
        const float radius = render_begin_search(&screen, rules.k, i, &limit2);
        render_find_by_warp(&screen, i, rules.k, radius, limit2, keep);
    });
}

/* Writes what each thread of a block has to an array, word after word, so that whole lines of memory are written. All
   threads of the block call it. */
template <class RECORD>
static __device__ __forceinline__ void write_records(const RECORD &mine, uint32_t count, RECORD *to) {
    __shared__ RECORD records[THREADS];
    const uint32_t first = blockIdx.x * THREADS, words = (uint32_t)(sizeof(RECORD) / sizeof(uint32_t));
    records[threadIdx.x] = mine;
    __syncthreads();
    const uint32_t *from = (const uint32_t *)records, all = min(count - first, THREADS) * words;
    for (uint32_t w = threadIdx.x; w < all; w += THREADS) ((uint32_t *)(to + first))[w] = from[w];
}

/* Makes the splats of the points of the front layer from their neighbours. */
static __global__ void __launch_bounds__(THREADS)
    make_splats(render_screen screen, render_points points, render_splat_rules rules, uint32_t count,
                keep_neighbors kept, render_splat *splats, render_counters *counters) {
    __shared__ uint32_t buffer[WARPS];
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    uint32_t iterations = 0;
    render_splat splat;
    if (i < count) {
        render_shape shape;
        if (render_begin_shape(&screen, &points, &rules, i, &shape)) {
            render_end_shape(&screen, &rules, i, kept.near + (uint64_t)i * rules.k, kept.found[i] & 0xFFFFu,
                             kept.found[i] >> 16, &shape);
        }
        render_make_splat(&screen, &points, &rules, &shape, i, &splat);
        iterations = splat.iterations;
    }
    write_records(splat, count, splats);
    iterations = block_sum<WARPS>(iterations, buffer);
    if (threadIdx.x == 0) atomicAdd(&counters->iterations, (unsigned long long)iterations);
}

/* Hides splats by the limits that all of them gave, and counts those that are drawn still. */
static __global__ void hide_splats(render_screen screen, const uint32_t *limits, uint32_t count, render_splat *splats,
                                   render_counters *counters) {
    __shared__ uint32_t buffer[WARPS];
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    bool drawn = i < count && render_is_drawn(&splats[i]);
    if (drawn && render_is_hidden(&splats[i], limits, screen.seen.sample[i])) {
        render_no_splat(&splats[i]);
        drawn = false;
    }
    const uint32_t all = block_sum<WARPS>(drawn ? 1u : 0u, buffer);
    if (threadIdx.x == 0 && all != 0) atomicAdd(&counters->splats, (unsigned long long)all);
}

/* ---- fragments */

/* Calls visit(fragment, sample) for the fragments of this warp's splat, lane by lane. */
template <class VISIT> static __device__ __forceinline__ void for_fragments(const splat_pass *pass, VISIT visit) {
    const uint32_t i = blockIdx.x * WARPS + threadIdx.x / CUDA_WARP;
    if (i >= pass->count || !render_is_drawn(&pass->splats[i])) return;
    const render_splat splat = pass->splats[i];
    const uint32_t width = splat.u1 - splat.u0 + 1u, height = splat.v1 - splat.v0 + 1u;
    for (uint32_t at = warp_lane(); at < width * height; at += CUDA_WARP) {
        const uint32_t u = splat.u0 + at % width, v = splat.v0 + at / width;
        const float du = (float)((int32_t)u - splat.u) + splat.off_u, dv = (float)((int32_t)v - splat.v) + splat.off_v;
        const render_fragment f = render_fragment_at(&splat, pass->view.perspective, pass->near_depth, du, dv);
        if (f.inside != 0) visit(splat, i, f, (uint64_t)v * pass->view.width + u);
    }
}

static __global__ void limit_splats(splat_pass pass) {
    for_fragments(&pass, [&](const render_splat &splat, uint32_t, const render_fragment &f, uint64_t sample) {
        const uint32_t limit = render_ordered_float(f.depth + splat.tolerance);
        if (limit < pass.limits[sample]) atomicMin(&pass.limits[sample], limit);
    });
}

static __global__ void add_splats(splat_pass pass) {
    for_fragments(&pass, [&](const render_splat &splat, uint32_t, const render_fragment &f, uint64_t sample) {
        const float limit = render_float_of_ordered(pass.limits[sample]);
        if (!(f.depth <= limit)) return;
        const int32_t weight = render_weight_of(f.weight);
        render_sums_cuda *sums = &pass.sums[sample];
        const float scale = render_depth_scale(pass.view.perspective, pass.focal, limit);
        const int64_t depth = (int64_t)weight * render_depth_steps(limit, f.depth, scale);
        atomicAdd(&sums->weight, (unsigned long long)weight);
        for (int k = 0; k < 3; k++) {
            const int32_t color = (int32_t)(splat.color >> 8 * k & 255u);
            atomicAdd(&sums->color[k], (unsigned long long)(weight * color));
            if (pass.wants_normals) {
                atomicAdd(&sums->normal[k], (unsigned long long)(int64_t)(weight * splat.normal[k]));
            }
        }
        atomicAdd(&sums->depth, (unsigned long long)depth);
        if (pass.best == NULL) return;
        const unsigned long long best = (unsigned long long)weight << 32 | (uint32_t)~splat.place;
        if (best > pass.best[sample]) atomicMax(&pass.best[sample], best);
    });
}

/* Which splat it was whose weight and place are the best of a sample. */
static __global__ void name_best(splat_pass pass) {
    for_fragments(&pass, [&](const render_splat &splat, uint32_t i, const render_fragment &f, uint64_t sample) {
        if (!(f.depth <= render_float_of_ordered(pass.limits[sample]))) return;
        const unsigned long long mine = (unsigned long long)render_weight_of(f.weight) << 32 | (uint32_t)~splat.place;
        if (mine == pass.best[sample]) pass.best_splat[sample] = i;
    });
}

static __global__ void show_splats(splat_pass pass, render_screen screen, render_points points, render_samples to,
                                   render_value shown) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (uint64_t)pass.view.width * pass.view.height) return;
    const render_sums_cuda *from = &pass.sums[i];
    render_sums sums;
    sums.weight = (int64_t)from->weight;
    sums.depth = (int64_t)from->depth;
    for (int k = 0; k < 3; k++) {
        sums.color[k] = (int64_t)from->color[k];
        sums.normal[k] = (int64_t)from->normal[k];
    }
    render_show_splat(&screen, &sums, render_float_of_ordered(pass.limits[i]), pass.focal, pass.splats,
                      pass.best_splat != NULL ? pass.best_splat[i] : UINT32_MAX, &points, &to, shown, i);
}

/* ---- a frame */

static mote_status reserve_splats(mote_renderer *renderer, const render_job *job, splat_pass *pass) {
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    const uint64_t count = frame->front_count;
    frame->near = (uint32_t *)render_buffer_of(renderer, count * job->params->k * sizeof(uint32_t));
    frame->found = (uint32_t *)render_buffer_of(renderer, count * sizeof(uint32_t));
    frame->deferred = (uint32_t *)render_buffer_of(renderer, count * sizeof(uint32_t));
    frame->splats = (render_splat *)render_buffer_of(renderer, count * sizeof(render_splat));
    if (frame->near == NULL || frame->found == NULL || frame->deferred == NULL || frame->splats == NULL) {
        return MOTE_ERROR_MEMORY;
    }
    memset(pass, 0, sizeof *pass);
    pass->view = job->view;
    pass->splats = frame->splats;
    pass->count = frame->front_count;
    pass->limits = frame->limits;
    pass->near_depth = job->view.perspective ? (float)job->view.near_depth : -INFINITY;
    pass->focal = (float)job->view.focal;
    pass->wants_normals = job->wants_normals;
    pass->wants_best = job->wants_splats;
    return MOTE_OK;
}

/* What atomics add to. */
static mote_status reserve_sums(mote_renderer *renderer, splat_pass *pass) {
    mote_device *gpu = renderer->device;
    render_frame_cuda *frame = (render_frame_cuda *)renderer->frame;
    const uint64_t samples = (uint64_t)pass->view.width * pass->view.height;
    frame->sums = (render_sums_cuda *)render_buffer_of(renderer, samples * sizeof(render_sums_cuda));
    pass->sums = frame->sums;
    if (frame->sums == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_fill(gpu, frame->sums, 0, samples * sizeof(render_sums_cuda)));
    if (!pass->wants_best) return MOTE_OK;
    pass->best = (unsigned long long *)render_buffer_of(renderer, samples * sizeof(unsigned long long));
    pass->best_splat = (uint32_t *)render_buffer_of(renderer, samples * sizeof(uint32_t));
    if (pass->best == NULL || pass->best_splat == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_fill(gpu, pass->best, 0, samples * sizeof(unsigned long long)));
    return cuda_fill(gpu, pass->best_splat, 0xFF, samples * sizeof(uint32_t));
}

static mote_status hide(mote_renderer *renderer) {
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    CUDA_LAUNCH(renderer->device, hide_splats, cuda_blocks(frame->front_count, THREADS), THREADS, frame->screen,
                frame->limits, frame->front_count, frame->splats, frame->counters);
    return cuda_launched(renderer->device, "drawing splats");
}

static mote_status draw_by_atomics(mote_renderer *renderer, splat_pass *pass) {
    mote_device *gpu = renderer->device;
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    const uint64_t samples = (uint64_t)pass->view.width * pass->view.height;
    const uint32_t warps = cuda_blocks(pass->count, WARPS);
    MOTE_TRY(reserve_sums(renderer, pass));
    MOTE_TRY(cuda_fill(gpu, frame->limits, 0xFF, samples * sizeof(uint32_t)));
    CUDA_LAUNCH(gpu, limit_splats, warps, THREADS, *pass);
    MOTE_TRY(hide(renderer));
    MOTE_TRY(cuda_fill(gpu, frame->limits, 0xFF, samples * sizeof(uint32_t)));
    CUDA_LAUNCH(gpu, limit_splats, warps, THREADS, *pass);
    CUDA_LAUNCH(gpu, add_splats, warps, THREADS, *pass);
    if (pass->wants_best) CUDA_LAUNCH(gpu, name_best, warps, THREADS, *pass);
    CUDA_LAUNCH(gpu, show_splats, cuda_blocks(samples, THREADS), THREADS, *pass, frame->screen, renderer->points,
                frame->samples, frame->shown);
    return cuda_launched(gpu, "drawing splats");
}

static mote_status draw_by_tiles(mote_renderer *renderer, const splat_pass *pass, splat_tiles *tiles) {
    MOTE_TRY(render_fill_tiles_cuda(renderer, pass, tiles));
    MOTE_TRY(render_limit_tiles_cuda(renderer, pass, tiles));
    MOTE_TRY(hide(renderer));
    return render_show_tiles_cuda(renderer, pass, tiles);
}

static mote_status make_splats_of(mote_renderer *renderer, const render_job *job) {
    mote_device *gpu = renderer->device;
    const render_frame_cuda *frame = (const render_frame_cuda *)renderer->frame;
    const render_splat_rules rules = render_rules_of(job);
    const uint32_t count = frame->front_count;
    const render_deferred deferred = {frame->deferred, &frame->counters->deferred, &frame->counters->deferred_taken};
    const keep_neighbors keep = {rules.k, frame->near, frame->found};
    const uint64_t samples = (uint64_t)job->view.width * job->view.height;
    const bool dense =
        rules.k <= DENSE_K && frame->screen.layer_count <= DENSE_LAYERS && (uint64_t)count * MIN_DENSE >= samples;
    const auto search_first = frame->screen.layer_count == 1 ? search_dense<1> : search_dense<2>;
    const auto search = rules.k <= 8    ? search_around<8>
                        : rules.k <= 16 ? search_around<16>
                                        : search_around<MOTE_RENDER_MAX_K>;
    MOTE_TRY(cuda_fill(gpu, frame->found, 0, count * sizeof(uint32_t)));
    if (dense) {
        CUDA_LAUNCH(gpu, search_first, render_dense_parts(&frame->screen), DENSE_THREADS, frame->screen,
                    renderer->points, rules, keep);
    }
    CUDA_LAUNCH(gpu, search, render_around_tiles(&frame->screen), AROUND_THREADS, frame->screen, renderer->points,
                deferred, rules, keep);
    CUDA_LAUNCH(gpu, search_deferred, cuda_resident_blocks(gpu, (const void *)search_deferred, THREADS), THREADS,
                frame->screen, deferred, rules, keep);
    CUDA_LAUNCH(gpu, make_splats, cuda_blocks(count, THREADS), THREADS, frame->screen, renderer->points, rules, count,
                keep, frame->splats, frame->counters);
    return cuda_launched(gpu, "finding neighbours");
}

mote_status render_surface_cuda(mote_renderer *renderer, const render_job *job) {
    splat_pass pass;
    splat_tiles tiles;
    bool fits = false;
    mote_stage(renderer->ctx, "layers");
    MOTE_TRY(render_see_cuda(renderer, job));
    MOTE_TRY(reserve_splats(renderer, job, &pass));
    MOTE_TRY(mote_progress(renderer->ctx, 0.5, "finding neighbours"));
    mote_stage(renderer->ctx, "neighbours");
    MOTE_TRY(make_splats_of(renderer, job));
    MOTE_TRY(mote_progress(renderer->ctx, 0.6, "drawing splats"));
    mote_stage(renderer->ctx, "splats");
    MOTE_TRY(render_count_tiles_cuda(renderer, &pass, &tiles, &fits));
    return fits ? draw_by_tiles(renderer, &pass, &tiles) : draw_by_atomics(renderer, &pass);
}

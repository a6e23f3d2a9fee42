/* Closing holes on CPU cores. Which samples are holes is told for 32 of a row at once, as bytes: each direction is a
   few shifted reads of the rows around, of which the nearest that shows something counts.

     shown   rows of a band, and as many above and below as a hole is wide; the same to the left and right

       . . . . . . . .      row -1      a read at u - 1 of row -1 and one at u + 1 of row 1 are the ends of a gap
       . # # . # # # .      row 0       of 2 across, for 32 samples from u on
       . . . . . . . .      row 1                                                                                    */
#include "render/render_cpu.h"
#include "render/shade/render_close_math.h"

#define LANES    32u
#define BAND     32u  /* rows that a thread takes at once */
#define MAX_WIDE 32u  /* of holes that are told so; the steps of both ways fit a byte */
#define NOWHERE  100u /* steps to what is not within reach: more than any two that make a narrow gap */

typedef uint8_t lanes __attribute__((vector_size(32)));

static inline lanes load(const uint8_t *from) {
    lanes a;
    memcpy(&a, from, sizeof a);
    return a;
}

/* Rows of a band as bytes: 255 where a sample shows something. */
typedef struct band {
    uint64_t stride; /* bytes of a row */
    uint32_t margin; /* of samples on each side, and of rows */
    uint8_t *shown;  /* [(BAND + 2 margin) · stride] */
} band;

static uint64_t band_stride(uint32_t width, uint32_t margin) { return (uint64_t)width + 2 * margin + LANES; }

static void read_band(const render_view *view, const float *depth, int64_t first, band *b) {
    memset(b->shown, 0, (BAND + 2 * b->margin) * b->stride);
    for (uint32_t r = 0; r < BAND + 2 * b->margin; r++) {
        const int64_t v = first + r - b->margin;
        if (v < 0 || v >= (int64_t)view->height) continue;
        const float *from = depth + (uint64_t)v * view->width;
        uint8_t *to = b->shown + r * b->stride + b->margin;
        for (uint32_t u = 0; u < view->width; u++) to[u] = from[u] < INFINITY ? 255 : 0;
    }
}

/* Steps from samples to what is nearest in one direction, of the band's bytes. */
static inline lanes steps_to(const band *b, const uint8_t *at, int du, int dv) {
    const ptrdiff_t step = dv * (ptrdiff_t)b->stride + du;
    lanes steps = (lanes){0} + NOWHERE;
    for (ptrdiff_t s = b->margin; s > 0; s--) {
        const lanes shown = load(at + s * step);
        steps = (shown & (uint8_t)s) | (~shown & steps);
    }
    return steps;
}

/* 1 for holes, as render_is_hole. */
static inline lanes holes_at(const band *b, const uint8_t *at) {
    const int directions[RENDER_GAPS][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    const lanes shown = load(at);
    lanes narrow = {0};
    for (int g = 0; g < RENDER_GAPS; g++) {
        const int du = directions[g][0], dv = directions[g][1];
        narrow -= (lanes)(steps_to(b, at, du, dv) + steps_to(b, at, -du, -dv) <= (uint8_t)(b->margin + 1));
    }
    return ~shown & (lanes)(narrow >= RENDER_MIN_GAPS) & 1;
}

static bool is_all_shown(const uint8_t *at) {
    uint64_t words[LANES / 8];
    memcpy(words, at, sizeof words);
    return (words[0] & words[1] & words[2] & words[3]) == UINT64_MAX;
}

/* Marks the holes of a band. Returns how many there are. */
static uint64_t mark_band(const render_view *view, const float *depth, int64_t first, band *b, uint8_t *holes) {
    const uint32_t rows = first + BAND < view->height ? BAND : (uint32_t)(view->height - first);
    uint64_t count = 0;
    read_band(view, depth, first, b);
    for (uint32_t r = 0; r < rows; r++) {
        const uint8_t *row = b->shown + (r + b->margin) * b->stride + b->margin;
        uint8_t *to = holes + ((uint64_t)first + r) * view->width;
        for (uint32_t u = 0; u < view->width; u += LANES) {
            const uint32_t lane_count = view->width - u < LANES ? view->width - u : LANES;
            const lanes marks = is_all_shown(row + u) ? (lanes){0} : holes_at(b, row + u);
            memcpy(to + u, &marks, lane_count);
            for (uint32_t l = 0; l < lane_count; l++) count += to[u + l];
        }
    }
    return count;
}

static mote_status mark_in_bands(mote_renderer *renderer, const render_view *view, uint32_t max, uint64_t *closed) {
    render_frame *frame = renderer->frame;
    const int threads = renderer->ctx->threads;
    const uint64_t stride = band_stride(view->width, max), bytes = (BAND + 2 * max) * stride;
    uint64_t count = 0;
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->bands, &frame->bands_capacity, (uint64_t)threads * bytes,
                              1, "frame")) {
        return MOTE_ERROR_MEMORY;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) reduction(+ : count)
    for (int64_t first = 0; first < (int64_t)view->height; first += BAND) {
        if (mote_stop(renderer->ctx)) continue;
        band b = {stride, max, frame->bands + (uint64_t)mote_thread_number() * bytes};
        count += mark_band(view, frame->samples.depth, first, &b, frame->holes);
    }
    *closed = count;
    return mote_stopped(renderer->ctx);
}

/* Marks wider holes, one after the other. */
static mote_status mark_each(mote_renderer *renderer, const render_view *view, uint32_t max, uint64_t *closed) {
    const render_frame *frame = renderer->frame;
    const uint64_t width = view->width;
    uint64_t count = 0;
#pragma omp parallel for schedule(static) num_threads(renderer->ctx->threads) reduction(+ : count)
    for (int64_t v = 0; v < (int64_t)view->height; v++) {
        if (mote_stop(renderer->ctx)) continue;
        for (uint64_t i = (uint64_t)v * width; i < ((uint64_t)v + 1) * width; i++) {
            frame->holes[i] = render_is_hole(view, frame->samples.depth, i, max);
            count += frame->holes[i];
        }
    }
    *closed = count;
    return mote_stopped(renderer->ctx);
}

/* Fills what is marked of a row. */
static void fill_row(const render_frame *frame, const render_view *view, uint64_t first, uint32_t max) {
    for (uint64_t i = first; i < first + view->width; i++) {
        if (frame->holes[i] != 0) render_fill_hole(view, &frame->samples, frame->holes, i, max);
    }
}

mote_status render_close_cpu(mote_renderer *renderer, const render_job *job, mote_render_result *result) {
    render_frame *frame = renderer->frame;
    const render_view *view = &job->view;
    const uint32_t max = job->params->close_pixels * job->params->samples;
    if (max == 0) return MOTE_OK;
    if (!mote_reserve_scratch(renderer->ctx, (void **)&frame->holes, &frame->holes_capacity,
                              (uint64_t)view->width * view->height, 1, "frame")) {
        return MOTE_ERROR_MEMORY;
    }
    if (max <= MAX_WIDE) MOTE_TRY(mark_in_bands(renderer, view, max, &result->closed));
    if (max > MAX_WIDE) MOTE_TRY(mark_each(renderer, view, max, &result->closed));
    if (result->closed == 0) return MOTE_OK;
#pragma omp parallel for schedule(dynamic, 8) num_threads(renderer->ctx->threads)
    for (int64_t v = 0; v < (int64_t)view->height; v++) {
        if (!mote_stop(renderer->ctx)) fill_row(frame, view, (uint64_t)v * view->width, max);
    }
    return mote_stopped(renderer->ctx);
}

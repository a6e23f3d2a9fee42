/* Which points belong to which plane, and their sums, on CPU cores. Blocks of points whose box is far from a plane do
   not look at it: that changes no answer. */
#include "planes/planes_cpu.h"

/* Writes those planes into list that may have points of a box within that number of their tolerances or, if larger,
   their guard. Returns how many. from: the planes that are asked about; NULL: all */
static uint32_t planes_of_box(const planes_box *box, const planes_plane *planes, const uint32_t *from, uint32_t count,
                              float tolerances, uint32_t *list) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t plane = from != NULL ? from[i] : i;
        if (planes_box_is_near(&planes[plane], box, tolerances)) list[found++] = plane;
    }
    return found;
}

/* What a thread keeps: planes near its block, and of the block's points the nearest plane so far. */
typedef struct block_work {
    uint32_t *list, *of_group; /* planes near the block, and near its group */
    uint32_t group_count;
    planes_sums *sums;
    int32_t best[PLANES_BLOCK], first[PLANES_BLOCK];
    int32_t min[PLANES_BLOCK]; /* a distance as bits: where no float is negative, they have the same order */
    float distance[PLANES_BLOCK];
    int32_t allowed[PLANES_BLOCK]; /* -1: the plane may have the point where it is; 0: not */
    int32_t weight[PLANES_BLOCK];
} block_work;

static void measure(const planes_plane *plane, const planes_block *points, float *distance) {
    for (uint32_t i = 0; i < points->count; i++) {
        distance[i] = planes_distance(plane, points->x[i], points->y[i], points->z[i]);
    }
}

/* Does what planes_reaches does, for all points of a block at once. */
static void find_reached(const planes_plane *plane, const planes_block *points, int32_t *restrict reached) {
    const planes_reach reach = plane->reach;
    const uint32_t count = points->count;
    const float *x = points->x, *y = points->y, *z = points->z;
    memset(reached, 0xFF, count * sizeof *reached);
    if (reach.bounded == 0) return;
    for (uint32_t i = 0; i < count; i++) {
        const float u = planes_along(reach.u, x[i], y[i], z[i]), v = planes_along(reach.v, x[i], y[i], z[i]);
        reached[i] = -((int32_t)(u >= reach.low[0]) & (int32_t)(u <= reach.high[0]) & (int32_t)(v >= reach.low[1]) &
                       (int32_t)(v <= reach.high[1]));
    }
}

/* Whether planes_reaches and planes_normal_allows hold, whatever the distance. */
static void find_allowed(const planes_plane *plane, const planes_block *points, int32_t *allowed) {
    find_reached(plane, points, allowed);
    for (uint32_t i = 0; i < points->count && plane->cone != 0 && points->normal != NULL; i++) {
        if (!planes_normal_allows(points->normal[i], plane->normal, plane->cone)) allowed[i] = 0;
    }
}

static int32_t bits_of(float value) {
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Does what planes_nearest_of does, for all points of a block, with masks instead of branches, so that it becomes
   vectors. min starts infinite, which is above every tolerance. */
static void find_nearest(const planes_plane *planes, const planes_block *points, uint32_t planes_near,
                         block_work *work) {
    const uint32_t count = points->count;
    const int32_t *allowed = work->allowed;
    const float *distance = work->distance;
    int32_t *restrict best = work->best, *restrict first = work->first, *restrict min = work->min;
    for (uint32_t i = 0; i < PLANES_BLOCK; i++) {
        best[i] = first[i] = -1;
        min[i] = bits_of(INFINITY);
    }
    for (uint32_t k = 0; k < planes_near; k++) {
        const int32_t number = (int32_t)work->list[k];
        const planes_plane *plane = &planes[number];
        const float tolerance = plane->tolerance;
        measure(plane, points, work->distance);
        find_allowed(plane, points, work->allowed);
        for (uint32_t i = 0; i < count; i++) {
            const float size = fabsf(distance[i]);
            const int32_t bits = bits_of(size), in = allowed[i] & -(int32_t)(size <= tolerance);
            const int32_t nearer = in & -(int32_t)(bits < min[i]), unset = in & -(int32_t)(first[i] < 0);
            first[i] = (first[i] & ~unset) | (number & unset);
            best[i] = (best[i] & ~nearer) | (number & nearer);
            min[i] = (min[i] & ~nearer) | (bits & nearer);
        }
    }
}

/* Adds the block's points, each times its weight; within a block sums of products do not overflow. */
static void add_points(const planes_block *points, const int32_t *weight, planes_sums *to) {
    int64_t first[3] = {0, 0, 0}, products[PLANES_PRODUCTS] = {0, 0, 0, 0, 0, 0};
    uint64_t count = 0;
    for (uint32_t i = 0; i < points->count; i++) {
        const int32_t x = (int32_t)points->x[i], y = (int32_t)points->y[i], z = (int32_t)points->z[i];
        const int32_t u = weight[i] * x, v = weight[i] * y, w = weight[i] * z;
        count += (uint64_t)weight[i];
        first[0] += u;
        first[1] += v;
        first[2] += w;
        products[0] += (int64_t)u * x;
        products[1] += (int64_t)u * y;
        products[2] += (int64_t)u * z;
        products[3] += (int64_t)v * y;
        products[4] += (int64_t)v * z;
        products[5] += (int64_t)w * z;
    }
    to->count += count;
    for (int k = 0; k < 3; k++) to->first[k] += first[k];
    for (int k = 0; k < PLANES_PRODUCTS; k++) planes_add_product(to, k, products[k]);
}

/* Returns how many points have the number. */
static uint32_t take_once(const planes_block *points, const int32_t *label, int32_t number, int32_t *weight) {
    uint32_t taken = 0;
    for (uint32_t i = 0; i < points->count; i++) {
        weight[i] = label[i] == number;
        taken += (uint32_t)weight[i];
    }
    return taken;
}

/* The distances of the block are in work. */
static void add_bands(const planes_plane *plane, const planes_block *points, block_work *work, int32_t number,
                      planes_sums *to) {
    const float t = plane->tolerance, inner = 0.5f * t, outer = 3.0f * t;
    const int32_t *best = work->best, *first = work->first, *allowed = work->allowed;
    uint32_t below = 0, above = 0, close = 0, own = 0;
    find_reached(plane, points, work->allowed);
    for (uint32_t i = 0; i < points->count; i++) {
        const float distance = work->distance[i], size = fabsf(distance);
        const uint32_t in_bands =
            (uint32_t)(best[i] < 0) & (uint32_t)(size > t) & (uint32_t)(size <= outer) & (uint32_t)(allowed[i] != 0);
        const uint32_t up = (uint32_t)(distance >= 0),
                       mine = (uint32_t)(best[i] == number) & (uint32_t)(first[i] == number);
        below += in_bands & (up ^ 1);
        above += in_bands & up;
        own += mine;
        close += mine & (uint32_t)(size <= inner);
    }
    to->own += own;
    to->inner += close;
    to->in_bands[0] += below;
    to->in_bands[1] += above;
}

/* Planes near the block, of those near its group. */
static uint32_t list_planes(const planes_cpu *p, const planes_plane *planes, uint32_t b, float tolerances,
                            block_work *work) {
    return planes_of_box(&p->blocks[b], planes, work->of_group, work->group_count, tolerances, work->list);
}

static void sum_block(const planes_cpu *p, const planes_plane *planes, uint32_t b, block_work *work) {
    const planes_block points = planes_block_at(p, b);
    const uint32_t near = list_planes(p, planes, b, 3.0f, work);
    if (near == 0) return;
    find_nearest(planes, &points, near, work);
    for (uint32_t k = 0; k < near; k++) {
        const int32_t number = (int32_t)work->list[k];
        if (take_once(&points, work->best, number, work->weight) > 0) {
            add_points(&points, work->weight, &work->sums[number]);
        }
        measure(&planes[number], &points, work->distance);
        add_bands(&planes[number], &points, work, number, &work->sums[number]);
    }
}

static void add_sums(planes_sums *to, const planes_sums *from) {
    to->count += from->count;
    to->own += from->own;
    to->inner += from->inner;
    for (int k = 0; k < 2; k++) to->in_bands[k] += from->in_bands[k];
    for (int k = 0; k < 3; k++) to->first[k] += from->first[k];
    for (int k = 0; k < PLANES_PRODUCTS; k++) {
        to->low[k] += from->low[k];
        to->high[k] += from->high[k];
    }
}

/* ---- threads */

static void free_work(mote_context *ctx, block_work *work) {
    for (int t = 0; work != NULL && t < ctx->threads; t++) {
        mote_free(ctx, work[t].list);
        mote_free(ctx, work[t].of_group);
        mote_free(ctx, work[t].sums);
    }
    mote_free(ctx, work);
}

static block_work *make_work(mote_context *ctx, uint32_t planes) {
    block_work *work = mote_alloc_zero(ctx, (uint64_t)ctx->threads * sizeof *work, "planes sums");
    bool all = work != NULL;
    for (int t = 0; all && t < ctx->threads; t++) {
        work[t].list = mote_alloc(ctx, planes * sizeof *work[t].list, "planes sums");
        work[t].of_group = mote_alloc(ctx, planes * sizeof *work[t].of_group, "planes sums");
        work[t].sums = mote_alloc_zero(ctx, planes * sizeof *work[t].sums, "planes sums");
        all = work[t].list != NULL && work[t].of_group != NULL && work[t].sums != NULL;
    }
    if (all) return work;
    free_work(ctx, work);
    return NULL;
}

static void join_sums(mote_context *ctx, const block_work *work, uint32_t count, planes_sums *sums) {
    memset(sums, 0, count * sizeof *sums);
    for (int t = 0; t < ctx->threads; t++) {
        for (uint32_t i = 0; i < count; i++) add_sums(&sums[i], &work[t].sums[i]);
    }
}

static mote_status sum_nearest(planes_points *points, const planes_plane *planes, uint32_t count, planes_sums *sums) {
    const planes_cpu *p = planes_on_cpu(points);
    block_work *work = make_work(points->ctx, count);
    if (work == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(dynamic, 1) num_threads(points->ctx->threads)
    for (int64_t g = 0; g < (int64_t)p->group_count; g++) {
        block_work *mine = &work[mote_thread_number()];
        mine->group_count = planes_of_box(&p->groups[g], planes, NULL, count, 3.0f, mine->of_group);
        for (uint32_t b = (uint32_t)g * PLANES_GROUP; b < planes_group_end(p, (uint32_t)g); b++)
            sum_block(p, planes, b, mine);
    }
    join_sums(points->ctx, work, count, sums);
    free_work(points->ctx, work);
    return MOTE_OK;
}

/* ---- labels */

static uint32_t mark_free(const planes_plane *planes, const planes_block *points, uint32_t near, block_work *work,
                          uint8_t *restrict free_points) {
    const uint32_t count = points->count;
    const int32_t *allowed = work->allowed;
    const float *distance = work->distance;
    memset(free_points, 1, count);
    for (uint32_t k = 0; k < near; k++) {
        const planes_plane *plane = &planes[work->list[k]];
        const float guard = plane->guard;
        measure(plane, points, work->distance);
        find_allowed(plane, points, work->allowed);
        for (uint32_t i = 0; i < count; i++) {
            const int32_t held = allowed[i] & -(int32_t)(fabsf(distance[i]) <= guard);
            free_points[i] = (uint8_t)(free_points[i] & ~held);
        }
    }
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) found += free_points[i];
    return found;
}

/* Returns how many points of a block are free. */
static uint32_t label_block(const planes_cpu *p, const planes_plane *planes, uint32_t b, block_work *work) {
    const planes_block points = planes_block_at(p, b);
    const uint32_t near = list_planes(p, planes, b, 1.0f, work);
    find_nearest(planes, &points, near, work);
    memcpy(points.label, work->best, points.count * sizeof *points.label);
    return mark_free(planes, &points, near, work, points.free_points);
}

static mote_status label_nearest(planes_points *points, const planes_plane *planes, uint32_t count,
                                 uint64_t *free_points) {
    planes_cpu *p = planes_on_cpu(points);
    block_work *work = make_work(points->ctx, count);
    uint64_t found = 0;
    if (work == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(dynamic, 1) num_threads(points->ctx->threads) reduction(+ : found)
    for (int64_t g = 0; g < (int64_t)p->group_count; g++) {
        block_work *mine = &work[mote_thread_number()];
        mine->group_count = planes_of_box(&p->groups[g], planes, NULL, count, 1.0f, mine->of_group);
        for (uint32_t b = (uint32_t)g * PLANES_GROUP; b < planes_group_end(p, (uint32_t)g); b++)
            found += label_block(p, planes, b, mine);
    }
    free_work(points->ctx, work);
    p->free_count = *free_points = found;
    return MOTE_OK;
}

static void take_weighted(const planes_mixture *mixture, const planes_block *points, int32_t number, block_work *work) {
    measure(&mixture->plane, points, work->distance);
    for (uint32_t i = 0; i < points->count; i++) {
        work->weight[i] =
            planes_weight(mixture, work->distance[i], points->free_points[i]) & -(int32_t)(points->label[i] == number);
    }
}

static mote_status sum_labelled(planes_points *points, const planes_mixture *mixtures, uint32_t count,
                                planes_sums *sums) {
    const planes_cpu *p = planes_on_cpu(points);
    block_work *work = make_work(points->ctx, count);
    if (work == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(dynamic, 16) num_threads(points->ctx->threads)
    for (int64_t b = 0; b < (int64_t)p->block_count; b++) {
        const planes_block some = planes_block_at(p, (uint32_t)b);
        block_work *mine = &work[mote_thread_number()];
        for (int32_t k = planes_next_label(&some, -1); k >= 0; k = planes_next_label(&some, k)) {
            if (mixtures != NULL) {
                take_weighted(&mixtures[k], &some, k, mine);
            } else {
                take_once(&some, some.label, k, mine->weight);
            }
            add_points(&some, mine->weight, &mine->sums[k]);
        }
    }
    join_sums(points->ctx, work, count, sums);
    free_work(points->ctx, work);
    return MOTE_OK;
}

mote_status planes_assign_cpu(planes_points *points, const planes_assignment *how) {
    if (how->planes == NULL) return sum_labelled(points, how->mixtures, how->count, how->sums);
    if (how->sums != NULL) MOTE_TRY(sum_nearest(points, how->planes, how->count, how->sums));
    return how->free_points != NULL ? label_nearest(points, how->planes, how->count, how->free_points) : MOTE_OK;
}

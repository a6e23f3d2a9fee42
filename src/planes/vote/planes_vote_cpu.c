/* The vote on CPU cores: eight directions at once. Their counters, of 16 bits, stay in the first-level cache; before
   one could overflow they are added to the accumulator. */
#include "math/simd.h"
#include "planes/planes_cpu.h"

#define LANES        8u
#define PIECE        64u    /* points whose places are found at once */
#define FLUSH_POINTS 65528u /* votes that a counter of 16 bits takes */

/* Eight directions. Counter of lane l: [l · stride + bin]; stride is even, so that ties round as in planes_bin. */
typedef struct vote_group {
    simd_f a, b, c, middle, magic;
    simd_f nx, ny, nz, cone; /* whole numbers: exact */
    uint32_t stride;
} vote_group;

static vote_group group_of(const planes_directions *table, uint32_t first, uint32_t stride) {
    float at[8][LANES];
    vote_group group;
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t d = first + l < table->directions ? first + l : table->directions - 1;
        at[0][l] = table->a[d];
        at[1][l] = table->b[d];
        at[2][l] = table->c[d];
        at[3][l] = PLANES_MAGIC + (float)(l * stride);
        for (int k = 0; k < 3; k++) at[4 + k][l] = (float)planes_normal_part(table->normal[d], k);
    }
    group.a = simd_f_load(at[0]);
    group.b = simd_f_load(at[1]);
    group.c = simd_f_load(at[2]);
    group.magic = simd_f_load(at[3]);
    group.nx = simd_f_load(at[4]);
    group.ny = simd_f_load(at[5]);
    group.nz = simd_f_load(at[6]);
    group.middle = simd_f_set(table->middle);
    group.cone = simd_f_set((float)table->cone);
    group.stride = stride;
    return group;
}

/* The places of a point's votes among the counters. */
SIMD_INLINE void find_places(const vote_group *g, float x, float y, float z, uint32_t places[LANES]) {
    const simd_f rho =
        simd_f_fma(g->c, simd_f_set(z), simd_f_fma(g->b, simd_f_set(y), simd_f_fma(g->a, simd_f_set(x), g->middle)));
    const simd_i bits = simd_f_bits(simd_f_add(rho, g->magic));
    simd_i_store((int32_t *)places, simd_i_sub(bits, simd_i_set(0x4B000000))); /* the bits of PLANES_MAGIC */
}

SIMD_INLINE void count_votes(const uint32_t places[LANES], uint16_t *counters) {
    for (uint32_t l = 0; l < LANES; l++) counters[places[l]]++;
}

/* Places of some points first, then their votes: neither waits for the other. */
static void vote_all(const vote_group *g, const planes_sample *points, uint32_t first, uint32_t count,
                     uint16_t *counters) {
    uint32_t places[PIECE * LANES];
    for (uint32_t begin = first; begin < first + count; begin += PIECE) {
        const uint32_t rest = first + count - begin, size = rest < PIECE ? rest : PIECE;
        const float *x = points->x + begin, *y = points->y + begin, *z = points->z + begin;
        for (uint32_t k = 0; k < size; k++) find_places(g, x[k], y[k], z[k], places + k * LANES);
        for (uint32_t k = 0; k < size; k++) count_votes(places + k * LANES, counters);
    }
}

/* Bit l: the point votes for direction l. */
SIMD_INLINE uint32_t allowed(const vote_group *g, uint32_t normal) {
    const simd_f x = simd_f_set((float)planes_normal_part(normal, 0));
    const simd_f y = simd_f_set((float)planes_normal_part(normal, 1));
    const simd_f z = simd_f_set((float)planes_normal_part(normal, 2));
    const simd_f dot = simd_f_fma(g->nz, z, simd_f_fma(g->ny, y, simd_f_mul(g->nx, x)));
    if (normal == 0) return 255;
    return simd_f_at_most(g->cone, simd_f_max(dot, simd_f_sub(simd_f_set(0), dot)));
}

static void vote_in_cones(const vote_group *g, const planes_sample *points, uint32_t first, uint32_t count,
                          uint16_t *counters) {
    for (uint32_t i = first; i < first + count; i++) {
        uint32_t places[LANES], bits = allowed(g, points->normal[i]);
        if (bits == 0) continue;
        find_places(g, points->x[i], points->y[i], points->z[i], places);
        for (; bits != 0; bits &= bits - 1) counters[places[__builtin_ctz(bits)]]++;
    }
}

static void flush(const planes_directions *table, uint32_t first, uint32_t stride, uint16_t *counters, uint32_t *to) {
    for (uint32_t l = 0; l < LANES && first + l < table->directions; l++) {
        uint32_t *row = to + (uint64_t)(first + l) * table->bins;
        for (uint32_t b = 0; b < table->bins; b++) row[b] += counters[l * stride + b];
    }
    memset(counters, 0, (size_t)LANES * stride * sizeof *counters);
}

static void vote_group_of(const planes_directions *table, const planes_sample *points, uint32_t first,
                          uint16_t *counters, uint32_t *to) {
    const uint32_t stride = (table->bins + 15) & ~15u;
    const vote_group group = group_of(table, first, stride);
    const bool cones = table->cone > 0 && points->normal != NULL;
    for (uint32_t begin = 0; begin < points->count;) {
        const uint32_t rest = points->count - begin, count = rest < FLUSH_POINTS ? rest : FLUSH_POINTS;
        (cones ? vote_in_cones : vote_all)(&group, points, begin, count, counters);
        flush(table, first, stride, counters, to);
        begin += count;
    }
}

static mote_status make_counters(planes_cpu *p, const planes_directions *table) {
    const uint64_t cells = (uint64_t)table->directions * table->bins;
    if (!mote_reserve_scratch(p->base.ctx, (void **)&p->counters, &p->counter_capacity, cells, sizeof *p->counters,
                              "planes accumulator")) {
        return MOTE_ERROR_MEMORY;
    }
    p->cells = cells;
#pragma omp parallel for schedule(static) num_threads(p->base.ctx->threads)
    for (int64_t d = 0; d < (int64_t)table->directions; d++) {
        memset(p->counters + (uint64_t)d * table->bins, 0, table->bins * sizeof *p->counters);
    }
    return MOTE_OK;
}

/* All points are their own sample. */
static mote_status choose_voters(planes_cpu *p, uint32_t max) {
    const uint32_t wanted = p->free_count < max ? (uint32_t)p->free_count : max;
    const planes_sample all = {p->base.count, p->base.count, p->x, p->y, p->z, p->normal, NULL};
    p->voters = all;
    if (wanted == p->base.count) return MOTE_OK;
    if (p->chosen.capacity < wanted) {
        planes_sample_free(p->base.ctx, &p->chosen);
        MOTE_TRY(planes_sample_make(p->base.ctx, wanted, &p->chosen));
    }
    MOTE_TRY(planes_read_sample_cpu(&p->base, wanted, &p->chosen));
    p->voters = p->chosen;
    return MOTE_OK;
}

static mote_status fill_counters(planes_cpu *p, const planes_directions *table) {
    planes_points *points = &p->base;
    const uint64_t row = (uint64_t)LANES * ((table->bins + 15) & ~15u) + 64;
    const int64_t groups = (table->directions + LANES - 1) / LANES;
    MOTE_TRY(make_counters(p, table));
    uint16_t *scratch =
        mote_alloc_zero(points->ctx, (uint64_t)points->ctx->threads * row * sizeof *scratch, "planes counters");
    if (scratch == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(dynamic, 4) num_threads(points->ctx->threads)
    for (int64_t g = 0; g < groups; g++) {
        vote_group_of(table, &p->voters, (uint32_t)g * LANES, scratch + (uint64_t)mote_thread_number() * row,
                      p->counters);
    }
    mote_free(points->ctx, scratch);
    return MOTE_OK;
}

mote_status planes_vote_cpu(planes_points *points, const planes_voting *how, planes_peak *peaks, uint32_t *count) {
    planes_cpu *p = planes_on_cpu(points);
    MOTE_TRY(planes_directions_fill(points->ctx, how->directions));
    MOTE_TRY(choose_voters(p, how->voters));
    MOTE_TRY(fill_counters(p, how->directions));
    return planes_peaks_cpu(points, how, peaks, count);
}

mote_status planes_read_votes_cpu(planes_points *points, uint32_t *counters) {
    const planes_cpu *p = planes_on_cpu(points);
    memcpy(counters, p->counters, p->cells * sizeof *counters);
    return MOTE_OK;
}

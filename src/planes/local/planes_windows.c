/* Patches: what is flat in windows of the order, ranges of 32 to 8,192 consecutive points that overlap by half. In each
   planes through three points are tried. One is scored by a histogram of the logarithm of the distances: whichever
   distance holds the most more points than evenly spread ones would give says the noise, too.

       points   |#                                      the best distance: most more points than the line has
                |##  .                      . . . .
                |###  . . . . . . . . . .                evenly spread
                +-----------------------------> log of the distance

   Where the points of a patch are not normal about it, several planes may lie side by side: it is searched again, now
   against points spread over its thickness. */
#include <math.h>
#include <string.h>

#include "math/hash.h"
#include "planes/local/planes_local.h"

#define MIN_WINDOW       32u
#define SIZES            9u /* each twice the one before: up to 8192 points */
#define PARTS_A_THREAD   8u /* of the windows, at least, if there are so many */
#define MAX_AT_ONCE      16u
#define TRIALS           32u
#define TURNS            3u   /* patches one after the other of a window, each without the points of those before */
#define PATCHES          6u   /* of a window at most */
#define MIN_LOOKED_AT    16u  /* points that a window needs */
#define MIN_PATCH        10u  /* points of a patch */
#define MIN_SCORE        10.0 /* nats */
#define PATCH_FLATNESS   0.15 /* the noise is below so much of the size */
#define PATCH_FITS       4
#define PATCH_TRUNCATION 1.08 /* what is cut at 2.5 deviations looks so much narrower */
#define EXTENT           1.2  /* times the root mean square distance to the middle: how far a window's points reach */
#define MIN_SIDE_BY_SIDE 60u  /* points of a patch that may be several */
#define MIN_CENTRAL      0.42 /* share of points within 0.6745 noises, of those within 2.5: 0.51 of normal ones */
#define MAX_CENTRAL      0.62
#define BIN_BITS         21         /* of a float, below a bin: four bins from one power of two to the next */
#define BIN_FIRST        (125 << 2) /* of 1/4 */
#define BINS             112
#define MIN_SCORED       8u

typedef struct window_points {
    uint32_t count;
    float x[PLANES_LOCAL_WINDOW], y[PLANES_LOCAL_WINDOW], z[PLANES_LOCAL_WINDOW]; /* from its middle point */
    float distance[PLANES_LOCAL_WINDOW];
} window_points;

/* What the score of a trial takes of a bin, whatever the trial: the bins of distances that may be the best. */
typedef struct window_bins {
    int32_t first, last; /* from the floor to what is below the extent; last is behind them */
    double nats[BINS];   /* of a point more within the bin's end, without what the number of points says */
    double evenly[BINS]; /* points within the bin's end if they are spread evenly */
} window_bins;

typedef struct window_search {
    double floor;
    uint32_t first, size, stride;
    float middle[3];
    uint64_t key;
    planes_patch *patches; /* [PATCHES] */
    uint32_t patch_count;
    const double *count_log; /* [n] n log n */
} window_search;

/* A plane of a window: normal · q = offset. */
typedef struct trial_plane {
    double normal[3], offset;
    double reach, score; /* the best distance, and nats */
} trial_plane;

/* ---- trials */

static int bin_of(float distance) {
    const float raised = distance + 0.25f;
    uint32_t bits;
    memcpy(&bits, &raised, sizeof bits);
    const int bin = (int)(bits >> BIN_BITS) - BIN_FIRST;
    return bin < BINS ? bin : BINS - 1;
}

/* The upper end of a bin; raised by 1/4. */
static float bin_end(int bin) {
    const uint32_t bits = (uint32_t)(bin + 1 + BIN_FIRST) << BIN_BITS;
    float end;
    memcpy(&end, &bits, sizeof end);
    return end;
}

/* The natural logarithm of bin_end. */
static double bin_log(int bin) {
    static const double of_quarter[4] = {0.22314355131420976, 0.4054651081081644, 0.5596157879354227,
                                         0.6931471805599453}; /* log(1 + (k + 1) / 4) */
    return ((bin >> 2) - 2) * 0.6931471805599453 + of_quarter[bin & 3];
}

/* Lays the bins out, with what points would gain in each of them over points that are spread evenly as far as extent.
 */
static void lay_bins(const window_search *s, uint32_t points, double extent, window_bins *bins) {
    const double all = (double)points, log_density = log(all) - log(extent);
    bins->first = bin_of((float)s->floor);
    bins->last = bins->first;
    for (int32_t bin = bins->first; bin < BINS; bin++) {
        const double end = (double)bin_end(bin);
        if (end >= extent) break;
        bins->nats[bin] = log_density + bin_log(bin);
        bins->evenly[bin] = all * end / extent;
        bins->last = bin + 1;
    }
}

/* counts: points of each bin. Four points in a row count apart, for they are often in one bin. */
static void count_distances(const window_points *w, const float normal[3], float offset, uint8_t counts[4][BINS]) {
    uint8_t bins[PLANES_LOCAL_WINDOW];
    for (uint32_t i = 0; i < w->count; i++) {
        const float distance =
            fabsf(fmaf(normal[2], w->z[i], fmaf(normal[1], w->y[i], fmaf(normal[0], w->x[i], -offset))));
        bins[i] = (uint8_t)bin_of(distance);
    }
    for (uint32_t k = 0; k < 4; k++) memset(counts[k], 0, BINS);
    uint32_t i = 0;
    for (; i + 4 <= w->count; i += 4) {
        for (uint32_t k = 0; k < 4; k++) counts[k][bins[i + k]]++;
    }
    for (; i < w->count; i++) counts[0][bins[i]]++;
}

/* The highest bit of the byte of each of eight bins that has points. A bin counts at most 64 points in each of four.
 */
static uint64_t bins_with_points(uint8_t counts[4][BINS], int32_t first) {
    const uint64_t highest = 0x8080808080808080u;
    uint64_t four[4];
    for (uint32_t k = 0; k < 4; k++) memcpy(&four[k], &counts[k][first], sizeof four[k]);
    return ((four[0] | four[1] | four[2] | four[3]) + (highest - 0x0101010101010101u)) & highest;
}

/* Poisson's likelihood of the points within a distance against that of points spread evenly as far as extent: the best
   distance, the end of a bin with points, and its score. Eight bins at a time, for most have no points. */
static void score_trial(const window_search *s, const window_points *w, const window_bins *bins, const float normal[3],
                        float offset, trial_plane *trial) {
    uint8_t counts[4][BINS];
    int32_t best = -1;
    uint32_t within = 0;
    count_distances(w, normal, offset, counts);
    trial->score = 0;
    for (int32_t first = 0; first < bins->last; first += 8) {
        for (uint64_t rest = bins_with_points(counts, first); rest != 0; rest &= rest - 1) {
            const int32_t bin = first + __builtin_ctzll(rest) / 8;
            within += (uint32_t)counts[0][bin] + counts[1][bin] + counts[2][bin] + counts[3][bin];
            if (bin < bins->first || bin >= bins->last || within < MIN_SCORED) continue;
            const double score = s->count_log[within] - within * bins->nats[bin] - (within - bins->evenly[bin]);
            best = score > trial->score ? bin : best;
            trial->score = score > trial->score ? score : trial->score;
        }
    }
    trial->reach = best >= 0 ? (double)bin_end(best) : 0;
}

static bool trial_through(const window_search *s, const window_points *w, uint64_t number, planes_plane *plane) {
    const uint64_t hash = mote_hash_pair(s->key, number);
    const uint32_t a = (uint32_t)(hash & 0x1FFFFF) % w->count, b = (uint32_t)(hash >> 21 & 0x1FFFFF) % w->count;
    const uint32_t c = (uint32_t)(hash >> 42 & 0x1FFFFF) % w->count;
    const float p[3] = {w->x[a], w->y[a], w->z[a]}, q[3] = {w->x[b], w->y[b], w->z[b]};
    const float r[3] = {w->x[c], w->y[c], w->z[c]};
    return a != b && b != c && a != c && planes_through(p, q, r, plane);
}

static trial_plane best_trial(const window_search *s, const window_points *w, uint64_t first, double extent) {
    trial_plane best;
    window_bins bins;
    memset(&best, 0, sizeof best);
    lay_bins(s, w->count, extent, &bins);
    for (uint64_t number = first; number < first + TRIALS; number++) {
        planes_plane plane;
        trial_plane trial;
        if (!trial_through(s, w, number, &plane)) continue;
        const float normal[3] = {plane.a, plane.b, plane.c};
        score_trial(s, w, &bins, normal, plane.d, &trial);
        if (trial.score <= best.score) continue;
        best = trial;
        for (int k = 0; k < 3; k++) best.normal[k] = (double)normal[k];
        best.offset = (double)plane.d;
    }
    return best;
}

/* ---- patches */

static double distance_at(const trial_plane *plane, const window_points *w, uint32_t i) {
    return plane->normal[0] * (double)w->x[i] + plane->normal[1] * (double)w->y[i] +
           plane->normal[2] * (double)w->z[i] - plane->offset;
}

/* Fits the trial to its points, in turns. central: of them within 0.6745 noises. False: too few. */
static bool fit_patch(const window_search *s, const window_points *w, trial_plane *plane, planes_patch *patch,
                      uint32_t *central) {
    planes_local_fit fit;
    patch->noise = fmax(0.5 * plane->reach, s->floor);
    for (int turn = 0; turn < PATCH_FITS; turn++) {
        const double reach = fmax(PLANES_PATCH_REACH * patch->noise, 2 * s->floor);
        planes_moments m;
        memset(&m, 0, sizeof m);
        *central = 0;
        for (uint32_t i = 0; i < w->count; i++) {
            const double size = fabs(distance_at(plane, w, i));
            if (size <= reach) planes_moments_add(&m, (double)w->x[i], (double)w->y[i], (double)w->z[i]);
            *central += size <= 0.6745 * patch->noise;
        }
        if (m.count < MIN_SCORED || !planes_moments_fit(&m, &fit)) return false;
        memcpy(plane->normal, fit.normal, sizeof fit.normal);
        plane->offset = planes_dot(fit.normal, fit.middle);
        patch->noise = fmax(PATCH_TRUNCATION * fit.rms * sqrt(m.count / (m.count - 3)), s->floor);
        patch->count = (uint32_t)m.count;
    }
    memcpy(patch->normal, fit.normal, sizeof fit.normal);
    for (int k = 0; k < 3; k++) patch->at[k] = fit.middle[k] + (double)s->middle[k];
    patch->size = fit.size;
    return patch->count >= MIN_PATCH;
}

/* Measures distances to the plane; returns the nats that the points within reach are gained by. */
static double score_patch(window_points *w, const trial_plane *plane, double reach, double extent) {
    uint32_t within = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        w->distance[i] = (float)fabs(distance_at(plane, w, i));
        within += (double)w->distance[i] <= reach;
    }
    const double expected = w->count * reach / extent;
    return within < 2 ? 0 : within * log(within / expected) - (within - expected);
}

static void keep_patch(window_search *s, planes_patch *patch, double score) {
    if (!(score > MIN_SCORE) || !(patch->noise < PATCH_FLATNESS * patch->size) || s->patch_count == PATCHES) return;
    patch->score = score * s->stride;
    patch->first = s->first;
    patch->window = s->size;
    patch->stride = s->stride;
    s->patches[s->patch_count++] = *patch;
}

/* The points within a distance (keep_near), or those beyond it. */
static void split_points(const window_points *w, double distance, bool keep_near, window_points *to) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        if (((double)w->distance[i] <= distance) != keep_near) continue;
        to->x[kept] = w->x[i];
        to->y[kept] = w->y[i];
        to->z[kept++] = w->z[i];
    }
    to->count = kept;
}

/* How far a window's points reach; 0: they are in one place or on a line. */
static double extent_of(const window_points *w) {
    planes_moments m;
    planes_local_fit fit;
    memset(&m, 0, sizeof m);
    for (uint32_t i = 0; i < w->count; i++) planes_moments_add(&m, (double)w->x[i], (double)w->y[i], (double)w->z[i]);
    return planes_moments_fit(&m, &fit) ? EXTENT * fit.size : 0;
}

/* thickness  0, or that of a patch whose points these are */
static void search_window(window_search *s, window_points *w, double thickness) {
    const uint32_t all = w->count;
    for (uint32_t turn = 0; turn < TURNS && w->count >= MIN_LOOKED_AT && 4 * w->count >= all; turn++) {
        const double extent = thickness > 0 ? thickness : extent_of(w);
        planes_patch patch;
        uint32_t central = 0;
        if (!(extent > 4 * s->floor)) return;
        trial_plane plane = best_trial(s, w, (thickness > 0 ? TURNS + turn : turn) * TRIALS, extent);
        const double of_trial = plane.score;
        memset(&patch, 0, sizeof patch);
        if (of_trial < MIN_SCORED || !fit_patch(s, w, &plane, &patch, &central)) return;
        const double reach = 2 * patch.noise, score = score_patch(w, &plane, reach, extent);
        keep_patch(s, &patch, thickness > 0 ? of_trial : score);
        if (thickness <= 0 && patch.count >= MIN_SIDE_BY_SIDE && patch.noise > 3 * s->floor &&
            (central < MIN_CENTRAL * patch.count || central > MAX_CENTRAL * patch.count)) {
            window_points thick;
            split_points(w, PLANES_PATCH_REACH * patch.noise, true, &thick);
            search_window(s, &thick, PLANES_PATCH_REACH * patch.noise);
        }
        split_points(w, 1.5 * reach, false, w);
    }
}

/* ---- windows */

static void take_window(const planes_sample *sample, window_search *s, window_points *w) {
    const uint32_t middle = s->first + s->size / 2;
    s->stride = s->size > PLANES_LOCAL_WINDOW ? s->size / PLANES_LOCAL_WINDOW : 1;
    s->key = (uint64_t)s->size << 32 | s->first;
    s->middle[0] = sample->x[middle];
    s->middle[1] = sample->y[middle];
    s->middle[2] = sample->z[middle];
    w->count = 0;
    for (uint32_t i = s->first; i < s->first + s->size && w->count < PLANES_LOCAL_WINDOW; i += s->stride) {
        w->x[w->count] = sample->x[i] - s->middle[0];
        w->y[w->count] = sample->y[i] - s->middle[1];
        w->z[w->count++] = sample->z[i] - s->middle[2];
    }
}

static uint32_t windows_of_size(uint32_t points, uint32_t size) {
    return points < size ? 0 : (points - size) / (size / 2) + 1;
}

/* The windows of all sizes, the largest first, for they take the longest. Those of size MIN_WINDOW << k are
   first[k] .. first[k + 1] - 1 of the order in which patches are listed. */
typedef struct window_list {
    uint32_t count;
    uint32_t first[SIZES + 1];
} window_list;

static window_list list_windows(uint32_t points) {
    window_list list;
    list.first[0] = 0;
    for (uint32_t k = 0; k < SIZES; k++) list.first[k + 1] = list.first[k] + windows_of_size(points, MIN_WINDOW << k);
    list.count = list.first[SIZES];
    return list;
}

static void search_one(const planes_local *search, const window_list *windows, uint32_t number, const double *count_log,
                       planes_patch *patches, uint32_t *count) {
    window_points points;
    window_search s;
    uint32_t k = SIZES - 1;
    while (number < windows->first[k]) k--;
    memset(&s, 0, sizeof s);
    s.floor = search->params.floor;
    s.size = MIN_WINDOW << k;
    s.first = (number - windows->first[k]) * (s.size / 2);
    s.patches = patches;
    s.count_log = count_log;
    take_window(search->sample, &s, &points);
    search_window(&s, &points, 0);
    *count = s.patch_count;
}

/* A few windows at a time, but so few that all threads have some. */
static void search_windows(planes_local *search, const window_list *windows, const double *count_log,
                           uint32_t *counts) {
    const uint32_t threads = (uint32_t)search->ctx->threads, parts = windows->count / (PARTS_A_THREAD * threads);
    const uint32_t at_once = parts < 1 ? 1 : parts < MAX_AT_ONCE ? parts : MAX_AT_ONCE;
    const int64_t batches = ((int64_t)windows->count + at_once - 1) / at_once;
#pragma omp parallel for schedule(dynamic, 1) num_threads(search->ctx->threads)
    for (int64_t batch = batches - 1; batch >= 0; batch--) {
        const uint32_t first = (uint32_t)batch * at_once, rest = windows->count - first;
        if (mote_stop(search->ctx)) continue;
        for (uint32_t i = first; i < first + (rest < at_once ? rest : at_once); i++) {
            search_one(search, windows, i, count_log, search->patches + PATCHES * (uint64_t)i, &counts[i]);
        }
    }
}

mote_status planes_find_patches(planes_local *search) {
    mote_context *ctx = search->ctx;
    const window_list windows = list_windows(search->sample->count);
    double count_log[PLANES_LOCAL_WINDOW + 1];
    for (uint32_t i = 0; i <= PLANES_LOCAL_WINDOW; i++) count_log[i] = i > 0 ? i * log(i) : 0;
    uint32_t *counts = mote_alloc(ctx, windows.count * sizeof *counts, "planes patches");
    search->patches = mote_alloc(ctx, (uint64_t)windows.count * PATCHES * sizeof *search->patches, "planes patches");
    if (counts == NULL || search->patches == NULL) {
        mote_free(ctx, counts);
        return MOTE_ERROR_MEMORY;
    }
    search_windows(search, &windows, count_log, counts);
    const mote_status status = mote_stopped(ctx);
    search->patch_count = 0;
    for (uint32_t i = 0; i < windows.count && status == MOTE_OK; i++) {
        planes_patch *to = search->patches + search->patch_count;
        memmove(to, search->patches + (uint64_t)i * PATCHES, counts[i] * sizeof *to);
        search->patch_count += counts[i];
    }
    mote_free(ctx, counts);
    return status;
}

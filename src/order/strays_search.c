/* Box and strays of points that come in pieces, in up to three passes: the first finds the box, and samples where the
   caller knew how many points there are; the last, where strays are possible, looks at all points once more.

       pass     box and sample ──> (count was wrong: sample) ──> (box reaches far out: look at all) */
#include "order/strays.h"

#include <math.h>

#include "core/column_math.h"
#include "mote/strays.h"

typedef enum search_step { STEP_BOX, STEP_SAMPLE, STEP_LOOK, STEP_DONE } search_step;

struct mote_strays_search {
    mote_context *ctx;
    search_step step;
    uint64_t count, given; /* points that the sample is of; that came in this pass */
    uint64_t sampled;
    mote_box box, near;
    uint64_t skipped;
    strays_sample sample;
    strays_part all;
    strays_part *parts; /* [threads] */
};

mote_status mote_strays_search_open(mote_context *ctx, uint64_t count, mote_strays_search **out) {
    mote_strays_search *search = *out = mote_alloc_zero(ctx, sizeof *search, "strays");
    if (search == NULL) return MOTE_ERROR_MEMORY;
    search->ctx = ctx;
    search->count = count;
    for (int k = 0; k < 3; k++) {
        search->box.min[k] = INFINITY;
        search->box.max[k] = -INFINITY;
    }
    strays_part_clear(&search->all);
    search->parts = mote_alloc(ctx, (uint64_t)ctx->threads * sizeof *search->parts, "strays");
    if (search->parts != NULL) return MOTE_OK;
    mote_strays_search_close(search);
    *out = NULL;
    return MOTE_ERROR_MEMORY;
}

void mote_strays_search_close(mote_strays_search *search) {
    if (search == NULL) return;
    mote_context *const ctx = search->ctx;
    mote_free(ctx, search->parts);
    mote_free(ctx, search);
}

static mote_status widen_box(mote_strays_search *search, const mote_cloud *piece) {
    mote_box box;
    uint64_t skipped;
    MOTE_TRY(mote_cloud_bounds(search->ctx, piece, &box, &skipped));
    search->skipped += skipped;
    for (int k = 0; k < 3; k++) {
        search->box.min[k] = fmin(search->box.min[k], box.min[k]);
        search->box.max[k] = fmax(search->box.max[k], box.max[k]);
    }
    return MOTE_OK;
}

static void sample_piece(mote_strays_search *search, const mote_cloud *piece, const mote_column *const axes[3]) {
    const uint64_t size = strays_sample_size(search->count);
    for (; search->sampled < size; search->sampled++) {
        const uint64_t point = strays_sample_point(search->count, size, search->sampled);
        if (point >= search->given + piece->count) return;
        strays_sample_add(axes, point - search->given, &search->sample);
    }
}

mote_status mote_strays_search_add(mote_strays_search *search, const mote_cloud *piece) {
    const mote_column *axes[3];
    MOTE_TRY(mote_cloud_positions(search->ctx, piece, axes));
    if (piece->device != NULL) {
        return mote_fail(search->ctx, MOTE_ERROR_UNSUPPORTED, "strays of pieces are searched for in host memory");
    }
    if (search->step == STEP_BOX) MOTE_TRY(widen_box(search, piece));
    if (search->step < STEP_LOOK) sample_piece(search, piece, axes);
    if (search->step == STEP_LOOK) {
        strays_look_at(axes, &search->near, search->given, piece->count, search->ctx->threads, search->parts,
                       &search->all);
    }
    search->given += piece->count;
    return MOTE_OK;
}

bool mote_strays_search_again(mote_strays_search *search) {
    const bool is_sampled = search->count == search->given;
    if (search->step == STEP_BOX && !is_sampled) {
        search->step = STEP_SAMPLE;
        search->count = search->given;
        search->sampled = search->sample.count = 0;
    } else if (search->step < STEP_LOOK && strays_find_near(&search->sample, &search->box, &search->near)) {
        search->step = STEP_LOOK;
    } else {
        search->step = STEP_DONE;
    }
    search->given = 0;
    return search->step != STEP_DONE;
}

void mote_strays_search_tell(const mote_strays_search *search, mote_box *box, uint64_t *skipped, mote_strays *strays) {
    *box = search->box;
    if (skipped != NULL) *skipped = search->skipped;
    strays_tell(&search->all, strays);
}

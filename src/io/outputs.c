/* Outputs that belong together: complete, they wait under their temporary names, and take their names at once.
 *
 *   hold     first ⇄ … ⇄ last      in the order in which they were completed
 *   release  take, take, take ✗    one cannot get its name:
 *            give_back, give_back  those before it, the last first
 *            settle                all */
#include "io/outputs.h"

#include "core/mapped_file.h"
#include "mote/io.h"

#define SHARING 8u /* outputs looked back at for one in the same folder */

typedef struct held_output {
    const output_naming *naming;
    void *place;
    struct held_output *next, *previous;
} held_output;

struct mote_held_outputs {
    held_output *first, *last;
};

mote_status mote_outputs_hold(mote_context *ctx) {
    if (ctx->held == NULL) ctx->held = mote_alloc_zero(ctx, sizeof *ctx->held, "output");
    return ctx->held != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* A thousand pictures in one folder need not hold it open a thousand times. */
static void share_folder(const held_output *held) {
    const held_output *other = held->previous;
    for (unsigned i = 0; other != NULL && i < SHARING; i++, other = other->previous) {
        if (other->naming != held->naming || held->naming->share == NULL) continue;
        if (held->naming->share(held->place, other->place)) return;
    }
}

static mote_status wait_for_release(mote_context *ctx, const output_naming *naming, void *place) {
    held_output *held = mote_alloc_zero(ctx, sizeof *held, "output");
    if (held == NULL) {
        naming->settle(ctx, place);
        return MOTE_ERROR_MEMORY;
    }
    held->naming = naming;
    held->place = place;
    held->previous = ctx->held->last;
    if (held->previous != NULL) held->previous->next = held;
    if (ctx->held->first == NULL) ctx->held->first = held;
    ctx->held->last = held;
    share_folder(held);
    return MOTE_OK;
}

mote_status mote_outputs_add(mote_context *ctx, const output_naming *naming, void *place, mote_status status) {
    if (status == MOTE_OK && ctx->held != NULL) return wait_for_release(ctx, naming, place);
    return mote_outputs_end(ctx, naming, place, status);
}

mote_status mote_outputs_end(mote_context *ctx, const output_naming *naming, void *place, mote_status status) {
    if (status == MOTE_OK) status = naming->take(ctx, place, false);
    naming->settle(ctx, place);
    return status;
}

int mote_outputs_open(const mote_context *ctx, const char *path) {
    const held_output *held = ctx->held != NULL ? ctx->held->last : NULL;
    for (; held != NULL; held = held->previous) {
        if (held->naming->open == NULL || strcmp(held->naming->path(held->place), path) != 0) continue;
        return held->naming->open(held->place);
    }
    return -1;
}

/* ---- release */

static void give_back(mote_context *ctx, const held_output *held) {
    for (; held != NULL; held = held->previous) {
        if (held->naming->give_back(held->place)) continue;
        mote_warn(ctx, "%s: is replaced already, and what was there cannot be brought back",
                  held->naming->path(held->place));
    }
}

static mote_status take_names(mote_context *ctx) {
    const bool together = ctx->held->first != ctx->held->last;
    for (const held_output *held = ctx->held->first; held != NULL; held = held->next) {
        const mote_status status = held->naming->take(ctx, held->place, together);
        if (status == MOTE_OK) continue;
        give_back(ctx, held->previous);
        return status;
    }
    return MOTE_OK;
}

/* The last first: the folder that some share is that of the first of them. */
static void settle_all(mote_context *ctx) {
    for (held_output *held = ctx->held->last; held != NULL;) {
        held_output *previous = held->previous;
        held->naming->settle(ctx, held->place);
        mote_free(ctx, held);
        held = previous;
    }
    mote_free(ctx, ctx->held);
    ctx->held = NULL;
}

/* The inputs are looked at before the first name is taken: from there on only the names themselves can fail. */
mote_status mote_outputs_release(mote_context *ctx, mote_status status) {
    if (ctx->held == NULL) return status;
    if (status == MOTE_OK && ctx->held->first != NULL) status = mote_mapped_check_all(ctx);
    if (status == MOTE_OK) status = take_names(ctx);
    settle_all(ctx);
    return status;
}

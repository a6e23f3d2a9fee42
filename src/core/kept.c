/* What steps keep in a context from one call to the next. */
#include "core/core.h"

/* Takes the i-th out of the list; ctx->lock is held. */
static mote_kept take_out(mote_context *ctx, uint32_t i) {
    const mote_kept kept = ctx->kept[i];
    ctx->kept[i] = ctx->kept[--ctx->kept_count];
    return kept;
}

void mote_keep(mote_context *ctx, const char *name, void *memory, mote_kept_release release, bool on_device) {
    const mote_kept kept = {name, memory, release, on_device};
    mote_kept out = {NULL, NULL, NULL, false};
    pthread_mutex_lock(&ctx->lock);
    for (uint32_t i = 0; i < ctx->kept_count && out.name == NULL; i++) {
        if (strcmp(ctx->kept[i].name, name) == 0) out = take_out(ctx, i);
    }
    if (ctx->kept_count == MOTE_KEPT_MOST && out.name == NULL) out = take_out(ctx, 0);
    ctx->kept[ctx->kept_count++] = kept;
    pthread_mutex_unlock(&ctx->lock);
    if (out.name != NULL) out.release(ctx, out.memory);
}

void *mote_take_kept(mote_context *ctx, const char *name) {
    void *memory = NULL;
    pthread_mutex_lock(&ctx->lock);
    for (uint32_t i = 0; i < ctx->kept_count && memory == NULL; i++) {
        if (strcmp(ctx->kept[i].name, name) == 0) memory = take_out(ctx, i).memory;
    }
    pthread_mutex_unlock(&ctx->lock);
    return memory;
}

bool mote_release_kept(mote_context *ctx, bool on_device) {
    mote_kept out[MOTE_KEPT_MOST];
    uint32_t count = 0;
    pthread_mutex_lock(&ctx->lock);
    for (uint32_t i = ctx->kept_count; i-- > 0;) {
        if (ctx->kept[i].on_device == on_device) out[count++] = take_out(ctx, i);
    }
    pthread_mutex_unlock(&ctx->lock);
    for (uint32_t i = 0; i < count; i++) out[i].release(ctx, out[i].memory);
    return count > 0;
}

void mote_context_trim(mote_context *ctx) {
    mote_release_kept(ctx, true);
    mote_release_kept(ctx, false);
}

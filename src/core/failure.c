#define _GNU_SOURCE /* the types of stat, in mapped_state.h */
/* What failed: the first failure of a context, its message, and warnings. */
#include <stdio.h>

#include "core/core.h"
#include "core/mapped_state.h"

const char *mote_context_message(const mote_context *ctx) { return ctx->message; }

void mote_context_clear(mote_context *ctx) {
    pthread_mutex_lock(&ctx->lock);
    ctx->status = MOTE_OK;
    ctx->message[0] = '\0';
    ctx->progress_ended = true; /* the call that failed has */
    pthread_mutex_unlock(&ctx->lock);
}

mote_status mote_context_status(mote_context *ctx) {
    pthread_mutex_lock(&ctx->lock);
    const mote_status status = ctx->status;
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

bool mote_is_of_input(mote_status status) {
    return status == MOTE_ERROR_DATA || status == MOTE_ERROR_IO || status == MOTE_ERROR_UNSUPPORTED ||
           status == MOTE_ERROR_CHANGED;
}

#undef mote_fail /* a macro where the analyser looks, see core.h */
mote_status mote_fail(mote_context *ctx, mote_status status, const char *format, ...) {
    pthread_mutex_lock(&ctx->lock);
    const bool is_first = ctx->status == MOTE_OK;
    const mote_status of_file =
        is_first && mote_is_of_input(status) ? mote_mapped_explains(ctx, ctx->message) : MOTE_OK;
    if (of_file != MOTE_OK) {
        ctx->status = status = of_file;
    } else if (is_first) {
        ctx->status = status;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(ctx->message, sizeof ctx->message, format, arguments);
        va_end(arguments);
    }
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

bool mote_reserved_is_zero(const void *reserved, size_t size_bytes) {
    const uint8_t *bytes = reserved;
    uint8_t any = 0;
    for (size_t i = 0; i < size_bytes; i++) any |= bytes[i];
    return any == 0;
}

mote_status mote_check_reserved(mote_context *ctx, const void *reserved, size_t size_bytes, const char *name,
                                const char *start) {
    if (mote_reserved_is_zero(reserved, size_bytes)) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the reserved fields of %s are not zero: start from %s", name, start);
}

static void tell(mote_context *ctx, mote_log_level level, const char *format, va_list arguments) {
    char message[MOTE_MESSAGE_BYTES];
    if (ctx->params.log == NULL) return;
    vsnprintf(message, sizeof message, format, arguments);
    ctx->params.log(ctx->params.log_user, level, message);
}

void mote_warn(mote_context *ctx, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tell(ctx, MOTE_LOG_WARNING, format, arguments);
    va_end(arguments);
}

void mote_note(mote_context *ctx, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tell(ctx, MOTE_LOG_NOTE, format, arguments);
    va_end(arguments);
}

/* How a Potree folder is to be written. */
#include "io/potree/potree.h"

#define DEFAULT_QUALITY 2 /* as small as 3 and 4, and faster: docs/formats/potree.md lists sizes and speeds */

mote_potree_params mote_potree_defaults(void) {
    mote_potree_params params;
    memset(&params, 0, sizeof params);
    params.encoding = MOTE_POTREE_DEFAULT;
    params.brotli_quality = DEFAULT_QUALITY;
    return params;
}

mote_status potree_check_params(mote_context *ctx, const mote_potree_params *params) {
    if (!potree_has_jansson()) return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, POTREE_NO_JANSSON);
    if (params->encoding != MOTE_POTREE_DEFAULT && params->encoding != MOTE_POTREE_BROTLI) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%d is no encoding of Potree", (int)params->encoding);
    }
    if (params->encoding == MOTE_POTREE_DEFAULT) return MOTE_OK;
    if (!potree_has_brotli()) return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, POTREE_NO_BROTLI);
    if (params->brotli_quality < 0 || params->brotli_quality > 11) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "brotli quality is %d, needs 0..11", params->brotli_quality);
    }
    return MOTE_OK;
}

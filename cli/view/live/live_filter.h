/* Which points of a cloud a view shows. */
#ifndef CLI_LIVE_FILTER_H
#define CLI_LIVE_FILTER_H

#include <mote/mote.h>

#include "view/live/live_message.h"

/* Whether a view hides any. What the cloud has no values for hides none. */
bool live_filter_is_on(const live_filter *filter);
bool live_filter_is_same(const live_filter *a, const live_filter *b);
/* The others, as a cloud of their own. up: along which heights count, a direction of any length */
mote_status live_filter_apply(mote_context *ctx, const mote_cloud *cloud, const live_filter *filter, const double up[3],
                              mote_cloud **out);

#endif

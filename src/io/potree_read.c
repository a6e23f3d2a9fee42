#include "io/potree.h"
bool mote_potree_probe(const char *path) {
    (void)path;
    return false;
}
mote_status mote_potree_read(mote_context *ctx, const char *path, const mote_read_params *params, mote_cloud **out) {
    (void)path, (void)params, (void)out;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "pending");
}

/* Clouds get a reference system, or another one. */
#include "io/crs/crs_change.h"
#include "io/crs/crs_codes.h"
#include "io/crs/crs_given.h"
#include "io/crs/crs_units.h"

mote_status mote_cloud_assign_crs(mote_context *ctx, mote_cloud *cloud, const char *crs) {
    crs_codes old;
    char *given = NULL, *text = NULL;
    const char *before = mote_cloud_crs(cloud);
    mote_crs_codes(before, &old);
    const uint32_t heights = old.vertical != 0 ? old.vertical : mote_crs_heights_of_keys(cloud);
    MOTE_TRY(mote_crs_given(ctx, crs, &given));
    mote_status status = mote_crs_text(ctx, given, heights, &text);
    if (status == MOTE_OK && before[0] != '\0' && !mote_crs_same(before, text)) {
        mote_crs_facts was, is;
        mote_crs_describe(before, &was);
        mote_crs_describe(text, &is);
        mote_note(ctx, "the reference system becomes %s; that of the input, %s, is not believed", is.name, was.name);
    }
    if (status == MOTE_OK) status = mote_cloud_set_crs(cloud, text);
    mote_free(ctx, text);
    mote_free(ctx, given);
    return status;
}

mote_status mote_crs_assign(mote_context *ctx, mote_cloud *cloud, const mote_read_params *params) {
    return params->crs != NULL ? mote_cloud_assign_crs(ctx, cloud, params->crs) : MOTE_OK;
}

mote_transform_params mote_transform_defaults(void) {
    mote_transform_params params;
    memset(&params, 0, sizeof params);
    return params;
}

mote_status mote_crs_transform(mote_context *ctx, const char *path, mote_cloud **cloud, const char *crs,
                               bool ballpark) {
    crs_change change;
    mote_box box;
    MOTE_TRY(mote_cloud_need_host(ctx, *cloud, "positions to be transformed"));
    MOTE_TRY(mote_cloud_bounds(ctx, *cloud, &box, NULL));
    mote_status status = mote_crs_change_open(ctx, path, *cloud, &box, crs, ballpark, &change);
    if (status == MOTE_OK) status = mote_crs_change_cloud(&change, cloud);
    mote_crs_change_close(&change);
    return status;
}

mote_status mote_cloud_transform(mote_context *ctx, mote_cloud **cloud, const char *crs,
                                 const mote_transform_params *params) {
    const mote_transform_params p = params != NULL ? *params : mote_transform_defaults();
    MOTE_TRY(
        mote_check_reserved(ctx, p.reserved, sizeof p.reserved, "mote_transform_params", "mote_transform_defaults()"));
    return mote_crs_transform(ctx, NULL, cloud, crs, p.ballpark);
}

#include "io/crs/crs_written.h"

#include "io/crs/crs_codes.h"
#include "io/crs/crs_proj.h"
#include "io/crs/crs_units.h"

static bool is_metre(const mote_unit *unit) { return unit->metres == 1; }

/* Whether the unit is stated, and not what the code is known to have. */
static bool is_own(const mote_unit *stated, const mote_unit *known) {
    return stated->name[0] != '\0' && strcmp(stated->name, known->name) != 0;
}

/* Units that keys state and that a code alone would not say. Heights in metres beside metres need no word. */
static bool find_own_units(const mote_cloud *cloud, const crs_codes *codes, mote_units *units) {
    mote_units known;
    if (codes->vertical != 0 || !mote_crs_keys_are_own(cloud, codes->horizontal)) return false;
    if (!mote_crs_units_of_keys(cloud, units)) return false;
    mote_crs_units_of_codes(codes->horizontal, 0, &known);
    const bool plain_heights = is_metre(&units->horizontal) && is_metre(&units->vertical);
    return is_own(&units->horizontal, &known.horizontal) ||
           (is_own(&units->vertical, &known.vertical) && !plain_heights);
}

mote_status mote_crs_written(mote_context *ctx, const mote_cloud *cloud, char **text) {
    const char *crs = mote_cloud_crs(cloud);
    crs_codes codes;
    mote_units units;
    *text = NULL;
    const bool only_codes = mote_crs_codes(crs, &codes);
    if ((only_codes || crs[0] == '\0') && find_own_units(cloud, &codes, &units)) {
        if (crs[0] != '\0' && mote_crs_has_proj()) {
            MOTE_TRY(mote_crs_proj_text_in(ctx, crs, mote_crs_heights_of_keys(cloud), &units, text));
        } else if (!is_metre(&units.horizontal) && units.horizontal.metres > 0) {
            mote_warn(ctx, "the unit of the coordinates, %s, is left out: %s", units.horizontal.name,
                      crs[0] != '\0' ? CRS_NEEDS_PROJ : "there is no reference system whose text would say it");
        }
    }
    if (*text == NULL) *text = mote_strdup(ctx, crs);
    return *text != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

mote_status mote_crs_written_short(mote_context *ctx, const mote_cloud *cloud, char **text) {
    char *whole = NULL;
    *text = NULL;
    if (mote_cloud_crs(cloud)[0] == '\0' || !mote_crs_has_proj()) return MOTE_OK;
    mote_status status = mote_crs_written(ctx, cloud, &whole);
    if (status == MOTE_OK && whole[0] != '\0') status = mote_crs_proj_short(ctx, whole, text);
    mote_free(ctx, whole);
    return status;
}

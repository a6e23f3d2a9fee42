/* Clouds in longitude and latitude are drawn in lengths. */
#include "render/picture_degrees.h"

#include <math.h>

#define DEGREES_OF_RADIAN 57.29577951308232

/* Metres of a degree to the east and to the north, on the ellipsoid of WGS 84: NGA.STND.0036, series in the latitude.
 */
static void find_metres(double latitude_rad, double metres[2]) {
    metres[0] = 111412.84 * cos(latitude_rad) - 93.5 * cos(3 * latitude_rad) + 0.118 * cos(5 * latitude_rad);
    metres[1] =
        111132.92 - 559.82 * cos(2 * latitude_rad) + 1.175 * cos(4 * latitude_rad) - 0.0023 * cos(6 * latitude_rad);
}

int picture_stretch_find(session *s, const mote_cloud *cloud, picture_stretch *out) {
    mote_units units;
    mote_box box;
    mote_strays strays = {.count = 0};
    double metres[2];
    *out = (picture_stretch){.by = {1, 1}};
    mote_cloud_units(cloud, &units);
    if (!(units.horizontal.radians > 0)) return EXIT_DONE;
    mote_status status = mote_cloud_bounds(s->ctx, cloud, &box, NULL);
    if (status == MOTE_OK && box.min[0] <= box.max[0]) status = mote_cloud_strays(s->ctx, cloud, &box, &strays);
    if (status != MOTE_OK) return session_fail(s, status, false);
    if (strays.count > 0) box = strays.rest;
    const double latitude = (box.min[1] + box.max[1]) / 2 * units.horizontal.radians;
    if (!(fabs(latitude) < 1.57)) return EXIT_DONE; /* no latitude, or at a pole, where east is nowhere */
    find_metres(latitude, metres);
    out->unit = units.vertical.metres > 0 ? units.vertical : (mote_unit){.name = "metre", .symbol = "m", .metres = 1};
    for (int k = 0; k < 2; k++) {
        out->by[k] = metres[k] * units.horizontal.radians * DEGREES_OF_RADIAN / out->unit.metres;
    }
    out->is_geographic = true;
    return EXIT_DONE;
}

/* Values stay as they are stored: their steps are longer. */
int picture_stretch_cloud(session *s, const picture_stretch *stretch, mote_cloud *cloud) {
    static const char *const names[2] = {"x", "y"};
    for (int k = 0; k < 2 && stretch->is_geographic; k++) {
        const mote_column stored = *mote_cloud_find(cloud, names[k]); /* its memory stays the cloud's */
        const mote_column_spec drawn = {names[k], stored.type, stored.scale * stretch->by[k],
                                        stored.offset * stretch->by[k]};
        const mote_status status = mote_cloud_put_column(cloud, &drawn);
        if (status != MOTE_OK) return session_fail(s, status, false);
        mote_column_read(&stored, 0, mote_cloud_count(cloud), stored.type, mote_cloud_column_data(cloud, names[k]));
    }
    return EXIT_DONE;
}

void picture_stretch_place(const picture_stretch *stretch, double place[3]) {
    for (int k = 0; k < 2; k++) place[k] *= stretch->by[k];
}

void picture_unstretch_place(const picture_stretch *stretch, double place[3]) {
    for (int k = 0; k < 2; k++) place[k] /= stretch->by[k];
}

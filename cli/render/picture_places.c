/* Where the points of a cloud are. */
#include "render/picture_places.h"

#include <string.h>

static const char *const names[3] = {"x", "y", "z"};

void picture_places_axes(const mote_cloud *cloud, const mote_column *axis[3]) {
    for (int k = 0; k < 3; k++) axis[k] = mote_cloud_find(cloud, names[k]);
}

void picture_place_read(const mote_column *const axis[3], uint64_t row, double place[3]) {
    for (int k = 0; k < 3; k++) place[k] = mote_column_value(axis[k], row);
}

void picture_places_read(const mote_cloud *cloud, uint64_t first, uint32_t count, double places[3][VALUES_BLOCK]) {
    for (int k = 0; k < 3; k++) {
        const point_values one = {{mote_cloud_find(cloud, names[k])}, {1}, 1, mote_cloud_count(cloud), cloud};
        point_values_read(&one, first, count, places[k]);
    }
}

uint64_t picture_place_hash(const double place[3]) {
    const uint64_t golden = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++) {
        uint64_t bits;
        memcpy(&bits, &place[k], sizeof bits);
        hash = (hash ^ bits) * golden;
        hash ^= hash >> 32;
    }
    hash *= golden;
    return hash ^ hash >> 32;
}

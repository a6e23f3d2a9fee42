/* The keys of GeoTIFF that a LAS file has.
   Source: OGC GeoTIFF 1.1, section 7 */
#ifndef MOTE_GEO_KEYS_H
#define MOTE_GEO_KEYS_H

#include "core/cloud.h"

#define KEY_LINEAR         2052u /* of geocentric coordinates */
#define KEY_LINEAR_SIZE    2053u
#define KEY_ANGULAR        2054u
#define KEY_ANGULAR_SIZE   2055u
#define KEY_PROJECTED_UNIT 3076u
#define KEY_PROJECTED_SIZE 3077u

typedef struct geo_keys {
    const mote_record *directory, *doubles; /* doubles: NULL if there are none */
} geo_keys;

/* directory NULL: the cloud has no keys. */
geo_keys geo_keys_of(const mote_cloud *cloud);
/* A code; 0: there is none. */
uint32_t geo_keys_code(const geo_keys *keys, uint32_t key);
/* A number; NAN: there is none. */
double geo_keys_number(const geo_keys *keys, uint32_t key);

#endif

/* Any bytes as the text of a reference system, and as the GeoTIFF keys of a LAS file: the walk over a text that is
   called valid stays inside it and ends, and units are names with a size. */
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "fuzz/fuzz_support.h"
#include "io/crs/crs_codes.h"
#include "io/crs/crs_pipeline.h"
#include "io/crs/crs_units.h"
#include "io/crs/wkt.h"
#include "io/las/las_format.h"

static void require(bool holds) {
    if (!holds) abort();
}

/* Every value of the tree, whose parts lie inside what they are part of. */
static void walk(wkt_span span, unsigned depth) {
    wkt_value value;
    const char *before = span.begin;
    require(depth <= WKT_DEPTH_MAX);
    for (wkt_span rest = span; wkt_next(&rest, &value); before = rest.begin) {
        char copy[32];
        require(rest.begin > before && rest.begin <= span.end);
        require(value.text.begin >= before && value.text.begin <= value.text.end && value.text.end <= rest.begin);
        wkt_copy(value.text, copy, sizeof copy);
        require(strlen(copy) < sizeof copy);
        if (!value.has_brackets) continue;
        require(value.inside.begin > value.text.begin && value.inside.end < rest.begin);
        require(value.inside.begin <= value.inside.end);
        walk(value.inside, depth + 1);
    }
}

static void require_unit(const mote_unit *unit) {
    require(memchr(unit->name, '\0', sizeof unit->name) != NULL);
    require(!(unit->metres > 0 && unit->radians > 0));
    require(unit->name[0] != '\0' || (unit->metres == 0 && unit->radians == 0));
}

static void require_units(const mote_cloud *cloud) {
    mote_units units;
    mote_cloud_units(cloud, &units);
    require_unit(&units.horizontal);
    require_unit(&units.vertical);
    require(units.vertical.radians == 0);
}

static void add_keys(mote_cloud *cloud, uint16_t id, const uint8_t *data, size_t size) {
    mote_record record;
    memset(&record, 0, sizeof record);
    memcpy(record.user_id, LAS_USER_PROJECTION, sizeof LAS_USER_PROJECTION);
    record.record_id = id;
    record.data = data;
    record.size_bytes = size;
    require(mote_cloud_add_record(cloud, &record) == MOTE_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = fuzz_context();
    mote_cloud *cloud = NULL;
    char *text = malloc(size + 1);
    size_t at = 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (wkt_is_valid((const char *)data, size, &at)) walk((wkt_span){(const char *)data, (const char *)data + size}, 0);
    require(at <= size);
    require(mote_cloud_new(ctx, 0, &cloud) == MOTE_OK);
    require(mote_cloud_set_crs(cloud, text) == MOTE_OK);
    mote_crs_facts facts;
    mercator_change change;
    mote_crs_describe(text, &facts);
    require(memchr(facts.name, '\0', sizeof facts.name) != NULL);
    require(mote_crs_same(text, text));
    mote_crs_pipeline_is_mercator(text, &change);
    require_units(cloud);
    require(mote_cloud_set_crs(cloud, "") == MOTE_OK);
    add_keys(cloud, LAS_ID_GEO_KEYS, data, size);
    add_keys(cloud, LAS_ID_GEO_DOUBLES, data, size);
    require_units(cloud);
    free(text);
    fuzz_end(ctx, cloud);
    return 0;
}

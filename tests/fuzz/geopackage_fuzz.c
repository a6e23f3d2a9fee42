/* Any bytes as the blob of a geometry, and, where they begin as SQLite files do, as a GeoPackage. */
#include <mote_have.h>

#include "fuzz/fuzz_support.h"
#include "io/geojson/geojson.h"
#include "io/geojson/geopackage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = fuzz_context();
#if MOTE_HAVE_JANSSON
    const mote_input input = {.path = "fuzz.gpkg", .data = data, .size_bytes = size};
    mote_shapes *shapes = NULL;
    char why[GEOPACKAGE_WHY_BYTES];
    uint64_t positions = 100000;
    json_t *geometry = geopackage_geometry(data, size, &positions, why);
    fuzz_require(ctx, geometry != NULL || why[0] != '\0', "a geometry that is refused without a word");
    json_decref(geometry);
    if (geopackage_probe(&input) && geojson_read_input(ctx, &input, &shapes) == MOTE_OK)
        fuzz_require(ctx, mote_shapes_count(shapes) > 0, "a GeoPackage without shapes");
    mote_shapes_destroy(shapes);
#else
    (void)data, (void)size;
#endif
    fuzz_end(ctx, NULL);
    return 0;
}

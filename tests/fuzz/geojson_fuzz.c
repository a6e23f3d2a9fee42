/* Any bytes as GeoJSON: read, every position looked at, and places asked of the polygons. */
#include <math.h>

#include "fuzz/fuzz_support.h"
#include "io/geojson/geojson.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = fuzz_context();
    const mote_input input = {.path = "fuzz.geojson", .data = data, .size_bytes = size};
    mote_shapes *shapes = NULL;
    mote_region *region = NULL;
    if (geojson_read_input(ctx, &input, &shapes) == MOTE_OK) {
        const mote_status status = mote_region_create(ctx, shapes, MOTE_ALL_FEATURES, &region);
        for (uint32_t s = 0; s < mote_shapes_count(shapes); s++) {
            const mote_shape *shape = mote_shapes_at(shapes, s);
            const uint64_t end = shape->part_starts[shape->part_count];
            fuzz_require(ctx, shape->name != NULL && shape->part_count > 0, "a shape without parts");
            for (uint64_t i = shape->part_starts[0]; i < end && i < 1000; i++) {
                const double *at = shape->positions[i];
                fuzz_require(ctx, isfinite(at[0]) && isfinite(at[1]), "a position that is not finite");
                if (status != MOTE_OK || shape->kind != MOTE_SHAPE_POLYGON) continue;
                fuzz_require(ctx, mote_region_contains(region, at[0], at[1]), "a corner outside of its polygon");
            }
        }
    }
    mote_region_destroy(region);
    mote_shapes_destroy(shapes);
    fuzz_end(ctx, NULL);
    return 0;
}

/* Measuring of the library for the page: the same code, and so the same digits. Compiled for WebAssembly without a C
   library; build.mjs says how. A shape at a time:
     measure_shape(is_line)   measure_ring()   measure_position(x, y, z)   …   measure_shape_end()
   Then one of these:
     measure_area(…)                                              its figures
     measure_region(), measure_region_contains(region, x, y) …    of several shapes
     measure_volume_start(…)   measure_points(n), measure_volume_add(n) …   measure_volume_figures()
       where that says that corners need heights, all points first come by measure_volume_look(n) …   measure_drape()
     measure_profile_start(…)  measure_points(n), measure_profile_add(n) …
   Points are whole steps [x, y, z] of measure_axes(), and a byte each that says whether it counts.
   Memory is given back with the instance, or at once by measure_reset(). */
#include "measure/area.h"
#include "measure/profile_line.h"
#include "measure/volume_grid.h"
#include "shapes/shape_list.h"

#define PAGE_BYTES   65536u
#define ALIGNMENT    64u
#define EXPORT(name) __attribute__((export_name(name)))

extern uint8_t __heap_base; /* of the linker: behind the static data */

static uint64_t memory_end;
static const char *fault = "";

/* ---- instead of src/core */

void *mote_alloc(mote_context *ctx, uint64_t size_bytes, const char *structure) {
    (void)ctx, (void)structure;
    if (memory_end == 0) memory_end = (uint64_t)(uintptr_t)&__heap_base;
    const uint64_t at = (memory_end + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1), end = at + size_bytes;
    const uint64_t have = (uint64_t)__builtin_wasm_memory_size(0) * PAGE_BYTES;
    const uint64_t more = end > have ? (end - have + PAGE_BYTES - 1) / PAGE_BYTES : 0;
    if (end > UINT32_MAX || (more > 0 && __builtin_wasm_memory_grow(0, (size_t)more) == (size_t)-1)) {
        fault = "not enough memory";
        return NULL;
    }
    memory_end = end;
    return (void *)(uintptr_t)at; // NOLINT
}

void *mote_alloc_zero(mote_context *ctx, uint64_t size_bytes, const char *structure) {
    void *memory = mote_alloc(ctx, size_bytes, structure);
    if (memory != NULL) memset(memory, 0, (size_t)size_bytes);
    return memory;
}

void mote_free(mote_context *ctx, void *memory) { (void)ctx, (void)memory; }

bool mote_reserve(mote_context *ctx, void **memory, uint64_t *capacity, uint64_t count, uint64_t element_bytes,
                  const char *structure) {
    if (count <= *capacity) return true;
    const uint64_t doubled = *capacity * 2 > count ? *capacity * 2 : count;
    void *grown = mote_alloc(ctx, doubled * element_bytes, structure);
    if (grown == NULL) return false;
    if (*capacity > 0) memcpy(grown, *memory, (size_t)(*capacity * element_bytes));
    *memory = grown;
    *capacity = doubled;
    return true;
}

mote_status mote_fail(mote_context *ctx, mote_status status, const char *format, ...) {
    (void)ctx;
    fault = format;
    return status;
}

size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length] != '\0') length++;
    return length;
}

/* ---- shapes */

static mote_shapes *shapes;
static int32_t *steps;  /* [3 * points_max] of points */
static uint8_t *hidden; /* [points_max] */
static uint32_t points_max;
static uint32_t *found; /* [found_max] indices of points of a profile */
static double *places;  /* [2 * found_max] along, aside */
static uint32_t found_max;

/* These return 0, or the status of a failure; measure_fault() then says why. */
EXPORT("measure_shape") int measure_shape(int is_line) {
    if (shapes == NULL) MOTE_TRY(shapes_start(NULL, &shapes));
    return shapes_begin(shapes, is_line ? MOTE_SHAPE_LINE : MOTE_SHAPE_POLYGON, 0);
}

EXPORT("measure_ring") int measure_ring(void) { return shapes_begin_part(shapes); }

EXPORT("measure_position") int measure_position(double x, double y, double z) {
    const double position[3] = {x, y, z};
    return shapes_add(shapes, position);
}

/* A ring may repeat its first position as its last. */
EXPORT("measure_ring_end") int measure_ring_end(void) {
    shapes_end_part(shapes);
    return MOTE_OK;
}

EXPORT("measure_shape_end") int measure_shape_end(void) {
    shapes_end_part(shapes);
    MOTE_TRY(shapes_end(shapes));
    shapes_finish(shapes);
    return MOTE_OK;
}

/* Forgets all that there was: the next shape is another measurement. */
EXPORT("measure_reset") void measure_reset(void) {
    memory_end = 0;
    shapes = NULL;
    steps = NULL;
    points_max = found_max = 0;
}

EXPORT("measure_fault") const char *measure_fault(void) { return fault; }

/* ---- regions */

/* Of all shapes since the last one, which are then forgotten; it stays until measure_reset(). NULL: measure_fault(). */
EXPORT("measure_region") mote_region *measure_region(void) {
    mote_region *region = NULL;
    const mote_status status = mote_region_create(NULL, shapes, MOTE_ALL_FEATURES, &region);
    shapes = NULL;
    return status == MOTE_OK ? region : NULL;
}

EXPORT("measure_region_contains") int measure_region_contains(const mote_region *region, double x, double y) {
    return mote_region_contains(region, x, y);
}

/* ---- points */

static double scale[3], offset[3];

/* How steps become coordinates. */
EXPORT("measure_axis") void measure_axis(int axis, double axis_scale, double axis_offset) {
    scale[axis] = axis_scale;
    offset[axis] = axis_offset;
}

/* Room for points; *hidden follows. */
EXPORT("measure_points") int32_t *measure_points(uint32_t count) {
    if (count <= points_max) return steps;
    points_max = count;
    steps = mote_alloc(NULL, 3ull * count * sizeof *steps, "points");
    hidden = mote_alloc(NULL, count, "points");
    if (steps == NULL || hidden == NULL) points_max = 0;
    return points_max > 0 ? steps : NULL;
}

EXPORT("measure_hidden") uint8_t *measure_hidden(void) { return hidden; }

static double coordinate(uint32_t i, int axis) {
    return (double)steps[3 * i + (uint32_t)axis] * scale[axis] + offset[axis];
}

/* ---- figures */

static double figures[8];
static volume_grid grid;
static volume_nearest *nearest; /* [volume_grid_nearest_count()] of grid */

EXPORT("measure_area") double *measure_area(double metres, double radians, double vertical_metres) {
    const measure_unit horizontal = {metres, radians}, vertical = {vertical_metres, 0};
    mote_area area;
    if (area_measure(NULL, shapes, MOTE_ALL_FEATURES, &horizontal, &vertical, &area) != MOTE_OK) return NULL;
    figures[0] = area.area;
    figures[1] = area.surface;
    figures[2] = area.around;
    return figures;
}

/* Returns -1 where corners need heights: see measure_volume_look(). */
EXPORT("measure_volume_start")
int measure_volume_start(int base, double level, double metres, double radians, double vertical_metres) {
    const measure_unit horizontal = {metres, radians}, vertical = {vertical_metres, 0};
    MOTE_TRY(volume_grid_start(NULL, shapes, MOTE_ALL_FEATURES, (mote_volume_base)base, level, &horizontal, &vertical,
                               &grid));
    if (volume_grid_needs_heights(&grid)) {
        nearest = mote_alloc(NULL, volume_grid_nearest_count(&grid) * sizeof *nearest, "volume");
        if (nearest == NULL) return MOTE_ERROR_MEMORY;
        volume_grid_start_nearest(&grid, nearest);
        return -1;
    }
    volume_grid_fit(&grid);
    return MOTE_OK;
}

/* Looks which points are nearest to corners without a height. */
EXPORT("measure_volume_look") void measure_volume_look(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (hidden[i]) continue;
        volume_grid_look_for_nearest(&grid, coordinate(i, 0), coordinate(i, 1), coordinate(i, 2), nearest);
    }
}

/* Gives these corners their heights. Returns how many there are. */
EXPORT("measure_drape") double measure_drape(void) {
    const uint64_t draped = volume_grid_drape(&grid, nearest);
    volume_grid_fit(&grid);
    return (double)draped;
}

EXPORT("measure_volume_add") int measure_volume_add(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        volume_point point;
        if (hidden[i]) continue;
        const volume_answer answer =
            volume_grid_look(&grid, coordinate(i, 0), coordinate(i, 1), coordinate(i, 2), &point);
        if (answer == VOLUME_TOO_HIGH) return mote_fail(NULL, MOTE_ERROR_DATA, "a point inside is too high");
        if (answer == VOLUME_INSIDE && !volume_grid_add(&grid, point)) {
            return mote_fail(NULL, MOTE_ERROR_DATA, "more than 2^32 points are inside");
        }
    }
    return MOTE_OK;
}

/* Of the points so far; NULL: measure_fault(). What it needs meanwhile is free again afterwards. */
EXPORT("measure_volume_figures") double *measure_volume_figures(void) {
    mote_volume volume;
    const uint64_t before = memory_end;
    const mote_status status = volume_grid_finish(&grid, &volume);
    memory_end = before;
    if (status != MOTE_OK) return NULL;
    figures[0] = volume.above;
    figures[1] = volume.below;
    figures[2] = volume.area;
    figures[3] = (double)volume.points;
    figures[4] = volume.empty;
    figures[5] = volume.cell;
    figures[6] = volume.level;
    return figures;
}

/* ---- profiles */

static profile_strip strip;

EXPORT("measure_profile_start") int measure_profile_start(double width, double metres, double radians) {
    const measure_unit horizontal = {metres, radians};
    const mote_shape *line = mote_shapes_at(shapes, 0);
    return profile_strip_make(NULL, line->positions, line->part_starts[1], width, &horizontal, &strip);
}

EXPORT("measure_profile_length") double measure_profile_length(void) { return strip.line.length; }

/* How many of the points belong to it; -1: measure_fault(). */
EXPORT("measure_profile_add") int32_t measure_profile_add(uint32_t count) {
    uint32_t n = 0;
    if (found_max < points_max) {
        found = mote_alloc(NULL, (uint64_t)points_max * sizeof *found, "profile");
        places = mote_alloc(NULL, 2ull * points_max * sizeof *places, "profile");
        if (found == NULL || places == NULL) return -1;
        found_max = points_max;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (hidden[i]) continue;
        if (!profile_strip_place(&strip, coordinate(i, 0), coordinate(i, 1), &places[2 * n], &places[2 * n + 1]))
            continue;
        found[n++] = i;
    }
    return (int32_t)n;
}

EXPORT("measure_profile_found") uint32_t *measure_profile_found(void) { return found; }
EXPORT("measure_profile_places") double *measure_profile_places(void) { return places; }

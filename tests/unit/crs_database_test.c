/* Units of EPSG codes against PROJ's database: every code that it has, and every number between that it has not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mote_have.h>

#include "io/crs/code_runs.h"
#include "io/crs/crs_units.h"
#include "support/support.h"

#if MOTE_HAVE_PROJ
#include <proj.h>

#define CODES       1000000u /* above all of EPSG */
#define HEIGHTS     5703u    /* metres */
#define HEIGHTS_US  6360u    /* US survey feet */
#define RARE_HEIGHT 5754u    /* British feet of 1936 */

/* Metres or radians of one of a system's axes; 0: there is none. */
typedef struct axis_size {
    double metres, radians;
} axis_size;

typedef struct system_sizes {
    axis_size flat, height;
} system_sizes;

static axis_size size_of_axis(PJ_CONTEXT *proj, const PJ *axes, int i) {
    double factor = 0;
    if (i >= proj_cs_get_axis_count(proj, axes)) return (axis_size){0, 0};
    assert_true(proj_cs_get_axis_info(proj, axes, i, NULL, NULL, NULL, &factor, NULL, NULL, NULL));
    const bool is_angle = proj_cs_get_type(proj, axes) == PJ_CS_TYPE_ELLIPSOIDAL && i < 2;
    return (axis_size){is_angle ? 0 : factor, is_angle ? factor : 0};
}

static system_sizes sizes_of(PJ_CONTEXT *proj, const PJ *system) {
    if (proj_get_type(system) == PJ_TYPE_COMPOUND_CRS) {
        PJ *flat = proj_crs_get_sub_crs(proj, system, 0), *heights = proj_crs_get_sub_crs(proj, system, 1);
        const system_sizes sizes = {sizes_of(proj, flat).flat, sizes_of(proj, heights).height};
        proj_destroy(flat);
        proj_destroy(heights);
        return sizes;
    }
    PJ *axes = proj_crs_get_coordinate_system(proj, system);
    const bool is_heights = proj_get_type(system) == PJ_TYPE_VERTICAL_CRS;
    assert_non_null(axes);
    const axis_size first = size_of_axis(proj, axes, 0), third = size_of_axis(proj, axes, 2);
    proj_destroy(axes);
    return is_heights ? (system_sizes){{0, 0}, first} : (system_sizes){first, third};
}

static bool is_size(const mote_unit *unit, axis_size size) {
    return fabs(unit->metres - size.metres) <= 1e-13 * size.metres &&
           fabs(unit->radians - size.radians) <= 1e-13 * size.radians &&
           (unit->name[0] != '\0') == (size.metres > 0 || size.radians > 0);
}

static void expect(uint32_t code, uint32_t heights, axis_size flat, axis_size height) {
    mote_units units;
    mote_crs_units_of_codes(code, heights, &units);
    if (is_size(&units.horizontal, flat) && is_size(&units.vertical, height)) return;
    fail_msg("EPSG:%u+%u is said to count in %s, heights in %s; PROJ: %.17g m or %.17g rad, heights %.17g m", code,
             heights, units.horizontal.name, units.vertical.name, flat.metres, flat.radians, height.metres);
}

/* A code alone, beside heights in each unit, and as heights: only a system of nothing else is one of heights. */
static void expect_everywhere(uint32_t code, system_sizes sizes) {
    const bool is_heights = sizes.flat.metres == 0 && sizes.flat.radians == 0;
    const axis_size none = {0, 0}, metre = {1, 0}, us_foot = {1200.0 / 3937, 0}, british = {0.3048007491, 0};
    expect(code, 0, sizes.flat, sizes.height);
    expect(code, HEIGHTS, sizes.flat, metre);
    expect(code, HEIGHTS_US, sizes.flat, us_foot);
    expect(code, RARE_HEIGHT, sizes.flat, british);
    if (code != 0) expect(32632, code, metre, is_heights ? sizes.height : none);
}

static void every_code_counts_as_in_the_database(void **state) {
    (void)state;
    PJ_CONTEXT *proj = proj_context_create();
    PROJ_CRS_LIST_PARAMETERS *every = proj_get_crs_list_parameters_create();
    const char *version = proj_context_get_database_metadata(proj, "EPSG.VERSION");
    if (version == NULL) skip(); /* the library without its database */
    const bool is_same = strcmp(version, CODE_RUNS_VERSION) == 0;
    bool *is_there = calloc(CODES, sizeof *is_there);
    int count = 0;
    uint32_t compared = 0;
    const uint32_t step = (uint32_t)test_watched(7, 1), turn = (uint32_t)test_turn(step);
    every->allow_deprecated = 1;
    PROJ_CRS_INFO **systems = proj_get_crs_info_list_from_database(proj, "EPSG", every, &count);
    assert_true(is_there != NULL && systems != NULL);
    for (int i = 0; i < count; i++) {
        const uint32_t code = (uint32_t)strtoul(systems[i]->code, NULL, 10);
        mote_units units;
        mote_crs_units_of_codes(code, 0, &units);
        const bool is_known = units.horizontal.name[0] != '\0' || units.vertical.name[0] != '\0';
        assert_in_range(code, 1, CODES - 1);
        is_there[code] = true;
        if (!is_same && !is_known) continue; /* added since, or taken from there */
        if ((uint32_t)i % step != turn) continue;
        PJ *system = proj_create_from_database(proj, "EPSG", systems[i]->code, PJ_CATEGORY_CRS, 0, NULL);
        assert_non_null(system);
        expect_everywhere(code, sizes_of(proj, system));
        proj_destroy(system);
        compared++;
    }
    assert_true(compared > 7000 / step);
    for (uint32_t code = 0; code < CODES; code += code == 70000 ? 830000 : 1) { /* there is none between these two */
        if (is_same && !is_there[code] && code % step == turn) expect_everywhere(code, (system_sizes){{0, 0}, {0, 0}});
    }
    printf("%u systems of EPSG %s compared\n", compared, version);
    free(is_there);
    proj_crs_info_list_destroy(systems);
    proj_get_crs_list_parameters_destroy(every);
    proj_context_destroy(proj);
}
#else
static void every_code_counts_as_in_the_database(void **state) {
    (void)state;
    skip();
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_code_counts_as_in_the_database)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

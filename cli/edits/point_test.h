/* Which points the page shows, told so that the command finds the same ones: filters and clip boxes.
 *
 *   {"hide": [7, 18],                         classes that are not shown
 *    "returns": "first",                      or last, only, between
 *    "ranges": {"intensity": [0, 500]},       of any attribute, ends included; of x, y and z, too
 *    "boxes": [{"center": [x, y, z], "half": [a, b, c], "stretch": [1, 1, 1], "cos": 1, "sin": 0, "up": "z",
 *               "out": false}]}
 *
 * A box is turned about the axis that points up; lengths are those that the page draws, where a unit of an axis is
 * `stretch` long. Where there are boxes that do not say out, a point is in one of them; it is in none that does. */
#ifndef CLI_POINT_TEST_H
#define CLI_POINT_TEST_H

#include <mote/mote.h>

struct json_t;

#define POINT_TEST_BLOCK 4096u /* points that are tested at once */
#define POINT_TEST_ERROR 512u  /* bytes of a message */

typedef struct point_range {
    char name[128];
    double low, high;
} point_range;

typedef struct point_box {
    double center[3], half[3], stretch[3], cosine, sine;
    int up; /* axis, 0..2 */
    bool out;
} point_box;

typedef enum point_returns { RETURNS_ALL, RETURNS_FIRST, RETURNS_LAST, RETURNS_ONLY, RETURNS_BETWEEN } point_returns;

typedef struct point_test {
    bool hides[256]; /* by class */
    bool hides_any;
    point_returns returns;
    point_range *ranges; /* [range_count] */
    size_t range_count;
    point_box *boxes; /* [box_count] */
    size_t box_count;
} point_test;

/// Reads the object above. json: NULL is a test that all points pass. error: [POINT_TEST_ERROR]; what is wrong with it.
bool point_test_parse(const struct json_t *json, point_test *test, char *error);
void point_test_free(point_test *test);

/// Whether the cloud has the attributes that the test asks for; error says which it has not.
bool point_test_fits(const point_test *test, const mote_cloud *cloud, char *error);

/// Takes the flag of each point away that does not pass.
/// first, count  the points, at most POINT_TEST_BLOCK
/// classes       [count] their classes; NULL: as the cloud has them
/// flags         [count]
void point_test_apply(const point_test *test, const mote_cloud *cloud, uint64_t first, uint32_t count,
                      const uint8_t *classes, uint8_t *flags);

#endif

/* Any text as the query of a strip: what is taken can be cut. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_support.h"
#include "view/view_strip.h"

static void require(bool holds) {
    if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    view_strip strip;
    char *query = malloc(size + 1); /* a byte too many would be seen by the sanitizer */
    memcpy(query, data, size);
    query[size] = '\0';
    if (view_strip_parse(query, &strip)) {
        require(strip.count >= 2 && strip.count <= VIEW_STRIP_POINTS_MAX);
        require(strip.width > 0 && isfinite(strip.width));
        for (size_t i = 0; i < strip.count; i++) require(isfinite(strip.path[i][0]) && isfinite(strip.path[i][1]));
    }
    free(query);
    return 0;
}

/* What all comparisons of parts with one piece do. */
#include <stdio.h>
#include <stdlib.h>

#include "core/cloud.h"
#include "parts_test.h"
#include "support/cloud_files.h"

void parts_watch(mote_context *ctx, test_progress *progress) {
    *progress = (test_progress){0};
    ctx->params.progress = test_note_progress;
    ctx->params.progress_user = progress;
}

void parts_expect(mote_context *ctx, mote_status status, const test_progress *progress, uint64_t points) {
    if (status != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    assert_false(progress->backwards);
    assert_true(progress->last == 1 || points == 0);
    ctx->params.progress = NULL;
}

void parts_paths(const char *what, const char *ending, char one[512], char many[512]) {
    char name[64];
    snprintf(name, sizeof name, "parts_%s_one.%s", what, ending);
    snprintf(one, 512, "%s", test_path(name));
    snprintf(name, sizeof name, "parts_%s_many.%s", what, ending);
    snprintf(many, 512, "%s", test_path(name));
}

uint32_t parts_fewest_failing(void) { return (uint32_t)test_watched(2, 1); }

void parts_same_files(const char *one, const char *many) {
    size_t size[2];
    char *bytes[2] = {test_load(one, &size[0]), test_load(many, &size[1])};
    assert_int_equal(size[0], size[1]);
    for (size_t i = 0; i < size[0]; i++) {
        if (bytes[0][i] != bytes[1][i]) fail_msg("byte %zu of %zu is another", i, size[0]);
    }
    free(bytes[0]);
    free(bytes[1]);
}

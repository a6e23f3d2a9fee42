/* Any bytes as a message of a page: what is taken holds what it promises. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_support.h"
#include "view/live/live_message.h"

static void require(bool holds) {
    if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    live_message message;
    char *exact = malloc(size + 1); /* a byte too many would be seen by the sanitizer */
    memcpy(exact, data, size);
    if (live_message_read(exact, size, &message)) {
        const live_view *view = &message.view;
        require(size <= LIVE_MESSAGE_MAX);
        if (message.kind == LIVE_VIEW) {
            require(view->width >= 1 && view->height >= 1);
            require((uint64_t)view->width * view->height <= LIVE_PIXELS_MAX);
            require(view->fov_deg >= 1 && view->fov_deg <= 170);
            require(memchr(view->color, 0, sizeof view->color) != NULL &&
                    memchr(view->eye, 0, sizeof view->eye) != NULL);
            require(view->filter.range_count >= 0 && view->filter.range_count <= LIVE_FILTERS);
            for (int i = 0; i < view->filter.range_count; i++) {
                const live_range *range = &view->filter.ranges[i];
                require(range->low <= range->high && memchr(range->name, 0, sizeof range->name) != NULL);
            }
            require(view->mode >= 0 && view->mode <= 3 && view->show >= 0 && view->show <= 5 && view->map >= 0);
        }
    }
    free(exact);
    return 0;
}

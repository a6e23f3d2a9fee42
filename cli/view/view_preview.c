#define _GNU_SOURCE /* mkdtemp */
#include "view/view_preview.h"

#include "view/view_data.h"
#include "view/view_octree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int view_preview_begin(session *s, view_cached *cached, view_preview *preview) {
    const char *base = getenv("TMPDIR");
    bool is_made = false;
    if (base == NULL || base[0] != '/') base = "/tmp";
    if (snprintf(preview->root, sizeof preview->root, "%s/mote-view-XXXXXX", base) >= (int)sizeof preview->root ||
        mkdtemp(preview->root) == NULL) {
        preview->root[0] = '\0';
        session_note(s, "no first picture of %s: cannot create a folder in %s: %s", cached->title, base,
                     strerror(errno));
        return EXIT_DONE;
    }
    snprintf(preview->folder, sizeof preview->folder, "%s/sample", preview->root);
    view_making *making = view_making_new();
    if (making == NULL) return session_error(s, EXIT_RESOURCES, "out of memory");
    cached->files.told = view_making_tell;
    cached->files.told_user = making;
    const int code = view_octree_sample(s, &cached->files, cached->title, preview->folder, &is_made);
    if (code == EXIT_DONE && is_made) {
        preview->making = making;
    } else {
        cached->files.told = NULL;
        view_making_free(making);
    }
    return code;
}

int view_preview_finish(session *s, view_cached *cached, view_preview *preview, view_server *server, size_t source) {
    s->watch = view_making_progress;
    s->watch_user = preview->making;
    int code = view_cache_make(s, cached);
    s->watch = NULL;
    cached->files.told = NULL;
    progress_clear(&s->bar);
    if (code == EXIT_DONE && !view_server_made(server, source, cached->folder)) {
        code = session_error(s, EXIT_FAILED, "%s: cannot open: %s", cached->folder, strerror(errno));
    }
    if (code != EXIT_DONE) view_making_fail(preview->making, mote_context_message(s->ctx));
    mote_context_clear(s->ctx); /* what is served beside it goes on */
    return code;
}

void view_preview_drop(view_preview *preview) {
    view_making_free(preview->making);
    if (preview->root[0] == '\0') return;
    view_folder_remove(preview->folder);
    rmdir(preview->root);
}

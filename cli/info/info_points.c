/* The points of an input, as often as they are wanted. */
#define _GNU_SOURCE /* stat */
#include "info/info_points.h"

#include <string.h>
#include <sys/stat.h>

#include "stage.h"

/* Whether the library reads the file in pieces. */
static bool is_in_pieces(session *s, const char *path) {
    struct stat info;
    if (stage_now() != NULL || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    const char *format = mote_file_format(s->ctx, path);
    mote_context_clear(s->ctx);
    return format != NULL && (strcmp(format, "las") == 0 || strcmp(format, "e57") == 0);
}

static int read_whole(session *s, const char *const *path, const mote_read_params *reading, info_points *points) {
    const int code = session_read(s, path, 1, reading, &points->whole);
    if (code == EXIT_DONE) points->expected = mote_cloud_count(points->whole);
    return code;
}

/* Without a point there is no piece to tell of attributes. What was said while it was looked for is not said again. */
static int read_nothing(session *s, const char *const *path, const mote_read_params *reading, info_points *points) {
    const bool was_quiet = s->options.quiet;
    struct message_list *const messages = s->messages;
    mote_reader_close(points->reader);
    points->reader = NULL;
    s->options.quiet = true;
    s->messages = NULL;
    const int code = read_whole(s, path, reading, points);
    s->options.quiet = was_quiet;
    s->messages = messages;
    return code;
}

int points_open(session *s, const char *const *path, const mote_read_params *reading, bool can_stream,
                info_points *points) {
    memset(points, 0, sizeof *points);
    points->s = s;
    if (!can_stream || !is_in_pieces(s, *path)) return read_whole(s, path, reading, points);
    session_note_inputs(s, path, 1);
    const mote_cloud *piece = NULL;
    mote_status status = mote_reader_open(s->ctx, *path, reading, &points->reader);
    if (status == MOTE_OK) status = mote_reader_next(points->reader, &piece);
    if (status == MOTE_OK && piece == NULL) {
        const int code = read_nothing(s, path, reading, points);
        if (code == EXIT_DONE) session_note_none(s, *path, reading);
        return code;
    }
    /* Where --to-crs is given, a piece has the new steps only while it has points. */
    if (status == MOTE_OK) status = mote_cloud_select(s->ctx, piece, NULL, 0, &points->header);
    if (status != MOTE_OK) return session_fail(s, status, true);
    points->expected = s->bar.points = mote_reader_count(points->reader);
    return EXIT_DONE;
}

mote_status points_next(info_points *points, const mote_cloud **piece) {
    if (points->reader != NULL) return mote_reader_next(points->reader, piece);
    *piece = points->is_given ? NULL : points->whole;
    points->is_given = true;
    return MOTE_OK;
}

void points_rewind(info_points *points) {
    if (points->reader != NULL) mote_reader_rewind(points->reader);
    points->is_given = false;
}

const mote_cloud *points_cloud(const info_points *points) {
    return points->reader != NULL ? points->header : points->whole;
}

void points_close(info_points *points) {
    mote_cloud_destroy(points->header);
    mote_reader_close(points->reader);
    stage_drop(points->whole);
    memset(points, 0, sizeof *points);
}

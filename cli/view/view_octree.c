#include "view/view_octree.h"

#include "machine_memory.h"
#include "point_run.h"

#include <math.h>
#include <string.h>

/* A picture of fewer points is none. And where a sample of the files is smaller, the whole, of 50,000 times as many
   points, is there about a second later: 4.25 M points of LAZ take 2.1 s of processor time. */
#define SAMPLE_POINTS_MIN 100u

/* ---- all points */

static mote_read_params reading_of(const session *s, const view_files *files) {
    mote_read_params reading = session_reading(s);
    reading.salvage = files->is_folder;
    return reading;
}

/* Messages are told, or not. Returns how it was. */
static bool hush(session *s, bool is_quiet) {
    const bool was = s->options.quiet;
    s->options.quiet = is_quiet;
    return was;
}

/* Whether memory does not hold what building in one piece takes. *memory_bytes: that may be taken in parts. */
static bool goes_in_parts(session *s, const view_files *files, const mote_read_params *reading,
                          const mote_lod_params *building, uint64_t *memory_bytes) {
    const common_options *o = &s->options;
    const mote_potree_params writing = mote_potree_defaults();
    uint64_t bytes = 0;
    *memory_bytes = o->memory_bytes > 0 ? o->memory_bytes : machine_memory("");
    if (o->to_crs != NULL) return false;
    if (mote_lod_parts_refusal(building, &writing) != NULL) return false;
    const bool was_quiet = hush(s, true); /* what is to be known of the files is said when they are read */
    const mote_status status = mote_lod_whole_bytes(s->ctx, (const char *const *)files->paths, (uint32_t)files->count,
                                                    reading, building, &bytes);
    hush(s, was_quiet);
    if (status != MOTE_OK) mote_context_clear(s->ctx);
    return status == MOTE_OK && bytes > *memory_bytes;
}

static mote_status make_whole(session *s, const view_files *files, const mote_read_params *reading,
                              const mote_lod_params *building, const mote_potree_params *writing, const char *out_dir) {
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    mote_read_params to_build = *reading;
    to_build.prepare_order = to_build.to_device = true;
    mote_status status =
        mote_cloud_read_many(s->ctx, (const char *const *)files->paths, (uint32_t)files->count, &to_build, &cloud);
    if (status == MOTE_OK && mote_cloud_count(cloud) == 0) session_note_none(s, files->paths[0], reading);
    if (status == MOTE_OK) s->bar.points = mote_cloud_count(cloud);
    if (status == MOTE_OK) status = mote_lod_build(s->ctx, cloud, building, &lod);
    if (status == MOTE_OK) status = mote_potree_write(s->ctx, lod, out_dir, writing, NULL);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    return status;
}

static mote_status make(session *s, const view_files *files, const char *title, const char *out_dir) {
    const mote_read_params reading = reading_of(s, files);
    mote_potree_params writing = mote_potree_defaults();
    mote_lod_params building = mote_lod_defaults();
    mote_parts_params parts = mote_parts_defaults();
    building.on_device = true; /* only the writer needs it */
    writing.name = title;
    if (goes_in_parts(s, files, &reading, &building, &parts.memory_bytes)) {
        mote_parts_report report;
        const mote_status status =
            mote_lod_write_parts(s->ctx, (const char *const *)files->paths, (uint32_t)files->count, &reading, &building,
                                 out_dir, &writing, &parts, &report);
        if (status != MOTE_ERROR_MEMORY || !goes_in_one_piece(s, status, &report)) return status;
    }
    return make_whole(s, files, &reading, &building, &writing, out_dir);
}

/* Leaves out the file that a failure names. Returns whether there are others to go on with. */
static bool drop_failed(session *s, view_files *files, mote_status status) {
    const char *message = mote_context_message(s->ctx);
    if (status != MOTE_ERROR_IO && status != MOTE_ERROR_DATA && status != MOTE_ERROR_UNSUPPORTED &&
        status != MOTE_ERROR_CHANGED) {
        return false;
    }
    for (size_t i = 0; i < files->count && files->count > 1; i++) {
        const size_t length = strlen(files->paths[i]);
        if (strncmp(message, files->paths[i], length) != 0 || message[length] != ':') continue;
        if (!view_files_drop(s, files, files->paths[i], message)) return false;
        mote_context_clear(s->ctx);
        return true;
    }
    return false;
}

int view_octree_make(session *s, view_files *files, const char *title, const char *out_dir) {
    mote_status status;
    do {
        session_note_inputs(s, (const char *const *)files->paths, (int)files->count);
        status = make(s, files, title, out_dir);
        session_forget_inputs(s);
    } while (status != MOTE_OK && drop_failed(s, files, status));
    if (status == MOTE_OK) return EXIT_DONE;
    session_note_inputs(s, (const char *const *)files->paths, (int)files->count);
    const int code = session_fail(s, status, false);
    session_forget_inputs(s);
    return code;
}

/* ---- a sample */

typedef struct sampling {
    session *s;
    view_files *files;
    bool is_quiet; /* as the user wants it */
} sampling;

/* What is no LAS has no sample, and is in the octree all the same. */
static bool leave_out(void *user, const char *path, mote_status status, const char *message) {
    const sampling *of = user;
    if (status == MOTE_ERROR_UNSUPPORTED) return true;
    const bool was_quiet = hush(of->s, of->is_quiet);
    const bool is_dropped = view_files_drop(of->s, of->files, path, message);
    hush(of->s, was_quiet);
    return is_dropped;
}

/* The box of all points, as far as it is known: by the headers, where neither a condition nor a system makes other
   points of theirs, and by the points that were seen. */
static mote_status whole_box(session *s, const mote_cloud *cloud, const mote_read_sample *sample, mote_box *box) {
    const common_options *o = &s->options;
    const bool is_stated = o->where == NULL && o->to_crs == NULL && sample->box.min[0] <= sample->box.max[0];
    const mote_status status = mote_cloud_bounds(s->ctx, cloud, box, NULL);
    for (int k = 0; k < 3 && is_stated; k++) {
        box->min[k] = fmin(box->min[k], sample->box.min[k]);
        box->max[k] = fmax(box->max[k], sample->box.max[k]);
    }
    return status;
}

static mote_status write_sample(session *s, const mote_cloud *cloud, const mote_read_sample *sample, const char *title,
                                const char *out_dir) {
    mote_potree_params writing = mote_potree_defaults();
    mote_lod *lod = NULL;
    mote_box box;
    writing.name = title;
    writing.whole_box = &box;
    /* How many points meet a condition is not known before all are read: then none are spoken of but those that did. */
    writing.whole_points = s->options.where == NULL ? sample->points : mote_cloud_count(cloud);
    mote_status status = whole_box(s, cloud, sample, &box);
    if (status == MOTE_OK) status = mote_lod_build(s->ctx, cloud, NULL, &lod);
    if (status == MOTE_OK) status = mote_potree_write(s->ctx, lod, out_dir, &writing, NULL);
    mote_lod_destroy(lod);
    return status;
}

int view_octree_sample(session *s, view_files *files, const char *title, const char *out_dir, bool *is_made) {
    const size_t before = files->count;
    /* What is to be known of the files that are read is said when their octree is made. */
    sampling of = {s, files, hush(s, true)};
    mote_read_sample sample = mote_read_sample_defaults();
    mote_read_params reading = reading_of(s, files);
    mote_cloud *cloud = NULL;
    sample.failed = leave_out;
    sample.failed_user = &of;
    reading.sample = &sample;
    *is_made = false;
    const mote_status status =
        mote_cloud_read_many(s->ctx, (const char *const *)files->paths, (uint32_t)files->count, &reading, &cloud);
    hush(s, of.is_quiet);
    if (files->count == 0) {
        mote_context_clear(s->ctx);
        return session_error(s, EXIT_INPUT, "%s: none of its %zu files can be read", title, before);
    }
    mote_status written = status;
    if (status == MOTE_OK && mote_cloud_count(cloud) >= SAMPLE_POINTS_MIN) {
        written = write_sample(s, cloud, &sample, title, out_dir);
        *is_made = written == MOTE_OK;
    }
    mote_cloud_destroy(cloud);
    if (written == MOTE_CANCELLED) return session_fail(s, written, true);
    if (written != MOTE_OK) mote_context_clear(s->ctx); /* what is wrong is said when the octree is made */
    return EXIT_DONE;
}

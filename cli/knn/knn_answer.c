/* The neighbours that mote knn found: the arrays, and how they are written. */
#include "knn/knn_answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "large_memory.h"
#include "text.h"

#define INDEX32_POINTS (UINT64_C(1) << 31) /* more do not fit 32 bits with a sign */
#define BLOCK_BYTES    (UINT64_C(8) << 20) /* of rows that are on the disk, held at once */

/* An array of the answer; it counts as memory of the run. */
static void *make_array(session *s, knn_answer *a, uint64_t count, uint32_t item_bytes) {
    const uint64_t max = s->options.memory_bytes, bytes = count * item_bytes;
    if (count > SIZE_MAX / 2 / item_bytes) return NULL;
    if (max != 0 && mote_context_memory_bytes(s->ctx) + a->array_bytes + bytes > max) return NULL;
    a->array_bytes += bytes;
    return large_alloc((size_t)bytes);
}

static int no_memory(session *s, const knn_answer *a) {
    return session_error(s, EXIT_RESOURCES, "out of memory: the neighbours of %s queries",
                         text_count(a->queries).chars);
}

int knn_answer_make_counts(session *s, knn_answer *a) {
    a->held = a->queries;
    a->rows.count = make_array(s, a, a->held, 4);
    return a->rows.count != NULL ? EXIT_DONE : no_memory(s, a);
}

static int make_rows(session *s, knn_answer *a, bool is_wide) {
    const uint64_t places = a->held * a->k;
    if (is_wide || a->points > INDEX32_POINTS) {
        a->rows.index64 = make_array(s, a, places, 8);
    } else {
        a->rows.index32 = make_array(s, a, places, 4);
    }
    if (is_wide) {
        a->rows.distance2_wide = make_array(s, a, places, 8);
    } else {
        a->rows.distance2 = make_array(s, a, places, 4);
    }
    a->rows.count = make_array(s, a, a->held, 4);
    const bool has_index = a->rows.index32 != NULL || a->rows.index64 != NULL;
    const bool has_distance = a->rows.distance2 != NULL || a->rows.distance2_wide != NULL;
    return has_index && has_distance && a->rows.count != NULL ? EXIT_DONE : no_memory(s, a);
}

int knn_answer_make_rows(session *s, knn_answer *a, bool is_wide) {
    a->held = a->queries;
    return make_rows(s, a, is_wide);
}

int knn_answer_take_rows(session *s, knn_answer *a, mote_knn_rows *disk, bool is_wide) {
    const uint64_t max = BLOCK_BYTES / (UINT64_C(16) * a->k);
    a->disk = disk;
    a->points = a->queries = mote_knn_rows_count(disk);
    a->held = a->queries < max ? a->queries : max;
    return make_rows(s, a, is_wide);
}

void knn_answer_free(session *s, knn_answer *a) {
    free(a->rows.index32);
    free(a->rows.index64);
    free(a->rows.distance2);
    free(a->rows.distance2_wide);
    free(a->rows.count);
    mote_knn_free_lists(s->ctx, a->lists);
    mote_knn_rows_close(a->disk);
    memset(a, 0, sizeof *a);
}

mote_status knn_answer_load(knn_answer *a, uint64_t first) {
    const uint64_t rest = a->queries - first, count = rest < a->held ? rest : a->held;
    mote_status status = MOTE_OK;
    a->first = first;
    if (a->disk != NULL) status = mote_knn_rows_read(a->disk, first, count, &a->rows);
    a->skipped = a->lists != NULL ? a->lists->skipped : a->rows.skipped;
    if (first == 0) a->neighbors = a->incomplete = 0;
    for (uint64_t q = 0; q < count && status == MOTE_OK; q++) {
        a->neighbors += a->rows.count[q];
        if (a->rows.count[q] < a->k) a->incomplete++;
    }
    return status;
}

/* ---- the arrays as a file has them. Unsigned ones take the types with a sign that numpy indexes with: the bytes are
   the same, and all bits set is -1. */

static npz_array make_list(const char *name, const char *type, uint64_t count, const void *data) {
    const npz_array array = {name, type, 1, {count, 0}, data};
    return array;
}

static npz_array make_table(const knn_answer *a, const char *name, const char *type, const void *data) {
    const npz_array array = {name, type, 2, {a->queries, a->k}, data};
    return array;
}

int knn_answer_arrays(const knn_answer *a, npz_array arrays[NPZ_ARRAYS_MAX]) {
    const mote_knn_result *rows = &a->rows;
    const mote_knn_lists *lists = a->lists;
    if (lists != NULL) {
        const uint64_t all = lists->first[lists->query_count];
        arrays[0] = make_list("first", "<i8", a->queries + 1, lists->first);
        arrays[1] = make_list("index", a->points > INDEX32_POINTS ? "<u4" : "<i4", all, lists->index);
        arrays[2] = make_list("distance2", "<f4", all, lists->distance2);
        return 3;
    }
    arrays[0] = rows->index64 != NULL ? make_table(a, "index", "<i8", rows->index64)
                                      : make_table(a, "index", "<i4", rows->index32);
    arrays[1] = rows->distance2_wide != NULL ? make_table(a, "distance2", "<f8", rows->distance2_wide)
                                             : make_table(a, "distance2", "<f4", rows->distance2);
    arrays[2] = make_list("count", "<u4", a->queries, rows->count);
    return 3;
}

static mote_type type_of(const npz_array *array) {
    if (array->type[1] == 'f') return array->type[2] == '8' ? MOTE_FLOAT64 : MOTE_FLOAT32;
    if (array->type[1] == 'u') return MOTE_UINT32;
    return array->type[2] == '8' ? MOTE_INT64 : MOTE_INT32;
}

int knn_answer_hash(session *s, const knn_answer *a, uint64_t *hash) {
    npz_array arrays[NPZ_ARRAYS_MAX];
    const int count = knn_answer_arrays(a, arrays);
    *hash = a->k;
    for (int i = 0; i < count; i++) {
        const mote_column column = {.name = arrays[i].name, .type = type_of(&arrays[i]), .data = arrays[i].data};
        mote_cloud *values = NULL;
        uint64_t one = 0;
        mote_status status = mote_cloud_wrap(s->ctx, npz_count(&arrays[i]), &column, 1, &values);
        if (status == MOTE_OK) status = mote_cloud_hash(s->ctx, values, &one);
        mote_cloud_destroy(values);
        if (status != MOTE_OK) return session_fail(s, status, false);
        *hash = (*hash ^ one) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return EXIT_DONE;
}

/* ---- the file */

typedef struct answer_writing {
    session *s;
    knn_answer *answer;
} answer_writing;

static bool on_written(void *user, double done) {
    session *s = ((answer_writing *)user)->s;
    progress_update(&s->bar, done, "write");
    return !session_cancelled();
}

static mote_status load_block(void *user, uint64_t first, uint64_t count) {
    (void)count; /* as many as are held, or remain */
    return knn_answer_load(((answer_writing *)user)->answer, first);
}

static mote_status write_npz(session *s, knn_answer *a, mote_output *output) {
    answer_writing w = {s, a};
    const npz_params params = {.threads = mote_context_threads(s->ctx),
                               .zip64_from = UINT32_MAX,
                               .progress = on_written,
                               .user = &w,
                               .load = a->disk != NULL ? load_block : NULL,
                               .block_rows = a->held};
    npz_array arrays[NPZ_ARRAYS_MAX];
    const int count = knn_answer_arrays(a, arrays);
    return npz_write(s->ctx, output, arrays, count, &params);
}

int knn_answer_write(session *s, knn_answer *a, const char *path, bool as_csv) {
    mote_output *output = NULL;
    mote_status status = mote_output_create(s->ctx, path, as_csv, &output);
    if (status == MOTE_OK && a->disk == NULL) status = knn_answer_load(a, 0);
    if (status == MOTE_OK) status = as_csv ? knn_csv_write(s, a, output) : write_npz(s, a, output);
    status = mote_output_finish(s->ctx, output, status);
    progress_clear(&s->bar);
    if (status == MOTE_OK) return EXIT_DONE;
    if (status == MOTE_CANCELLED) {
        session_say(s, "cancelled while writing");
        return EXIT_CANCELLED;
    }
    return session_fail(s, status, false);
}

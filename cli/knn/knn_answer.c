/* The neighbours that mote knn found: the arrays, and how they are written. */
#include "knn/knn_answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "large_memory.h"
#include "text.h"

#define INDEX32_POINTS (UINT64_C(1) << 31) /* more do not fit 32 bits with a sign */

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
    a->rows.count = make_array(s, a, a->queries, 4);
    return a->rows.count != NULL ? EXIT_DONE : no_memory(s, a);
}

int knn_answer_make_rows(session *s, knn_answer *a, bool is_wide) {
    const uint64_t places = a->queries * a->k;
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
    const bool has_index = a->rows.index32 != NULL || a->rows.index64 != NULL;
    const bool has_distance = a->rows.distance2 != NULL || a->rows.distance2_wide != NULL;
    return has_index && has_distance ? knn_answer_make_counts(s, a) : no_memory(s, a);
}

void knn_answer_free(session *s, knn_answer *a) {
    free(a->rows.index32);
    free(a->rows.index64);
    free(a->rows.distance2);
    free(a->rows.distance2_wide);
    free(a->rows.count);
    mote_knn_free_lists(s->ctx, a->lists);
    memset(a, 0, sizeof *a);
}

void knn_answer_sum(knn_answer *a) {
    a->skipped = a->lists != NULL ? a->lists->skipped : a->rows.skipped;
    a->neighbors = a->incomplete = 0;
    for (uint64_t q = 0; q < a->queries; q++) {
        a->neighbors += a->rows.count[q];
        if (a->rows.count[q] < a->k) a->incomplete++;
    }
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

static bool on_written(void *user, double done) {
    session *s = user;
    progress_update(&s->bar, done, "write");
    return !session_cancelled();
}

static mote_status write_npz(session *s, const knn_answer *a, mote_output *output) {
    const npz_params params = {mote_context_threads(s->ctx), UINT32_MAX, on_written, s};
    npz_array arrays[NPZ_ARRAYS_MAX];
    const int count = knn_answer_arrays(a, arrays);
    return npz_write(s->ctx, output, arrays, count, &params);
}

int knn_answer_write(session *s, const knn_answer *a, const char *path, bool as_csv) {
    mote_output *output = NULL;
    mote_status status = mote_output_create(s->ctx, path, as_csv, &output);
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

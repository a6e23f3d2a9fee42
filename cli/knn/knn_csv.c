/* Neighbours as text: "query,rank,index,distance2", a line each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "knn/knn_answer.h"
#include "text.h"

#define BUFFER_BYTES (1u << 20)
#define LINE_BYTES   160u

typedef struct csv_writer {
    session *session;
    mote_output *output;
    char *buffer;
    size_t buffered_bytes;
} csv_writer;

static mote_status flush(csv_writer *w) {
    const size_t size_bytes = w->buffered_bytes;
    w->buffered_bytes = 0;
    return mote_output_write(w->session->ctx, w->output, w->buffer, size_bytes);
}

/* The shortest decimal that reads back as the same float. Every decimal of up to six digits comes back from a float
   with %.6g, which leaves out zeros at the end: there is no need to try fewer. */
static text float_text(float value) {
    text out;
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(out.chars, sizeof out.chars, "%.*g", digits, (double)value);
        if (strtof(out.chars, NULL) == value) break;
    }
    return out;
}

static mote_status put_line(csv_writer *w, uint64_t query, uint64_t rank, uint64_t index, text distance2) {
    const int length = snprintf(w->buffer + w->buffered_bytes, LINE_BYTES, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s\n",
                                query, rank, index, distance2.chars);
    w->buffered_bytes += (size_t)length;
    return w->buffered_bytes + LINE_BYTES > BUFFER_BYTES ? flush(w) : MOTE_OK;
}

static mote_status put_query(csv_writer *w, const knn_answer *a, uint64_t query) {
    const mote_knn_result *rows = &a->rows;
    const uint64_t row = query - a->first;
    mote_status status = MOTE_OK;
    for (uint32_t rank = 0; rank < rows->count[row] && status == MOTE_OK; rank++) {
        if (a->lists != NULL) {
            const uint64_t at = a->lists->first[query] + rank;
            status = put_line(w, query, rank, a->lists->index[at], float_text(a->lists->distance2[at]));
            continue;
        }
        const uint64_t at = row * a->k + rank;
        const uint64_t index = rows->index64 != NULL ? (uint64_t)rows->index64[at] : rows->index32[at];
        status =
            put_line(w, query, rank, index,
                     rows->distance2 != NULL ? float_text(rows->distance2[at]) : text_real(rows->distance2_wide[at]));
    }
    return status;
}

static mote_status put_all(csv_writer *w, knn_answer *a) {
    static const char names[] = "query,rank,index,distance2\n";
    memcpy(w->buffer, names, sizeof names - 1);
    w->buffered_bytes = sizeof names - 1;
    for (uint64_t query = 0; query < a->queries; query++) {
        mote_status status = MOTE_OK;
        if (query % a->held == 0) status = knn_answer_load(a, query);
        if (status == MOTE_OK) status = put_query(w, a, query);
        if (status != MOTE_OK) return status;
        if (query % 4096 != 0) continue;
        progress_update(&w->session->bar, (double)query / (double)a->queries, "write");
        if (session_cancelled()) return MOTE_CANCELLED;
    }
    return flush(w);
}

mote_status knn_csv_write(session *s, knn_answer *a, mote_output *output) {
    csv_writer w = {.session = s, .output = output, .buffer = malloc(BUFFER_BYTES)};
    if (w.buffer == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = put_all(&w, a);
    free(w.buffer);
    return status;
}

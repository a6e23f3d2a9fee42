/* What mote knn prints besides doing its work. */
#include "knn/knn_print.h"

#include <math.h>
#include <stdio.h>

#include "costs.h"
#include "point_run.h"
#include "print.h"
#include "text.h"

#define OWN_LINES 2

/* What the command holds and does beside the library. */
static void own_costs(const knn_report *r, mote_usage own[OWN_LINES]) {
    const mote_usage arrays = {.name = "result", .peak_bytes = r->answer->array_bytes};
    const mote_usage writing = {.name = "write neighbours", .seconds = r->write_s};
    own[0] = arrays;
    own[1] = writing;
}

static void print_recall(const knn_report *r) {
    const knn_recall *recall = r->recall;
    print_out("recall      %.6f\n", recall->recall);
    print_out("complete    %.6f of the queries have all their neighbours\n", recall->complete);
    print_out("factor      %.6f on average, %.6f at most: farthest neighbour found over the true one\n", recall->mean,
              recall->max);
    if (recall->with_fewer > 0) {
        print_out("fewer       %s queries, without a factor\n", text_count(recall->with_fewer).chars);
    }
    print_out("exact       %s, approximate %s\n", text_seconds(recall->seconds).chars, text_seconds(r->search_s).chars);
}

static void print_stats(const session *s, const knn_report *r) {
    const knn_answer *a = r->answer;
    mote_usage own[OWN_LINES];
    own_costs(r, own);
    print_out("%s points, %s queries, %s neighbours, %.2f each; %s queries with fewer than asked for\n",
              text_count(a->points).chars, text_count(a->queries).chars, text_count(a->neighbors).chars,
              a->queries > 0 ? (double)a->neighbors / (double)a->queries : 0, text_count(a->incomplete).chars);
    costs_print(s, own, OWN_LINES, a->queries);
}

static void emit_recall(json_writer *json, const knn_recall *recall) {
    emit_open(json, "recall", '{');
    emit_real(json, "recall", recall->recall);
    emit_real(json, "complete", recall->complete);
    emit_real(json, "factor_mean", recall->mean);
    emit_real(json, "factor_max", recall->max);
    emit_count(json, "with_fewer", recall->with_fewer);
    emit_real(json, "exact_seconds", recall->seconds);
    emit_close(json, '}');
}

static void print_json(const session *s, const knn_report *r) {
    const knn_answer *a = r->answer;
    json_writer json;
    mote_usage own[OWN_LINES];
    own_costs(r, own);
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_text(&json, "output", r->output);
    emit_count(&json, "points", a->points);
    emit_count(&json, "queries", a->queries);
    if (a->lists == NULL) emit_count(&json, "k", a->k);
    emit_count(&json, "neighbors", a->neighbors);
    emit_count(&json, "incomplete", a->incomplete);
    emit_count(&json, "skipped", a->skipped);
    if (r->parts.parts > 0) point_run_emit_parts(&json, &r->parts);
    emit_count(&json, "bytes", r->bytes);
    emit_text(&json, "backend", mote_context_backend(s->ctx));
    emit_real(&json, "build_seconds", r->build_s);
    emit_real(&json, "search_seconds", r->search_s);
    emit_real(&json, "seconds", seconds_now() - s->started);
    if (s->options.hash) emit_text(&json, "hash", text_hash(r->hash).chars);
    if (r->recall != NULL) emit_recall(&json, r->recall);
    costs_emit(s, own, OWN_LINES, &json);
    emit_close(&json, '}');
    emit_end(&json);
}

void knn_print(session *s, const knn_report *r) {
    session_printing(s);
    const knn_answer *a = r->answer;
    const double seconds = seconds_now() - s->started, work = r->build_s + r->search_s;
    session_say(s, "%s: %s neighbours of %s points%s, %s in %s; index and search %s, %s points/s", r->output,
                text_count(a->neighbors).chars, text_count(a->queries).chars, point_run_in_parts(&r->parts).chars,
                text_bytes(r->bytes).chars, text_seconds(seconds).chars, text_seconds(work).chars,
                text_rate(work > 0 ? (double)a->queries / work : 0).chars);
    if (a->skipped > 0) {
        session_say(s, "warning: %s points without a finite position have no neighbours and are nobody's",
                    text_count(a->skipped).chars);
    }
    if (s->options.json) {
        print_json(s, r);
        return;
    }
    if (r->recall != NULL) print_recall(r);
    if (r->stats) print_stats(s, r);
    if (s->options.hash) print_out("%s  %s\n", text_hash(r->hash).chars, r->output);
}

/* Runs the stages of a pipeline, one after the other; describes all there are. */
#define _GNU_SOURCE /* dup2 */
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "paths.h"
#include "print.h"
#include "run/pipeline.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

#define PLACE_BYTES  4400
#define OUTPUT_PLACE (STAGE_PLACE + 32) /* bytes of "/pipeline/12/filename" */

/* Calls a stage's function, with messages that name its place. */
static int call_stage(stage_call *call) {
    char place[PLACE_BYTES];
    snprintf(place, sizeof place, "%s: %s: ", call->pipeline->title, call->stage->place);
    command_stage stage = {.place = place, .title = "the points", .outer = call->s};
    stage_set(&stage);
    const int code = call->kind->run(call);
    stage_set(NULL);
    for (int i = 0; i < call->word_count; i++) free(call->words[i]);
    call->word_count = 0;
    return code;
}

static stage_call call_of(session *s, pipeline *p, uint32_t index, bool checking) {
    const stage_call call = {
        .s = s, .pipeline = p, .stage = &p->stages[index], .kind = p->stages[index].kind, .checking = checking};
    return call;
}

/* ---- points between stages */

/* All inputs as one cloud, which is the stage's own. */
static int join_inputs(session *s, pipeline *p, stage_call *call) {
    pipeline_stage *stage = call->stage;
    mote_cloud **clouds = malloc(stage->input_count * sizeof *clouds);
    if (clouds == NULL) return session_error(s, EXIT_RESOURCES, "out of memory: the inputs of %s", stage->place);
    for (uint32_t i = 0; i < stage->input_count; i++) clouds[i] = p->stages[stage->inputs[i]].cloud;
    const mote_status status = mote_cloud_join(s->ctx, clouds, stage->input_count, &call->cloud);
    free(clouds);
    if (status == MOTE_OK) return EXIT_DONE;
    session_error(s, 0, "%s: %s: its inputs do not go together", p->title, stage->place);
    return session_fail(s, status, false);
}

/* The points for a stage. Those that no other stage wants become its own. */
static int take_inputs(session *s, pipeline *p, stage_call *call) {
    pipeline_stage *stage = call->stage;
    int code = EXIT_DONE;
    if (stage->input_count > 1) code = join_inputs(s, p, call);
    for (uint32_t i = 0; i < stage->input_count; i++) {
        pipeline_stage *input = &p->stages[stage->inputs[i]];
        const bool is_last = --input->uses == 0;
        if (stage->input_count == 1) {
            call->cloud = input->cloud;
            call->shares_cloud = !is_last;
        } else if (is_last) {
            mote_cloud_destroy(input->cloud);
        }
        if (is_last) input->cloud = NULL;
    }
    return code;
}

/* What the stage hands on stays until the last stage took it; on the GPU too, where stages compute on one: those after
   it need not upload it again. taken: what it got. */
static int keep_output(stage_call *call, const mote_cloud *taken, int code) {
    const bool wanted = code == EXIT_DONE && call->stage->uses > 0;
    if (wanted) code = stage_own(call);
    if (wanted && code == EXIT_DONE && call->cloud != taken) {
        const mote_status status = mote_cloud_keep_uploads(call->cloud, true);
        if (status != MOTE_OK) code = session_fail(call->s, status, false);
    }
    if (wanted && code == EXIT_DONE) {
        call->stage->cloud = call->cloud;
    } else if (!call->shares_cloud) {
        mote_cloud_destroy(call->cloud);
    }
    return code;
}

static int run_stage(session *s, pipeline *p, uint32_t index) {
    stage_call call = call_of(s, p, index, false);
    if (call.stage->is_folded) return EXIT_DONE;
    const double begun = seconds_now();
    const uint64_t uploaded_bytes = mote_context_uploaded_bytes(s->ctx);
    int code = take_inputs(s, p, &call);
    const mote_cloud *const taken = call.cloud;
    if (code == EXIT_DONE) {
        s->bar.points = call.cloud != NULL ? mote_cloud_count(call.cloud) : 0;
        code = call_stage(&call);
    }
    progress_clear(&s->bar);
    if (code == EXIT_DONE && s->options.verbose) {
        const uint64_t copied_bytes = mote_context_uploaded_bytes(s->ctx) - uploaded_bytes;
        session_say(s, "%s (%s): %s points, %s%s%s", call.stage->place, call.kind->name,
                    text_count(call.cloud != NULL ? mote_cloud_count(call.cloud) : 0).chars,
                    text_seconds(seconds_now() - begun).chars, copied_bytes > 0 ? ", to the GPU " : "",
                    copied_bytes > 0 ? text_bytes(copied_bytes).chars : "");
    }
    return keep_output(&call, taken, code);
}

/* ---- all of them */

static int check_stages(session *s, pipeline *p) {
    int code = EXIT_DONE;
    for (uint32_t i = 0; i < p->count && code == EXIT_DONE; i++) {
        stage_call call = call_of(s, p, i, true);
        code = call_stage(&call);
    }
    return code;
}

/* ---- what is read and written */

/* The options of stages that name a file or folder to write. */
static const char *const output_keys[] = {"filename",    "output",    "o",           "depth",
                                          "normals-out", "index-out", "photons-out", "boundaries"};

typedef struct stage_output {
    uint32_t stage;
    const char *key, *path;
} stage_output;

/* A stage's file or folder that is written under this key, or NULL. */
static const char *output_of(const pipeline_stage *stage, const char *key, const json_t *value) {
    if (stage->kind->role == ROLE_READER) return NULL;
    for (size_t i = 0; i < sizeof output_keys / sizeof output_keys[0]; i++) {
        if (stage_key_is(key, output_keys[i])) return json_string_value(value);
    }
    return NULL;
}

/* Lists those of all stages, at most room of them; returns how many there are. */
static size_t find_outputs(const pipeline *p, stage_output *list, size_t room) {
    size_t count = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const char *key;
        json_t *value;
        json_object_foreach(p->stages[i].json, key, value) {
            const char *const path = output_of(&p->stages[i], key, value);
            if (path == NULL || path[0] == '\0') continue;
            if (count < room) list[count] = (stage_output){i, key, path};
            count++;
        }
    }
    return count;
}

/* No two stages write to one place, whatever they call it, and none to what another one reads. */
static int check_outputs(session *s, const pipeline *p, const stage_output *list, named_file *files, char *places,
                         size_t count) {
    char title[PLACE_BYTES];
    snprintf(title, sizeof title, "%s: ", p->title);
    for (size_t i = 0; i < count; i++) {
        snprintf(places + i * OUTPUT_PLACE, OUTPUT_PLACE, "%s/%s", p->stages[list[i].stage].place, list[i].key);
        files[i] = (named_file){places + i * OUTPUT_PLACE, list[i].path, false};
    }
    command_stage stage = {.place = title, .outer = s};
    stage_set(&stage);
    const int code = check_distinct(s, files, count);
    stage_set(NULL);
    for (size_t i = 0; i < count && code == EXIT_DONE; i++) {
        if (path_is_stream(list[i].path) || mote_outputs_check(s->ctx, list[i].path) == MOTE_OK) continue;
        return session_error(s, EXIT_USAGE, "%s: %s: %s", p->title, files[i].option, mote_context_message(s->ctx));
    }
    return code;
}

static int check_all_outputs(session *s, const pipeline *p) {
    const size_t count = find_outputs(p, NULL, 0);
    stage_output *const list = calloc(count + 1, sizeof *list);
    named_file *const files = calloc(count + 1, sizeof *files);
    char *const places = calloc(count + 1, OUTPUT_PLACE);
    int code = EXIT_RESOURCES;
    if (list != NULL && files != NULL && places != NULL) {
        find_outputs(p, list, count);
        code = check_outputs(s, p, list, files, places, count);
    } else {
        session_error(s, EXIT_RESOURCES, "out of memory: the outputs of the pipeline");
    }
    free(places);
    free(files);
    free(list);
    return code;
}

/* Files that are read, before any output is begun: an output that would replace one is refused in time. */
static int note_files(session *s, const pipeline *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        for (uint32_t k = 0; k < p->stages[i].file_count; k++) {
            if (path_is_stream(p->stages[i].files[k])) continue;
            const mote_status status = mote_outputs_note_input(s->ctx, p->stages[i].files[k]);
            if (status == MOTE_ERROR_MEMORY) return session_fail(s, status, true);
            mote_context_clear(s->ctx); /* what is wrong with it is said when it is read */
        }
    }
    return EXIT_DONE;
}

/* Points on standard output are not mixed with what stages say. */
static int guard_output(const session *s, int *saved) {
    *saved = -1;
    if (!s->data_on_stdout) return EXIT_DONE;
    fflush(stdout);
    *saved = dup(STDOUT_FILENO);
    return *saved >= 0 ? EXIT_DONE : EXIT_FAILED;
}

static void unguard_output(int saved) {
    if (saved < 0) return;
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
}

static bool writes_to_stdout(const pipeline *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        const char *output = json_string_value(json_object_get(p->stages[i].json, "filename"));
        if (p->stages[i].kind->role == ROLE_WRITER && output != NULL && strcmp(output, "-") == 0) return true;
    }
    return false;
}

int pipeline_run(session *s, pipeline *p, bool only_check) {
    int code = check_stages(s, p);
    if (code == EXIT_DONE) code = note_files(s, p);
    if (code == EXIT_DONE) code = check_all_outputs(s, p);
    if (code != EXIT_DONE || only_check) return code;
    s->data_on_stdout = writes_to_stdout(p);
    for (uint32_t i = 0; i < p->count && code == EXIT_DONE; i++) {
        int saved;
        code = guard_output(s, &saved);
        const char *output = json_string_value(json_object_get(p->stages[i].json, "filename"));
        const bool is_data = p->stages[i].kind->role == ROLE_WRITER && output != NULL && strcmp(output, "-") == 0;
        if (saved >= 0 && !is_data) dup2(STDERR_FILENO, STDOUT_FILENO);
        if (code == EXIT_DONE) code = run_stage(s, p, i);
        if (session_cancelled() && code == EXIT_DONE) code = EXIT_CANCELLED;
        unguard_output(saved);
    }
    if (code == EXIT_DONE) code = session_commit(s);
    return code;
}

/* ---- the schema */

static int describe_kind(session *s, const stage_kind *kind, json_writer *json) {
    json_t *nothing = json_object();
    pipeline none = {.title = "the schema"};
    pipeline_stage stage = {.kind = kind, .json = nothing};
    stage_call call = {.s = s, .pipeline = &none, .stage = &stage, .kind = kind, .schema = json};
    if (nothing == NULL) return session_error(s, EXIT_RESOURCES, "out of memory: the schema");
    emit_open(json, kind->name, '{');
    emit_text(json, "description", kind->summary);
    emit_text(json, "type", "object");
    emit_open(json, "properties", '{');
    emit_open(json, "type", '{');
    emit_text(json, "const", kind->name);
    emit_close(json, '}');
    emit_open(json, "tag", '{');
    emit_text(json, "type", "string");
    emit_close(json, '}');
    if (kind->role != ROLE_READER) {
        emit_open(json, "inputs", '{');
        emit_text(json, "description", "tags; default the stage before, and readers that no stage took");
        emit_close(json, '}');
    }
    emit_open(json, "user_data", '{');
    emit_close(json, '}');
    if (kind->run == stage_read) {
        emit_open(json, "filename", '{');
        emit_text(json, "description", "a file, a folder or a pattern, or an array of these");
        emit_close(json, '}');
    }
    const int code = call_stage(&call);
    emit_close(json, '}');
    emit_open(json, "required", '[');
    emit_text(json, NULL, "type");
    emit_close(json, ']');
    emit_bool(json, "additionalProperties", false);
    emit_close(json, '}');
    json_decref(nothing);
    return code == STAGE_STOP ? EXIT_DONE : code;
}

static void emit_reference(json_writer *json, const char *name) {
    char reference[80];
    snprintf(reference, sizeof reference, "#/$defs/%s", name);
    emit_open(json, NULL, '{');
    emit_text(json, "$ref", reference);
    emit_close(json, '}');
}

int pipeline_describe(session *s) {
    uint32_t count;
    const stage_kind *kinds = stage_kinds(&count);
    int code = EXIT_DONE;
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_text(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    emit_text(&json, "title", "a pipeline of mote run");
    emit_open(&json, "anyOf", '[');
    emit_reference(&json, "stages");
    emit_open(&json, NULL, '{');
    emit_text(&json, "type", "object");
    emit_open(&json, "properties", '{');
    emit_open(&json, "pipeline", '{');
    emit_text(&json, "$ref", "#/$defs/stages");
    emit_close(&json, '}');
    emit_close(&json, '}');
    emit_open(&json, "required", '[');
    emit_text(&json, NULL, "pipeline");
    emit_close(&json, ']');
    emit_close(&json, '}');
    emit_close(&json, ']');
    emit_open(&json, "$defs", '{');
    emit_open(&json, "stages", '{');
    emit_text(&json, "type", "array");
    emit_open(&json, "items", '{');
    emit_open(&json, "anyOf", '[');
    emit_open(&json, NULL, '{');
    emit_text(&json, "type", "string");
    emit_text(&json, "description", "a file that is read, or, in the last place, one that is written");
    emit_close(&json, '}');
    for (uint32_t i = 0; i < count; i++) emit_reference(&json, kinds[i].name);
    emit_close(&json, ']');
    emit_close(&json, '}');
    emit_close(&json, '}');
    for (uint32_t i = 0; i < count && code == EXIT_DONE; i++) code = describe_kind(s, &kinds[i], &json);
    emit_close(&json, '}');
    emit_close(&json, '}');
    emit_end(&json);
    return code;
}

#endif

/* Reads a pipeline, and finds which stages hand points to which. */
#define _GNU_SOURCE
#include "run/pipeline.h"

#include <errno.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MOTE_HAVE_JANSSON
#include <jansson.h>

#define BYTES_MAX ((size_t)64 << 20) /* of a pipeline, which people write */

static int no_memory(session *s) { return session_error(s, EXIT_RESOURCES, "out of memory: the pipeline"); }

__attribute__((format(printf, 4, 5))) static int wrong(session *s, const pipeline *p, const char *place,
                                                       const char *format, ...) {
    va_list values;
    char message[600];
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    return session_error(s, EXIT_USAGE, "%s: %s%s%s", p->title, place, place[0] != '\0' ? ": " : "", message);
}

/* Tells what is wrong at a key of a stage. */
__attribute__((format(printf, 5, 6))) static int wrong_key(session *s, const pipeline *p, const pipeline_stage *stage,
                                                           const char *key, const char *format, ...) {
    va_list values;
    char place[STAGE_PLACE + 16], message[600];
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    snprintf(place, sizeof place, "%s/%s", stage->place, key);
    return wrong(s, p, place, "%s", message);
}

/* ---- text */

/* Bytes of a byte order mark of UTF-8, which some programs write in front. */
static size_t mark_bytes(const char *typed, size_t size) {
    return size >= 3 && memcmp(typed, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

static bool is_inline(const char *word) {
    const char *first = word + mark_bytes(word, strlen(word));
    first += strspn(first, " \t\r\n");
    return *first == '[' || *first == '{';
}

/* The file, noted as one that no output may replace, also where it comes as the standard input. */
static FILE *open_text(session *s, const char *path) {
    if (strcmp(path, "-") != 0) return session_open_file(s, path);
    if (mote_outputs_note_input(s->ctx, "/dev/stdin") == MOTE_OK) return stdin;
    errno = ENOMEM;
    return NULL;
}

/* All of a file, for free(). */
static int load_text(session *s, const char *path, char **out, size_t *size) {
    FILE *file = open_text(s, path);
    size_t room = 1 << 16;
    char *typed = malloc(room);
    *size = 0;
    int code = EXIT_DONE;
    if (file == NULL && errno == ENOMEM) {
        code = no_memory(s);
    } else if (file == NULL) {
        code = session_error(s, EXIT_INPUT, "%s: cannot open: %s", path, strerror(errno));
    }
    while (code == EXIT_DONE && typed != NULL) {
        const size_t got = fread(typed + *size, 1, room - *size, file);
        *size += got;
        if (ferror(file)) code = session_error(s, EXIT_INPUT, "%s: cannot read: %s", path, strerror(errno));
        if (got == 0 || ferror(file)) break;
        if (*size > BYTES_MAX) code = session_error(s, EXIT_INPUT, "%s: a pipeline has at most 64 MiB", path);
        if (*size < room) continue;
        char *more = realloc(typed, room *= 2);
        if (more == NULL) free(typed);
        typed = more;
    }
    if (file != NULL && file != stdin) fclose(file);
    if (code == EXIT_DONE && typed == NULL) code = no_memory(s);
    if (code != EXIT_DONE) free(typed);
    *out = code == EXIT_DONE ? typed : NULL;
    return code;
}

static int parse_text(session *s, pipeline *p, const char *typed, size_t size) {
    json_error_t problem;
    const char *const encoding = mote_text_encoding(typed, size);
    const size_t mark = mark_bytes(typed, size);
    if (encoding != NULL) {
        return session_error(s, EXIT_INPUT, "%s: the text is encoded as %s, mote reads UTF-8 and ASCII", p->title,
                             encoding);
    }
    p->root = json_loadb(typed + mark, size - mark, JSON_REJECT_DUPLICATES, &problem);
    if (p->root != NULL) return EXIT_DONE;
    if (problem.line < 0 || json_error_code(&problem) == json_error_out_of_memory) return no_memory(s);
    return session_error(s, EXIT_INPUT, "%s: line %d, column %d: %s", p->title, problem.line, problem.column,
                         problem.text);
}

/* ---- one stage */

static int take_files(session *s, const pipeline *p, pipeline_stage *stage, const json_t *value) {
    const size_t count = json_is_array(value) ? json_array_size(value) : 1;
    char place[STAGE_PLACE + 16];
    snprintf(place, sizeof place, "%s/filename", stage->place);
    if (value == NULL || count == 0) return wrong(s, p, stage->place, "%s needs \"filename\"", stage->kind->name);
    stage->files = calloc(count, sizeof *stage->files);
    if (stage->files == NULL) return no_memory(s);
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_is_array(value) ? json_array_get(value, i) : value);
        if (name == NULL || name[0] == '\0') return wrong(s, p, place, "a file name is expected");
        stage->files[stage->file_count++] = name;
    }
    return EXIT_DONE;
}

/* A text is the name of a file: the last one of a pipeline that is written, all others of files that are read. */
static int find_kind(session *s, const pipeline *p, pipeline_stage *stage, bool is_output) {
    const json_t *type = json_object_get(stage->json, "type"), *file = json_object_get(stage->json, "filename");
    if (type != NULL) {
        const char *name = json_string_value(type);
        if (name == NULL) return wrong_key(s, p, stage, "type", "a text is expected");
        stage->kind = stage_kind_find(name);
        return stage->kind != NULL ? EXIT_DONE : stage_kind_unknown(s, p, stage->place, name);
    }
    const char *name = json_string_value(json_is_array(file) ? json_array_get(file, 0) : file);
    if (name == NULL) return wrong(s, p, stage->place, "a stage has a \"type\", or a \"filename\" that tells it");
    stage->kind = stage_kind_of_file(name, is_output);
    if (stage->kind != NULL) return EXIT_DONE;
    return wrong(s, p, stage->place, "%s: the ending names no format that mote writes; name a \"type\"", name);
}

static int find_tag(const pipeline *p, const char *tag, uint32_t before) {
    for (uint32_t i = 0; i < before; i++) {
        if (p->stages[i].tag != NULL && strcmp(p->stages[i].tag, tag) == 0) return (int)i;
    }
    return -1;
}

static int take_tag(session *s, const pipeline *p, pipeline_stage *stage, uint32_t index) {
    const json_t *tag = json_object_get(stage->json, "tag");
    if (tag == NULL) return EXIT_DONE;
    stage->tag = json_string_value(tag);
    if (stage->tag == NULL || stage->tag[0] == '\0') return wrong_key(s, p, stage, "tag", "a text is expected");
    const int other = find_tag(p, stage->tag, index);
    if (other < 0) return EXIT_DONE;
    return wrong_key(s, p, stage, "tag", "\"%s\" is the tag of %s already", stage->tag, p->stages[other].place);
}

static int take_stage(session *s, pipeline *p, uint32_t index, json_t *json, bool is_last) {
    pipeline_stage *stage = &p->stages[index];
    if (json_is_string(json)) {
        stage->json = json_pack("{s:O}", "filename", json);
        if (stage->json == NULL) return no_memory(s);
    } else if (json_is_object(json)) {
        stage->json = json_incref(json);
    } else {
        return wrong(s, p, stage->place, "a stage is an object, or the name of a file");
    }
    int code = find_kind(s, p, stage, is_last && index > 0);
    if (code == EXIT_DONE) code = take_tag(s, p, stage, index);
    if (code == EXIT_DONE && stage->kind->role == ROLE_READER && stage->kind->run == stage_read) {
        code = take_files(s, p, stage, json_object_get(stage->json, "filename"));
    }
    return code;
}

/* ---- who hands to whom */

static int add_input(session *s, pipeline_stage *stage, uint32_t input) {
    uint32_t *more = realloc(stage->inputs, (stage->input_count + 1) * sizeof *more);
    if (more == NULL) return no_memory(s);
    stage->inputs = more;
    stage->inputs[stage->input_count++] = input;
    return EXIT_DONE;
}

/* "inputs": tags of stages before this one. */
static int take_named_inputs(session *s, const pipeline *p, uint32_t index, const json_t *inputs) {
    pipeline_stage *stage = &p->stages[index];
    const size_t count = json_is_array(inputs) ? json_array_size(inputs) : 1;
    if (stage->kind->role == ROLE_READER) return wrong_key(s, p, stage, "inputs", "a reader has none");
    for (size_t i = 0; i < count; i++) {
        const char *tag = json_string_value(json_is_array(inputs) ? json_array_get(inputs, i) : inputs);
        if (tag == NULL) return wrong_key(s, p, stage, "inputs", "tags of stages are expected");
        const int input = find_tag(p, tag, index);
        if (input < 0) return wrong_key(s, p, stage, "inputs", "no stage before this one has the tag \"%s\"", tag);
        const int code = add_input(s, stage, (uint32_t)input);
        if (code != EXIT_DONE) return code;
    }
    return stage->input_count > 0 ? EXIT_DONE : wrong_key(s, p, stage, "inputs", "none is named");
}

/* Readers that differ in nothing but their files are one reader of several files: so they become one cloud as on the
   command line, also where their attributes and scales differ. */
static bool same_reading(const pipeline_stage *a, const pipeline_stage *b) {
    bool same = a->kind == b->kind && a->kind->run == stage_read;
    json_t *one = same ? json_copy(a->json) : NULL, *other = same ? json_copy(b->json) : NULL;
    static const char *const own[] = {"filename", "tag", "user_data"};
    for (size_t i = 0; i < 3 && same; i++) {
        json_object_del(one, own[i]);
        json_object_del(other, own[i]);
    }
    same = same && one != NULL && other != NULL && json_equal(one, other) && json_object_get(one, "count") == NULL &&
           json_object_get(one, "start") == NULL;
    json_decref(one);
    json_decref(other);
    return same;
}

static int fold_readers(session *s, pipeline *p, pipeline_stage *stage) {
    uint32_t kept = 1;
    for (uint32_t i = 1; i < stage->input_count; i++) {
        pipeline_stage *first = &p->stages[stage->inputs[kept - 1]], *next = &p->stages[stage->inputs[i]];
        stage->inputs[kept] = stage->inputs[i];
        if (first->uses != 1 || next->uses != 1 || !same_reading(first, next)) {
            kept++;
            continue;
        }
        const size_t count = first->file_count + next->file_count;
        const char **files = realloc(first->files, count * sizeof *files);
        if (files == NULL) return no_memory(s);
        memcpy(files + first->file_count, next->files, next->file_count * sizeof *files);
        first->files = files;
        first->file_count = (uint32_t)count;
        next->is_folded = true;
        next->uses = 0;
    }
    if (stage->input_count > 0) stage->input_count = kept;
    return EXIT_DONE;
}

int pipeline_plan(session *s, pipeline *p) {
    uint32_t open_first = 0; /* stages from here on to the one before this that nobody has taken */
    int code = EXIT_DONE;
    for (uint32_t i = 0; i < p->count && code == EXIT_DONE; i++) {
        pipeline_stage *stage = &p->stages[i];
        const json_t *inputs = json_object_get(stage->json, "inputs");
        if (inputs != NULL) {
            code = take_named_inputs(s, p, i, inputs);
        } else if (stage->kind->role != ROLE_READER) {
            for (uint32_t k = open_first; k < i && code == EXIT_DONE; k++) code = add_input(s, stage, k);
            if (i == 0) code = wrong(s, p, stage->place, "%s has no input", stage->kind->name);
        }
        if (stage->kind->role != ROLE_READER) open_first = i;
        for (uint32_t k = 0; k < stage->input_count; k++) p->stages[stage->inputs[k]].uses++;
    }
    for (uint32_t i = 0; i < p->count && code == EXIT_DONE; i++) code = fold_readers(s, p, &p->stages[i]);
    return code;
}

/* ---- all */

static int take_stages(session *s, pipeline *p) {
    json_t *list = json_is_object(p->root) ? json_object_get(p->root, "pipeline") : p->root;
    const char *place = json_is_object(p->root) ? "/pipeline" : "";
    if (!json_is_array(list)) return wrong(s, p, place, "a pipeline is an array of stages, or {\"pipeline\": [ … ]}");
    const size_t count = json_array_size(list);
    if (count == 0) return wrong(s, p, place, "the pipeline has no stages");
    if (count > STAGES_MAX) return wrong(s, p, place, "%zu stages; there are at most %d", count, STAGES_MAX);
    p->stages = calloc(count, sizeof *p->stages);
    if (p->stages == NULL) return no_memory(s);
    for (size_t i = 0; i < count; i++) {
        p->count++;
        snprintf(p->stages[i].place, STAGE_PLACE, "%s/%zu", place, i);
        const int code = take_stage(s, p, (uint32_t)i, json_array_get(list, i), i + 1 == count);
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}

int pipeline_read(session *s, const char *word, pipeline *p) {
    char *typed = NULL;
    size_t size = 0;
    int code = EXIT_DONE;
    const pipeline none = {.title = "the pipeline"};
    *p = none;
    if (is_inline(word)) {
        code = parse_text(s, p, word, strlen(word));
    } else {
        p->title = strcmp(word, "-") == 0 ? "standard input" : word;
        code = load_text(s, word, &typed, &size);
        if (code == EXIT_DONE) code = parse_text(s, p, typed, size);
        free(typed);
    }
    return code == EXIT_DONE ? take_stages(s, p) : code;
}

void pipeline_free(pipeline *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        mote_cloud_destroy(p->stages[i].cloud);
        json_decref(p->stages[i].json);
        free(p->stages[i].inputs);
        free(p->stages[i].files);
    }
    free(p->stages);
    json_decref(p->root);
}

#endif

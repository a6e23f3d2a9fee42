/* What was asked for, and of which inputs: a plan says no less, and a run that goes on with one asks for the same. */
#define _GNU_SOURCE /* getcwd */
#include <errno.h>
#include <linux/limits.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts/parts_job.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

void parts_job_close(parts_job *job) {
    if (job->ctx == NULL) return;
    json_decref(job->json);
    mote_free(job->ctx, job->path);
    mote_free(job->ctx, job->output);
    mote_free(job->ctx, job->folder);
    mote_free(job->ctx, job->left_out);
}

/* ---- names: processes of a job may start elsewhere */

static char *absolute(mote_context *ctx, const char *path) {
    char here[PATH_MAX] = "";
    if (path[0] != '/' && getcwd(here, sizeof here) == NULL) here[0] = '\0';
    const size_t size = strlen(here) + strlen(path) + 2;
    char *out = mote_alloc(ctx, size, "parts");
    if (out != NULL) snprintf(out, size, "%s%s%s", here, here[0] != '\0' ? "/" : "", path);
    return out;
}

mote_status parts_job_name(parts_job *job, const char *output) {
    size_t length = output != NULL ? strlen(output) : 0;
    if (length == 0) return mote_fail(job->ctx, MOTE_ERROR_ARGUMENT, "the name of the output is empty");
    job->output = absolute(job->ctx, output);
    if (job->output == NULL) return MOTE_ERROR_MEMORY;
    for (length = strlen(job->output); length > 1 && job->output[length - 1] == '/';) job->output[--length] = '\0';
    job->folder = mote_alloc(job->ctx, length + 7, "parts");
    if (job->folder == NULL) return MOTE_ERROR_MEMORY;
    snprintf(job->folder, length + 7, "%s.parts", job->output);
    return MOTE_OK;
}

/* The name with the folder that it leads to; a folder that is not there is as it is written. */
static void find_real(const char *path, char real[2 * PATH_MAX]) {
    char folder[PATH_MAX], found[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(name - path) : 1, slash != NULL ? path : ".");
    snprintf(real, 2 * PATH_MAX, "%s/%s", realpath(folder, found) != NULL ? found : folder, name);
}

mote_status parts_job_check_plan(const parts_job *job, const char *plan) {
    char names[2][2 * PATH_MAX];
    find_real(job->output, names[0]);
    find_real(plan, names[1]);
    if (strcmp(names[0], names[1]) != 0) return MOTE_OK;
    return mote_fail(job->ctx, MOTE_ERROR_ARGUMENT, "%s: the plan and the output have this name", plan);
}

static mote_status no_memory(mote_context *ctx) { return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: the plan"); }

/* name: with its folder, whose name may be what is wrong */
static mote_status no_text(mote_context *ctx, const char *name) {
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: the name is no UTF-8, as a plan needs", name);
}

static mote_status wrong(const parts_job *job, const char *what) {
    return mote_fail(job->ctx, MOTE_ERROR_DATA, "%s: request: %s is missing, or not what a plan has there", job->path,
                     what);
}

/* ---- making */

static uint64_t block_count(uint64_t size_bytes) { return (size_bytes + PARTS_HASHED_BYTES - 1) / PARTS_HASHED_BYTES; }

/* The checksums of an input's blocks. */
static mote_status add_hashes(parts_run *run, const char *path, uint64_t size_bytes, json_t *list) {
    const uint64_t count = block_count(size_bytes);
    uint64_t *hashes = mote_alloc(run->ctx, count * sizeof *hashes, "checksums");
    mote_status status = hashes != NULL ? parts_hash_blocks(run->ctx, path, count, NULL, hashes) : MOTE_ERROR_MEMORY;
    for (uint64_t b = 0; b < count && status == MOTE_OK; b++) {
        if (!parts_add(list, NULL, parts_put_bits(hashes[b]))) status = no_memory(run->ctx);
    }
    mote_free(run->ctx, hashes);
    return status;
}

/* When a file was written last: where that is as it was, its bytes are. */
static uint64_t written_at(const struct stat *info) {
    return (uint64_t)info->st_mtim.tv_sec * 1000000000u + (uint64_t)info->st_mtim.tv_nsec;
}

static mote_status add_input(parts_run *run, const char *path, json_t *list, json_t *times) {
    mote_context *ctx = run->ctx;
    struct stat info;
    if (stat(path, &info) != 0) return mote_system_error(ctx, path, "look at");
    if (!parts_add(times, NULL, parts_put_bits(written_at(&info)))) return no_memory(ctx);
    json_t *hashes = json_array();
    const mote_status status = hashes != NULL ? add_hashes(run, path, (uint64_t)info.st_size, hashes) : no_memory(ctx);
    char *name = status == MOTE_OK ? absolute(ctx, path) : NULL;
    if (name == NULL) {
        json_decref(hashes);
        return status != MOTE_OK ? status : MOTE_ERROR_MEMORY;
    }
    json_t *text = json_string(name), *input = json_object();
    const bool is_named = text != NULL;
    const bool ok = parts_add(input, "hashes", hashes) && parts_add(input, "path", text) &&
                    parts_add(input, "bytes", json_integer((json_int_t)info.st_size));
    const mote_status named = is_named ? MOTE_OK : no_text(ctx, name);
    mote_free(ctx, name);
    if (!ok) json_decref(input);
    MOTE_TRY(named);
    return ok && parts_add(list, NULL, input) ? MOTE_OK : no_memory(ctx);
}

/* Times are no part of the request: who goes on asks for the same where these alone are others. */
static mote_status add_inputs(parts_run *run, json_t *root, json_t *request) {
    json_t *list = json_array(), *times = json_array();
    const bool ok = parts_add(request, "inputs", list);
    if (!parts_add(root, "written_at", times) || !ok) return no_memory(run->ctx);
    mote_stage(run->ctx, "checksums");
    for (uint64_t i = 0; i < run->source.list.count; i++) {
        MOTE_TRY(add_input(run, run->source.list.paths[i], list, times));
    }
    return MOTE_OK;
}

/* That a COPC file is to be made, and how. */
static bool add_file(const parts_run *run, json_t *request) {
    const char *columns = run->writing.columns;
    json_t *o = json_object();
    return parts_add(request, "copc", o) &&
           parts_add(o, "columns", columns != NULL ? json_string(columns) : json_null());
}

static bool add_left_out(const parts_run *run, json_t *request) {
    json_t *list = json_array();
    bool ok = parts_add(request, "attributes_left_out", list);
    const char *const *names = run->potree.attributes_left_out;
    for (uint32_t i = 0; names != NULL && names[i] != NULL && ok; i++) {
        ok = parts_add(list, NULL, json_string(names[i]));
    }
    return ok;
}

/* Which system points are brought to, and what is seen there. */
static bool add_system(const parts_run *run, json_t *request) {
    const mote_read_params *reading = &run->source.reading;
    if (reading->to_crs == NULL) return true;
    json_t *o = json_object();
    return parts_add(request, "system", o) && parts_add(o, "to_crs", json_string(reading->to_crs)) &&
           parts_add(o, "where_in_to_crs", json_boolean(reading->where_in_to_crs));
}

static mote_status take_system(const parts_job *job, const json_t *request, mote_read_params *reading) {
    const json_t *o = json_object_get(request, "system");
    if (o == NULL) return MOTE_OK;
    reading->to_crs = json_string_value(json_object_get(o, "to_crs"));
    reading->where_in_to_crs = json_is_true(json_object_get(o, "where_in_to_crs"));
    return reading->to_crs != NULL ? MOTE_OK : wrong(job, "\"to_crs\"");
}

static mote_status check_reading(parts_run *run) {
    mote_potree_params others = run->potree;
    mote_read_params reading = run->source.reading;
    others.attributes_left_out = NULL; /* a plan names them itself, and the system */
    reading.to_crs = NULL;
    const char *lacks = potree_request_lacks(&reading, &others);
    return lacks == NULL ? MOTE_OK
                         : mote_fail(run->ctx, MOTE_ERROR_UNSUPPORTED, "a plan of parts has no place for %s", lacks);
}

mote_status parts_job_begin(parts_run *run, const char *output, parts_job *job) {
    memset(job, 0, sizeof *job);
    job->ctx = run->ctx;
    MOTE_TRY(check_reading(run));
    MOTE_TRY(parts_job_name(job, output));
    json_t *text = json_string(job->output);
    if (text == NULL) return no_text(run->ctx, job->output);
    json_decref(text);
    return MOTE_OK;
}

mote_status parts_job_ask(parts_run *run, parts_job *job) {
    job->json = json_object();
    json_t *request = json_object();
    const bool ok = parts_add(job->json, "mote_plan", json_integer(PARTS_PLAN_VERSION)) &&
                    parts_add(job->json, "made_by", json_string("mote " MOTE_VERSION)) &&
                    parts_add(job->json, "request", request) &&
                    parts_add(request, "output", json_string(job->output)) &&
                    parts_add(request, "keeps_inputs", json_boolean(run->potree.origin != NULL)) &&
                    potree_request_put(&run->source.reading, &run->lod, &run->potree, request) &&
                    add_left_out(run, request) && add_system(run, request) && (!run->is_copc || add_file(run, request));
    return ok ? add_inputs(run, job->json, request) : no_memory(run->ctx);
}

/* ---- taking */

bool parts_job_keeps_inputs(const parts_job *job) {
    return json_is_true(json_object_get(json_object_get(job->json, "request"), "keeps_inputs"));
}

/* The names are the plan's; the list of them is the job's. */
static mote_status take_left_out(parts_job *job, const json_t *request, parts_run *run) {
    const json_t *list = json_object_get(request, "attributes_left_out");
    const size_t count = json_array_size(list);
    if (!json_is_array(list)) return wrong(job, "\"attributes_left_out\"");
    if (count == 0) return MOTE_OK;
    job->left_out = mote_alloc_zero(job->ctx, (count + 1) * sizeof *job->left_out, "parts");
    if (job->left_out == NULL) return MOTE_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        job->left_out[i] = json_string_value(json_array_get(list, i));
        if (job->left_out[i] == NULL) return wrong(job, "an attribute that is left out");
    }
    run->potree.attributes_left_out = job->left_out;
    return MOTE_OK;
}

static mote_status take_parameters(parts_job *job, const json_t *request, mote_read_params *reading, parts_run *run) {
    const char *member = potree_request_take(request, reading, &run->lod, &run->potree);
    if (member != NULL) return wrong(job, member);
    MOTE_TRY(take_system(job, request, reading));
    const json_t *file = json_object_get(request, "copc"), *columns = json_object_get(file, "columns");
    run->is_copc = run->has_numbers = file != NULL;
    run->writing = mote_copc_defaults();
    run->writing.columns = json_string_value(columns);
    if (run->is_copc && !json_is_string(columns) && !json_is_null(columns)) return wrong(job, "\"copc\"");
    if (run->is_copc) MOTE_TRY(parts_copc_check(run, job->output));
    MOTE_TRY(take_left_out(job, request, run));
    MOTE_TRY(potree_check_params(job->ctx, &run->potree));
    MOTE_TRY(lod_check_params(job->ctx, &run->lod));
    const char *refusal = mote_lod_parts_refusal(&run->lod, &run->potree);
    return refusal == NULL ? MOTE_OK : mote_fail(job->ctx, MOTE_ERROR_DATA, "%s: %s", job->path, refusal);
}

/* Of an input that was there, and readable, when the plan was made. */
static mote_status look_at(const parts_job *job, const char *path, struct stat *info) {
    if (stat(path, info) == 0 && access(path, R_OK) == 0) return MOTE_OK;
    return mote_fail(job->ctx, MOTE_ERROR_CHANGED, "%s: cannot look at: %s", path, strerror(errno));
}

/* A plan's own names are those of files: a pattern in one would mean others. */
static mote_status find_paths(const parts_job *job, const json_t *inputs, const char **paths) {
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        struct stat info;
        paths[i] = json_string_value(json_object_get(json_array_get(inputs, i), "path"));
        if (paths[i] == NULL) return wrong(job, "\"path\" of an input");
        MOTE_TRY(look_at(job, paths[i], &info));
        if (!S_ISREG(info.st_mode)) return mote_fail(job->ctx, MOTE_ERROR_CHANGED, "%s: is no file", paths[i]);
    }
    return MOTE_OK;
}

/* Where the points of each of count inputs lie, which are brought to another system. */
static mote_status take_boxes(const parts_job *job, uint64_t count, mote_box **boxes) {
    const json_t *list = json_object_get(job->json, "boxes");
    if (json_array_size(list) != count) return wrong(job, "\"boxes\"");
    *boxes = mote_alloc(job->ctx, count * sizeof **boxes, "inputs");
    if (*boxes == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        const json_t *pair = json_array_get(list, i);
        if (!parts_take_place(json_array_get(pair, 0), (*boxes)[i].min) ||
            !parts_take_place(json_array_get(pair, 1), (*boxes)[i].max)) {
            return wrong(job, "a box");
        }
    }
    return MOTE_OK;
}

mote_status parts_job_open_inputs(parts_job *job, parts_run *run) {
    const json_t *request = json_object_get(job->json, "request");
    const json_t *inputs = json_object_get(request, "inputs");
    const char *output = json_string_value(json_object_get(request, "output"));
    const size_t count = json_array_size(inputs);
    mote_read_params reading;
    if (count == 0 || count > UINT32_MAX) return wrong(job, "\"inputs\"");
    if (output == NULL) return wrong(job, "\"output\"");
    MOTE_TRY(parts_job_name(job, output));
    MOTE_TRY(take_parameters(job, request, &reading, run));
    const char **paths = mote_alloc(job->ctx, count * sizeof *paths, "inputs");
    if (paths == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = find_paths(job, inputs, paths);
    if (status == MOTE_OK) status = parts_job_check_inputs(job);
    const mote_log_fn log = job->ctx->params.log;
    job->ctx->params.log = NULL; /* the plan has told what there was to tell */
    mote_box *boxes = NULL;
    if (status == MOTE_OK && reading.to_crs != NULL) status = take_boxes(job, count, &boxes);
    if (status == MOTE_OK) {
        status = parts_source_begin(job->ctx, paths, (uint32_t)count, &reading, boxes, &run->source);
    } else {
        mote_free(job->ctx, boxes);
    }
    job->ctx->params.log = log;
    mote_free(job->ctx, paths);
    return status;
}

static mote_status other_file(const parts_job *job, const char *path, const char *what) {
    return mote_fail(job->ctx, MOTE_ERROR_CHANGED,
                     "%s: is no longer the file that %s was made of (%s); make a new plan", path, job->path, what);
}

mote_status parts_job_check_inputs(const parts_job *job) {
    const json_t *inputs = json_object_get(json_object_get(job->json, "request"), "inputs");
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        const char *path = json_string_value(json_object_get(input, "path"));
        struct stat info;
        uint64_t size;
        if (path == NULL || !parts_take_count(input, "bytes", INT64_MAX, &size) ||
            json_array_size(json_object_get(input, "hashes")) != block_count(size)) {
            return wrong(job, "an input");
        }
        MOTE_TRY(look_at(job, path, &info));
        if ((uint64_t)info.st_size != size) return other_file(job, path, "another size");
    }
    return MOTE_OK;
}

/* blocks: [count] of which; hashes: [count], for their own */
static mote_status check_blocks(const parts_job *job, const json_t *input, uint64_t count, const bool *blocks,
                                uint64_t *hashes) {
    const char *path = json_string_value(json_object_get(input, "path"));
    MOTE_TRY(parts_hash_blocks(job->ctx, path, count, blocks, hashes));
    for (uint64_t b = 0; b < count; b++) {
        uint64_t hash;
        if (!blocks[b]) continue;
        if (!parts_take_bits(json_array_get(json_object_get(input, "hashes"), b), NULL, &hash)) {
            return wrong(job, "a checksum of an input");
        }
        if (hash != hashes[b]) return other_file(job, path, "other bytes");
    }
    return MOTE_OK;
}

/* Whether an input was written since the plan looked at it. */
static mote_status is_written(const parts_job *job, size_t i, const char *path, bool *is) {
    struct stat info;
    uint64_t before;
    if (!parts_take_bits(json_array_get(json_object_get(job->json, "written_at"), i), NULL, &before)) {
        return wrong(job, "the time of an input");
    }
    MOTE_TRY(look_at(job, path, &info));
    *is = written_at(&info) != before;
    return MOTE_OK;
}

mote_status parts_job_check_bytes(const parts_job *job, parts_source *source, const bool *has) {
    const json_t *inputs = json_object_get(json_object_get(job->json, "request"), "inputs");
    mote_status status = MOTE_OK;
    for (size_t i = 0; i < json_array_size(inputs) && status == MOTE_OK; i++) {
        const json_t *input = json_array_get(inputs, i);
        bool looks_at_all = false;
        if (!has[i]) continue;
        MOTE_TRY(is_written(job, i, source->list.paths[i], &looks_at_all));
        if (!looks_at_all && !source->wanted[i]) continue;
        const uint64_t count = json_array_size(json_object_get(input, "hashes"));
        bool *blocks = mote_alloc_zero(job->ctx, count, "checksums");
        uint64_t *hashes = mote_alloc(job->ctx, count * sizeof *hashes, "checksums");
        if (blocks == NULL || hashes == NULL) status = MOTE_ERROR_MEMORY;
        if (status == MOTE_OK && looks_at_all) memset(blocks, true, count * sizeof *blocks);
        if (status == MOTE_OK && !looks_at_all) status = parts_source_mark(source, i, PARTS_HASHED_BYTES, blocks);
        if (status == MOTE_OK) status = check_blocks(job, input, count, blocks, hashes);
        mote_free(job->ctx, blocks);
        mote_free(job->ctx, hashes);
    }
    return status;
}
#endif

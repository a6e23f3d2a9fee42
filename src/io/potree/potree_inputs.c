/* inputs.json: of which files an octree's points are and how it is made of them, so that it can be changed when they
   do. Nothing that draws the octree needs it.

     { "mote_inputs": 1, "reading": {…}, "octree": {…}, "folder": {…},
       "inputs": [ { "path": "../tiles/a.laz", "bytes": 1234, "modified": 1700000000000000000, "hash": "…",
                     "learnt": {…} }, … ] }

   Files that are beside the folder or deeper have names relative to it, so that both can be moved together. */
#define _GNU_SOURCE /* realpath, st_mtim */
#include <errno.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "io/merge/inputs.h"
#include "io/potree/potree.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

#define INPUTS_VERSION   1
#define INPUTS_BYTES_MAX (1ull << 30) /* of a million inputs */
#define NS               1000000000ull

void potree_inputs_free(potree_inputs *inputs) {
    if (inputs->ctx == NULL) return;
    for (uint64_t i = 0; i < inputs->count; i++) {
        mote_free(inputs->ctx, inputs->list[i].path);
        json_decref(inputs->list[i].learnt);
    }
    mote_free(inputs->ctx, inputs->list);
    json_decref(inputs->json);
    memset(inputs, 0, sizeof *inputs);
}

/* ---- files */

static uint64_t written_at(const struct stat *info) {
    return (uint64_t)info->st_mtim.tv_sec * NS + (uint64_t)info->st_mtim.tv_nsec;
}

mote_status potree_input_look(mote_context *ctx, const char *path, uint64_t *size_bytes, uint64_t *modified_ns) {
    struct stat info;
    if (stat(path, &info) != 0) {
        return mote_fail(ctx, MOTE_ERROR_CHANGED, "%s: cannot look at: %s", path, strerror(errno));
    }
    *size_bytes = (uint64_t)info.st_size;
    *modified_ns = written_at(&info);
    return MOTE_OK;
}

mote_status potree_input_place(mote_context *ctx, const char *path, char **out) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    char *parent = mote_alloc(ctx, strlen(path) + 2, "inputs");
    *out = NULL;
    if (parent == NULL) return MOTE_ERROR_MEMORY;
    snprintf(parent, strlen(path) + 2, "%.*s", slash != NULL ? (int)(slash - path + 1) : 1, slash != NULL ? path : ".");
    char *real = realpath(parent, NULL);
    mote_free(ctx, parent);
    if (real == NULL) { /* it is gone: its name is all that there is */
        *out = mote_strdup(ctx, path);
    } else {
        const size_t size = strlen(real) + strlen(name) + 2;
        *out = mote_alloc(ctx, size, "inputs");
        if (*out != NULL) snprintf(*out, size, "%s%s%s", real, real[1] == '\0' ? "" : "/", name);
    }
    free(real);
    return *out != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status append(potree_inputs *inputs, char *path) {
    if (path == NULL) return MOTE_ERROR_MEMORY;
    if (!mote_reserve(inputs->ctx, (void **)&inputs->list, &inputs->capacity, inputs->count + 1, sizeof *inputs->list,
                      "inputs")) {
        mote_free(inputs->ctx, path);
        return MOTE_ERROR_MEMORY;
    }
    memset(&inputs->list[inputs->count], 0, sizeof inputs->list[0]);
    inputs->list[inputs->count++].path = path;
    return MOTE_OK;
}

mote_status potree_inputs_add(potree_inputs *inputs, const char *path) {
    char *place = NULL;
    MOTE_TRY(potree_input_place(inputs->ctx, path, &place));
    MOTE_TRY(append(inputs, place));
    potree_input *input = &inputs->list[inputs->count - 1];
    return potree_input_look(inputs->ctx, input->path, &input->size_bytes, &input->modified_ns);
}

/* ---- writing */

/* The name that an input has in the folder's inputs.json. parent: of the folder, with the last slash */
static json_t *name_of(const potree_input *input, const char *parent) {
    const size_t length = strlen(parent);
    if (strncmp(input->path, parent, length) != 0) return json_string(input->path);
    return json_sprintf("../%s", input->path + length);
}

/* Whether it is as it was when it was looked at. */
static bool is_as_before(const potree_input *input) {
    struct stat info;
    return stat(input->path, &info) == 0 && (uint64_t)info.st_size == input->size_bytes &&
           written_at(&info) == input->modified_ns;
}

/* The checksum tells later that a file whose time alone is another is what it was. The file was read just now, so that
   the system mostly has it in memory; what has changed since it was looked at has none. */
static mote_status find_hash(mote_context *ctx, const potree_input *input, bool *is_known, uint64_t *hash) {
    uint64_t size_bytes = 0;
    *is_known = input->is_hashed;
    *hash = input->hash;
    if (input->is_hashed || !is_as_before(input)) return MOTE_OK;
    MOTE_TRY(potree_hash_file(ctx, input->path, &size_bytes, hash));
    *is_known = size_bytes == input->size_bytes && is_as_before(input);
    return MOTE_OK;
}

/* What is learnt has the checksum, too. */
static bool add_hash(mote_context *ctx, const potree_input *input, json_t *to) {
    bool is_known = false;
    uint64_t hash = 0;
    if (input->learnt != NULL) return json_object_set(to, "learnt", input->learnt) == 0;
    if (find_hash(ctx, input, &is_known, &hash) != MOTE_OK) return false;
    return !is_known || json_object_set_new(to, "hash", json_sprintf("%016llx", (unsigned long long)hash)) == 0;
}

static json_t *inputs_json(const potree_inputs *inputs, const char *parent) {
    json_t *root = json_object(), *list = json_array();
    bool ok = json_object_set_new(root, "mote_inputs", json_integer(INPUTS_VERSION)) == 0;
    ok = potree_request_put(&inputs->reading, &inputs->lod, &inputs->potree, root) && ok;
    ok = json_object_set_new(root, "inputs", list) == 0 && ok;
    for (uint64_t i = 0; i < inputs->count && ok; i++) {
        const potree_input *input = &inputs->list[i];
        json_t *o = json_object();
        ok = json_array_append_new(list, o) == 0 && json_object_set_new(o, "path", name_of(input, parent)) == 0 &&
             json_object_set_new(o, "bytes", json_integer((json_int_t)input->size_bytes)) == 0 &&
             json_object_set_new(o, "modified", json_integer((json_int_t)input->modified_ns)) == 0;
        ok = ok && add_hash(inputs->ctx, input, o);
    }
    if (!ok) json_decref(root);
    return ok ? root : NULL;
}

mote_status potree_inputs_write(const potree_inputs *inputs, const potree_folder *folder) {
    mote_context *ctx = inputs->ctx;
    mote_output output;
    char *place = NULL;
    MOTE_TRY(potree_input_place(ctx, folder->path, &place));
    char *slash = strrchr(place, '/');
    if (slash != NULL) slash[1] = '\0';
    json_t *root = inputs_json(inputs, place);
    char *text = root != NULL ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    mote_status status = mote_context_status(ctx); /* of a checksum */
    if (status == MOTE_OK && text == NULL) status = mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: inputs.json");
    if (status == MOTE_OK) status = potree_folder_output(ctx, folder, POTREE_INPUTS, &output);
    if (status == MOTE_OK) status = mote_output_close(ctx, &output, mote_output_text(ctx, &output, text));
    free(text);
    json_decref(root);
    mote_free(ctx, place);
    return status;
}

/* Where they cannot be named. */
#define FORGETS "the folder does not know its files, which cannot be changed in it: "

/* False: one cannot be read again, or is no file; that is told. */
static mote_status add_all(potree_inputs *inputs, const mote_input_list *list, uint64_t since_ns, bool *all) {
    struct stat info;
    *all = true;
    for (uint64_t i = 0; i < list->count && *all; i++) {
        const char *path = list->paths[i];
        *all = !mote_is_dash(path) && !mote_input_is_read_once(path) && stat(path, &info) == 0 && S_ISREG(info.st_mode);
        if (!*all) {
            mote_note(inputs->ctx, FORGETS "%s is no file", mote_is_dash(path) ? "standard input" : path);
            break;
        }
        MOTE_TRY(potree_inputs_add(inputs, path));
        potree_input *input = &inputs->list[inputs->count - 1];
        json_t *text = json_string(input->path);
        *all = text != NULL;
        if (!*all) mote_note(inputs->ctx, FORGETS "the name of %s is no UTF-8, as JSON has to be", input->path);
        json_decref(text);
        if (since_ns > 0 && input->modified_ns >= since_ns) input->modified_ns = 0;
    }
    return MOTE_OK;
}

mote_status potree_origin_write(mote_context *ctx, const mote_lod_params *lod, const mote_potree_params *params,
                                const potree_folder *folder) {
    const mote_potree_origin *origin = params->origin;
    if (origin == NULL || folder->is_dry) return MOTE_OK;
    if (origin->known != NULL) return potree_inputs_write(origin->known, folder);
    potree_inputs inputs = {.ctx = ctx, .lod = *lod, .potree = *params};
    mote_input_list list;
    bool all = false;
    inputs.reading = origin->reading != NULL ? *(const mote_read_params *)origin->reading : mote_read_defaults();
    const char *lacks = potree_request_lacks(&inputs.reading, params);
    if (lacks != NULL) {
        mote_note(ctx, FORGETS "%s", lacks);
        return MOTE_OK;
    }
    MOTE_TRY(mote_check_reserved(ctx, origin->reserved, sizeof origin->reserved, "mote_potree_origin", "zeros"));
    mote_status status = mote_inputs_find(ctx, origin->inputs, origin->input_count, &list);
    if (status == MOTE_OK) status = add_all(&inputs, &list, origin->since_ns, &all);
    if (status == MOTE_OK && all) status = potree_inputs_write(&inputs, folder);
    mote_inputs_free(ctx, &list);
    potree_inputs_free(&inputs);
    return status;
}

/* ---- reading */

static mote_status wrong(const potree_inputs *inputs, const char *path, const char *what) {
    return mote_fail(inputs->ctx, MOTE_ERROR_DATA, "%s: %s is missing, or not what belongs there", path, what);
}

static bool take_hash(const json_t *from, potree_input *input) {
    const char *digits = json_string_value(from);
    if (digits == NULL || strlen(digits) != 16 || strspn(digits, "0123456789abcdef") != 16) return false;
    input->hash = strtoull(digits, NULL, 16);
    input->is_hashed = true;
    return true;
}

static mote_status take_input(potree_inputs *inputs, const char *parent, const char *path, const json_t *from) {
    const char *name = json_string_value(json_object_get(from, "path"));
    const json_t *bytes = json_object_get(from, "bytes"), *modified = json_object_get(from, "modified");
    if (name == NULL || name[0] == '\0') return wrong(inputs, path, "\"path\" of an input");
    if (!json_is_integer(bytes) || json_integer_value(bytes) < 0 || !json_is_integer(modified) ||
        json_integer_value(modified) < 0) {
        return wrong(inputs, path, "\"bytes\" or \"modified\" of an input");
    }
    const bool is_beside = strncmp(name, "../", 3) == 0;
    const size_t size = strlen(parent) + strlen(name) + 1;
    char *place = mote_alloc(inputs->ctx, size, "inputs");
    if (place != NULL) snprintf(place, size, "%s%s", is_beside ? parent : "", is_beside ? name + 3 : name);
    MOTE_TRY(append(inputs, place));
    potree_input *input = &inputs->list[inputs->count - 1];
    input->size_bytes = (uint64_t)json_integer_value(bytes);
    input->modified_ns = (uint64_t)json_integer_value(modified);
    const json_t *hash = json_object_get(from, "hash");
    if (hash != NULL && !take_hash(hash, input)) return wrong(inputs, path, "\"hash\" of an input");
    input->learnt = json_object_get(from, "learnt");
    json_incref(input->learnt);
    return MOTE_OK;
}

static mote_status take_all(potree_inputs *inputs, const char *parent, const char *path) {
    const json_t *version = json_object_get(inputs->json, "mote_inputs");
    const json_t *list = json_object_get(inputs->json, "inputs");
    if (!json_is_integer(version)) return wrong(inputs, path, "\"mote_inputs\"");
    if (json_integer_value(version) != INPUTS_VERSION) {
        return mote_fail(inputs->ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: of version %lld; this mote knows version %d: make the folder anew", path,
                         (long long)json_integer_value(version), INPUTS_VERSION);
    }
    const char *member = potree_request_take(inputs->json, &inputs->reading, &inputs->lod, &inputs->potree);
    if (member != NULL) return wrong(inputs, path, member);
    if (json_array_size(list) == 0 || json_array_size(list) > UINT32_MAX) return wrong(inputs, path, "\"inputs\"");
    for (size_t i = 0; i < json_array_size(list); i++) {
        MOTE_TRY(take_input(inputs, parent, path, json_array_get(list, i)));
    }
    return MOTE_OK;
}

static mote_status parse(potree_inputs *inputs, const char *parent, const char *path, const mote_input *input) {
    json_error_t error;
    if (input->size_bytes > INPUTS_BYTES_MAX) {
        return mote_fail(inputs->ctx, MOTE_ERROR_DATA, "%s: too long for a list of inputs", path);
    }
    inputs->json = json_loadb((const char *)input->data, input->size_bytes, JSON_REJECT_DUPLICATES, &error);
    if (inputs->json == NULL) {
        return mote_fail(inputs->ctx, MOTE_ERROR_DATA, "%s: line %d, column %d: no list of inputs: %s", path,
                         error.line, error.column, error.text);
    }
    MOTE_TRY(take_all(inputs, parent, path));
    return mote_input_check(inputs->ctx, input);
}

static mote_status read_file(potree_inputs *inputs, const char *real) {
    mote_context *ctx = inputs->ctx;
    mote_input input;
    struct stat info;
    const size_t size = strlen(real) + sizeof POTREE_INPUTS + 1;
    char *path = mote_alloc(ctx, size, "inputs"), *parent = mote_strdup(ctx, real);
    mote_status status = path != NULL && parent != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) {
        *(strrchr(parent, '/') + 1) = '\0';
        snprintf(path, size, "%s/" POTREE_INPUTS, real);
        if (stat(path, &info) != 0) {
            status = mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                               "%s: has no inputs.json, which tells of what files it is made, as -o writes none: make "
                               "it anew of files by mote lod --into",
                               real);
        }
    }
    if (status == MOTE_OK) {
        status = mote_input_open_part(ctx, path, &input);
        if (status == MOTE_OK) status = parse(inputs, parent, path, &input);
        mote_input_close(ctx, &input);
    }
    mote_free(ctx, path);
    mote_free(ctx, parent);
    return status;
}

mote_status potree_inputs_read(mote_context *ctx, const char *folder, potree_inputs *inputs) {
    memset(inputs, 0, sizeof *inputs);
    inputs->ctx = ctx;
    char *real = realpath(folder, NULL);
    if (real == NULL) return mote_system_error(ctx, folder, "open");
    const mote_status status = read_file(inputs, real);
    free(real);
    return status;
}

#else

mote_status potree_origin_write(mote_context *ctx, const mote_lod_params *lod, const mote_potree_params *params,
                                const potree_folder *folder) {
    (void)ctx, (void)lod, (void)params, (void)folder;
    return MOTE_OK;
}

mote_status potree_inputs_write(const potree_inputs *inputs, const potree_folder *folder) {
    (void)inputs, (void)folder;
    return MOTE_OK;
}
#endif

/* The list of files that an update leads to, of the old one and of the changes; and whether files are what they were.
 */
#define _GNU_SOURCE /* fnmatch */
#include <fnmatch.h>
#include <mote_have.h>
#include <sys/stat.h>

#include "io/merge/inputs.h"
#include "parts/parts_job.h"
#include "parts/parts_update.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool is_pattern(const char *path) {
    struct stat info;
    return stat(path, &info) != 0 && strpbrk(path, "*?[") != NULL;
}

/* The inputs that a word means: those of its path or pattern of paths, else those of its pattern of names, or the one
   of its name. out: [was.count] */
static mote_status find_named(parts_update *update, const char *word, bool *out) {
    const potree_inputs *was = &update->was;
    uint64_t found = 0;
    char *place = NULL;
    MOTE_TRY(potree_input_place(update->ctx, word, &place));
    const bool pattern = is_pattern(place);
    for (uint64_t i = 0; i < was->count; i++) {
        const char *path = was->list[i].path;
        out[i] = pattern ? fnmatch(place, path, FNM_PATHNAME) == 0 : strcmp(place, path) == 0;
        found += out[i];
    }
    mote_free(update->ctx, place);
    if (found > 0) return MOTE_OK;
    for (uint64_t i = 0; i < was->count; i++) {
        const char *name = name_of(was->list[i].path);
        out[i] = pattern ? fnmatch(word, name, 0) == 0 : strcmp(name_of(word), name) == 0;
        found += out[i];
    }
    if (found == 1 || (pattern && found > 0)) return MOTE_OK;
    return mote_fail(update->ctx, MOTE_ERROR_ARGUMENT,
                     found > 1 ? "%s: several files of %s have this name; name its path"
                               : "%s: is none of the files that %s is made of",
                     word, update->folder);
}

/* A file that is there becomes one of the new list. */
static mote_status append(parts_update *update, const potree_input *known, const char *path, uint32_t from) {
    const uint64_t i = update->is.count;
    MOTE_TRY(potree_inputs_add(&update->is, path));
    potree_input *input = &update->is.list[i];
    update->from[i] = from;
    update->is_new[i] = from == PARTS_NEW;
    if (known == NULL) return MOTE_OK;
    input->is_hashed = known->is_hashed;
    input->hash = known->hash;
    json_incref(known->learnt);
    input->learnt = known->learnt;
    return MOTE_OK;
}

static mote_status named_twice(const parts_update *update, uint64_t i) {
    return mote_fail(update->ctx, MOTE_ERROR_ARGUMENT, "%s: is named twice", update->was.list[i].path);
}

static mote_status list_kept(parts_update *update, const bool *replaced, const char *const *by) {
    for (uint64_t i = 0; i < update->was.count; i++) {
        const potree_input *input = &update->was.list[i];
        if (replaced[i]) {
            MOTE_TRY(append(update, NULL, by[i], PARTS_NEW));
        } else if (!update->is_gone[i]) {
            MOTE_TRY(append(update, input, input->path, (uint32_t)i));
        }
    }
    return MOTE_OK;
}

/* Which file a name leads to: two names, or a link and what it leads to, may be one. */
typedef struct file_id {
    dev_t device;
    ino_t inode; /* 0: there is none */
} file_id;

static file_id id_of(const char *path) {
    struct stat info;
    const file_id none = {0, 0};
    return stat(path, &info) == 0 ? (file_id){info.st_dev, info.st_ino} : none;
}

static bool is_one_file(file_id a, file_id b) { return a.inode != 0 && a.inode == b.inode && a.device == b.device; }

/* Refuses the last input of the list, which the caller calls path, where its points are in the list already. */
static mote_status check_last(parts_update *update, const char *path, const file_id *ids) {
    const uint64_t last = update->is.count - 1;
    for (uint64_t k = 0; k < last; k++) {
        const char *other = update->is.list[k].path;
        const bool is_named = strcmp(other, update->is.list[last].path) == 0;
        if (!is_named && !is_one_file(ids[k], ids[last])) continue;
        if (!is_named) {
            return mote_fail(update->ctx, MOTE_ERROR_ARGUMENT,
                             update->joins[k] ? "%s: is one file with %s"
                                              : "%s: is one file with %s, which is in %s already",
                             path, other, update->folder);
        }
        return mote_fail(update->ctx, MOTE_ERROR_ARGUMENT,
                         update->joins[k] ? "%s: is named twice"
                                          : "%s: is in %s already; --replace takes its points "
                                            "anew",
                         path, update->folder);
    }
    return MOTE_OK;
}

/* ids: [is.count + added->count] scratch */
static mote_status list_added(parts_update *update, const mote_input_list *added, file_id *ids) {
    for (uint64_t k = 0; k < update->is.count; k++) ids[k] = id_of(update->is.list[k].path);
    for (uint64_t a = 0; a < added->count; a++) {
        struct stat info;
        const char *path = added->paths[a];
        if (mote_is_dash(path) || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) {
            if (!mote_is_dash(path) && stat(path, &info) != 0) return mote_system_error(update->ctx, path, "look at");
            return mote_fail(update->ctx, MOTE_ERROR_ARGUMENT, "%s: is no file, as what joins a folder has to be",
                             path);
        }
        MOTE_TRY(append(update, NULL, path, PARTS_NEW));
        const uint64_t i = update->is.count - 1;
        update->joins[i] = true;
        ids[i] = (file_id){info.st_dev, info.st_ino};
        MOTE_TRY(check_last(update, path, ids));
    }
    return MOTE_OK;
}

/* replaced and by: [was.count] scratch */
static mote_status make_list(parts_update *update, const mote_lod_changes *changes, const mote_input_list *added,
                             bool *named, bool *replaced, const char **by) {
    const uint64_t count = update->was.count;
    for (uint32_t r = 0; r < changes->remove_count; r++) {
        MOTE_TRY(find_named(update, changes->remove[r], named));
        for (uint64_t i = 0; i < count; i++) {
            if (named[i] && update->is_gone[i]) return named_twice(update, i);
            update->is_gone[i] = update->is_gone[i] || named[i];
        }
    }
    for (uint32_t r = 0; r < changes->replace_count; r++) {
        const char *word = changes->replace[r];
        MOTE_TRY(find_named(update, word, named));
        for (uint64_t i = 0; i < count; i++) {
            if (!named[i]) continue;
            if (update->is_gone[i]) return named_twice(update, i);
            replaced[i] = update->is_gone[i] = true;
            struct stat info;
            by[i] = is_pattern(word) || stat(word, &info) != 0 ? update->was.list[i].path : word;
        }
    }
    MOTE_TRY(list_kept(update, replaced, by));
    file_id *ids = mote_alloc(update->ctx, (update->is.count + added->count) * sizeof *ids, "inputs");
    const mote_status status = ids != NULL ? list_added(update, added, ids) : MOTE_ERROR_MEMORY;
    mote_free(update->ctx, ids);
    if (status != MOTE_OK || update->is.count > 0) return status;
    return mote_fail(update->ctx, MOTE_ERROR_ARGUMENT, "%s: nothing would be left in it", update->folder);
}

mote_status parts_find_list(parts_update *update, const mote_lod_changes *changes) {
    mote_context *ctx = update->ctx;
    mote_input_list added;
    memset(&added, 0, sizeof added);
    mote_status status = MOTE_OK;
    if (changes->add_count > 0) status = mote_inputs_find(ctx, changes->add, changes->add_count, &added);
    const uint64_t was = update->was.count, most = was + added.count;
    bool *named = mote_alloc_zero(ctx, was, "inputs"), *replaced = mote_alloc_zero(ctx, was, "inputs");
    const char **by = mote_alloc_zero(ctx, was * sizeof *by, "inputs");
    update->is.ctx = ctx;
    update->is.reading = update->was.reading;
    update->is.lod = update->was.lod;
    update->is.potree = update->was.potree;
    update->from = mote_alloc(ctx, most * sizeof *update->from, "inputs");
    update->is_new = mote_alloc_zero(ctx, most, "inputs");
    update->joins = mote_alloc_zero(ctx, most, "inputs");
    update->wanted = mote_alloc_zero(ctx, most, "inputs");
    update->is_gone = mote_alloc_zero(ctx, was, "inputs");
    update->known_was = mote_alloc_zero(ctx, was * sizeof *update->known_was, "inputs");
    update->known_is = mote_alloc_zero(ctx, most * sizeof *update->known_is, "inputs");
    const bool made = named != NULL && replaced != NULL && by != NULL && update->from != NULL &&
                      update->is_new != NULL && update->joins != NULL && update->wanted != NULL &&
                      update->is_gone != NULL && update->known_was != NULL && update->known_is != NULL;
    if (status == MOTE_OK && !made) status = MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = make_list(update, changes, &added, named, replaced, by);
    mote_free(ctx, named);
    mote_free(ctx, replaced);
    mote_free(ctx, by);
    mote_inputs_free(ctx, &added);
    return status;
}

/* ---- whether files are what they were */

mote_status parts_is_same(parts_update *update, const potree_input *was, bool verify, bool *is_same) {
    uint64_t size_bytes, modified_ns, hash = 0, now = 0;
    MOTE_TRY(potree_input_look(update->ctx, was->path, &size_bytes, &modified_ns));
    *is_same = size_bytes == was->size_bytes;
    if (!*is_same || (was->modified_ns == modified_ns && !verify)) return MOTE_OK;
    if (!parts_learnt_hash(was, &hash)) { /* nothing else tells */
        *is_same = was->modified_ns == modified_ns;
        return MOTE_OK;
    }
    MOTE_TRY(potree_hash_file(update->ctx, was->path, &size_bytes, &now));
    *is_same = now == hash;
    return MOTE_OK;
}

mote_status parts_check_kept(parts_update *update, bool verify) {
    mote_stage(update->ctx, "checksums");
    for (uint64_t i = 0; i < update->is.count; i++) {
        bool is_same = true;
        if (update->from[i] == PARTS_NEW) continue;
        MOTE_TRY(parts_is_same(update, &update->was.list[update->from[i]], verify, &is_same));
        if (is_same) continue;
        return mote_fail(update->ctx, MOTE_ERROR_CHANGED,
                         "%s: was changed since %s was made of it; --replace it, or --remove it",
                         update->is.list[i].path, update->folder);
    }
    return MOTE_OK;
}

mote_status parts_check_again(parts_update *update) {
    for (uint64_t i = 0; i < update->is.count; i++) {
        const potree_input *input = &update->is.list[i];
        uint64_t size_bytes, modified_ns;
        MOTE_TRY(potree_input_look(update->ctx, input->path, &size_bytes, &modified_ns));
        if (size_bytes == input->size_bytes && modified_ns == input->modified_ns) continue;
        return mote_fail(update->ctx, MOTE_ERROR_CHANGED, "%s: changed while it was read", input->path);
    }
    return MOTE_OK;
}
#endif

/* The files of the parts of a plan: names, checksums, and writing them. */
#define _GNU_SOURCE /* flock, O_CLOEXEC, O_DIRECTORY, unlinkat */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mote_have.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "math/hash.h"
#include "parts/parts_job.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

#define OWN_PLAN "plan.json" /* of a run that may go on; an array's plan is where its user wants it */
#define LOCK     "lock"
#define FINE     "fine-" /* of an empty file, and then the plan's checksum: another plan may need none */

/* wanted: [count] of which; NULL: of all */
static mote_status hash_blocks(mote_context *ctx, const char *path, int file, uint64_t count, const bool *wanted,
                               uint8_t *buffers, uint64_t *hashes) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(ctx->threads)
    for (uint64_t b = 0; b < count; b++) {
        uint8_t *buffer = buffers + (uint64_t)mote_thread_number() * POTREE_HASHED_BYTES;
        potree_hash sum = potree_hash_begin();
        if ((wanted != NULL && !wanted[b]) || mote_stop(ctx)) continue;
        if (potree_hash_bytes(ctx, path, file, b * PARTS_HASHED_BYTES, PARTS_HASHED_BYTES, buffer, &sum) != MOTE_OK)
            continue;
        hashes[b] = mote_hash_pair(0, potree_hash_end(&sum));
    }
    MOTE_TRY(mote_stopped(ctx));
    return mote_context_status(ctx);
}

mote_status parts_hash_blocks(mote_context *ctx, const char *path, uint64_t count, const bool *wanted,
                              uint64_t *hashes) {
    uint8_t *buffers = mote_alloc(ctx, (uint64_t)ctx->threads * POTREE_HASHED_BYTES, "checksums");
    const int file = buffers != NULL ? potree_hash_open(ctx, path) : -1;
    mote_status status = file >= 0 ? MOTE_OK : mote_context_status(ctx);
    if (status == MOTE_OK) status = hash_blocks(ctx, path, file, count, wanted, buffers, hashes);
    if (file >= 0) close(file);
    mote_free(ctx, buffers);
    return status;
}

/* ---- names */

char *parts_job_path(const parts_job *job, const char *name) {
    const size_t size = strlen(job->folder) + strlen(name) + 2;
    char *path = mote_alloc(job->ctx, size, "parts");
    if (path != NULL) snprintf(path, size, "%s/%s", job->folder, name);
    return path;
}

void parts_part_name(const parts_run *run, uint32_t part, const char *ending, char name[64]) {
    snprintf(name, 64, "%u%s%s", part + 1, run->fine ? ".fine" : "", ending);
}

mote_status parts_job_make_folder(const parts_job *job) {
    if (mkdir(job->folder, 0777) == 0 || errno == EEXIST) return MOTE_OK;
    return mote_system_error(job->ctx, job->folder, "create the folder");
}

#define LOCK_ATTEMPTS 100u /* at a file that others take away meanwhile */

/* Whether the file is the one of this name: who has locked one that was taken away has locked nothing. */
static bool is_there(int file, const char *path) {
    struct stat own, now;
    return fstat(file, &own) == 0 && stat(path, &now) == 0 && own.st_dev == now.st_dev && own.st_ino == now.st_ino;
}

static mote_status take_lock(const parts_job *job, const char *path, int *lock) {
    for (unsigned attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        MOTE_TRY(parts_job_make_folder(job));
        *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (*lock < 0 && errno == ENOENT) continue; /* the folder went with the run that had it */
        if (*lock < 0) return mote_system_error(job->ctx, path, "create");
        const bool is_busy = flock(*lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (!is_busy && is_there(*lock, path)) return MOTE_OK;
        close(*lock);
        *lock = -1;
        if (is_busy) return mote_fail(job->ctx, MOTE_ERROR_IO, "%s: another run is at work in it", job->folder);
    }
    return mote_fail(job->ctx, MOTE_ERROR_IO, "%s: others make and remove it all the time", job->folder);
}

mote_status parts_job_lock(const parts_job *job, int *lock) {
    char *path = parts_job_path(job, LOCK);
    *lock = -1;
    if (path == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = take_lock(job, path, lock);
    mote_free(job->ctx, path);
    return status;
}

/* The file goes before the lock does, so that nobody else's is taken away. */
static void give_lock(const char *folder, int lock) {
    const int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) unlinkat(directory, LOCK, 0);
    if (directory >= 0) close(directory);
    close(lock);
    rmdir(folder);
}

void parts_job_unlock(const parts_job *job, int lock) {
    if (lock >= 0) give_lock(job->folder, lock);
}

/* Names that this, parts_resume.c and parts_distance_kept.c give, and the temporary ones of files that were not
 * completed. */
static bool is_ours(const char *name) {
    static const char *const endings[] = {".octree", ".json",   ".fine.octree", ".fine.json",
                                          OWN_PLAN,  "scratch", LOCK,           PARTS_SHARED};
    const size_t digits = strspn(name, "0123456789");
    if (strncmp(name, FINE, strlen(FINE)) == 0) return true;
    if (strncmp(name, PARTS_DISTANCE, strlen(PARTS_DISTANCE)) == 0) return true;
    for (size_t e = 0; e < sizeof endings / sizeof endings[0]; e++) {
        const char *rest = name + digits + strlen(endings[e]);
        if ((endings[e][0] == '.') != (digits > 0) || strncmp(name + digits, endings[e], strlen(endings[e])) != 0) {
            continue;
        }
        if (*rest == '\0') return true;
        if (*rest == '.' && rest[1 + strspn(rest + 1, "0123456789-")] == '.' &&
            strcmp(rest + 1 + strspn(rest + 1, "0123456789-"), ".part") == 0) {
            return true;
        }
    }
    return false;
}

/* All but the lock. The plan goes last: parts without one are an array's. */
static void remove_files(const char *folder) {
    DIR *directory = opendir(folder);
    if (directory == NULL) return;
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (strcmp(entry->d_name, LOCK) == 0) continue;
        if (strcmp(entry->d_name, OWN_PLAN) != 0 && is_ours(entry->d_name)) {
            unlinkat(dirfd(directory), entry->d_name, 0);
        }
    }
    unlinkat(dirfd(directory), OWN_PLAN, 0);
    closedir(directory);
}

/* What is in a folder: the plan of a run that may go on; parts, or what an array's plan has read for them. */
static void look_into(const char *folder, bool *has_plan, bool *has_parts) {
    DIR *directory = opendir(folder);
    *has_plan = *has_parts = false;
    if (directory == NULL) return; /* what is wrong with it is said when it is made */
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        const char *name = entry->d_name;
        *has_plan = *has_plan || strcmp(name, OWN_PLAN) == 0;
        *has_parts =
            *has_parts || strcmp(name, PARTS_SHARED) == 0 || (name[0] >= '0' && name[0] <= '9' && is_ours(name));
    }
    closedir(directory);
}

mote_status parts_job_check_resumes(const parts_job *job) {
    bool has_plan, has_parts;
    look_into(job->folder, &has_plan, &has_parts);
    if (!has_plan) return MOTE_OK;
    return mote_fail(job->ctx, MOTE_ERROR_ARGUMENT,
                     "%s: has what a run with --resume was killed over: end that, name another output, or remove it",
                     job->folder);
}

mote_status parts_job_check_folder(const parts_job *job) {
    bool has_plan, has_parts;
    look_into(job->folder, &has_plan, &has_parts);
    if (has_plan || !has_parts) return MOTE_OK;
    return mote_fail(job->ctx, MOTE_ERROR_ARGUMENT,
                     "%s: has parts of a job array, which --resume would remove: name another output, or remove them",
                     job->folder);
}

void parts_job_clean(const parts_job *job) { remove_files(job->folder); }

/* Unless another run is at work in it. */
static void remove_folder(const char *folder, const char *path, bool resumed) {
    bool has_plan, has_parts;
    const int lock = open(path, O_RDWR | O_CLOEXEC);
    const bool is_busy = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (lock >= 0 && (is_busy || !is_there(lock, path))) {
        close(lock);
        return;
    }
    look_into(folder, &has_plan, &has_parts);
    if (!resumed || has_plan || !has_parts) remove_files(folder);
    if (lock >= 0) give_lock(folder, lock);
    rmdir(folder);
}

mote_status parts_job_remove(const parts_job *job, bool resumed) {
    char *path = parts_job_path(job, LOCK);
    if (path == NULL) return MOTE_ERROR_MEMORY;
    remove_folder(job->folder, path, resumed);
    mote_free(job->ctx, path);
    return MOTE_OK;
}

/* ---- fine codes */

static char *fine_path(const parts_job *job) {
    char name[64];
    snprintf(name, sizeof name, FINE "%016llx", (unsigned long long)job->hash);
    return parts_job_path(job, name);
}

mote_status parts_job_choose(parts_run *run, const parts_job *job) {
    char *path = fine_path(job);
    struct stat info;
    if (path == NULL) return MOTE_ERROR_MEMORY;
    parts_choose_by(run, stat(path, &info) == 0 || json_is_true(json_object_get(job->json, "fine")));
    mote_free(job->ctx, path);
    return MOTE_OK;
}

mote_status parts_job_ask_fine(const parts_job *job) {
    char *path = fine_path(job);
    if (path == NULL) return MOTE_ERROR_MEMORY;
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    const mote_status status = file >= 0 ? MOTE_OK : mote_system_error(job->ctx, path, "create");
    if (file >= 0) close(file);
    mote_free(job->ctx, path);
    return status;
}

/* ---- writing */

/* A node in the table: what the whole cannot know of its own. */
typedef struct node_record {
    uint64_t prefix, total, point_count, hash, size_bytes;
    uint64_t stored; /* of a COPC file: points of its chunk or share */
    uint8_t child_mask, level, is_share, none[5];
} node_record;

uint64_t parts_made_bytes(const parts_made *made) {
    return made->manifest.records_bytes + made->manifest.node_count * sizeof(node_record);
}

static void put_node(const mote_lod_node *node, node_record *to) {
    memset(to, 0, sizeof *to);
    to->prefix = node->prefix;
    to->total = node->total;
    to->point_count = node->point_count;
    to->child_mask = node->child_mask;
    to->level = node->level;
}

mote_status parts_nodes_append(mote_context *ctx, parts_made *made, mote_output *to) {
    parts_manifest *manifest = &made->manifest;
    const uint64_t size_bytes = manifest->node_count * sizeof(node_record);
    node_record *table = mote_alloc(ctx, size_bytes, "nodes of parts");
    if (table == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t n = 0; n < manifest->node_count; n++) {
        const bool is_copc = made->chunks.nodes != NULL;
        put_node(is_copc ? &made->chunks.nodes[n] : &made->tree.nodes[n], &table[n]);
        table[n].hash = is_copc ? made->chunks.places[n].hash : made->tree.places[n].hash;
        table[n].size_bytes = is_copc ? made->chunks.places[n].size_bytes : made->tree.places[n].size_bytes;
        table[n].stored = is_copc ? made->chunks.places[n].points : 0;
        table[n].is_share = is_copc && made->chunks.places[n].is_share;
    }
    output_map_close(ctx, to->map); /* of the records alone */
    to->map = NULL;
    const mote_status status = mote_output_write_at(ctx, to, table, size_bytes, manifest->records_bytes);
    potree_hash sum = potree_hash_begin();
    potree_hash_add(&sum, table, size_bytes);
    manifest->nodes_hash = potree_hash_end(&sum);
    mote_free(ctx, table);
    return status;
}

/* ---- reading */

static mote_status read_table(mote_context *ctx, int file, const char *path, uint64_t at, uint64_t size_bytes,
                              void *to) {
    for (uint64_t done = 0; done < size_bytes;) {
        const ssize_t got = pread(file, (uint8_t *)to + done, size_bytes - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return mote_system_error(ctx, path, "read");
        if (got == 0) return mote_fail(ctx, MOTE_ERROR_IO, "%s: was cut by others", path);
        done += (uint64_t)got;
    }
    return MOTE_OK;
}

static void take_node(const node_record *from, mote_lod_node *node) {
    memset(node, 0, sizeof *node);
    node->prefix = from->prefix;
    node->total = from->total;
    node->point_count = from->point_count;
    node->child_mask = from->child_mask;
    node->level = from->level;
}

/* Nodes level by level, whose records fill the file up to the table. */
static bool are_nodes(const node_record *table, const parts_manifest *manifest, bool is_copc) {
    const uint64_t most = is_copc ? UINT64_MAX : POTREE_MAX_NODE_BYTES; /* a share is of any size */
    uint64_t at = 0;
    for (uint32_t n = 0; n < manifest->node_count; n++) {
        const node_record *from = &table[n];
        if (n > 0 && from->level < from[-1].level) return false;
        if (from->size_bytes > manifest->records_bytes - at || from->size_bytes > most) return false;
        if (from->point_count > from->total || from->total > UINT32_MAX) return false;
        /* A share has records of so many points; those of a chunk may be equal, and take next to nothing. */
        if (from->stored > (from->is_share ? from->size_bytes : from->total)) return false;
        if (from->is_share > 1 || (from->stored > INT32_MAX && !from->is_share)) return false;
        at += from->size_bytes;
    }
    return at == manifest->records_bytes;
}

static mote_status take_tree(mote_context *ctx, const node_record *table, const parts_manifest *manifest,
                             potree_part_tree *tree) {
    tree->nodes = mote_alloc(ctx, manifest->node_count * sizeof *tree->nodes, "nodes of parts");
    tree->places = mote_alloc(ctx, manifest->node_count * sizeof *tree->places, "nodes of parts");
    if (tree->nodes == NULL || tree->places == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t n = 0; n < manifest->node_count; n++) {
        take_node(&table[n], &tree->nodes[n]);
        tree->places[n] = (potree_place){tree->size_bytes, table[n].size_bytes, table[n].hash};
        tree->size_bytes += table[n].size_bytes;
    }
    tree->node_count = manifest->node_count;
    tree->finest = manifest->finest;
    return MOTE_OK;
}

static mote_status take_chunks(mote_context *ctx, const node_record *table, const parts_manifest *manifest,
                               copc_part *chunks) {
    chunks->nodes = mote_alloc(ctx, manifest->node_count * sizeof *chunks->nodes, "nodes of parts");
    chunks->places = mote_alloc_zero(ctx, manifest->node_count * sizeof *chunks->places, "nodes of parts");
    if (chunks->nodes == NULL || chunks->places == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t n = 0; n < manifest->node_count; n++) {
        copc_place *place = &chunks->places[n];
        take_node(&table[n], &chunks->nodes[n]);
        place->at = chunks->size_bytes;
        place->size_bytes = table[n].size_bytes;
        place->points = table[n].stored;
        place->hash = table[n].hash;
        place->is_share = table[n].is_share != 0;
        chunks->size_bytes += table[n].size_bytes;
    }
    chunks->node_count = manifest->node_count;
    chunks->finest = manifest->finest;
    chunks->tally = manifest->tally;
    chunks->gps_low = manifest->gps_low;
    chunks->gps_high = manifest->gps_high;
    return MOTE_OK;
}

mote_status parts_nodes_read(parts_run *run, uint32_t part, const char *path, const parts_manifest *manifest,
                             bool *is_right) {
    mote_context *ctx = run->ctx;
    const uint64_t size_bytes = manifest->node_count * sizeof(node_record);
    const int file = run->files[part];
    struct stat info;
    *is_right = false;
    if (fstat(file, &info) != 0) return mote_system_error(ctx, path, "look at");
    if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size != manifest->records_bytes + size_bytes) return MOTE_OK;
    node_record *table = mote_alloc(ctx, size_bytes, "nodes of parts");
    if (table == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = read_table(ctx, file, path, manifest->records_bytes, size_bytes, table);
    if (status == MOTE_OK) {
        potree_hash sum = potree_hash_begin();
        potree_hash_add(&sum, table, size_bytes);
        *is_right = potree_hash_end(&sum) == manifest->nodes_hash && are_nodes(table, manifest, run->is_copc);
    }
    if (status == MOTE_OK && *is_right) {
        status = run->is_copc ? take_chunks(ctx, table, manifest, &run->chunks[part])
                              : take_tree(ctx, table, manifest, &run->trees[part]);
    }
    mote_free(ctx, table);
    return status;
}

mote_status parts_records_check(const parts_run *run, uint32_t part, const char *path, bool *is_right) {
    mote_context *ctx = run->ctx;
    const uint32_t count = run->is_copc ? run->chunks[part].node_count : run->trees[part].node_count;
    uint8_t *buffers = mote_alloc(ctx, (uint64_t)ctx->threads * POTREE_HASHED_BYTES, "checksums");
    int wrong = 0;
    if (buffers == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ctx->threads) shared(wrong)
    for (uint32_t n = 0; n < count; n++) {
        const bool is_copc = run->is_copc;
        const uint64_t at = is_copc ? run->chunks[part].places[n].at : run->trees[part].places[n].offset;
        const uint64_t size_bytes =
            is_copc ? run->chunks[part].places[n].size_bytes : run->trees[part].places[n].size_bytes;
        uint8_t *buffer = buffers + (uint64_t)mote_thread_number() * POTREE_HASHED_BYTES;
        potree_hash sum = potree_hash_begin();
        if (size_bytes == 0 || mote_stop(ctx)) continue;
        if (potree_hash_bytes(ctx, path, run->files[part], at, size_bytes, buffer, &sum) != MOTE_OK) continue;
        const uint64_t hash = potree_hash_end(&sum);
        if (is_copc ? mote_hash_pair(0, hash) == run->chunks[part].places[n].hash
                    : hash == run->trees[part].places[n].hash)
            continue;
#pragma omp atomic write
        wrong = 1;
    }
    mote_free(ctx, buffers);
    MOTE_TRY(mote_stopped(ctx));
    *is_right = wrong == 0;
    return mote_context_status(ctx);
}
#endif

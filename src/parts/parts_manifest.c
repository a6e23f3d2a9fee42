/* The manifest of a part: written when its records are in place, so that it is complete where there is one. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <mote_have.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts/parts_job.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

#define MANIFEST_BYTES_MAX (16u << 20)
#define RANGES_MAX         65536u

/* ---- writing */

static bool add_ranges(const parts_manifest *manifest, json_t *root) {
    json_t *list = json_array();
    bool ok = parts_add(root, "ranges", list);
    for (uint32_t e = 0; e < manifest->range_count && ok; e++) {
        json_t *pair = json_array();
        ok = parts_add(list, NULL, pair) && parts_add(pair, NULL, parts_put_real(manifest->stats.ranges[e].min)) &&
             parts_add(pair, NULL, parts_put_real(manifest->stats.ranges[e].max));
    }
    return ok;
}

static bool add_classes(const parts_manifest *manifest, json_t *root) {
    json_t *list = json_array();
    bool ok = parts_add(root, "classes", list);
    for (uint32_t c = 0; c < POTREE_CLASSES && ok; c++) {
        uint64_t points = 0;
        for (uint32_t l = 0; l < POTREE_CLASS_LANES; l++) points += manifest->stats.classes[l][c];
        ok = parts_add(list, NULL, json_integer((json_int_t)points));
    }
    return ok;
}

/* Of the points in the chunks of a COPC file: what its header says of them. */
static bool add_tally(const parts_manifest *manifest, json_t *root) {
    const las_tally *tally = &manifest->tally;
    const int64_t low[3] = {tally->low[0], tally->low[1], tally->low[2]};
    const int64_t high[3] = {tally->high[0], tally->high[1], tally->high[2]};
    json_t *o = json_object(), *returns = json_array();
    bool ok = parts_add(root, "points_in_chunks", o) && parts_add_axes(o, "low", low) &&
              parts_add_axes(o, "high", high) && parts_add(o, "gps_low", parts_put_real(manifest->gps_low)) &&
              parts_add(o, "gps_high", parts_put_real(manifest->gps_high)) &&
              parts_add(o, "beyond_week", json_integer((json_int_t)tally->beyond_week)) &&
              parts_add(o, "returns", returns);
    for (uint32_t r = 0; r <= LAS_RETURNS && ok; r++) {
        ok = parts_add(returns, NULL, json_integer((json_int_t)tally->returns[r]));
    }
    return ok;
}

static bool add_stats(const parts_manifest *manifest, json_t *root) {
    return parts_add(root, "inexact", json_boolean(manifest->stats.inexact)) && add_ranges(manifest, root) &&
           add_classes(manifest, root);
}

mote_status parts_manifest_write(parts_run *run, const parts_job *job, uint32_t part, const parts_manifest *manifest) {
    json_t *root = json_object();
    char name[64];
    const bool ok = parts_add(root, "mote_part", json_integer(PARTS_PLAN_VERSION)) &&
                    parts_add(root, "plan", parts_put_bits(job->hash)) &&
                    parts_add(root, "part", json_integer(part + 1)) &&
                    parts_add(root, "of", json_integer(run->part_count)) &&
                    parts_add(root, "points", json_integer((json_int_t)run->ranges[part].points)) &&
                    parts_add(root, "nodes", json_integer(manifest->node_count)) &&
                    parts_add(root, "finest", json_integer(manifest->finest)) &&
                    parts_add(root, "records_bytes", json_integer((json_int_t)manifest->records_bytes)) &&
                    parts_add(root, "nodes_hash", parts_put_bits(manifest->nodes_hash)) &&
                    (run->is_copc ? add_tally(manifest, root) : add_stats(manifest, root));
    parts_part_name(run, part, ".json", name);
    char *path = ok ? parts_job_path(job, name) : NULL;
    mote_status status = ok ? MOTE_ERROR_MEMORY : mote_fail(run->ctx, MOTE_ERROR_MEMORY, "out of memory: a manifest");
    if (path != NULL) status = parts_json_write(run->ctx, root, path, true);
    mote_free(run->ctx, path);
    json_decref(root);
    return status;
}

/* ---- reading */

static bool take_stats(const json_t *root, potree_range *ranges, parts_manifest *manifest) {
    const json_t *list = json_object_get(root, "ranges"), *classes = json_object_get(root, "classes");
    bool ok = json_array_size(classes) == POTREE_CLASSES;
    for (uint32_t e = 0; e < manifest->range_count && ok; e++) {
        const json_t *pair = json_array_get(list, e);
        ok = parts_take_real(json_array_get(pair, 0), &ranges[e].min) &&
             parts_take_real(json_array_get(pair, 1), &ranges[e].max) && !isnan(ranges[e].min) && !isnan(ranges[e].max);
    }
    for (uint32_t c = 0; c < POTREE_CLASSES && ok; c++) {
        ok = parts_take_count(json_array_get(classes, c), NULL, INT64_MAX, &manifest->stats.classes[0][c]);
    }
    manifest->stats.inexact = json_is_true(json_object_get(root, "inexact"));
    return ok;
}

static bool take_tally(const json_t *root, parts_manifest *manifest) {
    const json_t *o = json_object_get(root, "points_in_chunks"), *returns = json_object_get(o, "returns");
    las_tally *tally = &manifest->tally;
    int64_t low[3], high[3];
    bool ok = parts_take_axes(json_object_get(o, "low"), low) && parts_take_axes(json_object_get(o, "high"), high) &&
              parts_take_real(json_object_get(o, "gps_low"), &manifest->gps_low) &&
              parts_take_real(json_object_get(o, "gps_high"), &manifest->gps_high) && !isnan(manifest->gps_low) &&
              !isnan(manifest->gps_high) && parts_take_count(o, "beyond_week", INT64_MAX, &tally->beyond_week);
    for (int k = 0; k < 3 && ok; k++) {
        ok = low[k] >= INT32_MIN && low[k] <= INT32_MAX && high[k] >= INT32_MIN && high[k] <= INT32_MAX;
        tally->low[k] = (int32_t)low[k];
        tally->high[k] = (int32_t)high[k];
    }
    for (uint32_t r = 0; r <= LAS_RETURNS && ok; r++) {
        ok = parts_take_count(json_array_get(returns, r), NULL, UINT32_MAX, &tally->returns[r]);
    }
    return ok;
}

/* What a manifest says of the part; *why: or what is wrong with it. */
static mote_status take_manifest(const parts_run *run, const parts_job *job, uint32_t part, const json_t *root,
                                 parts_manifest *manifest, const char **why) {
    uint64_t version, plan, number, points, nodes, finest;
    const size_t ranges = json_array_size(json_object_get(root, "ranges"));
    *why = "its manifest is damaged";
    if (!parts_take_count(root, "mote_part", INT64_MAX, &version)) return MOTE_OK;
    if (version != PARTS_PLAN_VERSION) *why = "its manifest is of another version";
    if (version != PARTS_PLAN_VERSION || !parts_take_bits(root, "plan", &plan)) return MOTE_OK;
    if (plan != job->hash) *why = "it was made by another plan";
    if (plan != job->hash || !parts_take_count(root, "part", MOTE_PARTS_MAX, &number) || number != part + 1)
        return MOTE_OK;
    if (!parts_take_count(root, "points", UINT32_MAX, &points) || points != run->ranges[part].points) return MOTE_OK;
    if (!parts_take_count(root, "nodes", UINT32_MAX / 2, &nodes) || nodes == 0 ||
        !parts_take_count(root, "finest", LOD_MAX_LEVELS, &finest) ||
        !parts_take_count(root, "records_bytes", INT64_MAX / 2, &manifest->records_bytes) ||
        !parts_take_bits(root, "nodes_hash", &manifest->nodes_hash) || ranges > RANGES_MAX) {
        return MOTE_OK;
    }
    manifest->node_count = (uint32_t)nodes;
    manifest->finest = (uint32_t)finest;
    if (run->is_copc) {
        if (take_tally(root, manifest)) *why = "";
        return MOTE_OK;
    }
    manifest->range_count = manifest->stats.range_count = (uint32_t)ranges;
    manifest->stats.ranges = mote_alloc(run->ctx, ranges * sizeof *manifest->stats.ranges, "potree");
    if (manifest->stats.ranges == NULL) return MOTE_ERROR_MEMORY;
    if (take_stats(root, manifest->stats.ranges, manifest)) *why = "";
    return MOTE_OK;
}

/* Joins what the parts learnt of their points; of a COPC file that is done when its chunks are joined. */
static mote_status learn(parts_run *run, parts_manifest *manifest, const char **why) {
    if (run->is_copc) return MOTE_OK;
    if (run->stats.ranges == NULL) {
        run->stats = manifest->stats;
        manifest->stats.ranges = NULL;
        return MOTE_OK;
    }
    if (run->stats.range_count != manifest->range_count) {
        *why = "its manifest is damaged";
        return MOTE_OK;
    }
    potree_stats two[2] = {run->stats, manifest->stats};
    potree_stats_join(two, 2, manifest->range_count);
    run->stats = two[0];
    return MOTE_OK;
}

static mote_status open_records(parts_run *run, const parts_job *job, uint32_t part, bool verify,
                                const parts_manifest *manifest, const char **why) {
    char name[64];
    bool is_right = false;
    parts_part_name(run, part, ".octree", name);
    char *path = parts_job_path(job, name);
    if (path == NULL) return MOTE_ERROR_MEMORY;
    const int file = run->files[part] = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    mote_status status = MOTE_OK;
    *why = errno == ENOENT ? "its records are not there" : "its records cannot be opened";
    if (file >= 0) {
        *why = "its records are not those of its manifest";
        status = parts_nodes_read(run, part, path, manifest, &is_right);
    }
    if (status == MOTE_OK && is_right && verify) status = parts_records_check(run, part, path, &is_right);
    if (is_right) *why = "";
    mote_free(run->ctx, path);
    return status;
}

static void forget(parts_run *run, uint32_t part) {
    potree_part_free(run->ctx, &run->trees[part]);
    if (run->chunks != NULL) mote_copc_part_free(run->ctx, &run->chunks[part]);
    if (run->files[part] >= 0) close(run->files[part]);
    run->files[part] = -1;
}

static mote_status take_part(parts_run *run, const parts_job *job, uint32_t part, bool verify, bool keeps,
                             const json_t *root, const char **why) {
    parts_manifest manifest;
    memset(&manifest, 0, sizeof manifest);
    mote_status status = take_manifest(run, job, part, root, &manifest, why);
    if (status == MOTE_OK && (*why)[0] == '\0') status = open_records(run, job, part, verify, &manifest, why);
    if (status == MOTE_OK && (*why)[0] == '\0' && keeps) status = learn(run, &manifest, why);
    mote_free(run->ctx, manifest.stats.ranges);
    return status;
}

/* A file that is cut or no JSON is a part that has to be made, and no failure. */
static mote_status read_manifest(mote_context *ctx, const char *path, json_t **root, const char **why) {
    mote_input input;
    struct stat info;
    *root = NULL;
    *why = "it was not made yet";
    if (stat(path, &info) != 0 && errno == ENOENT) return MOTE_OK;
    MOTE_TRY(mote_input_open_own(ctx, path, &input));
    *why = "its manifest is damaged";
    if (input.size_bytes <= MANIFEST_BYTES_MAX && parts_json_is_sealed(input.data, input.size_bytes)) {
        *root = json_loadb((const char *)input.data, input.size_bytes, JSON_REJECT_DUPLICATES, NULL);
    }
    mote_input_close(ctx, &input);
    return MOTE_OK;
}

static mote_status look_at_part(parts_run *run, const parts_job *job, uint32_t part, bool verify, bool keeps,
                                const char **why) {
    char name[64];
    json_t *root = NULL;
    parts_part_name(run, part, ".json", name);
    char *path = parts_job_path(job, name);
    mote_status status = path != NULL ? read_manifest(run->ctx, path, &root, why) : MOTE_ERROR_MEMORY;
    if (root != NULL) status = take_part(run, job, part, verify, keeps, root, why);
    json_decref(root);
    mote_free(run->ctx, path);
    if (!keeps || status != MOTE_OK || (*why)[0] != '\0') forget(run, part);
    return status;
}

mote_status parts_note_made(parts_run *run, const parts_job *job) {
    uint32_t made = 0, others = 0;
    for (uint32_t p = 0; p < run->part_count; p++) {
        char name[64];
        const char *why;
        uint64_t plan;
        json_t *root = NULL;
        parts_part_name(run, p, ".json", name);
        char *path = parts_job_path(job, name);
        if (path == NULL) return MOTE_ERROR_MEMORY;
        const mote_status status = read_manifest(run->ctx, path, &root, &why);
        if (root != NULL) *(parts_take_bits(root, "plan", &plan) && plan == job->hash ? &made : &others) += 1;
        json_decref(root);
        mote_free(run->ctx, path);
        MOTE_TRY(status);
    }
    if (made > 0) mote_note(run->ctx, "%s: %u of %u parts are there already", job->folder, made, run->part_count);
    if (others > 0) {
        mote_note(run->ctx, "%s: parts of another plan are there, %u of which this plan will replace", job->folder,
                  others);
    }
    return MOTE_OK;
}

mote_status parts_part_read(parts_run *run, const parts_job *job, uint32_t part, bool verify, const char **why) {
    return look_at_part(run, job, part, verify, true, why);
}

mote_status parts_part_is_made(parts_run *run, const parts_job *job, uint32_t part, bool *is_made) {
    const char *why = "";
    const mote_status status = look_at_part(run, job, part, true, false, &why);
    *is_made = status == MOTE_OK && why[0] == '\0';
    return status;
}
#endif

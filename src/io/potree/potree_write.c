/* mote_potree_write: plan the record, write the three files into a temporary folder, give it its name. */
#include "device/backend.h"
#include "io/potree/potree.h"
#include "io/turns.h"
#include "lod/lod_octree.h"
#include "math/hash.h"

/* What all steps of one run share. */
typedef struct potree_run {
    const potree_source *source;
    const mote_potree_params *params;
    potree_plan plan;
    mote_potree_output output;
    potree_place *places;
    potree_stats *stats; /* one per thread; the first becomes the sum */
    uint64_t first_chunk_bytes;
    mote_sample sample; /* of a dry run */
    mote_potree_report report;
} potree_run;

static mote_status make_stats(mote_context *ctx, potree_run *run) {
    run->stats = mote_alloc_zero(ctx, (uint64_t)ctx->threads * sizeof *run->stats, "potree");
    if (run->stats == NULL) return MOTE_ERROR_MEMORY;
    for (int t = 0; t < ctx->threads; t++) MOTE_TRY(potree_stats_make(&run->plan, &run->stats[t]));
    return MOTE_OK;
}

static void report_octree(potree_run *run) {
    for (uint32_t n = 0; n < run->source->node_count; n++) {
        run->report.octree_bytes += run->places[n].size_bytes;
        run->report.hash = mote_hash_pair(run->report.hash, run->places[n].hash);
    }
}

static mote_status write_octree(mote_context *ctx, potree_run *run) {
    mote_output *output = &run->output.octree;
    const bool brotli = run->params->encoding == MOTE_POTREE_BROTLI;
    mote_stage(ctx, "write nodes");
    if (brotli) mote_output_expect(ctx, output, 0); /* it is written from front to end */
    mote_sample_make(run->params->dry_run, run->source->nodes, run->source->node_count, &run->sample);
    potree_octree octree = {
        ctx, run->source, &run->plan, output, run->places, run->stats, run->params->brotli_quality, &run->sample};
    mote_status status = brotli                         ? potree_octree_write_brotli(&octree)
                         : run->plan.device_ops != NULL ? potree_octree_write_batches(&octree)
                                                        : potree_octree_write(&octree);
    status = mote_output_close(ctx, output, status);
    mote_sample_guess(&run->sample, run->source->nodes, run->source->node_count, &run->places[0].size_bytes,
                      sizeof run->places[0]);
    potree_stats_merge(&run->plan, run->stats, (uint32_t)ctx->threads);
    report_octree(run);
    return status;
}

static mote_status write_hierarchy(mote_context *ctx, potree_run *run) {
    mote_output output;
    uint64_t hash = 0;
    mote_stage(ctx, "write hierarchy");
    MOTE_TRY(potree_folder_output(ctx, run->output.folder, "hierarchy.bin", &output));
    const mote_status status =
        potree_hierarchy_write(ctx, run->source, run->places, &output, &run->first_chunk_bytes, &hash);
    run->report.hierarchy_bytes = output.written_bytes;
    run->report.hash = mote_hash_pair(run->report.hash, hash);
    return mote_output_close(ctx, &output, status);
}

/* What metadata.json may be longer by if the points of all nodes were seen: two numbers per element, the histogram of
   classes. */
static uint64_t unseen_bytes(const potree_plan *plan) { return 24ull * (2 * plan->element_count + POTREE_CLASSES); }

static mote_status write_metadata(mote_context *ctx, potree_run *run) {
    mote_output output;
    uint64_t hash = 0;
    const char *slash = strrchr(run->output.folder->path, '/');
    const char *base = slash != NULL ? slash + 1 : run->output.folder->path;
    mote_stage(ctx, "write metadata");
    MOTE_TRY(potree_folder_output(ctx, run->output.folder, "metadata.json", &output));
    const potree_summary summary = {run->source,
                                    &run->plan,
                                    &run->stats[0],
                                    run->params,
                                    run->params->name != NULL ? run->params->name : base,
                                    run->first_chunk_bytes};
    const mote_status status = potree_metadata_write(ctx, &summary, &output, &hash);
    run->report.metadata_bytes = output.written_bytes;
    if (!run->sample.is_whole) run->report.metadata_bytes += unseen_bytes(&run->plan);
    run->report.hash = mote_hash_pair(run->report.hash, hash);
    return mote_output_close(ctx, &output, status);
}

static mote_status write_files(mote_context *ctx, potree_run *run) {
    run->places = mote_alloc_zero(ctx, run->source->node_count * sizeof *run->places, "potree");
    if (run->places == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(make_stats(ctx, run));
    MOTE_TRY(write_octree(ctx, run));
    MOTE_TRY(write_hierarchy(ctx, run));
    MOTE_TRY(write_metadata(ctx, run));
    MOTE_TRY(potree_origin_write(ctx, run->source->params, run->params, run->output.folder));
    return mote_progress(ctx, 1, "writing nodes");
}

mote_status potree_write_tables(mote_context *ctx, const potree_source *source, potree_place *places,
                                const potree_stats *stats, const potree_plan *plan, const mote_potree_params *params,
                                const mote_potree_output *output, mote_potree_report *report) {
    potree_stats all = *stats;
    potree_run run;
    memset(&run, 0, sizeof run);
    run.source = source;
    run.params = params;
    run.plan = *plan;
    run.output = *output;
    run.places = places;
    run.stats = &all;
    run.sample.is_whole = true;
    report_octree(&run);
    MOTE_TRY(write_hierarchy(ctx, &run));
    MOTE_TRY(write_metadata(ctx, &run));
    run.report.points = plan->points;
    *report = run.report;
    return MOTE_OK;
}

static void free_run(mote_context *ctx, potree_run *run) {
    for (int t = 0; run->stats != NULL && t < ctx->threads; t++) mote_free(ctx, run->stats[t].ranges);
    mote_free(ctx, run->stats);
    mote_free(ctx, run->places);
    potree_plan_free(&run->plan);
}

/* ---- a folder begun before its points are known */

static mote_status open_output(mote_context *ctx, const char *path, bool dry_run, mote_potree_output *output) {
    MOTE_TRY(dry_run ? potree_folder_open_dry(ctx, path, &output->folder)
                     : potree_folder_open(ctx, path, &output->folder));
    return potree_folder_output(ctx, output->folder, "octree.bin", &output->octree);
}

/* Gives the folder its name (status MOTE_OK) or removes it; returns the first failure. */
static mote_status close_output(mote_context *ctx, mote_potree_output *output, mote_status status) {
    if (status != MOTE_OK) mote_output_close(ctx, &output->octree, status);
    return potree_folder_close(ctx, output->folder, status);
}

static void clear_output(mote_potree_output *output) {
    memset(output, 0, sizeof *output);
    output->octree.file = -1;
}

mote_status mote_potree_begin(mote_context *ctx, const char *path, uint64_t expected_bytes, mote_potree_output **out) {
    *out = NULL;
    if (path == NULL || path[0] == '\0') {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "mote_potree_begin needs a path");
    }
    mote_potree_output *output = mote_alloc(ctx, sizeof *output, "output");
    if (output == NULL) return MOTE_ERROR_MEMORY;
    clear_output(output);
    const mote_status status = open_output(ctx, path, false, output);
    if (status != MOTE_OK) {
        close_output(ctx, output, status);
        mote_free(ctx, output);
        return status;
    }
    mote_output_expect(ctx, &output->octree, expected_bytes);
    *out = output;
    return MOTE_OK;
}

void mote_potree_abandon(mote_context *ctx, mote_potree_output *output) {
    if (output == NULL) return;
    close_output(ctx, output, MOTE_CANCELLED);
    mote_free(ctx, output);
}

/* ---- all */

static mote_status write_run(mote_context *ctx, potree_run *run, const char *path) {
    MOTE_TRY(potree_check_params(ctx, run->params));
    mote_stage(ctx, "plan record");
    MOTE_TRY(potree_plan_make(ctx, run->source, run->params, &run->plan));
    if (run->output.folder == NULL) MOTE_TRY(open_output(ctx, path, run->params->dry_run, &run->output));
    return write_files(ctx, run);
}

mote_status potree_write_source(mote_context *ctx, const potree_source *source, const char *path,
                                const mote_potree_params *params, mote_potree_report *report) {
    const double started = mote_seconds();
    potree_run run;
    memset(&run, 0, sizeof run);
    run.source = source;
    run.params = params;
    clear_output(&run.output);
    if (params->begun != NULL) run.output = *params->begun;
    mote_free(ctx, params->begun);
    mote_status status = write_run(ctx, &run, path);
    status = close_output(ctx, &run.output, status);
    mote_stage(ctx, NULL);
    run.report.points = run.plan.points;
    run.report.seconds = mote_seconds() - started;
    if (report != NULL && status == MOTE_OK) *report = run.report;
    free_run(ctx, &run);
    return status;
}

static void node_points(const void *lod, uint32_t node, uint32_t *indices, uint16_t *colors) {
    mote_lod_node_points(lod, node, indices, colors);
}

mote_status potree_source_of_lod(mote_context *ctx, const mote_lod *lod, potree_source *source) {
    static const mote_lod_node no_points = {0, 0, 0, 0, UINT32_MAX, 0, 0, 0};
    memset(source, 0, sizeof *source);
    source->cloud = lod->cloud;
    source->color_rules = lod->color_rules;
    source->lattice = mote_lod_lattice(lod);
    source->params = mote_lod_parameters(lod);
    source->nodes = mote_lod_nodes(lod);
    source->node_count = mote_lod_node_count(lod);
    source->finest = lod->finest;
    source->skipped = mote_lod_skipped(lod);
    source->lod = lod;
    source->node_points = node_points;
    source->device_lod = lod_view_device(lod, &source->device_view) ? lod : NULL;
    if (source->node_count == 0) { /* an empty tree still has a root in the file */
        source->nodes = &no_points;
        source->node_count = 1;
    }
    if (source->device_lod == NULL) return MOTE_OK;
    if (ctx != lod->ctx) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the octree is in the memory of another context's GPU");
    }
    if (lod->device->backend->potree != NULL) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "the %s backend makes no Potree records", lod->device->backend->name);
}

mote_status mote_potree_write(mote_context *ctx, const mote_lod *lod, const char *path,
                              const mote_potree_params *params, mote_potree_report *report) {
    const mote_potree_params p = params != NULL ? *params : mote_potree_defaults();
    potree_source source;
    mote_status status = MOTE_OK;
    MOTE_TRY(mote_check_reserved(ctx, p.reserved, sizeof p.reserved, "mote_potree_params",
                                 "mote_potree_defaults()")); /* nor is p.begun to be trusted */
    if (lod == NULL || (p.begun == NULL && (path == NULL || path[0] == '\0'))) {
        status = mote_fail(ctx, MOTE_ERROR_ARGUMENT, "mote_potree_write needs levels of detail and a path");
    }
    if (status == MOTE_OK) status = potree_source_of_lod(ctx, lod, &source);
    if (status != MOTE_OK) {
        mote_potree_abandon(ctx, p.begun);
        return status;
    }
    return potree_write_source(ctx, &source, path, &p, report);
}

/* mote_copc_write: a LAZ 1.4 file whose chunks are the nodes of an additive octree, behind them the hierarchy that
   lists them. Header and info record, which say where all is, come last. */
#include <math.h>

#include "io/copc/copc_write.h"
#include "io/potree/potree.h" /* the checksum */
#include "lod/lod_octree.h"
#include "math/hash.h"

mote_copc_params mote_copc_defaults(void) {
    mote_copc_params params;
    memset(&params, 0, sizeof params);
    return params;
}

static mote_status check_octree(mote_context *ctx, const mote_lod *lod, const char *path) {
    const mote_lod_node *nodes = mote_lod_nodes(lod);
    if (mote_lod_parameters(lod)->scheme != MOTE_LOD_ADDITIVE) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                         "%s: COPC holds each point once: the octree must be additive, not replacing", path);
    }
    if (nodes[mote_lod_node_count(lod) - 1].level > lod->finest) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                         "%s: COPC has one node in one place: build the octree without a bound of points per node "
                         "(max_node_points 0)",
                         path);
    }
    MOTE_TRY(mote_cloud_need_host(ctx, mote_lod_cloud(lod), path));
    return mote_lod_fetch(ctx, (mote_lod *)lod); /* what it says stays as it is; where it is kept is no part of that */
}

/* ---- what goes in */

static void say_waveforms(mote_context *ctx, const las_plan *plan) {
    const mote_cloud *const cloud = plan->cloud;
    const mote_column *column = cloud != NULL ? mote_cloud_find(cloud, "wave_packet_index") : NULL;
    if (column == NULL || !plan->chosen[column - cloud->columns]) return;
    mote_warn(ctx,
              "%s: COPC has no point format with waveforms: their attributes become extra bytes, the packets "
              "themselves are left out",
              plan->path);
}

/* Puts a record in front of a list. */
static mote_status put_first(mote_context *ctx, mote_record **list, uint64_t *count, uint32_t id,
                             const char *description) {
    mote_record *longer = mote_alloc_zero(ctx, (*count + 1) * sizeof *longer, "LAS plan");
    if (longer == NULL) return MOTE_ERROR_MEMORY;
    memcpy(longer[0].user_id, COPC_USER, sizeof COPC_USER);
    memcpy(longer[0].description, description, strlen(description));
    longer[0].record_id = (uint16_t)id;
    if (*count > 0) memcpy(longer + 1, *list, *count * sizeof *longer);
    mote_free(ctx, *list);
    *list = longer;
    ++*count;
    return MOTE_OK;
}

/* Once the plan is made. */
static mote_status plan_records(copc_job *job, uint64_t count) {
    las_records *records = &job->records;
    mote_context *ctx = job->ctx;
    job->plan.chunk_points = LAZ_VARIABLE;
    job->plan.count = count;
    say_waveforms(ctx, &job->plan);
    MOTE_TRY(mote_las_records_make(ctx, &job->plan, records));
    MOTE_TRY(put_first(ctx, &records->front, &records->front_count, COPC_ID_INFO, "octree of the points"));
    MOTE_TRY(put_first(ctx, &records->behind, &records->behind_count, COPC_ID_HIERARCHY, "nodes of the octree"));
    records->front[0].size_bytes = COPC_INFO_BYTES;
    return mote_las_lay_out(ctx, &job->plan, records, &job->layout);
}

static void begin_plan(copc_job *job, const mote_copc_params *params) {
    job->writing = mote_write_defaults();
    job->writing.columns = params->columns;
    job->writing.las_format = LAS_FORMAT_COPC;
    mote_stage(job->ctx, "plan record");
}

mote_status mote_copc_begin(copc_job *job, const mote_cloud *cloud, const las_pieces *pieces, uint64_t count,
                            const mote_copc_params *params, const char *path) {
    begin_plan(job, params);
    MOTE_TRY(pieces == NULL ? mote_las_plan_make(job->ctx, cloud, &job->writing, path, &job->plan)
                            : mote_las_plan_pieces(job->ctx, cloud, count, pieces, &job->writing, path, &job->plan));
    return plan_records(job, count);
}

mote_status mote_copc_begin_again(copc_job *job, const mote_cloud *cloud, const las_plan *seen, uint64_t count,
                                  const mote_copc_params *params, const char *path) {
    las_plan of = *seen;
    begin_plan(job, params);
    of.params = &job->writing;
    of.path = path;
    MOTE_TRY(mote_las_plan_again(job->ctx, &of, cloud, &job->plan));
    const mote_log_fn log = job->ctx->params.log;
    job->ctx->params.log = NULL; /* as there: it was told */
    const mote_status status = plan_records(job, count);
    job->ctx->params.log = log;
    return status;
}

static void points_of_lod(const void *lod, uint32_t node, uint32_t *indices) {
    mote_lod_node_points(lod, node, indices, NULL);
}

void mote_copc_take_lod(copc_job *job, const mote_lod *lod) {
    job->nodes = mote_lod_nodes(lod);
    job->node_count = mote_lod_node_count(lod);
    job->finest = lod->finest;
    job->grid = mote_lod_parameters(lod)->grid;
    job->lattice = mote_lod_lattice(lod);
    job->node_points = points_of_lod;
    job->points_of = lod;
}

mote_status mote_copc_make_workers(copc_job *job, const laz_schema *schema) {
    const uint64_t threads = (uint64_t)job->ctx->threads;
    job->places = mote_alloc_zero(job->ctx, job->node_count * sizeof *job->places, "COPC");
    job->workers = mote_alloc_zero(job->ctx, threads * sizeof *job->workers, "COPC");
    if (job->places == NULL || job->workers == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t t = 0; t < threads; t++) {
        copc_worker *worker = &job->workers[t];
        mote_las_tally_clear(&worker->tally);
        worker->gps_low = INFINITY;
        worker->gps_high = -INFINITY;
        MOTE_TRY(mote_laz_encoder_make(job->ctx, schema, &worker->encoder));
    }
    return MOTE_OK;
}

void mote_copc_sum_workers(copc_job *job) {
    copc_worker *sum = &job->workers[0];
    for (int t = 1; t < job->ctx->threads; t++) {
        mote_las_tally_add(&sum->tally, &job->workers[t].tally);
        sum->gps_low = fmin(sum->gps_low, job->workers[t].gps_low);
        sum->gps_high = fmax(sum->gps_high, job->workers[t].gps_high);
    }
}

/* ---- what goes out */

static void hash_records(copc_job *job, const mote_record *records, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        job->hash = mote_hash_pair(job->hash, records[i].record_id);
        job->hash = potree_hash_chain(job->hash, records[i].user_id, sizeof records[i].user_id);
        job->hash = potree_hash_chain(job->hash, records[i].description, sizeof records[i].description);
        job->hash = potree_hash_chain(job->hash, records[i].data, records[i].size_bytes);
    }
}

static mote_status write_hierarchy(copc_job *job, uint8_t **data) {
    mote_record *record = &job->records.behind[0];
    copc_info *info = &job->info;
    job->layout.behind_at = job->at;
    info->root_at = job->at + LAS_EVLR_BYTES;
    MOTE_TRY(mote_copc_pages_make(job, info->root_at, data, &record->size_bytes, &info->root_bytes));
    record->data = *data;
    return mote_las_records_write(job->ctx, &job->output, job->records.behind, job->records.behind_count, true,
                                  &job->at);
}

static mote_status write_front(copc_job *job) {
    uint8_t header[LAS_HEADER_BYTES_14] = {0}, payload[COPC_INFO_BYTES];
    uint64_t at = LAS_HEADER_BYTES_14;
    const copc_worker *sum = &job->workers[0];
    const bool timed = sum->gps_low <= sum->gps_high;
    job->info.gps_low = timed ? sum->gps_low : 0;
    job->info.gps_high = timed ? sum->gps_high : 0;
    mote_copc_info_write(&job->info, payload);
    job->records.front[0].data = payload;
    mote_las_settle_times(job->ctx, &job->plan, &sum->tally);
    mote_las_header_fill(&job->plan, &job->records, &job->layout, &sum->tally, header);
    job->hash = potree_hash_chain(job->hash, header, sizeof header);
    MOTE_TRY(mote_output_write_at(job->ctx, &job->output, header, sizeof header, 0));
    const las_records *records = &job->records;
    hash_records(job, records->front, records->front_count);
    return mote_las_records_write(job->ctx, &job->output, records->front, records->front_count, false, &at);
}

mote_status mote_copc_finish(copc_job *job, mote_copc_report *report) {
    uint8_t *hierarchy = NULL;
    MOTE_TRY(mote_copc_write_table(job));
    mote_stage(job->ctx, "write hierarchy");
    mote_status status = write_hierarchy(job, &hierarchy);
    if (status == MOTE_OK) status = write_front(job);
    if (status == MOTE_OK) hash_records(job, job->records.behind, job->records.behind_count);
    mote_free(job->ctx, hierarchy);
    report->points = job->plan.count;
    report->hierarchy_bytes = job->records.behind[0].size_bytes;
    report->file_bytes = job->at;
    report->hash = job->hash;
    for (uint32_t n = 0; n < job->node_count; n++) report->nodes += job->places[n].points > 0;
    return status;
}

/* ---- the file */

#define TABLE_ENTRY_BYTES 4u /* that a chunk's entry may take more where its size is known than where it is guessed */

static mote_status open_output(copc_job *job, const char *path, bool dry_run) {
    /* What strays leave behind and where they go, no guess could tell. */
    mote_sample_make(dry_run && job->stray_count == 0, job->nodes, job->node_count, &job->sample);
    return dry_run ? mote_output_open_dry(job->ctx, path, &job->output)
                   : mote_output_open(job->ctx, path, &job->output);
}

static mote_status write_file(copc_job *job, mote_copc_report *report) {
    mote_stage(job->ctx, "write nodes");
    job->at = job->layout.points_at + LAZ_POINTER_BYTES;
    MOTE_TRY(mote_copc_write_chunks(job));
    mote_copc_sum_workers(job);
    return mote_copc_finish(job, report);
}

static mote_status write_octree(copc_job *job, const char *path, bool dry_run, mote_copc_report *report) {
    MOTE_TRY(mote_copc_make_workers(job, &job->records.schema));
    mote_copc_place_cube(job);
    mote_stage(job->ctx, "check cubes");
    MOTE_TRY(mote_progress(job->ctx, 0, "writing COPC"));
    MOTE_TRY(mote_copc_find_strays(job));
    MOTE_TRY(open_output(job, path, dry_run));
    MOTE_TRY(mote_output_close(job->ctx, &job->output, write_file(job, report)));
    if (!job->sample.is_whole) report->file_bytes += TABLE_ENTRY_BYTES * job->node_count;
    return MOTE_OK;
}

void mote_copc_end(copc_job *job) {
    mote_context *ctx = job->ctx;
    for (int t = 0; t < ctx->threads && job->workers != NULL; t++) {
        copc_worker *worker = &job->workers[t];
        mote_laz_encoder_free(ctx, worker->encoder);
        mote_free(ctx, worker->indices);
        mote_free(ctx, worker->records);
        mote_free(ctx, worker->times);
        mote_free(ctx, worker->share);
        mote_free(ctx, worker->strays);
    }
    mote_free(ctx, job->workers);
    mote_free(ctx, job->places);
    mote_free(ctx, job->strays);
    mote_las_records_free(ctx, &job->records);
    mote_las_plan_free(ctx, &job->plan);
}

mote_status mote_copc_write(mote_context *ctx, const mote_lod *lod, const char *path, const mote_copc_params *params,
                            mote_copc_report *report) {
    const double started = mote_seconds();
    const mote_copc_params p = params != NULL ? *params : mote_copc_defaults();
    mote_copc_report made;
    copc_job job;
    if (lod == NULL || path == NULL || path[0] == '\0') {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "mote_copc_write needs levels of detail and a path");
    }
    MOTE_TRY(mote_check_reserved(ctx, p.reserved, sizeof p.reserved, "mote_copc_params", "mote_copc_defaults()"));
    const mote_cloud *cloud = mote_lod_cloud(lod);
    MOTE_TRY(mote_cloud_need_host(ctx, cloud, path));
    MOTE_TRY(check_octree(ctx, lod, path));
    memset(&job, 0, sizeof job);
    memset(&made, 0, sizeof made);
    job.ctx = ctx;
    mote_copc_take_lod(&job, lod);
    mote_status status = mote_copc_begin(&job, cloud, NULL, cloud->count - mote_lod_skipped(lod), &p, path);
    if (status == MOTE_OK) status = write_octree(&job, path, p.dry_run, &made);
    mote_stage(ctx, NULL);
    made.seconds = mote_seconds() - started;
    if (report != NULL && status == MOTE_OK) *report = made;
    mote_copc_end(&job);
    return status;
}

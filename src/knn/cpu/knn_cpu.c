/* Nearest neighbours on CPU cores: which search a method is. */
#include "knn/cpu/knn_cpu.h"

#include "knn/knn_ops.h"

void knn_ellipsoids_make(const mote_cloud *queries, double compression, const knn_query_set *query_set,
                         knn_ellipsoids *ellipsoids) {
    knn_normals_of(queries, ellipsoids->normals); /* they are there: the params are valid */
    ellipsoids->compression = compression;
    ellipsoids->normal_weight = compression * compression - 1;
    ellipsoids->keys = knn_metric_ellipsoid(&query_set->tree->metric);
}

static mote_status search_by_method(const knn_job *job) {
    const knn_query_set *query_set = job->query_set;
    const knn_metric *metric = &query_set->tree->metric;
    for (uint64_t i = query_set->points.count; i < query_set->rows; i++) {
        knn_row_write(job->result, metric, job->params->k, query_set->points.order[i], NULL, 0);
    }
    switch (job->params->method) {
    case MOTE_KNN_BRUTE: return knn_search_brute(job);
    case MOTE_KNN_SHIFTED: return knn_search_shifted(job);
    default: return knn_search_grid(job);
    }
}

static mote_status cpu_search(mote_knn_index *index, const mote_cloud *queries, const mote_knn_params *params,
                              mote_knn_result *result) {
    knn_query_set query_set;
    knn_ellipsoids ellipsoids;
    knn_job job = {index, queries, &query_set, NULL, params, result};
    mote_stage(index->ctx, "search");
    mote_status status = knn_query_set_make(index, queries, &query_set);
    if (status == MOTE_OK && params->compression > 1) {
        knn_ellipsoids_make(queries != NULL ? queries : index->cloud, params->compression, &query_set, &ellipsoids);
        job.ellipsoids = &ellipsoids;
    }
    if (status == MOTE_OK) status = search_by_method(&job);
    knn_query_set_free(index->ctx, &query_set);
    return status;
}

const mote_knn_ops mote_knn_cpu = {knn_build_cpu, cpu_search, NULL, knn_within_cpu, knn_release_cpu};

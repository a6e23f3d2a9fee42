/* What reads a file, while it is changed. */
#include <stdlib.h>
#include <string.h>

#include "changing_input_test.h"

static mote_status convert(mote_context *ctx, const char *input, const char *output, uint64_t *number) {
    mote_cloud *cloud = NULL;
    (void)number;
    mote_status status = mote_cloud_read(ctx, input, NULL, &cloud);
    if (status == MOTE_OK) status = mote_cloud_write(ctx, cloud, output, NULL);
    mote_cloud_destroy(cloud);
    return status;
}

/* The union is a copy, and what it was made of is gone when it is written. */
static mote_status unite(mote_context *ctx, const char *input, const char *output, uint64_t *number) {
    const char *const paths[] = {input, input};
    mote_cloud *cloud = NULL;
    (void)number;
    mote_status status = mote_cloud_read_many(ctx, paths, 2, NULL, &cloud);
    if (status == MOTE_OK) status = mote_cloud_write(ctx, cloud, output, NULL);
    mote_cloud_destroy(cloud);
    return status;
}

static mote_status convert_in_pieces(mote_context *ctx, const char *input, const char *output, uint64_t *number) {
    mote_reader *reader = NULL;
    mote_writer *writer = NULL;
    const mote_cloud *piece = NULL;
    (void)number;
    mote_status status = mote_reader_open(ctx, input, NULL, &reader);
    if (status == MOTE_OK) status = mote_reader_next(reader, &piece);
    if (status == MOTE_OK && piece != NULL) {
        status = mote_writer_open(ctx, piece, mote_reader_count(reader), output, NULL, &writer);
    }
    while (status == MOTE_OK && piece != NULL) {
        status = mote_writer_add(writer);
        if (status == MOTE_OK) status = mote_reader_next(reader, &piece);
    }
    if (writer != NULL) status = mote_writer_close(writer, status);
    mote_reader_close(reader);
    if (status == MOTE_ERROR_UNSUPPORTED) { /* not of this format */
        mote_context_clear(ctx);
        status = MOTE_OK;
    }
    return status;
}

static mote_status build_octree(mote_context *ctx, const char *input, const mote_lod_params *params, bool copc,
                                const char *output) {
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    mote_status status = mote_cloud_read(ctx, input, NULL, &cloud);
    if (status == MOTE_OK) status = mote_lod_build(ctx, cloud, params, &lod);
    if (status == MOTE_OK && copc) status = mote_copc_write(ctx, lod, output, NULL, NULL);
    if (status == MOTE_OK && !copc) status = mote_potree_write(ctx, lod, output, NULL, NULL);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    return status;
}

static mote_status make_folder(mote_context *ctx, const char *input, const char *output, uint64_t *number) {
    mote_lod_params params = mote_lod_defaults();
    (void)number;
    params.scheme = MOTE_LOD_REPLACING;
    params.sampling = MOTE_LOD_POISSON;
    params.filter = MOTE_LOD_FILTER_GAUSSIAN;
    return build_octree(ctx, input, &params, false, output);
}

static mote_status make_copc(mote_context *ctx, const char *input, const char *output, uint64_t *number) {
    (void)number;
    return build_octree(ctx, input, NULL, true, output);
}

static mote_status read_part(mote_context *ctx, const char *input, const char *output, uint64_t *number) {
    mote_read_params params = mote_read_defaults();
    const mote_box box = {{0, 0, 0}, {0.5, 0.5, 0.5}};
    mote_cloud *cloud = NULL;
    (void)output;
    params.bounds = &box;
    mote_status status = mote_cloud_read(ctx, input, &params, &cloud);
    if (status == MOTE_OK) status = mote_cloud_hash(ctx, cloud, number);
    mote_cloud_destroy(cloud);
    return status;
}

static mote_status measure(mote_context *ctx, const char *input, const char *output, uint64_t *number) {
    mote_cloud *cloud = NULL;
    mote_box box;
    (void)output;
    memset(&box, 0, sizeof box);
    mote_status status = mote_cloud_read(ctx, input, NULL, &cloud);
    if (status == MOTE_OK) status = mote_cloud_bounds(ctx, cloud, &box, NULL);
    mote_cloud_destroy(cloud);
    memcpy(number, &box.max[2], sizeof *number);
    return status;
}

static mote_status find_neighbors(mote_context *ctx, const char *input, const char *output, uint64_t *number) {
    mote_cloud *cloud = NULL;
    mote_knn_params params = mote_knn_defaults();
    mote_knn_result result;
    memset(&result, 0, sizeof result);
    (void)output;
    params.k = 4;
    mote_status status = mote_cloud_read(ctx, input, NULL, &cloud);
    result.index32 = calloc(4 * CHANGING_POINTS, sizeof *result.index32);
    if (status == MOTE_OK) status = mote_knn(ctx, cloud, NULL, &params, &result);
    for (uint32_t i = 0; i < 4 * CHANGING_POINTS; i++) *number = *number * 31 + result.index32[i];
    free(result.index32);
    mote_cloud_destroy(cloud);
    return status;
}

static mote_status find_normals(mote_context *ctx, const char *input, const char *output, uint64_t *number) {
    mote_cloud *cloud = NULL;
    mote_normals_result result;
    float *z = calloc(CHANGING_POINTS, sizeof *z);
    memset(&result, 0, sizeof result);
    (void)output;
    result.normal_z = z;
    result.normal_x = calloc(CHANGING_POINTS, sizeof *z);
    result.normal_y = calloc(CHANGING_POINTS, sizeof *z);
    mote_status status = mote_cloud_read(ctx, input, NULL, &cloud);
    if (status == MOTE_OK) status = mote_normals(ctx, cloud, NULL, &result);
    for (uint32_t i = 0; i < CHANGING_POINTS; i++) *number = *number * 31 + (uint64_t)(int64_t)(1e6f * z[i]);
    free(z);
    free(result.normal_x);
    free(result.normal_y);
    mote_cloud_destroy(cloud);
    return status;
}

static mote_status find_planes(mote_context *ctx, const char *input, const char *output, uint64_t *number) {
    mote_cloud *cloud = NULL;
    mote_planes *planes = NULL;
    mote_planes_params params = mote_planes_defaults();
    (void)output;
    params.resolution_deg = 10;
    mote_status status = mote_cloud_read(ctx, input, NULL, &cloud);
    if (status == MOTE_OK) status = mote_planes_find(ctx, cloud, &params, NULL, &planes);
    if (status == MOTE_OK) *number = mote_planes_count(planes) + 1;
    mote_planes_destroy(planes);
    mote_cloud_destroy(cloud);
    return status;
}

static mote_status list_levels(mote_context *ctx, const char *input, const char *output, uint64_t *number) {
    mote_copc_facts facts;
    (void)output;
    const mote_status status = mote_copc_levels(ctx, input, NULL, 0, &facts);
    *number = facts.points;
    return status;
}

const changing_work changing_works[CHANGING_WORKS] = {
    {"convert to LAS", "out.las", convert, OF_ALL},
    {"convert to LAZ", "out.laz", convert, OF_VIEWS},
    {"convert to PLY", "out.ply", convert, OF_VIEWS},
    {"convert to text", "out.csv", convert, OF_VIEWS},
    {"several as one", "out.las", unite, OF_VIEWS},
    {"convert in pieces", "out.laz", convert_in_pieces, OF_ALL},
    {"an octree in a folder", "out.mote", make_folder, OF_ALL},
    {"an octree as COPC", "out.copc.laz", make_copc, OF_VIEWS},
    {"points in a box", NULL, read_part, OF_ALL},
    {"the box", NULL, measure, OF_VIEWS},
    {"neighbours", NULL, find_neighbors, OF_VIEWS},
    {"normals", NULL, find_normals, OF_VIEWS},
    {"planes", NULL, find_planes, OF_VIEWS},
    {"levels", NULL, list_levels, OF_COPC},
};

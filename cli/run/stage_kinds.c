/* The stages that mote has, and what would do the same as those that it has not. */
#include <mote_have.h>
#include <stdio.h>
#include <string.h>

#include "run/pipeline.h"

#if MOTE_HAVE_JANSSON

static const char *const as_copc[][2] = {{"format", "copc"}, {NULL, NULL}};
static const char *const as_potree[][2] = {{"format", "potree"}, {NULL, NULL}};
static const char *const all_points[][2] = {{"stats", "true"}, {NULL, NULL}};

static const stage_kind kinds[] = {
    {"readers.las", ROLE_READER, stage_read, .summary = "LAS and LAZ", .format = "las"},
    {"readers.copc", ROLE_READER, stage_read, .summary = "COPC: by box and resolution", .format = "las"},
    {"readers.ply", ROLE_READER, stage_read, .summary = "PLY", .format = "ply"},
    {"readers.pcd", ROLE_READER, stage_read, .summary = "PCD", .format = "pcd"},
    {"readers.ptx", ROLE_READER, stage_read, .summary = "PTX", .format = "ptx"},
    {"readers.e57", ROLE_READER, stage_read, .summary = "E57", .format = "e57"},
    {"readers.text", ROLE_READER, stage_read, .summary = "text", .format = "xyz"},
    {"readers.potree", ROLE_READER, stage_read, .summary = "Potree 2.0 folders", .format = "potree"},
    {"readers.any", ROLE_READER, stage_read, .summary = "whatever the files hold; several files become one cloud"},
    {"gen", ROLE_READER, stage_generate, .summary = "a synthetic cloud"},
    {"filters.range", ROLE_FILTER, stage_range, .summary = "keeps points by ranges of values"},
    {"filters.expression", ROLE_FILTER, stage_expression, .summary = "keeps points that meet a condition"},
    {"filters.crop", ROLE_FILTER, stage_crop, .summary = "keeps points in a box, a polygon or a ball"},
    {"filters.head", ROLE_FILTER, stage_head, .summary = "keeps the first points"},
    {"filters.tail", ROLE_FILTER, stage_tail, .summary = "keeps the last points"},
    {"filters.decimation", ROLE_FILTER, stage_decimate, .summary = "keeps every n-th point"},
    {"filters.merge", ROLE_FILTER, stage_merge, .summary = "one cloud of all inputs, as every stage makes it"},
    {"filters.sort", ROLE_FILTER, stage_sort, .summary = "orders points by values"},
    {"filters.assign", ROLE_FILTER, stage_assign, .summary = "changes values"},
    {"filters.ferry", ROLE_FILTER, stage_ferry, .summary = "copies attributes"},
    {"filters.reprojection", ROLE_FILTER, stage_reproject, .summary = "brings points to another reference system"},
    {"filters.outlier", ROLE_FILTER, stage_outlier, .summary = "gives points that stand alone class 7"},
    {"filters.normal", ROLE_FILTER, stage_normal, .summary = "normals and curvature"},
    {"filters.stats", ROLE_FILTER, stage_run_command, .summary = "says what mote info --stats says", .format = "info",
     .command = cmd_info, .presets = all_points},
    {"filters.info", ROLE_FILTER, stage_run_command, .summary = "says what mote info says", .format = "info",
     .command = cmd_info},
    {"writers.las", ROLE_WRITER, stage_write, .summary = "LAS and LAZ", .format = "las"},
    {"writers.copc", ROLE_WRITER, stage_run_command, .summary = "COPC, as mote lod makes it", .format = "lod",
     .command = cmd_lod, .presets = as_copc},
    {"writers.potree", ROLE_WRITER, stage_run_command, .summary = "a Potree 2.0 folder, as mote lod makes it",
     .format = "lod", .command = cmd_lod, .presets = as_potree},
    {"writers.ply", ROLE_WRITER, stage_write, .summary = "PLY", .format = "ply"},
    {"writers.pcd", ROLE_WRITER, stage_write, .summary = "PCD", .format = "pcd"},
    {"writers.e57", ROLE_WRITER, stage_write, .summary = "E57", .format = "e57"},
    {"writers.text", ROLE_WRITER, stage_write, .summary = "text: .xyz .csv .txt .pts .asc", .format = "xyz"},
    {"writers.null", ROLE_WRITER, stage_merge, .summary = "nothing"},
    {"normals", ROLE_FILTER, stage_run_command, .summary = "mote normals", .command = cmd_normals, .hands_on = true},
    {"outliers", ROLE_FILTER, stage_run_command, .summary = "mote outliers", .command = cmd_outliers, .hands_on = true},
    {"planes", ROLE_FILTER, stage_run_command, .summary = "mote planes", .command = cmd_planes, .hands_on = true},
    {"info", ROLE_FILTER, stage_run_command, .summary = "mote info", .command = cmd_info},
    {"measure", ROLE_FILTER, stage_run_command, .summary = "mote measure", .command = cmd_measure},
    {"knn", ROLE_WRITER, stage_run_command, .summary = "mote knn", .command = cmd_knn},
    {"lod", ROLE_WRITER, stage_run_command, .summary = "mote lod", .command = cmd_lod},
    {"render", ROLE_WRITER, stage_run_command, .summary = "mote render", .command = cmd_render, .frees_input = true},
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

const stage_kind *stage_kinds(uint32_t *count) {
    *count = KIND_COUNT;
    return kinds;
}

const stage_kind *stage_kind_find(const char *name) {
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    }
    return NULL;
}

/* Stages of PDAL that mote has not under that name. */
static const char *const others[][2] = {
    {"filters.approximatecoplanar", "the stage \"planes\" finds planes; \"normals\" gives a curvature"},
    {"filters.chipper", "mote tiles as an octree: writers.copc or writers.potree"},
    {"filters.colorinterp", "the stage \"render\" colours by any attribute (\"color\", \"map\", \"range\")"},
    {"filters.covariancefeatures", "the stage \"normals\" gives normals, curvature and densities"},
    {"filters.dbscan", "\"planes\" with \"parts\": true separates planes; other clusters are not found"},
    {"filters.eigenvalues", "the stage \"normals\" gives normals and curvature, which come from them"},
    {"filters.elm", "the stage \"outliers\" leaves out points that stand alone"},
    {"filters.estimaterank", "the stage \"normals\" gives a curvature, which is 0 on a plane"},
    {"filters.fps", "writers.copc with \"sampling\": \"poisson\" spreads points evenly in each level"},
    {"filters.geomdistance", NULL},
    {"filters.hag_nn", NULL},
    {"filters.hag_delaunay", NULL},
    {"filters.iqr", "filters.expression with limits from the stage \"filters.stats\""},
    {"filters.knnassign", "the stage \"knn\" writes neighbours, to choose from"},
    {"filters.locate", "filters.sort by the attribute, then filters.head with \"count\": 1"},
    {"filters.lof", "filters.outlier, or the stage \"outliers\""},
    {"filters.mad", "filters.expression with limits from the stage \"filters.stats\""},
    {"filters.mongo", "filters.expression"},
    {"filters.mongoexpression", "filters.expression"},
    {"filters.mortonorder", "writers.copc and writers.potree have points in that order"},
    {"filters.neighborclassifier", NULL},
    {"filters.nndistance", "the stage \"outliers\" with \"mark\" and \"distances\": true gives mean_distance"},
    {"filters.optimalneighborhood", NULL},
    {"filters.planefit", "the stage \"planes\""},
    {"filters.pmf", NULL},
    {"filters.csf", NULL},
    {"filters.smrf", NULL},
    {"filters.python", "the package mote for Python gives all points as numpy arrays: docs/python.md"},
    {"filters.radialdensity", "the stage \"normals\" with \"density\": true"},
    {"filters.randomize", "writers.copc with \"sampling\": \"random\""},
    {"filters.relaxationdartthrowing", "writers.copc with \"sampling\": \"poisson\""},
    {"filters.returns", "filters.expression, as in return_number == number_of_returns for last returns"},
    {"filters.sample", "readers.copc with \"resolution\" takes points that far apart"},
    {"filters.separatescanline", NULL},
    {"filters.shell", NULL},
    {"filters.skewnessbalancing", NULL},
    {"filters.splitter", "writers.copc is read by box, without tiles"},
    {"filters.streamcallback", NULL},
    {"filters.transformation", "filters.assign, as in x = x + 10, moves and scales"},
    {"filters.voxelcenternearestneighbor", "readers.copc with \"resolution\""},
    {"filters.voxelcentroidnearestneighbor", "readers.copc with \"resolution\""},
    {"filters.voxeldownsize", "readers.copc with \"resolution\""},
    {"filters.zsmooth", NULL},
    {"readers.bpf", NULL},
    {"readers.ept", "\"readers.copc\": an EPT data set is made COPC by other programs"},
    {"readers.faux", "the stage \"gen\""},
    {"readers.pts", "readers.text"},
    {"readers.tindex", "readers.any with a pattern: \"tiles/*.laz\""},
    {"writers.gdal", "the stage \"render\" with \"ortho\" and \"gsd\" makes a map"},
    {"writers.ept_addon", "writers.copc"},
    {"writers.gltf", NULL},
    {"writers.raster", "the stage \"render\" with \"ortho\" and \"gsd\" makes a map"},
};
#define OTHER_COUNT (sizeof others / sizeof others[0])

int stage_kind_unknown(session *s, const pipeline *p, const char *place, const char *name) {
    const char *names[KIND_COUNT + 1];
    for (size_t i = 0; i < OTHER_COUNT; i++) {
        if (strcmp(others[i][0], name) != 0) continue;
        return session_error(s, EXIT_USAGE, "%s: %s/type: mote has no stage \"%s\"%s%s", p->title, place, name,
                             others[i][1] != NULL ? "; " : ", and nothing that does the same",
                             others[i][1] != NULL ? others[i][1] : "");
    }
    for (size_t i = 0; i < KIND_COUNT; i++) names[i] = kinds[i].name;
    names[KIND_COUNT] = NULL;
    const char *near = text_nearest(name, names);
    if (near != NULL) {
        return session_error(s, EXIT_USAGE, "%s: %s/type: mote has no stage \"%s\"; did you mean \"%s\"?", p->title,
                             place, name, near);
    }
    return session_error(s, EXIT_USAGE, "%s: %s/type: mote has no stage \"%s\"; \"mote run --describe\" names all",
                         p->title, place, name);
}

const stage_kind *stage_kind_of_file(const char *name, bool is_output) {
    if (!is_output) return stage_kind_find("readers.any");
    if (text_has_ending(name, ".copc.laz") || text_has_ending(name, ".copc")) return stage_kind_find("writers.copc");
    if (text_has_ending(name, ".png") || text_has_ending(name, ".ppm")) return stage_kind_find("render");
    if (text_has_ending(name, ".npz")) return stage_kind_find("knn");
    const char *format = mote_ending_format(name);
    for (size_t i = 0; format != NULL && i < KIND_COUNT; i++) {
        if (kinds[i].role == ROLE_WRITER && kinds[i].command == NULL && kinds[i].format != NULL &&
            strcmp(kinds[i].format, format) == 0) {
            return &kinds[i];
        }
    }
    return format == NULL && strrchr(name, '.') != NULL && !text_has_ending(name, ".mote")
               ? NULL
               : stage_kind_find("writers.potree");
}

#endif

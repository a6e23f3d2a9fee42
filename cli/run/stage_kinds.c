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
    {"filters.mortonorder", ROLE_FILTER, stage_morton_order, .summary = "orders points by Morton code"},
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
    {"filters.cluster", "\"planes\" with \"parts\": true separates planes; other clusters are not found"},
    {"filters.colorinterp", "the stage \"render\" colours by any attribute (\"color\", \"map\", \"range\")"},
    {"filters.colorization", NULL},
    {"filters.covariancefeatures", "the stage \"normals\" gives normals, curvature and densities"},
    {"filters.cpd", NULL},
    {"filters.csf", NULL},
    {"filters.dbscan", "\"planes\" with \"parts\": true separates planes; other clusters are not found"},
    {"filters.delaunay", NULL},
    {"filters.dem", NULL},
    {"filters.divider", "readers.any with \"start\" and \"count\" reads a part"},
    {"filters.eigenvalues", "the stage \"normals\" gives normals and curvature, which come from them"},
    {"filters.elm", "the stage \"outliers\" leaves out points that stand alone"},
    {"filters.estimaterank", "the stage \"normals\" gives a curvature, which is 0 on a plane"},
    {"filters.expressionstats", "filters.expression, then filters.stats"},
    {"filters.faceraster", "the stage \"render\" with \"ortho\" and \"gsd\" makes a map"},
    {"filters.fps", "writers.copc with \"sampling\": \"poisson\" spreads points evenly in each level"},
    {"filters.geomdistance", NULL},
    {"filters.georeference", NULL},
    {"filters.gpstimeconvert", "filters.assign, as in gps_time = gps_time - 1e9"},
    {"filters.greedyprojection", NULL},
    {"filters.gridDecimation", "readers.copc with \"resolution\""},
    {"filters.groupby",
     "a filters.expression and a writer for each value, whose \"inputs\" name one stage by its \"tag\""},
    {"filters.h3", NULL},
    {"filters.hag_delaunay", NULL},
    {"filters.hag_dem", NULL},
    {"filters.hag_nn", NULL},
    {"filters.hexbin", "the stage \"info\" gives the box"},
    {"filters.icp", NULL},
    {"filters.iqr", "filters.expression with limits from the stage \"filters.stats\""},
    {"filters.julia", "the package mote for Python gives all points as numpy arrays: docs/python.md"},
    {"filters.knnassign", "the stage \"knn\" writes neighbours, to choose from"},
    {"filters.label_duplicates", NULL},
    {"filters.litree", NULL},
    {"filters.lloydkmeans", NULL},
    {"filters.locate", "filters.sort by the attribute, then filters.head with \"count\": 1"},
    {"filters.lof", "filters.outlier, or the stage \"outliers\""},
    {"filters.mad", "filters.expression with limits from the stage \"filters.stats\""},
    {"filters.matlab", "the package mote for Python gives all points as numpy arrays: docs/python.md"},
    {"filters.miniball", NULL},
    {"filters.mongo", "filters.expression"},
    {"filters.mongoexpression", "filters.expression"},
    {"filters.neighborclassifier", NULL},
    {"filters.nndistance", "the stage \"outliers\" with \"mark\" and \"distances\": true gives mean_distance"},
    {"filters.optimalneighborhood", NULL},
    {"filters.overlay", "\"mote convert --edits\" gives points the classes of polygons"},
    {"filters.planefit", "the stage \"planes\""},
    {"filters.pmf", NULL},
    {"filters.poisson", NULL},
    {"filters.projpipeline", "filters.reprojection between systems"},
    {"filters.python", "the package mote for Python gives all points as numpy arrays: docs/python.md"},
    {"filters.radialdensity", "the stage \"normals\" with \"density\": true"},
    {"filters.randomize", "writers.copc with \"sampling\": \"random\""},
    {"filters.reciprocity", NULL},
    {"filters.relaxationdartthrowing", "writers.copc with \"sampling\": \"poisson\""},
    {"filters.returns", "filters.expression, as in return_number == number_of_returns for last returns"},
    {"filters.sample", "readers.copc with \"resolution\" takes points that far apart"},
    {"filters.separatescanline", NULL},
    {"filters.shell", NULL},
    {"filters.skewnessbalancing", NULL},
    {"filters.smrf", NULL},
    {"filters.sparsesurface", "readers.copc with \"resolution\""},
    {"filters.splitter", "writers.copc is read by box, without tiles"},
    {"filters.straighten", NULL},
    {"filters.streamcallback", NULL},
    {"filters.supervoxel", NULL},
    {"filters.teaser", NULL},
    {"filters.trajectory", NULL},
    {"filters.transformation", "filters.assign, as in x = x + 10, moves and scales"},
    {"filters.voxelcenternearestneighbor", "readers.copc with \"resolution\""},
    {"filters.voxelcentroidnearestneighbor", "readers.copc with \"resolution\""},
    {"filters.voxeldownsize", "readers.copc with \"resolution\""},
    {"filters.zsmooth", NULL},
    {"readers.bpf", NULL},
    {"readers.buffer", "the package mote for Python takes arrays: docs/python.md"},
    {"readers.draco", NULL},
    {"readers.ept", "\"readers.copc\": an EPT data set is made COPC by other programs"},
    {"readers.faux", "the stage \"gen\""},
    {"readers.fbi", NULL},
    {"readers.gdal", NULL},
    {"readers.hdf", NULL},
    {"readers.i3s", NULL},
    {"readers.matlab", NULL},
    {"readers.mbio", NULL},
    {"readers.memoryview", "the package mote for Python takes arrays: docs/python.md"},
    {"readers.nitf", NULL},
    {"readers.numpy", "the package mote for Python takes arrays: docs/python.md"},
    {"readers.obj", NULL},
    {"readers.optech", NULL},
    {"readers.pgpointcloud", NULL},
    {"readers.pts", "readers.text"},
    {"readers.qfit", NULL},
    {"readers.rdb", NULL},
    {"readers.rxp", NULL},
    {"readers.sbet", NULL},
    {"readers.slpk", NULL},
    {"readers.smrmsg", NULL},
    {"readers.stac", "readers.any with a pattern: \"tiles/*.laz\""},
    {"readers.terrasolid", NULL},
    {"readers.tiledb", NULL},
    {"readers.tindex", "readers.any with a pattern: \"tiles/*.laz\""},
    {"writers.arrow", NULL},
    {"writers.bpf", NULL},
    {"writers.draco", NULL},
    {"writers.ept_addon", "writers.copc"},
    {"writers.fbi", NULL},
    {"writers.gdal", "the stage \"render\" with \"ortho\" and \"gsd\" makes a map"},
    {"writers.gltf", NULL},
    {"writers.matlab", NULL},
    {"writers.nitf", NULL},
    {"writers.ogr", NULL},
    {"writers.pgpointcloud", NULL},
    {"writers.raster", "the stage \"render\" with \"ortho\" and \"gsd\" makes a map"},
    {"writers.sbet", NULL},
    {"writers.tiledb", NULL},
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

/* Options that PDAL's stages have and mote's have not: {stage, option, what does the same}. A stage that ends with a
   dot stands for all stages that begin so, and "" for every stage. */
static const char *const other_options[][3] = {
    {"", "threads", "\"mote run --threads\" is for all stages"},
    {"filters.assign", "where_merge", "all points are kept, in their order"},
    {"filters.crop", "a_srs",
     "box and polygon are in the system of the points; filters.reprojection brings these to another"},
    {"filters.crop", "ogr", "\"polygon\" takes a GeoJSON file or WKT"},
    {"filters.mortonorder", "reverse", "points are in the order of their codes, the least first"},
    {"filters.normal", "radius", "the stage \"normals\" has \"radius\""},
    {"filters.normal", "refine", "the stage \"normals\" with \"orient\": \"propagate\" turns each as its neighbours"},
    {"filters.reprojection", "error_on_failure", "a point that has no place in the other system is always an error"},
    {"filters.reprojection", "in_axis_ordering", "the axes are east, north and up, whatever the system says"},
    {"filters.reprojection", "out_axis_ordering", "the axes are east, north and up, whatever the system says"},
    {"filters.stats", "count", "the stage \"info\" with \"stats\" counts classes and returns"},
    {"filters.stats", "dimensions", "all attributes are told of; \"select\" of a reader takes some"},
    {"filters.stats", "enumerate", "the stage \"info\" with \"stats\" counts classes and returns"},
    {"filters.info", "point", "filters.head and filters.tail choose points"},
    {"filters.info", "query", "filters.crop with \"point\" and \"distance\" chooses points"},
    {"readers.", "nosrs", "\"override_srs\" names the system in place of the file's"},
    {"readers.", "extra_dims", "extra bytes are read by what their file says of them"},
    {"readers.", "use_eb_vlr", "extra bytes are read by what their file says of them"},
    {"readers.", "skip", "text lines without numbers are no points; \"columns\" names attributes"},
    {"readers.", "polygon", "filters.crop has \"polygon\""},
    {"readers.", "ogr", "filters.crop has \"polygon\", a GeoJSON file or WKT"},
    {"readers.", "requests", "\"mote run --threads\" is for all stages"},
    {"writers.", "where_merge", "points that \"where\" leaves out are not handed on"},
    {"writers.", "scale_x",
     "numbers are written as they were read: filters.assign rounds, as in x = round(x * 100) / 100"},
    {"writers.", "scale_y",
     "numbers are written as they were read: filters.assign rounds, as in y = round(y * 100) / 100"},
    {"writers.", "scale_z",
     "numbers are written as they were read: filters.assign rounds, as in z = round(z * 100) / 100"},
    {"writers.", "offset_x", "scale and offset are those of the input, or fit its numbers"},
    {"writers.", "offset_y", "scale and offset are those of the input, or fit its numbers"},
    {"writers.", "offset_z", "scale and offset are those of the input, or fit its numbers"},
    {"writers.", "software_id", "the header names mote and its version"},
    {"writers.", "system_id", "what the header of the input says is kept"},
    {"writers.", "global_encoding", "what the header of the input says is kept"},
    {"writers.", "project_id", "what the header of the input says is kept"},
    {"writers.", "filesource_id", "what the header of the input says is kept"},
    {"writers.", "creation_doy", "what the header of the input says is kept"},
    {"writers.", "creation_year", "what the header of the input says is kept"},
    {"writers.", "vlrs", "records of the input are kept"},
    {"writers.", "precision", "all digits of a number are written"},
    {"writers.", "keep_unspecified", "\"order\" or \"columns\" names all attributes that are written"},
    {"writers.", "faces", "points have no faces"},
    {"writers.", "forward", "what the input says of itself is kept in any case"},
    {"writers.", "extra_dims", "all attributes are written, or those that \"attributes\" or \"columns\" names"},
    {"writers.", "a_srs", "\"override_srs\" of a reader names the system"},
    {"writers.", "minor_version", "octrees have one version of their format"},
    {"writers.", "dataformat_id", "the point format is what the attributes need"},
    {"writers.", "enhanced_srs_vlrs", "the system is written as WKT, and as its codes where the format has them"},
    {"writers.", "pdal_metadata", "the pipeline is not kept in what it writes"},
    {"writers.", "pdal_pipeline", "the pipeline is not kept in what it writes"},
    {"writers.", "discard_high_return_numbers", "filters.range on ReturnNumber leaves them out"},
    {"writers.", "fixed_seed", "the same \"seed\" gives the same bytes in any case"},
};

const char *stage_other_option(const stage_kind *kind, const char *key) {
    for (size_t i = 0; i < sizeof other_options / sizeof other_options[0]; i++) {
        const char *stage = other_options[i][0];
        const size_t length = strlen(stage);
        const bool is_prefix = length == 0 || stage[length - 1] == '.';
        const bool is_of = is_prefix ? strncmp(kind->name, stage, length) == 0 : strcmp(kind->name, stage) == 0;
        if (is_of && stage_key_is(key, other_options[i][1])) return other_options[i][2];
    }
    return NULL;
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

/* The format table, and the public readers and writers on top of it. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "io/choice.h"
#include "io/crs/crs_change.h"
#include "io/text/text.h"

const mote_format mote_formats[] = {
    {"las", ".las .laz", mote_las_probe, mote_las_read, mote_las_write, true},
    {"ply", ".ply", mote_ply_probe, mote_ply_read, mote_ply_write, false},
    {"pcd", ".pcd", mote_pcd_probe, mote_pcd_read, mote_pcd_write, false},
    {"ptx", ".ptx", mote_ptx_probe, mote_ptx_read, NULL, false},
    {"e57", ".e57", mote_e57_probe, mote_e57_read, mote_e57_write, false},
    {"xyz", ".xyz .txt .csv .pts .asc", mote_xyz_probe, mote_xyz_read, mote_xyz_write, false},
};
const uint32_t mote_format_count = sizeof mote_formats / sizeof mote_formats[0];

static bool is_copc(const char *path) {
    const size_t length = strlen(path);
    return length >= 9 && strcasecmp(path + length - 9, ".copc.laz") == 0;
}

/* The format whose list of endings has the path's; NULL if none. COPC is LAZ to read; to write, an octree of its
   own. */
static const mote_format *format_by_ending(const char *path) {
    const char *dot = is_copc(path) ? NULL : strrchr(path, '.');
    if (dot == NULL || strlen(dot) > 8 || strchr(dot, ' ') != NULL) return NULL;
    char ending[16] = "";
    for (size_t i = 0; dot[i] != '\0'; i++) ending[i] = (char)tolower((unsigned char)dot[i]);
    const size_t length = strlen(ending);
    for (uint32_t f = 0; f < mote_format_count; f++) {
        const char *found = strstr(mote_formats[f].endings, ending);
        if (found != NULL && (found[length] == ' ' || found[length] == '\0')) return &mote_formats[f];
    }
    return NULL;
}

const char *mote_ending_format(const char *path) {
    const mote_format *format = format_by_ending(path);
    return format != NULL && format->write != NULL ? format->name : NULL;
}

#define WRITTEN_ENDINGS "las, laz, ply, pcd, e57, xyz, csv, txt, pts or asc"

/* The format of that name: an ending without its dot. */
static const mote_format *format_by_name(const char *name) {
    char ending[8];
    if (strlen(name) + 2 > sizeof ending || strchr(name, '.') != NULL) return NULL;
    snprintf(ending, sizeof ending, ".%s", name);
    return format_by_ending(ending);
}

mote_status mote_written_format(mote_context *ctx, const char *path, const mote_write_params *params,
                                const mote_format **out) {
    const char *name = params->format;
    *out = name != NULL ? format_by_name(name) : format_by_ending(path);
    if (*out != NULL && (*out)->write != NULL) return MOTE_OK;
    if (name != NULL) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: mote writes no format \"%s\", but " WRITTEN_ENDINGS, path,
                         name);
    }
    if (mote_is_dash(path)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, STANDARD_OUTPUT ": which format? " WRITTEN_ENDINGS);
    }
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                     "%s: the ending names no format that mote writes (.las .laz .ply .pcd .e57 .xyz .csv)", path);
}

static const mote_format *format_by_content(const mote_input *input) {
    for (uint32_t f = 0; f < mote_format_count; f++) {
        if (mote_formats[f].probe(input)) return &mote_formats[f];
    }
    return NULL;
}

const char *mote_file_format(mote_context *ctx, const char *path) {
    if (mote_potree_probe(path)) return "potree";
    mote_input input;
    if (mote_input_is_read_once(path) || mote_input_open(ctx, path, &input) != MOTE_OK) return NULL;
    const mote_format *format = format_by_content(&input);
    mote_input_close(ctx, &input);
    return format != NULL ? format->name : NULL;
}

#define NO_SAMPLE "%s: only LAS and LAZ files are sampled"

static mote_status read_input(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out) {
    MOTE_TRY(mote_text_check_encoding(ctx, input));
    const mote_format *format = format_by_content(input);
    if (format == NULL) format = format_by_ending(input->path);
    if (format == NULL && params->columns != NULL)
        format = format_by_name("xyz"); /* the user says what its rows hold */
    if (params->sample != NULL && format != NULL && format->read != mote_las_read) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, NO_SAMPLE, input->path);
    }
    if (format != NULL) {
        const mote_status status = format->read(ctx, input, params, out);
        return status == MOTE_OK ? mote_input_check(ctx, input) : status;
    }
    return mote_fail(ctx, MOTE_ERROR_DATA, "%s: offset 0: neither LAS, PLY, PCD, PTX, E57, text nor a Potree folder",
                     input->path);
}

static mote_status read_path(mote_context *ctx, const char *path, const mote_read_params *params, mote_cloud **out) {
    const bool is_potree = mote_potree_probe(path);
    if (is_potree && params->sample != NULL) return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, NO_SAMPLE, path);
    if (is_potree) return mote_potree_read(ctx, path, params, out);
    mote_input input;
    MOTE_TRY(mote_input_open(ctx, path, &input));
    const mote_status status = read_input(ctx, &input, params, out);
    mote_input_close(ctx, &input);
    return status;
}

#define SHARE_OF_READING 0.9 /* of progress, where points are chosen or transformed behind it */

/* What formats are to read for what the caller asks: of a system that is still to be changed nothing can be prepared,
   and nodes are skipped by a box of the file's own system alone. */
static mote_read_params params_of_format(const mote_read_params *params) {
    mote_read_params p = *params;
    if (p.crs == NULL && p.to_crs == NULL) return p;
    p.prepare_order = p.to_device = false;
    p.known = NULL;
    if (p.to_crs != NULL && p.bounds_in_to_crs) p.bounds = NULL;
    return p;
}

/* The points that are kept, and the system that they get: expressions and bounds see the coordinates of the old system
   or of the new one. */
static mote_status settle_cloud(mote_context *ctx, const char *path, const mote_read_params *asked,
                                const mote_choice *choice, mote_cloud **cloud) {
    const bool late = asked->to_crs != NULL && asked->bounds_in_to_crs;
    MOTE_TRY(mote_crs_assign(ctx, *cloud, asked));
    if (asked->bounds != NULL && !late) MOTE_TRY(mote_cloud_keep_inside(ctx, cloud, asked->bounds));
    if (!mote_choice_is_late(asked)) MOTE_TRY(mote_choice_apply(ctx, choice, path, cloud));
    if (asked->to_crs != NULL) MOTE_TRY(mote_crs_transform(ctx, path, cloud, asked->to_crs, asked->crs_ballpark));
    if (mote_choice_is_late(asked)) MOTE_TRY(mote_choice_apply(ctx, choice, path, cloud));
    return asked->bounds != NULL && late ? mote_cloud_keep_inside(ctx, cloud, asked->bounds) : MOTE_OK;
}

/* Reads what the choice needs, and leaves out the rest. input: open already, or NULL: the path is to be opened. */
static mote_status read_chosen(mote_context *ctx, const char *path, mote_input *input, const mote_read_params *asked,
                               const mote_choice *choice, mote_cloud **cloud) {
    const mote_read_params *p = &choice->params;
    const bool chosen = asked->bounds != NULL || asked->where != NULL || asked->set != NULL || asked->to_crs != NULL;
    const double middle = chosen ? SHARE_OF_READING : 1;
    const mote_progress_span whole = mote_progress_enter(ctx, 0, middle);
    mote_status status = input != NULL ? read_input(ctx, input, p, cloud) : read_path(ctx, path, p, cloud);
    if (status == MOTE_OK) status = mote_cloud_check(*cloud);
    if (status == MOTE_OK) status = mote_cloud_keep_columns(*cloud, p->select);
    mote_progress_next(ctx, whole, middle, 1);
    if (status == MOTE_OK) status = settle_cloud(ctx, path, asked, choice, cloud);
    mote_progress_leave(ctx, whole);
    return status;
}

static mote_status read_cloud(mote_context *ctx, const char *path, mote_input *input, const mote_read_params *params,
                              mote_cloud **out) {
    const mote_read_params p = params != NULL ? *params : mote_read_defaults();
    mote_choice choice;
    mote_cloud *cloud = NULL;
    *out = NULL;
    const mote_read_params of_format = params_of_format(&p);
    MOTE_TRY(mote_check_reserved(ctx, p.reserved, sizeof p.reserved, "mote_read_params", "mote_read_defaults()"));
    if (p.keep_poses && p.to_crs != NULL) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                         "coordinates as each scanner saw them are in no reference system, and cannot be transformed");
    }
    mote_status status = mote_choice_open(ctx, &of_format, &choice);
    if (status == MOTE_OK) status = read_chosen(ctx, path, input, &p, &choice, &cloud);
    mote_choice_close(ctx, &choice);
    if (status != MOTE_OK) {
        mote_cloud_destroy(cloud);
        return status;
    }
    *out = cloud;
    return MOTE_OK;
}

mote_status mote_cloud_read(mote_context *ctx, const char *path, const mote_read_params *params, mote_cloud **out) {
    return read_cloud(ctx, path, NULL, params, out);
}

mote_status mote_cloud_read_input(mote_context *ctx, mote_input *input, const mote_read_params *params,
                                  mote_cloud **out) {
    return read_cloud(ctx, input->path, input, params, out);
}

/* The numbers of the points whose coordinates are all finite; *indices is NULL when there is no memory. */
static uint64_t find_finite(mote_context *ctx, const mote_cloud *cloud, uint64_t max, uint64_t **indices) {
    const mote_column *axes[3];
    mote_cloud_find_positions(cloud, axes);
    uint64_t count = 0;
    *indices = mote_alloc(ctx, max * sizeof **indices, "finite points");
    for (uint64_t i = 0; i < cloud->count && *indices != NULL && count < max; i++) {
        const bool finite = isfinite(mote_column_value(axes[0], i)) && isfinite(mote_column_value(axes[1], i)) &&
                            isfinite(mote_column_value(axes[2], i));
        if (finite) (*indices)[count++] = i;
    }
    return count;
}

/* *finite: the cloud without points that have no finite position, for formats that cannot hold these; NULL if there
   are none, and if the writer itself is to say what is missing. */
static mote_status leave_out_infinite(mote_context *ctx, const mote_cloud *cloud, const char *path,
                                      mote_cloud **finite) {
    mote_box box;
    uint64_t skipped = 0, *indices = NULL;
    bool any_real = false;
    *finite = NULL;
    for (const char *axis = "x\0y\0z\0"; *axis != '\0'; axis += 2) {
        const mote_column *const column = mote_cloud_find(cloud, axis);
        if (column == NULL) return MOTE_OK;
        any_real = any_real || mote_type_is_float(column->type);
    }
    if (!any_real) return MOTE_OK;
    MOTE_TRY(mote_cloud_bounds(ctx, cloud, &box, &skipped));
    if (skipped == 0) return MOTE_OK;
    const uint64_t count = find_finite(ctx, cloud, cloud->count - skipped, &indices);
    if (indices == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = mote_cloud_select(ctx, cloud, indices, count, finite);
    mote_free(ctx, indices);
    if (status == MOTE_OK) {
        mote_warn(ctx, "%s: %llu points without a finite position are left out; this format cannot hold them", path,
                  (unsigned long long)skipped);
    }
    return status;
}

mote_status mote_cloud_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                             const mote_write_params *params) {
    const mote_write_params p = params != NULL ? *params : mote_write_defaults();
    const mote_format *format;
    mote_cloud *finite = NULL;
    MOTE_TRY(mote_check_reserved(ctx, p.reserved, sizeof p.reserved, "mote_write_params", "mote_write_defaults()"));
    MOTE_TRY(mote_cloud_need_host(ctx, cloud, path));
    MOTE_TRY(mote_written_format(ctx, path, &p, &format));
    if (format->finite) MOTE_TRY(leave_out_infinite(ctx, cloud, path, &finite));
    const mote_status status = format->write(ctx, finite != NULL ? finite : cloud, path, &p);
    mote_cloud_destroy(finite);
    return status;
}

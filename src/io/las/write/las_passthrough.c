/* Clouds that come from LAS and go to LAS unchanged: their columns' types alone decide how they are written. The plan
   then needs no look at values, and the points can come in pieces. */
#include "io/las/write/las_plan.h"

/* Whether a column stores what the dimension stores. Times keep whatever scale and offset they have. */
static bool is_dimension(const mote_column *column, const las_field *field) {
    if (column->type != field->type || column->bit_count != field->bit_count) return false;
    return field->type == MOTE_FLOAT64 || (column->scale == field->scale && column->offset == 0);
}

static bool is_lattice(const mote_column *column) {
    return column != NULL && column->type == MOTE_INT32 && column->bit_count == 0;
}

static bool is_column_passthrough(const las_plan *plan, const mote_column *column, const las_field *fields,
                                  uint32_t count) {
    if (mote_las_is_extra_of_origin(plan, column)) return true;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(column->name, fields[i].name) == 0) return i < 3 || is_dimension(column, &fields[i]);
    }
    return !mote_las_is_field(column->name);
}

bool mote_las_is_passthrough(const las_plan *plan) {
    const mote_cloud *cloud = plan->cloud;
    const int version = plan->params->las_version_minor;
    las_field fields[LAS_FIELDS_MAX];
    if (!cloud->las.present || cloud->las.format >= LAS_FORMATS || plan->params->las_format != -1) return false;
    if (version != 0 && version < mote_las_min_version(cloud->las.format, 0)) return false;
    const uint32_t count = mote_las_fields(cloud->las.format, fields);
    for (uint32_t k = 0; k < 3; k++) {
        if (!is_lattice(mote_cloud_find(cloud, fields[k].name))) return false;
    }
    for (uint64_t i = 0; i < cloud->column_count; i++) {
        if (plan->chosen[i] && !is_column_passthrough(plan, &cloud->columns[i], fields, count)) return false;
    }
    return true;
}

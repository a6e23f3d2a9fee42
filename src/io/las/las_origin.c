/* Columns that still look at the records of the LAS file that their cloud came from. */
#include "io/las/write/las_plan.h"

bool mote_las_has_origin_layout(const mote_cloud *cloud) {
    las_field fields[LAS_FIELDS_MAX];
    const mote_column *x = mote_cloud_find(cloud, "x");
    if (!cloud->las.present || cloud->las.format >= LAS_FORMATS || x == NULL) return false;
    const uint32_t count = mote_las_fields(cloud->las.format, fields);
    for (uint32_t i = 0; i < count; i++) {
        const mote_column *column = mote_cloud_find(cloud, fields[i].name);
        if (column == NULL || column->type != fields[i].type || column->stride_bytes != x->stride_bytes ||
            column->bit_shift != fields[i].bit_shift || column->bit_count != fields[i].bit_count ||
            (uintptr_t)column->data - (uintptr_t)x->data != fields[i].at) {
            return false;
        }
    }
    return true;
}

bool mote_las_is_extra_of_origin(const las_plan *plan, const mote_column *column) {
    const mote_column *x = mote_cloud_find(plan->cloud, "x");
    if (!plan->origin_layout || plan->params->las_format >= 0 || column->stride_bytes != x->stride_bytes) return false;
    const uintptr_t at = (uintptr_t)column->data - (uintptr_t)x->data; /* wraps when before */
    return at >= mote_las_record_bytes(plan->cloud->las.format) && at < x->stride_bytes;
}

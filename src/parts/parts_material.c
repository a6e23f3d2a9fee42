/* What the octree of a part is made of: its points; copies of those of others that its averages look at; what sampling
   by distance has chosen among the points of all parts. */
#include "parts/parts.h"

mote_status parts_material_load(parts_run *run, uint32_t part, parts_material *material) {
    const parts_copies *copies = &run->ranges[part].copies;
    memset(material, 0, sizeof *material);
    MOTE_TRY(parts_load(run, &run->ranges[part], &material->cloud));
    if (copies->points > 0) MOTE_TRY(parts_load_records(run, copies->at, copies->points, &material->around));
    return parts_distance_load(run, part, &material->levels, &material->level_count);
}

static void forget_rest(parts_run *run, parts_material *material) {
    mote_cloud_destroy(material->around);
    mote_free(run->ctx, material->levels);
    material->around = NULL;
    material->levels = NULL;
}

void parts_material_free(parts_run *run, parts_material *material) {
    forget_rest(run, material);
    mote_cloud_destroy(material->cloud);
    material->cloud = NULL;
}

mote_status parts_material_build(parts_run *run, uint32_t part, parts_material *material, mote_lod **out,
                                 bool *lacks_fine) {
    lod_whole *whole = &material->whole;
    *whole = run->ranges[part].whole;
    whole->around = material->around;
    whole->levels = material->levels;
    whole->level_count = material->level_count;
    const mote_status status = lod_build_part(run->ctx, material->cloud, &run->lod, whole, out, lacks_fine);
    whole->around = NULL;
    whole->levels = NULL;
    forget_rest(run, material);
    return status;
}

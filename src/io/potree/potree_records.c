/* mote_potree_records: octree.bin where the GPU has the octree. */
#include "io/potree/potree.h"

/* encoding  to be freed in any case */
static mote_status make_records(mote_lod *lod, const potree_source *source, const potree_plan *plan,
                                potree_encoding *encoding, const void **records) {
    MOTE_TRY(potree_encoding_make(plan, &source->device_view, encoding));
    return plan->device_ops->records(lod, &encoding->program, source->device_view.item_count, records);
}

mote_status mote_potree_records(mote_context *ctx, mote_lod *lod, const mote_potree_params *params,
                                const void **records, uint64_t *size_bytes) {
    const mote_potree_params p = params != NULL ? *params : mote_potree_defaults();
    if (lod == NULL || records == NULL || size_bytes == NULL) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "mote_potree_records needs levels of detail and places to answer");
    }
    *records = NULL;
    *size_bytes = 0;
    MOTE_TRY(mote_check_reserved(ctx, p.reserved, sizeof p.reserved, "mote_potree_params", "mote_potree_defaults()"));
    potree_source source;
    potree_plan plan;
    potree_encoding encoding;
    memset(&encoding, 0, sizeof encoding);
    MOTE_TRY(potree_source_of_lod(ctx, lod, &source));
    if (source.device_lod == NULL) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "the octree was not built on a GPU");
    }
    mote_stage(ctx, "make records");
    mote_status status = potree_plan_make(ctx, &source, &p, &plan);
    if (status == MOTE_OK) status = make_records(lod, &source, &plan, &encoding, records);
    if (status == MOTE_OK) *size_bytes = plan.points * plan.stride_bytes;
    mote_stage(ctx, NULL);
    potree_encoding_free(&encoding);
    potree_plan_free(&plan);
    return status;
}

/* A part's share of a node of which others have points, too: what the chunk is made of when parts are joined. */
#include "core/cloud.h"
#include "io/copc/copc_parts.h"
#include "io/potree/potree.h" /* the checksum */

static uint64_t share_bytes(uint64_t points, uint64_t record_bytes) {
    return COPC_SHARE_COUNTS * sizeof(uint64_t) + points * (record_bytes + COPC_SHARE_POINT_BYTES);
}

mote_status mote_copc_share(const copc_job *job, copc_worker *worker, uint32_t node, const uint8_t **data,
                            copc_place *place) {
    const mote_column *gps = mote_cloud_find(job->plan.cloud, "gps_time");
    const uint64_t own = job->nodes[node].point_count, record_bytes = job->plan.record_bytes;
    uint64_t strays = 0;
    memset(place, 0, sizeof *place);
    place->is_share = true;
    MOTE_TRY(mote_copc_load_unsettled(job, worker, node, &strays));
    place->points = own + strays;
    if (place->points == 0) return MOTE_OK;
    place->size_bytes = share_bytes(place->points, record_bytes);
    if (!mote_reserve_scratch(job->ctx, (void **)&worker->share, &worker->share_capacity, place->size_bytes, 1,
                              "COPC nodes")) {
        return MOTE_ERROR_MEMORY;
    }
    const uint64_t counts[COPC_SHARE_COUNTS] = {own, strays};
    uint8_t *at = worker->share;
    memcpy(at, counts, sizeof counts);
    at += sizeof counts;
    memcpy(at, worker->records, place->points * record_bytes);
    at += place->points * record_bytes;
    for (uint64_t i = 0; i < place->points; i++, at += sizeof(uint64_t)) {
        const uint64_t number = job->range->number(job->range->user, worker->indices[i]);
        memcpy(at, &number, sizeof number);
    }
    for (uint64_t i = 0; i < place->points; i++, at += sizeof(double)) {
        const double time = gps != NULL ? mote_column_value(gps, worker->indices[i]) : 0;
        memcpy(at, &time, sizeof time);
    }
    place->hash = potree_hash_chain(0, worker->share, place->size_bytes);
    *data = worker->share;
    return MOTE_OK;
}

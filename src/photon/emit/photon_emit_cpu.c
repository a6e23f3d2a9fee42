/* Emitting photons on CPU cores: each is traced twice, to count its records, and to store them where those of the
   photons before it end. So the map is in the order of the photons' numbers, for any number of threads. */
#include "photon/emit/photon_emit_cpu.h"

#define BATCH 65536u /* photons traced between two reports of progress */

typedef struct emitter {
    mote_context *ctx;
    const photon_emitting *e;
    uint32_t *counts; /* [photons]: how many records each has */
    uint64_t *starts; /* [BATCH]: where those of each photon of a batch begin */
    photon_record *records;
} emitter;

/* Traces a photon; its records go to to, NULL: they are counted alone. Returns how many there are. */
static uint32_t fly(const emitter *m, uint64_t number, photon_record *to, photon_tally *tally) {
    const photon_view *scene = &m->e->scene->view;
    photon_flight flight = photon_flight_begin(scene, m->e->seed, number, m->e->unit);
    uint32_t count = 0;
    bool flies = true;
    while (flies) {
        photon_record record;
        bool stores;
        flies = photon_flight_step(scene, &flight, &record, &stores, tally);
        if (stores && to != NULL) to[count] = record;
        count += stores;
    }
    photon_flight_end(&flight, m->e->unit, tally);
    return count;
}

static void tally_add(photon_tally *to, const photon_tally *from) {
    to->hits += from->hits;
    for (int i = 0; i < 3; i++) to->stored[i] += from->stored[i];
    for (int i = 0; i < PHOTON_FATES; i++) {
        to->fates[i] += from->fates[i];
        photon_tally_power(to->power[i], from->power[i][0]);
        to->power[i][1] += from->power[i][1];
    }
}

static uint32_t batch_of(const emitter *m, uint64_t first) {
    const uint64_t remaining = m->e->photons - first;
    return remaining < BATCH ? (uint32_t)remaining : BATCH;
}

static void count_batch(emitter *m, uint64_t first, photon_tally *tally) {
    const uint32_t count = batch_of(m, first);
#pragma omp parallel num_threads(m->ctx->threads)
    {
        photon_tally mine;
        memset(&mine, 0, sizeof mine);
#pragma omp for schedule(dynamic, 256)
        for (uint32_t i = 0; i < count; i++) m->counts[first + i] = fly(m, first + i, NULL, &mine);
#pragma omp critical(photon_tallies)
        tally_add(tally, &mine);
    }
}

static void store_batch(const emitter *m, uint64_t first) {
    const uint32_t count = batch_of(m, first);
#pragma omp parallel for schedule(dynamic, 256) num_threads(m->ctx->threads)
    for (uint32_t i = 0; i < count; i++) {
        photon_tally unused;
        memset(&unused, 0, sizeof unused);
        fly(m, first + i, m->records + m->starts[i], &unused);
    }
}

static mote_status count_photons(emitter *m, photon_tally *tally) {
    const uint64_t photons = m->e->photons;
    for (uint64_t first = 0; first < photons; first += BATCH) {
        MOTE_TRY(mote_progress(m->ctx, 0.55 * (double)first / (double)photons, "counting photons"));
        count_batch(m, first, tally);
    }
    return MOTE_OK;
}

static mote_status store_photons(emitter *m) {
    const uint64_t photons = m->e->photons;
    uint64_t next = 0;
    for (uint64_t first = 0; first < photons; first += BATCH) {
        MOTE_TRY(mote_progress(m->ctx, 0.55 + 0.45 * (double)first / (double)photons, "emitting photons"));
        for (uint32_t i = 0; i < batch_of(m, first); i++) {
            m->starts[i] = next;
            next += m->counts[first + i];
        }
        store_batch(m, first);
    }
    return MOTE_OK;
}

static mote_status emit(emitter *m, photon_cloud *to, photon_tally *tally) {
    if (m->counts == NULL || m->starts == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(count_photons(m, tally));
    MOTE_TRY(photon_check_stored(m->ctx, tally, &to->count));
    to->records = m->records = mote_alloc(m->ctx, to->count * sizeof *to->records, "photons");
    return to->records != NULL ? store_photons(m) : MOTE_ERROR_MEMORY;
}

mote_status photon_emit_on_cpu(mote_device *device, const photon_emitting *e, photon_cloud *to, photon_tally *tally) {
    mote_context *ctx = device->ctx;
    emitter m = {.ctx = ctx, .e = e};
    m.counts = mote_alloc(ctx, e->photons * sizeof *m.counts, "photon counts");
    m.starts = mote_alloc(ctx, BATCH * sizeof *m.starts, "photon counts");
    const mote_status status = emit(&m, to, tally);
    mote_free(ctx, m.counts);
    mote_free(ctx, m.starts);
    return status;
}

mote_status photon_choose_on_cpu(mote_device *device, const photon_cloud *from, int choice, photon_cloud *to) {
    to->count = 0;
    for (uint64_t i = 0; i < from->count; i++) to->count += photon_is_chosen(&from->records[i], i, choice);
    to->records = mote_alloc(device->ctx, to->count * sizeof *to->records, "photons");
    if (to->records == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0, next = 0; i < from->count; i++) {
        if (photon_is_chosen(&from->records[i], i, choice)) to->records[next++] = from->records[i];
    }
    return MOTE_OK;
}

/* How much memory parts may take, and what one takes. */
#define _DEFAULT_SOURCE /* sysconf */
#include <unistd.h>

#include "device/team.h"
#include "io/laz/laz.h"
#include "parts/parts.h"
#include "parts/parts_notes.h"

#define ENCODER_BYTES (2ull << 20) /* of LAZ */

/* Of a GPU's copies, beside what PARTS_FIXED_BYTES and the points take on the host. */
static uint64_t staging_bytes(const parts_run *run) {
    if (run->ctx->params.device != MOTE_DEVICE_CUDA) return 0;
    const bool is_roomy = run->share_bytes == 0 || run->share_bytes / 8 >= PARTS_STAGING_BYTES;
    return is_roomy ? PARTS_STAGING_BYTES : PARTS_STAGING_LEAST;
}

uint64_t parts_memory_bytes(const parts_run *run, uint64_t points) {
    const uint64_t threads = ((uint64_t)run->ctx->threads + run->workers - 1) / run->workers;
    const uint64_t thread_bytes = run->is_copc ? PARTS_THREAD_COPC_BYTES : PARTS_THREAD_BYTES;
    return PARTS_FIXED_BYTES + thread_bytes * threads + staging_bytes(run) +
           points * (run->record_bytes + run->point_bytes);
}

/* No part is there any more then. Beside what a thread reads with, it has an encoder, the records of a chunk, what
   these become, by doubling, and chunks that wait, whose bytes are hardly more than those of their records; small
   clouds have fewer chunks than threads could work at. */
uint64_t parts_writing_bytes(const parts_run *run) {
    if (!run->is_laz) return 0;
    const uint64_t chunk_bytes = (uint64_t)LAZ_CHUNK_POINTS * (run->record_bytes + run->added_bytes);
    const uint64_t threads = (uint64_t)run->ctx->threads, chunks = run->source.count / LAZ_CHUNK_POINTS + 1;
    const uint64_t busy = threads < chunks ? threads : chunks;
    const uint64_t waiting = LAZ_CODED_AHEAD * threads < chunks ? LAZ_CODED_AHEAD * threads : chunks;
    return PARTS_FIXED_BYTES + (PARTS_THREAD_BYTES + ENCODER_BYTES) * threads + (3 * busy + waiting) * chunk_bytes;
}

uint64_t parts_shared_bytes(const parts_run *run) {
    return run->begin_bytes + 12 * run->cell_count + parts_notes_bytes(run);
}

uint64_t parts_least_bytes(const parts_run *run, uint64_t points) {
    parts_run one = *run;
    one.workers = 1;
    one.share_bytes = 0; /* as if it were roomy */
    const uint64_t part = parts_shared_bytes(run) + parts_memory_bytes(&one, points),
                   writing = parts_shared_bytes(run) + parts_writing_bytes(run);
    return part > writing ? part : writing;
}

uint64_t parts_part_bytes(const parts_run *run, uint32_t part) {
    const uint64_t points = run->ranges[part].points, copies = run->ranges[part].copies.points;
    if (!parts_looks_around(run)) return parts_memory_bytes(run, points);
    /* parts_memory_bytes reckons with as many copies as points. */
    return parts_memory_bytes(run, 0) + points * (run->record_bytes + PARTS_AVERAGED_BYTES) +
           copies * (run->record_bytes + PARTS_COPY_BYTES);
}

_Static_assert(TEAM_MAX == MOTE_PARTS_WORKERS_MAX, "as many workers as a team may have");

uint32_t parts_workers(const mote_context *ctx, const mote_parts_params *params) {
    if (params->workers == 0) return mote_team_default(ctx);
    return params->workers < TEAM_MAX ? (uint32_t)params->workers : TEAM_MAX;
}

uint64_t parts_room(const mote_context *ctx, const mote_parts_params *params) {
    if (params->memory_bytes > 0) return params->memory_bytes;
    if (ctx->params.memory_limit_bytes > 0) return ctx->params.memory_limit_bytes;
    return (uint64_t)sysconf(_SC_PHYS_PAGES) / 4 * (uint64_t)sysconf(_SC_PAGE_SIZE);
}

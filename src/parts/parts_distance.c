/* Sampling by distance, of all parts together, before they are built. Whether a level takes a point follows from points
   around it, mostly within a few cells, and a piece of the cloud knows of which of its points it is sure
   (lod_choose_listed); where it is not, it is chosen again with more around it. So fine levels choose in pieces; what
   they have taken is fewer points, among which coarser levels choose in larger pieces, until one piece has all.

     parts      │ records of 0 │ 1 │ 2    ──> list 0: the points that may be taken, with the levels of their leaves
     round 1    list 0, a piece with what is around it after the other: levels 9 … 4   ┌──────────┐
                  ──> levels of all its points;  list 1: those of levels up to 4       │  around  │
     round 2    list 1: levels 3 … 2  ──> levels; list 2                               │ ┌──────┐ │
     round 3    list 2, which memory holds: levels 1, 0  ──> levels                    │ │ piece│ │
     back       levels of list 2 ──> of list 1 ──> of list 0: a part's bytes           │ └──────┘ │
                                                                                       └──────────┘
   A piece is a cell of any level. A round ends at the coarsest level for which pieces that memory holds have, with what
   is around them, at most COPIES_FEW times the points of the list. All is read and written from front to end, but what
   is around pieces. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "parts/parts_distance.h"

#define COPIES_FEW  2u  /* points of pieces with what is around them, by those of the list */
#define COPIES_MOST 64u /* it takes that many times as long: beyond, memory does not suffice */
typedef struct distance_piece {
    listed_cell cell;
    uint32_t reach; /* cells around it, as wide as the distance that is kept */
} distance_piece;

typedef struct distance_pieces {
    distance_piece *list;
    uint64_t count, capacity;
    uint64_t points; /* with what is around them */
    bool is_held;    /* memory holds each of them */
} distance_pieces;

/* ---- list 0 */

mote_status parts_distance_begin(parts_run *run, const char *output) {
    if (!parts_is_by_distance(run)) return MOTE_OK;
    struct parts_distance *d = run->distance = mote_alloc_zero(run->ctx, sizeof *d, "sampling by distance");
    if (d == NULL) return MOTE_ERROR_MEMORY;
    d->output = output;
    d->journal = -1;
    d->taken = UINT32_MAX;
    if (run->ctx->params.device == MOTE_DEVICE_CUDA) {
        mote_warn(run->ctx, "parts are sampled by distance on the cores, which build them as well");
    }
    d->counts = mote_alloc_zero(run->ctx, run->part_count * sizeof *d->counts, "parts");
    d->finest = mote_alloc_zero(run->ctx, run->part_count, "parts");
    d->listed = mote_alloc_zero(run->ctx, run->part_count, "parts");
    if (d->counts == NULL || d->finest == NULL || d->listed == NULL) return MOTE_ERROR_MEMORY;
    if (run->kept_folder != NULL) return distance_take_up(run);
    MOTE_TRY(parts_listed_open(run, output, "list0", &d->list));
    uint64_t points = 0;
    for (uint32_t p = 0; p < run->part_count; p++) points += run->ranges[p].points;
    mote_output_expect(run->ctx, &d->list.xyz, 12 * points);
    mote_output_expect(run->ctx, &d->list.level, points);
    return mote_context_status(run->ctx);
}

/* A worker's part, whose list goes where its records are. */
static mote_status write_list(parts_run *run, const lod_list *list, uint32_t part) {
    struct parts_distance *d = run->distance;
    const uint64_t at = run->ranges[part].at;
    d->counts[part] = list->count;
    d->finest[part] = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        if (list->level[i] > d->finest[part]) d->finest[part] = list->level[i];
    }
    mote_output_write_at(run->ctx, &d->list.xyz, list->xyz, 12 * list->count, 12 * at);
    mote_output_write_at(run->ctx, &d->list.level, list->level, list->count, at);
    MOTE_TRY(mote_context_status(run->ctx));
    d->listed[part] = run->fine ? DISTANCE_BY_FINE_CODES : DISTANCE_BY_CODES;
    return distance_note_listed(run, part);
}

static mote_status list_part(parts_run *run, void *user, uint32_t part, bool *lacks_fine) {
    mote_cloud *cloud = NULL;
    lod_list list = {.count = 0};
    (void)user;
    mote_stage(run->ctx, "read part");
    mote_status status = parts_load(run, &run->ranges[part], &cloud);
    if (status == MOTE_OK) {
        status = lod_list_part(run->ctx, cloud, &run->lod, &run->ranges[part].whole, &list, lacks_fine);
    }
    if (status == MOTE_OK && !*lacks_fine) status = write_list(run, &list, part);
    mote_free(run->ctx, list.xyz);
    mote_free(run->ctx, list.level);
    mote_cloud_destroy(cloud);
    return status;
}

/* Which parts are listed by codes, or by fine codes. */
static bool find_listed(const parts_run *run, bool fine, bool *done) {
    bool any = false;
    for (uint32_t p = 0; p < run->part_count; p++) {
        done[p] = run->distance->listed[p] == (fine ? DISTANCE_BY_FINE_CODES : DISTANCE_BY_CODES);
        any |= done[p];
    }
    return any;
}

/* Where some part needs fine codes, all are listed by them. done: [part_count] */
static mote_status list_rounds(parts_run *run, bool *done) {
    bool lacks_fine;
    const bool is_fine = find_listed(run, true, done);
    if (!is_fine) find_listed(run, false, done);
    parts_choose_by(run, is_fine);
    MOTE_TRY(parts_make_all(run, list_part, NULL, done, &lacks_fine));
    if (!lacks_fine) return MOTE_OK;
    parts_choose_by(run, true);
    return parts_make_all(run, list_part, NULL, NULL, &lacks_fine);
}

/* Makes one list of those of the parts. */
static mote_status join_lists(parts_run *run) {
    struct parts_distance *d = run->distance;
    parts_listed *list = &d->list;
    list->runs = mote_alloc(run->ctx, run->part_count * sizeof *list->runs, "parts");
    if (list->runs == NULL) return MOTE_ERROR_MEMORY;
    list->run_count = 0;
    list->count = 0;
    for (uint32_t p = 0; p < run->part_count; p++) {
        if (d->counts[p] == 0) continue;
        list->runs[list->run_count++] = (listed_run){list->count, run->ranges[p].at};
        list->count += d->counts[p];
    }
    return MOTE_OK;
}

/* Lists the points of all parts; their records stay. */
static mote_status list_parts(parts_run *run) {
    const bool gives_back = run->gives_back;
    bool *done = mote_alloc(run->ctx, run->part_count * sizeof *done, "parts");
    if (done == NULL) return MOTE_ERROR_MEMORY;
    run->gives_back = false;
    const mote_status status = list_rounds(run, done);
    run->gives_back = gives_back;
    run->report->rounds--; /* the last one builds parts as well */
    mote_free(run->ctx, done);
    return status == MOTE_OK && run->distance->round_count == 0 ? join_lists(run) : status;
}

/* ---- the pieces of a round */

/* A cell, and what lies around it: so many cells of the distance that the coarsest level of a round keeps. */
static lod_box box_around(const parts_run *run, const distance_piece *piece, uint32_t first) {
    const uint32_t cell_level = lod_distance_cell_level(&run->ranges[0].whole, &run->lod, first);
    lod_box box = parts_listed_box(&piece->cell);
    const int64_t reach = (int64_t)piece->reach << (ORDER_FINE_BITS - cell_level);
    for (int k = 0; k < 3; k++) {
        box.low[k] -= reach;
        box.high[k] += reach;
    }
    return box;
}

typedef struct piece_search {
    const parts_run *run;
    uint32_t first;  /* level */
    uint64_t most;   /* points that memory holds */
    uint64_t enough; /* pieces of more points are not wanted */
    listed_ranges ranges;
    distance_pieces *pieces;
} piece_search;

static mote_status add_piece(piece_search *search, const distance_piece *piece) {
    distance_pieces *pieces = search->pieces;
    if (!mote_reserve(search->run->ctx, (void **)&pieces->list, &pieces->capacity, pieces->count + 1,
                      sizeof *pieces->list, "pieces of a list")) {
        return MOTE_ERROR_MEMORY;
    }
    pieces->list[pieces->count++] = *piece;
    pieces->points += search->ranges.points;
    return MOTE_OK;
}

/* Cuts a cell until memory holds its pieces. */
static mote_status cut_cell(piece_search *search, const distance_piece *piece) {
    const parts_listed *list = &search->run->distance->list;
    const listed_range own = parts_listed_range(list, &piece->cell);
    if (own.first >= own.end || !search->pieces->is_held) return MOTE_OK;
    const lod_box box = box_around(search->run, piece, search->first);
    MOTE_TRY(parts_listed_find(list, &box, search->most, &search->ranges));
    if (search->ranges.points <= search->most) {
        MOTE_TRY(add_piece(search, piece));
        search->pieces->is_held = search->pieces->points <= search->enough;
        return MOTE_OK;
    }
    search->pieces->is_held = piece->cell.level < list->finest;
    for (uint64_t octant = 0; octant < 8 && search->pieces->is_held; octant++) {
        MOTE_TRY(cut_cell(search, &(distance_piece){parts_listed_child(&piece->cell, octant), piece->reach}));
    }
    return MOTE_OK;
}

/* Pieces of a piece, for levels from first on; is_held: false where memory does not hold one, or they are more than
   enough. */
static mote_status cut_piece(const parts_run *run, const distance_piece *piece, uint32_t first, uint64_t most,
                             uint64_t enough, distance_pieces *pieces) {
    piece_search search = {.run = run, .first = first, .most = most, .enough = enough, .pieces = pieces};
    memset(pieces, 0, sizeof *pieces);
    pieces->is_held = true;
    const mote_status status = cut_cell(&search, piece);
    mote_free(run->ctx, search.ranges.list);
    return status;
}

/* The coarsest level with few copies; else the one with the fewest. */
static mote_status choose_level(const parts_run *run, uint32_t end, uint32_t reach, uint64_t most, uint32_t *chosen,
                                distance_pieces *best) {
    const uint64_t count = run->distance->list.count;
    uint64_t enough = COPIES_MOST * count;
    memset(best, 0, sizeof *best);
    for (uint32_t first = 0; first < end; first++) {
        distance_pieces pieces;
        const mote_status status = cut_piece(run, &(distance_piece){{0, 0, 0}, reach}, first, most, enough, &pieces);
        if (status != MOTE_OK || !pieces.is_held) {
            mote_free(run->ctx, pieces.list);
            MOTE_TRY(status);
            continue;
        }
        mote_free(run->ctx, best->list);
        *best = pieces;
        *chosen = first;
        if (pieces.points <= COPIES_FEW * count) break;
        enough = pieces.points - 1;
    }
    return MOTE_OK;
}

/* The same, with less around pieces where memory holds no more. */
static mote_status choose_reach(const parts_run *run, uint32_t end, uint64_t most, uint32_t *chosen,
                                distance_pieces *best) {
    MOTE_TRY(choose_level(run, end, DISTANCE_REACH_FIRST, most, chosen, best));
    if (!best->is_held) MOTE_TRY(choose_level(run, end, DISTANCE_REACH_LEAST, most, chosen, best));
    if (best->is_held) return MOTE_OK;
    return distance_fail_room(run, most);
}

/* ---- a round */

typedef struct round_work {
    parts_run *run;
    distance_round *round;
    uint32_t end;  /* levels from there on have chosen */
    uint64_t most; /* points that memory holds */
    parts_listed *next;
    distance_progress progress;
    listed_ranges ranges;
} round_work;

/* Writes the levels of points [first, end), and what of them goes on; list is moved. */
static mote_status keep_piece(round_work *work, const lod_list *list, uint64_t first, uint64_t end) {
    mote_context *ctx = work->run->ctx;
    parts_listed *next = work->next;
    uint64_t kept = 0;
    mote_output_write_at(ctx, &work->round->levels, list->level + first, end - first, work->progress.done);
    work->progress.done += end - first;
    for (uint64_t i = first; i < end && work->round->first > 0; i++) {
        if (list->level[i] > work->round->first) continue;
        memmove(list->xyz + 3 * kept, list->xyz + 3 * i, 3 * sizeof *list->xyz);
        list->level[kept++] = list->level[i];
    }
    if (kept > 0) {
        mote_output_write_at(ctx, &next->xyz, list->xyz, 12 * kept, 12 * next->count);
        mote_output_write_at(ctx, &next->level, list->level, kept, next->count);
        next->count += kept;
    }
    return mote_context_status(ctx);
}

/* Lets levels choose; *any_unsure: of the piece itself, and nothing is kept. */
static mote_status choose_loaded(round_work *work, const distance_piece *piece, const lod_list *list,
                                 bool *any_unsure) {
    const parts_run *run = work->run;
    const parts_listed *files = &run->distance->list;
    if (list->xyz == NULL || list->level == NULL || list->unsure == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(parts_listed_read(files, &work->ranges, list->xyz, list->level));
    const uint64_t first = parts_listed_begin(files, list->xyz, list->count, &piece->cell);
    const uint64_t end = parts_listed_end(files, list->xyz, list->count, &piece->cell);
    if (first == end) return MOTE_OK; /* there are none between two marks */
    MOTE_TRY(lod_choose_listed(run->ctx, &run->ranges[0].whole, &run->lod, list, work->round->first, work->end));
    *any_unsure = memchr(list->unsure + first, 1, end - first) != NULL;
    return *any_unsure ? MOTE_OK : keep_piece(work, list, first, end);
}

/* Of points that memory holds. */
static mote_status choose_held(round_work *work, const distance_piece *piece, const lod_box *box, bool *any_unsure) {
    parts_run *run = work->run;
    lod_list list = {.count = work->ranges.points, .box = *box};
    list.xyz = mote_alloc(run->ctx, 12 * list.count, "points of a piece");
    list.level = mote_alloc(run->ctx, list.count, "points of a piece");
    list.unsure = mote_alloc_zero(run->ctx, list.count, "points of a piece");
    const mote_status status = choose_loaded(work, piece, &list, any_unsure);
    mote_free(run->ctx, list.xyz);
    mote_free(run->ctx, list.level);
    mote_free(run->ctx, list.unsure);
    return status;
}

static mote_status choose_piece(round_work *work, const distance_piece *piece);

/* A piece with more around it, cut where memory does not hold that. */
static mote_status choose_wider(round_work *work, const distance_piece *piece) {
    const distance_piece wider = {piece->cell, piece->reach + (piece->reach + 1) / 2};
    distance_pieces pieces;
    const mote_progress_span whole = mote_progress_hold(work->run->ctx); /* its time was reckoned as one piece's */
    mote_status status = cut_piece(work->run, &wider, work->round->first, work->most, UINT64_MAX, &pieces);
    if (status == MOTE_OK && !pieces.is_held) status = distance_fail_room(work->run, work->most);
    for (uint64_t i = 0; i < pieces.count && status == MOTE_OK; i++) status = choose_piece(work, &pieces.list[i]);
    mote_progress_leave(work->run->ctx, whole);
    mote_free(work->run->ctx, pieces.list);
    return status;
}

static mote_status choose_piece(round_work *work, const distance_piece *piece) {
    parts_run *run = work->run;
    const lod_box box = box_around(run, piece, work->round->first);
    bool any_unsure = false;
    MOTE_TRY(parts_listed_find(&run->distance->list, &box, UINT64_MAX, &work->ranges));
    MOTE_TRY(choose_held(work, piece, &box, &any_unsure));
    return any_unsure ? choose_wider(work, piece) : MOTE_OK;
}

static mote_status choose_pieces(round_work *work, const distance_pieces *pieces) {
    parts_run *run = work->run;
    struct parts_distance *d = run->distance;
    char name[64];
    snprintf(name, sizeof name, "levels%u", d->round_count - 1);
    MOTE_TRY(parts_listed_file(run, d->output, name, &work->round->levels));
    snprintf(name, sizeof name, "list%u", d->round_count);
    if (work->round->first > 0) MOTE_TRY(parts_listed_open(run, d->output, name, work->next));
    work->next->count = work->progress.kept;
    mote_stage(run->ctx, "sampling");
    const mote_progress_span whole = mote_progress_enter(run->ctx, 0, 1);
    const double share = 1 / fmax(1, (double)pieces->count);
    mote_status status = MOTE_OK;
    while (work->progress.pieces < pieces->count && status == MOTE_OK) {
        const double begin = share * (double)work->progress.pieces;
        mote_progress_next(run->ctx, whole, begin, begin + share);
        status = choose_piece(work, &pieces->list[work->progress.pieces++]);
        work->progress.kept = work->next->count;
        if (status == MOTE_OK) status = distance_note_piece(run, &work->progress);
    }
    mote_progress_leave(run->ctx, whole);
    MOTE_TRY(status);
    return work->progress.done == d->list.count ? MOTE_OK : parts_changed(run);
}

/* Goes on with the pieces where an earlier run has cut the list as this one does. */
static mote_status begin_round(round_work *work, const distance_pieces *pieces) {
    const parts_run *run = work->run;
    struct parts_distance *d = run->distance;
    const distance_cut cut = {run->room_bytes, work->most, pieces->count, work->round->first};
    const bool is_same = cut.room_bytes == d->cut.room_bytes && cut.most == d->cut.most &&
                         cut.pieces == d->cut.pieces && cut.first == d->cut.first;
    if (is_same) work->progress = d->progress;
    memset(&d->cut, 0, sizeof d->cut);
    return is_same ? MOTE_OK : distance_note_begun(run, &cut);
}

static uint64_t levels_bytes(const struct parts_distance *d) {
    uint64_t bytes = 0;
    for (uint32_t r = 0; r < d->round_count; r++) bytes += d->rounds[r].count;
    return bytes;
}

/* Makes d->list the next one, of one run. */
static mote_status go_on(parts_run *run, parts_listed *next) {
    struct parts_distance *d = run->distance;
    const uint64_t bytes = LISTED_POINT_BYTES * (d->list.count + next->count) + levels_bytes(d);
    if (bytes > run->listed_bytes) run->listed_bytes = bytes;
    MOTE_TRY(distance_note_ended(run, next->count));
    parts_listed_close(&d->list);
    distance_remove(run, "list", d->round_count - 1);
    d->list = *next;
    memset(next, 0, sizeof *next);
    if (d->list.count == 0) return MOTE_OK;
    d->list.runs = mote_alloc(d->list.ctx, sizeof *d->list.runs, "parts");
    if (d->list.runs == NULL) return MOTE_ERROR_MEMORY;
    d->list.runs[0] = (listed_run){0, 0};
    d->list.run_count = 1;
    return MOTE_OK;
}

/* end: levels from there on have chosen, and then those from *first on */
static mote_status run_round(parts_run *run, uint32_t end, uint32_t *first) {
    struct parts_distance *d = run->distance;
    const uint64_t marks_bytes = distance_marks_bytes(run), most = distance_most_points(run);
    distance_pieces pieces = {.list = NULL};
    parts_listed next;
    memset(&next, 0, sizeof next);
    const mote_progress_span whole = mote_progress_hold(run->ctx);
    mote_status status = parts_listed_mark(&d->list, run->fine, marks_bytes);
    mote_progress_leave(run->ctx, whole);
    if (status == MOTE_OK) status = choose_reach(run, end, most, first, &pieces);
    if (status == MOTE_OK) {
        distance_round *round = &d->rounds[d->round_count++];
        round_work work = {.run = run, .round = round, .end = end, .most = most, .next = &next};
        round->first = *first;
        round->count = d->list.count;
        status = begin_round(&work, &pieces);
        if (status == MOTE_OK) status = choose_pieces(&work, &pieces);
        mote_free(run->ctx, work.ranges.list);
    }
    if (status == MOTE_OK) status = go_on(run, &next);
    parts_listed_close(&next);
    mote_free(run->ctx, pieces.list);
    return status;
}

/* ---- and back */

#define BACK_BYTES (1u << 20) /* at once */

typedef struct levels_reader {
    mote_context *ctx;
    const distance_round *round;
    uint8_t *bytes; /* [BACK_BYTES] */
    uint64_t next, held, at;
} levels_reader;

static mote_status read_level(levels_reader *reader, uint8_t *level) {
    if (reader->at == reader->held) {
        const uint64_t rest = reader->round->count - reader->next;
        reader->held = rest < BACK_BYTES ? rest : BACK_BYTES;
        reader->at = 0;
        MOTE_TRY(parts_read_at(reader->ctx, reader->round->levels.file, reader->round->levels.path, reader->next,
                               reader->held, reader->bytes));
        reader->next += reader->held;
    }
    *level = reader->bytes[reader->at++];
    return MOTE_OK;
}

/* Points that went on get the levels that later rounds gave them. */
static mote_status take_back(mote_context *ctx, distance_round *round, levels_reader *later, uint8_t *bytes) {
    for (uint64_t first = 0; first < round->count; first += BACK_BYTES) {
        const uint64_t rest = round->count - first, count = rest < BACK_BYTES ? rest : BACK_BYTES;
        MOTE_TRY(parts_read_at(ctx, round->levels.file, round->levels.path, first, count, bytes));
        for (uint64_t i = 0; i < count; i++) {
            if (bytes[i] <= round->first) MOTE_TRY(read_level(later, &bytes[i]));
        }
        mote_output_write_at(ctx, &round->levels, bytes, count, first);
        MOTE_TRY(mote_context_status(ctx));
        MOTE_TRY(mote_progress(ctx, 0, "sampling"));
    }
    return MOTE_OK;
}

static mote_status take_all_back(parts_run *run) {
    struct parts_distance *d = run->distance;
    mote_context *ctx = run->ctx;
    uint8_t *bytes = d->round_count > 1 ? mote_alloc(ctx, 2 * BACK_BYTES, "levels") : NULL;
    if (bytes == NULL) return d->round_count > 1 ? MOTE_ERROR_MEMORY : MOTE_OK;
    mote_status status = MOTE_OK;
    const mote_progress_span whole = mote_progress_hold(ctx);
    const uint32_t behind = d->taken < d->round_count ? d->taken : d->round_count - 1;
    for (uint32_t r = behind; r-- > 0 && status == MOTE_OK;) {
        levels_reader later = {ctx, &d->rounds[r + 1], bytes + BACK_BYTES, 0, 0, 0};
        status = take_back(ctx, &d->rounds[r], &later, bytes);
        if (status != MOTE_OK) break;
        status = distance_note_taken(run, r);
        mote_output_close(ctx, &d->rounds[r + 1].levels, MOTE_CANCELLED); /* it is not needed any more */
        distance_remove(run, "levels", r + 1);
    }
    mote_progress_leave(ctx, whole);
    mote_free(ctx, bytes);
    return status;
}

/* ---- all */

/* A round has far fewer points than the one before: it takes half of what is left of the sampling. */
static mote_status choose_rounds(parts_run *run) {
    struct parts_distance *d = run->distance;
    const mote_progress_span whole = mote_progress_enter(run->ctx, 0, 1);
    mote_status status = MOTE_OK;
    uint32_t end = 0;
    for (uint32_t p = 0; p < run->part_count; p++) end = d->finest[p] > end ? d->finest[p] : end;
    if (d->round_count > 0) end = d->rounds[d->round_count - 1].first; /* rounds of an earlier run */
    for (int r = 0; end > 0 && d->list.count > 0 && status == MOTE_OK; r++) {
        mote_progress_next(run->ctx, whole, 1 - ldexp(1, -r), 1 - ldexp(0.5, -r));
        status = run_round(run, end, &end);
    }
    mote_progress_leave(run->ctx, whole);
    return status;
}

mote_status parts_distance_choose(parts_run *run) {
    struct parts_distance *d = run->distance;
    if (d == NULL) return MOTE_OK;
    MOTE_TRY(list_parts(run));
    run->listed_bytes = LISTED_POINT_BYTES * d->list.count;
    const mote_progress_span whole = parts_enter_pass(run);
    const mote_status status = choose_rounds(run);
    mote_progress_leave(run->ctx, whole);
    MOTE_TRY(status);
    parts_listed_close(&d->list);
    return take_all_back(run);
}

mote_status parts_distance_load(const parts_run *run, uint32_t part, uint8_t **levels, uint64_t *count) {
    const struct parts_distance *d = run->distance;
    uint64_t before = 0;
    *levels = NULL;
    *count = 0;
    if (d == NULL) return MOTE_OK;
    for (uint32_t p = 0; p < part; p++) before += d->counts[p];
    *levels = mote_alloc(run->ctx, d->counts[part] + 1, "levels");
    if (*levels == NULL) return MOTE_ERROR_MEMORY;
    *count = d->counts[part];
    if (*count == 0) return MOTE_OK;
    return parts_read_at(run->ctx, d->rounds[0].levels.file, d->rounds[0].levels.path, before, *count, *levels);
}

void parts_distance_end(parts_run *run) {
    struct parts_distance *d = run->distance;
    if (d == NULL) return;
    parts_listed_close(&d->list);
    for (uint32_t r = 0; r < ROUNDS_MAX; r++) {
        mote_output_close(run->ctx, &d->rounds[r].levels, MOTE_CANCELLED); /* it is not kept */
    }
    if (d->journal >= 0) close(d->journal);
    mote_free(run->ctx, d->counts);
    mote_free(run->ctx, d->finest);
    mote_free(run->ctx, d->listed);
    mote_free(run->ctx, d);
    run->distance = NULL;
}

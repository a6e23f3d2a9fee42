/* Poisson-disk sampling: of the candidates of a level a largest set in which no two are closer than the level's
   spacing, across node borders as well. Because each level chooses among what the next finer one chose, the points
   of all levels down to any one keep that level's distance.

   Candidates are tried in this order: blocks of up to 8³ cells (a cell is as wide as the spacing) in eight phases by
   the parity of their coordinates, within a block by the upper 32 bits of the random rank of the point, ties in sorted
   order. Blocks of one phase are a block apart and cannot touch each other, so threads share a phase and the result is
   that of doing it one after the other.

   The candidates of a level are the points whose byte is that of the next finer one, which chose them or whose leaves
   have them: nodes are not asked, so that a piece of a cloud is sampled likewise (lod_poisson_levels.c). There a
   candidate may be unsure: points that are not listed might come first and be too close, or points are that are unsure
   themselves. It is left where a sure one is too close; else it counts as taken, and as unsure. */
#include "lod/lod_cpu.h"
#include "lod/sample/lod_poisson_math.h"
#include "lod/tree/lod_block_hash.h"

#define POINTS_AT_FIRST 1024u      /* room in a workspace, which grows by doubling */
#define SHARE           (1u << 16) /* of points or candidates, which a thread looks through at once */

/* What becomes of a candidate. */
typedef enum verdict { LEFT, TAKEN, UNSURE } verdict;

typedef struct block {
    uint64_t code;  /* in the window of the level's cells */
    uint32_t above; /* of that window */
    uint32_t accepted;
    uint64_t first; /* of its candidates; the next block's first ends them */
} block;

/* An accepted point, with its cell within its block, so that neighbours need not look anything up. */
typedef struct disk {
    uint32_t xyz[3];
    uint8_t cell[3]; /* x, y, z */
    bool unsure;
} disk;

typedef struct poisson {
    mote_lod *lod;
    const lod_list *list;
    uint32_t level;
    int64_t low[3], high[3]; /* cells all of whose points are listed, both ends within */
    poisson_rule rule;
    lod_window window;
    uint64_t candidate_count, block_count;
    uint32_t *candidates; /* sorted positions, ascending */
    disk *accepted;       /* per block, from its first on, in the order of acceptance; see keys_of */
    uint8_t *taken;       /* by candidate: a verdict */
    block *blocks;
    block_hash_table block_hash;
} poisson;

/* What a thread needs to try the candidates of one block. */
typedef struct workspace {
    uint32_t head[POISSON_HALO_CELLS]; /* first accepted point of a cell, POISSON_NONE if none */
    uint32_t *points;                  /* [4 · capacity] x, y, z, next */
    uint8_t *unsure;                   /* [unsure_capacity] of the points; NULL: all are sure */
    uint64_t point_count, point_capacity, unsure_capacity;
} workspace;

/* ---- the candidates of a level, and their blocks */

/* Lists what is found in [first, last) from at on; unless it fills, only counts. Returns how much. */
typedef uint64_t (*finder)(poisson *p, uint64_t first, uint64_t last, bool fill, uint64_t at);

static uint64_t find_candidates(poisson *p, uint64_t first, uint64_t last, bool fill, uint64_t at) {
    const uint8_t *level = p->lod->level, wanted = (uint8_t)(p->level + 1);
    uint64_t found = 0;
    for (uint64_t i = first; i < last; i++) {
        if (level[i] != wanted) continue;
        if (fill) p->candidates[at + found] = (uint32_t)i;
        found++;
    }
    return found;
}

static block block_of(const poisson *p, uint64_t candidate) {
    const uint32_t position = p->candidates[candidate];
    return (block){poisson_block(&p->rule, p->window.codes[position]), lod_window_above(&p->window, position), 0,
                   candidate};
}

static uint64_t find_blocks(poisson *p, uint64_t first, uint64_t last, bool fill, uint64_t at) {
    block before = first > 0 ? block_of(p, first - 1) : (block){UINT64_MAX, 0, 0, 0};
    uint64_t found = 0;
    for (uint64_t c = first; c < last; c++) {
        const block own = block_of(p, c);
        if (own.code == before.code && own.above == before.above) continue;
        if (fill) p->blocks[at + found] = own;
        before = own;
        found++;
    }
    return found;
}

/* firsts  [shares + 1] scratch; unless it fills, out: what the shares before have found, and at the end all */
static mote_status find_all(poisson *p, finder find, uint64_t count, bool fill, uint64_t *firsts) {
    const uint64_t shares = (count + SHARE - 1) / SHARE;
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->lod->ctx->threads)
    for (uint64_t s = 0; s < shares; s++) {
        const uint64_t first = s * SHARE, last = count - first < SHARE ? count : first + SHARE;
        if (mote_stop(p->lod->ctx)) continue;
        const uint64_t found = find(p, first, last, fill, fill ? firsts[s] : 0);
        if (!fill) firsts[s] = found;
    }
    for (uint64_t s = 0, sum = 0; !fill && s <= shares; s++) {
        const uint64_t found = s < shares ? firsts[s] : 0;
        firsts[s] = sum;
        sum += found;
    }
    return mote_stopped(p->lod->ctx);
}

static mote_status list_candidates(poisson *p, uint64_t *firsts) {
    mote_context *ctx = p->lod->ctx;
    const uint64_t count = p->lod->count;
    MOTE_TRY(find_all(p, find_candidates, count, false, firsts));
    p->candidate_count = firsts[(count + SHARE - 1) / SHARE];
    p->candidates = mote_alloc(ctx, p->candidate_count * sizeof *p->candidates, "poisson candidates");
    p->accepted = mote_alloc(ctx, p->candidate_count * sizeof *p->accepted, "poisson candidates");
    p->taken = mote_alloc_zero(ctx, p->candidate_count, "poisson candidates");
    if (p->candidates == NULL || p->accepted == NULL || p->taken == NULL) return MOTE_ERROR_MEMORY;
    return find_all(p, find_candidates, count, true, firsts);
}

static mote_status list_blocks(poisson *p, uint64_t *firsts) {
    mote_context *ctx = p->lod->ctx;
    const uint64_t count = p->candidate_count;
    MOTE_TRY(find_all(p, find_blocks, count, false, firsts));
    p->block_count = firsts[(count + SHARE - 1) / SHARE];
    p->blocks = mote_alloc(ctx, (p->block_count + 1) * sizeof *p->blocks, "poisson blocks");
    if (p->blocks == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(find_all(p, find_blocks, count, true, firsts));
    p->blocks[p->block_count] = (block){UINT64_MAX, 0, 0, count};
    return block_hash_build(ctx, p->rule.block_level - p->rule.first, p->rule.first, &p->blocks[0].code,
                            sizeof p->blocks[0], p->block_count, &p->block_hash);
}

static mote_status list_all(poisson *p) {
    uint64_t *firsts = mote_alloc(p->lod->ctx, ((p->lod->count + SHARE - 1) / SHARE + 1) * sizeof *firsts, "poisson");
    if (firsts == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = list_candidates(p, firsts);
    if (status == MOTE_OK) status = list_blocks(p, firsts);
    mote_free(p->lod->ctx, firsts);
    return status;
}

/* ---- trials */

static mote_status enter_point(const poisson *p, workspace *w, const uint32_t xyz[3], uint32_t place, bool unsure) {
    if (w->point_count == w->point_capacity &&
        !mote_reserve(p->lod->ctx, (void **)&w->points, &w->point_capacity, w->point_count + POINTS_AT_FIRST,
                      4 * sizeof *w->points, "poisson workspace")) {
        return MOTE_ERROR_MEMORY;
    }
    if (p->list->unsure != NULL) {
        if (!mote_reserve(p->lod->ctx, (void **)&w->unsure, &w->unsure_capacity, w->point_count + 1, 1,
                          "poisson workspace")) {
            return MOTE_ERROR_MEMORY;
        }
        w->unsure[w->point_count] = unsure;
    }
    uint32_t *point = w->points + 4 * w->point_count;
    memcpy(point, xyz, 3 * sizeof *point);
    point[3] = w->head[place];
    w->head[place] = (uint32_t)w->point_count++;
    return MOTE_OK;
}

/* Enters those points of a block, dx dy dz blocks away, that lie in the halo. */
static mote_status enter_block(const poisson *p, workspace *w, const block *other, int dx, int dy, int dz) {
    const int side = 1 << p->rule.block_bits;
    const int shift[3] = {dx * side + 1, dy * side + 1, dz * side + 1};
    for (uint32_t j = 0; j < other->accepted; j++) {
        const disk *d = &p->accepted[other->first + j];
        const unsigned x = (unsigned)(d->cell[0] + shift[0]), y = (unsigned)(d->cell[1] + shift[1]);
        const unsigned z = (unsigned)(d->cell[2] + shift[2]);
        const unsigned max = (unsigned)side + 1;
        if (x > max || y > max || z > max) continue;
        MOTE_TRY(enter_point(p, w, d->xyz, poisson_halo_place(x, y, z), d->unsure));
    }
    return MOTE_OK;
}

/* Enters what neighbouring blocks accepted near this one. */
static mote_status enter_neighbors(const poisson *p, workspace *w, uint64_t index) {
    uint32_t around[27];
    const block_code code = {p->blocks[index].code, p->blocks[index].above};
    block_hash_around(&p->block_hash, &code, around);
    memset(w->head, 0xFF, sizeof w->head);
    w->point_count = 0;
    for (int i = 0; i < 27; i++) {
        if (around[i] == BLOCK_NONE) continue;
        MOTE_TRY(enter_block(p, w, &p->blocks[around[i]], i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1));
    }
    return MOTE_OK;
}

/* Sorts by the upper 32 bits, stably: four counting passes, or insertion for a few. */
static void sort_keys(uint64_t *keys, uint64_t *other, uint64_t count) {
    if (count <= 40) {
        for (uint64_t i = 1; i < count; i++) {
            const uint64_t key = keys[i];
            uint64_t j = i;
            for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];
            keys[j] = key;
        }
        return;
    }
    for (uint32_t shift = 32; shift < 64; shift += 8) {
        uint64_t starts[256] = {0}, sum = 0;
        for (uint64_t i = 0; i < count; i++) starts[keys[i] >> shift & 255]++;
        for (int d = 0; d < 256; d++) {
            const uint64_t have = starts[d];
            starts[d] = sum;
            sum += have;
        }
        for (uint64_t i = 0; i < count; i++) other[starts[keys[i] >> shift & 255]++] = keys[i];
        uint64_t *swap = keys;
        keys = other;
        other = swap;
    }
}

/* The keys of a block's count candidates, rank << 32 | number in the block, in the order of trial. They stand where its
   accepted points go, and the i-th is read before the i-th of these can be written:
     accepted   0       1       2       3           16 bytes each
     keys       ............... 0   1   2   3       8 bytes each, behind as many for sorting */
static uint64_t *keys_of(const poisson *p, uint64_t first, uint64_t count) {
    uint64_t *const scratch = (uint64_t *)(void *)(p->accepted + first), *const keys = scratch + count;
    const uint64_t *const rank_codes = lod_rank_codes(p->lod);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t rank = poisson_rank(p->lod->params.seed, rank_codes[p->candidates[first + i]]);
        keys[i] = rank << 32 | i;
    }
    sort_keys(keys, scratch, count);
    return keys;
}
_Static_assert(sizeof(disk) == 2 * sizeof(uint64_t), "keys_of");

/* Steps to the 27 cells around a cell, itself first: most candidates fail there. */
static void neighbor_steps(int32_t steps[27]) {
    for (int i = 0; i < 27; i++) steps[i] = ((i / 9 - 1) * POISSON_HALO + (i / 3 % 3 - 1)) * POISSON_HALO + (i % 3 - 1);
    steps[13] = steps[0];
    steps[0] = 0;
}

/* Whether a candidate keeps the distance; what is not sure to be there, makes that unsure. */
static verdict try_point(const poisson *p, const workspace *w, const uint32_t *xyz, uint32_t place,
                         const int32_t steps[27]) {
    verdict found = TAKEN;
    for (int i = 0; i < 27; i++) {
        uint32_t at = w->head[(int32_t)place + steps[i]];
        while (at != POISSON_NONE) {
            const uint32_t *other = w->points + 4 * (uint64_t)at;
            if (poisson_too_close(&p->rule, xyz, other)) {
                if (p->list->unsure == NULL || !w->unsure[at]) return LEFT;
                found = UNSURE;
            }
            at = other[3];
        }
    }
    return found;
}

/* The first cell of a block, among all of the level. */
static void block_origin(const poisson *p, const block *own, int64_t origin[3]) {
    const uint32_t below = p->rule.block_level - p->rule.first;
    for (int k = 0; k < 3; k++) {
        const int64_t above = mote_morton_compact((uint64_t)own->above >> (2 - k));
        origin[k] = (above << below | mote_morton_compact(own->code >> (2 - k))) << p->rule.block_bits;
    }
}

/* Whether a point that is not listed may lie near a cell and be tried before one in it: in its block, or in one beside
   it of an earlier phase. */
static bool is_near_unlisted(const poisson *p, const block *own, const int64_t origin[3], const uint32_t cell[3]) {
    const uint32_t phase = own->code & 7, side = 1u << p->rule.block_bits;
    bool near_end = false;
    for (int k = 0; k < 3; k++) { near_end |= origin[k] + cell[k] <= p->low[k] || origin[k] + cell[k] >= p->high[k]; }
    for (int i = 0; i < 27 && near_end; i++) {
        const int d[3] = {i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1};
        uint32_t others = phase;
        bool unlisted = false;
        for (int k = 0; k < 3; k++) {
            const int64_t at = origin[k] + cell[k] + d[k];
            unlisted |= at < p->low[k] || at > p->high[k];
            if ((uint32_t)((int)cell[k] + d[k]) >= side) others ^= 4u >> k;
        }
        if (unlisted && others <= phase) return true;
    }
    return false;
}

static mote_status try_block(poisson *p, workspace *w, uint64_t index, const int32_t steps[27]) {
    block *own = &p->blocks[index];
    const uint64_t count = p->blocks[index + 1].first - own->first;
    MOTE_TRY(enter_neighbors(p, w, index));
    const uint64_t *const keys = keys_of(p, own->first, count);
    const uint8_t *const unsure = p->list->unsure;
    int64_t origin[3];
    block_origin(p, own, origin);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t candidate = own->first + (uint32_t)keys[i];
        const uint32_t position = p->candidates[candidate];
        const uint32_t *xyz = p->list->xyz + 3 * (uint64_t)position;
        uint32_t cell[3];
        poisson_cell(&p->rule, p->window.codes[position], cell);
        const uint32_t place = poisson_halo_place(cell[0] + 1, cell[1] + 1, cell[2] + 1);
        verdict found = try_point(p, w, xyz, place, steps);
        if (found == LEFT) continue;
        if (unsure != NULL && (unsure[position] || is_near_unlisted(p, own, origin, cell))) found = UNSURE;
        MOTE_TRY(enter_point(p, w, xyz, place, found == UNSURE));
        p->accepted[own->first + own->accepted++] =
            (disk){{xyz[0], xyz[1], xyz[2]}, {(uint8_t)cell[0], (uint8_t)cell[1], (uint8_t)cell[2]}, found == UNSURE};
        p->taken[candidate] = (uint8_t)found;
    }
    return MOTE_OK;
}

static mote_status try_phases(poisson *p) {
    mote_context *ctx = p->lod->ctx;
    int32_t steps[27];
    neighbor_steps(steps);
    workspace *workspaces = mote_alloc_zero(ctx, (uint64_t)ctx->threads * sizeof *workspaces, "poisson workspace");
    if (workspaces == NULL) return MOTE_ERROR_MEMORY;
    int failed = 0;
    mote_status status = MOTE_OK;
    for (uint64_t phase = 0; phase < 8 && status == MOTE_OK; phase++) {
#pragma omp parallel num_threads(ctx->threads)
        {
            workspace *w = &workspaces[mote_thread_number()];
#pragma omp for schedule(dynamic, 64)
            for (uint64_t b = 0; b < p->block_count; b++) {
                if ((p->blocks[b].code & 7) != phase || mote_stop(ctx)) continue;
                if (try_block(p, w, b, steps) != MOTE_OK) __atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
            }
        }
        status = mote_stopped(ctx);
        if (failed) status = MOTE_ERROR_MEMORY;
        if (status == MOTE_OK) status = mote_progress(ctx, (double)(phase + 1) / 8, "sampling");
    }
    for (int t = 0; t < ctx->threads; t++) {
        mote_free(ctx, workspaces[t].points);
        mote_free(ctx, workspaces[t].unsure);
    }
    mote_free(ctx, workspaces);
    return status;
}

static mote_status run(poisson *p) {
    MOTE_TRY(list_all(p));
    MOTE_TRY(try_phases(p));
#pragma omp parallel for schedule(static) num_threads(p->lod->ctx->threads)
    for (uint64_t c = 0; c < p->candidate_count; c++) {
        if (p->taken[c] == LEFT) continue;
        p->lod->level[p->candidates[c]] = (uint8_t)p->level;
        if (p->taken[c] == UNSURE) p->list->unsure[p->candidates[c]] = 1;
    }
    return MOTE_OK;
}

/* What lies beyond the cube is known: nothing. */
static void find_listed_cells(poisson *p) {
    const lod_box *box = &p->list->box;
    const uint32_t below = ORDER_FINE_BITS - p->rule.cell_level;
    for (int k = 0; k < 3; k++) {
        const int64_t low = box->low[k], end = box->high[k] + 1;
        p->low[k] = low <= 0 ? INT64_MIN : (low + (1ll << below) - 1) >> below;
        p->high[k] = end >= 1ll << ORDER_FINE_BITS ? INT64_MAX : (end >> below) - 1;
    }
}

mote_status lod_sample_poisson(mote_lod *lod, const lod_list *list, uint32_t level) {
    poisson p;
    memset(&p, 0, sizeof p);
    p.lod = lod;
    p.list = list;
    p.level = level;
    p.rule = lod_poisson_rule(lod, level);
    p.window = lod_window_at(lod, p.rule.cell_level);
    if (list->unsure != NULL) find_listed_cells(&p);
    const mote_status status = run(&p);
    void *const owned[] = {p.candidates, p.accepted, p.taken, p.blocks};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) mote_free(lod->ctx, owned[i]);
    block_hash_free(lod->ctx, &p.block_hash);
    return status;
}

/* The folder that an update begins with. */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */
#include <fcntl.h>
#include <mote_have.h>
#include <omp.h>

#include "lod/lod_math.h"
#include "lod/lod_octree.h"
#include "parts/parts_old.h"

#if MOTE_HAVE_JANSSON

#define BATCH_POINTS (1u << 20) /* of its nodes that are decoded at once */
#define PIECE_POINTS 65536u     /* that become records of the union at once */

/* ---- its records */

static uint64_t code_of(const parts_old *old, const uint8_t *record, const mote_cell_divisor by[3]) {
    uint32_t cell[3];
    record += old->layout.attributes[old->layout.position].at;
    for (int k = 0; k < 3; k++) {
        uint32_t step;
        memcpy(&step, record + 4 * k, sizeof step);
        cell[k] = mote_cell_of(step - old->writing.base[k], by[k]);
    }
    return mote_morton_encode(cell[0], cell[1], cell[2]);
}

/* The first record of a node's [low, high) whose code is not below. */
static uint64_t find_record(const parts_old *old, const mote_lattice *lattice, uint32_t n, uint64_t low, uint64_t high,
                            uint64_t code) {
    const uint8_t *records = old->files->octree.data + old->stored[n].offset;
    mote_cell_divisor by[3];
    for (int k = 0; k < 3; k++) by[k] = mote_cell_divisor_make(lattice->side[k]);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (code_of(old, records + middle * old->layout.stride_bytes, by) < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- its nodes */

/* The first code of a node's cell. */
static uint64_t first_code(const mote_lod_node *node) {
    return node->level < MOTE_ORDER_BITS ? node->prefix << 3 * (MOTE_ORDER_BITS - node->level) : node->prefix;
}
static uint64_t end_code(const mote_lod_node *node) {
    return node->level < MOTE_ORDER_BITS ? (node->prefix + 1) << 3 * (MOTE_ORDER_BITS - node->level) : node->prefix + 1;
}

/* Prefixes from the root on. False: these are not nodes as the writer puts them. */
static bool link_nodes(parts_old *old, const mote_lod_params *lod) {
    uint64_t at = 0;
    for (uint32_t n = 0; n < old->node_count; n++) {
        potree_node *from = &old->stored[n];
        mote_lod_node *to = &old->nodes[n];
        if (from->points > 0 && from->offset != at) return false;
        from->offset = at; /* those without points name none */
        at += from->size_bytes;
        to->level = (uint8_t)from->level;
        to->child_mask = from->child_mask;
        to->point_count = from->points;
        to->first_child = from->first_child;
        /* Of a chain of points in one place, which what follows does not know. */
        const uint32_t children = (uint32_t)__builtin_popcount(from->child_mask);
        if (from->level > MOTE_ORDER_BITS || (children == 1 && from->points == lod->max_node_points)) return false;
        uint32_t child = from->first_child;
        for (uint32_t octant = 0; octant < 8; octant++) {
            if ((from->child_mask >> octant & 1) == 0) continue;
            old->nodes[child++].prefix = mote_lod_child_prefix(to->prefix, octant);
        }
    }
    return at == old->files->octree.size_bytes;
}

/* Adds the records [begin, end) of a node to the leaves whose cells they are in, from one of the nodes below on. */
static void add_to_leaves(parts_old *old, const mote_lattice *lattice, uint32_t n, uint64_t begin, uint64_t end,
                          uint32_t at) {
    const mote_lod_node *node = &old->nodes[at];
    const uint32_t children = (uint32_t)__builtin_popcount(node->child_mask);
    if (children == 0) old->nodes[at].total += end - begin;
    for (uint32_t c = node->first_child; c < node->first_child + children && begin < end; c++) {
        const uint64_t next = find_record(old, lattice, n, begin, end, end_code(&old->nodes[c]));
        if (next > begin) add_to_leaves(old, lattice, n, begin, next, c); /* as deep as the tree */
        begin = next;
    }
}

/* Points of all cells, also those that coarser nodes hold. */
static void find_totals(parts_old *old, const mote_lattice *lattice, const mote_lod_params *lod) {
    for (uint32_t n = 0; n < old->node_count; n++) {
        const bool is_leaf = old->nodes[n].child_mask == 0;
        if (is_leaf || lod->scheme == MOTE_LOD_ADDITIVE) add_to_leaves(old, lattice, n, 0, old->stored[n].points, n);
    }
    for (uint32_t n = old->node_count; n-- > 0;) {
        mote_lod_node *node = &old->nodes[n];
        const uint32_t children = (uint32_t)__builtin_popcount(node->child_mask);
        for (uint32_t c = 0; c < children; c++) node->total += old->nodes[node->first_child + c].total;
    }
}

/* Whether codes did not tell enough apart: lod_tree.c. */
static bool was_fine(const parts_old *old, const mote_lattice *lattice, const mote_lod_params *lod) {
    const uint64_t max = lod->max_node_points, merge = max > 0 && max < lod->merge_points ? max : lod->merge_points;
    const uint32_t grid_bits = (uint32_t)__builtin_ctz(lod->grid);
    if (!order_is_divisible(lattice)) return false;
    for (uint32_t n = 0; n < old->node_count; n++) {
        const mote_lod_node *node = &old->nodes[n];
        if (node->child_mask != 0 ? mote_lod_needs_fine(node->level, grid_bits, false) : node->total > merge) {
            return true;
        }
    }
    return false;
}

mote_status parts_old_open(mote_context *ctx, const potree_files *files, parts_old *old) {
    memset(old, 0, sizeof *old);
    old->ctx = ctx;
    old->files = files;
    MOTE_TRY(potree_layout_parse(ctx, files, &old->layout));
    MOTE_TRY(potree_nodes_read(&old->layout, &old->stored, &old->node_count));
    old->nodes = mote_alloc_zero(ctx, old->node_count * sizeof *old->nodes, "nodes");
    return old->nodes != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void free_plan(parts_old *old) {
    for (uint64_t c = 0; c < old->plan.column_count; c++) mote_free(old->ctx, old->plan.columns[c].sources);
    mote_free(old->ctx, old->plan.columns);
    memset(&old->plan, 0, sizeof old->plan);
}

void parts_old_close(parts_old *old) {
    mote_context *ctx = old->ctx;
    if (ctx == NULL) return;
    mote_cloud_destroy(old->decoded);
    mote_cloud_destroy(old->piece);
    free_plan(old);
    potree_plan_free(&old->writing);
    mote_free(ctx, old->joined);
    mote_free(ctx, old->nodes);
    mote_free(ctx, old->stored);
    potree_layout_free(&old->layout);
}

/* ---- what it has in common with what is to be written */

static bool same_attributes(const parts_old *old) {
    const potree_layout *layout = &old->layout;
    const potree_plan *plan = &old->writing;
    if (layout->attribute_count != plan->attribute_count || layout->stride_bytes != plan->stride_bytes) return false;
    for (uint32_t a = 0; a < plan->attribute_count; a++) {
        const potree_attribute *was = &layout->attributes[a], *is = &plan->attributes[a];
        if (strcmp(was->name, is->name) != 0 || was->type != is->type || was->elements != is->elements ||
            was->at != is->at) {
            return false;
        }
        if (is->role != POTREE_PLAIN) continue;
        if (layout->scales[was->range] != is->scale || layout->offsets[was->range] != is->offset) return false;
    }
    return true;
}

/* Whether positions are whole steps from the same corner. */
static bool same_steps(const parts_old *old, const mote_lattice *lattice) {
    const potree_layout *layout = &old->layout;
    const potree_plan *plan = &old->writing;
    bool same = lattice->integer && lattice->shift == 0 && layout->has_source;
    for (int k = 0; k < 3 && same; k++) {
        same = !mote_type_is_float(layout->source_type[k]) && layout->scale[k] == plan->scale[k] &&
               layout->offset[k] == plan->offset[k] &&
               layout->source_less[k] == lattice->min[k] - (int64_t)plan->base[k];
    }
    return same;
}

mote_status parts_old_compare(parts_old *old, parts_run *run, const char **differs) {
    const mote_lod_node root = {.point_count = 1};
    potree_source source;
    memset(&source, 0, sizeof source);
    run->source.whole->count = run->points;
    source.cloud = run->source.whole;
    source.lattice = &run->lattice;
    source.params = &run->lod;
    source.nodes = &root;
    source.node_count = 1;
    source.flag_bits = run->flags;
    source.is_part = true; /* what there is to tell is told when the whole is written */
    MOTE_TRY(potree_plan_make(run->ctx, &source, &run->potree, &old->writing));
    *differs = NULL;
    if (old->layout.brotli) *differs = "its encoding";
    if (*differs == NULL && !same_attributes(old)) *differs = "the attributes";
    if (*differs == NULL && !same_steps(old, &run->lattice)) *differs = "the steps of positions";
    if (*differs == NULL && !link_nodes(old, &run->lod)) *differs = "the order of its nodes";
    if (*differs == NULL) find_totals(old, &run->lattice, &run->lod);
    if (*differs == NULL && old->nodes[0].total != old->points) *differs = "the number of its points";
    if (*differs == NULL && was_fine(old, &run->lattice, &run->lod))
        *differs = "that its points are too dense for one code";
    return MOTE_OK;
}

void parts_old_count(const parts_old *old, uint32_t level, uint64_t *cells) {
    for (uint32_t n = 0; n < old->node_count; n++) {
        const mote_lod_node *node = &old->nodes[n];
        if (node->level == level) cells[node->prefix] += node->total;
        if (node->level < level && node->child_mask == 0)
            cells[node->prefix << 3 * (level - node->level)] += node->total;
    }
}

/* ---- its points */

/* Whether the folder's column has the very values of a column of the union. */
static bool gives(const mote_column *from, const merge_column *to) {
    return merge_whole_type(from) == to->type && (to->world ? 1 : from->scale) == to->scale &&
           (to->world ? 0 : from->offset) == to->offset && (!to->world || (from->scale == 1 && from->offset == 0));
}

mote_status parts_old_reads(parts_old *old, parts_run *run, bool *reads) {
    const merge_plan *all = &run->source.plan;
    merge_plan *plan = &old->plan;
    *reads = false;
    if (run->source.list.count < 2 || run->lod.sampling == MOTE_LOD_FIRST) return MOTE_OK; /* it lost their order */
    MOTE_TRY(potree_decode(&old->layout, old->stored, 0, &old->decoded));
    *plan = *all;
    plan->ctx = run->ctx;
    plan->own_facts = NULL;
    plan->stations = NULL;
    plan->column_count = 0;
    plan->columns = mote_alloc_zero(run->ctx, all->column_count * sizeof *plan->columns, "union");
    if (plan->columns == NULL) return MOTE_ERROR_MEMORY;
    *reads = true;
    for (uint64_t c = 0; c < all->column_count && *reads; c++) {
        merge_column *to = &plan->columns[plan->column_count++];
        *to = all->columns[c];
        to->sources = mote_alloc_zero(run->ctx, sizeof *to->sources, "union");
        if (to->sources == NULL) return MOTE_ERROR_MEMORY;
        to->sources->factor = 1;
        const mote_column *from = mote_cloud_find(old->decoded, to->name);
        if (from == NULL) continue; /* a flag that was 0 everywhere, as attributes are the same */
        *reads = gives(from, to);
        to->world = false;
    }
    return *reads ? merge_make_cloud(all, PIECE_POINTS, &old->piece, &old->records) : MOTE_OK;
}

/* Whether a node's cell has cells whose points are read. */
static bool is_read(const parts_old *old, const parts_run *run, uint32_t n) {
    const mote_lod_node *node = &old->nodes[n];
    if (node->point_count == 0 || (run->lod.scheme == MOTE_LOD_REPLACING && node->child_mask != 0)) return false;
    const uint32_t level = node->level < MOTE_ORDER_BITS ? node->level : MOTE_ORDER_BITS;
    const uint64_t first =
        level < run->level ? node->prefix << 3 * (run->level - level) : node->prefix >> 3 * (level - run->level);
    const uint64_t end = level < run->level ? (node->prefix + 1) << 3 * (run->level - level) : first + 1;
    return old->joined[end] > old->joined[first];
}

/* The next nodes, level by level: of points in one place the first of the inputs is in the coarsest node. */
static mote_status decode_next(parts_old *old, const parts_run *run) {
    potree_node *batch = NULL;
    uint64_t count = 0, capacity = 0, points = 0;
    mote_status status = MOTE_OK;
    mote_cloud_destroy(old->decoded);
    old->decoded = NULL;
    old->decoded_at = 0;
    for (; old->next < old->node_count && points < BATCH_POINTS && status == MOTE_OK; old->next++) {
        if (!is_read(old, run, old->next)) continue;
        if (!mote_reserve(old->ctx, (void **)&batch, &capacity, count + 1, sizeof *batch, "nodes")) {
            status = MOTE_ERROR_MEMORY;
            break;
        }
        batch[count++] = old->stored[old->next];
        points += old->stored[old->next].points;
    }
    if (status == MOTE_OK && count > 0) status = potree_decode(&old->layout, batch, (uint32_t)count, &old->decoded);
    for (uint64_t c = 0; c < old->plan.column_count && old->decoded != NULL; c++) {
        /* By name: a flag that these nodes lack is no column of theirs. */
        merge_column *to = &old->plan.columns[c];
        to->sources->column = mote_cloud_find(old->decoded, to->name);
    }
    mote_free(old->ctx, batch);
    return status;
}

static mote_status next_of_old(parts_old *old, const parts_run *run, const mote_cloud **piece) {
    *piece = NULL;
    if (old->decoded == NULL || old->decoded_at == mote_cloud_count(old->decoded)) {
        const mote_progress_span whole = mote_progress_hold(run->ctx);
        const mote_status status = decode_next(old, run);
        mote_progress_leave(run->ctx, whole);
        if (status != MOTE_OK) return status;
    }
    if (old->decoded == NULL) return MOTE_OK;
    const uint64_t rest = mote_cloud_count(old->decoded) - old->decoded_at;
    const uint64_t now = rest < PIECE_POINTS ? rest : PIECE_POINTS;
    merge_piece(&old->plan, 0, old->decoded_at, now, old->records);
    old->decoded_at += now;
    old->piece->count = now;
    *piece = old->piece;
    return MOTE_OK;
}

void parts_rewind(parts_run *run, double first, double last) {
    parts_old *old = run->old;
    parts_source_rewind(&run->source, first, last);
    if (old == NULL) return;
    mote_cloud_destroy(old->decoded);
    old->decoded = NULL;
    old->next = old->reads ? 0 : old->node_count;
    old->is_at = false;
}

mote_status parts_next(parts_run *run, const mote_cloud **piece, const uint8_t **records) {
    parts_old *old = run->old;
    if (old != NULL && (old->next < old->node_count || old->decoded != NULL)) {
        MOTE_TRY(next_of_old(old, run, piece));
        old->is_at = *piece != NULL;
        *records = old->records;
        if (old->is_at) return MOTE_OK;
    }
    return parts_source_next(&run->source, piece, records);
}

void parts_leave_out(const parts_run *run, uint64_t *codes, uint64_t count) {
    const parts_old *old = run->old;
    const uint32_t below = 3 * (MOTE_ORDER_BITS - run->level);
    if (run->changed == NULL) return;
    const bool is_whole = !old->is_at && old->is_whole[parts_source_input(&run->source)];
    const uint8_t wanted = old->is_at ? PARTS_JOINED : PARTS_COLLECTED;
    for (uint64_t i = 0; i < count; i++) {
        if (codes[i] == UINT64_MAX) continue;
        const uint8_t change = run->changed[codes[i] >> below];
        if (is_whole ? change == PARTS_KEPT : change != wanted) codes[i] = UINT64_MAX;
    }
}

/* ---- what is kept of it */

/* The first node of those [begin, end) of one level whose cell does not end before the code. */
static uint32_t find_node(const parts_old *old, uint32_t begin, uint32_t end, uint64_t code) {
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (end_code(&old->nodes[middle]) <= code)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* A node of the kept range: as it is, or the slice of an inner one. */
static void take_node(const parts_old *old, const parts_run *run, const parts_range *range, uint32_t n,
                      mote_lod_node *node, potree_place *place) {
    const uint64_t low = range->whole.low.code, high = range->whole.high.code;
    const uint32_t stride = old->layout.stride_bytes;
    *node = old->nodes[n];
    *place = (potree_place){old->stored[n].offset, old->stored[n].size_bytes, 0};
    if (first_code(node) >= low && end_code(node) <= high) return;
    const uint64_t begin = first_code(node) >= low ? 0 : find_record(old, &run->lattice, n, 0, node->point_count, low);
    const uint64_t end =
        end_code(node) <= high ? node->point_count : find_record(old, &run->lattice, n, begin, node->point_count, high);
    node->point_count = end - begin;
    place->offset += begin * stride;
    place->size_bytes = (end - begin) * stride;
    node->total = 0; /* told by its children: add_children */
    node->child_mask = 0;
}

/* What slices have below them; levels from the finest on. first: [level] of the tree's nodes */
static void add_children(const parts_range *range, potree_part_tree *tree, const uint32_t *first, uint32_t levels) {
    for (uint32_t level = levels; level-- > 0;) {
        for (uint32_t n = first[level]; n < first[level + 1]; n++) {
            mote_lod_node *node = &tree->nodes[n];
            if (first_code(node) >= range->whole.low.code && end_code(node) <= range->whole.high.code) continue;
            for (uint32_t c = first[level + 1]; level + 1 < levels && c < first[level + 2]; c++) {
                const mote_lod_node *child = &tree->nodes[c];
                if (child->prefix >> 3 != node->prefix || child->total == 0) continue;
                node->total += child->total;
                node->child_mask |= (uint8_t)(1u << (child->prefix & 7));
            }
        }
    }
}

/* Slices without points are no nodes. */
static void drop_empty(potree_part_tree *tree) {
    uint32_t kept = 0;
    for (uint32_t n = 0; n < tree->node_count; n++) {
        if (tree->nodes[n].total == 0) continue;
        tree->nodes[kept] = tree->nodes[n];
        tree->places[kept++] = tree->places[n];
    }
    tree->node_count = kept;
    tree->size_bytes = 0;
    for (uint32_t n = 0; n < kept; n++) tree->size_bytes += tree->places[n].size_bytes;
}

static mote_status make_tree(const parts_old *old, parts_run *run, const parts_range *range, potree_part_tree *tree) {
    uint32_t first[LOD_MAX_LEVELS + 1], levels = 0, count = 0;
    uint64_t capacity = 0, place_capacity = 0;
    for (uint32_t begin = 0; begin < old->node_count; levels++) {
        const uint32_t level = old->nodes[begin].level;
        uint32_t end = begin;
        first[levels] = count;
        while (end < old->node_count && old->nodes[end].level == level) end++;
        for (uint32_t n = find_node(old, begin, end, range->whole.low.code);
             n < end && first_code(&old->nodes[n]) < range->whole.high.code; n++, count++) {
            if (!mote_reserve(run->ctx, (void **)&tree->nodes, &capacity, count + 1ull, sizeof *tree->nodes,
                              "nodes of parts") ||
                !mote_reserve(run->ctx, (void **)&tree->places, &place_capacity, count + 1ull, sizeof *tree->places,
                              "nodes of parts")) {
                return MOTE_ERROR_MEMORY;
            }
            take_node(old, run, range, n, &tree->nodes[count], &tree->places[count]);
        }
        begin = end;
    }
    first[levels] = tree->node_count = count;
    tree->finest = MOTE_ORDER_BITS;
    add_children(range, tree, first, levels);
    drop_empty(tree);
    return MOTE_OK;
}

/* Checksums of the nodes, and what is known of the points. */
static mote_status learn(const parts_old *old, parts_run *run, potree_part_tree *tree) {
    mote_context *ctx = run->ctx;
    const potree_plan *plan = &old->writing;
    potree_stats *own = mote_alloc_zero(ctx, (uint64_t)ctx->threads * sizeof *own, "potree");
    mote_status status = own != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (int t = 0; t < ctx->threads && status == MOTE_OK; t++) status = potree_stats_make(plan, &own[t]);
#pragma omp parallel for schedule(dynamic, 16) num_threads(ctx->threads)
    for (uint32_t n = 0; n < (status == MOTE_OK ? tree->node_count : 0); n++) {
        const uint8_t *records = old->files->octree.data + tree->places[n].offset;
        const uint64_t points = tree->nodes[n].point_count;
        potree_hash hash = potree_hash_begin();
        potree_hash_add(&hash, records, tree->places[n].size_bytes);
        tree->places[n].hash = potree_hash_end(&hash);
        for (uint64_t at = 0; at < points; at += POTREE_BLOCK_POINTS) {
            const uint64_t rest = points - at, now = rest < POTREE_BLOCK_POINTS ? rest : POTREE_BLOCK_POINTS;
            potree_measure(plan, records + at * plan->stride_bytes, (uint32_t)now, &own[omp_get_thread_num()]);
        }
    }
    if (status == MOTE_OK && run->stats.ranges == NULL) status = potree_stats_make(plan, &run->stats);
    if (status == MOTE_OK) {
        potree_stats two[2] = {run->stats, own[0]};
        potree_stats_merge(plan, own, (uint32_t)ctx->threads);
        two[1] = own[0];
        potree_stats_merge(plan, two, 2);
        run->stats = two[0];
    }
    for (int t = 0; own != NULL && t < ctx->threads; t++) mote_free(ctx, own[t].ranges);
    mote_free(ctx, own);
    return status;
}

mote_status parts_old_tree(const parts_old *old, parts_run *run, const parts_range *range, potree_part_tree *tree,
                           int *file) {
    memset(tree, 0, sizeof *tree);
    MOTE_TRY(make_tree(old, run, range, tree));
    MOTE_TRY(learn(old, run, tree));
    *file = fcntl(old->files->octree.file, F_DUPFD_CLOEXEC, 0);
    if (*file < 0) return mote_system_error(run->ctx, old->files->octree.path, "open once more");
    return tree->nodes == NULL || tree->nodes[0].total == range->points
               ? MOTE_OK
               : mote_fail(run->ctx, MOTE_ERROR_DATA, "%s: has other points than its nodes say",
                           old->files->octree.path);
}

#else
void parts_rewind(parts_run *run, double first, double last) { parts_source_rewind(&run->source, first, last); }
mote_status parts_next(parts_run *run, const mote_cloud **piece, const uint8_t **records) {
    return parts_source_next(&run->source, piece, records);
}
void parts_leave_out(const parts_run *run, uint64_t *codes, uint64_t count) { (void)run, (void)codes, (void)count; }
#endif

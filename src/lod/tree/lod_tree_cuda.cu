/* The octree on the GPU, all levels at once. A node is divided if its cell holds more points than a leaf may, so at
   least one of every merge-th position of the order, an anchor, lies in it:

     order     . . . . . . . . . . . . . . . .      a dot is a point; merge = 4
     anchors   0       1       2       3
     root     |-------------------------------|     of anchor 0, the first in it
     r0       |---------|                           of anchor 0
     r5                     |---------|             of anchor 2
     r57                      |-----|               of anchor 2

   A warp per anchor finds, a lane for each level, down to which level the anchor's cells are divided; those that hold
   an earlier anchor as well are that one's. The divided nodes, sorted by level, are in the order of the node table, and
   a warp each searches where their octants begin; a sum of how many they have numbers the children. So the number of
   launches does not depend on the number of levels. Where cells finer than those of codes are needed, which the
   anchors tell, the points get fine codes first. */
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "lod/lod_cuda.h"
#include "lod/lod_math.h"
#include "order/order_cuda.h"

/* Other numbers were not measured. */
struct tree_policy {
    static constexpr uint32_t threads = 256;
    static constexpr uint32_t lanes = 3; /* that search for one boundary of a node: a warp has ten groups for nine */
};

#define BOUNDARIES 9u /* of a node: where its octants begin, and its end */
#define NONE_BAD   UINT64_MAX

/* The state of a tree in device memory: the host learns the counts in one copy. */
typedef struct tree_state {
    uint64_t divided_count; /* nodes that have children */
    uint64_t bad;           /* level << 32 | anchor of the first heap that no tree can hold; NONE_BAD */
    uint32_t needs_fine;    /* without fine codes this is not the tree that is wanted */
    uint64_t level_first[LOD_MAX_LEVELS + 1];
} tree_state;

/* What is known of an anchor. */
typedef struct tree_anchor {
    uint32_t alike;  /* points of its code, if it is the first anchor among them and they are too many for a node */
    uint8_t first;   /* the coarsest level at which it is the first anchor of its cell */
    uint8_t divided; /* the coarsest level at which its cell is not divided; below, there may be a chain */
} tree_anchor;

typedef struct tree_input {
    const uint64_t *codes;
    const uint64_t *fine; /* NULL without */
    tree_state *state;
    lod_whole whole; /* of which these are the points of a part, with is_part */
    bool is_part;
    uint64_t count, merge, max;
    uint32_t anchor_count, grid_bits;
    bool divisible; /* points of one code may differ, and fine codes can be made: nodes of one code are leaves */
    bool replacing;
    tree_anchor *anchors;   /* [anchor_count] */
    uint32_t *node_counts;  /* [anchor_count + 1] divided nodes that an anchor is the first of */
    uint64_t *nodes_before; /* [anchor_count + 1] their sum before */
} tree_input;

/* The divided nodes by level, then by position: as they stand in the node table. */
typedef struct tree_divided {
    uint32_t count;
    uint32_t *levels, *anchors; /* [count] */
    uint32_t *starts;           /* [BOUNDARIES · count] of their children, and the end of the last */
    uint8_t *masks;             /* [count] child_mask */
    uint32_t *child_counts;     /* [count + 1] */
    uint64_t *children_before;  /* [count + 1] */
    mote_lod_node *nodes;       /* [node_count] */
} tree_divided;

/* ---- cells of a point */

static __device__ uint32_t finest_level(const tree_input *in) {
    return in->fine != NULL ? ORDER_FINE_BITS : MOTE_ORDER_BITS;
}

/* The finest level at which two points share a cell. */
static __device__ uint32_t shared_level(const tree_input *in, uint64_t a, uint64_t b) {
    if (in->codes[a] != in->codes[b]) return mote_lod_shared_level(in->codes[a], in->codes[b]);
    return in->fine == NULL ? MOTE_ORDER_BITS : ORDER_FINE_FIRST + mote_lod_shared_level(in->fine[a], in->fine[b]);
}

/* The first point from low on that shares the cell of a level with the one at a position, which does. */
static __device__ uint64_t cell_first(const tree_input *in, uint64_t low, uint64_t position, uint32_t level) {
    while (low < position) {
        const uint64_t middle = low + (position - low) / 2;
        if (shared_level(in, middle, position) >= level) {
            position = middle;
        } else {
            low = middle + 1;
        }
    }
    return position;
}

/* The place behind the last point before end that lies in the cell. */
static __device__ uint64_t cell_end(const tree_input *in, uint64_t position, uint64_t end, uint32_t level) {
    uint64_t low = position + 1;
    while (low < end) {
        const uint64_t middle = low + (end - low) / 2;
        if (shared_level(in, position, middle) >= level) {
            low = middle + 1;
        } else {
            end = middle;
        }
    }
    return end;
}

/* The prefix of a point's cell of a level: the last 63 bits. */
static __device__ uint64_t cell_prefix(const tree_input *in, uint64_t position, uint32_t level) {
    const uint64_t code = in->codes[position];
    if (level <= MOTE_ORDER_BITS) return code >> 3 * (MOTE_ORDER_BITS - level);
    const uint64_t above = (uint64_t)order_fine_above(code) << 3 * (level - ORDER_FINE_FIRST);
    return (above | in->fine[position] >> 3 * (ORDER_FINE_BITS - level)) & ((1ull << 3 * MOTE_MORTON_BITS) - 1);
}

/* The last point of a part is an anchor too: its cells may be divided for the sake of other parts' points. */
static __device__ uint64_t anchor_position(const tree_input *in, uint32_t anchor) {
    const uint64_t at = anchor * in->merge;
    return at < in->count ? at : in->count - 1;
}

/* How many points all parts have in the cell of a level of a point, if that is divided between them; else 0. */
static __device__ uint64_t points_of_parts(const tree_input *in, uint64_t position, uint32_t level) {
    if (!in->is_part || level > MOTE_ORDER_BITS) return 0;
    const lod_border *border =
        lod_whole_border(&in->whole, in->codes[position] >> 3 * (MOTE_ORDER_BITS - level), level);
    return border != NULL ? border->points[level] : 0;
}

/* ---- anchors */

/* The points that share all of a point's code. Seen: those of them up to merge points away. */
static __device__ void find_alike(const tree_input *in, uint64_t position, uint64_t seen_first, uint64_t seen_end,
                                  uint64_t *first, uint64_t *end) {
    const uint32_t finest = finest_level(in);
    *first = position - seen_first < in->merge ? seen_first : cell_first(in, 0, position, finest);
    *end = seen_end - position <= in->merge ? seen_end : cell_end(in, position, in->count, finest);
}

/* How many levels of a point's cells hold points of several codes. */
static __device__ uint32_t divisible_levels(const tree_input *in, uint64_t position, uint64_t first, uint64_t end) {
    uint32_t levels = 0;
    if (first > 0) levels = shared_level(in, first - 1, position) + 1;
    if (end < in->count) levels = max(levels, shared_level(in, position, end) + 1);
    return levels;
}

/* The nodes of a chain that have one below them: all but the last share of points that a node cannot hold. */
static __device__ uint32_t chain_nodes(const tree_input *in, uint32_t anchor, uint32_t divided, uint64_t alike) {
    if (alike <= in->max || in->divisible) return 0;
    const uint64_t nodes = (alike - 1) / in->max;
    if (!in->replacing && divided + nodes < LOD_MAX_LEVELS) return (uint32_t)nodes;
    atomicMin((unsigned long long *)&in->state->bad, (unsigned long long)divided << 32 | anchor);
    return 0;
}

/* A warp for each anchor. Up to merge points on both sides say whether a cell holds more than that. */
static __global__ void find_divided(tree_input in) {
    const uint32_t anchor = (blockIdx.x * tree_policy::threads + threadIdx.x) / CUDA_WARP, lane = warp_lane();
    if (anchor >= in.anchor_count) return; /* the whole warp */
    const uint64_t at = anchor_position(&in, anchor), low = at > in.merge ? at - in.merge : 0;
    const uint64_t high = in.count - at > in.merge ? at + in.merge + 1 : in.count;
    const uint32_t level = min(lane, finest_level(&in)); /* lanes beyond do as the last one does */
    const uint64_t seen_first = cell_first(&in, low, at, level), seen_end = cell_end(&in, at, high, level);
    uint64_t first, end;
    if (in.divisible && warp_broadcast(seen_end - seen_first, CUDA_WARP - 1) > in.merge) {
        if (lane == 0) *(volatile uint32_t *)&in.state->needs_fine = 1; /* nothing else counts then */
        return;
    }
    find_alike(&in, at, warp_broadcast(seen_first, CUDA_WARP - 1), warp_broadcast(seen_end, CUDA_WARP - 1), &first,
               &end);
    /* Of a cell with points of one code alone, which are all in it, others are of another place. */
    const uint64_t of_parts = points_of_parts(&in, at, level), all = of_parts > 0 ? of_parts : seen_end - seen_first;
    const bool has_others = of_parts > end - first;
    const bool divides = all > in.merge && (lane < divisible_levels(&in, at, first, end) || has_others);
    const uint32_t divided = (uint32_t)__popc(__ballot_sync(CUDA_ALL, divides));
    if (lane != 0) return;
    const uint32_t own = anchor == 0 ? 0 : shared_level(&in, anchor_position(&in, anchor - 1), at) + 1;
    const uint64_t alike = own <= finest_level(&in) ? end - first : 0;
    const uint32_t levels = divided + chain_nodes(&in, anchor, divided, alike);
    const uint32_t nodes = levels > own ? levels - own : 0;
    const bool too_fine = divided > 0 && mote_lod_needs_fine(divided - 1, in.grid_bits, false);
    if (in.divisible && too_fine) *(volatile uint32_t *)&in.state->needs_fine = 1;
    if (nodes > 0) atomicAdd((unsigned long long *)&in.state->divided_count, (unsigned long long)nodes);
    in.node_counts[anchor] = nodes;
    if (anchor == 0) in.node_counts[in.anchor_count] = 0;
    in.anchors[anchor].alike = (uint32_t)alike;
    in.anchors[anchor].first = (uint8_t)own;
    in.anchors[anchor].divided = (uint8_t)divided;
}

static __global__ void list_divided(tree_input in, tree_divided to) {
    const uint32_t anchor = blockIdx.x * tree_policy::threads + threadIdx.x;
    if (anchor >= in.anchor_count) return;
    uint64_t at = in.nodes_before[anchor];
    for (uint32_t i = 0; i < in.node_counts[anchor]; i++, at++) {
        to.levels[at] = in.anchors[anchor].first + i;
        to.anchors[at] = anchor;
    }
}

/* ---- divided nodes */

/* A code that a search compares with: of points of one code, the fine ones. */
typedef struct tree_boundary {
    uint64_t code, fine;
    bool by_fine;
} tree_boundary;

static __device__ bool lies_before(const tree_input *in, uint64_t position, const tree_boundary *b) {
    const uint64_t code = in->codes[position];
    return code < b->code || (b->by_fine && code == b->code && in->fine[position] < b->fine);
}

/* Where an octant of a point's cell of a level begins; octant 8: where the cell ends. A cell of the finest level has
   its beginning and its end alone. */
static __device__ tree_boundary boundary_of(const tree_input *in, uint64_t position, uint32_t level, uint32_t octant) {
    tree_boundary b = {in->codes[position], 0, level >= MOTE_ORDER_BITS && in->fine != NULL};
    const uint32_t bits = level < finest_level(in) ? 3 : 0, steps = bits > 0 ? octant : octant / 8;
    const uint32_t cut = 3 * ((b.by_fine ? ORDER_FINE_BITS : MOTE_ORDER_BITS) - level);
    const uint64_t code = b.by_fine ? in->fine[position] : b.code;
    const uint64_t begin = (code >> cut << cut) + ((uint64_t)steps << (cut - bits));
    if (b.by_fine) {
        b.fine = begin;
    } else {
        b.code = begin;
    }
    return b;
}

/* The first of the points [first, last) that does not lie before a boundary: in every step, each lane of a group looks
   at one place. */
static __device__ uint64_t search_together(const tree_input *in, uint64_t first, uint64_t last,
                                           const tree_boundary *boundary) {
    const uint32_t lane = warp_lane(), own = lane % tree_policy::lanes, group = lane - own;
    while (__any_sync(CUDA_ALL, first < last)) {
        const uint64_t step = (last - first) / (tree_policy::lanes + 1) + 1, at = first + (own + 1) * step - 1;
        const bool below = first < last && at < last && lies_before(in, at, boundary);
        const uint32_t passed =
            (uint32_t)__popc(__ballot_sync(CUDA_ALL, below) >> group & ((1u << tree_policy::lanes) - 1));
        if (first < last) {
            const uint64_t next_last = first + (passed + 1) * step - 1;
            first += passed * step;
            if (next_last < last) last = next_last;
        }
    }
    return first;
}

/* The octant of the cell below a node of a chain; 0 below the finest level. */
static __device__ uint32_t chain_octant(const tree_input *in, uint64_t position, uint32_t level) {
    return level < finest_level(in) ? (uint32_t)cell_prefix(in, position, level + 1) & 7 : 0;
}

/* A warp for each divided node: where its children begin. That of a node of a chain has what the node cannot hold. */
static __global__ void divide(tree_input in, tree_divided to) {
    const uint32_t index = (blockIdx.x * tree_policy::threads + threadIdx.x) / CUDA_WARP;
    if (index >= to.count) return; /* the whole warp */
    const uint32_t lane = warp_lane(), group = lane / tree_policy::lanes, level = to.levels[index];
    const uint32_t anchor = to.anchors[index], divided = in.anchors[anchor].divided;
    const uint64_t at = anchor_position(&in, anchor);
    const bool searches = group < BOUNDARIES, chained = level >= divided, leads = lane % tree_policy::lanes == 0;
    const tree_boundary boundary = boundary_of(&in, at, min(level, divided), searches ? group : 0);
    /* The first anchor of a cell is less than merge points from its beginning. */
    const uint64_t low = at < in.merge ? 0 : at - in.merge + 1;
    uint64_t start = search_together(&in, low, searches ? in.count : low, &boundary);
    uint32_t mask;
    if (chained) {
        const uint32_t octant = chain_octant(&in, at, level);
        const uint64_t end = warp_broadcast(start, (BOUNDARIES - 1) * tree_policy::lanes);
        const uint64_t first = warp_broadcast(start, 0) + (level - divided + 1) * in.max;
        start = group <= octant ? first : end;
        mask = 1u << octant;
    } else {
        const bool any = start < warp_after(start, tree_policy::lanes);
        const uint32_t found = __ballot_sync(CUDA_ALL, any && leads && group < BOUNDARIES - 1);
        mask = 0;
        for (uint32_t o = 0; o < 8; o++) mask |= (found >> (o * tree_policy::lanes) & 1) << o;
    }
    if (searches && leads) to.starts[(uint64_t)BOUNDARIES * index + group] = (uint32_t)start;
    if (lane != 0) return;
    to.masks[index] = (uint8_t)mask;
    to.child_counts[index] = (uint32_t)__popc(mask);
    if (index == 0) to.child_counts[to.count] = 0;
}

/* The first of the divided nodes that is not before one of a level and an anchor. */
static __device__ uint32_t find_node(const tree_divided *d, uint32_t level, uint32_t anchor) {
    uint32_t first = 0, last = d->count;
    while (first < last) {
        const uint32_t middle = first + (last - first) / 2;
        const bool before = d->levels[middle] < level || (d->levels[middle] == level && d->anchors[middle] < anchor);
        first = before ? middle + 1 : first;
        last = before ? last : middle;
    }
    return first;
}

/* Where each level begins in the node table; behind the last, the number of nodes. */
static __global__ void find_levels(tree_input in, tree_divided d) {
    const uint32_t level = threadIdx.x;
    in.state->level_first[level + 1] = 1 + d.children_before[find_node(&d, level, 0)];
    if (level == 0) in.state->level_first[0] = 0;
}

/* The place of a divided node in the node table. */
static __device__ uint32_t place_of(const tree_input *in, const tree_divided *d, uint32_t index) {
    const uint32_t level = d->levels[index], anchor = d->anchors[index];
    if (level == 0) return 0;
    const uint32_t parent = find_node(d, level - 1, anchor + 1) - 1; /* the last that is not behind the anchor */
    const bool chained = level > in->anchors[anchor].divided;
    const uint32_t octant = chained ? 0 : (uint32_t)cell_prefix(in, anchor_position(in, anchor), level) & 7;
    const uint32_t before = chained ? 0 : (uint32_t)__popc(d->masks[parent] & ((1u << octant) - 1));
    return (uint32_t)(1 + d->children_before[parent] + before);
}

/* A thread for each divided node: all of its children but what they have below them. */
static __global__ void write_children(tree_input in, tree_divided d) {
    const uint32_t index = blockIdx.x * tree_policy::threads + threadIdx.x;
    if (index >= d.count) return;
    const uint32_t level = d.levels[index] + 1, place = place_of(&in, &d, index);
    const uint64_t prefix = cell_prefix(&in, anchor_position(&in, d.anchors[index]), min(level - 1, finest_level(&in)));
    const uint32_t *const starts = d.starts + (uint64_t)BOUNDARIES * index;
    mote_lod_node *child = d.nodes + 1 + d.children_before[index];
    for (uint32_t octant = 0; octant < 8; octant++) {
        if ((d.masks[index] >> octant & 1) == 0) continue;
        child->prefix = level <= finest_level(&in) ? mote_lod_child_prefix(prefix, octant) : prefix;
        child->first = starts[octant];
        child->total = child->point_count = starts[octant + 1] - starts[octant];
        child->parent = place;
        child->level = (uint8_t)level;
        child++;
    }
}

/* What a divided node has below it; and what a node of a chain keeps. */
static __global__ void link_children(tree_input in, tree_divided d) {
    const uint32_t index = blockIdx.x * tree_policy::threads + threadIdx.x;
    if (index >= d.count) return;
    mote_lod_node *const node = d.nodes + place_of(&in, &d, index);
    node->child_mask = d.masks[index];
    node->first_child = (uint32_t)(1 + d.children_before[index]);
    if (d.levels[index] >= in.anchors[d.anchors[index]].divided) node->point_count = in.max;
}

/* leaf_level of the points that leaves, and nodes of a chain, hold themselves: a block per node. */
static __global__ void write_leaf_levels(const mote_lod_node *nodes, uint32_t node_count, uint8_t *leaf_level) {
    for (uint32_t i = blockIdx.x; i < node_count; i += gridDim.x) {
        const mote_lod_node node = nodes[i];
        const bool holds = node.child_mask == 0 || nodes[node.first_child].first != node.first;
        if (!holds) continue;
        const uint64_t end = node.first + node.point_count;
        const uint32_t four = node.level * 0x01010101u;
        const uint64_t aligned = (node.first + 15) & ~15ull, aligned_end = end & ~15ull;
        for (uint64_t p = node.first + threadIdx.x; p < end && p < aligned; p += blockDim.x) leaf_level[p] = node.level;
        for (uint64_t p = aligned + 16ull * threadIdx.x; p < aligned_end; p += 16ull * blockDim.x) {
            *(uint4 *)(leaf_level + p) = make_uint4(four, four, four, four);
        }
        const uint64_t rest = aligned_end > aligned ? aligned_end : aligned;
        for (uint64_t p = rest + threadIdx.x; p < end; p += blockDim.x) leaf_level[p] = node.level;
    }
}

/* ---- the host's side */

static mote_status report(mote_lod *lod, const tree_input *in, const tree_state *state) {
    tree_anchor anchor;
    MOTE_TRY(cuda_download(lod->device, &anchor, in->anchors + (uint32_t)state->bad, sizeof anchor));
    return in->replacing ? lod_fail_replacing_duplicates(lod, anchor.alike) : lod_fail_duplicates(lod);
}

/* What the anchors tell of the tree. On return state is the host's copy. */
static mote_status look(mote_lod *lod, tree_input *in, tree_state *state) {
    mote_device *gpu = lod->device;
    memset(state, 0, sizeof *state);
    state->bad = NONE_BAD;
    MOTE_TRY(cuda_upload(gpu, in->state, state, sizeof *state));
    CUDA_LAUNCH(gpu, find_divided, cuda_blocks(in->anchor_count, tree_policy::threads / CUDA_WARP),
                tree_policy::threads, *in);
    MOTE_TRY(cuda_launched(gpu, "building the octree"));
    MOTE_TRY(cuda_download(gpu, state, in->state, sizeof *state));
    if (state->needs_fine != 0) return MOTE_OK;
    if (state->bad != NONE_BAD) return report(lod, in, state);
    return state->divided_count > UINT32_MAX / 2 ? lod_fail_nodes(lod) : MOTE_OK;
}

static mote_status alloc_anchors(mote_device *gpu, tree_input *in) {
    in->state = (tree_state *)cuda_alloc(gpu, sizeof *in->state, "tree scratch");
    in->anchors = (tree_anchor *)cuda_alloc(gpu, in->anchor_count * sizeof *in->anchors, "tree scratch");
    in->node_counts = (uint32_t *)cuda_alloc(gpu, (in->anchor_count + 1ull) * sizeof *in->node_counts, "tree scratch");
    in->nodes_before =
        (uint64_t *)cuda_alloc(gpu, (in->anchor_count + 1ull) * sizeof *in->nodes_before, "tree scratch");
    const bool all = in->state != NULL && in->anchors != NULL && in->node_counts != NULL && in->nodes_before != NULL;
    return all ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void free_anchors(mote_device *gpu, tree_input *in) {
    cuda_free(gpu, in->state);
    cuda_free(gpu, in->anchors);
    cuda_free(gpu, in->node_counts);
    cuda_free(gpu, in->nodes_before);
}

static mote_status alloc_divided(mote_device *gpu, tree_divided *d, cuda_pairs32 *by_level) {
    const uint64_t count = d->count;
    by_level->keys = (uint32_t *)cuda_alloc(gpu, count * sizeof *by_level->keys, "tree scratch");
    by_level->values = (uint32_t *)cuda_alloc(gpu, count * sizeof *by_level->values, "tree scratch");
    by_level->other_keys = (uint32_t *)cuda_alloc(gpu, count * sizeof *by_level->keys, "tree scratch");
    by_level->other_values = (uint32_t *)cuda_alloc(gpu, count * sizeof *by_level->values, "tree scratch");
    d->starts = (uint32_t *)cuda_alloc(gpu, BOUNDARIES * count * sizeof *d->starts, "tree scratch");
    d->masks = (uint8_t *)cuda_alloc(gpu, count, "tree scratch");
    d->child_counts = (uint32_t *)cuda_alloc(gpu, (count + 1) * sizeof *d->child_counts, "tree scratch");
    d->children_before = (uint64_t *)cuda_alloc(gpu, (count + 1) * sizeof *d->children_before, "tree scratch");
    const bool all = by_level->keys != NULL && by_level->values != NULL && by_level->other_keys != NULL &&
                     by_level->other_values != NULL && d->starts != NULL && d->masks != NULL &&
                     d->child_counts != NULL && d->children_before != NULL;
    return all ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void free_divided(mote_device *gpu, tree_divided *d, cuda_pairs32 *by_level) {
    cuda_free(gpu, by_level->keys);
    cuda_free(gpu, by_level->values);
    cuda_free(gpu, by_level->other_keys);
    cuda_free(gpu, by_level->other_values);
    cuda_free(gpu, d->starts);
    cuda_free(gpu, d->masks);
    cuda_free(gpu, d->child_counts);
    cuda_free(gpu, d->children_before);
}

static mote_status list_by_level(mote_device *gpu, const tree_input *in, tree_divided *d, cuda_pairs32 *by_level) {
    MOTE_TRY(cuda_sum32_wide(gpu, in->node_counts, in->nodes_before, in->anchor_count + 1ull));
    d->levels = by_level->keys;
    d->anchors = by_level->values;
    CUDA_LAUNCH(gpu, list_divided, cuda_blocks(in->anchor_count, tree_policy::threads), tree_policy::threads, *in, *d);
    MOTE_TRY(cuda_launched(gpu, "building the octree"));
    MOTE_TRY(cuda_sort32(gpu, by_level, d->count, 0, 8));
    d->levels = by_level->keys;
    d->anchors = by_level->values;
    return MOTE_OK;
}

/* The node table, with the root alone. */
static mote_status alloc_nodes(mote_lod *lod, lod_cuda *device) {
    mote_device *gpu = lod->device;
    const uint64_t size_bytes = lod->node_count * sizeof *device->nodes;
    mote_lod_node root;
    memset(&root, 0, sizeof root);
    root.total = root.point_count = lod->count;
    root.parent = UINT32_MAX;
    device->nodes = (mote_lod_node *)cuda_alloc(gpu, size_bytes, "nodes");
    if (device->nodes == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_fill(gpu, device->nodes, 0, size_bytes)); /* what lies between fields, too */
    return cuda_upload(gpu, device->nodes, &root, sizeof root);
}

static mote_status index_levels(mote_lod *lod, const tree_state *state) {
    uint32_t levels = 1;
    while (levels < LOD_MAX_LEVELS && state->level_first[levels + 1] > state->level_first[levels]) levels++;
    if (state->level_first[levels] > UINT32_MAX / 2) return lod_fail_nodes(lod);
    lod->level_count = levels;
    lod->node_count = state->level_first[levels];
    lod->level_first = (uint32_t *)mote_alloc(lod->ctx, (levels + 1) * sizeof *lod->level_first, "nodes");
    if (lod->level_first == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i <= levels; i++) lod->level_first[i] = (uint32_t)state->level_first[i];
    return MOTE_OK;
}

static mote_status divide_all(mote_lod *lod, const tree_input *in, tree_divided *d, cuda_pairs32 *by_level,
                              tree_state *state) {
    mote_device *gpu = lod->device;
    MOTE_TRY(alloc_divided(gpu, d, by_level));
    MOTE_TRY(list_by_level(gpu, in, d, by_level));
    CUDA_LAUNCH(gpu, divide, cuda_blocks(d->count, tree_policy::threads / CUDA_WARP), tree_policy::threads, *in, *d);
    MOTE_TRY(cuda_launched(gpu, "building the octree"));
    MOTE_TRY(cuda_sum32_wide(gpu, d->child_counts, d->children_before, d->count + 1ull));
    CUDA_LAUNCH(gpu, find_levels, 1, LOD_MAX_LEVELS, *in, *d);
    MOTE_TRY(cuda_launched(gpu, "building the octree"));
    return cuda_download(gpu, state, in->state, sizeof *state);
}

/* The node table of what the anchors told. */
static mote_status make_nodes(mote_lod *lod, lod_cuda *device, const tree_input *in, tree_state *state) {
    mote_device *gpu = lod->device;
    tree_divided d;
    cuda_pairs32 by_level;
    memset(&d, 0, sizeof d);
    memset(&by_level, 0, sizeof by_level);
    d.count = (uint32_t)state->divided_count;
    state->level_first[1] = 1;
    mote_status status = d.count > 0 ? divide_all(lod, in, &d, &by_level, state) : MOTE_OK;
    if (status == MOTE_OK) status = index_levels(lod, state);
    if (status == MOTE_OK) status = alloc_nodes(lod, device);
    if (status == MOTE_OK && d.count > 0) {
        const uint32_t blocks = cuda_blocks(d.count, tree_policy::threads);
        d.nodes = device->nodes;
        CUDA_LAUNCH(gpu, write_children, blocks, tree_policy::threads, *in, d);
        CUDA_LAUNCH(gpu, link_children, blocks, tree_policy::threads, *in, d);
        status = cuda_launched(gpu, "building the octree");
    }
    free_divided(gpu, &d, &by_level);
    return status;
}

/* Where the tree shows that finer cells are needed, fine codes come first. */
static mote_status build_as_deep(mote_lod *lod, lod_cuda *device, tree_input *in) {
    mote_device *gpu = lod->device;
    tree_state state;
    MOTE_TRY(alloc_anchors(gpu, in));
    MOTE_TRY(look(lod, in, &state));
    bool needs_fine = state.needs_fine != 0;
    if (in->is_part) {
        lod->lacks_fine = needs_fine && !in->whole.fine;
        needs_fine = in->whole.fine;
    }
    if (lod->lacks_fine) return MOTE_OK;
    if (needs_fine) {
        const uint32_t *index = lod_cuda_index(device);
        MOTE_TRY(order_cuda_fine_codes(&device->cloud, &lod->lattice, index == NULL, device->codes, device->order,
                                       lod->count, &device->fine));
        lod->finest = ORDER_FINE_BITS;
        in->fine = device->fine;
        in->divisible = false;
        MOTE_TRY(look(lod, in, &state));
    }
    MOTE_TRY(make_nodes(lod, device, in, &state));
    const uint32_t blocks = lod->node_count < (1u << 20) ? (uint32_t)lod->node_count : 1u << 20;
    CUDA_LAUNCH(gpu, write_leaf_levels, blocks, 128u, device->nodes, (uint32_t)lod->node_count, device->leaf_level);
    return cuda_launched(gpu, "building the octree");
}

mote_status lod_cuda_tree(mote_lod *lod, lod_cuda *device) {
    mote_device *gpu = lod->device;
    tree_input in;
    memset(&in, 0, sizeof in);
    in.codes = device->codes;
    in.count = lod->count;
    in.is_part = lod->whole != NULL;
    if (in.is_part) in.whole = *lod->whole;
    in.max = lod->params.max_node_points > 0 ? lod->params.max_node_points : UINT64_MAX;
    in.merge = lod_leaf_points(lod);
    in.anchor_count = (uint32_t)((lod->count + in.merge - 1) / in.merge);
    if (in.is_part && lod->count > 0 && (lod->count - 1) % in.merge != 0) in.anchor_count++;
    in.grid_bits = lod_cell_level(lod, 0);
    in.divisible = order_is_divisible(&lod->lattice);
    in.replacing = lod->params.scheme == MOTE_LOD_REPLACING;
    device->leaf_level = (uint8_t *)cuda_alloc(gpu, lod->count, "levels of leaves");
    const mote_status status = device->leaf_level != NULL ? build_as_deep(lod, device, &in) : MOTE_ERROR_MEMORY;
    free_anchors(gpu, &in);
    return status;
}

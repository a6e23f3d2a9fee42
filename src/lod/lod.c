/* Levels of detail, public entries: validate, put the steps in order, answer questions. */
#include "device/backend.h"
#include "lod/lod_cpu.h"
#include "lod/lod_ops.h"

static bool find_rgb(const mote_cloud *cloud, const mote_column *rgb[3]) {
    static const char *const names[3] = {"red", "green", "blue"};
    bool found = true;
    for (int k = 0; k < 3; k++) {
        rgb[k] = mote_cloud_find(cloud, names[k]);
        found = found && rgb[k] != NULL;
    }
    return found;
}

static bool all_plain(const mote_column *const rgb[3]) {
    return mote_color_is_plain(rgb[0]) && mote_color_is_plain(rgb[1]) && mote_color_is_plain(rgb[2]);
}

/* Finds the colours. Where their numbers must be scaled first, the octree looks at the cloud through columns of its
   own. On a GPU floats are taken as 0..1, as their values are not here to be looked at. */
static mote_status prepare_colors(mote_lod *lod) {
    if (!find_rgb(lod->source, lod->rgb)) {
        lod->rgb[0] = NULL;
        return MOTE_OK;
    }
    if (all_plain(lod->rgb)) return MOTE_OK;
    if (lod->source->device != NULL) {
        for (int k = 0; k < 3; k++) lod->color_rules[k] = mote_color_unseen(lod->rgb[k]);
        return MOTE_OK;
    }
    mote_cloud *colored = &lod->colored;
    *colored = *lod->source;
    memset(&colored->prepared, 0, sizeof colored->prepared); /* what it has of its order has one owner */
    colored->columns = mote_alloc(lod->ctx, colored->column_count * sizeof *colored->columns, "colours");
    if (colored->columns == NULL) return MOTE_ERROR_MEMORY;
    memcpy(colored->columns, lod->source->columns, colored->column_count * sizeof *colored->columns);
    mote_color_find_each(lod->ctx, lod->rgb, 3, lod->source->count, lod->color_rules);
    for (int k = 0; k < 3; k++) {
        mote_column *column = &colored->columns[lod->rgb[k] - lod->source->columns];
        *column = mote_color_scaled(lod->rgb[k], &lod->color_rules[k]);
        lod->rgb[k] = column;
    }
    lod->cloud = colored;
    return MOTE_OK;
}

void lod_warn_colors(mote_context *ctx, const mote_lod_params *params, bool has_colors) {
    if (params->filter == MOTE_LOD_FILTER_NONE || has_colors) return;
    mote_warn(ctx, "the cloud has no colours: the colour filter has nothing to do");
}

static mote_status build(mote_lod *lod) {
    if (lod->cloud->count > UINT32_MAX) {
        return mote_fail(lod->ctx, MOTE_ERROR_UNSUPPORTED, "%llu points: one octree takes up to 4,294,967,295",
                         (unsigned long long)lod->cloud->count);
    }
    if (lod->ops == NULL) {
        return mote_fail(lod->ctx, MOTE_ERROR_UNSUPPORTED, "the %s backend has no levels of detail",
                         lod->device->backend->name);
    }
    MOTE_TRY(prepare_colors(lod));
    if (lod->whole == NULL) lod_warn_colors(lod->ctx, &lod->params, lod->rgb[0] != NULL);
    return lod->ops->build(lod);
}

/* whole: NULL, or what the cloud is a part of */
static mote_status build_on(mote_device *device, const mote_cloud *cloud, const mote_lod_params *params,
                            const lod_whole *whole, mote_lod **out) {
    mote_context *ctx = device->ctx;
    const mote_lod_params p = params != NULL ? *params : mote_lod_defaults();
    MOTE_TRY(lod_check_params(ctx, &p));
    mote_lod *lod = mote_alloc_zero(ctx, sizeof *lod, "nodes");
    if (lod == NULL) return MOTE_ERROR_MEMORY;
    lod->ctx = ctx;
    lod->source = cloud;
    lod->cloud = cloud;
    lod->params = p;
    lod->whole = whole;
    lod->finest = MOTE_ORDER_BITS;
    lod->device = device;
    lod->ops = lod->device->backend->lod;
    mote_status status = build(lod);
    if (status == MOTE_OK) status = mote_cloud_check(cloud);
    mote_stage(ctx, NULL);
    if (status != MOTE_OK) {
        mote_lod_destroy(lod);
        return status;
    }
    *out = lod;
    return MOTE_OK;
}

mote_status mote_lod_build(mote_context *ctx, const mote_cloud *cloud, const mote_lod_params *params, mote_lod **out) {
    if (cloud == NULL || out == NULL)
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no cloud, or no place for the octree");
    *out = NULL;
    mote_device *device = mote_device_of_cloud(ctx, cloud);
    const mote_status before = mote_context_status(ctx), status = build_on(device, cloud, params, NULL, out);
    if (status == MOTE_OK || !mote_device_falls_back(device, cloud, before, status)) return status;
    return build_on(mote_cpu_device(ctx), cloud, params, NULL, out);
}

mote_status lod_build_part(mote_context *ctx, const mote_cloud *part, const mote_lod_params *params,
                           const lod_whole *whole, mote_lod **out, bool *lacks_fine) {
    /* A part takes a GPU where one was asked for: where AUTO has to choose, parts stay on the cores, whose memory they
       were cut for; so do averages that look at points around a part, and sampling by distance. */
    const bool on_gpu =
        ctx->params.device == MOTE_DEVICE_CUDA && whole->around == NULL && params->sampling != MOTE_LOD_POISSON;
    mote_lod_params stays = *params;
    stays.on_device = true;
    MOTE_TRY(build_on(on_gpu ? mote_device_choose(ctx, part->count) : mote_cpu_device(ctx), part, &stays, whole, out));
    *lacks_fine = (*out)->lacks_fine;
    return MOTE_OK;
}

mote_status lod_list_part(mote_context *ctx, const mote_cloud *part, const mote_lod_params *params,
                          const lod_whole *whole, lod_list *list, bool *lacks_fine) {
    mote_lod *lod = NULL;
    lod_whole unchosen = *whole;
    unchosen.levels = NULL;
    memset(list, 0, sizeof *list);
    MOTE_TRY(build_on(mote_cpu_device(ctx), part, params, &unchosen, &lod));
    *lacks_fine = lod->lacks_fine;
    const mote_status status = lod_list_points(lod, list);
    mote_lod_destroy(lod);
    return status;
}

void lod_forget(mote_lod *lod) {
    if (lod->ops != NULL && lod->ops->release != NULL) lod->ops->release(lod);
    void *const owned[] = {lod->order,       lod->codes,           lod->fine,        lod->level, lod->nodes,
                           lod->level_first, lod->representatives, lod->color_first, lod->colors};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) mote_free(lod->ctx, owned[i]);
    lod->order = lod->level_first = NULL;
    lod->codes = lod->fine = lod->representatives = lod->color_first = NULL;
    lod->level = NULL;
    lod->nodes = NULL;
    lod->colors = NULL;
    lod->count = lod->skipped = lod->node_count = lod->node_capacity = 0;
    lod->level_count = 0;
    lod->finest = MOTE_ORDER_BITS;
}

void mote_lod_destroy(mote_lod *lod) {
    if (lod == NULL) return;
    mote_context *ctx = lod->ctx;
    if (lod->device_records != NULL) device_free(lod->device, lod->device_records);
    lod_forget(lod);
    mote_free(ctx, lod->colored.columns);
    mote_free(ctx, lod);
}

mote_status mote_lod_fetch(mote_context *ctx, mote_lod *lod) {
    if (lod == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no octree to fetch");
    return lod->order != NULL || lod->ops->fetch == NULL ? MOTE_OK : lod->ops->fetch(lod);
}

bool lod_view_device(const mote_lod *lod, lod_device_view *view) {
    return lod->ops->view != NULL && lod->ops->view(lod, view);
}

bool mote_lod_device_arrays(const mote_lod *lod, mote_lod_device *arrays) {
    lod_device_view view;
    if (!lod_view_device(lod, &view)) return false;
    memset(arrays, 0, sizeof *arrays);
    arrays->order = view.order;
    arrays->level = view.level;
    arrays->count = lod->count;
    arrays->items = view.items;
    arrays->item_count = view.item_count;
    return true;
}

const mote_lod_params *mote_lod_parameters(const mote_lod *lod) { return &lod->params; }
const mote_lattice *mote_lod_lattice(const mote_lod *lod) { return &lod->lattice; }
uint64_t mote_lod_skipped(const mote_lod *lod) { return lod->skipped; }
uint32_t mote_lod_node_count(const mote_lod *lod) { return (uint32_t)lod->node_count; }
const mote_lod_node *mote_lod_nodes(const mote_lod *lod) { return lod->nodes; }

void mote_lod_node_name(const mote_lod *lod, uint32_t node, char *name) {
    uint32_t at = lod->nodes[node].level;
    name[at + 1] = '\0';
    for (; at > 0; at--) {
        const mote_lod_node *parent = &lod->nodes[lod->nodes[node].parent];
        uint32_t digit = 0, rank = node - parent->first_child;
        while ((parent->child_mask >> digit & 1) == 0 || rank-- > 0) digit++;
        name[at] = (char)('0' + digit);
        node = lod->nodes[node].parent;
    }
    name[0] = 'r';
}

/* Collects the sorted positions whose byte is in [min, max], eight bytes at a time: most bytes of a coarse node's range
   belong to finer nodes. */
static uint64_t collect(const mote_lod *lod, const mote_lod_node *node, uint8_t min, uint8_t max, uint32_t *indices) {
    const uint8_t *level = lod->level;
    const uint64_t last = node->first + node->total;
    uint64_t found = 0;
    for (uint64_t i = node->first; i < last && found < node->point_count;) {
        if (last - i >= 8) {
            uint32_t any = 0;
            for (uint64_t j = 0; j < 8; j++) any |= (uint32_t)((uint8_t)(level[i + j] - min) <= max - min);
            if (any == 0) {
                i += 8;
                continue;
            }
        }
        const uint64_t stop = last - i < 8 ? last : i + 8;
        for (; i < stop; i++) {
            if ((uint8_t)(level[i] - min) <= max - min) indices[found++] = lod->order[i];
        }
    }
    return found;
}

void mote_lod_node_points(const mote_lod *lod, uint32_t node, uint32_t *indices, uint16_t *colors) {
    const mote_lod_node *n = &lod->nodes[node];
    const bool inner = lod_is_inner(n);
    if (!inner && n->point_count == n->total) {
        memcpy(indices, lod->order + n->first, n->total * sizeof *indices);
    } else {
        collect(lod, n, lod->params.scheme == MOTE_LOD_ADDITIVE ? n->level : 0, n->level, indices);
    }
    if (colors == NULL) return;
    if (inner && lod->colors != NULL) {
        memcpy(colors, lod->colors + 3 * lod->color_first[node], 3 * n->point_count * sizeof *colors);
        return;
    }
    const bool known = lod->rgb[0] != NULL && lod->cloud->device == NULL;
    for (uint64_t i = 0; i < n->point_count; i++) {
        for (int k = 0; k < 3; k++) colors[3 * i + (uint64_t)k] = known ? lod_color(lod->rgb[k], indices[i]) : 0;
    }
}

/* The tree over the shapes of a scene: their Morton order, and boxes over runs of it. */
#include "device/backend.h"
#include "math/morton.h"
#include "order/order_ops.h"
#include "photon/photon_scene.h"

typedef struct box {
    double low[3], high[3];
} box;

static const box empty_box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void box_add(box *b, photon_vec p) {
    const double v[3] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; k++) {
        b->low[k] = fmin(b->low[k], v[k]);
        b->high[k] = fmax(b->high[k], v[k]);
    }
}

static box shape_box(const photon_shape *shape) {
    box b = empty_box;
    if (shape->is_sphere) {
        const double r = shape->b.x;
        box_add(&b, photon_sub(shape->a, photon_vec_of(r, r, r)));
        box_add(&b, photon_add(shape->a, photon_vec_of(r, r, r)));
        return b;
    }
    box_add(&b, shape->a);
    box_add(&b, shape->b);
    box_add(&b, shape->c);
    return b;
}

/* The middle of a shape's box as a Morton code within the scene's. */
static uint64_t shape_code(const photon_shape *shape, const mote_box *bounds) {
    const box b = shape_box(shape);
    uint32_t cell[3];
    for (int k = 0; k < 3; k++) {
        const double size = bounds->max[k] - bounds->min[k];
        const double part = size > 0 ? (b.low[k] * 0.5 + b.high[k] * 0.5 - bounds->min[k]) / size : 0;
        cell[k] = (uint32_t)(fmin(fmax(part, 0), 1) * MOTE_MORTON_MASK);
    }
    return mote_morton_encode(cell[0], cell[1], cell[2]);
}

static void measure(mote_scene *scene) {
    box all = empty_box;
    for (uint32_t i = 0; i < scene->view.shape_count; i++) {
        const box b = shape_box(&scene->shapes[i]);
        box_add(&all, photon_vec_from(b.low));
        box_add(&all, photon_vec_from(b.high));
    }
    memcpy(scene->bounds.min, all.low, sizeof all.low);
    memcpy(scene->bounds.max, all.high, sizeof all.high);
}

static mote_status sort_corners(mote_scene *scene, const uint32_t *order) {
    if (scene->corners == NULL) return MOTE_OK;
    const uint32_t count = scene->view.shape_count;
    photon_corners *const sorted = mote_alloc(scene->ctx, count * sizeof *sorted, "scene textures");
    if (sorted == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < count; i++) sorted[i] = scene->corners[order[i]];
    mote_free(scene->ctx, scene->corners);
    scene->corners = sorted;
    return MOTE_OK;
}

static mote_status sort_shapes(mote_scene *scene) {
    mote_context *ctx = scene->ctx;
    const uint32_t count = scene->view.shape_count;
    uint64_t *codes = mote_alloc(ctx, count * sizeof *codes, "scene order");
    uint32_t *order = mote_alloc(ctx, count * sizeof *order, "scene order");
    photon_shape *sorted = mote_alloc(ctx, count * sizeof *sorted, "scene");
    mote_status status = codes != NULL && order != NULL && sorted != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < count && status == MOTE_OK; i++) {
        codes[i] = shape_code(&scene->shapes[i], &scene->bounds);
        order[i] = i;
    }
    if (status == MOTE_OK)
        status = mote_cpu_device(ctx)->backend->order->sort(mote_cpu_device(ctx), codes, order, count);
    if (status == MOTE_OK) {
        for (uint32_t i = 0; i < count; i++) sorted[i] = scene->shapes[order[i]];
        photon_shape *const unsorted = scene->shapes;
        scene->shapes = sorted;
        sorted = unsorted;
        status = sort_corners(scene, order);
    }
    mote_free(ctx, sorted);
    mote_free(ctx, order);
    mote_free(ctx, codes);
    return status;
}

/* ---- nodes */

static void node_set(photon_node *node, uint32_t j, const box *b) {
    for (int k = 0; k < 3; k++) {
        node->low[k][j] = nextafterf((float)b->low[k], -INFINITY);
        node->high[k][j] = nextafterf((float)b->high[k], INFINITY);
    }
}

static box leaf_box(const mote_scene *scene, uint64_t leaf) {
    box b = empty_box;
    for (uint64_t i = leaf * PHOTON_WIDTH; i < (leaf + 1) * PHOTON_WIDTH && i < scene->view.shape_count; i++) {
        const box one = shape_box(&scene->shapes[i]);
        box_add(&b, photon_vec_from(one.low));
        box_add(&b, photon_vec_from(one.high));
    }
    return b;
}

static box node_box(const photon_node *node) {
    box b = empty_box;
    for (uint32_t j = 0; j < PHOTON_WIDTH; j++) {
        box_add(&b, photon_vec_of((double)node->low[0][j], (double)node->low[1][j], (double)node->low[2][j]));
        box_add(&b, photon_vec_of((double)node->high[0][j], (double)node->high[1][j], (double)node->high[2][j]));
    }
    return b;
}

/* How many nodes each level has; returns how many there are in all. */
static uint64_t plan_levels(photon_view *view) {
    uint64_t below = ((uint64_t)view->shape_count + PHOTON_WIDTH - 1) / PHOTON_WIDTH, total = 0;
    view->level_count = 0;
    do {
        below = (below + PHOTON_WIDTH - 1) / PHOTON_WIDTH;
        view->level_first[view->level_count++] = (uint32_t)total;
        total += below;
    } while (below > 1);
    return total;
}

static void fill_level(mote_scene *scene, uint32_t level, uint64_t total) {
    const photon_view *view = &scene->view;
    const bool lowest = level == 0;
    const uint64_t first = view->level_first[level];
    const uint64_t end = level + 1 < view->level_count ? view->level_first[level + 1] : total;
    const uint64_t leaves = ((uint64_t)view->shape_count + PHOTON_WIDTH - 1) / PHOTON_WIDTH;
    const uint64_t below_first = lowest ? 0 : view->level_first[level - 1],
                   below = lowest ? leaves : first - below_first;
    for (uint64_t i = 0; i < (end - first) * PHOTON_WIDTH; i++) {
        box b = empty_box;
        if (i < below) b = lowest ? leaf_box(scene, i) : node_box(&scene->nodes[below_first + i]);
        node_set(&scene->nodes[first + i / PHOTON_WIDTH], i % PHOTON_WIDTH, &b);
    }
}

mote_status photon_tree_build(mote_scene *scene) {
    measure(scene);
    MOTE_TRY(sort_shapes(scene));
    if (scene->view.shape_count == 0) return MOTE_OK;
    const uint64_t total = plan_levels(&scene->view);
    scene->nodes = mote_alloc(scene->ctx, total * sizeof *scene->nodes, "scene tree");
    if (scene->nodes == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t level = 0; level < scene->view.level_count; level++) fill_level(scene, level, total);
    return MOTE_OK;
}

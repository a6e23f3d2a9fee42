/* The tree over the shapes of a scene: their order along a Hilbert curve, and boxes over runs of it. */
#include <float.h>

#include "device/backend.h"
#include "math/hilbert.h"
#include "math/morton.h"
#include "order/order_ops.h"
#include "photon/scene/photon_scene.h"

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

static double longest_side(const mote_box *bounds) {
    double longest = 0;
    for (int k = 0; k < 3; k++) longest = fmax(longest, bounds->max[k] - bounds->min[k]);
    return longest;
}

/* The middle of a shape's box as the Morton code of a cell. Cells are cubes: of flat ones, runs of shapes in a wide and
   shallow scene would have wide boxes in several layers, each of which a ray enters. */
static uint64_t shape_code(const photon_shape *shape, const mote_box *bounds, double side) {
    const box b = shape_box(shape);
    uint32_t cell[3];
    for (int k = 0; k < 3; k++) {
        const double part = side > 0 ? (b.low[k] * 0.5 + b.high[k] * 0.5 - bounds->min[k]) / side : 0;
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

/* Brings what each shape has into the order of the shapes. *list NULL: there is none. */
static mote_status sort_like_shapes(mote_scene *scene, const uint32_t *order, void **list, size_t element_bytes) {
    const uint32_t count = scene->view.shape_count;
    const uint8_t *const from = *list;
    if (from == NULL) return MOTE_OK;
    uint8_t *const sorted = mote_alloc(scene->ctx, count * element_bytes, "scene textures");
    if (sorted == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(sorted + i * element_bytes, from + order[i] * element_bytes, element_bytes);
    }
    mote_free(scene->ctx, *list);
    *list = sorted;
    return MOTE_OK;
}

static mote_status sort_shapes(mote_scene *scene) {
    mote_context *ctx = scene->ctx;
    const uint32_t count = scene->view.shape_count;
    uint64_t *codes = mote_alloc(ctx, count * sizeof *codes, "scene order");
    uint32_t *order = mote_alloc(ctx, count * sizeof *order, "scene order");
    photon_shape *sorted = mote_alloc(ctx, count * sizeof *sorted, "scene");
    mote_status status = codes != NULL && order != NULL && sorted != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    mote_hilbert curve;
    mote_hilbert_make(&curve);
    const double side = longest_side(&scene->bounds);
    for (uint32_t i = 0; i < count && status == MOTE_OK; i++) {
        codes[i] = mote_hilbert_code(&curve, shape_code(&scene->shapes[i], &scene->bounds, side));
        order[i] = i;
    }
    if (status == MOTE_OK)
        status = mote_cpu_device(ctx)->backend->order->sort(mote_cpu_device(ctx), codes, order, count);
    if (status == MOTE_OK) {
        for (uint32_t i = 0; i < count; i++) sorted[i] = scene->shapes[order[i]];
        photon_shape *const unsorted = scene->shapes;
        scene->shapes = sorted;
        sorted = unsorted;
        status = sort_like_shapes(scene, order, (void **)&scene->corners, sizeof *scene->corners);
        if (status == MOTE_OK) {
            status = sort_like_shapes(scene, order, (void **)&scene->tints, sizeof *scene->tints);
        }
    }
    mote_free(ctx, sorted);
    mote_free(ctx, order);
    mote_free(ctx, codes);
    return status;
}

/* ---- nodes */

static bool is_empty(const box *b) { return b->low[0] > b->high[0]; }

/* Rounded outwards; numbers so small that processors compute with them slowly are not among them. */
static void node_set(photon_node *node, uint32_t j, const box *b) {
    for (int k = 0; k < 3; k++) {
        if (is_empty(b)) {
            node->side[PHOTON_LOW][k].of[j] = INFINITY;
            node->side[PHOTON_HIGH][k].of[j] = -INFINITY;
            continue;
        }
        const float low = nextafterf((float)b->low[k], -INFINITY), high = nextafterf((float)b->high[k], INFINITY);
        node->side[PHOTON_LOW][k].of[j] = fabsf(low) < FLT_MIN ? -FLT_MIN : low;
        node->side[PHOTON_HIGH][k].of[j] = fabsf(high) < FLT_MIN ? FLT_MIN : high;
    }
}

static box node_box(const photon_node *node) {
    box b = empty_box;
    for (uint32_t j = 0; j < PHOTON_WIDTH; j++) {
        const photon_four *low = node->side[PHOTON_LOW], *high = node->side[PHOTON_HIGH];
        if (low[0].of[j] > high[0].of[j]) continue;
        box_add(&b, photon_vec_of((double)low[0].of[j], (double)low[1].of[j], (double)low[2].of[j]));
        box_add(&b, photon_vec_of((double)high[0].of[j], (double)high[1].of[j], (double)high[2].of[j]));
    }
    return b;
}

/* Plans as many levels as the shapes need; the lowest has only the nodes in front of the last shape. */
static void plan_nodes(photon_view *view) {
    uint64_t first = 0, nodes = 1; /* of a level */
    while (nodes * PHOTON_WIDTH < view->shape_count) {
        first += nodes;
        nodes *= PHOTON_WIDTH;
    }
    view->first_shape = (uint32_t)(first + nodes);
    view->node_count = (uint32_t)(first + ((uint64_t)view->shape_count + PHOTON_WIDTH - 1) / PHOTON_WIDTH);
}

/* The box of a node or shape of a number; there may be none. */
static box box_of(const mote_scene *scene, uint64_t number) {
    const photon_view *view = &scene->view;
    if (number < view->node_count) return node_box(&scene->nodes[number]);
    if (number < view->first_shape || number - view->first_shape >= view->shape_count) return empty_box;
    return shape_box(&scene->shapes[number - view->first_shape]);
}

mote_status photon_tree_build(mote_scene *scene) {
    measure(scene);
    MOTE_TRY(sort_shapes(scene));
    if (scene->view.shape_count == 0) return MOTE_OK;
    plan_nodes(&scene->view);
    scene->nodes = mote_alloc(scene->ctx, scene->view.node_count * sizeof *scene->nodes, "scene tree");
    if (scene->nodes == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = scene->view.node_count; i-- > 0;) {
        for (uint32_t j = 0; j < PHOTON_WIDTH; j++) {
            const box b = box_of(scene, PHOTON_WIDTH * i + 1 + j);
            node_set(&scene->nodes[i], j, &b);
        }
    }
    return MOTE_OK;
}

void photon_scan_if_few(photon_view *view) {
    view->is_scanned = view->shape_count > 0 && view->shape_count <= PHOTON_SCANNED_SHAPES;
    view->spheres = 0;
    for (uint32_t i = 0; i < view->shape_count && view->is_scanned; i++) {
        if (view->shapes[i].is_sphere) view->spheres |= 1ull << i;
    }
}

/* From the nodes of a Potree data set to a cloud: one block of records, filled by all threads. */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "io/notes.h"
#include "io/potree/potree.h"

#define NODES_PER_ROUND 64u         /* per thread; between rounds the caller hears of progress */
#define TRUSTED_BYTES   (64u << 20) /* decompressed without looking first */
#define TRUSTED_RATIO   64u         /* likewise, times the size of the file */

#define OVERLAP_BIT 3u /* of "classification flags" */

typedef enum decode_kind {
    DECODE_COPY,
    DECODE_WHOLE,    /* a double to the 64-bit integer that it was */
    DECODE_NARROW,   /* colours that were 8 bits */
    DECODE_COLOR,    /* of encoding BROTLI */
    DECODE_POSITION, /* three columns of any type */
} decode_kind;

/* How an attribute becomes one or more columns that stand next to each other in the record. */
typedef struct decode_op {
    decode_kind kind;
    uint32_t from;       /* DEFAULT: bytes into the record; BROTLI: bytes per point before it */
    uint32_t from_bytes; /* of a point */
    uint32_t to, to_bytes;
    mote_type type; /* WHOLE: int64 or uint64 */
} decode_op;

typedef struct decoder {
    const potree_layout *layout;
    const potree_node *nodes;
    uint32_t node_count;
    uint64_t *first; /* [node_count + 1] point of the cloud that is the first of a node */
    decode_op *ops;
    uint32_t op_count;
    uint32_t flags_at; /* "classification flags" in the record; UINT32_MAX if there is none */
    uint32_t stride_bytes;
    uint8_t *records;
    uint8_t *flag_bits; /* [threads]: all that occur */
} decoder;

/* ---- the plan */

/* The type of an attribute's columns; wish: that of the source, where the way back is known. */
static mote_type column_type(const potree_attribute *attribute, mote_type wish) {
    const bool whole = attribute->type == MOTE_FLOAT64 && (wish == MOTE_INT64 || wish == MOTE_UINT64);
    const bool narrow = attribute->role == POTREE_COLOR && attribute->type == MOTE_UINT16 && wish == MOTE_UINT8;
    return whole || narrow ? wish : attribute->type;
}

static decode_op plan_op(const decoder *d, const potree_attribute *attribute, mote_type type) {
    const bool brotli = d->layout->brotli;
    decode_op op;
    memset(&op, 0, sizeof op);
    op.kind = type == attribute->type ? DECODE_COPY : type == MOTE_UINT8 ? DECODE_NARROW : DECODE_WHOLE;
    if (attribute->role == POTREE_COLOR && brotli) op.kind = type == MOTE_UINT8 ? DECODE_NARROW : DECODE_COLOR;
    if (attribute->role == POTREE_POSITION) op.kind = DECODE_POSITION;
    op.from = brotli ? attribute->coded_at : attribute->at;
    op.from_bytes = brotli ? potree_coded_bytes(attribute) : potree_attribute_bytes(attribute);
    op.to = d->stride_bytes;
    op.to_bytes = mote_type_size(type) * attribute->elements;
    op.type = type;
    return op;
}

static mote_status plan_ops(decoder *d) {
    const potree_layout *layout = d->layout;
    potree_column_source source;
    d->ops = mote_alloc_zero(layout->ctx, layout->attribute_count * sizeof *d->ops, "decode");
    if (d->ops == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t a = 0; a < layout->attribute_count; a++) {
        const potree_attribute *attribute = &layout->attributes[a];
        potree_layout_column(layout, a, &source);
        decode_op op = plan_op(d, attribute, column_type(attribute, source.type));
        if (op.kind == DECODE_POSITION && layout->has_source) {
            op.to_bytes = 0;
            for (int k = 0; k < 3; k++) op.to_bytes += mote_type_size(layout->source_type[k]);
        }
        if (attribute->role == POTREE_FLAGS) d->flags_at = op.to;
        d->ops[d->op_count++] = op;
        d->stride_bytes += op.to_bytes;
    }
    return MOTE_OK;
}

/* ---- running it */

/* X to the source's number of one axis; false if it does not fit its type. */
static bool store_position(const potree_layout *layout, uint32_t k, int32_t x, uint8_t *to) {
    const mote_type type = layout->has_source ? layout->source_type[k] : MOTE_INT32;
    if (mote_type_is_float(type)) {
        const double world = (double)x * layout->scale[k] + layout->offset[k];
        const float narrow = (float)world;
        if (type == MOTE_FLOAT64) {
            memcpy(to, &world, sizeof world);
        } else {
            memcpy(to, &narrow, sizeof narrow);
        }
        return true;
    }
    const uint32_t bits = 8 * mote_type_size(type);
    const int64_t value = x + (layout->has_source ? layout->source_less[k] : 0);
    memcpy(to, &value, bits / 8); /* little-endian hosts only, as the build checks */
    if (bits == 64) return true;
    const int64_t low = mote_type_is_signed(type) ? -(1ll << (bits - 1)) : 0;
    return value >= low && value < low + (1ll << bits);
}

static bool decode_positions(const decoder *d, const decode_op *op, const uint8_t *from, uint64_t step, uint64_t count,
                             uint8_t *to) {
    const potree_layout *layout = d->layout;
    const bool plain = !layout->has_source;
    bool fits = true;
    uint32_t size_bytes[3];
    for (int k = 0; k < 3; k++) size_bytes[k] = plain ? 4 : mote_type_size(layout->source_type[k]);
    for (uint64_t i = 0; i < count; i++, from += step, to += d->stride_bytes) {
        uint32_t coded[3];
        int32_t xyz[3];
        if (op->from_bytes == POTREE_POSITION_CODED) {
            potree_position_decode(from, coded);
        } else {
            memcpy(coded, from, sizeof coded);
        }
        memcpy(xyz, coded, sizeof xyz);
        uint8_t *at = to;
        for (uint32_t k = 0; k < 3; at += size_bytes[k++]) fits = store_position(layout, k, xyz[k], at) && fits;
    }
    return fits;
}

static void decode_colors(const decoder *d, const decode_op *op, const uint8_t *from, uint64_t step, uint64_t count,
                          uint8_t *to) {
    for (uint64_t i = 0; i < count; i++, from += step, to += d->stride_bytes) {
        uint16_t rgb[3];
        if (op->from_bytes == POTREE_COLOR_CODED) {
            potree_color_decode(from, rgb);
        } else {
            memcpy(rgb, from, sizeof rgb);
        }
        if (op->kind == DECODE_COLOR) memcpy(to, rgb, sizeof rgb);
        for (int c = 0; c < 3 && op->kind == DECODE_NARROW; c++) to[c] = (uint8_t)(rgb[c] < 255 ? rgb[c] : 255);
    }
}

static void decode_whole(const decoder *d, const decode_op *op, const uint8_t *from, uint64_t step, uint64_t count,
                         uint8_t *to) {
    mote_column column;
    memset(&column, 0, sizeof column);
    column.type = MOTE_FLOAT64;
    column.data = from;
    column.stride_bytes = (uint32_t)step;
    for (uint64_t i = 0; i < count; i++, to += d->stride_bytes) mote_column_read(&column, i, 1, op->type, to);
}

/* Inlined with a constant size for the usual ones. */
static inline void copy_fixed(const uint8_t *from, uint64_t step, uint64_t count, uint8_t *to, uint64_t stride,
                              uint32_t size_bytes) {
    for (uint64_t i = 0; i < count; i++) memcpy(to + i * stride, from + i * step, size_bytes);
}

static void decode_copy(const decoder *d, const decode_op *op, const uint8_t *from, uint64_t step, uint64_t count,
                        uint8_t *to) {
    switch (op->to_bytes) {
    case 1: copy_fixed(from, step, count, to, d->stride_bytes, 1); break;
    case 2: copy_fixed(from, step, count, to, d->stride_bytes, 2); break;
    case 4: copy_fixed(from, step, count, to, d->stride_bytes, 4); break;
    case 6: copy_fixed(from, step, count, to, d->stride_bytes, 6); break;
    case 8: copy_fixed(from, step, count, to, d->stride_bytes, 8); break;
    default: copy_fixed(from, step, count, to, d->stride_bytes, op->to_bytes); break;
    }
}

/* A block of a node's points, attribute by attribute. */
static bool decode_block(const decoder *d, const uint8_t *data, uint64_t total, uint64_t first, uint64_t count,
                         uint8_t *records) {
    bool fits = true;
    for (uint32_t o = 0; o < d->op_count; o++) {
        const decode_op *op = &d->ops[o];
        const uint64_t step = d->layout->brotli ? op->from_bytes : d->layout->stride_bytes;
        const uint8_t *from = data + (d->layout->brotli ? total * op->from : op->from) + first * step;
        uint8_t *to = records + op->to;
        switch (op->kind) {
        case DECODE_COPY: decode_copy(d, op, from, step, count, to); break;
        case DECODE_WHOLE: decode_whole(d, op, from, step, count, to); break;
        case DECODE_NARROW:
        case DECODE_COLOR: decode_colors(d, op, from, step, count, to); break;
        case DECODE_POSITION: fits = decode_positions(d, op, from, step, count, to) && fits; break;
        }
    }
    return fits;
}

/* The working memory of a thread, for encoding BROTLI. */
typedef struct decode_worker {
    potree_pool *pool;
    uint8_t *node_data;
    uint64_t capacity;
} decode_worker;

static mote_status unpack_node(const decoder *d, decode_worker *worker, const potree_node *node, bool look,
                               const uint8_t **data) {
    const potree_layout *layout = d->layout;
    const uint8_t *packed = layout->files->octree.data + node->offset;
    const uint64_t size_bytes = (uint64_t)node->points * layout->coded_stride_bytes;
    *data = packed;
    if (!layout->brotli) return MOTE_OK;
    if (worker->pool == NULL) worker->pool = potree_pool_make(layout->ctx);
    if (worker->pool == NULL) return MOTE_ERROR_MEMORY;
    if (!look && !mote_reserve(layout->ctx, (void **)&worker->node_data, &worker->capacity, size_bytes, 1, "decode")) {
        return MOTE_ERROR_MEMORY;
    }
    *data = worker->node_data;
    if (!potree_decompress(worker->pool, packed, node->size_bytes, look ? NULL : worker->node_data, size_bytes)) {
        return mote_malformed(layout->ctx, &layout->files->octree, node->offset,
                              "%llu bytes are no brotli stream of %u points of %u bytes",
                              (unsigned long long)node->size_bytes, node->points, layout->coded_stride_bytes);
    }
    return MOTE_OK;
}

static mote_status decode_node(const decoder *d, decode_worker *worker, uint8_t *flag_bits, uint32_t n) {
    const potree_node *node = &d->nodes[n];
    const uint8_t *data = NULL;
    uint8_t *records = d->records + d->first[n] * d->stride_bytes;
    MOTE_TRY(unpack_node(d, worker, node, false, &data));
    for (uint64_t first = 0; first < node->points; first += POTREE_BLOCK_POINTS) {
        const uint64_t remaining = node->points - first,
                       now = remaining < POTREE_BLOCK_POINTS ? remaining : POTREE_BLOCK_POINTS;
        uint8_t *to = records + first * d->stride_bytes;
        if (!decode_block(d, data, node->points, first, now, to)) {
            return mote_malformed(d->layout->ctx, &d->layout->files->octree, node->offset,
                                  "a position does not fit the type that mote.position names");
        }
        for (uint64_t i = 0; d->flags_at != UINT32_MAX && i < now; i++)
            *flag_bits |= to[i * d->stride_bytes + d->flags_at];
    }
    return MOTE_OK;
}

/* All nodes, in rounds; look only checks that they decompress to what they announce. */
static mote_status run_nodes(decoder *d, decode_worker *workers, bool look) {
    mote_context *ctx = d->layout->ctx;
    const uint32_t per_round = NODES_PER_ROUND * (uint32_t)ctx->threads;
    const double all = (double)d->first[d->node_count] + 1;
    for (uint32_t begin = 0; begin < d->node_count; begin += per_round) {
        const uint32_t end = d->node_count - begin < per_round ? d->node_count : begin + per_round;
        MOTE_TRY(mote_progress(ctx, (double)d->first[begin] / all, look ? "checking nodes" : "reading nodes"));
#pragma omp parallel for schedule(dynamic) num_threads(ctx->threads)
        for (uint32_t n = begin; n < end; n++) {
            const int t = omp_get_thread_num();
            const uint8_t *data;
            if (d->nodes[n].points == 0 || mote_context_status(ctx) != MOTE_OK) continue;
            if (look) {
                unpack_node(d, &workers[t], &d->nodes[n], true, &data);
            } else {
                decode_node(d, &workers[t], &d->flag_bits[t], n);
            }
        }
        MOTE_TRY(mote_context_status(ctx));
    }
    return MOTE_OK;
}

/* A few bytes of brotli may announce terabytes. What is far beyond the file's size is decompressed once without keeping
 * it. */
static mote_status fill_records(decoder *d, mote_cloud *cloud) {
    mote_context *ctx = d->layout->ctx;
    const uint64_t file_bytes = d->layout->files->octree.size_bytes, points = d->first[d->node_count];
    const uint64_t trusted = TRUSTED_BYTES > TRUSTED_RATIO * file_bytes ? TRUSTED_BYTES : TRUSTED_RATIO * file_bytes;
    const uint64_t size_bytes = points * d->stride_bytes;
    decode_worker *workers = mote_alloc_zero(ctx, (uint64_t)ctx->threads * sizeof *workers, "decode");
    mote_status status = workers != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && d->layout->brotli && size_bytes > trusted) status = run_nodes(d, workers, true);
    if (status == MOTE_OK) {
        d->records = mote_alloc(ctx, size_bytes, "cloud");
        status = mote_cloud_adopt(cloud, d->records);
    }
    if (status == MOTE_OK) status = run_nodes(d, workers, false);
    for (int t = 0; workers != NULL && t < ctx->threads; t++) {
        potree_pool_free(workers[t].pool);
        mote_free(ctx, workers[t].node_data);
    }
    mote_free(ctx, workers);
    return status;
}

/* ---- columns */

static mote_status add_view(const decoder *d, mote_cloud *cloud, mote_column *view, const char *name, uint32_t at) {
    char free_name[MOTE_NAME_BYTES];
    mote_cloud_free_name(cloud, name, free_name);
    view->name = free_name;
    view->data = d->records + at;
    view->stride_bytes = d->stride_bytes;
    const mote_status status = mote_cloud_add_view(cloud, view);
    view->name = NULL; /* the cloud has its copy */
    return status;
}

static mote_status add_position(const decoder *d, mote_cloud *cloud, uint32_t at) {
    const potree_layout *layout = d->layout;
    for (int k = 0; k < 3; k++) {
        mote_column view;
        memset(&view, 0, sizeof view);
        view.type = layout->has_source ? layout->source_type[k] : MOTE_INT32;
        view.scale = mote_type_is_float(view.type) ? 1 : layout->scale[k];
        view.offset = mote_type_is_float(view.type) ? 0
                      : layout->has_source          ? layout->source_offset[k]
                                                    : layout->offset[k];
        MOTE_TRY(add_view(d, cloud, &view, mote_axis_names[k], at));
        at += mote_type_size(view.type);
    }
    return MOTE_OK;
}

static mote_status add_flags(const decoder *d, mote_cloud *cloud, uint32_t at) {
    uint8_t bits = 0;
    for (int t = 0; t < d->layout->ctx->threads; t++) bits |= d->flag_bits[t];
    for (uint8_t f = 0; f < 4; f++) {
        if (f == OVERLAP_BIT && (bits >> f & 1) == 0 && potree_layout_lacks_overlap(d->layout)) continue;
        mote_column view;
        memset(&view, 0, sizeof view);
        view.type = MOTE_UINT8;
        view.bit_shift = f;
        view.bit_count = 1;
        MOTE_TRY(add_view(d, cloud, &view, potree_flag_columns[f], at));
    }
    if (bits < 16) return MOTE_OK; /* else more is in it than those four: keep it whole as well */
    mote_column whole;
    memset(&whole, 0, sizeof whole);
    whole.type = MOTE_UINT8;
    return add_view(d, cloud, &whole, "classification_flags", at);
}

/* The name of one of several elements. */
static void element_name(const potree_attribute *attribute, uint32_t e, char out[MOTE_NAME_BYTES]) {
    static const char *const colors[4] = {"red", "green", "blue", "alpha"};
    const char *name = attribute->name;
    const bool normal = strcmp(name, "NORMAL") == 0 || strcmp(name, "normal") == 0;
    const bool color = attribute->role == POTREE_COLOR || strcmp(name, "rgba") == 0 || strcmp(name, "RGBA") == 0;
    if (color && attribute->elements <= 4) {
        snprintf(out, MOTE_NAME_BYTES, "%s", colors[e]);
    } else if (normal && attribute->elements == 3) {
        snprintf(out, MOTE_NAME_BYTES, "normal_%c", (char)('x' + e));
    } else {
        snprintf(out, MOTE_NAME_BYTES, "%.100s_%u", name, e);
    }
}

static bool read_limit(const char *text, mote_type type, uint64_t *limit) {
    return mote_limit_read((const uint8_t *)text, strlen(text), type, limit);
}

/* The limits that mote's own folder states of the column that was added last. */
static mote_status keep_limits(mote_cloud *cloud, const potree_column_source *source) {
    const mote_column *column = &cloud->columns[cloud->column_count - 1];
    mote_column_limits limits;
    memset(&limits, 0, sizeof limits);
    limits.has_no_data = read_limit(source->no_data, column->type, &limits.no_data);
    limits.has_min = read_limit(source->min, column->type, &limits.min);
    limits.has_max = read_limit(source->max, column->type, &limits.max);
    return mote_cloud_keep_limits(cloud, column->name, &limits);
}

static mote_status add_elements(const decoder *d, mote_cloud *cloud, uint32_t a) {
    const potree_layout *layout = d->layout;
    const potree_attribute *attribute = &layout->attributes[a];
    const decode_op *op = &d->ops[a];
    potree_column_source source;
    char name[MOTE_NAME_BYTES];
    potree_layout_column(layout, a, &source);
    for (uint32_t e = 0; e < attribute->elements; e++) {
        mote_column view;
        memset(&view, 0, sizeof view);
        view.type = op->type;
        view.unit = source.unit;
        view.description = source.description;
        view.scale = layout->scales[attribute->range + e];
        view.offset = layout->offsets[attribute->range + e];
        if (attribute->elements > 1) {
            element_name(attribute, e, name);
        } else {
            snprintf(name, sizeof name, "%s",
                     source.name[0] != '\0' ? source.name : potree_column_name(attribute->name));
        }
        MOTE_TRY(add_view(d, cloud, &view, name, op->to + e * mote_type_size(op->type)));
    }
    return attribute->elements == 1 ? keep_limits(cloud, &source) : MOTE_OK;
}

static mote_status add_columns(const decoder *d, mote_cloud *cloud) {
    const potree_layout *layout = d->layout;
    MOTE_TRY(add_position(d, cloud, d->ops[layout->position].to));
    for (uint32_t a = 0; a < layout->attribute_count; a++) {
        if (a == layout->position) continue;
        MOTE_TRY(layout->attributes[a].role == POTREE_FLAGS ? add_flags(d, cloud, d->ops[a].to)
                                                            : add_elements(d, cloud, a));
    }
    return potree_layout_extras(layout, cloud);
}

/* ---- the whole */

static mote_status place_points(decoder *d) {
    uint64_t points = 0;
    mote_context *ctx = d->layout->ctx;
    d->first = mote_alloc(ctx, (d->node_count + 1ull) * sizeof *d->first, "decode");
    d->flag_bits = mote_alloc_zero(ctx, (uint64_t)ctx->threads, "decode");
    if (d->first == NULL || d->flag_bits == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t n = 0; n < d->node_count; n++) {
        d->first[n] = points;
        points += d->nodes[n].points; /* below 2^64: as many nodes as the file has records */
    }
    d->first[d->node_count] = points;
    if (d->stride_bytes > 0 && points > (UINT64_MAX >> 1) / d->stride_bytes) {
        return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: %llu points of %u bytes", (unsigned long long)points,
                         d->stride_bytes);
    }
    return MOTE_OK;
}

mote_status potree_decode(const potree_layout *layout, const potree_node *nodes, uint32_t count, mote_cloud **out) {
    decoder d;
    mote_cloud *cloud = NULL;
    memset(&d, 0, sizeof d);
    d.layout = layout;
    d.nodes = nodes;
    d.node_count = count;
    d.flags_at = UINT32_MAX;
    mote_status status = plan_ops(&d);
    if (status == MOTE_OK) status = place_points(&d);
    if (status == MOTE_OK) status = mote_cloud_new(layout->ctx, d.first[count], &cloud);
    if (status == MOTE_OK) status = fill_records(&d, cloud);
    if (status == MOTE_OK) status = add_columns(&d, cloud);
    mote_free(layout->ctx, d.first);
    mote_free(layout->ctx, d.ops);
    mote_free(layout->ctx, d.flag_bits);
    if (status != MOTE_OK) {
        mote_cloud_destroy(cloud);
        cloud = NULL;
    }
    *out = cloud;
    return status;
}

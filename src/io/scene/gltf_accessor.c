/* glTF 2.0: accessors, dense, sparse, and without a bufferView, which are zeros. */
#include "io/scene/gltf.h"

#include <mote_have.h>

#if MOTE_HAVE_JANSSON

enum { GLTF_BYTE = 5120, GLTF_UBYTE, GLTF_SHORT, GLTF_USHORT, GLTF_UINT = 5125, GLTF_FLOAT };

/* Elements that no byte of the file stands for: a file of a few bytes must not take all memory. */
#define MAX_ZEROS (1u << 24)

static uint32_t size_of(uint64_t type) {
    return type == GLTF_BYTE || type == GLTF_UBYTE     ? 1
           : type == GLTF_SHORT || type == GLTF_USHORT ? 2
           : type == GLTF_UINT || type == GLTF_FLOAT   ? 4
                                                       : 0;
}

static uint32_t components_of(const char *type) {
    static const char *const names[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
    for (uint32_t i = 0; i < 4 && type != NULL; i++) {
        if (strcmp(type, names[i]) == 0) return i + 1;
    }
    return 0;
}

static uint64_t element_bytes(const gltf_accessor *a) { return (uint64_t)size_of(a->type) * a->components; }

/* Finds count elements in a bufferView. json: what names it, and maybe a byteOffset. */
static mote_status find_elements(gltf_file *f, uint64_t i, const json_t *json, uint64_t count, uint64_t element,
                                 const uint8_t **data, uint64_t *stride_bytes) {
    uint64_t view, offset, size = 0;
    if (!gltf_index(f, json, "bufferView", "bufferViews", &view) || view == GLTF_NONE) {
        return gltf_wrong(f, "accessors", i, "its bufferView is not there");
    }
    if (!gltf_integer(json, "byteOffset", 0, &offset)) {
        return gltf_wrong(f, "accessors", i, "its byteOffset is out of range");
    }
    MOTE_TRY(gltf_buffer_view(f, view, data, &size, stride_bytes));
    if (*stride_bytes == 0) *stride_bytes = element;
    if (offset > size ||
        (count > 0 && (size - offset < element || count - 1 > (size - offset - element) / *stride_bytes))) {
        return gltf_wrong(f, "accessors", i, "%llu elements of %llu bytes are not in the %llu bytes of its bufferView",
                          (unsigned long long)count, (unsigned long long)element, (unsigned long long)size);
    }
    *data += offset;
    return MOTE_OK;
}

/* Elements of which the file tells some alone: those of the bufferView, or zeros, with these in place of others. */
static mote_status open_sparse(gltf_file *f, uint64_t i, const json_t *json, gltf_accessor *a) {
    const json_t *sparse = json_object_get(json, "sparse"), *at = json_object_get(sparse, "indices");
    const uint64_t element = element_bytes(a);
    gltf_accessor indices = {.components = 1}, values = *a;
    uint64_t type;
    if (!gltf_integer(sparse, "count", GLTF_NONE, &indices.count) || !gltf_integer(at, "componentType", 0, &type) ||
        (type != GLTF_UBYTE && type != GLTF_USHORT && type != GLTF_UINT)) {
        return gltf_wrong(f, "accessors", i, "the count or the componentType of its sparse part is out of range");
    }
    indices.type = (uint32_t)type;
    values.count = indices.count;
    MOTE_TRY(find_elements(f, i, at, indices.count, size_of(type), &indices.data, &indices.stride_bytes));
    MOTE_TRY(find_elements(f, i, json_object_get(sparse, "values"), values.count, element, &values.data,
                           &values.stride_bytes));
    a->owned = mote_alloc(f->draft->ctx, a->count * element, "scene file");
    if (a->owned == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t k = 0; k < a->count; k++) { memcpy(a->owned + k * element, a->data + k * a->stride_bytes, element); }
    for (uint64_t k = 0; k < indices.count; k++) {
        const uint64_t to = gltf_whole(&indices, k);
        if (to >= a->count) {
            return gltf_wrong(f, "accessors", i, "its sparse part has an element %llu of %llu", (unsigned long long)to,
                              (unsigned long long)a->count);
        }
        memcpy(a->owned + to * element, values.data + k * values.stride_bytes, element);
    }
    a->data = a->owned;
    a->stride_bytes = element;
    return MOTE_OK;
}

mote_status gltf_open_accessor(gltf_file *f, uint64_t i, gltf_accessor *a) {
    static const uint8_t zeros[16] = {0}; /* the largest element, again and again */
    const json_t *json = gltf_element(f, "accessors", i);
    uint64_t type;
    memset(a, 0, sizeof *a);
    if (!gltf_integer(json, "count", GLTF_NONE, &a->count) || a->count == GLTF_NONE ||
        !gltf_integer(json, "componentType", 0, &type) || size_of(type) == 0) {
        return gltf_wrong(f, "accessors", i, "its count or componentType is out of range");
    }
    a->components = components_of(json_string_value(json_object_get(json, "type")));
    if (a->components == 0) return gltf_wrong(f, "accessors", i, "its type is none of SCALAR, VEC2, VEC3, VEC4");
    a->type = (uint32_t)type;
    a->normalized = json_is_true(json_object_get(json, "normalized"));
    if (json_object_get(json, "bufferView") != NULL) {
        MOTE_TRY(find_elements(f, i, json, a->count, element_bytes(a), &a->data, &a->stride_bytes));
    } else if (a->count > MAX_ZEROS) {
        return gltf_wrong(f, "accessors", i, "%llu zeros without a bufferView; at most %u are read",
                          (unsigned long long)a->count, MAX_ZEROS);
    } else {
        a->data = zeros;
    }
    const bool sparse = json_object_get(json, "sparse") != NULL;
    const mote_status status = sparse ? open_sparse(f, i, json, a) : MOTE_OK;
    if (status != MOTE_OK) gltf_close_accessor(f, a);
    return status;
}

void gltf_close_accessor(const gltf_file *f, gltf_accessor *a) {
    mote_free(f->draft->ctx, a->owned);
    a->owned = NULL;
}

double gltf_value(const gltf_accessor *a, uint64_t i, uint32_t component) {
    const uint8_t *at = a->data + i * a->stride_bytes + (uint64_t)component * size_of(a->type);
    int16_t s;
    uint16_t us;
    uint32_t ui;
    float real;
    switch (a->type) {
    case GLTF_BYTE: return a->normalized ? (int8_t)*at < -127 ? -1 : (int8_t)*at / 127.0 : (int8_t)*at;
    case GLTF_UBYTE: return a->normalized ? *at / 255.0 : *at;
    case GLTF_SHORT: memcpy(&s, at, sizeof s); return a->normalized ? s < -32767 ? -1 : s / 32767.0 : s;
    case GLTF_USHORT: memcpy(&us, at, sizeof us); return a->normalized ? us / 65535.0 : us;
    case GLTF_UINT: memcpy(&ui, at, sizeof ui); return ui;
    default: memcpy(&real, at, sizeof real); return (double)real;
    }
}

uint64_t gltf_whole(const gltf_accessor *a, uint64_t i) {
    const double value = gltf_value(a, i, 0);
    return value >= 0 ? (uint64_t)value : UINT64_MAX;
}

#endif

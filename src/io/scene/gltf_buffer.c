/* glTF 2.0: buffers, bufferViews and accessors. */
#include "io/scene/gltf.h"

#include <mote_have.h>
#include <stdio.h>

#if MOTE_HAVE_JANSSON

/* ---- buffers */

static int base64_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+' || c == '-') return 62;
    return c == '/' || c == '_' ? 63 : -1;
}

static mote_status decode_base64(gltf_file *f, const char *text, const char *kind, uint64_t i, gltf_buffer *to) {
    uint64_t bits = 0, held = 0, count = 0;
    to->decoded = mote_alloc(f->draft->ctx, strlen(text) / 4 * 3 + 3, "scene file");
    if (to->decoded == NULL) return MOTE_ERROR_MEMORY;
    for (; *text != '\0' && *text != '='; text++) {
        const int value = base64_of(*text);
        if (value < 0) return gltf_wrong(f, kind, i, "its data: address is no base64");
        bits = bits << 6 | (uint64_t)value;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        to->decoded[count++] = (uint8_t)(bits >> held);
    }
    to->data = to->decoded;
    to->size_bytes = count;
    return MOTE_OK;
}

/* %20 and its kin, in place. */
static void unescape(char *text) {
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        static const char digits[] = "0123456789abcdef";
        const char *high = at[0] == '%' && at[1] != '\0' ? strchr(digits, at[1] | 0x20) : NULL;
        const char *low = high != NULL && at[2] != '\0' ? strchr(digits, at[2] | 0x20) : NULL;
        if (low != NULL && (high - digits) * 16 + (low - digits) != 0) {
            *to++ = (char)((high - digits) * 16 + (low - digits));
            at += 2;
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
}

/* Opens a file beside the scene; a failure names the scene's file and the place in it as well. */
static mote_status open_file(gltf_file *f, const char *name, const char *kind, uint64_t i, scene_file *file) {
    mote_context *const ctx = f->draft->ctx;
    char why[512];
    const mote_status status = scene_file_open(f->draft, name, file);
    if (!scene_file_is_dispensable(status)) return status;
    snprintf(why, sizeof why, "%s", mote_context_message(ctx));
    mote_context_clear(ctx);
    return mote_fail(ctx, status, "%s: %s[%llu]: %s", f->input->path, kind, (unsigned long long)i, why);
}

mote_status gltf_open_uri(gltf_file *f, const char *uri, const char *kind, uint64_t i, gltf_buffer *to) {
    if (strncmp(uri, "data:", 5) == 0) {
        const char *text = strstr(uri, ";base64,");
        if (text == NULL) return gltf_wrong(f, kind, i, "its data: address is no base64");
        return decode_base64(f, text + 8, kind, i, to);
    }
    char *const name = mote_strdup(f->draft->ctx, uri);
    if (name == NULL) return MOTE_ERROR_MEMORY;
    unescape(name);
    const mote_status status = open_file(f, name, kind, i, &to->file);
    mote_free(f->draft->ctx, name);
    if (status != MOTE_OK) return status;
    to->data = to->file.input.data;
    to->size_bytes = to->file.input.size_bytes;
    return MOTE_OK;
}

void gltf_close_buffer(mote_context *ctx, gltf_buffer *buffer) {
    mote_free(ctx, buffer->decoded);
    scene_file_close(ctx, &buffer->file);
}

static mote_status open_buffer(gltf_file *f, uint64_t i) {
    gltf_buffer *b = &f->buffers[i];
    uint64_t stated;
    if (b->data != NULL) return MOTE_OK;
    const json_t *json = gltf_element(f, "buffers", i);
    const json_t *uri = json_object_get(json, "uri");
    if (!gltf_integer(json, "byteLength", GLTF_NONE, &stated) || stated == GLTF_NONE) {
        return gltf_wrong(f, "buffers", i, "its byteLength is no whole number");
    }
    if (json_is_string(uri)) {
        MOTE_TRY(gltf_open_uri(f, json_string_value(uri), "buffers", i, b));
    } else if (i == 0 && f->chunk != NULL) {
        b->data = f->chunk;
        b->size_bytes = f->chunk_bytes;
    } else {
        return gltf_wrong(f, "buffers", i, "it has no uri, and there is no binary chunk for it");
    }
    if (b->size_bytes >= stated) return MOTE_OK;
    return gltf_wrong(f, "buffers", i, "%llu bytes are there, of %llu", (unsigned long long)b->size_bytes,
                      (unsigned long long)stated);
}

mote_status gltf_buffer_view(gltf_file *f, uint64_t i, const uint8_t **data, uint64_t *size_bytes,
                             uint64_t *stride_bytes) {
    const json_t *json = gltf_element(f, "bufferViews", i);
    uint64_t buffer, offset, length;
    if (!gltf_index(f, json, "buffer", "buffers", &buffer) || buffer == GLTF_NONE) {
        return gltf_wrong(f, "bufferViews", i, "its buffer is not there");
    }
    if (!gltf_integer(json, "byteOffset", 0, &offset) || !gltf_integer(json, "byteLength", GLTF_NONE, &length) ||
        !gltf_integer(json, "byteStride", 0, stride_bytes) || *stride_bytes > 252) {
        return gltf_wrong(f, "bufferViews", i, "its byteOffset, byteLength or byteStride is out of range");
    }
    MOTE_TRY(open_buffer(f, buffer));
    const uint64_t there = f->buffers[buffer].size_bytes;
    if (offset > there || length > there - offset) {
        return gltf_wrong(f, "bufferViews", i, "bytes %llu + %llu of a buffer that has %llu",
                          (unsigned long long)offset, (unsigned long long)length, (unsigned long long)there);
    }
    *data = f->buffers[buffer].data + offset;
    *size_bytes = length;
    return MOTE_OK;
}

/* ---- accessors */

enum { GLTF_BYTE = 5120, GLTF_UBYTE, GLTF_SHORT, GLTF_USHORT, GLTF_UINT = 5125, GLTF_FLOAT };

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

mote_status gltf_open_accessor(gltf_file *f, uint64_t i, gltf_accessor *a) {
    const json_t *json = gltf_element(f, "accessors", i);
    uint64_t view, offset, type, size = 0, stride = 0;
    if (json_object_get(json, "sparse") != NULL)
        return gltf_wrong(f, "accessors", i, "it is sparse, which is not read");
    if (!gltf_index(f, json, "bufferView", "bufferViews", &view) || view == GLTF_NONE) {
        return gltf_wrong(f, "accessors", i, "its bufferView is not there");
    }
    if (!gltf_integer(json, "byteOffset", 0, &offset) || !gltf_integer(json, "count", GLTF_NONE, &a->count) ||
        !gltf_integer(json, "componentType", 0, &type)) {
        return gltf_wrong(f, "accessors", i, "its byteOffset, count or componentType is out of range");
    }
    a->components = components_of(json_string_value(json_object_get(json, "type")));
    if (a->components == 0) return gltf_wrong(f, "accessors", i, "its type is none of SCALAR, VEC2, VEC3, VEC4");
    a->type = (uint32_t)type;
    a->normalized = json_is_true(json_object_get(json, "normalized"));
    MOTE_TRY(gltf_buffer_view(f, view, &a->data, &size, &stride));
    const uint64_t element = (uint64_t)size_of(type) * a->components;
    if (element == 0) return gltf_wrong(f, "accessors", i, "its componentType is out of range");
    a->stride_bytes = stride > 0 ? stride : element;
    if (offset > size ||
        (a->count > 0 && (size - offset < element || a->count - 1 > (size - offset - element) / a->stride_bytes))) {
        return gltf_wrong(f, "accessors", i, "%llu elements of %llu bytes are not in the %llu bytes of its bufferView",
                          (unsigned long long)a->count, (unsigned long long)element, (unsigned long long)size);
    }
    a->data += offset;
    return MOTE_OK;
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

/* glTF 2.0: buffers and bufferViews. */
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

#endif

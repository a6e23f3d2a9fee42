/* The XML of a file, read by expat as it streams by: what is kept is what points need. */
#include "io/e57/e57_xml.h"

#include <inttypes.h>
#include <math.h>
#include <mote_have.h>

#include "io/text/text.h"

#if MOTE_HAVE_EXPAT
#include <expat.h>
#endif

void mote_e57_file_close(mote_context *ctx, e57_file *file) {
    for (uint64_t i = 0; i < file->scan_count; i++) {
        e57_scan *const scan = &file->scans[i];
        char *const texts[] = {scan->name, scan->guid, scan->description, scan->vendor, scan->model, scan->serial};
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) mote_free(ctx, texts[k]);
        for (uint64_t k = 0; k < scan->field_count; k++) mote_free(ctx, scan->fields[k].name);
        mote_free(ctx, scan->fields);
    }
    mote_free(ctx, file->scans);
    mote_free(ctx, file->library);
    mote_free(ctx, file->crs);
    mote_free(ctx, file->normals);
}

#if MOTE_HAVE_EXPAT

#define CHUNK_BYTES (64u << 10)
#define TOKEN_BYTES (1u << 20) /* the longest tag or text; what is longer means no good */

static uint64_t place_of(const e57_xml *x) {
    const XML_Index index = XML_GetCurrentByteIndex(x->parser);
    return e57_physical(x->file->xml_at + (index > 0 ? (uint64_t)index : 0));
}

/* Notes the place at the beginning of each event. */
static void note_event(e57_xml *x) {
    x->event_bytes = x->fed_bytes;
    x->place = place_of(x);
}

/* ---- what expat calls */

static void on_begin(void *user, const XML_Char *name, const XML_Char **attributes) {
    e57_xml *const x = user;
    note_event(x);
    if (x->status != MOTE_OK) return;
    const size_t length = strlen(name);
    if (x->depth == E57_XML_DEPTH || x->path_length + length + 2 > sizeof x->path) {
        mote_e57_xml_fail(x, "the XML is nested deeper than %d elements, or its names are too long", E57_XML_DEPTH);
        return;
    }
    e57_element *const element = &x->elements[x->depth++];
    memset(element, 0, sizeof *element);
    element->path_length = x->path_length;
    x->path[x->path_length++] = '/';
    memcpy(x->path + x->path_length, name, length + 1);
    x->path_length += length;
    x->text_length = 0;
    element->place = x->place;
    mote_e57_xml_begin(x, name, attributes);
}

static void on_end(void *user, const XML_Char *name) {
    e57_xml *const x = user;
    (void)name;
    note_event(x);
    if (x->status != MOTE_OK || x->depth == 0) return;
    x->text[x->text_length] = '\0';
    mote_e57_xml_end(x);
    x->path_length = x->elements[--x->depth].path_length;
    x->path[x->path_length] = '\0';
    x->text_length = 0;
}

static void on_text(void *user, const XML_Char *text, int length) {
    e57_xml *const x = user;
    note_event(x);
    if (x->status != MOTE_OK) return;
    if (x->text_length + (uint64_t)length > TOKEN_BYTES) {
        mote_e57_xml_fail(x, "a text of more than %u bytes in the XML", TOKEN_BYTES);
        return;
    }
    void *memory = x->text;
    const bool held =
        mote_reserve(x->ctx, &memory, &x->text_capacity, x->text_length + (uint64_t)length + 1, 1, "E57 XML");
    x->text = memory;
    if (!held) {
        mote_e57_xml_no_memory(x);
        return;
    }
    memcpy(x->text + x->text_length, text, (size_t)length);
    x->text_length += (uint64_t)length;
}

/* E57 has no document type, and so no entities: those of an attacker would grow without bound. */
static void on_document_type(void *user, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                             int has) {
    (void)name, (void)system, (void)public, (void)has;
    e57_xml *const x = user;
    note_event(x);
    mote_e57_xml_fail(x, "the XML declares a document type, which E57 does not have");
    XML_StopParser(x->parser, XML_FALSE);
}

static void on_rest(void *user, const XML_Char *text, int length) {
    (void)text, (void)length;
    e57_xml *const x = user;
    x->event_bytes = x->fed_bytes;
}

/* ---- the bytes */

static mote_status feed(e57_xml *x) {
    uint8_t *const chunk = x->chunk;
    const uint64_t total = x->file->xml_bytes;
    while (x->fed_bytes < total && x->status == MOTE_OK) {
        const uint64_t remaining = total - x->fed_bytes;
        const uint64_t part = remaining < CHUNK_BYTES ? remaining : CHUNK_BYTES;
        MOTE_TRY(mote_e57_read_payload(x->ctx, x->input, x->file->xml_at + x->fed_bytes, part, chunk));
        x->fed_bytes += part;
        if (XML_Parse(x->parser, (const char *)chunk, (int)part, x->fed_bytes == total) == XML_STATUS_ERROR) break;
        if (x->fed_bytes - x->event_bytes > TOKEN_BYTES) {
            mote_e57_xml_fail(x, "a tag of more than %u bytes in the XML", TOKEN_BYTES);
        }
        MOTE_TRY(mote_progress(x->ctx, 0, "reading E57"));
    }
    MOTE_TRY(x->status);
    const enum XML_Error error = XML_GetErrorCode(x->parser);
    if (error == XML_ERROR_NO_MEMORY) return mote_fail(x->ctx, MOTE_ERROR_MEMORY, "out of memory: E57 XML");
    if (error == XML_ERROR_NONE) return MOTE_OK;
    return mote_malformed(x->ctx, x->input, place_of(x), "the XML is not well-formed: %s (line %lu)",
                          XML_ErrorString(error), (unsigned long)XML_GetCurrentLineNumber(x->parser));
}

mote_status mote_e57_read_xml(mote_context *ctx, const mote_input *input, e57_file *file) {
    e57_xml x = {.ctx = ctx, .input = input, .file = file};
    if (file->xml_bytes == 0) return mote_malformed(ctx, input, file->xml_at, "the file has no XML");
    x.chunk = mote_alloc(ctx, CHUNK_BYTES, "E57 XML");
    x.text = mote_alloc(ctx, x.text_capacity = 256, "E57 XML");
    x.parser = XML_ParserCreate(NULL);
    mote_status status = x.chunk != NULL && x.text != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && x.parser == NULL) status = mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: E57 XML");
    if (status == MOTE_OK) {
        XML_SetUserData(x.parser, &x);
        XML_SetElementHandler(x.parser, on_begin, on_end);
        XML_SetCharacterDataHandler(x.parser, on_text);
        XML_SetStartDoctypeDeclHandler(x.parser, on_document_type);
        XML_SetDefaultHandler(x.parser, on_rest);
        status = feed(&x);
    }
    if (x.parser != NULL) XML_ParserFree(x.parser);
    mote_free(ctx, x.text);
    mote_free(ctx, x.chunk);
    return status;
}

#else

mote_status mote_e57_read_xml(mote_context *ctx, const mote_input *input, e57_file *file) {
    (void)file;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: this build of mote has no expat, and without it reads no E57",
                     input->path);
}

#endif

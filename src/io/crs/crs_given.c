#define _GNU_SOURCE /* stat */
#include "io/crs/crs_given.h"

#include <stdio.h>
#include <sys/stat.h>

#include "io/crs/crs_codes.h"
#include "io/crs/crs_proj.h"
#include "io/crs/crs_units.h"
#include "io/crs/wkt.h"
#include "io/io_internal.h"

#define FILE_BYTES_MAX (1u << 20) /* of a text of one system: real ones have a few thousand */

/* Whether it is a text of a system by its form, and no name of anything. */
static bool is_text(const char *given) {
    crs_codes codes;
    return *given == '+' || *given == '{' || mote_crs_is_wkt(given) || mote_crs_codes(given, &codes);
}

/* "25832" or "25832+7837" */
static bool is_number(const char *given) {
    for (int part = 0; part < 2; part++) {
        const size_t digits = strspn(given, "0123456789");
        if (digits == 0 || digits >= 8) return false;
        given += digits;
        if (*given != '+') break;
        given++;
    }
    return given[strspn(given, " \t\r\n")] == '\0';
}

static mote_status copy_text(mote_context *ctx, const char *from, size_t length, char **text) {
    while (length > 0 && strchr(" \t\r\n", from[length - 1]) != NULL) length--;
    const bool number = is_number(from);
    *text = mote_alloc_zero(ctx, length + 8, "texts");
    if (*text == NULL) return MOTE_ERROR_MEMORY;
    if (number) memcpy(*text, "EPSG:", 5);
    memcpy(*text + (number ? 5 : 0), from, length);
    return MOTE_OK;
}

/* The text in a file, without the mark that some editors put in front. */
static mote_status read_file(mote_context *ctx, const char *path, char **text) {
    mote_input input;
    MOTE_TRY(mote_input_open(ctx, path, &input));
    const uint64_t mark = input.size_bytes >= 3 && memcmp(input.data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    const uint64_t length = input.size_bytes - mark;
    mote_status status = MOTE_OK;
    char *copy = NULL;
    if (length == 0 || length > FILE_BYTES_MAX || memchr(input.data + mark, '\0', length) != NULL) {
        status = mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: this file is no text of a reference system", path);
    } else {
        copy = mote_alloc_zero(ctx, length + 1, "texts");
        if (copy == NULL) status = MOTE_ERROR_MEMORY;
        if (copy != NULL) memcpy(copy, input.data + mark, length);
    }
    mote_input_close(ctx, &input);
    if (status == MOTE_OK) {
        const char *from = copy + strspn(copy, " \t\r\n");
        if (!is_text(from) && !is_number(from)) {
            status = mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: this file is no text of a reference system", path);
        } else {
            status = copy_text(ctx, from, strlen(from), text);
        }
    }
    mote_free(ctx, copy);
    return status;
}

mote_status mote_crs_given(mote_context *ctx, const char *given, char **text) {
    struct stat info;
    *text = NULL;
    given += strspn(given, " \t\r\n");
    if (*given == '\0') return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "a reference system of no text is none");
    if (!is_text(given) && !is_number(given) && stat(given, &info) == 0 && S_ISREG(info.st_mode)) {
        return read_file(ctx, given, text);
    }
    return copy_text(ctx, given, strlen(given), text);
}

static mote_status check_wkt(mote_context *ctx, const char *text) {
    size_t at = 0;
    if (wkt_is_valid(text, strlen(text), &at)) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the reference system is no well-known text: byte %zu, \"%.20s\"", at,
                     text + at);
}

mote_status mote_crs_text(mote_context *ctx, const char *given, uint32_t heights, char **text) {
    crs_codes codes;
    const bool only_codes = mote_crs_codes(given, &codes);
    *text = NULL;
    if (mote_crs_is_wkt(given)) MOTE_TRY(check_wkt(ctx, given));
    if (mote_crs_has_proj()) return mote_crs_proj_text(ctx, given, heights, text);
    if (mote_crs_is_wkt(given)) return copy_text(ctx, given, strlen(given), text);
    if (!only_codes) return mote_crs_proj_text(ctx, given, heights, text); /* which says that it is not there */
    mote_units units;
    mote_crs_units_of_codes(codes.horizontal, codes.vertical, &units);
    if (codes.vertical == 0 && units.vertical.name[0] == '\0') codes.vertical = heights;
    char made[48];
    snprintf(made, sizeof made, codes.vertical != 0 ? "EPSG:%u+%u" : "EPSG:%u", codes.horizontal, codes.vertical);
    return copy_text(ctx, made, strlen(made), text);
}

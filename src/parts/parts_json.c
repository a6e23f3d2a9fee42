/* Numbers in JSON that come back as they were: integers of 64 bits as digits, reals with those that are not finite. */
#include <math.h>
#include <mote_have.h>
#include <stdlib.h>

#include "parts/parts_job.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>
#include <stdio.h>
#include <string.h>

json_t *parts_put_bits(uint64_t bits) { return json_sprintf("%016llx", (unsigned long long)bits); }

json_t *parts_put_real(double value) {
    if (isfinite(value)) return json_real(value);
    return json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

bool parts_add(json_t *object, const char *key, json_t *value) {
    return json_is_array(object) ? json_array_append_new(object, value) == 0
                                 : json_object_set_new(object, key, value) == 0;
}

static const json_t *member(const json_t *object, const char *key) {
    return key != NULL ? json_object_get(object, key) : object;
}

bool parts_take_bits(const json_t *object, const char *key, uint64_t *bits) {
    const char *text = json_string_value(member(object, key));
    if (text == NULL || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) return false;
    *bits = strtoull(text, NULL, 16);
    return true;
}

bool parts_take_count(const json_t *object, const char *key, uint64_t max, uint64_t *count) {
    const json_t *value = member(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *count = (uint64_t)json_integer_value(value);
    return *count <= max;
}

bool parts_take_real(const json_t *value, double *real) {
    const char *text = json_string_value(value);
    *real = text == NULL ? json_number_value(value) : strcmp(text, "inf") == 0 ? INFINITY : -INFINITY;
    if (text == NULL) return json_is_number(value);
    if (strcmp(text, "nan") == 0) *real = NAN;
    return strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0 || strcmp(text, "nan") == 0;
}

/* ---- places and colours */

bool parts_add_axes(json_t *object, const char *key, const int64_t values[3]) {
    json_t *list = json_array();
    bool ok = parts_add(object, key, list);
    for (int k = 0; k < 3 && ok; k++) ok = parts_add(list, NULL, json_integer(values[k]));
    return ok;
}

bool parts_take_axes(const json_t *list, int64_t values[3]) {
    for (size_t k = 0; k < 3; k++) {
        if (!json_is_integer(json_array_get(list, k))) return false;
        values[k] = json_integer_value(json_array_get(list, k));
    }
    return true;
}

bool parts_add_place(json_t *object, const char *key, const double values[3]) {
    json_t *list = json_array();
    bool ok = parts_add(object, key, list);
    for (int k = 0; k < 3 && ok; k++) ok = parts_add(list, NULL, parts_put_real(values[k]));
    return ok;
}

bool parts_take_place(const json_t *list, double values[3]) {
    for (size_t k = 0; k < 3; k++) {
        if (!parts_take_real(json_array_get(list, k), &values[k])) return false;
    }
    return true;
}

bool parts_add_color(json_t *list, const mote_color_range *range) {
    json_t *o = json_array();
    return parts_add(list, NULL, o) && parts_add(o, NULL, parts_put_real(range->low)) &&
           parts_add(o, NULL, parts_put_real(range->high)) &&
           parts_add(o, NULL, json_integer((json_int_t)range->missing)) &&
           parts_add(o, NULL, json_integer((json_int_t)range->infinite)) &&
           parts_add(o, NULL, json_integer((json_int_t)range->fractions));
}

bool parts_take_color(const json_t *list, mote_color_range *range) {
    return parts_take_real(json_array_get(list, 0), &range->low) &&
           parts_take_real(json_array_get(list, 1), &range->high) &&
           parts_take_count(json_array_get(list, 2), NULL, INT64_MAX, &range->missing) &&
           parts_take_count(json_array_get(list, 3), NULL, INT64_MAX, &range->infinite) &&
           parts_take_count(json_array_get(list, 4), NULL, INT64_MAX, &range->fractions);
}

/* ---- files */

mote_status parts_plan_hash(parts_job *job) {
    static const char *const predicted[] = {"memory_bytes", "memory_limit_bytes", "scratch_bytes", "seconds"};
    json_t *said = json_deep_copy(job->json), *part;
    size_t p;
    json_object_del(said, "made_by");
    json_object_del(said, "hash");
    json_array_foreach(json_object_get(said, "parts"), p, part) {
        for (size_t k = 0; k < sizeof predicted / sizeof predicted[0]; k++) json_object_del(part, predicted[k]);
    }
    char *text = said != NULL ? json_dumps(said, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) : NULL;
    if (text != NULL) job->hash = potree_hash_chain(0, text, strlen(text));
    json_decref(said);
    free(text);
    return text != NULL ? MOTE_OK : mote_fail(job->ctx, MOTE_ERROR_MEMORY, "out of memory: the plan");
}

#define SEAL       ",\n \"hash\": \""
#define SEAL_END   "\"\n}"
#define SEAL_BYTES (sizeof SEAL - 1 + 16 + sizeof SEAL_END - 1)

_Static_assert(SEAL_BYTES < PARTS_SEAL_BYTES, "room for a seal and the end of the text");

/* The text in front of a seal; SIZE_MAX: there is none. */
static size_t find_seal(const char *text, size_t size) {
    while (size > 0 && text[size - 1] == '\n') size--;
    const size_t at = size > SEAL_BYTES ? size - SEAL_BYTES : 0;
    return at > 0 && memcmp(text + at, SEAL, sizeof SEAL - 1) == 0 ? at : SIZE_MAX;
}

static void write_seal(const char *text, size_t size, char *seal) {
    const unsigned long long hash = potree_hash_chain(0, text, size);
    snprintf(seal, SEAL_BYTES + 1, SEAL "%016llx" SEAL_END, hash);
}

void parts_json_seal(char *text) {
    size_t size = find_seal(text, strlen(text));
    if (size == SIZE_MAX) { /* without what closes the object */
        size = strlen(text);
        while (size > 0 && strchr(" \n", text[size - 1]) != NULL) size--;
        size -= size > 0 && text[size - 1] == '}';
        while (size > 0 && strchr(" \n", text[size - 1]) != NULL) size--;
    }
    write_seal(text, size, text + size);
}

bool parts_json_is_sealed(const void *data, uint64_t size_bytes) {
    const size_t size = find_seal(data, size_bytes);
    char seal[SEAL_BYTES + 1];
    if (size == SIZE_MAX) return false;
    write_seal(data, size, seal);
    return memcmp((const char *)data + size, seal, SEAL_BYTES) == 0;
}

mote_status parts_json_write(mote_context *ctx, const json_t *json, const char *path, bool at_once) {
    mote_output output;
    char *dumped = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    char *text = dumped != NULL ? realloc(dumped, strlen(dumped) + PARTS_SEAL_BYTES) : NULL;
    if (text == NULL) {
        free(dumped);
        return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: the JSON of %s", path);
    }
    parts_json_seal(text);
    mote_status status = mote_output_open(ctx, path, &output);
    if (status == MOTE_OK) {
        output.is_part = at_once;
        status = mote_output_close(ctx, &output, mote_output_text(ctx, &output, text));
    }
    free(text);
    return status;
}
#endif

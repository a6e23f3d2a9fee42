/* How an octree is made, as JSON: of a plan of parts, and of inputs.json. */
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/potree/potree.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

static const char *const schemes[] = {"additive", "replacing", NULL};
static const char *const samplings[] = {"random", "first", "poisson", NULL};
static const char *const filters[] = {"none", "cell", "neighbors", "gaussian", NULL};
static const char *const encodings[] = {"default", "brotli", NULL};

const char *potree_request_lacks(const mote_read_params *reading, const mote_potree_params *potree) {
    if (reading->bounds != NULL || reading->level >= 0 || reading->resolution != 0) return "bounds and levels";
    if (reading->to_crs != NULL || reading->set != NULL) return "points that are changed on the way";
    return potree->attributes_left_out != NULL ? "attributes that are left out" : NULL;
}

/* ---- putting */

static bool put(json_t *object, const char *key, json_t *value) {
    return json_object_set_new(object, key, value) == 0; /* NULL: there was no memory for it */
}

static json_t *optional(const char *text) { return text != NULL ? json_string(text) : json_null(); }

static json_t *bits(uint64_t value) { return json_sprintf("%016llx", (unsigned long long)value); }

bool potree_request_put(const mote_read_params *reading, const mote_lod_params *lod, const mote_potree_params *potree,
                        json_t *to) {
    json_t *r = json_object(), *o = json_object(), *f = json_object();
    bool ok = put(to, "reading", r) && put(r, "where", optional(reading->where)) &&
              put(r, "select", optional(reading->select)) && put(r, "crs", optional(reading->crs)) &&
              put(r, "crs_ballpark", json_boolean(reading->crs_ballpark)) &&
              put(r, "salvage", json_boolean(reading->salvage)) &&
              put(r, "keep_poses", json_boolean(reading->keep_poses));
    ok = put(to, "octree", o) && ok && put(o, "scheme", json_string(schemes[lod->scheme])) &&
         put(o, "sampling", json_string(samplings[lod->sampling])) &&
         put(o, "filter", json_string(filters[lod->filter])) && put(o, "grid", json_integer(lod->grid)) &&
         put(o, "merge_points", json_integer(lod->merge_points)) &&
         put(o, "max_node_points", bits(lod->max_node_points)) && put(o, "seed", bits(lod->seed));
    ok = put(to, "folder", f) && ok && put(f, "name", optional(potree->name)) &&
         put(f, "description", optional(potree->description)) &&
         put(f, "encoding", json_string(encodings[potree->encoding])) &&
         put(f, "brotli_quality", json_integer(potree->brotli_quality));
    return ok;
}

/* ---- taking */

static bool take_text(const json_t *object, const char *key, const char **text) {
    const json_t *value = json_object_get(object, key);
    *text = json_string_value(value);
    return json_is_string(value) || json_is_null(value);
}

static bool take_word(const json_t *object, const char *key, const char *const *words, int *which) {
    const char *word = json_string_value(json_object_get(object, key));
    for (*which = 0; word != NULL && words[*which] != NULL; ++*which) {
        if (strcmp(word, words[*which]) == 0) return true;
    }
    return false;
}

static bool take_flag(const json_t *object, const char *key, bool *flag) {
    *flag = json_is_true(json_object_get(object, key));
    return json_is_boolean(json_object_get(object, key));
}

static bool take_count(const json_t *object, const char *key, json_int_t max, uint32_t *count) {
    const json_t *value = json_object_get(object, key);
    const json_int_t number = json_integer_value(value);
    *count = (uint32_t)number;
    return json_is_integer(value) && number >= 0 && number <= max;
}

static bool take_bits(const json_t *object, const char *key, uint64_t *value) {
    const char *text = json_string_value(json_object_get(object, key));
    if (text == NULL || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) return false;
    *value = strtoull(text, NULL, 16);
    return true;
}

static bool take_octree(const json_t *o, mote_lod_params *lod) {
    int scheme, sampling, filter;
    *lod = mote_lod_defaults();
    if (!take_word(o, "scheme", schemes, &scheme) || !take_word(o, "sampling", samplings, &sampling) ||
        !take_word(o, "filter", filters, &filter)) {
        return false;
    }
    lod->scheme = (mote_lod_scheme)scheme;
    lod->sampling = (mote_lod_sampling)sampling;
    lod->filter = (mote_lod_filter)filter;
    return take_count(o, "grid", UINT32_MAX, &lod->grid) &&
           take_count(o, "merge_points", UINT32_MAX, &lod->merge_points) &&
           take_bits(o, "max_node_points", &lod->max_node_points) && take_bits(o, "seed", &lod->seed);
}

static bool take_folder(const json_t *f, mote_potree_params *potree) {
    int encoding;
    uint32_t quality;
    *potree = mote_potree_defaults();
    if (!take_text(f, "name", &potree->name) || !take_text(f, "description", &potree->description)) return false;
    if (json_object_get(f, "encoding") == NULL) return true; /* plans did not name it, which have but one */
    if (!take_word(f, "encoding", encodings, &encoding) || !take_count(f, "brotli_quality", 11, &quality)) {
        return false;
    }
    potree->encoding = (mote_potree_encoding)encoding;
    potree->brotli_quality = (int)quality;
    return true;
}

const char *potree_request_take(const json_t *from, mote_read_params *reading, mote_lod_params *lod,
                                mote_potree_params *potree) {
    const json_t *r = json_object_get(from, "reading");
    *reading = mote_read_defaults();
    if (!take_text(r, "where", &reading->where) || !take_text(r, "select", &reading->select) ||
        !take_text(r, "crs", &reading->crs) || !take_flag(r, "crs_ballpark", &reading->crs_ballpark) ||
        !take_flag(r, "salvage", &reading->salvage) || !take_flag(r, "keep_poses", &reading->keep_poses)) {
        return "\"reading\"";
    }
    if (!take_octree(json_object_get(from, "octree"), lod)) return "\"octree\"";
    return take_folder(json_object_get(from, "folder"), potree) ? NULL : "\"folder\"";
}
#endif

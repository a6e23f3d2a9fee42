/* Writes metadata.json: what every viewer reads, and an object "mote" with what a way back to the source needs. */
#include <float.h>
#include <math.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/crs/crs_written.h"
#include "io/notes.h"
#include "io/potree/potree.h"
#include "io/potree/potree_math.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

bool potree_has_jansson(void) { return true; }

/* jansson's functions take NULL for "there was no memory" and pass it on; the end of the chain is noted here. */
typedef struct json_builder {
    mote_context *ctx;
    bool failed;
} json_builder;

static void put(json_builder *b, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) != 0) b->failed = true;
}

static void append(json_builder *b, json_t *array, json_t *value) {
    if (json_array_append_new(array, value) != 0) b->failed = true;
}

/* Text as it is, or cleaned where it is not UTF-8. */
static json_t *text_json(json_builder *b, const char *text) {
    json_t *value = json_string(text);
    if (value != NULL) return value;
    const size_t size_bytes = strlen(text) + 1;
    char *clean = mote_alloc(b->ctx, size_bytes, "metadata");
    if (clean == NULL) return NULL;
    potree_clean_text(text, clean, size_bytes);
    value = json_string(clean);
    mote_free(b->ctx, clean);
    return value;
}

/* Any bytes, as potree_text_to_bytes takes them back. */
static json_t *bytes_json(json_builder *b, const char *bytes) {
    char *text = mote_alloc(b->ctx, 2 * strlen(bytes) + 1, "metadata");
    if (text == NULL) return NULL;
    potree_bytes_to_text(bytes, text);
    json_t *value = json_string(text);
    mote_free(b->ctx, text);
    return value;
}

static json_t *reals_json(json_builder *b, const double *values, uint32_t count) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++) append(b, array, json_real(values[i]));
    return array;
}

static json_t *same_json(json_builder *b, double value, uint32_t count) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++) append(b, array, json_real(value));
    return array;
}

/* ---- attributes */

/* Readers divide by max - min of 8-byte types, so these must differ. */
static potree_range readable_range(const potree_range *range, mote_type type) {
    potree_range out = *range;
    if (out.min > out.max) out.min = out.max = 0;
    if (mote_type_size(type) < 8 || out.min < out.max) return out;
    out.max = out.min + 1 > out.min ? out.min + 1 : nextafter(out.min, INFINITY);
    if (out.max > DBL_MAX) {
        out.max = out.min;
        out.min = nextafter(out.max, -INFINITY);
    }
    return out;
}

/* JSON's integers end where those of 64 bits do. */
static json_int_t whole_limit(double value) {
    const double end = 9223372036854775808.0; /* 2^63 */
    return value >= end ? INT64_MAX : value >= -end ? (json_int_t)value : INT64_MIN;
}

static void put_range(json_builder *b, json_t *object, const potree_attribute *attribute, const potree_range *ranges) {
    json_t *low = json_array(), *high = json_array();
    for (uint32_t e = 0; e < attribute->elements; e++) {
        const potree_range range = readable_range(&ranges[attribute->range + e], attribute->type);
        const bool real = mote_type_is_float(attribute->type);
        append(b, low, real ? json_real(range.min) : json_integer(whole_limit(range.min)));
        append(b, high, real ? json_real(range.max) : json_integer(whole_limit(range.max)));
    }
    put(b, object, "min", low);
    put(b, object, "max", high);
}

/* Around the points that are written. */
static mote_box written_box(const potree_summary *summary) {
    const potree_plan *plan = summary->plan;
    const potree_range *ranges = summary->stats->ranges;
    mote_box box;
    for (int k = 0; k < 3; k++) {
        const bool empty = ranges[k].min > ranges[k].max;
        box.min[k] = empty ? plan->cube_min[k] : ranges[k].min * plan->scale[k] + plan->offset[k];
        box.max[k] = empty ? plan->cube_min[k] : ranges[k].max * plan->scale[k] + plan->offset[k];
    }
    return box;
}

static void put_position_range(json_builder *b, json_t *object, const potree_summary *summary) {
    const mote_box *whole = summary->params->whole_box;
    const mote_box box = whole != NULL ? *whole : written_box(summary);
    put(b, object, "min", reals_json(b, box.min, 3));
    put(b, object, "max", reals_json(b, box.max, 3));
}

static json_t *description_json(json_builder *b, const potree_attribute *attribute) {
    const char *own = attribute->role == POTREE_PLAIN ? attribute->columns[0]->description : "";
    if (attribute->note == NULL) return text_json(b, own);
    const size_t size_bytes = strlen(own) + strlen(attribute->note) + 4;
    char *text = mote_alloc(b->ctx, size_bytes, "metadata");
    if (text == NULL) return NULL;
    snprintf(text, size_bytes, "%s%s%s", own, own[0] != '\0' ? "; " : "", attribute->note);
    json_t *value = text_json(b, text);
    mote_free(b->ctx, text);
    return value;
}

/* The no-data value, as the record holds it, so that viewers can leave such points out. */
static void put_no_data(json_builder *b, json_t *object, const potree_attribute *attribute) {
    if (!attribute->has_no_data) return;
    const double value = potree_key_value(attribute->no_data, attribute->type);
    const bool real = mote_type_is_float(attribute->type);
    json_t *list = json_array();
    append(b, list, real ? json_real(value) : json_integer((json_int_t)value));
    put(b, object, "noData", list);
}

static json_t *attribute_json(json_builder *b, const potree_summary *summary, const potree_attribute *attribute) {
    const uint32_t size_bytes = mote_type_size(attribute->type);
    json_t *object = json_object();
    put(b, object, "name", json_string(attribute->name));
    put(b, object, "description", description_json(b, attribute));
    put(b, object, "size", json_integer(size_bytes * attribute->elements));
    put(b, object, "numElements", json_integer(attribute->elements));
    put(b, object, "elementSize", json_integer(size_bytes));
    put(b, object, "type", json_string(mote_type_name(attribute->type)));
    if (attribute->role == POTREE_POSITION) {
        put_position_range(b, object, summary);
    } else {
        put_range(b, object, attribute, summary->stats->ranges);
    }
    put_no_data(b, object, attribute);
    put(b, object, "scale", same_json(b, attribute->scale, attribute->elements));
    put(b, object, "offset", same_json(b, attribute->offset, attribute->elements));
    if (attribute->at == summary->plan->classes_at) {
        json_t *histogram = json_array();
        for (uint32_t c = 0; c < POTREE_CLASSES; c++) {
            append(b, histogram, json_integer((json_int_t)summary->stats->classes[0][c]));
        }
        put(b, object, "histogram", histogram);
    }
    return object;
}

/* ---- the object "mote" */

/* The name that the reader gives an attribute by itself. */
static bool has_default_name(const potree_attribute *attribute) {
    const char *name = attribute->columns[0]->name;
    return strcmp(potree_column_name(attribute->name), name) == 0;
}

/* The type to turn the attribute back into; NULL where it is that of the file, or the way back is not exact. */
static const char *source_type(const potree_attribute *attribute, const potree_range *ranges) {
    const mote_type type = attribute->columns[0]->type;
    if (attribute->role == POTREE_COLOR) {
        for (int c = 1; c < 3; c++) {
            if (attribute->columns[c]->type != type) return NULL;
        }
        return type == MOTE_UINT8 && mote_color_is_plain(attribute->columns[0]) ? mote_type_name(type) : NULL;
    }
    const potree_range *range = &ranges[attribute->range];
    const double max = 9007199254740992.0; /* 2^53 */
    if (attribute->type == type || range->min < -max || range->max > max) return NULL;
    return mote_type_name(type);
}

static void put_limit(json_builder *b, json_t *object, const char *key, bool has, uint64_t limit, mote_type type) {
    char text[MOTE_TEXT_NUMBER_BYTES];
    if (!has) return;
    mote_limit_put(limit, type, text);
    put(b, object, key, json_string(text));
}

/* The no-data value as a reader makes it of the record's: 64-bit integers are rounded to a
   double on the way, and so is it. min and max are what the source states, whatever the values are. */
static uint64_t read_back(uint64_t no_data, const potree_attribute *attribute, mote_type type) {
    if (attribute->type == type) return no_data;
    return mote_limit_of_real(mote_limit_real(no_data, type), type);
}

static void append_column(json_builder *b, json_t *columns, const potree_summary *summary,
                          const potree_attribute *attribute) {
    const potree_range *ranges = summary->stats->ranges;
    mote_column_limits limits;
    if (attribute->role == POTREE_POSITION || attribute->role == POTREE_FLAGS) return;
    const mote_column *column = attribute->columns[0];
    const bool plain = attribute->role == POTREE_PLAIN;
    const char *type = source_type(attribute, ranges);
    const bool named = !plain || has_default_name(attribute);
    const bool unit = plain && column->unit[0] != '\0';
    const bool noted = plain && attribute->note != NULL && column->description[0] != '\0';
    const bool limited = plain && mote_cloud_limits(summary->source->cloud, column->name, &limits);
    if (type == NULL && named && !unit && !noted && attribute->note == NULL && !limited) return;
    json_t *object = json_object();
    put(b, object, "attribute", json_string(attribute->name));
    if (!named) put(b, object, "name", bytes_json(b, column->name));
    if (type != NULL) put(b, object, "type", json_string(type));
    if (unit) put(b, object, "unit", bytes_json(b, column->unit));
    if (plain && attribute->note != NULL) put(b, object, "description", bytes_json(b, column->description));
    if (limited) {
        put_limit(b, object, "no_data", limits.has_no_data, read_back(limits.no_data, attribute, column->type),
                  column->type);
        put_limit(b, object, "min", limits.has_min, limits.min, column->type);
        put_limit(b, object, "max", limits.has_max, limits.max, column->type);
    }
    append(b, columns, object);
}

/* How X becomes the source's own number again; only where that is exact. */
static void put_position_source(json_builder *b, json_t *mote, const potree_summary *summary) {
    const potree_plan *plan = summary->plan;
    const mote_lattice *lattice = plan->lattice;
    const bool exact = lattice->integer ? lattice->shift == 0 : !summary->stats->inexact;
    if (!exact) return;
    json_t *position = json_object(), *types = json_array(), *less = json_array();
    for (int k = 0; k < 3; k++) {
        append(b, types, json_string(mote_type_name(plan->attributes[0].columns[k]->type)));
        append(b, less, json_integer((json_int_t)(lattice->min[k] - (int64_t)plan->base[k])));
    }
    put(b, position, "type", types);
    if (lattice->integer) {
        put(b, position, "less", less);
        put(b, position, "offset", reals_json(b, lattice->offset, 3));
    } else {
        json_decref(less);
    }
    put(b, mote, "position", position);
}

/* A text of the LAS header. Some writers leave something behind its end: then all 32 bytes go along. */
static void put_header_text(json_builder *b, json_t *object, const char *key, const char *raw_key,
                            const char text[POTREE_LAS_TEXT + 1]) {
    put(b, object, key, bytes_json(b, text));
    bool rest = false;
    for (size_t i = strlen(text); i < POTREE_LAS_TEXT; i++) rest |= text[i] != '\0';
    if (!rest) return;
    char raw[POTREE_LAS_TEXT * 2];
    potree_base64_encode((const uint8_t *)text, POTREE_LAS_TEXT, raw);
    put(b, object, raw_key, json_string(raw));
}

static void put_las(json_builder *b, json_t *mote, const mote_las_origin *las) {
    if (!las->present) return;
    char guid[33];
    for (int i = 0; i < 16; i++) snprintf(guid + 2 * i, 3, "%02x", las->guid[i]);
    json_t *object = json_object();
    put(b, object, "version_minor", json_integer(las->version_minor));
    put(b, object, "format", json_integer(las->format));
    put(b, object, "file_source_id", json_integer(las->file_source_id));
    put(b, object, "global_encoding", json_integer(las->global_encoding));
    put(b, object, "creation_day", json_integer(las->creation_day));
    put(b, object, "creation_year", json_integer(las->creation_year));
    put(b, object, "guid", json_string(guid));
    put_header_text(b, object, "system_id", "system_id_raw", las->system_id);
    put_header_text(b, object, "software", "software_raw", las->software);
    put(b, mote, "las", object);
}

static json_t *record_json(json_builder *b, const mote_record *record) {
    char *data = mote_alloc(b->ctx, potree_base64_bytes(record->size_bytes), "metadata");
    json_t *object = json_object();
    if (data == NULL) b->failed = true;
    if (data != NULL) potree_base64_encode(record->data, record->size_bytes, data);
    put(b, object, "user_id", bytes_json(b, record->user_id));
    put(b, object, "record_id", json_integer(record->record_id));
    put(b, object, "description", bytes_json(b, record->description));
    put(b, object, "extended", json_boolean(record->extended));
    put(b, object, "data", json_string(data));
    mote_free(b->ctx, data);
    return object;
}

static void put_records(json_builder *b, json_t *mote, const mote_cloud *cloud) {
    const uint32_t count = mote_cloud_record_count(cloud);
    uint64_t all_bytes = 0;
    for (uint32_t r = 0; r < count; r++) {
        const uint64_t size_bytes = mote_cloud_record(cloud, r)->size_bytes;
        all_bytes = size_bytes > POTREE_MAX_RECORDS ? POTREE_MAX_RECORDS + 1 : all_bytes + size_bytes;
        if (all_bytes > POTREE_MAX_RECORDS) {
            mote_warn(b->ctx, "the variable-length records are more than %llu MB and are left out",
                      (unsigned long long)(POTREE_MAX_RECORDS >> 20));
            return;
        }
    }
    if (count == 0) return;
    json_t *records = json_array();
    for (uint32_t r = 0; r < count; r++) append(b, records, record_json(b, mote_cloud_record(cloud, r)));
    put(b, mote, "records", records);
}

/* Where nearly all points are, as the leaves tell; false where that is everywhere. */
static bool rest_of_leaves(json_builder *b, const potree_summary *summary, mote_box *rest) {
    const potree_plan *plan = summary->plan;
    uint32_t low[3], high[3];
    bool is_stretched = false;
    if (potree_rest(b->ctx, summary->source, low, high, &is_stretched) != MOTE_OK) b->failed = true;
    for (int k = 0; k < 3 && is_stretched; k++) {
        const double cell = (plan->cube_max[k] - plan->cube_min[k]) / (1u << POTREE_REST_BITS);
        rest->min[k] = plan->cube_min[k] + low[k] * cell;
        rest->max[k] = plan->cube_min[k] + high[k] * cell;
    }
    return is_stretched;
}

/* The same of a sample, which may be one leaf: its points tell. Strays that it does not have show in the box of the
   whole, which is then as much longer. */
static bool rest_of_sample(json_builder *b, const potree_summary *summary, mote_box *rest) {
    const mote_box *whole = summary->params->whole_box;
    double side = 0, whole_side = 0;
    mote_strays strays;
    if (mote_cloud_strays(b->ctx, summary->source->cloud, NULL, &strays) != MOTE_OK) b->failed = true;
    *rest = strays.count > 0 ? strays.rest : written_box(summary);
    for (int k = 0; k < 3; k++) {
        side = fmax(side, rest->max[k] - rest->min[k]);
        whole_side = fmax(whole_side, whole->max[k] - whole->min[k]);
    }
    return side > 0 && side * POTREE_REST_TIMES <= whole_side;
}

/* Where to begin to look, if a few points stretch the cube. */
static void put_rest(json_builder *b, json_t *mote, const potree_summary *summary) {
    const bool is_sample = summary->params->whole_box != NULL;
    mote_box rest;
    if (!(is_sample ? rest_of_sample : rest_of_leaves)(b, summary, &rest)) return;
    json_t *box = json_object();
    put(b, box, "min", reals_json(b, rest.min, 3));
    put(b, box, "max", reals_json(b, rest.max, 3));
    put(b, mote, "rest", box);
}

static json_t *unit_json(json_builder *b, const mote_unit *unit) {
    if (unit->name[0] == '\0') return json_null();
    json_t *object = json_object();
    put(b, object, "name", bytes_json(b, unit->name));
    if (unit->metres > 0) put(b, object, "metres", json_real(unit->metres));
    if (unit->radians > 0) put(b, object, "radians", json_real(unit->radians));
    return object;
}

/* What coordinates count in, for viewers, which would have to know all reference systems otherwise. */
static void put_units(json_builder *b, json_t *mote, const mote_cloud *cloud) {
    mote_units units;
    mote_cloud_units(cloud, &units);
    if (units.horizontal.name[0] == '\0' && units.vertical.name[0] == '\0') return;
    json_t *object = json_object();
    put(b, object, "horizontal", unit_json(b, &units.horizontal));
    put(b, object, "vertical", unit_json(b, &units.vertical));
    put(b, mote, "units", object);
}

static json_t *mote_json(json_builder *b, const potree_summary *summary) {
    const mote_cloud *cloud = summary->source->cloud;
    json_t *mote = json_object(), *columns = json_array();
    put(b, mote, "version", json_string(mote_version()));
    const bool is_sample = summary->params->whole_box != NULL;
    put(b, mote, "points",
        json_integer((json_int_t)(is_sample ? summary->params->whole_points : mote_cloud_count(cloud))));
    put(b, mote, "skipped", json_integer((json_int_t)summary->source->skipped));
    put_position_source(b, mote, summary);
    if (cloud->position_step > 0) put(b, mote, "position_step", json_real(cloud->position_step));
    for (uint32_t a = 0; a < summary->plan->attribute_count; a++) {
        append_column(b, columns, summary, &summary->plan->attributes[a]);
    }
    put(b, mote, "columns", columns);
    put_rest(b, mote, summary);
    put_units(b, mote, cloud);
    put_las(b, mote, &cloud->las);
    put_records(b, mote, cloud);
    return mote;
}

/* ---- the whole */

static json_t *flags_json(json_builder *b, const mote_lod_params *params) {
    static const char *const samplings[] = {"RANDOM-SUBSAMPLING", "FIRST-SUBSAMPLING", "POISSON-SUBSAMPLING"};
    static const char *const filters[] = {NULL, "INTRA-CELL-COLOR-FILTERING", "INTER-CELL-COLOR-AVERAGING",
                                          "INTER-CELL-COLOR-WEIGHTING"};
    json_t *flags = json_array();
    append(b, flags, json_string(params->scheme == MOTE_LOD_REPLACING ? "REPLACING" : "ADDITIVE"));
    append(b, flags, json_string(samplings[params->sampling]));
    if (filters[params->filter] != NULL) append(b, flags, json_string(filters[params->filter]));
    return flags;
}

static json_t *hierarchy_json(json_builder *b, const potree_summary *summary) {
    const potree_source *source = summary->source;
    json_t *hierarchy = json_object();
    put(b, hierarchy, "firstChunkSize", json_integer((json_int_t)summary->first_chunk_bytes));
    put(b, hierarchy, "stepSize", json_integer(POTREE_STEP));
    put(b, hierarchy, "depth", json_integer(source->nodes[source->node_count - 1].level));
    return hierarchy;
}

static json_t *box_json(json_builder *b, const potree_plan *plan) {
    json_t *box = json_object();
    put(b, box, "min", reals_json(b, plan->cube_min, 3));
    put(b, box, "max", reals_json(b, plan->cube_max, 3));
    return box;
}

static json_t *metadata_json(json_builder *b, const potree_summary *summary) {
    const potree_plan *plan = summary->plan;
    const mote_potree_params *params = summary->params;
    const mote_lod_params *lod = summary->source->params;
    json_t *root = json_object(), *attributes = json_array();
    for (uint32_t a = 0; a < plan->attribute_count; a++) {
        append(b, attributes, attribute_json(b, summary, &plan->attributes[a]));
    }
    put(b, root, "version", json_string("2.0"));
    put(b, root, "name", text_json(b, summary->name));
    put(b, root, "description", text_json(b, params->description != NULL ? params->description : ""));
    put(b, root, "points", json_integer((json_int_t)plan->points));
    put(b, root, "projection", text_json(b, mote_cloud_crs(summary->source->cloud)));
    put(b, root, "hierarchy", hierarchy_json(b, summary));
    put(b, root, "offset", reals_json(b, plan->offset, 3));
    put(b, root, "scale", reals_json(b, plan->scale, 3));
    put(b, root, "spacing", json_real(plan->cube_side / lod->grid));
    put(b, root, "boundingBox", box_json(b, plan));
    put(b, root, "encoding", json_string(params->encoding == MOTE_POTREE_BROTLI ? "BROTLI" : "DEFAULT"));
    put(b, root, "flags", flags_json(b, lod));
    put(b, root, "attributes", attributes);
    put(b, root, "mote", mote_json(b, summary));
    return root;
}

/* Potree's viewers hand the projection to proj4js, which knows strings of PROJ and the simpler kinds of WKT, neither
   codes nor compound systems; the whole system is then mote.crs. */
static mote_status shorten_projection(json_builder *b, const mote_cloud *cloud, json_t *root) {
    char *text = NULL;
    MOTE_TRY(mote_crs_written_short(b->ctx, cloud, &text));
    if (text != NULL) {
        put(b, root, "projection", text_json(b, text));
        put(b, json_object_get(root, "mote"), "crs", text_json(b, mote_cloud_crs(cloud)));
    }
    mote_free(b->ctx, text);
    return MOTE_OK;
}

/* Returns the text, which is the caller's to free(); NULL: memory has run out. */
static char *text_of(const json_builder *b, const json_t *root) {
    return b->failed ? NULL : json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
}

mote_status potree_metadata_write(mote_context *ctx, const potree_summary *summary, mote_output *output,
                                  uint64_t *hash) {
    json_builder builder = {ctx, false};
    json_t *root = metadata_json(&builder, summary);
    char *text = text_of(&builder, root);
    /* The checksum is that of the system itself, so that it is the same with every version of PROJ and without. */
    if (text != NULL) *hash = potree_hash_chain(0, text, strlen(text));
    free(text);
    const mote_status status = shorten_projection(&builder, summary->source->cloud, root);
    text = status == MOTE_OK ? text_of(&builder, root) : NULL;
    json_decref(root);
    MOTE_TRY(status);
    if (text == NULL) return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: metadata.json");
    const mote_status written = mote_output_write(ctx, output, text, strlen(text));
    free(text);
    return written;
}

#else

bool potree_has_jansson(void) { return false; }

mote_status potree_metadata_write(mote_context *ctx, const potree_summary *summary, mote_output *output,
                                  uint64_t *hash) {
    (void)summary, (void)output, (void)hash;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, POTREE_NO_JANSSON);
}

#endif

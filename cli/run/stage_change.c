/* Stages that change values or the order of points. */
#define _GNU_SOURCE /* strdup */
#include <inttypes.h>
#include <math.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/pdal_text.h"
#include "run/pipeline.h"

#if MOTE_HAVE_JANSSON

/* ---- order */

#define DIGITS 256u

/* Values as whole numbers of the same order: NaN comes last, as in numpy. */
static void read_keys(const mote_column *column, uint64_t count, uint64_t *keys) {
    const uint64_t top = UINT64_C(1) << 63;
    if (mote_type_is_float(column->type) || column->scale < 0) {
#pragma omp parallel for
        for (int64_t i = 0; i < (int64_t)count; i++) {
            const double value = mote_column_value(column, (uint64_t)i) + 0.0; /* -0 is 0 */
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            keys[i] = isnan(value) ? UINT64_MAX : (bits & top) != 0 ? ~bits : bits | top;
        }
    } else if (column->type == MOTE_UINT64) {
        mote_column_read(column, 0, count, MOTE_UINT64, keys);
    } else {
        mote_column_read(column, 0, count, MOTE_INT64, keys);
        for (uint64_t i = 0; i < count; i++) keys[i] ^= top;
    }
}

/* One pass of a stable radix sort, by the digit at a shift. */
static void sort_digit(const uint64_t *keys, const uint64_t *from, uint64_t *to, uint64_t count, int shift) {
    uint64_t starts[DIGITS + 1] = {0};
    for (uint64_t i = 0; i < count; i++) starts[(keys[i] >> shift & (DIGITS - 1)) + 1]++;
    for (uint32_t d = 0; d < DIGITS; d++) starts[d + 1] += starts[d];
    for (uint64_t i = 0; i < count; i++) to[starts[keys[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
}

/* Sorts indices by one attribute; what was in order before stays so where values are equal. */
static int sort_by(stage_call *call, const mote_column *column, bool descending, uint64_t *indices, uint64_t *spare,
                   uint64_t *keys) {
    const uint64_t count = mote_cloud_count(call->cloud);
    const bool is_real = mote_type_is_float(column->type) || column->scale < 0;
    read_keys(column, count, keys);
    uint64_t differing = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (descending && !(is_real && keys[i] == UINT64_MAX)) keys[i] = ~keys[i] - is_real; /* NaN stays last */
        differing |= keys[i] ^ keys[0];
    }
    for (int shift = 0; shift < 64; shift += 8) {
        if (session_cancelled()) return session_fail(call->s, MOTE_CANCELLED, false);
        if ((differing >> shift & (DIGITS - 1)) == 0) continue;
        sort_digit(keys, indices, spare, count, shift);
        memcpy(indices, spare, (size_t)count * sizeof *indices);
    }
    return EXIT_DONE;
}

/* The last name is sorted by first, so that the first one decides most. */
static int sort_by_names(stage_call *call, const char *names, bool descending, uint64_t *buffers) {
    const uint64_t count = mote_cloud_count(call->cloud);
    size_t end = strlen(names);
    int code = EXIT_DONE;
    for (uint64_t i = 0; i < count; i++) buffers[i] = i;
    while (code == EXIT_DONE && end > 0) {
        size_t begin = end;
        char name[128];
        while (begin > 0 && names[begin - 1] != ',') begin--;
        const size_t blanks = strspn(names + begin, " ");
        snprintf(name, sizeof name, "%.*s", (int)(end - begin - blanks), names + begin + blanks);
        const mote_column *column = mote_cloud_match(call->cloud, name);
        if (column == NULL) return stage_wrong(call, "dimension", "the points have no attribute \"%s\"", name);
        code = sort_by(call, column, descending, buffers, buffers + count, buffers + 2 * count);
        end = begin > 0 ? begin - 1 : 0;
    }
    return code;
}

int stage_sort(stage_call *call) {
    const char *names = NULL;
    int order = 0, algorithm = 0;
    const option rows[] = {
        {"dimension", 0, OPTION_TEXT, &names, NULL, "A,B,…", "by this attribute; where it is equal, by the next one"},
        {"dimensions", 0, OPTION_TEXT, &names, NULL, "A,B,…", "the same"},
        {"order", 0, OPTION_CHOICE, &order, NULL, "ASC|DESC", "default ASC, the least first; NaN comes last"},
        {"algorithm", 0, OPTION_CHOICE, &algorithm, NULL, "NORMAL|STABLE", "both are stable here"},
        {0},
    };
    int code = stage_options(call, rows);
    if (code != EXIT_DONE) return code;
    if (names == NULL || names[0] == '\0') return stage_wrong(call, NULL, "filters.sort needs \"dimension\"");
    if (call->checking) return EXIT_DONE;
    const uint64_t count = mote_cloud_count(call->cloud);
    uint64_t *buffers = malloc((size_t)count * 3 * sizeof *buffers + 1); /* the order, a spare one, keys */
    mote_cloud *sorted = NULL;
    if (buffers == NULL) return session_error(call->s, EXIT_RESOURCES, "out of memory: the order of the points");
    code = sort_by_names(call, names, order == 1, buffers);
    if (code == EXIT_DONE) {
        const mote_status status = mote_cloud_select(call->s->ctx, call->cloud, buffers, count, &sorted);
        code = status == MOTE_OK ? EXIT_DONE : session_fail(call->s, status, false);
    }
    free(buffers);
    if (code == EXIT_DONE) stage_replace(call, sorted);
    return code;
}

int stage_morton_order(stage_call *call) {
    int code = stage_options(call, (const option[]){{0}});
    mote_cloud *sorted = NULL;
    if (code != EXIT_DONE || call->checking) return code;
    const mote_status status = mote_order_cloud(call->s->ctx, call->cloud, &sorted);
    if (status != MOTE_OK) return session_fail(call->s, status, false);
    stage_replace(call, sorted);
    return EXIT_DONE;
}

/* The inputs have been joined already, as those of every stage are. */
int stage_merge(stage_call *call) {
    const option rows[] = {{0}};
    return stage_options(call, rows);
}

/* ---- values */

/* One text of all assignments; for free(). */
static char *join_assignments(const text_list *list) {
    size_t size = 1, at = 0;
    for (int i = 0; i < list->count; i++) size += strlen(list->items[i]) + 2;
    char *joined = malloc(size);
    for (int i = 0; joined != NULL && i < list->count; i++) {
        at += (size_t)snprintf(joined + at, size - at, "%s%s", i > 0 ? "; " : "", list->items[i]);
    }
    return joined;
}

static int assign(stage_call *call, const char *assignments, const char *where) {
    uint64_t changed = 0;
    int code = stage_own(call);
    if (code != EXIT_DONE) return code;
    const mote_status status = mote_cloud_assign(call->s->ctx, &call->cloud, assignments, where, &changed);
    if (status != MOTE_OK) return session_fail(call->s, status, false);
    session_note(call->s, "%s%s changed %s of %s points", stage_place(), call->kind->name, text_count(changed).chars,
                 text_count(mote_cloud_count(call->cloud)).chars);
    return EXIT_DONE;
}

int stage_assign(stage_call *call) {
    text_list values = {.count = 0};
    const char *old = NULL, *condition = NULL, *where = NULL;
    char why[PDAL_WHY], *assignments = NULL, *ranges = NULL;
    const option rows[] = {
        {"value", 0, OPTION_LIST, &values, NULL, "A=EXPR", "as in \"Classification = 2 where Z < 90\", one or several"},
        {"where", 0, OPTION_TEXT, &where, NULL, "EXPR", "only points that meet it are changed; all are kept"},
        {"condition", 0, OPTION_TEXT, &condition, NULL, "RANGES", "the same, as filters.range has them"},
        {"assignment", 0, OPTION_TEXT, &old, NULL, "A[:]=N", "the old form of value"},
        {0},
    };
    int code = stage_options(call, rows);
    if (code != EXIT_DONE) return code;
    if ((old != NULL) == (values.count > 0)) return stage_wrong(call, NULL, "filters.assign needs \"value\"");
    if (condition != NULL && where != NULL) return stage_wrong(call, NULL, "\"condition\" or \"where\", not both");
    why[0] = '\0';
    if (condition != NULL && (ranges = pdal_ranges(condition, why)) == NULL && why[0] != '\0') {
        return stage_wrong(call, "condition", "%s", why);
    }
    assignments = old != NULL ? pdal_assignment(old, why) : join_assignments(&values);
    if (assignments == NULL && why[0] != '\0') {
        code = stage_wrong(call, "assignment", "%s", why);
    } else if (assignments == NULL || (condition != NULL && ranges == NULL)) {
        code = session_error(call->s, EXIT_RESOURCES, "out of memory: the assignments");
    } else if (!call->checking) {
        code = assign(call, assignments, ranges != NULL ? ranges : where);
    }
    free(ranges);
    free(assignments);
    return code;
}

/* ---- copies of attributes */

#define KNOWN_BLOCK 1024 /* values looked at at once */

/* A position has no number that stands for no data: it would be taken for a place. */
static int check_known(stage_call *call, const mote_column *source, const mote_column_limits *limits, const char *to) {
    const bool axis = strlen(to) == 1 && to[0] >= 'x' && to[0] <= 'z';
    const uint64_t count = mote_cloud_count(call->cloud);
    double values[KNOWN_BLOCK];
    for (uint64_t first = 0; axis && limits->has_no_data && first < count; first += KNOWN_BLOCK) {
        const uint64_t rest = count - first, block = rest < KNOWN_BLOCK ? rest : KNOWN_BLOCK;
        mote_cloud_read_known(call->cloud, source, first, block, values);
        for (uint64_t i = 0; i < block; i++) {
            if (!isnan(values[i])) continue;
            return stage_wrong(call, "dimensions", "%s of point %" PRIu64 " is no data, which %s cannot hold",
                               source->name, first + i + 1, to);
        }
    }
    return EXIT_DONE;
}

/* Copies an attribute with its type and what its file says of its values, or makes one of zeros where there is no
   source. */
static int copy_column(stage_call *call, const char *from, const char *to) {
    const mote_column *source = from[0] != '\0' ? mote_cloud_match(call->cloud, from) : NULL;
    if (from[0] != '\0' && source == NULL) {
        return stage_wrong(call, "dimensions", "the points have no attribute \"%s\"", from);
    }
    const char *standard = mote_standard_name(to);
    mote_column_spec spec = {standard != NULL ? standard : to, MOTE_FLOAT64, 0, 0};
    mote_column_limits limits = {.has_no_data = false};
    if (source != NULL) {
        const mote_column_spec same = {spec.name, source->type, source->scale, source->offset};
        spec = same;
        mote_cloud_limits(call->cloud, source->name, &limits);
        const int code = check_known(call, source, &limits, spec.name);
        if (code != EXIT_DONE) return code;
    }
    const uint64_t count = mote_cloud_count(call->cloud);
    const uint32_t size = mote_type_size(spec.type);
    char *values = malloc((size_t)count * size + 1);
    if (values == NULL) return session_error(call->s, EXIT_RESOURCES, "out of memory: an attribute");
    if (source != NULL) mote_column_read(source, 0, count, spec.type, values);
    mote_status status = mote_cloud_put_column(call->cloud, &spec);
    if (status == MOTE_OK && source != NULL) {
        char *data = mote_cloud_column_data(call->cloud, spec.name);
        const uint32_t stride = mote_cloud_find(call->cloud, spec.name)->stride_bytes;
        for (uint64_t i = 0; i < count; i++) memcpy(data + i * stride, values + i * size, size);
        status = mote_cloud_set_limits(call->cloud, spec.name, &limits);
    }
    free(values);
    return status == MOTE_OK ? EXIT_DONE : session_fail(call->s, status, false);
}

int stage_ferry(stage_call *call) {
    const char *dimensions = NULL;
    const option rows[] = {
        {"dimensions", 0, OPTION_TEXT, &dimensions, NULL, "A=>B,…", "B becomes a copy of A; \"=>B\" is zeros"},
        {0},
    };
    int code = stage_options(call, rows);
    if (code != EXIT_DONE) return code;
    if (dimensions == NULL) return stage_wrong(call, NULL, "filters.ferry needs \"dimensions\"");
    for (const char *at = dimensions; *at != '\0' && code == EXIT_DONE; at += at[0] == ',') {
        char from[128], to[128];
        const size_t length = strcspn(at, ",");
        const char *arrow = strchr(at, '=');
        const bool is_pair = arrow != NULL && arrow < at + length && (arrow[1] == '>' || arrow[1] == ' ');
        const char *behind = is_pair ? arrow + 1 + (arrow[1] == '>') : at;
        behind += strspn(behind, " ");
        const char *name = at + strspn(at, " ");
        int from_length = is_pair ? (int)(arrow - name) : 0, to_length = (int)(at + length - behind);
        while (from_length > 0 && name[from_length - 1] == ' ') from_length--;
        while (to_length > 0 && behind[to_length - 1] == ' ') to_length--;
        if (!is_pair || to_length <= 0 || to_length >= 128 || from_length >= 128) {
            return stage_wrong(call, "dimensions", "\"%.*s\" is not A=>B", (int)length, at);
        }
        snprintf(from, sizeof from, "%.*s", from_length > 0 ? from_length : 0, name);
        snprintf(to, sizeof to, "%.*s", to_length, behind);
        if (!call->checking) code = stage_own(call);
        if (!call->checking && code == EXIT_DONE) code = copy_column(call, from, to);
        at += length;
    }
    return code;
}

/* ---- reference systems */

int stage_reproject(stage_call *call) {
    const char *from = NULL, *to = NULL;
    mote_transform_params params = mote_transform_defaults();
    const option rows[] = {
        {"out-srs", 0, OPTION_TEXT, &to, NULL, "CRS", "the system that the points are brought to"},
        {"in-srs", 0, OPTION_TEXT, &from, NULL, "CRS", "the one that they are in; default: as the file says"},
        {"ballpark", 0, OPTION_FLAG, &params.ballpark, NULL, NULL, "also by a rough operation"},
        {0},
    };
    int code = stage_options(call, rows);
    if (code != EXIT_DONE) return code;
    if (to == NULL) return stage_wrong(call, NULL, "filters.reprojection needs \"out_srs\"");
    if (!call->checking) code = stage_own(call);
    if (call->checking || code != EXIT_DONE) return code;
    mote_status status = from != NULL ? mote_cloud_assign_crs(call->s->ctx, call->cloud, from) : MOTE_OK;
    if (status == MOTE_OK) status = mote_cloud_transform(call->s->ctx, &call->cloud, to, &params);
    return status == MOTE_OK ? EXIT_DONE : session_fail(call->s, status, false);
}

#endif

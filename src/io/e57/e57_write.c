/* Writes E57: for each scan a section of packets and their index, then the XML, then what the headers say of both.
   Source: ASTM E2807-11. */
#include <math.h>

#include "io/e57/e57_write.h"

/* ---- scans */

/* A section begins where its header lies in one page. */
static mote_status begin_scan(e57_writer *w, uint32_t source) {
    static const uint8_t nothing[E57_SECTION_BYTES];
    if (!mote_reserve(w->ctx, (void **)&w->scans, &w->scan_capacity, w->scan_count + 1, sizeof *w->scans,
                      "E57 scans")) {
        return MOTE_ERROR_MEMORY;
    }
    e57_out_scan *const scan = &w->scans[w->scan_count++];
    memset(scan, 0, sizeof *scan);
    scan->source = source;
    scan->ranges = mote_alloc(w->ctx, w->field_count * sizeof *scan->ranges, "E57 scans");
    if (scan->ranges == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < w->field_count; i++) scan->ranges[i] = (e57_range){HUGE_VAL, -HUGE_VAL};
    MOTE_TRY(mote_e57_align(w, 4));
    if (w->logical % E57_PAYLOAD_BYTES + E57_SECTION_BYTES > E57_PAYLOAD_BYTES) {
        MOTE_TRY(mote_e57_align(w, E57_PAYLOAD_BYTES));
    }
    w->section_at = w->logical;
    scan->section = e57_physical(w->logical);
    w->section.number = w->logical / E57_PAYLOAD_BYTES;
    w->packet_count = 0;
    w->in_scan = true;
    return mote_e57_append(w, nothing, sizeof nothing);
}

/* Where records are, of at most as many packets as an index holds. It has room for all entries that there may be, as
   the standard draws it: libE57Format before version 3 refuses a shorter one, and Archicad a file that has none. */
static mote_status write_index(e57_writer *w) {
    static const uint64_t nothing[2] = {0, 0};
    uint8_t head[E57_INDEX_BYTES] = {E57_PACKET_INDEX};
    const uint64_t step = (w->packet_count + E57_INDEX_ENTRIES - 1) / E57_INDEX_ENTRIES;
    const uint16_t entries = (uint16_t)((w->packet_count + step - 1) / step);
    const uint16_t last = (uint16_t)(sizeof head + sizeof nothing * E57_INDEX_ENTRIES - 1);
    memcpy(head + 2, &last, sizeof last);
    memcpy(head + 4, &entries, sizeof entries);
    MOTE_TRY(mote_e57_append(w, head, sizeof head));
    for (uint64_t i = 0; i < E57_INDEX_ENTRIES; i++) {
        const uint64_t packet = i * step;
        const uint64_t entry[2] = {packet * w->packet_records,
                                   packet < w->packet_count ? e57_physical(w->packets[packet]) : 0};
        MOTE_TRY(mote_e57_append(w, packet < w->packet_count ? entry : nothing, sizeof entry));
    }
    return MOTE_OK;
}

static mote_status end_scan(e57_writer *w) {
    uint8_t head[E57_SECTION_BYTES] = {E57_SECTION_KIND};
    if (!w->in_scan) return MOTE_OK;
    w->in_scan = false;
    MOTE_TRY(mote_e57_encode_rest(w));
    const uint64_t index = e57_physical(w->logical);
    MOTE_TRY(write_index(w));
    const uint64_t length = w->logical - w->section_at, data = e57_physical(w->packets[0]);
    memcpy(head + 8, &length, sizeof length);
    memcpy(head + 16, &data, sizeof data);
    memcpy(head + 24, &index, sizeof index);
    return mote_e57_patch(w, w->section_at, head, sizeof head);
}

/* Points [first, first + count), which are of one source. */
static mote_status add_run(e57_writer *w, uint32_t source, uint64_t first, uint64_t count) {
    if (!w->in_scan || w->scans[w->scan_count - 1].source != source) {
        MOTE_TRY(end_scan(w));
        MOTE_TRY(begin_scan(w, source));
    }
    return mote_e57_encode(w, first, count);
}

mote_status mote_e57_writer_add(e57_writer *w) {
    const uint64_t count = w->cloud->count;
    if (count > w->count - w->added) {
        return mote_fail(w->ctx, MOTE_ERROR_ARGUMENT, "%s: more points are added than the %llu announced", w->path,
                         (unsigned long long)w->count);
    }
    mote_stage(w->ctx, "write E57");
    mote_status status = MOTE_OK;
    for (uint64_t first = 0; first < count && status == MOTE_OK;) {
        uint64_t end = w->source != NULL ? first + 1 : count;
        const uint32_t source = w->source != NULL ? (uint32_t)mote_column_integer(w->source, first) : 0;
        while (end < count && (uint32_t)mote_column_integer(w->source, end) == source) end++;
        status = add_run(w, source, first, end - first);
        first = end;
    }
    mote_stage(w->ctx, NULL);
    return status;
}

/* ---- the file */

static mote_status open_file(e57_writer *w, bool in_pieces, const mote_write_params *params) {
    static const uint8_t nothing[E57_HEADER_BYTES];
    MOTE_TRY(mote_e57_choose_fields(w, params));
    if (in_pieces && w->source != NULL && !w->cloud->sources_in_order) {
        return mote_fail(w->ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: cannot be written in pieces: the points of a scan may be in several of them", w->path);
    }
    MOTE_TRY(mote_e57_make_slots(w));
    MOTE_TRY(mote_output_open(w->ctx, w->path, &w->output));
    return mote_e57_append(w, nothing, sizeof nothing);
}

mote_status mote_e57_writer_open(mote_context *ctx, const mote_cloud *cloud, uint64_t count, bool in_pieces,
                                 const char *path, const mote_write_params *params, e57_writer *w) {
    memset(w, 0, sizeof *w);
    w->ctx = ctx;
    w->output.file = -1;
    w->cloud = cloud;
    w->count = count;
    w->section.number = UINT64_MAX;
    w->path = mote_strdup(ctx, path);
    if (w->path == NULL) return MOTE_ERROR_MEMORY;
    mote_stage(ctx, "write E57");
    const mote_status status = open_file(w, in_pieces, params);
    mote_stage(ctx, NULL);
    return status;
}

static mote_status write_header(e57_writer *w, uint64_t xml, uint64_t xml_bytes) {
    uint8_t head[E57_HEADER_BYTES] = E57_SIGNATURE;
    const uint32_t major = 1;
    const uint64_t numbers[] = {w->logical / E57_PAYLOAD_BYTES * E57_PAGE_BYTES, xml, xml_bytes, E57_PAGE_BYTES};
    memcpy(head + 8, &major, sizeof major);
    memcpy(head + 16, numbers, sizeof numbers);
    return mote_e57_patch(w, 0, head, sizeof head);
}

/* Readers take coordinates for metres, which the standard has alone. */
static void tell_unit(const e57_writer *w) {
    mote_units units;
    mote_cloud_units(w->cloud, &units);
    const mote_unit *const wrong = units.horizontal.metres != 1 ? &units.horizontal : &units.vertical;
    const bool is_known = units.horizontal.name[0] != '\0', is_length = is_known && units.horizontal.radians == 0;
    if (!is_known) {
        mote_note(w->ctx,
                  "%s: the unit of the coordinates is not known; programs will take them for metres, as E57 says",
                  w->path);
    } else if (!is_length || (wrong->metres > 0 && wrong->metres != 1)) {
        mote_warn(
            w->ctx,
            "%s: coordinates are in units of %s, and programs will take them for metres, as E57 says; a reference "
            "system in metres (--to-crs) avoids that",
            w->path, wrong->name);
    }
}

static mote_status finish(e57_writer *w) {
    if (w->scan_count == 0) MOTE_TRY(begin_scan(w, 0)); /* without points there is a scan, which tells the fields */
    MOTE_TRY(end_scan(w));
    MOTE_TRY(mote_e57_align(w, 4));
    const uint64_t xml = e57_physical(w->logical);
    MOTE_TRY(mote_e57_write_xml(w));
    MOTE_TRY(mote_e57_finish_pages(w));
    MOTE_TRY(write_header(w, xml, w->xml_bytes));
    tell_unit(w);
    if (w->hidden > 0) {
        mote_warn(w->ctx, "%s: %llu points without a finite position are written as invalid", w->path,
                  (unsigned long long)w->hidden);
    }
    if (w->lost_texts > 0) {
        mote_warn(w->ctx, "%s: E57 has no place for the descriptions and no-data values of %llu attribute%s", w->path,
                  (unsigned long long)w->lost_texts, w->lost_texts == 1 ? "" : "s");
    }
    return MOTE_OK;
}

mote_status mote_e57_writer_close(e57_writer *w, mote_status status) {
    if (w->ctx == NULL) return status;
    mote_stage(w->ctx, "write E57");
    if (status == MOTE_OK) status = finish(w);
    status = mote_output_close(w->ctx, &w->output, status);
    mote_e57_free_slots(w);
    for (uint64_t i = 0; i < w->scan_count; i++) mote_free(w->ctx, w->scans[i].ranges);
    mote_free(w->ctx, w->scans);
    mote_free(w->ctx, w->packets);
    mote_free(w->ctx, w->xml);
    mote_free(w->ctx, w->fields);
    mote_free(w->ctx, w->path);
    mote_stage(w->ctx, NULL);
    w->ctx = NULL;
    return status;
}

/* ---- of a whole cloud */

#define SOURCES 65536u

/* The numbers of all points, source by source, in the order in which sources come first; NULL: they stand so. */
static mote_status sort_sources(mote_context *ctx, const mote_cloud *cloud, const mote_column *source,
                                uint64_t **order) {
    uint64_t *const places = mote_alloc_zero(ctx, SOURCES * sizeof *places, "E57 sources");
    uint16_t *const firsts = mote_alloc(ctx, SOURCES * sizeof *firsts, "E57 sources");
    uint64_t source_count = 0, runs = 0;
    *order = NULL;
    mote_status status = places != NULL && firsts != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (uint64_t i = 0, before = 0; i < cloud->count && status == MOTE_OK; i++) {
        const uint64_t here = (uint64_t)mote_column_integer(source, i) & (SOURCES - 1);
        runs += i == 0 || here != before;
        if (places[here]++ == 0) firsts[source_count++] = (uint16_t)here;
        before = here;
    }
    if (status == MOTE_OK && runs > source_count) {
        *order = mote_alloc(ctx, cloud->count * sizeof **order, "E57 sources");
        if (*order == NULL) status = MOTE_ERROR_MEMORY;
        for (uint64_t s = 0, at = 0; s < source_count; s++) {
            const uint64_t count = places[firsts[s]];
            places[firsts[s]] = at;
            at += count;
        }
        for (uint64_t i = 0; i < cloud->count && status == MOTE_OK; i++) {
            (*order)[places[(uint64_t)mote_column_integer(source, i) & (SOURCES - 1)]++] = i;
        }
    }
    mote_free(ctx, places);
    mote_free(ctx, firsts);
    return status;
}

static mote_status write_cloud(mote_context *ctx, const mote_cloud *cloud, const char *path,
                               const mote_write_params *params) {
    e57_writer w;
    mote_status status = mote_e57_writer_open(ctx, cloud, cloud->count, false, path, params, &w);
    if (status == MOTE_OK) status = mote_e57_writer_add(&w);
    return mote_e57_writer_close(&w, status);
}

mote_status mote_e57_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                           const mote_write_params *params) {
    const mote_column *const source = mote_e57_source(cloud, params);
    uint64_t *order = NULL;
    mote_cloud *sorted = NULL;
    if (source != NULL) MOTE_TRY(sort_sources(ctx, cloud, source, &order));
    mote_status status = order != NULL ? mote_cloud_select(ctx, cloud, order, cloud->count, &sorted) : MOTE_OK;
    mote_free(ctx, order);
    if (status == MOTE_OK) status = write_cloud(ctx, sorted != NULL ? sorted : cloud, path, params);
    mote_cloud_destroy(sorted);
    return status;
}

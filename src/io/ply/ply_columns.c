/* From the properties of a PLY file to the columns of a cloud: standard names, and what the notes of mote say. */
#include <stdio.h>

#include "io/ply/ply.h"

const char *mote_ply_usual_name(const char *column) {
    static const char *const normals[][2] = {{"normal_x", "nx"}, {"normal_y", "ny"}, {"normal_z", "nz"}};
    for (int k = 0; k < 3; k++) {
        if (strcmp(column, normals[k][0]) == 0) return normals[k][1];
    }
    return column;
}

/* A column in the making. */
typedef struct draft {
    const mote_ply_property *property;
    char name[MOTE_PLY_NAME_BYTES];
    const char *unit, *description; /* from notes; NULL if none */
    double scale, offset;
    bool standard; /* its property means this standard column, and may be called otherwise */
    bool joined;   /* with the next one: two halves of 64 bits */
    bool skipped;  /* a list, or the second half */
    mote_type type;
    mote_limit_words limits;
} draft;

typedef struct drafts {
    draft *all;
    uint32_t count;
} drafts;

static draft *find_property(const drafts *d, const char *name, size_t length) {
    for (uint32_t i = 0; i < d->count; i++) {
        const char *const own = d->all[i].property->name;
        if (!d->all[i].skipped && strlen(own) == length && memcmp(own, name, length) == 0) return &d->all[i];
    }
    return NULL;
}

static bool has_name(const drafts *d, const char *name) {
    for (uint32_t i = 0; i < d->count; i++) {
        if (!d->all[i].skipped && strcmp(d->all[i].name, name) == 0) return true;
    }
    return false;
}

/* Gives properties the names of the standard columns that they mean. names, standard  [d->count] scratch */
static void use_standard_names(const drafts *d, const char **names, const char **standard) {
    for (uint32_t i = 0; i < d->count; i++) names[i] = d->all[i].skipped ? NULL : d->all[i].property->name;
    mote_standard_names(names, d->count, standard);
    for (uint32_t i = 0; i < d->count; i++) {
        draft *const one = &d->all[i];
        if (standard[i] == NULL) continue;
        one->standard = true;
        snprintf(one->name, sizeof one->name, "%s", standard[i]);
    }
}

/* Notes never touch the positions. */
static mote_status join(mote_context *ctx, const mote_input *input, const drafts *d, draft *low,
                        const mote_column_note *note) {
    const uint32_t i = (uint32_t)(low - d->all);
    if (low->joined || low->type != MOTE_UINT32 || i + 1 >= d->count || d->all[i + 1].skipped ||
        d->all[i + 1].type != MOTE_UINT32 || mote_text_is_axis(low->name) || mote_text_is_axis(d->all[i + 1].name)) {
        return mote_malformed(ctx, input, note->joined,
                              "a comment of mote joins properties that are no halves of a number");
    }
    low->joined = true;
    low->type = note->joined_type;
    d->all[i + 1].skipped = true;
    return MOTE_OK;
}

static mote_status apply_note(mote_context *ctx, const mote_input *input, const drafts *d,
                              const mote_column_note *note) {
    draft *const column = find_property(d, (const char *)input->data + note->field, note->field_end - note->field);
    if (column == NULL) return MOTE_OK;
    if (note->has_scale) column->scale = note->scale;
    if (note->has_offset) column->offset = note->offset;
    column->limits = note->limit_words;
    if (note->unit != NULL) column->unit = note->unit;
    if (note->description != NULL) column->description = note->description;
    const char *const name = note->name;
    const bool free_name = name != NULL && strlen(name) <= 100 && name[0] != '\0' && !has_name(d, name);
    if (free_name && !mote_text_is_axis(column->name)) {
        memcpy(column->name, name, strlen(name) + 1);
        column->standard = false;
    }
    return note->joined > 0 ? join(ctx, input, d, column, note) : MOTE_OK;
}

static mote_status read_notes(mote_context *ctx, const mote_input *input, const mote_ply_header *header,
                              const drafts *d, mote_cloud *cloud) {
    for (uint64_t i = 0; i < header->note_count; i++) {
        mote_column_note note;
        bool is_column = false;
        MOTE_TRY(mote_notes_read(ctx, input, header->notes[i].begin, header->notes[i].end, cloud, &note, &is_column));
        if (is_column) MOTE_TRY(apply_note(ctx, input, d, &note));
    }
    return MOTE_OK;
}

/* A column whose property has not the name that the writer would give it remembers that in its description. */
static const char *original_name(const draft *one) {
    const char *const property = one->property->name;
    return one->standard && strcmp(property, mote_ply_usual_name(one->name)) != 0 ? property : NULL;
}

static mote_status add_columns(const mote_input *input, const drafts *d, const mote_ply_layout *layout,
                               const uint8_t *base, mote_cloud *cloud) {
    for (uint32_t i = 0; i < d->count; i++) {
        const draft *const one = &d->all[i];
        char name[MOTE_NAME_BYTES];
        if (one->skipped) continue;
        mote_cloud_free_name(cloud, one->name, name);
        mote_column column;
        memset(&column, 0, sizeof column);
        column.name = name;
        column.unit = one->unit;
        column.description = one->description != NULL ? one->description : original_name(one);
        column.data = base + layout->offsets[i];
        column.stride_bytes = layout->record_bytes;
        column.type = one->type;
        column.scale = one->scale;
        column.offset = one->offset;
        MOTE_TRY(mote_cloud_add_view(cloud, &column));
        MOTE_TRY(mote_notes_keep_limits(cloud->ctx, input, &one->limits, name, one->type, cloud));
    }
    return MOTE_OK;
}

mote_status mote_ply_add_columns(mote_context *ctx, const mote_input *input, const mote_ply_header *header,
                                 const mote_ply_layout *layout, const uint8_t *base, mote_cloud *cloud) {
    const mote_ply_element *const vertex = &header->elements[header->vertex];
    drafts d = {.count = vertex->property_count};
    d.all = mote_alloc_zero(ctx, d.count * sizeof *d.all, "PLY columns");
    const char **const names = mote_alloc(ctx, 2ull * d.count * sizeof *names, "PLY columns");
    if (d.all == NULL || names == NULL) {
        mote_free(ctx, names);
        mote_free(ctx, d.all);
        return MOTE_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < d.count; i++) {
        const mote_ply_property *const property = &header->properties[vertex->first_property + i];
        draft *const one = &d.all[i];
        one->property = property;
        one->type = property->type;
        one->skipped = property->list;
        one->scale = 1;
        memcpy(one->name, property->name, sizeof one->name);
    }
    use_standard_names(&d, names, names + d.count);
    mote_status status = read_notes(ctx, input, header, &d, cloud);
    if (status == MOTE_OK) status = add_columns(input, &d, layout, base, cloud);
    mote_free(ctx, names);
    mote_free(ctx, d.all);
    return status;
}

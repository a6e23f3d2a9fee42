/* From the properties of a PLY file to the columns of a cloud: standard names, and what the notes of mote say. */
#include "io/ply/ply.h"

const mote_ply_alias_group mote_ply_alias_groups[MOTE_PLY_ALIAS_GROUPS] = {
    {{"nx", "ny", "nz", NULL}, {"normal_x", "normal_y", "normal_z", NULL}},
    {{"diffuse_red", "diffuse_green", "diffuse_blue", "diffuse_alpha"}, {"red", "green", "blue", "alpha"}},
    {{"r", "g", "b", "a"}, {"red", "green", "blue", "alpha"}},
};

/* A column in the making. */
typedef struct draft {
    const mote_ply_property *property;
    char name[MOTE_PLY_NAME_BYTES];
    const char *unit, *description; /* from notes; NULL if none */
    double scale, offset;
    bool alias;   /* has the name of a standard column instead of its own */
    bool joined;  /* with the next one: two halves of 64 bits */
    bool skipped; /* a list, or the second half */
    mote_type type;
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

/* Gives the properties of a whole group the names of the standard columns, unless these are taken. */
static void rename_group(const drafts *d, const mote_ply_alias_group *group) {
    for (int k = 0; k < 3; k++) {
        if (find_property(d, group->property[k], strlen(group->property[k])) == NULL) return;
        if (has_name(d, group->column[k])) return;
    }
    for (int k = 0; k < 4 && group->property[k] != NULL; k++) {
        draft *const one = find_property(d, group->property[k], strlen(group->property[k]));
        if (one == NULL || has_name(d, group->column[k])) continue;
        memcpy(one->name, group->column[k], strlen(group->column[k]) + 1);
        one->alias = true;
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
    if (note->unit != NULL) column->unit = note->unit;
    if (note->description != NULL) column->description = note->description;
    const char *const name = note->name;
    const bool free_name = name != NULL && strlen(name) <= 100 && name[0] != '\0' && !has_name(d, name);
    if (free_name && !mote_text_is_axis(column->name)) {
        memcpy(column->name, name, strlen(name) + 1);
        column->alias = false;
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

/* A column that has another name than its property, or whose name the writer would change, remembers the property's
   name in its description, so that the writer gives it back. */
static const char *original_name(const draft *one) {
    if (one->alias) return one->property->name;
    for (int k = 0; k < 3; k++) {
        if (strcmp(one->name, mote_ply_alias_groups[0].column[k]) == 0) return one->name;
    }
    return NULL;
}

static mote_status add_columns(const drafts *d, const mote_ply_layout *layout, const uint8_t *base, mote_cloud *cloud) {
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
    }
    return MOTE_OK;
}

mote_status mote_ply_add_columns(mote_context *ctx, const mote_input *input, const mote_ply_header *header,
                                 const mote_ply_layout *layout, const uint8_t *base, mote_cloud *cloud) {
    const mote_ply_element *const vertex = &header->elements[header->vertex];
    drafts d = {.count = vertex->property_count};
    d.all = mote_alloc_zero(ctx, d.count * sizeof *d.all, "PLY columns");
    if (d.all == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < d.count; i++) {
        const mote_ply_property *const property = &header->properties[vertex->first_property + i];
        draft *const one = &d.all[i];
        one->property = property;
        one->type = property->type;
        one->skipped = property->list;
        one->scale = 1;
        memcpy(one->name, property->name, sizeof one->name);
    }
    for (uint32_t g = 0; g < MOTE_PLY_ALIAS_GROUPS; g++) rename_group(&d, &mote_ply_alias_groups[g]);
    mote_status status = read_notes(ctx, input, header, &d, cloud);
    if (status == MOTE_OK) status = add_columns(&d, layout, base, cloud);
    mote_free(ctx, d.all);
    return status;
}

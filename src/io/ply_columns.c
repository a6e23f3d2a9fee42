/* From the properties of a PLY file to the columns of a cloud: standard names, and what the notes of mote say. */
#include <math.h>

#include "io/ply.h"

const mote_ply_alias_group mote_ply_alias_groups[MOTE_PLY_ALIAS_GROUPS] = {
    {{"nx", "ny", "nz", NULL}, {"normal_x", "normal_y", "normal_z", NULL}},
    {{"diffuse_red", "diffuse_green", "diffuse_blue", "diffuse_alpha"}, {"red", "green", "blue", "alpha"}},
    {{"r", "g", "b", "a"}, {"red", "green", "blue", "alpha"}},
};

/* A column in the making. */
typedef struct draft {
    const mote_ply_property *property;
    char name[MOTE_PLY_NAME_BYTES];
    char *unit, *description; /* from notes; NULL if none */
    double scale, offset;
    bool alias;  /* has the name of a standard column instead of its own */
    bool joined; /* with the next one: two halves of 64 bits */
    bool gone;   /* a list, or the second half */
    mote_type type;
} draft;

typedef struct drafts {
    draft *all;
    uint32_t count;
} drafts;

static draft *find_property(const drafts *d, const char *name, size_t length) {
    for (uint32_t i = 0; i < d->count; i++) {
        const char *const own = d->all[i].property->name;
        if (!d->all[i].gone && strlen(own) == length && memcmp(own, name, length) == 0) return &d->all[i];
    }
    return NULL;
}

static bool has_name(const drafts *d, const char *name) {
    for (uint32_t i = 0; i < d->count; i++) {
        if (!d->all[i].gone && strcmp(d->all[i].name, name) == 0) return true;
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

/* The word at *at as a text that lives as long as the cloud. */
static char *keep_word(mote_context *ctx, const mote_input *input, mote_cloud *cloud, uint64_t word, uint64_t end) {
    char *text = mote_alloc(ctx, end - word + 1, "texts");
    if (mote_cloud_adopt(cloud, text, 0) != MOTE_OK) return NULL;
    memcpy(text, input->data + word, end - word);
    mote_text_unescape(text, end - word);
    return text;
}

static bool word_is(const mote_input *input, uint64_t word, uint64_t end, const char *text) {
    return end - word == strlen(text) && memcmp(input->data + word, text, strlen(text)) == 0;
}

static mote_status read_number(mote_context *ctx, const mote_input *input, uint64_t word, uint64_t end, double *value) {
    mote_text_number number;
    if (!mote_text_scan(input->data + word, input->data + end, &number) || number.end != input->data + end ||
        !mote_text_double(&number, value) || !isfinite(*value)) {
        return mote_malformed(ctx, input, word, "a comment of mote needs a finite number here");
    }
    return MOTE_OK;
}

/* Notes never touch the positions. "joined int64": this property and the next are the halves of a 64-bit column. */
static mote_status join(mote_context *ctx, const mote_input *input, const drafts *d, draft *low, uint64_t word,
                        uint64_t end) {
    const uint32_t i = (uint32_t)(low - d->all);
    mote_type type = MOTE_INT8;
    if (!mote_ply_type(input->data + word, end - word, &type) || (type != MOTE_INT64 && type != MOTE_UINT64) ||
        low->joined || low->type != MOTE_UINT32 || i + 1 >= d->count || d->all[i + 1].gone ||
        d->all[i + 1].type != MOTE_UINT32 || mote_text_is_axis(low->name) || mote_text_is_axis(d->all[i + 1].name)) {
        return mote_malformed(ctx, input, word, "a comment of mote joins properties that are no halves of a number");
    }
    low->joined = true;
    low->type = type;
    d->all[i + 1].gone = true;
    return MOTE_OK;
}

/* name, unit, description, scale, offset, joined: one key and its word. */
static mote_status read_key(mote_context *ctx, const mote_input *input, const drafts *d, draft *column,
                            mote_cloud *cloud, const uint64_t key[2], const uint64_t value[2]) {
    if (word_is(input, key[0], key[1], "scale")) return read_number(ctx, input, value[0], value[1], &column->scale);
    if (word_is(input, key[0], key[1], "offset")) return read_number(ctx, input, value[0], value[1], &column->offset);
    if (word_is(input, key[0], key[1], "joined")) return join(ctx, input, d, column, value[0], value[1]);
    const bool name = word_is(input, key[0], key[1], "name"), unit = word_is(input, key[0], key[1], "unit");
    if (!name && !unit && !word_is(input, key[0], key[1], "description")) return MOTE_OK; /* of a later version */
    char *const text = keep_word(ctx, input, cloud, value[0], value[1]);
    if (text == NULL) return MOTE_ERROR_MEMORY;
    if (unit) column->unit = text;
    if (!name && !unit) column->description = text;
    const bool free_name = strlen(text) <= 100 && text[0] != '\0' && !has_name(d, text); /* so that names stay unique */
    if (name && free_name && !mote_text_is_axis(column->name)) {
        memcpy(column->name, text, strlen(text) + 1);
        column->alias = false;
    }
    return MOTE_OK;
}

/* "column PROPERTY key word …" */
static mote_status read_column_note(mote_context *ctx, const mote_input *input, const drafts *d, mote_cloud *cloud,
                                    uint64_t at, uint64_t end) {
    uint64_t key[2], value[2];
    if (!mote_ply_next_word(input, &at, end, &key[0], &key[1])) return MOTE_OK;
    draft *const column = find_property(d, (const char *)input->data + key[0], key[1] - key[0]);
    if (column == NULL) return MOTE_OK;
    while (mote_ply_next_word(input, &at, end, &key[0], &key[1]) &&
           mote_ply_next_word(input, &at, end, &value[0], &value[1])) {
        MOTE_TRY(read_key(ctx, input, d, column, cloud, key, value));
    }
    if (column->scale == 0) return mote_malformed(ctx, input, end, "a comment of mote has scale 0");
    return MOTE_OK;
}

static mote_status read_notes(mote_context *ctx, const mote_input *input, const mote_ply_header *header,
                              const drafts *d, mote_cloud *cloud) {
    for (uint64_t i = 0; i < header->note_count; i++) {
        uint64_t at = header->notes[i].begin, word[2], value[2];
        const uint64_t end = header->notes[i].end;
        if (!mote_ply_next_word(input, &at, end, &word[0], &word[1])) continue;
        if (word_is(input, word[0], word[1], "column")) {
            MOTE_TRY(read_column_note(ctx, input, d, cloud, at, end));
            continue;
        }
        if (!mote_ply_next_word(input, &at, end, &value[0], &value[1])) continue;
        if (word_is(input, word[0], word[1], "crs")) {
            const char *const crs = keep_word(ctx, input, cloud, value[0], value[1]);
            if (crs == NULL) return MOTE_ERROR_MEMORY;
            MOTE_TRY(mote_cloud_set_crs(cloud, crs));
        } else if (word_is(input, word[0], word[1], "position_step")) {
            double step = 0;
            MOTE_TRY(read_number(ctx, input, value[0], value[1], &step));
            cloud->position_step = step > 0 ? step : 0;
        }
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
        if (one->gone) continue;
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
        one->gone = property->list;
        one->scale = 1;
        memcpy(one->name, property->name, sizeof one->name);
    }
    for (uint32_t g = 0; g < MOTE_PLY_ALIAS_GROUPS; g++) rename_group(&d, &mote_ply_alias_groups[g]);
    mote_status status = read_notes(ctx, input, header, &d, cloud);
    if (status == MOTE_OK) status = add_columns(&d, layout, base, cloud);
    mote_free(ctx, d.all);
    return status;
}

/* From the fields of a PCD file to the columns of a cloud: standard names, packed colours split, arrays as
   NAME[0], NAME[1] … (as the arrays of LAS), and what the notes of mote say. */
#include <stdio.h>

#include "io/pcd/pcd.h"

const mote_pcd_color mote_pcd_colors[MOTE_PCD_COLORS] = {
    {"rgb", "rgb", MOTE_FLOAT32},  {"rgb uint32", "rgb", MOTE_UINT32},   {"rgb int32", "rgb", MOTE_INT32},
    {"rgba", "rgba", MOTE_UINT32}, {"rgba float", "rgba", MOTE_FLOAT32}, {"rgba int32", "rgba", MOTE_INT32},
};

/* A field in the making. */
typedef struct draft {
    const mote_pcd_field *field;
    mote_pcd_place place;
    const char *name;               /* of its columns, without the index */
    const char *unit, *description; /* NULL: none */
    double scale, offset;
    const mote_pcd_color *color; /* packed; NULL if not */
    mote_limit_words limits;
} draft;

typedef struct drafts {
    draft *all;
    uint64_t count;
    const mote_input *input;
    mote_cloud *cloud;
} drafts;

static const draft *find_name(const drafts *d, const char *name) {
    for (uint64_t i = 0; i < d->count; i++) {
        if (strcmp(d->all[i].name, name) == 0) return &d->all[i];
    }
    return NULL;
}

/* names, standard  [d->count] scratch */
static void use_standard_names(const drafts *d, const char **names, const char **standard) {
    for (uint64_t i = 0; i < d->count; i++) names[i] = d->all[i].field->count > 1 ? NULL : d->all[i].field->name;
    mote_standard_names(names, (uint32_t)d->count, standard);
    for (uint64_t i = 0; i < d->count; i++) {
        draft *const one = &d->all[i];
        if (standard[i] == NULL || strcmp(standard[i], one->name) == 0) continue;
        one->name = standard[i];
        one->description = one->field->name;
    }
}

/* The first field with packed colours, unless the file has colours besides. */
static void find_color(const drafts *d) {
    static const char *const taken[] = {"red", "green", "blue", "alpha"};
    for (int i = 0; i < 4; i++) {
        if (find_name(d, taken[i]) != NULL) return;
    }
    for (uint64_t i = 0; i < d->count; i++) {
        draft *const one = &d->all[i];
        for (uint32_t k = 0; k < MOTE_PCD_COLORS; k++) {
            const mote_pcd_color *const color = &mote_pcd_colors[k];
            if (one->field->count > 1 || color->type != one->field->type) continue;
            if (strcmp(one->field->name, color->field) != 0) continue;
            one->color = color;
            return;
        }
    }
}

/* ---- notes */

static mote_status apply_note(const mote_input *input, const drafts *d, const mote_column_note *note) {
    for (uint64_t i = 0; i < d->count; i++) {
        draft *const one = &d->all[i];
        if (!mote_notes_word_is(input, note->field, note->field_end, one->field->name)) continue;
        if (note->has_scale && !mote_text_is_axis(one->name)) one->scale = note->scale;
        if (note->has_offset && !mote_text_is_axis(one->name)) one->offset = note->offset;
        one->limits = note->limit_words;
        if (note->unit != NULL) one->unit = note->unit;
        if (note->description != NULL) one->description = note->description;
        const bool free_name =
            note->name != NULL && note->name[0] != '\0' && strlen(note->name) <= 90 && find_name(d, note->name) == NULL;
        if (free_name && !mote_text_is_axis(one->name)) {
            one->name = note->name;
            if (note->description == NULL) one->description = NULL;
        }
        return MOTE_OK;
    }
    return MOTE_OK;
}

static mote_status read_notes(mote_context *ctx, const mote_input *input, const mote_pcd_header *header,
                              const drafts *d) {
    for (uint64_t i = 0; i < header->note_count; i++) {
        mote_column_note note;
        bool is_column = false;
        MOTE_TRY(
            mote_notes_read(ctx, input, header->notes[i].begin, header->notes[i].end, d->cloud, &note, &is_column));
        if (is_column) MOTE_TRY(apply_note(input, d, &note));
    }
    return MOTE_OK;
}

/* ---- columns */

static mote_status add_column(const drafts *d, const draft *one, const char *wanted, const char *description,
                              uint64_t at_bytes, mote_type type) {
    char name[MOTE_NAME_BYTES];
    mote_cloud_free_name(d->cloud, wanted, name);
    const mote_column column = {.name = name,
                                .unit = one->unit,
                                .description = description,
                                .data = one->place.data + at_bytes,
                                .stride_bytes = one->place.stride_bytes,
                                .type = type,
                                .scale = one->scale,
                                .offset = one->offset};
    MOTE_TRY(mote_cloud_add_view(d->cloud, &column));
    return mote_notes_keep_limits(d->cloud->ctx, d->input, &one->limits, name, type, d->cloud);
}

/* Is the fourth byte of a colour ever set? */
static bool has_alpha(const mote_context *ctx, const draft *one, uint64_t count) {
    uint8_t any = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(| : any)
    for (int64_t i = 0; i < (int64_t)count; i++) any |= one->place.data[(uint64_t)i * one->place.stride_bytes + 3];
    return any != 0;
}

static mote_status add_color(mote_context *ctx, const drafts *d, const draft *one) {
    const char *const description = one->color->description;
    MOTE_TRY(add_column(d, one, "red", description, 2, MOTE_UINT8));
    MOTE_TRY(add_column(d, one, "green", description, 1, MOTE_UINT8));
    MOTE_TRY(add_column(d, one, "blue", description, 0, MOTE_UINT8));
    const bool alpha = strcmp(one->color->field, "rgba") == 0 || has_alpha(ctx, one, d->cloud->count);
    return alpha ? add_column(d, one, "alpha", description, 3, MOTE_UINT8) : MOTE_OK;
}

static mote_status add_array(const drafts *d, const draft *one) {
    for (uint32_t k = 0; k < one->field->count; k++) {
        char name[MOTE_NAME_BYTES];
        snprintf(name, sizeof name, "%.90s[%u]", one->name, k);
        MOTE_TRY(add_column(d, one, name, one->description, (uint64_t)k * one->field->size_bytes, one->field->type));
    }
    return MOTE_OK;
}

static mote_status add_columns(mote_context *ctx, const drafts *d) {
    for (uint64_t i = 0; i < d->count; i++) {
        const draft *const one = &d->all[i];
        if (one->color != NULL) {
            MOTE_TRY(add_color(ctx, d, one));
        } else if (one->field->count > 1) {
            MOTE_TRY(add_array(d, one));
        } else {
            MOTE_TRY(add_column(d, one, one->name, one->description, 0, one->field->type));
        }
    }
    return MOTE_OK;
}

mote_status mote_pcd_add_columns(mote_context *ctx, const mote_input *input, const mote_pcd_header *header,
                                 const mote_pcd_place *places, mote_cloud *cloud) {
    drafts d = {.input = input, .cloud = cloud};
    d.all = mote_alloc_zero(ctx, header->field_count * sizeof *d.all, "PCD columns");
    const char **const names = mote_alloc(ctx, 2 * header->field_count * sizeof *names, "PCD columns");
    if (d.all == NULL || names == NULL) {
        mote_free(ctx, names);
        mote_free(ctx, d.all);
        return MOTE_ERROR_MEMORY;
    }
    for (uint64_t i = 0; i < header->field_count; i++) {
        const mote_pcd_field *const field = &header->fields[i];
        if (field->padding) continue;
        d.all[d.count++] = (draft){.field = field, .place = places[i], .name = field->name, .scale = 1};
    }
    use_standard_names(&d, names, names + d.count);
    find_color(&d);
    mote_status status = read_notes(ctx, input, header, &d);
    if (status == MOTE_OK) status = add_columns(ctx, &d);
    mote_free(ctx, names);
    mote_free(ctx, d.all);
    return status;
}

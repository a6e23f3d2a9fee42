/* Reading and writing the notes of mote in the comments of PLY and PCD. */
#include "io/notes.h"

#include <math.h>

#include "io/crs/crs_written.h"

#define CRS_BYTES_MAX 330000u /* escaped it may be three times as long, and a header line has 1 MiB */

static bool is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

bool mote_notes_next_word(const mote_input *input, uint64_t *at, uint64_t end, uint64_t *word, uint64_t *word_end) {
    uint64_t p = *at;
    while (p < end && is_blank(input->data[p])) p++;
    *word = p;
    while (p < end && !is_blank(input->data[p])) p++;
    *word_end = *at = p;
    return p > *word;
}

bool mote_notes_word_is(const mote_input *input, uint64_t word, uint64_t word_end, const char *text) {
    return word_end - word == strlen(text) && memcmp(input->data + word, text, strlen(text)) == 0;
}

/* ---- reading */

/* The word as a text that lives as long as the cloud; NULL when there is no memory. */
static char *keep_word(mote_context *ctx, const mote_input *input, mote_cloud *cloud, uint64_t word, uint64_t end) {
    char *text = mote_alloc(ctx, end - word + 1, "texts");
    if (mote_cloud_adopt(cloud, text) != MOTE_OK) return NULL;
    memcpy(text, input->data + word, end - word);
    mote_text_unescape(text, end - word);
    return text;
}

static mote_status read_number(mote_context *ctx, const mote_input *input, uint64_t word, uint64_t end, double *value) {
    mote_text_number number;
    if (!mote_text_scan(input->data + word, input->data + end, &number) || number.end != input->data + end ||
        !mote_text_double(&number, value) || !isfinite(*value)) {
        return mote_malformed(ctx, input, word, "a comment of mote needs a finite number here");
    }
    return MOTE_OK;
}

/* "joined int64": this field and the next are the halves of a 64-bit column. */
static mote_status read_joined(mote_context *ctx, const mote_input *input, uint64_t word, uint64_t end,
                               mote_column_note *note) {
    const bool is_signed = mote_notes_word_is(input, word, end, "int64");
    if (note->joined > 0 || (!is_signed && !mote_notes_word_is(input, word, end, "uint64"))) {
        return mote_malformed(ctx, input, word, "a comment of mote joins properties that are no halves of a number");
    }
    note->joined = word;
    note->joined_type = is_signed ? MOTE_INT64 : MOTE_UINT64;
    return MOTE_OK;
}

/* no_data, min, max: kept until the type of the column is settled. */
static bool read_limit(const mote_input *input, mote_column_note *note, const uint64_t key[2],
                       const uint64_t value[2]) {
    uint64_t *const words[] = {note->limit_words.no_data, note->limit_words.min, note->limit_words.max};
    static const char *const keys[] = {"no_data", "min", "max"};
    for (int i = 0; i < 3; i++) {
        if (!mote_notes_word_is(input, key[0], key[1], keys[i])) continue;
        memcpy(words[i], value, sizeof note->limit_words.no_data);
        return true;
    }
    return false;
}

/* name, unit, description, scale, offset, joined, limits: one key and its word. */
static mote_status read_key(mote_context *ctx, const mote_input *input, mote_cloud *cloud, mote_column_note *note,
                            const uint64_t key[2], const uint64_t value[2]) {
    const char **const texts[] = {&note->name, &note->unit, &note->description};
    static const char *const text_keys[] = {"name", "unit", "description"};
    if (read_limit(input, note, key, value)) return MOTE_OK;
    for (int i = 0; i < 3; i++) {
        if (!mote_notes_word_is(input, key[0], key[1], text_keys[i])) continue;
        *texts[i] = keep_word(ctx, input, cloud, value[0], value[1]);
        return *texts[i] != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    }
    if (mote_notes_word_is(input, key[0], key[1], "scale")) {
        note->has_scale = true;
        return read_number(ctx, input, value[0], value[1], &note->scale);
    }
    if (mote_notes_word_is(input, key[0], key[1], "offset")) {
        note->has_offset = true;
        return read_number(ctx, input, value[0], value[1], &note->offset);
    }
    if (mote_notes_word_is(input, key[0], key[1], "joined")) return read_joined(ctx, input, value[0], value[1], note);
    return MOTE_OK; /* of a later version */
}

static mote_status read_column(mote_context *ctx, const mote_input *input, uint64_t at, uint64_t end, mote_cloud *cloud,
                               mote_column_note *note) {
    uint64_t key[2], value[2];
    note->scale = 1;
    if (!mote_notes_next_word(input, &at, end, &note->field, &note->field_end)) return MOTE_OK;
    while (mote_notes_next_word(input, &at, end, &key[0], &key[1]) &&
           mote_notes_next_word(input, &at, end, &value[0], &value[1])) {
        MOTE_TRY(read_key(ctx, input, cloud, note, key, value));
    }
    if (note->scale == 0) return mote_malformed(ctx, input, end, "a comment of mote has scale 0");
    return MOTE_OK;
}

mote_status mote_notes_read(mote_context *ctx, const mote_input *input, uint64_t begin, uint64_t end, mote_cloud *cloud,
                            mote_column_note *note, bool *is_column) {
    uint64_t at = begin, word[2], value[2];
    memset(note, 0, sizeof *note);
    *is_column = false;
    if (!mote_notes_next_word(input, &at, end, &word[0], &word[1])) return MOTE_OK;
    if (mote_notes_word_is(input, word[0], word[1], "column")) {
        *is_column = true;
        return read_column(ctx, input, at, end, cloud, note);
    }
    if (!mote_notes_next_word(input, &at, end, &value[0], &value[1])) return MOTE_OK;
    if (mote_notes_word_is(input, word[0], word[1], "crs")) {
        const char *const crs = keep_word(ctx, input, cloud, value[0], value[1]);
        return crs != NULL ? mote_cloud_set_crs(cloud, crs) : MOTE_ERROR_MEMORY;
    }
    if (mote_notes_word_is(input, word[0], word[1], "position_step")) {
        double step = 0;
        MOTE_TRY(read_number(ctx, input, value[0], value[1], &step));
        cloud->position_step = step > 0 ? step : 0;
    }
    return MOTE_OK;
}

/* One limit of three; *has: it is stated. */
static mote_status take_limit(mote_context *ctx, const mote_input *input, const uint64_t word[2], mote_type type,
                              bool *has, uint64_t *limit) {
    *has = word[1] > word[0];
    if (!*has || mote_limit_read(input->data + word[0], word[1] - word[0], type, limit)) return MOTE_OK;
    return mote_malformed(ctx, input, word[0], "a comment of mote needs a number here");
}

mote_status mote_notes_keep_limits(mote_context *ctx, const mote_input *input, const mote_limit_words *words,
                                   const char *name, mote_type type, mote_cloud *cloud) {
    mote_column_limits limits;
    memset(&limits, 0, sizeof limits);
    MOTE_TRY(take_limit(ctx, input, words->no_data, type, &limits.has_no_data, &limits.no_data));
    MOTE_TRY(take_limit(ctx, input, words->min, type, &limits.has_min, &limits.min));
    MOTE_TRY(take_limit(ctx, input, words->max, type, &limits.has_max, &limits.max));
    return mote_cloud_keep_limits(cloud, name, &limits);
}

/* ---- writing */

static mote_status put_limit(mote_context *ctx, mote_output *output, const char *key, bool has, uint64_t limit,
                             mote_type type) {
    char text[MOTE_TEXT_NUMBER_BYTES];
    if (!has) return MOTE_OK;
    mote_limit_put(limit, type, text);
    MOTE_TRY(mote_output_text(ctx, output, key));
    return mote_output_text(ctx, output, text);
}

static mote_status put_escaped(mote_context *ctx, mote_output *output, const char *key, const char *text) {
    if (text == NULL || text[0] == '\0') return MOTE_OK;
    char *const escaped = mote_alloc(ctx, 3 * strlen(text) + 1, "texts");
    if (escaped == NULL) return MOTE_ERROR_MEMORY;
    mote_text_escape(text, "", escaped);
    mote_status status = mote_output_text(ctx, output, key);
    if (status == MOTE_OK) status = mote_output_text(ctx, output, escaped);
    mote_free(ctx, escaped);
    return status;
}

static mote_status put_number(mote_context *ctx, mote_output *output, const char *key, double value) {
    char text[MOTE_TEXT_NUMBER_BYTES];
    uint32_t guess = 0;
    const size_t length = mote_text_put_double(text, value, &guess);
    MOTE_TRY(mote_output_text(ctx, output, key));
    return mote_output_write(ctx, output, text, length);
}

mote_status mote_notes_put_cloud(mote_context *ctx, mote_output *output, const char *prefix, const mote_cloud *cloud,
                                 double step) {
    char *crs = NULL;
    mote_status status = mote_crs_written(ctx, cloud, &crs);
    if (status == MOTE_OK && crs[0] != '\0' && strlen(crs) < CRS_BYTES_MAX) {
        status = mote_output_text(ctx, output, prefix);
        if (status == MOTE_OK) status = put_escaped(ctx, output, " crs ", crs);
        if (status == MOTE_OK) status = mote_output_text(ctx, output, "\n");
    }
    mote_free(ctx, crs);
    MOTE_TRY(status);
    if (!(step > 0)) return MOTE_OK;
    MOTE_TRY(mote_output_text(ctx, output, prefix));
    MOTE_TRY(put_number(ctx, output, " position_step ", step));
    return mote_output_text(ctx, output, "\n");
}

mote_status mote_notes_put_column(mote_context *ctx, mote_output *output, const char *prefix, const char *field,
                                  const mote_column_note *note) {
    const bool says_nothing = note->name == NULL && note->unit == NULL && note->description == NULL &&
                              !note->has_scale && !note->has_offset && note->joined == 0 && !note->limits.has_no_data &&
                              !note->limits.has_min && !note->limits.has_max;
    if (says_nothing) return MOTE_OK;
    MOTE_TRY(mote_output_text(ctx, output, prefix));
    MOTE_TRY(mote_output_text(ctx, output, " column "));
    MOTE_TRY(mote_output_text(ctx, output, field));
    MOTE_TRY(put_escaped(ctx, output, " name ", note->name));
    if (note->joined > 0) {
        MOTE_TRY(mote_output_text(ctx, output, note->joined_type == MOTE_INT64 ? " joined int64" : " joined uint64"));
    }
    if (note->has_scale) MOTE_TRY(put_number(ctx, output, " scale ", note->scale));
    if (note->has_offset) MOTE_TRY(put_number(ctx, output, " offset ", note->offset));
    const mote_column_limits *const limits = &note->limits;
    const mote_type type = note->limits_type;
    MOTE_TRY(put_limit(ctx, output, " no_data ", limits->has_no_data, limits->no_data, type));
    MOTE_TRY(put_limit(ctx, output, " min ", limits->has_min, limits->min, type));
    MOTE_TRY(put_limit(ctx, output, " max ", limits->has_max, limits->max, type));
    MOTE_TRY(put_escaped(ctx, output, " unit ", note->unit));
    MOTE_TRY(put_escaped(ctx, output, " description ", note->description));
    return mote_output_text(ctx, output, "\n");
}

/* Wavefront MTL: the line of a texture, "map_Kd [options] file [options]". Names of files may hold blanks and look like
   options, so what is there decides. */
#include <strings.h>

#include "io/scene/obj_lines.h"
#include "io/text/text.h"

typedef enum option_kind {
    OPTION_SCALE,
    OPTION_OFFSET,
    OPTION_CLAMP,
    OPTION_NUMBERS,
    OPTION_SWITCH, /* on or off */
    OPTION_WORD
} option_kind;

static const struct {
    const char *name;
    option_kind kind;
    int max;     /* numbers at most */
    bool silent; /* it changes no colour that mote shows, or it is used */
} options[] = {
    {"-s", OPTION_SCALE, 3, true},       {"-o", OPTION_OFFSET, 3, true},        {"-clamp", OPTION_CLAMP, 0, true},
    {"-t", OPTION_NUMBERS, 3, false},    {"-mm", OPTION_NUMBERS, 2, false},     {"-bm", OPTION_NUMBERS, 1, true},
    {"-boost", OPTION_NUMBERS, 1, true}, {"-texres", OPTION_NUMBERS, 2, true},  {"-blendu", OPTION_SWITCH, 0, true},
    {"-blendv", OPTION_SWITCH, 0, true}, {"-cc", OPTION_SWITCH, 0, false},      {"-imfchan", OPTION_WORD, 0, false},
    {"-type", OPTION_WORD, 0, true},     {"-colorspace", OPTION_WORD, 0, false}};
#define OPTIONS (sizeof options / sizeof options[0])

/* A line of options and a name, in reading. */
typedef struct texture_line {
    obj_lines *lines;
    char *at;
    obj_mapping mapping;
    bool clamp;
    bool unknown; /* there was an option of which nobody knows how many words it has */
} texture_line;

static char *skip_blanks(char *at) { return at + strspn(at, " \t"); }
static size_t word_bytes(const char *at) { return strcspn(at, " \t"); }

static bool word_is(const char *at, const char *word) {
    return word_bytes(at) == strlen(word) && strncasecmp(at, word, strlen(word)) == 0;
}

/* Moves behind a word and the blanks behind it. */
static void skip_word(texture_line *t) { t->at = skip_blanks(t->at + word_bytes(t->at)); }

static bool take_number(texture_line *t, double *value) {
    mote_text_number number;
    const uint8_t *const begin = (const uint8_t *)t->at, *const end = begin + word_bytes(t->at);
    if (!mote_text_scan(begin, end, &number) || number.end != end || number.kind > MOTE_TEXT_REAL ||
        !mote_text_double(&number, value)) {
        return false;
    }
    skip_word(t);
    return true;
}

static bool take_switch(texture_line *t, bool *on) {
    *on = word_is(t->at, "on");
    if (!*on && !word_is(t->at, "off")) return false;
    skip_word(t);
    return true;
}

static int take_numbers(texture_line *t, int max, double values[3]) {
    int count = 0;
    while (count < max && take_number(t, &values[count])) count++;
    return count;
}

/* The option at t->at, which moves behind it and its values. */
static void take_option(texture_line *t) {
    double values[3] = {0, 0, 0};
    bool on = false;
    size_t i = 0;
    while (i < OPTIONS && !word_is(t->at, options[i].name)) i++;
    const int shown = word_bytes(t->at) < 64 ? (int)word_bytes(t->at) : 64;
    if (i == OPTIONS || !options[i].silent) obj_note(t->lines, OBJ_NOTE_OPTION, "map_Kd %.*s", shown, t->at);
    skip_word(t);
    if (i == OPTIONS) {
        t->unknown = true;
        while (take_number(t, values) || take_switch(t, &on)) continue;
        return;
    }
    const int count = take_numbers(t, options[i].max, values);
    const bool switched = (options[i].kind == OPTION_CLAMP || options[i].kind == OPTION_SWITCH) && take_switch(t, &on);
    if (options[i].kind == OPTION_WORD) skip_word(t);
    if (options[i].kind == OPTION_CLAMP && switched) t->clamp = on;
    /* What is not said of a scale is 1, of an offset 0. */
    for (int k = 0; k < 2 && count > 0; k++) {
        if (options[i].kind == OPTION_SCALE) t->mapping.scale[k] = k < count ? values[k] : 1;
        if (options[i].kind == OPTION_OFFSET) t->mapping.offset[k] = values[k];
    }
}

/* Finds the file at t->at, which moves behind its name: all that is left of the line, or what is before a comment or an
   option. *path NULL: it is not there. */
static mote_status find_name(texture_line *t, char **path) {
    scene_draft *const d = t->lines->draft;
    char *const end = t->at + obj_name_bytes(t->at, true);
    MOTE_TRY(scene_file_find(d, t->lines->path, t->at, path));
    if (*path != NULL) t->at += strlen(t->at);
    if (*path != NULL || *end == '\0') return MOTE_OK;
    const char cut = *end;
    *end = '\0';
    const mote_status status = scene_file_find(d, t->lines->path, t->at, path);
    *end = cut;
    if (*path != NULL) t->at = end;
    return status;
}

/* The same; behind an option that is not known, the first words may be values of it. */
static mote_status find_file(texture_line *t, char **path) {
    char *const begin = t->at;
    MOTE_TRY(find_name(t, path));
    while (*path == NULL && t->unknown && *t->at != '\0') {
        skip_word(t);
        if (*t->at != '\0') MOTE_TRY(find_name(t, path));
    }
    if (*path != NULL) return MOTE_OK;
    const size_t length = obj_name_bytes(begin, true);
    obj_note(t->lines, OBJ_NOTE_TEXTURE, "map_Kd: there is no file \"%.*s\" in the folder of the scene or below it",
             length < 200 ? (int)length : 200, begin);
    t->at = begin + length;
    return MOTE_OK;
}

/* Decodes the image of a path. What cannot be decoded is noted. */
static mote_status add_image(scene_draft *d, const texture_line *t, const char *path, uint32_t *image) {
    scene_file file;
    mote_status status = scene_file_open_path(d, path, &file);
    const uint8_t *const data = status == MOTE_OK ? file.input.data : NULL;
    if (status == MOTE_OK || scene_file_is_dispensable(status)) {
        const mote_status added = scene_image_add(d, path, strlen(path), path, data, file.input.size_bytes, image);
        if (status == MOTE_OK || !scene_file_is_dispensable(added)) status = added == MOTE_OK ? status : added;
    }
    scene_file_close(d->ctx, &file);
    if (status == MOTE_OK) return MOTE_OK;
    return obj_forgive(t->lines, OBJ_NOTE_TEXTURE, status) ? MOTE_OK : status;
}

/* Adds the texture to the draft. */
static mote_status add_texture(scene_draft *d, const texture_line *t, const char *path, uint64_t *place) {
    const mote_texture_wrap wrap = t->clamp ? MOTE_TEXTURE_CLAMP : MOTE_TEXTURE_REPEAT;
    uint32_t image = scene_image_find(d, path, strlen(path));
    const bool known = image != SCENE_NO_NAME;
    if (!known) MOTE_TRY(add_image(d, t, path, &image));
    if (d->images[image].srgb != NULL) return scene_draft_need_texture(d, image, wrap, wrap, place);
    if (known) obj_note(t->lines, OBJ_NOTE_TEXTURE, "map_Kd %.200s", path);
    return MOTE_OK;
}

mote_status obj_read_texture(scene_draft *d, obj_lines *l, obj_mapping *mapping, uint64_t *place) {
    char *path = NULL;
    if (!obj_next_rest(l)) {
        obj_note(l, OBJ_NOTE_LINE, "map_Kd names no file");
        return MOTE_OK;
    }
    texture_line t = {.lines = l, .at = l->word, .mapping = {{1, 1}, {0, 0}}};
    while (obj_is_option(t.at)) take_option(&t);
    if (*t.at == '\0') {
        obj_note(l, OBJ_NOTE_LINE, "map_Kd names no file");
        return MOTE_OK;
    }
    mote_status status = find_file(&t, &path);
    for (t.at = skip_blanks(t.at); status == MOTE_OK && obj_is_option(t.at);) take_option(&t);
    if (status == MOTE_OK && path != NULL) status = add_texture(d, &t, path, place);
    *mapping = t.mapping;
    mote_free(d->ctx, path);
    return status;
}

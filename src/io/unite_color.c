/* Colours in a union: 8-bit values, also where they stand in 16-bit fields, are widened when they meet real 16-bit
   ones, so that white stays white. */
#include "io/unite_plan.h"

#define EIGHT_BITS  255
#define WIDEN       257 /* 255 · 257 = 65535 */
#define WINDOW      (1 << 20)
#define COLOR_COUNT 3

static const char *const color_names[COLOR_COUNT] = {"red", "green", "blue"};

/* Whether some value of a column is above 255; looks no further than the window that holds one. */
static bool is_deep(const mote_context *ctx, const mote_column *column, uint64_t count) {
    for (uint64_t begin = 0; begin < count; begin += WINDOW) {
        const int64_t size = (int64_t)(count - begin < WINDOW ? count - begin : WINDOW);
        int64_t most = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(max : most)
        for (int64_t i = 0; i < size; i++) {
            const int64_t value = mote_column_integer(column, begin + (uint64_t)i);
            if (value > most) most = value;
        }
        if (most > EIGHT_BITS) return true;
    }
    return false;
}

/* Whether one of an input's colours needs more than 8 bits, over the whole cloud. */
static bool input_is_deep(const unite_plan *plan, unite_column *const *colors, uint32_t input) {
    for (int k = 0; k < COLOR_COUNT; k++) {
        const mote_column *column = colors[k]->sources[input].column;
        if (column == NULL || unite_whole_type(column) == MOTE_UINT8) continue;
        if (is_deep(plan->ctx, column, mote_cloud_count(plan->clouds[input]))) return true;
    }
    return false;
}

mote_status unite_colors(unite_plan *plan) {
    unite_column *colors[COLOR_COUNT];
    for (int k = 0; k < COLOR_COUNT; k++) {
        colors[k] = unite_find(plan, color_names[k]);
        /* Only where the united colours are 16 bits wide may there be both kinds. */
        if (colors[k] == NULL || colors[k]->type != MOTE_UINT16 || colors[k]->scale != 1 || colors[k]->offset != 0)
            return MOTE_OK;
    }
    bool *deep = mote_alloc_zero(plan->ctx, plan->input_count * sizeof *deep, "union");
    if (deep == NULL) return MOTE_ERROR_MEMORY;
    uint32_t deep_count = 0;
    for (uint32_t i = 0; i < plan->input_count; i++) {
        deep[i] = input_is_deep(plan, colors, i);
        deep_count += deep[i] ? 1 : 0;
    }
    for (uint32_t i = 0; i < plan->input_count && deep_count > 0; i++) {
        bool has_color = false;
        for (int k = 0; k < COLOR_COUNT && !deep[i]; k++) {
            if (colors[k]->sources[i].column == NULL) continue;
            colors[k]->sources[i].factor = WIDEN;
            has_color = true;
        }
        if (has_color && mote_cloud_count(plan->clouds[i]) > 0) {
            mote_warn(plan->ctx, "%s: its 8-bit colours are multiplied by %d, as other inputs have 16-bit ones",
                      plan->names[i], WIDEN);
        }
    }
    mote_free(plan->ctx, deep);
    return MOTE_OK;
}

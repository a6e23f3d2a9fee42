/* What is learnt of the points of inputs, as inputs.json keeps it. */
#include <mote_have.h>

#include "parts/parts_job.h"
#include "parts/parts_update.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

/* ---- how values become those of the union */

static uint64_t chain(uint64_t hash, const void *data, uint64_t size_bytes) {
    return potree_hash_chain(hash, data, size_bytes);
}

/* Of columns whose values become others; an input whose values stay what they are has 0, also where it is the only
   one. */
static uint64_t find_conversion(const parts_source *source, uint32_t input) {
    uint64_t hash = 0;
    for (uint64_t c = 0; source->list.count > 1 && c < source->plan.column_count; c++) {
        const merge_column *column = &source->plan.columns[c];
        const merge_source *from = &column->sources[input];
        if (from->column == NULL) continue;
        if (from->factor == 1 && from->shift == 0 && !from->is_color && !from->is_rank && !column->world) continue;
        const int64_t numbers[] = {from->factor,  from->shift,   from->is_color,
                                   from->is_rank, column->world, column->type};
        const double reals[] = {column->scale, column->offset, from->color.scale, from->color.offset};
        hash = chain(hash, column->name, strlen(column->name));
        hash = chain(hash, numbers, sizeof numbers);
        hash = chain(hash, reals, from->is_color ? sizeof reals : 2 * sizeof reals[0]);
    }
    return hash;
}

/* The box of an input among the stored positions of the union. */
static void find_box(const parts_source *source, const merge_facts *facts, uint32_t input, parts_known *known) {
    for (int k = 0; k < 3; k++) {
        known->low[k] = facts->low[k];
        known->high[k] = facts->high[k];
        const merge_column *column = source->list.count > 1 ? merge_find(&source->plan, mote_axis_names[k]) : NULL;
        if (column == NULL || facts->low[k] > facts->high[k]) continue;
        known->low[k] = facts->low[k] * column->sources[input].factor + column->sources[input].shift;
        known->high[k] = facts->high[k] * column->sources[input].factor + column->sources[input].shift;
    }
}

/* ---- as JSON */

bool parts_is_learnt(const potree_inputs *inputs) {
    for (uint64_t i = 0; i < inputs->count; i++) {
        if (inputs->list[i].learnt == NULL) return false;
    }
    return true;
}

bool parts_learnt_hash(const potree_input *input, uint64_t *hash) {
    *hash = input->hash;
    return input->is_hashed || (input->learnt != NULL && parts_take_bits(input->learnt, "hash", hash));
}

void parts_take_known(const potree_inputs *list, uint64_t i, parts_known *known, bool *ok) {
    const json_t *o = list->list[i].learnt, *flags = json_object_get(o, "flags");
    *ok = parts_take_bits(o, "conversion", &known->conversion) &&
          parts_take_axes(json_object_get(o, "low"), known->low) &&
          parts_take_axes(json_object_get(o, "high"), known->high) &&
          parts_take_count(json_object_get(o, "facts"), "points", INT64_MAX, &known->points);
    for (size_t f = 0; f < POTREE_MERGED && *ok; f++) {
        *ok = parts_take_bits(json_array_get(flags, f), NULL, &known->flags[f]);
    }
}

/* What was learnt, with what this union makes of it. facts: as JSON */
static mote_status keep(potree_input *input, json_t *facts, const parts_known *known, uint64_t hash,
                        mote_context *ctx) {
    json_t *o = json_object(), *flags = json_array();
    bool ok = parts_add(o, "hash", parts_put_bits(hash)) && json_object_set(o, "facts", facts) == 0 &&
              parts_add_axes(o, "low", known->low) && parts_add_axes(o, "high", known->high) &&
              parts_add(o, "conversion", parts_put_bits(known->conversion)) && parts_add(o, "flags", flags);
    for (size_t f = 0; f < POTREE_MERGED && ok; f++) ok = parts_add(flags, NULL, parts_put_bits(known->flags[f]));
    json_decref(input->learnt);
    input->learnt = ok ? o : NULL;
    if (!ok) json_decref(o);
    return ok ? MOTE_OK : mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: inputs.json");
}

/* ---- all */

typedef struct learning {
    merge_facts *facts;               /* [count] */
    uint64_t (*flags)[POTREE_MERGED]; /* [count] */
    uint64_t *hashes;                 /* [count] */
    uint64_t *columns;                /* [count] */
    json_t **json;                    /* [count] facts */
} learning;

static mote_status look_up(potree_inputs *list, learning *all, uint64_t i) {
    const potree_input *input = &list->list[i];
    parts_known known;
    bool ok;
    parts_take_known(list, i, &known, &ok);
    ok = ok && parts_learnt_hash(input, &all->hashes[i]) &&
         parts_take_facts(json_object_get(input->learnt, "facts"), all->columns[i], &all->facts[i]);
    if (!ok) return mote_fail(list->ctx, MOTE_ERROR_DATA, "%s: what inputs.json says of it is damaged", input->path);
    memcpy(all->flags[i], known.flags, sizeof known.flags);
    return MOTE_OK;
}

static mote_status find_all(potree_inputs *list, parts_source *source, bool *wanted, learning *all) {
    for (uint64_t i = 0; i < list->count; i++) {
        const mote_cloud *shape = list->count == 1 ? source->whole : source->shapes[i];
        all->columns[i] = mote_cloud_column_count(shape);
        wanted[i] = list->list[i].learnt == NULL;
        if (wanted[i]) continue;
        MOTE_TRY(merge_facts_begin(list->ctx, shape, &all->facts[i]));
        MOTE_TRY(look_up(list, all, i));
    }
    MOTE_TRY(parts_source_look(source, wanted, all->facts, all->flags));
    for (uint64_t i = 0; i < list->count; i++) {
        potree_input *input = &list->list[i];
        uint64_t size_bytes;
        json_t *holder = json_object();
        const bool ok = parts_add_facts(holder, "facts", &all->facts[i], all->columns[i]);
        all->json[i] = json_object_get(holder, "facts");
        json_incref(all->json[i]);
        json_decref(holder);
        if (!ok) return mote_fail(list->ctx, MOTE_ERROR_MEMORY, "out of memory: inputs.json");
        if (wanted[i]) MOTE_TRY(potree_hash_file(list->ctx, input->path, &size_bytes, &all->hashes[i]));
    }
    return MOTE_OK;
}

/* Unites several inputs by their facts, which become the source's, and keeps what was learnt of each. */
static mote_status unite(potree_inputs *list, parts_source *source, learning *all, parts_known *known) {
    for (uint64_t i = 0; i < list->count; i++) known[i].points = all->facts[i].points;
    if (list->count > 1) {
        merge_facts *facts = all->facts;
        all->facts = NULL;
        MOTE_TRY(parts_source_unite(source, facts));
    }
    const merge_facts *facts = list->count > 1 ? source->facts : all->facts;
    for (uint64_t i = 0; i < list->count; i++) {
        find_box(source, &facts[i], (uint32_t)i, &known[i]);
        known[i].conversion = find_conversion(source, (uint32_t)i);
        memcpy(known[i].flags, all->flags[i], sizeof known[i].flags);
        MOTE_TRY(keep(&list->list[i], all->json[i], &known[i], all->hashes[i], list->ctx));
    }
    return MOTE_OK;
}

mote_status parts_learn(potree_inputs *list, parts_source *source, bool *wanted, parts_known *known) {
    mote_context *ctx = list->ctx;
    learning all = {
        mote_alloc_zero(ctx, list->count * sizeof *all.facts, "inputs"),
        mote_alloc_zero(ctx, list->count * sizeof *all.flags, "inputs"),
        mote_alloc_zero(ctx, list->count * sizeof *all.hashes, "inputs"),
        mote_alloc_zero(ctx, list->count * sizeof *all.columns, "inputs"),
        mote_alloc_zero(ctx, list->count * sizeof(json_t *), "inputs"),
    };
    const bool made =
        all.facts != NULL && all.flags != NULL && all.hashes != NULL && all.columns != NULL && all.json != NULL;
    mote_status status = made ? find_all(list, source, wanted, &all) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = unite(list, source, &all, known);
    for (uint64_t i = 0; i < list->count; i++) {
        if (all.facts != NULL) merge_facts_free(ctx, &all.facts[i]);
        if (all.json != NULL) json_decref(all.json[i]);
    }
    mote_free(ctx, all.facts);
    mote_free(ctx, all.flags);
    mote_free(ctx, all.hashes);
    mote_free(ctx, all.columns);
    mote_free(ctx, all.json);
    return status;
}
#endif

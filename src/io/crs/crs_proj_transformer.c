/* A transformation that is ready to run on several threads: each has a context and an operation of PROJ of its own, as
   PROJ asks for. */
#include <math.h>
#include <stdio.h>

#include "io/crs/crs_proj.h"
#include <mote_have.h>

#if MOTE_HAVE_PROJ
#include "io/crs/crs_pipeline.h"
#include "io/crs/crs_proj_internal.h"

typedef struct crs_worker {
    proj_session session;
    PJ *operation;
} crs_worker;

struct crs_transformer {
    crs_worker *workers; /* [threads] */
    int threads;
    char *text; /* of the target */
    crs_axes from, to;
    double height_in; /* z as PROJ is to have it, of z as it is */
    bool own_height;  /* z does not come from PROJ, but is z times height_own */
    double height_own;
    bool is_mercator;
    mercator_change mercator;
};

/* ---- systems */

/*   flat      two axes, along the ground
     compound  a flat one and a vertical one
     solid     three axes of one system: geocentric, or heights above the ellipsoid */
typedef enum crs_shape { CRS_FLAT, CRS_COMPOUND, CRS_SOLID } crs_shape;

typedef struct crs_system {
    PJ *whole;    /* as PROJ is to have it */
    PJ *ground;   /* of a compound one the flat part, else the whole */
    PJ *vertical; /* of a compound one; of a flat one heights of nothing known, in a unit */
    crs_shape shape;
    crs_axes axes;
    double stated_height; /* the height unit that `whole` states; that of axes counts, where they differ */
} crs_system;

static void free_system(crs_system *system) {
    proj_destroy(system->whole);
    proj_destroy(system->ground);
    proj_destroy(system->vertical);
}

/* Metres or radians of an axis; 0: there is none. */
static double unit_of_axis(proj_session *s, const PJ *system, int index) {
    double unit = 0;
    PJ *own = proj_session_unbound(s, system);
    PJ *axes = own != NULL ? proj_crs_get_coordinate_system(s->proj, own) : NULL;
    if (axes == NULL || index >= proj_cs_get_axis_count(s->proj, axes) ||
        !proj_cs_get_axis_info(s->proj, axes, index, NULL, NULL, NULL, &unit, NULL, NULL, NULL)) {
        unit = 0;
    }
    proj_destroy(axes);
    proj_destroy(own);
    return unit;
}

/* Replaces a system by another, if there is one. */
static void replace(PJ **object, PJ *by) {
    if (by == NULL) return;
    proj_destroy(*object);
    *object = by;
}

static bool look_at(proj_session *s, crs_system *system) {
    PJ *own = proj_session_unbound(s, system->whole);
    if (own == NULL) return false;
    const bool compound = proj_is_compound(own);
    system->ground = compound ? proj_crs_get_sub_crs(s->proj, own, 0) : proj_clone(s->proj, system->whole);
    system->vertical = compound ? proj_crs_get_sub_crs(s->proj, own, 1) : NULL;
    proj_destroy(own);
    if (system->ground == NULL || (compound && system->vertical == NULL)) return false;
    const bool has_heights = compound && !proj_are_unknown_heights(system->vertical);
    if (compound && !has_heights) replace(&system->whole, proj_clone(s->proj, system->ground));
    own = proj_session_unbound(s, system->ground);
    if (own == NULL) return false;
    const PJ_TYPE type = proj_get_type(own);
    proj_destroy(own);
    system->shape = has_heights ? CRS_COMPOUND : proj_is_flat(s, system->ground) ? CRS_FLAT : CRS_SOLID;
    system->axes.is_geographic = type == PJ_TYPE_GEOGRAPHIC_2D_CRS || type == PJ_TYPE_GEOGRAPHIC_3D_CRS;
    system->axes.is_geocentric = type == PJ_TYPE_GEOCENTRIC_CRS;
    system->axes.unit = unit_of_axis(s, system->ground, 0);
    system->stated_height = has_heights ? unit_of_axis(s, system->vertical, 0) : unit_of_axis(s, system->ground, 2);
    system->axes.height_unit = system->stated_height;
    if (compound && !has_heights) system->axes.height_unit = unit_of_axis(s, system->vertical, 0);
    return system->axes.unit > 0;
}

static bool units_differ(double a, double b) { return a > 0 && b > 0 && fabs(a / b - 1) > 1e-9; }

/* There are files that name the code of a system of metres, and say in another place that they have feet: that
   counts. */
static void take_units(mote_context *ctx, proj_session *s, const crs_request *request, crs_system *system) {
    const mote_unit *ground = &request->units.horizontal, *height = &request->units.vertical;
    if (!request->stated_units || system->axes.is_geographic) return;
    if (units_differ(ground->metres, system->axes.unit)) {
        PJ *other = proj_crs_alter_cs_linear_unit(s->proj, system->ground, ground->name, ground->metres, NULL, NULL);
        PJ *whole = other == NULL ? NULL
                    : system->shape == CRS_COMPOUND
                        ? proj_create_compound_crs(s->proj, proj_get_name(system->whole), other, system->vertical)
                        : proj_clone(s->proj, other);
        if (whole != NULL) {
            mote_warn(ctx, "%s is not in %s, but the input says that its coordinates are: so they are taken",
                      request->from, ground->name);
            proj_destroy(system->ground);
            proj_destroy(system->whole);
            system->ground = other;
            system->whole = whole;
            system->axes.unit = ground->metres;
        } else {
            proj_destroy(other);
        }
    }
    if (height->metres > 0 && !system->axes.is_geocentric) system->axes.height_unit = height->metres;
}

/* ---- heights */

/* Where one of the two states no heights, these are not PROJ's matter: it would take them for heights above an
   ellipsoid, and not say so. */
static void settle_heights(mote_context *ctx, proj_session *s, const crs_request *request, crs_transformer *t,
                           crs_system *from, crs_system *to) {
    const double unit = from->axes.height_unit, stated = from->stated_height;
    const bool metres = unit == 1 && (to->axes.is_geographic || to->axes.unit == 1);
    t->height_in = unit > 0 ? unit / (stated > 0 ? stated : 1) : 1;
    t->height_own = 1;
    if (from->shape != CRS_SOLID && to->shape == CRS_FLAT) {
        /* They stay, and what they are heights of. */
        if (unit > 0) t->height_in = unit;
        t->own_height = true;
        to->axes.height_unit = unit;
        /* The unit of heights stays too, which the text of the target would not say. */
        if (from->vertical == NULL && unit > 0 && !metres && request->stated_units) {
            from->vertical = proj_session_unknown_heights(s, &request->units.vertical);
        }
        if (from->shape == CRS_COMPOUND) replace(&from->whole, proj_clone(s->proj, from->ground));
    } else if (from->shape == CRS_FLAT && to->shape == CRS_COMPOUND) {
        t->own_height = true;
        if (unit > 0) t->height_in = unit;
        if (unit > 0 && to->axes.height_unit > 0) t->height_own = unit / to->axes.height_unit;
        replace(&to->whole, proj_clone(s->proj, to->ground));
        mote_warn(ctx, "the input does not say what its heights are of: they are taken for %s%s",
                  proj_get_name(to->vertical), unit > 0 ? "" : ", in its unit");
    } else if (from->shape == CRS_FLAT && to->shape == CRS_SOLID) {
        replace(&from->whole, proj_crs_promote_to_3D(s->proj, NULL, from->whole));
        mote_warn(ctx,
                  "the input does not say what its heights are of: they are taken for heights above the "
                  "ellipsoid%s",
                  unit > 0 ? "" : ", in metres");
    }
}

/* Coordinates of a dynamic system hold at an epoch, which no file of points states. */
static void tell_epoch(mote_context *ctx, proj_session *s, const crs_system *from, const crs_system *to,
                       const PJ *operation) {
    const PJ *systems[] = {from->ground, to->ground};
    const bool one_datum =
        proj_get_type(operation) == PJ_TYPE_CONVERSION || proj_coordoperation_get_accuracy(s->proj, operation) == 0;
    bool dynamic = false;
    if (one_datum) return;
    for (int i = 0; i < 2; i++) {
        const char *text = proj_as_wkt(s->proj, systems[i], PJ_WKT2_2019, NULL);
        dynamic = dynamic || (text != NULL && strstr(text, "DYNAMIC[") != NULL);
    }
    if (!dynamic) return;
    mote_note(ctx, "a system is dynamic: its coordinates move with the plates, some centimetres a year; no epoch is "
                   "known, and none is taken into account");
}

/* ---- making it */

/* The system's text: as it was given where it is well-known text that says all, else PROJ's. */
static mote_status keep_text(mote_context *ctx, proj_session *s, const crs_request *request, const crs_system *from,
                             const crs_system *to, crs_transformer *t) {
    const bool kept = from->vertical != NULL && to->shape == CRS_FLAT;
    PJ *whole = NULL;
    char name[400];
    if (kept) {
        snprintf(name, sizeof name, "%.190s + %.190s", proj_get_name(to->ground), proj_get_name(from->vertical));
        whole = proj_create_compound_crs(s->proj, name, to->ground, from->vertical);
        const char *text = whole != NULL ? proj_session_wkt(s, whole) : NULL;
        t->text = text != NULL ? mote_strdup(ctx, text) : NULL;
        proj_destroy(whole);
        if (text != NULL) return t->text != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    }
    return mote_crs_proj_text(ctx, request->to, 0, &t->text);
}

static mote_status make_workers(mote_context *ctx, const PJ *operation, crs_transformer *t) {
    t->threads = ctx->threads;
    t->workers = mote_alloc_zero(ctx, (uint64_t)t->threads * sizeof *t->workers, "transformation");
    if (t->workers == NULL) return MOTE_ERROR_MEMORY;
    for (int i = 0; i < t->threads; i++) {
        MOTE_TRY(proj_session_open(ctx, &t->workers[i].session));
        t->workers[i].operation = proj_clone(t->workers[i].session.proj, operation);
        if (t->workers[i].operation == NULL) {
            return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: an operation of PROJ for each thread");
        }
    }
    return MOTE_OK;
}

static mote_status choose(mote_context *ctx, proj_session *s, const crs_request *request, crs_system *from,
                          crs_system *to, crs_transformer *t) {
    from->whole = proj_session_system(ctx, s, request->from, "the input's reference system");
    from->whole = proj_session_with_heights(ctx, s, from->whole, request->vertical);
    to->whole = from->whole != NULL ? proj_session_system(ctx, s, request->to, "the reference system") : NULL;
    if (to->whole == NULL) return mote_context_status(ctx);
    if (!look_at(s, from) || !look_at(s, to)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the axes of %s or %s are not known", proj_get_name(from->whole),
                         proj_get_name(to->whole));
    }
    take_units(ctx, s, request, from);
    settle_heights(ctx, s, request, t, from, to);
    const crs_area area = proj_session_area(s, from->whole, &request->box);
    const PJ *const systems[2] = {from->ground, to->ground};
    proj_session_tell_area(ctx, s, from->whole, systems, &request->box, &area);
    proj_tell_turns(ctx, &from->axes, &request->box);
    PJ *operation = proj_session_operation(ctx, s, from->whole, to->whole, request, &area);
    if (operation == NULL) return mote_context_status(ctx);
    tell_epoch(ctx, s, from, to, operation);
    const char *pipeline = proj_as_proj_string(s->proj, operation, PJ_PROJ_5, NULL);
    t->is_mercator = pipeline != NULL && mote_crs_pipeline_is_mercator(pipeline, &t->mercator);
    t->from = from->axes;
    t->to = to->axes;
    mote_status status = keep_text(ctx, s, request, from, to, t);
    if (status == MOTE_OK) status = make_workers(ctx, operation, t);
    proj_destroy(operation);
    return status;
}

mote_status mote_crs_transformer_make(mote_context *ctx, const crs_request *request, crs_transformer **out) {
    proj_session s;
    crs_system from = {0}, to = {0};
    crs_transformer *t = *out = mote_alloc_zero(ctx, sizeof *t, "transformation");
    if (t == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = proj_session_open(ctx, &s);
    if (status == MOTE_OK) status = choose(ctx, &s, request, &from, &to, t);
    free_system(&from);
    free_system(&to);
    proj_session_close(&s);
    if (status == MOTE_OK) return MOTE_OK;
    mote_crs_transformer_free(ctx, t);
    *out = NULL;
    return status;
}

void mote_crs_transformer_free(mote_context *ctx, crs_transformer *t) {
    if (t == NULL) return;
    for (int i = 0; i < t->threads && t->workers != NULL; i++) {
        proj_destroy(t->workers[i].operation);
        proj_session_close(&t->workers[i].session);
    }
    mote_free(ctx, t->workers);
    mote_free(ctx, t->text);
    mote_free(ctx, t);
}

const char *mote_crs_transformer_text(const crs_transformer *t) { return t->text; }
const crs_axes *mote_crs_transformer_from(const crs_transformer *t) { return &t->from; }
const crs_axes *mote_crs_transformer_to(const crs_transformer *t) { return &t->to; }
bool mote_crs_transformer_keeps_z(const crs_transformer *t) { return t->own_height && t->height_own == 1; }

/* ---- running it */

/* Transforms by PROJ, whatever the projections are. */
static void run_proj(const crs_transformer *t, int thread, uint32_t count, double *x, double *y, double *z) {
    const size_t step = sizeof(double);
    double heights[CRS_BLOCK_POINTS];
    for (uint32_t i = 0; i < count; i++) heights[i] = z[i] * t->height_in;
    proj_errno_reset(t->workers[thread].operation);
    proj_trans_generic(t->workers[thread].operation, PJ_FWD, x, step, count, y, step, count, heights, step, count, NULL,
                       0, 0);
    for (uint32_t i = 0; i < count; i++) {
        const bool is_there = isfinite(x[i]) && isfinite(y[i]) && isfinite(heights[i]);
        if (!is_there) x[i] = y[i] = INFINITY;
        z[i] = !is_there ? INFINITY : t->own_height ? z[i] * t->height_own : heights[i];
    }
}

void mote_crs_transformer_run(const crs_transformer *t, int thread, uint32_t count, double *x, double *y, double *z) {
    double first_x[CRS_BLOCK_POINTS], first_y[CRS_BLOCK_POINTS];
    bool valid[CRS_BLOCK_POINTS];
    if (!t->is_mercator) {
        run_proj(t, thread, count, x, y, z);
        return;
    }
    memcpy(first_x, x, count * sizeof *x);
    memcpy(first_y, y, count * sizeof *y);
    mercator_change_run(&t->mercator, count, x, y, valid);
    for (uint32_t i = 0; i < count; i++) {
        if (valid[i]) {
            z[i] *= t->own_height ? t->height_own : t->height_in;
            continue;
        }
        x[i] = first_x[i], y[i] = first_y[i];
        run_proj(t, thread, 1, x + i, y + i, z + i);
    }
}

#else

mote_status mote_crs_transformer_make(mote_context *ctx, const crs_request *request, crs_transformer **out) {
    *out = NULL;
    mote_crs_facts from, to;
    mote_crs_describe(request->from, &from);
    mote_crs_describe(request->to, &to);
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "coordinates cannot be transformed from %s to %s: %s", from.name,
                     to.name, CRS_NEEDS_PROJ);
}
void mote_crs_transformer_free(mote_context *ctx, crs_transformer *t) { (void)ctx, (void)t; }
const char *mote_crs_transformer_text(const crs_transformer *t) { return (const char *)t; }
const crs_axes *mote_crs_transformer_from(const crs_transformer *t) { return (const crs_axes *)t; }
const crs_axes *mote_crs_transformer_to(const crs_transformer *t) { return (const crs_axes *)t; }
bool mote_crs_transformer_keeps_z(const crs_transformer *t) { return t != NULL; }
void mote_crs_transformer_run(const crs_transformer *t, int thread, uint32_t count, double *x, double *y, double *z) {
    (void)t, (void)thread, (void)count, (void)x, (void)y, (void)z;
}

#endif

/* Scenes from files. */
#include <math.h>

#include "io/scene/scene_draft.h"
#include "io/text/text.h"

/* A file without a camera is seen from its front, a little from above and from the side; y is up. */
static mote_status place_camera(mote_context *ctx, const scene_draft *d, mote_camera *camera) {
    static const double from[3] = {0.5, 0.4, 1};
    mote_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    *camera = mote_camera_defaults();
    camera->up[1] = 1;
    camera->up[2] = 0;
    if (d->triangle_count == 0) return MOTE_OK;
    for (uint64_t i = 0; i < 3 * d->triangle_count; i++) {
        for (int k = 0; k < 3; k++) {
            const double v = d->positions[3ull * d->triangles[i] + (uint64_t)k];
            box.min[k] = fmin(box.min[k], v);
            box.max[k] = fmax(box.max[k], v);
        }
    }
    for (int k = 0; k < 3; k++) {
        if (fmax(fabs(box.min[k]), fabs(box.max[k])) <= MOTE_RENDER_MAX_COORDINATE) continue;
        return mote_fail(ctx, MOTE_ERROR_DATA, "%s: %s runs from %g to %g: pictures have coordinates up to %g (2^60)",
                         d->path, mote_axis_names[k], box.min[k], box.max[k], MOTE_RENDER_MAX_COORDINATE);
    }
    return mote_camera_fit(ctx, camera, &box, from, 1, 1);
}

static mote_status create(scene_draft *d, mote_scene **out) {
    mote_scene_params p;
    memset(&p, 0, sizeof p);
    MOTE_TRY(scene_draft_finish_colors(d));
    p.positions = d->positions;
    p.position_count = d->position_count;
    p.triangles = d->triangles;
    p.triangle_materials = d->triangle_materials;
    p.triangle_count = d->triangle_count;
    p.materials = d->materials;
    p.material_count = d->material_count;
    p.lights = d->lights;
    p.light_count = d->light_count;
    p.textures = d->textures;
    p.texture_count = d->texture_count;
    p.texture_coordinates = d->coordinates;
    p.colors = d->colors;
    p.camera = d->camera;
    if (!d->has_camera) MOTE_TRY(place_camera(d->ctx, d, &p.camera));
    return mote_scene_create(d->ctx, &p, out);
}

bool mote_scene_is_file(const char *path) {
    static const char *const endings[] = {".glb", ".gltf", ".obj"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (mote_path_has_ending(path, endings[i])) return true;
    }
    return false;
}

static void note_facts(const scene_draft *d, mote_scene_facts *facts) {
    memset(facts, 0, sizeof *facts);
    facts->triangles = d->triangle_count;
    facts->degenerate = d->degenerate;
    facts->materials = d->material_count;
    facts->textures = d->texture_count;
    facts->lights = d->light_count;
    facts->has_camera = d->has_camera;
    for (uint64_t i = 0; i < d->triangle_count; i++) {
        const mote_material *const m = &d->materials[d->triangle_materials[i]];
        const bool shines = m->emission[0] + m->emission[1] + m->emission[2] > 0;
        facts->shining += shines;
        facts->glowing += shines && m->emission_texture > 0;
    }
}

mote_status scene_read_input(mote_context *ctx, const mote_input *input, mote_scene **out, mote_scene_facts *facts) {
    scene_draft d = {.ctx = ctx, .path = input->path};
    MOTE_TRY(mote_text_check_encoding(ctx, input));
    const bool obj = mote_path_has_ending(input->path, ".obj");
    mote_status status = obj ? scene_read_obj(&d, input) : scene_read_gltf(&d, input);
    if (status == MOTE_OK) status = mote_input_check(ctx, input);
    if (status == MOTE_OK) status = create(&d, out);
    if (status == MOTE_OK && facts != NULL) note_facts(&d, facts);
    scene_draft_free(&d);
    return status;
}

mote_status mote_scene_read(mote_context *ctx, const char *path, mote_scene **out, mote_scene_facts *facts) {
    mote_input input;
    *out = NULL;
    if (path == NULL || !mote_scene_is_file(path)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: scenes end in .glb, .gltf or .obj", path != NULL ? path : "");
    }
    MOTE_TRY(mote_input_open(ctx, path, &input));
    mote_stage(ctx, "read scene");
    const mote_status status = scene_read_input(ctx, &input, out, facts);
    mote_stage(ctx, NULL);
    mote_input_close(ctx, &input);
    return status;
}

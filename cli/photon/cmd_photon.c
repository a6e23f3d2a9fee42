/* mote photon: light as photons, and pictures gathered from them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "paths.h"
#include "photon/photon_file.h"
#include "pi.h"
#include "print.h"
#include "render/picture_file.h"
#include "text.h"

static const command_help help = {
    .synopsis = "mote photon SCENE -o OUT.png [options]",
    "Lights a scene by photon mapping and makes a picture of it: photons leave the lights, are stored where they meet\n"
    "surfaces, and are gathered in discs that lie flat on the surface, so that colours bleed less around corners.\n"
    "SCENE: cornell, cornell-empty, ring, furnace, leak, cupboard, slit, low_table, attic, or a file: .glb, .gltf\n"
    "(glTF 2.0) or .obj (with its .mtl). A file without light is lit by a soft sky and a key light.",
    "  mote photon cornell -o cornell.png\n"
    "  mote photon cornell -o map.png --method map --photons 1M -k 256\n"
    "  mote photon ring -o ring.png --photons 1M -k 64        a caustic\n"
    "  mote photon ring -o ring.png --progressive 16 -k 64\n"
    "  mote photon room.obj -o room.png --eye 2,1.5,4 --target 0,1,0\n"
    "  mote photon cornell -o reference.pfm --method path --samples 16 --size 128x128\n"
    "  mote photon cornell -o final.png --compare reference.pfm --size 128x128\n"
    "  mote photon cornell -o small.png --size 64x64 --photons-out photons.ply\n",
    "OUT ends in .png or .ppm (sRGB, by --tone and --exposure), .pfm or .npy (float32 radiance: red, green, blue).\n"
    "Methods: full, direct light by shadow rays, caustics from the map, the remainder by final gathering; map, what\n"
    "the map itself shows; direct, direct light alone by the map; shadow, the same by shadow rays; path, a path\n"
    "tracer, slow and right. --compare prints the mean difference (of |a - b|, over the mean of the reference), the\n"
    "bias, PSNR and SSIM. --hash is a checksum of the radiance, whatever file it goes to. How it works, and how to "
    "choose: docs/photon.md.\n",
};

typedef struct photon_options {
    uint64_t photons, k, passes, samples, gather_rays, shadow_rays;
    double compression, radius, exposure;
    int method, filter, area, tone;
    bool method_given;
    const char *size, *photons_out, *compare, *eye, *target, *up;
    double fov_deg;
    bool exposure_given, fov_given, no_default_light;
} photon_options;

/* What the command works on. */
typedef struct photon_task {
    const photon_options *options;
    const io_paths *paths;
    const char *format;
    mote_photon_emission emission;
    mote_photon_params params;
    mote_scene *scene;
    mote_scene_facts scene_facts;
    mote_camera camera;
    mote_photon_map *map;
    mote_photon_facts facts;
    radiance picture, reference;
    double emit_s, picture_s;
} photon_task;

/* ---- the options' meaning */

static bool parse_size(const char *word, uint32_t *width, uint32_t *height) {
    char first[16];
    uint64_t w, h;
    const char *x = strchr(word, 'x');
    if (x == NULL || (size_t)(x - word) >= sizeof first) return false;
    snprintf(first, sizeof first, "%.*s", (int)(x - word), word);
    if (!parse_count(first, 0, &w) || !parse_count(x + 1, 0, &h)) return false;
    if (w < 1 || h < 1 || w > MOTE_RENDER_MAX_SIZE || h > MOTE_RENDER_MAX_SIZE) return false;
    *width = (uint32_t)w;
    *height = (uint32_t)h;
    return true;
}

static int check_camera(const photon_options *o) {
    const char *const names[] = {"--eye", "--target", "--up"}, *const words[] = {o->eye, o->target, o->up};
    for (int i = 0; i < 3; i++) {
        double place[3];
        if (words[i] != NULL && !parse_place(words[i], place)) {
            return usage_error("photon", "%s: \"%s\" is not X,Y,Z", names[i], words[i]);
        }
    }
    if (!o->fov_given || (o->fov_deg >= 1 && o->fov_deg <= 179)) return EXIT_DONE;
    return usage_error("photon", "--fov: %g is not in 1..179", o->fov_deg);
}

static int check_range(const char *name, uint64_t value, uint64_t low, uint64_t high) {
    if (value >= low && value <= high) return EXIT_DONE;
    return usage_error("photon", "%s: %" PRIu64 " is not in %" PRIu64 "..%" PRIu64, name, value, low, high);
}

static int check_passes(const photon_options *o) {
    const bool fits = o->method == MOTE_PHOTON_MAP || o->method == MOTE_PHOTON_DIRECT;
    if (o->passes == 0) return EXIT_DONE;
    if (o->method_given && !fits) return usage_error("photon", "--progressive goes with --method map or direct");
    if (o->photons_out != NULL) {
        return usage_error("photon", "--progressive and --photons-out: each pass has photons of its own");
    }
    return check_range("--progressive", o->passes, 1, MOTE_PHOTON_MAX_PASSES);
}

static int check_format(photon_task *t) {
    static const char *const endings[] = {"png", "ppm", "pfm", "npy"};
    char dotted[8];
    picture_format colors;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0] && t->format == NULL; i++) {
        snprintf(dotted, sizeof dotted, ".%s", endings[i]);
        if (io_paths_written_as(t->paths, dotted)) t->format = endings[i];
    }
    for (int i = 0; i < t->paths->input_count && t->format == NULL; i++) {
        if (strcmp(t->paths->inputs[i], t->paths->output) != 0) continue;
        return usage_error("photon", "%s: the output is also an input", t->paths->output);
    }
    if (t->format == NULL) {
        return usage_error("photon", "%s: pictures end in .png, .ppm, .pfm or .npy", t->paths->output);
    }
    if (picture_format_find(t->format, &colors) && picture_format_missing(colors) != NULL) {
        return usage_error("photon", "%s", picture_format_missing(colors));
    }
    return EXIT_DONE;
}

static int check_usage(photon_task *t) {
    const photon_options *o = t->options;
    int code = check_range("--photons", o->photons, 1, MOTE_PHOTON_MAX_PHOTONS);
    if (code == EXIT_DONE) code = check_range("-k", o->k, 2, MOTE_PHOTON_MAX_K);
    if (code == EXIT_DONE) code = check_range("--samples", o->samples, 1, MOTE_PHOTON_MAX_SAMPLES);
    if (code == EXIT_DONE) code = check_range("--gather-rays", o->gather_rays, 1, 65536);
    if (code == EXIT_DONE) code = check_range("--shadow-rays", o->shadow_rays, 1, 65536);
    if (code == EXIT_DONE) code = check_camera(o);
    if (code != EXIT_DONE) return code;
    if (!(o->compression >= 1 && o->compression <= MOTE_KNN_MAX_COMPRESSION)) {
        return usage_error("photon", "--compression: %g is not in 1..%g", o->compression, MOTE_KNN_MAX_COMPRESSION);
    }
    if (!(o->radius >= 0)) return usage_error("photon", "--radius: %g is below 0", o->radius);
    if (o->exposure_given && !(o->exposure > 0))
        return usage_error("photon", "--exposure: %g is not above 0", o->exposure);
    if (o->size != NULL && !parse_size(o->size, &t->params.width, &t->params.height)) {
        return usage_error("photon", "--size: \"%s\" is not WIDTHxHEIGHT, each 1..%u", o->size, MOTE_RENDER_MAX_SIZE);
    }
    if (t->paths->input_count != 1) return usage_error("photon", "one scene, not %d", t->paths->input_count);
    code = check_passes(o);
    if (code != EXIT_DONE) return code;
    t->emission.photons = o->photons;
    t->params.method = (mote_photon_method)o->method;
    if (o->passes > 0 && !o->method_given) t->params.method = MOTE_PHOTON_MAP;
    t->params.samples = (uint32_t)o->samples;
    t->params.gather_rays = (uint32_t)o->gather_rays;
    t->params.shadow_rays = (uint32_t)o->shadow_rays;
    t->params.gathering.k = (uint32_t)o->k;
    t->params.gathering.compression = o->compression;
    t->params.gathering.radius = o->radius;
    t->params.gathering.filter = (mote_photon_filter)o->filter;
    t->params.gathering.area = (mote_photon_area)o->area;
    return check_format(t);
}

/* ---- steps */

/* Changes what is given of the scene's camera. */
static void place_camera(photon_task *t) {
    const photon_options *o = t->options;
    t->camera = mote_scene_camera(t->scene);
    if (o->eye != NULL) parse_place(o->eye, t->camera.eye);
    if (o->target != NULL) parse_place(o->target, t->camera.target);
    if (o->up != NULL) parse_place(o->up, t->camera.up);
    if (o->fov_given) t->camera.angle_rad = o->fov_deg * PI / 180;
}

static int read_scene(session *s, photon_task *t) {
    const char *path = t->paths->inputs[0];
    const mote_scene_facts *f = &t->scene_facts;
    const mote_status status = mote_scene_read(s->ctx, path, &t->scene, &t->scene_facts);
    if (status != MOTE_OK) return session_fail(s, status, true);
    session_note_inputs(s, t->paths->inputs, 1);
    if (f->degenerate > 0) {
        session_note(s, "%s: %s triangles without area were left out", path, text_count(f->degenerate).chars);
    }
    if (f->triangles == 0) session_note(s, "%s: it has no triangles", path);
    session_say(s, "%s: %s triangles, %s materials, %s textures, %s lights, %s", path, text_count(f->triangles).chars,
                text_count(f->materials).chars, text_count(f->textures).chars, text_count(f->lights + f->shining).chars,
                f->has_camera ? "a camera" : "no camera");
    return EXIT_DONE;
}

/* Most sample models have no light, or displays alone that glow: their picture would be black. */
static int need_light(session *s, const photon_task *t) {
    const char *path = t->paths->inputs[0];
    const mote_scene_facts *f = &t->scene_facts;
    const bool glows = f->glowing > 0;
    if (f->shining > f->glowing || f->lights > 0 || f->triangles == 0 || !mote_scene_is_file(path)) return EXIT_DONE;
    if (t->options->no_default_light && glows) return EXIT_DONE;
    if (t->options->no_default_light) {
        session_note(s, "%s: it has no light: its picture is black, except for what is unlit", path);
        return EXIT_DONE;
    }
    session_note(s, "%s: it has no light%s: lit by a soft sky and a key light; --no-default-light leaves it dark", path,
                 glows ? " but textures that glow" : "");
    const mote_status status = mote_scene_add_default_light(t->scene, &t->camera);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

/* What the scene is made of, its textures for one, must not be replaced by what is made of it. */
static int check_inputs(session *s, const photon_task *t) {
    const char *const outputs[] = {t->paths->output, t->options->photons_out};
    for (int i = 0; i < 2; i++) {
        if (outputs[i] == NULL) continue;
        const mote_status status = mote_outputs_check(s->ctx, outputs[i]);
        if (status != MOTE_OK) return session_fail(s, status, false);
    }
    return EXIT_DONE;
}

static int open_scene(session *s, photon_task *t) {
    const char *name = t->paths->inputs[0];
    if (mote_scene_is_file(name)) return read_scene(s, t);
    for (uint32_t i = 0; mote_scene_name(i) != NULL; i++) {
        if (strcmp(name, mote_scene_name(i)) != 0) continue;
        const mote_status status = mote_scene_builtin(s->ctx, name, &t->scene);
        return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
    }
    return session_error(s, EXIT_USAGE,
                         "there is no scene \"%s\": cornell, cornell-empty, ring, furnace, leak, cupboard, slit, "
                         "low_table, attic, or a .glb, "
                         ".gltf or .obj file",
                         name);
}

static int emit(session *s, photon_task *t) {
    const bool wanted = (t->params.method != MOTE_PHOTON_PATH && t->params.method != MOTE_PHOTON_SHADOW) ||
                        t->options->photons_out != NULL;
    if (!wanted || t->options->passes > 0) return EXIT_DONE;
    const double begin = seconds_now();
    const mote_status status = mote_photon_emit(t->scene, &t->emission, &t->map);
    if (status != MOTE_OK) return session_fail(s, status, false);
    t->emit_s = seconds_now() - begin;
    t->facts = mote_photon_map_facts(t->map);
    if (t->facts.stored == 0) session_note(s, "no photon met a diffuse surface");
    return EXIT_DONE;
}

static int write_photons(session *s, const photon_task *t) {
    if (t->options->photons_out == NULL) return EXIT_DONE;
    const mote_write_params params = mote_write_defaults();
    const mote_status status = mote_cloud_write(s->ctx, mote_photon_cloud(t->map), t->options->photons_out, &params);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

static int draw(session *s, photon_task *t) {
    const double begin = seconds_now();
    t->picture.width = t->params.width;
    t->picture.height = t->params.height;
    t->picture.rgb = malloc(12ull * t->params.width * t->params.height);
    if (t->picture.rgb == NULL) return session_error(s, EXIT_RESOURCES, "no memory for the picture");
    const mote_status status = t->options->passes > 0
                                   ? mote_photon_render_progressive(t->scene, &t->camera, &t->emission, &t->params,
                                                                    (uint32_t)t->options->passes, t->picture.rgb)
                                   : mote_photon_render(t->scene, t->map, &t->camera, &t->params, t->picture.rgb);
    t->picture_s = seconds_now() - begin;
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

static int write_picture(session *s, const photon_task *t) {
    const double exposure = t->options->exposure_given ? t->options->exposure : radiance_exposure(&t->picture);
    return radiance_write(s, &t->picture, t->paths->output, t->format, exposure, (tone_curve)t->options->tone);
}

/* The reference is read before any work is done. */
static int read_reference(session *s, photon_task *t) {
    if (t->options->compare == NULL) return EXIT_DONE;
    const int code = radiance_read(s, t->options->compare, &t->reference);
    if (code != EXIT_DONE) return code;
    if (t->reference.width == t->params.width && t->reference.height == t->params.height) return EXIT_DONE;
    return session_error(s, EXIT_INPUT, "%s is of %u x %u pixels, the picture of %u x %u", t->options->compare,
                         t->reference.width, t->reference.height, t->params.width, t->params.height);
}

/* The hash that is told: of radiance, so that it does not depend on the kind of file. */
static uint64_t hash_of(const radiance *picture) {
    const size_t count = 3 * (size_t)picture->width * picture->height;
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &picture->rgb[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash;
}

static void print_json(const session *s, const photon_task *t, const radiance_difference *difference,
                       const char *digits) {
    static const char *const methods[] = {"full", "map", "direct", "shadow", "path"};
    const mote_scene_facts *scene = &t->scene_facts;
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_text(&json, "output", path_title(t->paths->output));
    emit_text(&json, "scene", t->paths->inputs[0]);
    if (mote_scene_is_file(t->paths->inputs[0])) {
        emit_count(&json, "triangles", scene->triangles);
        emit_count(&json, "lights", scene->lights + scene->shining);
    }
    emit_count(&json, "width", t->params.width);
    emit_count(&json, "height", t->params.height);
    emit_text(&json, "method", methods[t->params.method]);
    emit_count(&json, "samples", t->params.samples);
    if (t->map != NULL) {
        emit_open(&json, "photons", '{');
        emit_count(&json, "emitted", t->facts.emitted);
        emit_count(&json, "stored", t->facts.stored);
        emit_count(&json, "stored_direct", t->facts.stored_direct);
        emit_count(&json, "stored_caustic", t->facts.stored_caustic);
        emit_count(&json, "absorbed", t->facts.absorbed);
        emit_count(&json, "escaped", t->facts.escaped);
        emit_close(&json, '}');
    }
    if (difference != NULL) {
        emit_open(&json, "difference", '{');
        emit_real(&json, "mean", difference->mean);
        emit_real(&json, "bias", difference->bias);
        emit_real(&json, "psnr_db", difference->psnr);
        emit_real(&json, "ssim", difference->ssim);
        emit_close(&json, '}');
    }
    emit_text(&json, "backend", mote_context_backend(s->ctx));
    emit_real(&json, "emit_seconds", t->emit_s);
    emit_real(&json, "draw_seconds", t->picture_s);
    emit_real(&json, "seconds", seconds_now() - s->started);
    if (s->options.hash) emit_text(&json, "hash", digits);
    costs_emit(s, NULL, 0, &json);
    emit_close(&json, '}');
    emit_end(&json);
}

static void report(session *s, const photon_task *t) {
    const bool compared = t->options->compare != NULL;
    const radiance_difference d =
        compared ? radiance_compare(&t->picture, &t->reference) : (radiance_difference){.mean = 0};
    char digits[20];
    snprintf(digits, sizeof digits, "%016" PRIx64, hash_of(&t->picture));
    session_printing(s);
    if (t->map != NULL) {
        const mote_photon_facts *f = &t->facts;
        session_say(s, "%s photons: %s stored (%s direct, %s caustic), %s absorbed, %s escaped, in %s",
                    text_count(f->emitted).chars, text_count(f->stored).chars, text_count(f->stored_direct).chars,
                    text_count(f->stored_caustic).chars, text_count(f->absorbed).chars, text_count(f->escaped).chars,
                    text_seconds(t->emit_s).chars);
    }
    session_say(s, "%s: %u x %u pixels in %s", path_title(t->paths->output), t->params.width, t->params.height,
                text_seconds(t->picture_s).chars);
    if (s->options.json) {
        print_json(s, t, compared ? &d : NULL, digits);
        return;
    }
    if (compared) {
        print_out("mean difference %.3f %%, bias %.3f %%, PSNR %.2f dB, SSIM %.4f\n", 100 * d.mean, 100 * d.bias,
                  d.psnr, d.ssim);
    }
    if (s->options.hash) print_out("%s  %s\n", digits, path_title(t->paths->output));
}

static int check_outputs(session *s, const photon_task *t) {
    const photon_options *o = t->options;
    const io_paths photons = {t->paths->inputs, t->paths->input_count, o->photons_out, NULL, true};
    const named_file files[] = {
        {"-o", t->paths->output, false}, {"--photons-out", o->photons_out, false}, {"--compare", o->compare, true}};
    int code = check_output_place(s, t->paths);
    if (code == EXIT_DONE && o->photons_out != NULL) code = check_output_file(s, &photons);
    return code == EXIT_DONE ? check_distinct(s, files, sizeof files / sizeof files[0]) : code;
}

static int run_photon(session *s, photon_task *t) {
    int code = check_outputs(s, t);
    if (code == EXIT_DONE) code = read_reference(s, t);
    if (code == EXIT_DONE) code = open_scene(s, t);
    if (code == EXIT_DONE) code = check_inputs(s, t);
    if (code == EXIT_DONE) place_camera(t);
    if (code == EXIT_DONE) code = need_light(s, t);
    if (code == EXIT_DONE) code = emit(s, t);
    if (code == EXIT_DONE) code = write_photons(s, t);
    if (code == EXIT_DONE) code = draw(s, t);
    if (code == EXIT_DONE) code = write_picture(s, t);
    if (code == EXIT_DONE) code = session_commit(s);
    if (code == EXIT_DONE) report(s, t);
    free(t->picture.rgb);
    free(t->reference.rgb);
    mote_photon_destroy(t->map);
    mote_scene_destroy(t->scene);
    return code;
}

int cmd_photon(int argc, char **argv) {
    photon_task task = {.emission = mote_photon_emission_defaults(), .params = mote_photon_defaults()};
    photon_options o = {.photons = task.emission.photons,
                        .k = task.params.gathering.k,
                        .samples = task.params.samples,
                        .gather_rays = task.params.gather_rays,
                        .shadow_rays = task.params.shadow_rays,
                        .compression = task.params.gathering.compression,
                        .filter = (int)task.params.gathering.filter};
    const option rows[] = {
        {"photons", 0, OPTION_COUNT, &o.photons, NULL, "N", "to emit; default 200k"},
        {"neighbors", 'k', OPTION_COUNT, &o.k, NULL, "N", "photons gathered at a place, 2..1024; default 128"},
        {"compression", 0, OPTION_REAL, &o.compression, NULL, "C",
         "of the ellipsoid along the normal; 1: a sphere; default 4"},
        {"radius", 0, OPTION_REAL, &o.radius, NULL, "R", "only photons at most so far away"},
        {"filter", 0, OPTION_CHOICE, &o.filter, NULL, "none|cone|epanechnikov", "weights by distance; default cone"},
        {"area", 0, OPTION_CHOICE, &o.area, NULL, "surface|disc",
         "what power is divided by: what of the disc is surface, or all of it, as published; default surface"},
        {"method", 0, OPTION_CHOICE, &o.method, &o.method_given, "full|map|direct|shadow|path", "default full"},
        {"progressive", 0, OPTION_COUNT, &o.passes, NULL, "N",
         "map, direct: the mean of N passes whose discs shrink; each emits --photons"},
        {"size", 0, OPTION_TEXT, &o.size, NULL, "WxH", "pixels; default 512x512"},
        {"samples", 0, OPTION_COUNT, &o.samples, NULL, "N", "N * N samples for each pixel, 1..256; default 2"},
        {"gather-rays", 0, OPTION_COUNT, &o.gather_rays, NULL, "N", "full: of each sample, 1..65536; default 16"},
        {"shadow-rays", 0, OPTION_COUNT, &o.shadow_rays, NULL, "N",
         "full, shadow: of each sample, 1..65536; default 4"},
        {"eye", 0, OPTION_TEXT, &o.eye, NULL, "X,Y,Z", "where the camera is; default: the scene's"},
        {"target", 0, OPTION_TEXT, &o.target, NULL, "X,Y,Z", "what is in the picture's middle"},
        {"up", 0, OPTION_TEXT, &o.up, NULL, "X,Y,Z", "what is up in the picture"},
        {"fov", 0, OPTION_REAL, &o.fov_deg, &o.fov_given, "DEG", "from the lower to the upper edge, 1..179"},
        {"no-default-light", 0, OPTION_FLAG, &o.no_default_light, NULL, NULL,
         "leave a scene without light dark; default: a soft sky and a key light"},
        {"tone", 0, OPTION_CHOICE, &o.tone, NULL, "reinhard|linear", "how radiance becomes colour; default reinhard"},
        {"exposure", 0, OPTION_REAL, &o.exposure, &o.exposure_given, "E",
         "radiance times E; default: the picture's mean becomes grey"},
        {"photons-out", 0, OPTION_TEXT, &o.photons_out, NULL, "OUT.ply", "also the photons, as a cloud"},
        {"compare", 0, OPTION_TEXT, &o.compare, NULL, "REF.pfm", "print how far the picture is from this one"},
        {0},
    };
    common_options common;
    arguments words;
    io_paths paths;
    const parse_result parsed = options_parse(
        &help, rows, COMMON_RUN | COMMON_SEED | COMMON_JSON | COMMON_HASH | COMMON_OUTPUT, &common, argc, argv, &words);
    if (parsed != PARSE_RUN) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    int code = io_paths_take("photon", &common, &words, false, &paths);
    task.options = &o;
    task.paths = &paths;
    task.emission.seed = task.params.seed = common.seed;
    if (code == EXIT_DONE) code = check_usage(&task);
    if (code != EXIT_DONE) return code;
    session s;
    code = session_open(&s, "photon", &common);
    if (code == EXIT_DONE) code = session_hold(&s);
    if (code == EXIT_DONE) code = run_photon(&s, &task);
    return session_close(&s, code);
}

/* The cameras of a sequence of pictures. */
#define _GNU_SOURCE /* getline, strsep */
#include "render/picture_path.h"
#include "pi.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/picture_camera.h"

#define MAX_CAMERAS 100000u
#define ORBIT_TRIES 16   /* directions that an orbit is fitted to */
#define ORBIT_SLACK 1.02 /* of the distance that those need: what is between them */
#define ORBIT_PART  0.96 /* of the picture, without the margins of fitted cameras */

static double distance(const double a[3], const double b[3]) {
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}

/* ---- a file of cameras */

/* What a line may say. */
typedef struct camera_word {
    const char *name;
    int numbers;
    bool needed;
} camera_word;

static const camera_word words[] = {
    {"eye", 3, true}, {"target", 3, true}, {"up", 3, false}, {"fov", 1, false}, {"height", 1, false}};
#define WORDS (sizeof words / sizeof words[0])

static bool take_word(const char *name, const double *numbers, mote_camera *camera) {
    if (strcmp(name, "eye") == 0) memcpy(camera->eye, numbers, sizeof camera->eye);
    if (strcmp(name, "target") == 0) memcpy(camera->target, numbers, sizeof camera->target);
    if (strcmp(name, "up") == 0) memcpy(camera->up, numbers, sizeof camera->up);
    if (strcmp(name, "fov") == 0) {
        if (!(numbers[0] >= 1 && numbers[0] <= 170)) return false;
        camera->angle_rad = numbers[0] * PI / 180;
    }
    if (strcmp(name, "height") == 0) {
        if (!(numbers[0] > 0)) return false;
        camera->projection = MOTE_ORTHOGRAPHIC;
        camera->height = numbers[0];
    }
    return true;
}

/* NULL, or what is wrong with the line. */
static const char *parse_line(char *line, mote_camera *camera) {
    static const char separators[] = " \t,;=\r\n";
    bool found[WORDS] = {false};
    char *rest = NULL;
    for (char *token = strtok_r(line, separators, &rest); token != NULL; token = strtok_r(NULL, separators, &rest)) {
        size_t w = 0;
        while (w < WORDS && strcmp(token, words[w].name) != 0) w++;
        if (w == WORDS) return "a word that is not eye, target, up, fov or height";
        if (found[w]) return "a word twice";
        found[w] = true;
        double numbers[3] = {0, 0, 0};
        for (int i = 0; i < words[w].numbers; i++) {
            const char *number = strtok_r(NULL, separators, &rest);
            if (number == NULL || !parse_real(number, &numbers[i])) return "a number is missing";
        }
        if (!take_word(words[w].name, numbers, camera)) return "fov is 1 to 170 degrees, height above 0";
    }
    for (size_t w = 0; w < WORDS; w++) {
        if (words[w].needed && !found[w]) return "it needs eye X Y Z target X Y Z";
    }
    if (!(distance(camera->eye, camera->target) > 0)) return "eye and target are the same place";
    return NULL;
}

static bool add_camera(picture_path *path, const mote_camera *camera) {
    if ((path->count & (path->count - 1)) == 0) {
        const size_t capacity = path->count > 0 ? 2 * (size_t)path->count : 1;
        mote_camera *larger = realloc(path->cameras, capacity * sizeof *larger);
        if (larger == NULL) return false;
        path->cameras = larger;
    }
    path->cameras[path->count++] = *camera;
    return true;
}

/* Reads the camera of one line, which may be empty or a comment. */
static int read_camera(session *s, const char *file, unsigned number, char *line, const mote_camera *first,
                       picture_path *path) {
    mote_camera camera = *first;
    line[strcspn(line, "#")] = '\0';
    if (line[strspn(line, " \t,;=\r\n")] == '\0') return EXIT_DONE;
    const char *wrong = parse_line(line, &camera);
    if (wrong == NULL && path->count > 0 && camera.projection != path->cameras[0].projection) {
        wrong = "either all cameras have a height, or none";
    }
    if (wrong == NULL && path->count == MAX_CAMERAS) wrong = "too many cameras";
    if (wrong != NULL) return session_error(s, EXIT_INPUT, "%s: line %u: %s", file, number, wrong);
    return add_camera(path, &camera) ? EXIT_DONE : session_error(s, EXIT_RESOURCES, "out of memory: cameras");
}

/* Lines end in LF, CRLF or CR. */
static int read_lines(session *s, const char *file, FILE *from, const mote_camera *first, picture_path *path) {
    char *text = NULL;
    size_t capacity = 0;
    ssize_t length;
    unsigned number = 0;
    int code = EXIT_DONE;
    while (code == EXIT_DONE && (length = getline(&text, &capacity, from)) >= 0) {
        char *rest = text;
        const char *const encoding = number == 0 ? mote_text_encoding(text, (uint64_t)length) : NULL;
        if (encoding != NULL) {
            code = session_error(s, EXIT_INPUT, "%s: the text is encoded as %s, mote reads UTF-8 and ASCII", file,
                                 encoding);
        }
        if (number == 0 && strncmp(text, "\xEF\xBB\xBF", 3) == 0) rest += 3;
        while (code == EXIT_DONE && rest != NULL && (rest == text || strcmp(rest, "\n") != 0)) {
            code = read_camera(s, file, ++number, strsep(&rest, "\r"), first, path);
        }
    }
    free(text);
    if (code == EXIT_DONE && ferror(from)) code = session_error(s, EXIT_INPUT, "%s: cannot read", file);
    return code;
}

int picture_path_read(session *s, const char *file, const picture_view *view, picture_path *path) {
    mote_camera first = mote_camera_defaults();
    FILE *from = session_open_file(s, file);
    if (from == NULL) return session_error(s, EXIT_INPUT, "%s: cannot open: %s", file, strerror(errno));
    memcpy(first.up, view->up, sizeof first.up);
    first.angle_rad = view->angle_rad;
    const int code = read_lines(s, file, from, &first, path);
    fclose(from);
    if (code == EXIT_DONE && path->count == 0) return session_error(s, EXIT_INPUT, "%s: holds no camera", file);
    return code;
}

/* ---- an orbit */

/* Turns a vector around an axis of unit length. */
static void turn(double v[3], const double axis[3], double angle_rad) {
    const double c = cos(angle_rad), along = (axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2]) * (1 - c);
    double out[3];
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = v[k] * c + (axis[i] * v[j] - axis[j] * v[i]) * sin(angle_rad) + axis[k] * along;
    }
    memcpy(v, out, sizeof out);
}

static void turn_camera(mote_camera *camera, const double axis[3], double angle_rad) {
    double from[3];
    for (int k = 0; k < 3; k++) from[k] = camera->eye[k] - camera->target[k];
    turn(from, axis, angle_rad);
    turn(camera->up, axis, angle_rad);
    for (int k = 0; k < 3; k++) camera->eye[k] = camera->target[k] + from[k];
}

/* How far from a target a camera must be that sees all that a fitted one sees, in the same direction: the eye of that
   one must lie in its view. Of parallel rays: the height of the picture. */
static double distance_for(const mote_camera *fitted, const double target[3], const mote_render_params *params) {
    const picture_lens lens = picture_lens_of(fitted, params);
    double behind = 0, right = 0, down = 0;
    for (int k = 0; k < 3; k++) {
        const double way = fitted->eye[k] - target[k];
        behind -= way * lens.forward[k];
        right += way * lens.right[k];
        down += way * lens.down[k];
    }
    const double part = ORBIT_PART / lens.scale, x = fabs(right) / part / lens.middle[0],
                 y = fabs(down) / part / lens.middle[1];
    return lens.perspective ? behind + fmax(x, y) : fitted->height * (1 + fmax(x, y));
}

/* One distance and one target for all directions, so that nothing jumps. */
static int fit_orbit(session *s, mote_renderer *renderer, const mote_render_params *params, picture_path *path) {
    mote_camera tries[ORBIT_TRIES], *camera = &path->cameras[0];
    double target[3] = {0, 0, 0}, from[3], farthest = 0, needed = 0;
    for (int i = 0; i < ORBIT_TRIES; i++) {
        tries[i] = *camera;
        turn_camera(&tries[i], path->axis, 2 * PI * i / ORBIT_TRIES);
        for (int k = 0; k < 3; k++) from[k] = tries[i].eye[k] - tries[i].target[k];
        const mote_status status = picture_camera_fit(renderer, &tries[i], from, params);
        if (status != MOTE_OK) return session_fail(s, status, false);
        for (int k = 0; k < 3; k++) target[k] += tries[i].target[k] / ORBIT_TRIES;
    }
    for (int i = 0; i < ORBIT_TRIES; i++) {
        farthest = fmax(farthest, distance(tries[i].eye, target));
        needed = fmax(needed, ORBIT_SLACK * distance_for(&tries[i], target, params));
    }
    const bool perspective = camera->projection == MOTE_PERSPECTIVE;
    if (!perspective) camera->height = needed;
    const double scale = (perspective ? needed : farthest) / distance(camera->eye, camera->target);
    for (int k = 0; k < 3; k++) {
        camera->eye[k] = target[k] + (camera->eye[k] - camera->target[k]) * scale;
        camera->target[k] = target[k];
    }
    return EXIT_DONE;
}

int picture_path_place(session *s, const picture_view *view, bool steep, mote_renderer *renderer,
                       const mote_render_params *params, picture_path *path) {
    mote_camera camera;
    int code = picture_camera_place(s, view, steep, renderer, params, &camera);
    if (code == EXIT_DONE && !add_camera(path, &camera)) {
        code = session_error(s, EXIT_RESOURCES, "out of memory: cameras");
    }
    if (code != EXIT_DONE || !path->orbit) return code;
    const picture_axes axes = picture_axes_of(view->up);
    memcpy(path->axis, axes.up, sizeof path->axis);
    return view->has_eye || view->has_target ? EXIT_DONE : fit_orbit(s, renderer, params, path);
}

void picture_path_retreat(picture_path *path, double times) {
    for (uint32_t i = 0; i < path->count; i++) {
        mote_camera *c = &path->cameras[i];
        for (int k = 0; k < 3; k++) c->eye[k] = c->target[k] + (c->eye[k] - c->target[k]) * times;
        c->height *= times;
    }
}

mote_camera picture_path_at(const picture_path *path, uint32_t frame) {
    if (path->orbit) {
        mote_camera camera = path->cameras[0];
        turn_camera(&camera, path->axis, 2 * PI * frame / path->frames);
        return camera;
    }
    if (path->frames == path->count || path->frames < 2) {
        return path->cameras[frame < path->count ? frame : path->count - 1];
    }
    const double end = path->closed ? path->count : path->count - 1.0;
    const double step = path->closed ? end / path->frames : end / (path->frames - 1.0);
    return mote_camera_on_path(path->cameras, path->count, path->closed, frame * step);
}

void picture_path_free(picture_path *path) {
    free(path->cameras);
    memset(path, 0, sizeof *path);
}

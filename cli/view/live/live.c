/* Live pictures: the painter, which draws for all clients in turn, and the loader, which reads what is new. */
#define _GNU_SOURCE /* pthread_condattr_setclock */
#include "view/live/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "view/live/live_facts.h"
#include "view/live/live_hub.h"

#define FAREWELL_S 1.0 /* for telling pages that the server ends; one that does not read is not waited for */

static struct timespec later(double seconds) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    const long long ns = (long long)at.tv_nsec + (long long)(seconds * 1e9);
    at.tv_sec += (time_t)(ns / 1000000000);
    at.tv_nsec = (long)(ns % 1000000000);
    return at;
}

/* ---- the painter: whose turn it is */

typedef enum live_turn { TURN_NONE, TURN_PICK, TURN_MOVING, TURN_STILL } live_turn;

/* What is to be done for a client now. wait_s: lowered to when something may be. */
static live_turn turn_of(const live_hub *l, const live_client *c, double now, double *wait_s) {
    if (c->has_ended || c->is_broken || !c->has_view) return TURN_NONE;
    if (c->has_pick) return TURN_PICK;
    const bool is_new = c->drawn != c->view_count || c->drawn_scene != l->scene->version;
    if (!live_client_has_room(c)) return TURN_NONE;
    if (is_new) return TURN_MOVING;
    if (c->drawn_still == c->view_count) return TURN_NONE;
    const double rest_s = c->view_at + LIVE_REST_S - now;
    if (rest_s <= 0) return TURN_STILL;
    if (rest_s < *wait_s) *wait_s = rest_s;
    return TURN_NONE;
}

/* The next one after the last that has something to do: first those that move. */
static live_client *next_client(live_hub *l, live_turn *turn, double *wait_s) {
    const double now = seconds_now();
    live_client *begin = l->last != NULL && l->last->next != NULL ? l->last->next : l->clients, *still = NULL;
    live_client *c = begin;
    while (c != NULL) {
        *turn = turn_of(l, c, now, wait_s);
        if (*turn == TURN_MOVING || *turn == TURN_PICK) return c;
        if (*turn == TURN_STILL && still == NULL) still = c;
        c = c->next != NULL ? c->next : l->clients;
        if (c == begin) break;
    }
    *turn = still != NULL ? TURN_STILL : TURN_NONE;
    return still;
}

/* ---- the painter: a turn */

static void tell_legend(live_client *c, const picture_colors *colors) {
    char *legend = live_legend(colors);
    if (legend == NULL || strcmp(legend, c->legend) == 0) {
        free(legend);
        return;
    }
    snprintf(c->legend, sizeof c->legend, "%s", legend);
    live_client_tell(c, TEXT_LEGEND, legend);
}

static void tell_scene(live_hub *l, live_client *c) {
    if (c->told_scene == l->scene->version) return;
    c->told_scene = l->scene->version;
    live_client_tell(c, TEXT_SCENE, l->facts != NULL ? strdup(l->facts) : NULL);
}

/* Draws without the lock: the view is a copy, and the client stays while is_drawing. */
static void draw_for(live_hub *l, live_client *c, bool is_still, live_picture *picture) {
    const live_view view = c->view;
    const uint32_t count = c->view_count;
    live_spacing spacing = c->spacing;
    const live_quality quality = {is_still, c->pace.scale, &spacing};
    const picture_colors *colors = NULL;
    char why[256] = "";
    const double begin = seconds_now();
    if (c->wants_since < begin - 1) c->wants_since = begin; /* it was at rest */
    tell_scene(l, c);
    pthread_mutex_unlock(&l->lock);
    const bool is_drawn = live_scene_draw(l->scene, &view, &quality, picture, &colors, why, sizeof why);
    pthread_mutex_lock(&l->lock);
    c->drawn = count;
    c->drawn_scene = l->scene->version;
    if (is_still) c->drawn_still = count;
    c->spacing = spacing;
    if (c->has_ended) return;
    if (!is_drawn) {
        c->drawn_still = count; /* nothing would come of it again */
        live_client_tell(c, TEXT_NOTE, live_words("trouble", why));
        return;
    }
    tell_legend(c, colors);
    live_client_hand_over(c, picture, begin);
    c->wants_since = seconds_now();
}

static void pick_for(live_hub *l, live_client *c) {
    const live_view view = c->view;
    const live_message pick = c->pick;
    c->has_pick = false;
    pthread_mutex_unlock(&l->lock);
    char *answer = live_pick(l->scene, &view, pick.pick_id, pick.pick_x, pick.pick_y);
    pthread_mutex_lock(&l->lock);
    live_client_tell(c, TEXT_PICK, answer);
}

/* The scene that the loader has made becomes the one that is drawn. */
static void take_scene(live_hub *l) {
    live_scene *old = l->scene;
    if (l->next_scene == NULL) return;
    l->scene = l->next_scene;
    l->next_scene = NULL;
    free(l->facts);
    l->facts = live_facts(l->scene);
    for (live_client *c = l->clients; c != NULL; c = c->next) {
        tell_scene(l, c);
        c->drawn_still = c->view_count - 1;
        c->spacing.found.median = 0;
        c->view_at = seconds_now(); /* whole after a rest: the next one may be on its way */
    }
    pthread_mutex_unlock(&l->lock);
    live_scene_free(old);
    pthread_mutex_lock(&l->lock);
}

static void *paint(void *user) {
    live_hub *l = user;
    live_picture picture = {.rgba = NULL};
    pthread_mutex_lock(&l->lock);
    while (!l->is_ending) {
        double wait_s = 1;
        live_turn turn = TURN_NONE;
        take_scene(l);
        live_client *c = l->scene != NULL ? next_client(l, &turn, &wait_s) : NULL;
        if (c == NULL) {
            const struct timespec end = later(wait_s);
            if (!l->is_ending) pthread_cond_timedwait(&l->work, &l->lock, &end);
            continue;
        }
        c->is_drawing = true;
        l->last = c;
        if (turn == TURN_PICK)
            pick_for(l, c);
        else
            draw_for(l, c, turn == TURN_STILL, &picture);
        c->is_drawing = false;
        pthread_cond_broadcast(&l->idle);
    }
    pthread_mutex_unlock(&l->lock);
    live_picture_free(&picture);
    return NULL;
}

/* ---- the loader */

/* Under the lock. words "": what was told before no longer holds. */
static void tell_trouble(live_hub *l, const char *words) {
    snprintf(l->trouble, sizeof l->trouble, "%s", words);
    for (live_client *c = l->clients; c != NULL && !l->is_ending; c = c->next) {
        live_client_tell(c, TEXT_NOTE, live_words("trouble", l->trouble));
    }
}

/* A scene of what is new. Errors are told to the pages, not to the terminal: the next file may be right. */
static void load(live_hub *l) {
    char why[512];
    live_scene *scene = NULL;
    const int code = live_scene_make(l->session, &l->source, &scene, why, sizeof why);
    pthread_mutex_lock(&l->lock);
    tell_trouble(l, code == EXIT_DONE ? "" : why);
    live_scene *skipped = l->next_scene;
    if (scene != NULL) {
        scene->version = ++l->version;
        l->next_scene = scene;
        pthread_cond_signal(&l->work);
    }
    pthread_mutex_unlock(&l->lock);
    if (scene != NULL) live_scene_free(skipped);
}

static void *watch(void *user) {
    live_hub *l = user;
    pthread_mutex_lock(&l->lock);
    while (!l->is_ending) {
        const struct timespec end = later(live_source_interval_s(&l->source));
        char why[512];
        pthread_mutex_unlock(&l->lock);
        const bool has_news = live_source_has_news(&l->source);
        if (has_news) load(l);
        if (!has_news) live_source_trouble(&l->source, why, sizeof why);
        pthread_mutex_lock(&l->lock);
        if (!has_news && why[0] != '\0') tell_trouble(l, why);
        while (!l->is_ending && pthread_cond_timedwait(&l->idle, &l->lock, &end) != ETIMEDOUT) {}
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- begin and end */

static int read_first(session *s, live_hub *l) {
    char why[512];
    if (l->source.kind != LIVE_FILES) {
        live_source_has_news(&l->source);
        if (!live_source_has_news(&l->source)) return EXIT_DONE; /* it will come */
    }
    const int code = live_scene_make(s, &l->source, &l->scene, why, sizeof why);
    if (code != EXIT_DONE) return code;
    l->scene->version = ++l->version;
    l->facts = live_facts(l->scene);
    return EXIT_DONE;
}

static void make_conditions(live_hub *l) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->work, &attributes);
    pthread_cond_init(&l->idle, &attributes);
    pthread_condattr_destroy(&attributes);
}

int live_start(session *s, const live_options *o, live_hub **out) {
    live_hub *l = calloc(1, sizeof *l);
    *out = NULL;
    if (l == NULL) return session_error(s, EXIT_RESOURCES, "out of memory");
    l->session = s;
    l->pictures_per_second = o->pictures_per_second;
    make_conditions(l);
    int code = live_source_open(s, o->inputs, o->count, o->scene, o->photons, &l->source);
    if (code == EXIT_DONE) code = read_first(s, l);
    if (code == EXIT_DONE) {
        l->has_painter = pthread_create(&l->painter, NULL, paint, l) == 0;
        l->has_loader = l->has_painter && pthread_create(&l->loader, NULL, watch, l) == 0;
        if (!l->has_loader) code = session_error(s, EXIT_RESOURCES, "no thread could be started");
    }
    if (code != EXIT_DONE) {
        live_stop(l);
        return code;
    }
    *out = l;
    return EXIT_DONE;
}

static bool is_anyone_talking(const live_hub *l) {
    for (const live_client *c = l->clients; c != NULL; c = c->next) {
        if (!c->is_done) return true;
    }
    return false;
}

void live_close(live_hub *l) {
    pthread_mutex_lock(&l->lock);
    l->is_ending = true;
    for (live_client *c = l->clients; c != NULL; c = c->next) pthread_cond_signal(&c->wake);
    pthread_cond_broadcast(&l->work);
    pthread_cond_broadcast(&l->idle);
    const struct timespec end = later(FAREWELL_S);
    while (is_anyone_talking(l) && pthread_cond_timedwait(&l->idle, &l->lock, &end) != ETIMEDOUT) {}
    pthread_mutex_unlock(&l->lock);
}

void live_stop(live_hub *l) {
    if (l == NULL) return;
    live_close(l);
    if (l->has_painter) pthread_join(l->painter, NULL);
    if (l->has_loader) pthread_join(l->loader, NULL);
    live_scene_free(l->scene);
    live_scene_free(l->next_scene);
    live_source_close(&l->source);
    free(l->facts);
    pthread_cond_destroy(&l->work);
    pthread_cond_destroy(&l->idle);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

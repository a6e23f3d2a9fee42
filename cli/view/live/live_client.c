/* A page that shows live pictures: what it wants, what it was sent. */
#define _GNU_SOURCE /* strdup */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/live/live_facts.h"
#include "view/live/live_hub.h"

#define MESSAGES_PER_SECOND 400.0 /* more are no page of ours: it sends one or two for each picture of the screen */
#define MESSAGES_AT_ONCE    800.0

/* ---- what it is told */

void live_client_tell(live_client *client, live_text kind, char *text) {
    if (text == NULL) return;
    free(client->texts[kind]);
    client->texts[kind] = text;
    pthread_cond_signal(&client->wake);
}

bool live_client_has_room(const live_client *client) {
    return !client->has_pending && client->number - client->shown < LIVE_ON_THE_WAY;
}

void live_client_hand_over(live_client *client, live_picture *picture, double begin) {
    const uint32_t number = ++client->number;
    picture->number = number;
    client->sent[number % LIVE_ON_THE_WAY].number = picture->is_still ? 0 : number;
    client->sent[number % LIVE_ON_THE_WAY].begin = begin;
    client->sent[number % LIVE_ON_THE_WAY].cost_s = seconds_now() - client->wants_since;
    live_picture_swap(&client->pending, picture);
    client->has_pending = true;
    pthread_cond_signal(&client->wake);
}

/* ---- its thread */

static bool send_texts(live_client *c) {
    bool is_sent = true;
    for (int i = 0; i < LIVE_TEXTS && is_sent; i++) {
        char *text = c->texts[i];
        if (text == NULL) continue;
        c->texts[i] = NULL;
        pthread_mutex_unlock(&c->hub->lock);
        is_sent = c->send(c->connection, LIVE_PACKET_TEXT, text, strlen(text));
        free(text);
        pthread_mutex_lock(&c->hub->lock);
    }
    return is_sent;
}

/* Encodes and sends the pending picture; meanwhile the next one may become pending. */
static bool send_picture(live_client *c, live_picture *picture, live_encoder *encoder) {
    if (!c->has_pending) return true;
    live_picture_swap(&c->pending, picture);
    c->has_pending = false;
    pthread_cond_signal(&c->hub->work);
    pthread_mutex_unlock(&c->hub->lock);
    const double begin = seconds_now();
    const bool is_sent =
        live_encode(encoder, picture) && c->send(c->connection, LIVE_PACKET_BYTES, encoder->bytes, encoder->size);
    const double cost_s = seconds_now() - begin;
    pthread_mutex_lock(&c->hub->lock);
    double *known = &c->sent[picture->number % LIVE_ON_THE_WAY].cost_s;
    if (cost_s > *known) *known = cost_s;
    return is_sent;
}

static bool has_text(const live_client *c) {
    for (int i = 0; i < LIVE_TEXTS; i++) {
        if (c->texts[i] != NULL) return true;
    }
    return false;
}

static void *serve(void *user) {
    live_client *c = user;
    live_picture picture = {.rgba = NULL};
    live_encoder encoder = {.bytes = NULL};
    static const char bye[] = "the server has ended";
    pthread_mutex_lock(&c->hub->lock);
    while (!c->has_ended && !c->hub->is_ending) {
        if (!c->has_pending && !has_text(c)) {
            pthread_cond_wait(&c->wake, &c->hub->lock);
            continue;
        }
        if (send_texts(c) && send_picture(c, &picture, &encoder)) continue;
        c->is_broken = true;
        break;
    }
    const bool is_our_end = c->hub->is_ending && !c->has_ended;
    const bool is_broken = c->is_broken;
    pthread_mutex_unlock(&c->hub->lock);
    if (is_our_end || is_broken) c->send(c->connection, LIVE_PACKET_CLOSE, bye, sizeof bye - 1);
    live_picture_free(&picture);
    live_encoder_free(&encoder);
    pthread_mutex_lock(&c->hub->lock);
    c->is_done = true;
    pthread_cond_broadcast(&c->hub->idle);
    pthread_mutex_unlock(&c->hub->lock);
    return NULL;
}

/* ---- coming and going */

bool live_has_room(live_hub *l) {
    pthread_mutex_lock(&l->lock);
    const bool has_room = !l->is_ending && l->client_count < LIVE_CLIENTS_MAX;
    pthread_mutex_unlock(&l->lock);
    return has_room;
}

static void free_client(live_client *c) {
    for (int i = 0; i < LIVE_TEXTS; i++) free(c->texts[i]);
    live_picture_free(&c->pending);
    pthread_cond_destroy(&c->wake);
    free(c);
}

/* Under the lock. */
static void greet(live_client *c) {
    live_hub *l = c->hub;
    if (l->facts != NULL) live_client_tell(c, TEXT_SCENE, strdup(l->facts));
    if (l->facts == NULL) live_client_tell(c, TEXT_NOTE, live_words("waiting", "Waiting for the first cloud."));
    if (l->trouble[0] != '\0') live_client_tell(c, TEXT_NOTE, live_words("trouble", l->trouble));
}

live_client *live_join(live_hub *l, live_send *send, void *connection) {
    live_client *c = calloc(1, sizeof *c);
    if (c == NULL) return NULL;
    c->hub = l;
    c->send = send;
    c->connection = connection;
    c->tokens = MESSAGES_AT_ONCE;
    c->tokens_at = seconds_now();
    live_pace_start(&c->pace, l->pictures_per_second);
    pthread_cond_init(&c->wake, NULL);
    pthread_mutex_lock(&l->lock);
    const bool has_room = !l->is_ending && l->client_count < LIVE_CLIENTS_MAX;
    if (!has_room || pthread_create(&c->thread, NULL, serve, c) != 0) {
        pthread_mutex_unlock(&l->lock);
        free_client(c);
        return NULL;
    }
    c->next = l->clients;
    l->clients = c;
    l->client_count++;
    greet(c);
    pthread_mutex_unlock(&l->lock);
    return c;
}

void live_leave(live_client *c) {
    if (c == NULL) return;
    live_hub *l = c->hub;
    pthread_mutex_lock(&l->lock);
    c->has_ended = true;
    pthread_cond_signal(&c->wake);
    while (c->is_drawing) pthread_cond_wait(&l->idle, &l->lock);
    live_client **at = &l->clients;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    if (l->last == c) l->last = NULL;
    pthread_mutex_unlock(&l->lock);
    pthread_join(c->thread, NULL);
    pthread_mutex_lock(&l->lock);
    l->client_count--; /* only now its memory is free */
    pthread_cond_broadcast(&l->idle);
    pthread_mutex_unlock(&l->lock);
    free_client(c);
}

/* ---- what it says */

/* A bucket of messages, which fills up by and by. */
static bool may_speak(live_client *c) {
    const double now = seconds_now();
    c->tokens += (now - c->tokens_at) * MESSAGES_PER_SECOND;
    if (c->tokens > MESSAGES_AT_ONCE) c->tokens = MESSAGES_AT_ONCE;
    c->tokens_at = now;
    if (c->tokens < 1) return false;
    c->tokens -= 1;
    return true;
}

static void take_view(live_client *c, const live_view *view) {
    c->view = *view;
    c->has_view = true;
    c->view_at = seconds_now();
    if (live_client_has_room(c) && c->drawn == c->view_count) c->wants_since = c->view_at;
    c->view_count++;
}

/* The way to the screen takes two pictures at a time, so that half of it counts. */
static void take_shown(live_client *c, uint32_t frame) {
    if (frame - c->shown - 1 >= c->number - c->shown) return; /* shown already, or never sent */
    const uint32_t at = frame % LIVE_ON_THE_WAY;
    if (c->sent[at].number == frame) {
        const double way_s = (seconds_now() - c->sent[at].begin) / LIVE_ON_THE_WAY;
        live_pace_add(&c->pace, c->sent[at].cost_s > way_s ? c->sent[at].cost_s : way_s);
    }
    if (!live_client_has_room(c)) c->wants_since = seconds_now();
    c->shown = frame;
}

const char *live_receive(live_client *c, const char *data, size_t size) {
    live_hub *l = c->hub;
    live_message message;
    const bool is_message = live_message_read(data, size, &message);
    const char *refused = size > LIVE_MESSAGE_MAX ? "message too long" : is_message ? NULL : "not a message";
    pthread_mutex_lock(&l->lock);
    if (!may_speak(c)) refused = "too many messages";
    if (refused == NULL) {
        switch (message.kind) {
        case LIVE_VIEW: take_view(c, &message.view); break;
        case LIVE_SHOWN: take_shown(c, message.frame); break;
        case LIVE_PICK:
            c->pick = message;
            c->has_pick = true;
            break;
        }
        pthread_cond_signal(&l->work);
    }
    pthread_mutex_unlock(&l->lock);
    return refused;
}

/* The inside of live.h: the painter (live.c) and the clients (live_client.c) share it. */
#ifndef CLI_LIVE_HUB_H
#define CLI_LIVE_HUB_H

#include <pthread.h>

#include "view/live/live.h"
#include "view/live/live_message.h"
#include "view/live/live_pace.h"
#include "view/live/live_picture.h"
#include "view/live/live_scene.h"
#include "view/live/live_source.h"

#define LIVE_ON_THE_WAY 2u   /* pictures of a client that its page has not shown yet: one is drawn while one is sent */
#define LIVE_REST_S     0.15 /* after which a view that has not changed is drawn whole */

/* Texts that a page is to be told; a newer one of a kind replaces the one before. */
typedef enum live_text { TEXT_SCENE, TEXT_LEGEND, TEXT_PICK, TEXT_NOTE, LIVE_TEXTS } live_text;

/* All but the constants is under the lock of the hub. */
struct live_client {
    live_hub *hub;
    live_send *send;
    void *connection;
    live_client *next;
    pthread_t thread;
    pthread_cond_t wake; /* its thread: something to send, or the end */
    bool has_ended;      /* the connection has: nothing more is drawn for it */
    bool is_drawing;     /* the painter is at work for it */
    bool is_done;        /* its thread has said goodbye */
    bool is_broken;      /* sending has failed */

    bool has_view;
    live_view view;
    double view_at;              /* when it came */
    uint32_t view_count;         /* views that came, by which "drawn" tells them apart */
    uint32_t drawn, drawn_still; /* the last that was drawn moving, and whole */
    uint32_t drawn_scene;        /* the scene that it was drawn of */
    double wants_since;          /* when the painter could have begun */
    live_spacing spacing;
    live_pace pace;

    live_picture pending;
    bool has_pending;
    uint32_t number, shown; /* pictures that were handed over, and the newest that is on the screen */
    struct {
        uint32_t number;
        double begin, cost_s;
    } sent[LIVE_ON_THE_WAY]; /* by number modulo: to measure the way there */

    bool has_pick;
    live_message pick;
    char *texts[LIVE_TEXTS];
    char legend[512]; /* the last that was told */
    uint32_t told_scene;

    double tokens, tokens_at; /* of messages that may come */
};

struct live_hub {
    session *session;
    double pictures_per_second;
    pthread_mutex_t lock;
    pthread_cond_t work; /* the painter: a view, a picture that was shown, a scene */
    pthread_cond_t idle; /* live_leave: the painter is done with a client */
    pthread_t painter, loader;
    bool has_painter, has_loader;
    bool is_ending;
    live_client *clients;
    live_client *last; /* that was drawn for */
    unsigned client_count;
    live_scene *scene;      /* used by the painter alone */
    live_scene *next_scene; /* made by the loader, NULL: none */
    char *facts;            /* of the scene */
    char trouble[512];      /* of the loader: why a new cloud could not be read; "": it could */
    uint32_t version;
    live_source source;
};

/// Puts a text for a client; takes it over. Under the lock.
void live_client_tell(live_client *client, live_text kind, char *text);
/// Whether the client may have one more picture. Under the lock.
bool live_client_has_room(const live_client *client);
/// Hands a picture over by swapping it, and measures what it has cost. Under the lock.
void live_client_hand_over(live_client *client, live_picture *picture, double begin);

#endif

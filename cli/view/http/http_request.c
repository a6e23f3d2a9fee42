/* A request: its fields, its body, its answer.
 *
 * libmicrohttpd calls http_on_request once with the head, then with each piece of the body, and then once more, for the
 * answer. An answer before that last call would end the connection with bytes unread, and a peer that is still sending
 * might never see it: so the handler's answer is kept until then. */
#define _GNU_SOURCE /* strdup, POLLRDHUP */
#include "view/http/http_server.h"

#include <mote_have.h>
#include <poll.h>

#if MOTE_HAVE_MICROHTTPD
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "progress.h"
#include "view/http/http_connection.h"

#define BODY_PATIENCE_S 5u      /* without a byte of a body, and more than its rate allows */
#define BODY_RATE       16384.0 /* bytes a second that a body comes with at least, on average */
#define SEND_S          20u     /* without a byte of an answer being taken */
#define FIELD_MAX       4096u

/* ---- what was asked */

static http_connection *connection_of(struct MHD_Connection *mhd) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

const char *http_method(const http_connection *c) { return c->method; }

const char *http_target(const http_connection *c) { return c->target; }

const char *http_field(const http_connection *c, const char *name) {
    return MHD_lookup_connection_value(c->mhd, MHD_HEADER_KIND, name);
}

bool http_list_has(const char *list, const char *word) {
    const size_t length = strlen(word);
    while (list != NULL && *list != '\0') {
        list += strspn(list, " \t,");
        const size_t n = strcspn(list, " \t,");
        if (n == length && n > 0 && strncasecmp(list, word, n) == 0) return true;
        list += n;
    }
    return false;
}

void *http_on_target(void *server, const char *target, struct MHD_Connection *mhd) {
    http_connection *c = connection_of(mhd);
    (void)server;
    if (c == NULL) return NULL;
    free(c->target);
    c->target = strdup(target);
    return NULL;
}

/* ---- what is answered */

const char *http_reason(int status) { return MHD_get_reason_phrase_for((unsigned)status); }

/* Adds lines, each "name: value" with its CRLF. */
static bool add_fields(struct MHD_Response *response, const char *fields) {
    while (*fields != '\0') {
        char line[FIELD_MAX];
        const size_t length = strcspn(fields, "\r");
        snprintf(line, sizeof line, "%.*s", (int)length, fields);
        char *value = strchr(line, ':');
        if (value == NULL || length >= sizeof line) return false;
        *value++ = '\0';
        value += strspn(value, " ");
        if (MHD_add_response_header(response, line, value) != MHD_YES) return false;
        fields += length + strspn(fields + length, "\r\n");
    }
    return true;
}

/* Keeps an answer until the request has come. One that cannot be made ends the connection. */
static void keep(http_connection *c, int status, const char *fields, struct MHD_Response *response) {
    if (response == NULL) return;
    if (c->response != NULL || !add_fields(response, fields)) {
        MHD_destroy_response(response);
        return;
    }
    c->status = status;
    c->response = response;
}

void http_answer(http_connection *c, int status, const char *fields, const char *text) {
    void *copied = (void *)text;
    keep(c, status, fields, MHD_create_response_from_buffer(strlen(text), copied, MHD_RESPMEM_MUST_COPY));
}

void http_answer_file(http_connection *c, int status, const char *fields, int fd, uint64_t first, uint64_t bytes) {
    struct MHD_Response *response = MHD_create_response_from_fd_at_offset64(bytes, fd, first);
    if (response == NULL) close(fd);
    keep(c, status, fields, response);
}

void http_receive(http_connection *c, const http_body *body) { c->body = *body; }

bool http_is_gone(const http_connection *c) {
    struct pollfd peer = {.fd = c->fd, .events = POLLRDHUP};
    return poll(&peer, 1, 0) > 0 && (peer.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

static void on_upgrade(void *user, struct MHD_Connection *mhd, void *state, const char *early, size_t early_size,
                       MHD_socket fd, struct MHD_UpgradeResponseHandle *handle) {
    http_connection *c = connection_of(mhd);
    http_server *s = c->server;
    (void)user;
    (void)state;
    (void)fd;
    pthread_mutex_lock(&s->lock);
    const bool is_wanted = !s->is_ending;
    c->wait = HTTP_WAIT_NONE; /* it keeps its place */
    s->socket_count++;
    pthread_mutex_unlock(&s->lock);
    if (is_wanted) http_socket_run(c, early, early_size);
    MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
    pthread_mutex_lock(&s->lock);
    s->socket_count--;
    pthread_cond_broadcast(&s->freed);
    pthread_mutex_unlock(&s->lock);
}

void http_answer_socket(http_connection *c, const char *fields, http_talk *talk, void *user) {
    c->talk = talk;
    c->talk_user = user;
    keep(c, MHD_HTTP_SWITCHING_PROTOCOLS, fields, MHD_create_response_for_upgrade(on_upgrade, NULL));
}

/* ---- the steps of a request */

/* How long its peer may be silent, from now on; 0: for ever. It is looked at when a call of ours has returned: what the
   call took does not count. */
static void set_patience(http_connection *c, unsigned seconds) {
    MHD_set_connection_option(c->mhd, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    if (seconds > 0) MHD_set_connection_option(c->mhd, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

static enum MHD_Result send_answer(http_connection *c) {
    if (c->response == NULL) return MHD_NO;
    http_set_wait(c, HTTP_WAIT_PEER);
    set_patience(c, c->status == MHD_HTTP_SWITCHING_PROTOCOLS ? 0 : SEND_S);
    return MHD_queue_response(c->mhd, (unsigned)c->status, c->response);
}

static enum MHD_Result count_field(void *count, enum MHD_ValueKind kind, const char *name, const char *value) {
    unsigned *counts = count;
    (void)kind;
    (void)value;
    counts[0] += strcasecmp(name, "Host") == 0;
    counts[1] += strcasecmp(name, "Content-Length") == 0 || strcasecmp(name, "Transfer-Encoding") == 0;
    return MHD_YES;
}

/* A host that is said twice, or the length of a body: what two programs may read differently. And no host, which 1.1
   forbids: libmicrohttpd would refuse it, too, but with a page of its own, without our fields. */
static bool is_ambiguous(const http_connection *c, const char *version) {
    unsigned counts[2] = {0};
    MHD_get_connection_values(c->mhd, MHD_HEADER_KIND, count_field, counts);
    return counts[0] > 1 || counts[1] > 1 || (counts[0] == 0 && strcmp(version, MHD_HTTP_VERSION_1_0) != 0);
}

/* The head has come. */
static enum MHD_Result begin(http_connection *c, const char *method, const char *version) {
    const char *expect = http_field(c, "Expect");
    c->is_begun = true;
    c->method = method;
    http_set_wait(c, HTTP_WAIT_NONE);
    if (is_ambiguous(c, version)) {
        http_answer(c, MHD_HTTP_BAD_REQUEST, c->server->options.fields, "");
        return send_answer(c); /* and no further request is read */
    }
    c->server->options.handler(c->server->options.user, c);
    /* curl and others ask before they send a large body: it need not come at all. */
    if (c->response != NULL && expect != NULL && strcasecmp(expect, "100-continue") == 0) return send_answer(c);
    c->body_began = seconds_now();
    http_set_wait(c, HTTP_WAIT_PEER);
    set_patience(c, BODY_PATIENCE_S);
    return MHD_YES;
}

static void end_body(http_connection *c, bool is_whole) {
    const http_body body = c->body;
    c->body = (http_body){0};
    if (body.end != NULL) body.end(body.user, c, is_whole);
}

/* A piece of the body has come. Returns MHD_NO where the body comes too slowly. */
static enum MHD_Result take(http_connection *c, const char *data, size_t size) {
    c->body_got += size;
    if (seconds_now() > c->body_began + BODY_PATIENCE_S + (double)c->body_got / BODY_RATE) return MHD_NO;
    if (c->body.take != NULL && !c->body.take(c->body.user, data, size)) end_body(c, false);
    set_patience(c, BODY_PATIENCE_S);
    return MHD_YES;
}

enum MHD_Result http_on_request(void *server, struct MHD_Connection *mhd, const char *url, const char *method,
                                const char *version, const char *data, size_t *size, void **state) {
    http_connection *c = connection_of(mhd);
    const size_t piece = *size;
    (void)server;
    (void)url;
    (void)state;
    if (c == NULL || c->target == NULL) return MHD_NO;
    if (!c->is_begun) return begin(c, method, version);
    if (piece > 0) {
        *size = 0;
        return take(c, data, piece);
    }
    http_set_wait(c, HTTP_WAIT_NONE);
    end_body(c, true);
    return send_answer(c);
}

void http_on_completed(void *server, struct MHD_Connection *mhd, void **state, enum MHD_RequestTerminationCode how) {
    http_connection *c = connection_of(mhd);
    (void)server;
    (void)state;
    (void)how;
    if (c == NULL) return;
    end_body(c, false);
    if (c->response != NULL) MHD_destroy_response(c->response);
    c->response = NULL;
    c->talk = NULL;
    free(c->target);
    c->target = NULL;
    c->is_begun = false;
    c->body_got = 0;
    http_set_wait(c, HTTP_WAIT_HEAD);
    set_patience(c, HTTP_SILENCE_S);
}

#endif

/* mote bench live: a client on the loopback drags the camera of a live view, as a mouse would, and looks at what comes:
   pictures a second, what a picture costs, how long a movement takes to be seen. It does not decode the pictures. */
#define _GNU_SOURCE /* clock_gettime */

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/bench_websocket.h"
#include "view/live/live.h"
#include "view/live/live_socket.h"
#include "view/view_server.h"

#define MOUSE_HZ     60.0 /* movements a second: one for each picture of a usual screen */
#define TURN         0.01 /* radians a movement */
#define WARM_S       1.5  /* in which the size of the pictures settles */
#define WARM_MIN     6    /* pictures, for the same */
#define PICTURES_MIN 3    /* of a measurement, which goes on until they have come */
#define WAIT_S       60.0 /* for them, at most */
#define PICTURES_MAX 4096
#define VIEWS_MAX    65536u
#define PICTURE_MIN  40u /* bytes: the header of live_picture.h */

#define WHOLE_FPS 0.01 /* no picture is so slow that it is made smaller */

typedef struct live_case {
    const char *name, *mode;
    unsigned width, height;
    double fps; /* that moving pictures are made small enough for */
} live_case;

static const live_case cases[] = {
    {"points 720p", "points", 1280, 720, 30},        {"points 720p whole", "points", 1280, 720, WHOLE_FPS},
    {"average 720p", "average", 1280, 720, 30},      {"average 720p whole", "average", 1280, 720, WHOLE_FPS},
    {"surface 720p", "surface", 1280, 720, 30},      {"surface 720p whole", "surface", 1280, 720, WHOLE_FPS},
    {"surface 1080p 60", "surface", 1920, 1080, 60},
};
#define CASES (sizeof cases / sizeof cases[0])

/* What has come so far. The connection's thread writes, under the lock. */
typedef struct live_watcher {
    pthread_mutex_t lock;
    bench_socket socket;
    bool is_gone;
    bool counts;         /* the size has settled: pictures are measured */
    uint32_t seq;        /* of the last view that was sent */
    int came;            /* pictures, whether they are measured or not */
    double *sent_at;     /* [VIEWS_MAX] by number of the view, modulo */
    double *answer_ms;   /* [PICTURES_MAX] from the movement to the picture that shows it */
    int pictures;        /* that answer_ms holds */
    double width, bytes; /* sums over the pictures */
} live_watcher;

static double cpu_seconds(void) {
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void sleep_seconds(double seconds) {
    const struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
    nanosleep(&time, NULL);
}

/* ---- what the server sends; the header is that of live_picture.h */

static void take_picture(live_watcher *w, const uint8_t *data, size_t size) {
    uint32_t number, seq;
    uint16_t width;
    memcpy(&number, data + 4, sizeof number);
    memcpy(&seq, data + 8, sizeof seq);
    memcpy(&width, data + 12, sizeof width);
    char text[48];
    const int length = snprintf(text, sizeof text, "shown frame=%u", number);
    bench_socket_send(&w->socket, text, (size_t)length);
    w->came++;
    if (!w->counts || w->pictures == PICTURES_MAX) return;
    w->answer_ms[w->pictures++] = 1e3 * (seconds_now() - w->sent_at[seq % VIEWS_MAX]);
    w->width += width;
    w->bytes += (double)size;
}

static void *receive(void *user) {
    live_watcher *w = user;
    bench_opcode opcode;
    while (bench_socket_receive(&w->socket, &opcode)) {
        if (opcode != BENCH_SOCKET_BINARY || w->socket.size < PICTURE_MIN) continue;
        pthread_mutex_lock(&w->lock);
        take_picture(w, w->socket.data, w->socket.size);
        pthread_mutex_unlock(&w->lock);
    }
    pthread_mutex_lock(&w->lock);
    w->is_gone = true;
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- what the client sends */

static void send_view(live_watcher *w, const live_case *c, const mote_box *box) {
    double middle[3], diagonal = 0;
    char text[640];
    pthread_mutex_lock(&w->lock);
    const double angle = TURN * ++w->seq;
    for (int k = 0; k < 3; k++) {
        middle[k] = (box->min[k] + box->max[k]) / 2;
        diagonal += (box->max[k] - box->min[k]) * (box->max[k] - box->min[k]);
    }
    const double away = 0.8 * sqrt(diagonal);
    const int length = snprintf(
        text, sizeof text, "view seq=%u size=%u,%u eye=%.9g,%.9g,%.9g target=%.9g,%.9g,%.9g up=0,0,1 fov=40 mode=%s",
        w->seq, c->width, c->height, middle[0] + away * sin(angle), middle[1] - away * cos(angle),
        middle[2] + 0.4 * away, middle[0], middle[1], middle[2], c->mode);
    w->sent_at[w->seq % VIEWS_MAX] = seconds_now();
    bench_socket_send(&w->socket, text, (size_t)length);
    pthread_mutex_unlock(&w->lock);
}

static bool is_over(live_watcher *w, double begin, double seconds, int pictures) {
    const double past = seconds_now() - begin;
    pthread_mutex_lock(&w->lock);
    const bool is_enough = past >= seconds && w->came >= pictures;
    const bool is_gone = w->is_gone;
    pthread_mutex_unlock(&w->lock);
    return is_enough || is_gone || past > seconds + WAIT_S || session_cancelled();
}

/* Moves for a time, and until that number of pictures has come. Returns how long it took, in seconds. */
static double drag(live_watcher *w, const live_case *c, const mote_box *box, double seconds, int pictures) {
    const double begin = seconds_now();
    double next = begin;
    w->came = 0;
    while (!is_over(w, begin, seconds, pictures)) {
        send_view(w, c, box);
        next += 1 / MOUSE_HZ;
        const double pause = next - seconds_now();
        if (pause > 0) sleep_seconds(pause);
    }
    return seconds_now() - begin;
}

/* ---- a case */

typedef struct live_figures {
    bench_result rate; /* pictures a second: of all of the drag, so without a spread */
    double cpu_ms, answer_ms, answer_high_ms, width, kilobytes;
} live_figures;

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool measure(live_watcher *w, const live_case *c, const mote_box *box, double seconds, live_figures *f) {
    drag(w, c, box, WARM_S, WARM_MIN);
    pthread_mutex_lock(&w->lock);
    w->counts = true;
    pthread_mutex_unlock(&w->lock);
    const double cpu_begin = cpu_seconds();
    const double taken = drag(w, c, box, seconds, PICTURES_MIN);
    const double cpu_s = cpu_seconds() - cpu_begin;
    pthread_mutex_lock(&w->lock);
    w->counts = false;
    pthread_mutex_unlock(&w->lock);
    const double n = w->pictures > 0 ? w->pictures : 1;
    qsort(w->answer_ms, (size_t)w->pictures, sizeof *w->answer_ms, compare);
    f->rate.median = f->rate.low = f->rate.high = w->pictures / taken;
    f->cpu_ms = 1e3 * cpu_s / n;
    f->answer_ms = w->pictures > 0 ? w->answer_ms[w->pictures / 2] : 0;
    f->answer_high_ms = w->pictures > 0 ? w->answer_ms[(int)(0.95 * w->pictures)] : 0;
    f->width = w->width / n;
    f->kilobytes = 1e-3 * w->bytes / n;
    return w->pictures > 0;
}

/* Drags while a thread receives. */
static bool watch_and_drag(live_watcher *w, const live_case *c, const mote_box *box, double seconds, live_figures *f) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, receive, w) != 0) return false;
    const bool is_done = measure(w, c, box, seconds, f);
    bench_socket_shut(&w->socket);
    pthread_join(thread, NULL);
    return is_done;
}

/* Connects to the server, drags, and goes. */
static bool visit(const live_case *c, int port, const mote_box *box, double seconds, live_figures *f) {
    live_watcher w = {.sent_at = calloc(VIEWS_MAX, sizeof(double)), .answer_ms = calloc(PICTURES_MAX, sizeof(double))};
    bool is_done = false;
    pthread_mutex_init(&w.lock, NULL);
    if (w.sent_at != NULL && w.answer_ms != NULL && bench_socket_open(&w.socket, port, LIVE_PATH)) {
        is_done = watch_and_drag(&w, c, box, seconds, f);
        bench_socket_close(&w.socket);
    }
    pthread_mutex_destroy(&w.lock);
    free(w.sent_at);
    free(w.answer_ms);
    return is_done;
}

static void print_row(const live_case *c, const live_figures *f) {
    printf("%-18s %5.0f x %-5.0f %9.1f %12.1f %11.1f %9.1f %9.0f\n", c->name, f->width, f->width * c->height / c->width,
           f->rate.median, f->cpu_ms, f->answer_ms, f->answer_high_ms, f->kilobytes);
    fflush(stdout);
}

static int run_case(session *s, const bench_options *o, const live_case *c, const char *file, const mote_box *box) {
    live_hub *hub = NULL;
    live_figures f;
    char error[512];
    const char *inputs[] = {file};
    memset(&f, 0, sizeof f);
    const live_options source = {.inputs = inputs, .count = 1, .pictures_per_second = c->fps};
    const int code = live_start(s, &source, &hub);
    if (code != EXIT_DONE) return code;
    const view_server_options options = {"127.0.0.1", 0, true, o->scratch, NULL, 0, hub, "", NULL};
    view_server *server = view_server_start(&options, error, sizeof error);
    const bool is_done = server != NULL && visit(c, view_server_port(server), box, o->runs, &f);
    view_server_stop(server);
    live_stop(hub);
    if (server == NULL) return session_error(s, EXIT_FAILED, "%s", error);
    if (session_cancelled()) return session_fail(s, MOTE_CANCELLED, false);
    if (!is_done) return session_error(s, EXIT_FAILED, "%s: no picture came", c->name);
    print_row(c, &f);
    char device[200];
    bench_device_name(s, device, sizeof device);
    f.rate.bench = "live";
    f.rate.name = c->name;
    f.rate.unit = "pictures/s";
    f.rate.points = o->count;
    f.rate.threads = mote_context_threads(s->ctx);
    f.rate.device = bench_on_gpu(s) ? device : NULL;
    return bench_record(s, o, &f.rate);
}

/* ---- all of them */

static int make_file(session *s, const bench_options *o, const char *file, mote_box *box) {
    mote_cloud *cloud = NULL;
    mote_status status = mote_generate(s->ctx, "city", o->count, NULL, &cloud);
    if (status == MOTE_OK) status = mote_cloud_bounds(s->ctx, cloud, box, NULL);
    if (status == MOTE_OK) status = mote_cloud_write(s->ctx, cloud, file, NULL);
    mote_cloud_destroy(cloud);
    progress_clear(&s->bar);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, true);
}

static void print_head(const session *s, const bench_options *o) {
    char device[200];
    bench_device_name(s, device, sizeof device);
    printf("live: %s, %d CPU threads used, %llu points, the mouse moves %g times a second for %d s\n", device,
           mote_context_threads(s->ctx), (unsigned long long)o->count, MOUSE_HZ, o->runs);
    printf("%-18s %13s %9s %12s %11s %9s %9s\n", "case", "pixels", "pictures", "CPU ms", "movement to", "95 of 100",
           "kB");
    printf("%-18s %13s %9s %12s %11s %9s %9s\n", "", "", "/s", "a picture", "picture, ms", "within", "a picture");
}

static bool is_wanted(const bench_options *o, const live_case *c) {
    return o->only == NULL || strncmp(c->name, o->only, strlen(o->only)) == 0;
}

int bench_live(session *s, const bench_options *o) {
    const char *names[CASES + 1] = {NULL};
    char file[PATH_MAX];
    mote_box box;
    bool any = false;
    for (size_t i = 0; i < CASES; i++) {
        names[i] = cases[i].name;
        any = any || is_wanted(o, &cases[i]);
    }
    if (!any) return bench_no_case(o, names);
    snprintf(file, sizeof file, "%s/mote-bench-live-%ld.las", o->scratch, (long)getpid());
    int code = make_file(s, o, file, &box);
    if (code == EXIT_DONE) print_head(s, o);
    for (size_t i = 0; i < CASES && code == EXIT_DONE; i++) {
        if (is_wanted(o, &cases[i])) code = run_case(s, o, &cases[i], file, &box);
    }
    unlink(file);
    return code;
}

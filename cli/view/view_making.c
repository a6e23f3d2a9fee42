#define _GNU_SOURCE /* pthread_mutex_t */
#include "view/view_making.h"

#include "view/view_answer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLD_BYTES 2048u /* what there is no room for is counted */

struct view_making {
    pthread_mutex_t lock; /* of all below */
    bool is_failed;
    double done;
    char stage[64], error[512], told[TOLD_BYTES];
    size_t untold;
};

view_making *view_making_new(void) {
    view_making *m = calloc(1, sizeof *m);
    if (m != NULL) pthread_mutex_init(&m->lock, NULL);
    return m;
}

void view_making_free(view_making *m) {
    if (m == NULL) return;
    pthread_mutex_destroy(&m->lock);
    free(m);
}

void view_making_progress(void *making, double done, const char *stage) {
    view_making *m = making;
    pthread_mutex_lock(&m->lock);
    m->done = done >= 0 && done <= 1 ? done : 0;
    snprintf(m->stage, sizeof m->stage, "%s", stage != NULL ? stage : "");
    pthread_mutex_unlock(&m->lock);
}

void view_making_tell(void *making, const char *message) {
    view_making *m = making;
    pthread_mutex_lock(&m->lock);
    const size_t length = strlen(m->told);
    if (length + strlen(message) + 2 <= sizeof m->told) {
        snprintf(m->told + length, sizeof m->told - length, "%s%s", length > 0 ? "\n" : "", message);
    } else {
        m->untold++;
    }
    pthread_mutex_unlock(&m->lock);
}

void view_making_fail(view_making *m, const char *error) {
    pthread_mutex_lock(&m->lock);
    m->is_failed = true;
    snprintf(m->error, sizeof m->error, "%s", error);
    pthread_mutex_unlock(&m->lock);
}

void view_making_json(view_making *m, size_t number, char *json, size_t size) {
    char stage[2 * sizeof m->stage], error[2 * sizeof m->error], told[2 * sizeof m->told], suffix[24] = "";
    if (number > 1) snprintf(suffix, sizeof suffix, "%zu", number);
    pthread_mutex_lock(&m->lock);
    view_answer_quote(m->stage, stage, sizeof stage);
    view_answer_quote(m->error, error, sizeof error);
    view_answer_quote(m->told, told, sizeof told);
    snprintf(json, size,
             "{\"preview\": \"../preview%s/\", \"state\": \"%s\", \"done\": %.3f, \"stage\": \"%s\", \"error\": "
             "\"%s\", \"told\": \"%s\", \"untold\": %zu}\n",
             suffix, m->is_failed ? "failed" : "making", m->done, stage, error, told, m->untold);
    pthread_mutex_unlock(&m->lock);
}

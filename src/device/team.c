#define _GNU_SOURCE /* pthread_condattr_setclock */
#include "device/team.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define REPORT_SECONDS 0.02 /* between two questions whether to go on; a bar is drawn less often */

/* ---- what workers and the caller share while items are done */

typedef struct team_run team_run;

typedef struct team_member {
    team_run *run;
    mote_context *ctx;
    uint32_t number;
    pthread_t thread;
    uint32_t item; /* that it is at; UINT32_MAX: none */
    double done;   /* of that item; steps of an item each report 0 to 1 of their own, and this does not go back */
    const char *stage;
} team_member;

struct team_run {
    const team_work *work;
    const uint32_t *queue; /* [item_count] items, the longest first */
    team_member members[TEAM_MAX];
    uint32_t member_count, running;
    pthread_mutex_t lock; /* guards all below, and what changes of the members */
    pthread_cond_t to_caller, to_workers;
    uint32_t next; /* in the queue */
    double done;   /* weights of the items that are complete */
    bool stops;
    mote_status failure; /* the first */
    char failed[MOTE_MESSAGE_BYTES];
    bool has_message; /* one that the caller has not passed on yet: others wait */
    mote_log_level level;
    char message[MOTE_MESSAGE_BYTES];
};

static double weight_of(const team_work *work, uint32_t item) {
    return work->weights != NULL ? (double)work->weights[item] + 1 : 1;
}

/* ---- on a worker's thread */

static bool on_progress(void *user, double done, const char *stage) {
    team_member *member = user;
    pthread_mutex_lock(&member->run->lock);
    if (done > member->done) member->done = done;
    member->stage = stage;
    const bool stops = member->run->stops;
    pthread_mutex_unlock(&member->run->lock);
    return !stops;
}

static void on_log(void *user, mote_log_level level, const char *message) {
    team_run *run = ((team_member *)user)->run;
    pthread_mutex_lock(&run->lock);
    while (run->has_message) pthread_cond_wait(&run->to_workers, &run->lock);
    run->has_message = true;
    run->level = level;
    snprintf(run->message, sizeof run->message, "%s", message);
    pthread_cond_signal(&run->to_caller);
    pthread_mutex_unlock(&run->lock);
}

/* The next item, or UINT32_MAX. run->lock is held. */
static uint32_t take_item(team_run *run, const team_member *member) {
    if (run->stops) return UINT32_MAX;
    if (run->work->is_bound) {
        const uint32_t item = member->item == UINT32_MAX ? member->number : UINT32_MAX;
        return item < run->work->item_count ? item : UINT32_MAX;
    }
    return run->next < run->work->item_count ? run->queue[run->next++] : UINT32_MAX;
}

static void finish_item(team_run *run, const team_member *member, mote_status status) {
    run->done += weight_of(run->work, member->item);
    if (status == MOTE_OK || run->stops) return; /* what is cancelled for another's sake is no failure */
    run->failure = status;
    snprintf(run->failed, sizeof run->failed, "%s", mote_context_message(member->ctx));
    run->stops = true;
}

static void *work_on(void *user) {
    team_member *member = user;
    team_run *run = member->run;
    pthread_mutex_lock(&run->lock);
    for (;;) {
        const uint32_t item = take_item(run, member);
        if (item == UINT32_MAX) break;
        member->item = item;
        member->done = 0;
        pthread_mutex_unlock(&run->lock);
        mote_progress_leave(member->ctx, (mote_progress_span){0, 1}); /* where a step before failed */
        const mote_status status = run->work->run(run->work->user, member->ctx, item);
        mote_stage(member->ctx, NULL);
        pthread_mutex_lock(&run->lock);
        finish_item(run, member, status);
        member->done = 0;
    }
    run->running--;
    pthread_cond_signal(&run->to_caller);
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

/* ---- on the caller's */

/* What is done of all, and in which stage. run->lock is held. */
static double done_of_all(const team_run *run, const char **stage) {
    double done = run->done, all = 0;
    for (uint32_t i = 0; i < run->work->item_count; i++) all += weight_of(run->work, i);
    for (uint32_t m = 0; m < run->member_count; m++) {
        const team_member *member = &run->members[m];
        if (member->done > 0) done += member->done * weight_of(run->work, member->item);
        if (member->stage != NULL) *stage = member->stage;
    }
    return done < all ? done / all : 1;
}

/* Sleeps until a worker has something to tell, or it is time to report. run->lock is held. */
static void wait_a_while(team_run *run) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(REPORT_SECONDS * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&run->to_caller, &run->lock, &until);
}

/* Passes on a message; run->lock is held, but not while the caller's function runs. */
static void pass_on(mote_context *ctx, team_run *run) {
    char message[MOTE_MESSAGE_BYTES];
    const mote_log_level level = run->level;
    memcpy(message, run->message, sizeof message);
    run->has_message = false;
    pthread_cond_signal(&run->to_workers);
    pthread_mutex_unlock(&run->lock);
    if (ctx->params.log != NULL) ctx->params.log(ctx->params.log_user, level, message);
    pthread_mutex_lock(&run->lock);
}

/* Until no worker is at work. */
static mote_status wait_for_all(mote_context *ctx, team_run *run) {
    const char *stage = "working";
    mote_status status = MOTE_OK;
    double reported = -1;
    pthread_mutex_lock(&run->lock);
    while (run->running > 0 || run->has_message) {
        if (run->has_message) {
            pass_on(ctx, run);
            continue;
        }
        wait_a_while(run);
        if (status != MOTE_OK || run->stops) continue;
        const double done = done_of_all(run, &stage);
        pthread_mutex_unlock(&run->lock);
        status = done > reported ? mote_progress(ctx, done, stage) : mote_progress_again(ctx);
        reported = done > reported ? done : reported;
        pthread_mutex_lock(&run->lock);
        if (status != MOTE_OK) run->stops = true;
    }
    pthread_mutex_unlock(&run->lock);
    return status;
}

static mote_status start(mote_context *ctx, team_run *run, pthread_mutex_t *lock) {
    for (uint32_t m = 0; m < run->member_count; m++) {
        pthread_mutex_lock(lock);
        run->running++;
        pthread_mutex_unlock(lock);
        if (pthread_create(&run->members[m].thread, NULL, work_on, &run->members[m]) == 0) continue;
        pthread_mutex_lock(lock);
        run->running--;
        run->stops = true;
        pthread_mutex_unlock(lock);
        run->member_count = m;
        return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: a thread");
    }
    return MOTE_OK;
}

static void lend_callbacks(const mote_team *team, team_run *run) {
    run->member_count = team->count;
    for (uint32_t m = 0; m < team->count; m++) {
        mote_context *worker = team->workers[m];
        run->members[m] = (team_member){.run = run, .ctx = worker, .number = m, .item = UINT32_MAX};
        mote_context_clear(worker);
        worker->params.progress = on_progress;
        worker->params.log = team->ctx->params.log != NULL ? on_log : NULL;
        worker->params.progress_user = worker->params.log_user = &run->members[m];
    }
}

static mote_status run_threads(const mote_team *team, team_run *run) {
    mote_context *ctx = team->ctx;
    pthread_condattr_t by_monotonic;
    pthread_mutex_init(&run->lock, NULL);
    pthread_condattr_init(&by_monotonic);
    pthread_condattr_setclock(&by_monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&run->to_caller, &by_monotonic);
    pthread_cond_init(&run->to_workers, NULL);
    pthread_condattr_destroy(&by_monotonic);
    lend_callbacks(team, run);
    mote_status status = start(ctx, run, &run->lock);
    const mote_status waited = wait_for_all(ctx, run);
    if (status == MOTE_OK) status = waited;
    for (uint32_t m = 0; m < run->member_count; m++) pthread_join(run->members[m].thread, NULL);
    for (uint32_t m = 0; m < team->count; m++) {
        team->workers[m]->params.progress = NULL;
        team->workers[m]->params.log = NULL;
    }
    if (status == MOTE_OK && run->failure != MOTE_OK) {
        status = run->failure;
        if (run->failed[0] != '\0') status = mote_fail(ctx, status, "%s", run->failed);
    }
    pthread_cond_destroy(&run->to_workers);
    pthread_cond_destroy(&run->to_caller);
    pthread_mutex_destroy(&run->lock);
    return status;
}

/* The caller does all items itself, with what it reports in the share of each. */
static mote_status run_alone(mote_context *ctx, const team_work *work, const uint32_t *queue) {
    const mote_progress_span whole = ctx->progress_span;
    mote_status status = MOTE_OK;
    double all = 0, done = 0;
    for (uint32_t i = 0; i < work->item_count; i++) all += weight_of(work, i);
    for (uint32_t i = 0; i < work->item_count && status == MOTE_OK; i++) {
        const double weight = weight_of(work, queue[i]);
        mote_progress_next(ctx, whole, done / all, (done + weight) / all);
        status = work->run(work->user, ctx, queue[i]);
        done += weight;
    }
    mote_progress_leave(ctx, whole);
    return status;
}

/* Items by weight, the heaviest first; of the same weight in their order. At most some thousands. */
static void sort_items(const team_work *work, uint32_t *queue) {
    for (uint32_t i = 0; i < work->item_count; i++) {
        uint32_t at = i;
        for (; at > 0 && weight_of(work, queue[at - 1]) < weight_of(work, i); at--) queue[at] = queue[at - 1];
        queue[at] = i;
    }
}

mote_status mote_team_run(const mote_team *team, const team_work *work) {
    mote_context *ctx = team->ctx;
    if (work->item_count == 0) return MOTE_OK;
    uint32_t *queue = mote_alloc(ctx, work->item_count * sizeof *queue, "workers");
    team_run *run = mote_alloc_zero(ctx, sizeof *run, "workers");
    mote_status status = queue != NULL && run != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) {
        sort_items(work, queue);
        run->work = work;
        run->queue = queue;
        status = team->count == 1 ? run_alone(ctx, work, queue) : run_threads(team, run);
    }
    mote_free(ctx, run);
    mote_free(ctx, queue);
    return status;
}

/* ---- begin and end */

static uint32_t gpu_count(const mote_context *ctx) {
    return ctx->params.device == MOTE_DEVICE_CUDA ? ctx->device_count - 1 : 0;
}

uint32_t mote_team_default(const mote_context *ctx) { return gpu_count(ctx) > 1 ? gpu_count(ctx) : 1; }

uint32_t mote_team_device_sharers(const mote_context *ctx, uint32_t count) {
    const uint32_t gpus = gpu_count(ctx);
    return gpus > 0 && count > gpus ? (count + gpus - 1) / gpus : 1;
}

/* Keeps why a worker could not be made. */
static void keep_refusal(void *user, mote_log_level level, const char *message) {
    (void)level;
    snprintf(user, MOTE_MESSAGE_BYTES, "%s", message);
}

static mote_status make_worker(mote_team *team, uint32_t number, uint64_t memory_bytes) {
    mote_context *ctx = team->ctx;
    char refusal[MOTE_MESSAGE_BYTES] = "";
    const uint32_t gpus = gpu_count(ctx), all = (uint32_t)ctx->threads;
    const uint32_t threads = (all + team->count - 1 - number) / team->count; /* the first ones have one more */
    mote_context_params params = ctx->params;
    params.device = gpus > 0 ? MOTE_DEVICE_CUDA : MOTE_DEVICE_CPU;
    params.gpus = 0;
    params.device_index = gpus > 0 ? ctx->devices[1 + number % gpus].index : 0;
    params.threads = threads > 0 ? (int)threads : 1;
    params.memory_limit_bytes = memory_bytes;
    params.device_memory_limit_bytes = mote_device_limit(ctx) / mote_team_device_sharers(ctx, team->count);
    params.stream = NULL; /* the caller's is the context's */
    params.progress = NULL;
    params.log = keep_refusal;
    params.log_user = refusal;
    const mote_status status = mote_context_create(&params, &team->workers[number]);
    if (status != MOTE_OK) {
        return mote_fail(ctx, status, "%s", refusal[0] != '\0' ? refusal : "out of memory: a context of a worker");
    }
    team->workers[number]->params.log = NULL;
    return MOTE_OK;
}

mote_status mote_team_begin(mote_context *ctx, uint32_t count, uint64_t memory_bytes, mote_team *team) {
    memset(team, 0, sizeof *team);
    team->ctx = ctx;
    team->count = count < 1 ? 1 : count > TEAM_MAX ? TEAM_MAX : count;
    if (team->count == 1) {
        team->workers[0] = ctx;
        return MOTE_OK;
    }
    for (uint32_t w = 0; w < team->count; w++) MOTE_TRY(make_worker(team, w, memory_bytes));
    return MOTE_OK;
}

void mote_team_end(mote_team *team) {
    mote_context *ctx = team->ctx;
    uint32_t made = 0;
    while (made < team->count && team->workers[made] != NULL) made++;
    if (ctx == NULL || team->workers[0] == ctx) return;
    mote_usage_join(ctx, team->workers, made);
    for (uint32_t w = 0; w < made; w++) {
        mote_stages_join(ctx, team->workers[w], 1.0 / made);
        if (team->workers[w]->last_used->ops != NULL) ctx->last_used = &ctx->devices[1];
        mote_context_destroy(team->workers[w]);
    }
    memset(team, 0, sizeof *team);
}

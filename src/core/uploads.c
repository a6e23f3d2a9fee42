#include "core/uploads.h"

#include <stdio.h>

typedef struct upload {
    const uint8_t *host; /* what it is a copy of; NULL: of values that may have changed, so nobody finds it */
    uint64_t size_bytes;
    void *memory;         /* of the device, */
    const uint8_t *first; /* and where in it the copy begins */
    uint32_t users;
} upload;

struct mote_uploads {
    mote_context *ctx;
    mote_device *device; /* NULL: nothing was uploaded yet */
    upload *list;
    uint64_t count, capacity;
    bool keeps;     /* what is uploaded from here on stays */
    bool is_orphan; /* the cloud is gone: this goes with the last user */
    char name[32];  /* in the cache of the context, of this cloud alone */
};

/* Whether it may be given back: nobody looks at it. */
static bool is_idle(const upload *there) { return there->users == 0; }

static void drop_idle(mote_uploads *uploads) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < uploads->count; i++) {
        const upload there = uploads->list[i];
        if (is_idle(&there)) {
            device_free(uploads->device, there.memory);
        } else {
            uploads->list[kept++] = there;
        }
    }
    uploads->count = kept;
}

static void release_idle(mote_device *device, void *uploads) {
    (void)device;
    drop_idle((mote_uploads *)uploads);
}

/* Tells the cache what it could have back: after each change of users. */
static void offer_idle(mote_uploads *uploads) {
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < uploads->count; i++) bytes += is_idle(&uploads->list[i]) ? uploads->list[i].size_bytes : 0;
    mote_cache_take(uploads->device, uploads->name);
    if (bytes > 0) mote_cache_put(uploads->device, uploads->name, uploads, bytes, release_idle);
}

void mote_uploads_forget(mote_uploads *uploads) {
    if (uploads == NULL || uploads->device == NULL) return;
    mote_cache_take(uploads->device, uploads->name);
    drop_idle(uploads);
    for (uint64_t i = 0; i < uploads->count; i++) uploads->list[i].host = NULL;
}

mote_status mote_uploads_begin(mote_context *ctx, mote_uploads **out) {
    mote_uploads *const uploads = mote_alloc_zero(ctx, sizeof *uploads, "cloud");
    *out = uploads;
    if (uploads == NULL) return MOTE_ERROR_MEMORY;
    uploads->ctx = ctx;
    uploads->keeps = true;
    snprintf(uploads->name, sizeof uploads->name, "cloud %p", (void *)uploads);
    return MOTE_OK;
}

void mote_uploads_keep(mote_uploads *uploads, bool keep) {
    if (uploads != NULL) uploads->keeps = keep;
}

static void end_orphan(mote_uploads *uploads) {
    if (!uploads->is_orphan || uploads->count > 0) return;
    mote_free(uploads->ctx, uploads->list);
    mote_free(uploads->ctx, uploads);
}

void mote_uploads_end(mote_uploads *uploads) {
    if (uploads == NULL) return;
    mote_uploads_forget(uploads);
    uploads->is_orphan = true;
    end_orphan(uploads);
}

bool mote_uploads_kept(const mote_uploads *uploads, const mote_device *device) {
    if (uploads == NULL || !uploads->keeps || uploads->ctx != device->ctx) return false;
    return uploads->device == NULL || uploads->device == device;
}

const uint8_t *mote_uploads_use(mote_uploads *uploads, const void *host, uint64_t size_bytes) {
    for (uint64_t i = 0; i < uploads->count; i++) {
        upload *const there = &uploads->list[i];
        const uint64_t at = (uint64_t)((uintptr_t)host - (uintptr_t)there->host); /* huge where it lies before */
        if (there->host == NULL || at > there->size_bytes || there->size_bytes - at < size_bytes) continue;
        there->users++;
        offer_idle(uploads);
        return there->first + at;
    }
    return NULL;
}

mote_status mote_uploads_add(mote_uploads *uploads, mote_device *device, void *memory, const uint8_t *first,
                             const void *host, uint64_t size_bytes) {
    if (memory == NULL) return MOTE_ERROR_MEMORY;
    if (!mote_reserve(uploads->ctx, (void **)&uploads->list, &uploads->capacity, uploads->count + 1,
                      sizeof *uploads->list, "cloud")) {
        device_free(device, memory);
        return MOTE_ERROR_MEMORY;
    }
    uploads->device = device;
    uploads->list[uploads->count++] = (upload){host, size_bytes, memory, first, 1};
    return MOTE_OK;
}

void mote_uploads_leave(mote_uploads *uploads, const uint8_t *place) {
    for (uint64_t i = 0; i < uploads->count; i++) {
        upload *const there = &uploads->list[i];
        if ((uintptr_t)place - (uintptr_t)there->first >= there->size_bytes) continue;
        there->users--;
        if (there->users > 0 || there->host != NULL) break;
        device_free(uploads->device, there->memory);
        uploads->list[i] = uploads->list[--uploads->count];
        break;
    }
    offer_idle(uploads);
    end_orphan(uploads);
}

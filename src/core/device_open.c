/* Opening and closing the devices of a context. */
#include "core/core.h"

static void *run_warm_up(void *user) {
    mote_device *device = user;
    device->ops->warm_up(device->index);
    __atomic_store_n(&device->warm, true, __ATOMIC_RELEASE);
    return NULL;
}

void device_warm_up(mote_device *device) {
    if (device->state != DEVICE_CLOSED || device->warming_up) return;
    device->warm = false;
    /* Where no thread can be started, device_open does all of it. */
    device->warming_up = pthread_create(&device->warm_up_thread, NULL, run_warm_up, device) == 0;
}

bool device_is_warm(const mote_device *device) {
    return !device->warming_up || __atomic_load_n(&device->warm, __ATOMIC_ACQUIRE);
}

static void join_warm_up(mote_device *device) {
    if (device->warming_up) pthread_join(device->warm_up_thread, NULL);
    device->warming_up = false;
}

mote_status device_open(mote_device *device) {
    if (device->state == DEVICE_OPEN) return MOTE_OK;
    join_warm_up(device);
    const mote_status status = device->ops->open(device);
    device->state = status == MOTE_OK ? DEVICE_OPEN : DEVICE_UNUSABLE;
    return status;
}

bool device_try_open(mote_device *device) {
    if (device->state == DEVICE_CLOSED) {
        const mote_status before = mote_context_status(device->ctx);
        if (device_open(device) != MOTE_OK && before == MOTE_OK) mote_context_clear(device->ctx);
    }
    return device->state == DEVICE_OPEN;
}

void device_close(mote_device *device) {
    join_warm_up(device);
    if (device->state == DEVICE_OPEN && device->ops != NULL) device->ops->close(device);
    device->state = DEVICE_CLOSED;
}

mote_status device_fail_memory(mote_device *device, uint64_t size_bytes, const char *structure, uint64_t free_bytes) {
    mote_context *ctx = device->ctx;
    device->shortages++;
    if (free_bytes == UINT64_MAX) {
        return mote_fail(ctx, MOTE_ERROR_MEMORY,
                         "out of GPU memory: %llu bytes for %s, beyond the limit of %llu; a larger --device-memory, or "
                         "--device cpu, would do",
                         (unsigned long long)size_bytes, structure, (unsigned long long)mote_device_limit(ctx));
    }
    return mote_fail(ctx, MOTE_ERROR_MEMORY,
                     "out of GPU memory: %llu bytes for %s, %llu are free; --device cpu would do",
                     (unsigned long long)size_bytes, structure, (unsigned long long)free_bytes);
}

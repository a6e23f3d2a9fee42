#define _GNU_SOURCE /* _SC_PHYS_PAGES */
/* What there is to compute on. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device/backend.h"

/* The processor's own name, from the system's list; "CPU" where there is none. */
static void processor_name(char *name, size_t name_bytes) {
    char line[256];
    snprintf(name, name_bytes, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL) return;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, name_bytes, "%s", colon + 2);
        break;
    }
    fclose(file);
}

static void describe_cpu(mote_device_info *device) {
    char name[96];
    memset(device, 0, sizeof *device);
    device->kind = MOTE_DEVICE_CPU;
    const char *lacks = mote_cpu_lacks();
    device->usable = lacks == NULL;
    if (lacks != NULL) snprintf(device->reason, sizeof device->reason, "it has no %s", lacks);
    processor_name(name, sizeof name);
    snprintf(device->name, sizeof device->name, "%s, %d threads", name, omp_get_num_procs());
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_bytes > 0) device->memory_bytes = (uint64_t)pages * (uint64_t)page_bytes;
}

uint32_t mote_devices(mote_device_info *devices, uint32_t capacity) {
    mote_device_info none;
    memset(&none, 0, sizeof none);
    if (capacity > 0) describe_cpu(&devices[0]);
    snprintf(none.reason, sizeof none.reason, "this build has no CUDA");
    if (mote_gpu_backend != NULL) {
        const uint32_t gpus = mote_gpu_backend->device->list(devices + 1, capacity > 0 ? capacity - 1 : 0, none.reason,
                                                             sizeof none.reason);
        if (gpus > 0) return gpus + 1;
    }
    none.kind = MOTE_DEVICE_CUDA;
    snprintf(none.name, sizeof none.name, "no GPU");
    if (capacity > 1) devices[1] = none;
    return 2;
}

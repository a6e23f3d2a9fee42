#include "emulator/device_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <mutex>

#define ALIGNMENT   256u
#define POISON_BYTE 0xA5

typedef std::map<uintptr_t, uint64_t> allocations; /* from where to size */

static allocations &all(void) {
    static allocations *const map = new allocations; /* never freed: contexts may outlive static objects */
    return *map;
}

static std::mutex one_caller; /* contexts of several devices ask from threads of their own */

void *device_memory_take(uint64_t size_bytes) {
    void *memory = nullptr;
    const uint64_t whole = size_bytes > 0 ? size_bytes : 1;
    if (whole > SIZE_MAX / 2 || posix_memalign(&memory, ALIGNMENT, whole) != 0) return nullptr;
    memset(memory, POISON_BYTE, whole);
    const std::lock_guard<std::mutex> locked(one_caller);
    all()[(uintptr_t)memory] = size_bytes;
    return memory;
}

uint64_t device_memory_give_back(void *memory) {
    const std::lock_guard<std::mutex> locked(one_caller);
    const allocations::iterator found = all().find((uintptr_t)memory);
    if (found == all().end()) {
        fprintf(stderr, "emulator: memory is given back that was not taken\n");
        abort();
    }
    const uint64_t size_bytes = found->second;
    all().erase(found);
    memset(memory, POISON_BYTE, size_bytes);
    free(memory);
    return size_bytes;
}

bool device_memory_has(const void *pointer) {
    const uintptr_t at = (uintptr_t)pointer;
    const std::lock_guard<std::mutex> locked(one_caller);
    allocations::iterator next = all().upper_bound(at);
    if (next == all().begin()) return false;
    --next;
    return at - next->first <= next->second;
}

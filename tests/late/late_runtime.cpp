#include "late/late_runtime.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <set>

#include <cuda_runtime.h>

#define DEVICE_BYTES (3ull << 30)
#define ALIGNMENT    256u

struct CUstream_st {
    std::deque<std::function<void()>> work;
};

struct CUevent_st {
    CUstream_st *stream = nullptr;
    unsigned long recorded = 0, reached = 0; /* how often */
    float at_ms = 0;
};

struct allocation {
    size_t size_bytes;
    cudaMemoryType type;
};

/* One device, one thread. */
static struct {
    std::map<const char *, allocation> memory;
    std::set<CUstream_st *> streams;
    std::set<CUevent_st *> events;
    size_t held_bytes;
    float now_ms;
    long calls, fail_at;
    bool lost;
    cudaError_t last;
} device;

extern "C" void late_runtime_fail_at(long n) {
    device.calls = 0;
    device.fail_at = n;
    device.lost = false;
    device.last = cudaSuccess;
}

extern "C" bool late_runtime_has_failed(void) { return device.lost; }

extern "C" long late_runtime_open(void) {
    return (long)(device.memory.size() + device.streams.size() + device.events.size());
}

/* ---- failing */

static cudaError_t answer(cudaError_t error) {
    if (error != cudaSuccess) device.last = error;
    return error;
}

/* Whether a call fails that can. */
static bool fails(void) {
    device.calls++;
    if (device.calls == device.fail_at) device.lost = true;
    return device.lost;
}

#define FAIL_IF_LOST                                                                                                   \
    if (fails()) return answer(cudaErrorLaunchFailure)

static void misuse(const char *what) {
    fprintf(stderr, "late runtime: %s\n", what);
    abort();
}

cudaError_t cudaGetLastError(void) {
    const cudaError_t last = device.last;
    device.last = device.lost ? cudaErrorLaunchFailure : cudaSuccess;
    return last;
}

const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorLaunchFailure ? "unspecified launch failure" : "some error";
}

/* ---- the device */

cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *index) {
    *index = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int index) { return index == 0 ? cudaSuccess : answer(cudaErrorInvalidDevice); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int index) {
    if (index != 0) return answer(cudaErrorInvalidDevice);
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "late runtime");
    properties->major = 9;
    properties->totalGlobalMem = DEVICE_BYTES;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
    *value = attribute == cudaDevAttrMultiProcessorCount           ? 4
             : attribute == cudaDevAttrMaxThreadsPerMultiProcessor ? 2048
                                                                   : 0;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int, size_t) {
    FAIL_IF_LOST;
    *blocks = 2;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, const void *) {
    FAIL_IF_LOST;
    return cudaSuccess;
}

/* ---- work */

static bool do_next(CUstream_st *stream) {
    if (stream->work.empty()) return false;
    const std::function<void()> work = stream->work.front();
    stream->work.pop_front();
    work();
    return true;
}

/* Works until the event has been reached so many times, by the stream where it was recorded then. */
static void reach(CUevent_st *event, CUstream_st *stream, unsigned long times) {
    while (device.events.count(event) > 0 && event->reached < times) {
        if (!do_next(stream)) misuse("an event that no stream comes to");
    }
}

static void do_everything(void) {
    for (CUstream_st *stream : device.streams) {
        while (!device.lost && do_next(stream)) {}
    }
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
    FAIL_IF_LOST;
    *stream = new CUstream_st;
    device.streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (device.streams.erase(stream) == 0) misuse("no such stream");
    while (!device.lost && do_next(stream)) {}
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    FAIL_IF_LOST;
    while (do_next(stream)) {}
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    FAIL_IF_LOST;
    *event = new CUevent_st;
    device.events.insert(*event);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (device.events.count(event) == 0) misuse("no such event");
    if (!device.lost) reach(event, event->stream, event->recorded);
    device.events.erase(event);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    FAIL_IF_LOST;
    event->stream = stream;
    const unsigned long times = ++event->recorded;
    stream->work.push_back([event, times] {
        if (device.events.count(event) == 0) return;
        event->reached = times;
        event->at_ms = device.now_ms;
        device.now_ms += 1;
    });
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    FAIL_IF_LOST;
    reach(event, event->stream, event->recorded);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
    FAIL_IF_LOST;
    *milliseconds = to->at_ms - from->at_ms;
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    FAIL_IF_LOST;
    const unsigned long times = event->recorded;
    CUstream_st *const from = event->stream;
    stream->work.push_back([event, from, times] { reach(event, from, times); });
    return cudaSuccess;
}

/* ---- memory */

static const allocation *find(const void *at, size_t size_bytes) {
    auto behind = device.memory.upper_bound((const char *)at);
    if (behind == device.memory.begin()) return nullptr;
    --behind;
    const char *end = behind->first + behind->second.size_bytes;
    return (const char *)at + size_bytes <= end ? &behind->second : nullptr;
}

static cudaError_t take(void **memory, size_t size_bytes, cudaMemoryType type) {
    *memory = aligned_alloc(ALIGNMENT, (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (*memory == nullptr) return answer(cudaErrorMemoryAllocation);
    device.memory[(const char *)*memory] = {size_bytes, type};
    return cudaSuccess;
}

/* As the true runtime does, after all work; of a lost device the memory is gone as well. */
static cudaError_t give_back(void *memory, cudaMemoryType type) {
    if (memory == nullptr) return cudaSuccess;
    const auto found = device.memory.find((const char *)memory);
    if (found == device.memory.end() || found->second.type != type) misuse("no such memory");
    do_everything();
    if (type == cudaMemoryTypeDevice) device.held_bytes -= found->second.size_bytes;
    device.memory.erase(found);
    free(memory);
    return device.lost ? answer(cudaErrorLaunchFailure) : cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t size_bytes) {
    FAIL_IF_LOST;
    if (size_bytes > DEVICE_BYTES - device.held_bytes) return answer(cudaErrorMemoryAllocation);
    const cudaError_t error = take(memory, size_bytes, cudaMemoryTypeDevice);
    if (error == cudaSuccess) device.held_bytes += size_bytes;
    return error;
}

cudaError_t cudaHostAlloc(void **memory, size_t size_bytes, unsigned) {
    FAIL_IF_LOST;
    return take(memory, size_bytes, cudaMemoryTypeHost);
}

cudaError_t cudaFree(void *memory) { return give_back(memory, cudaMemoryTypeDevice); }
cudaError_t cudaFreeHost(void *memory) { return give_back(memory, cudaMemoryTypeHost); }

cudaError_t cudaMemGetInfo(size_t *remaining, size_t *all) {
    FAIL_IF_LOST;
    *remaining = DEVICE_BYTES - device.held_bytes;
    *all = DEVICE_BYTES;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory) {
    const allocation *found = find(memory, 1);
    memset(attributes, 0, sizeof *attributes);
    attributes->type = found != nullptr ? found->type : cudaMemoryTypeUnregistered;
    return cudaSuccess;
}

/* Memory that the copy engine reaches, and all of it of one allocation. */
static void check_side(const void *memory, size_t size_bytes, bool is_device, bool any) {
    const allocation *found = find(memory, size_bytes);
    if (found == nullptr) misuse("a copy of memory that is neither pinned nor the device's");
    if (!any && (found->type == cudaMemoryTypeDevice) != is_device) misuse("a copy in the wrong direction");
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size_bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    FAIL_IF_LOST;
    const bool any = kind == cudaMemcpyDefault;
    check_side(to, size_bytes, kind != cudaMemcpyDeviceToHost, any);
    check_side(from, size_bytes, kind != cudaMemcpyHostToDevice, any);
    stream->work.push_back([=] { memmove(to, from, size_bytes); });
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int byte, size_t size_bytes, cudaStream_t stream) {
    FAIL_IF_LOST;
    check_side(to, size_bytes, true, false);
    stream->work.push_back([=] { memset(to, byte, size_bytes); });
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t) {
    misuse("a launch");
    return cudaSuccess;
}

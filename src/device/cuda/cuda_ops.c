/* The table of an NVIDIA GPU; the emulator of the tests has other functions of the same names. */
#include "device/cuda/cuda.h"

const device_ops cuda_device_ops = {
    .list = cuda_list_devices,
    .warm_up = cuda_warm_up,
    .open = cuda_open,
    .close = cuda_close,
    .begin_stage = cuda_begin_stage,
    .end_stages = cuda_end_stages,
    .finish = cuda_finish,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .available = cuda_available,
    .owns = cuda_is_device_memory,
    .pinned_alloc = cuda_pinned_alloc,
    .pinned_free = cuda_pinned_free,
    .upload = cuda_upload,
    .download = cuda_download,
    .fill = cuda_fill,
    .upload_begin = cuda_upload_begin,
    .wait = cuda_wait,
};

/* Chunks decoded on the GPU: a warp per layer of a layered chunk (laz_warp_items.cuh), or per chunk of formats 0 to 5
   (laz_warp_pointwise.cuh). The first layer of each chunk leaves 16 bits a point that say all that the other layers
   need of it; then these run beside each other. Models are in device memory, by chunk, layer and scanner channel;
   chunks go in waves where it does not hold all of them. */
#include "io/laz/laz_device.h"
#include "io/laz/warp/laz_warp_pointwise.cuh"
#include "io/laz/warp/laz_warp_xy.cuh"

/* Eight blocks of a multiprocessor: then 64 registers a thread must do, which they do with some 50 bytes of spills
   outside of the loops over symbols (docs/history/laz.md, 0009). */
struct laz_policy {
    static constexpr uint32_t warps = 4, threads = warps * CUDA_WARP, blocks = 8;
    static constexpr uint32_t free_part = 8; /* one part in 8 of the free memory is left free */
    static constexpr uint32_t min_wave = 32; /* chunks */
};

static_assert(sizeof(warp_wave) * LAZ_CHANNELS / sizeof(warp_model) < 1u << WARP_DUE_PLACE, "");
static_assert(sizeof(warp_point10) / sizeof(warp_model) < 1u << WARP_DUE_PLACE, "");
static_assert(sizeof(warp_xy) * LAZ_CHANNELS / sizeof(warp_model) < 1u << WARP_DUE_PLACE, "");

/* What the kernels of a wave work on. */
typedef struct laz_wave_of_chunks {
    warp_bases bases;
    const laz_device_chunk *chunks;
    const laz_device_layer *layers;
    uint32_t *faulty;
    uint32_t first, count; /* chunks */
    uint32_t first_point;
    uint32_t layer_count, field_count;
} laz_wave_of_chunks;

/* Bytes of the models of a layer, in all channels. */
static uint64_t model_bytes(uint32_t kind) {
    switch (kind) {
    case LAZ_LAYER_XY: return sizeof(warp_xy) * LAZ_CHANNELS;
    case LAZ_LAYER_Z:
    case LAZ_LAYER_INTENSITY:
    case LAZ_LAYER_SCAN_ANGLE:
    case LAZ_LAYER_POINT_SOURCE: return sizeof(warp_integer) * LAZ_CHANNELS;
    case LAZ_LAYER_CLASSIFICATION:
    case LAZ_LAYER_FLAGS:
    case LAZ_LAYER_USER_DATA: return sizeof(warp_table) * LAZ_CHANNELS;
    case LAZ_LAYER_GPS_TIME: return sizeof(warp_gps) * LAZ_CHANNELS;
    case LAZ_LAYER_RGB: return sizeof(warp_rgb) * LAZ_CHANNELS;
    case LAZ_LAYER_NIR: return sizeof(warp_nir) * LAZ_CHANNELS;
    case LAZ_LAYER_WAVEPACKET: return sizeof(warp_wave) * LAZ_CHANNELS;
    default: return sizeof(warp_byte) * LAZ_CHANNELS;
    }
}

/* ---- kernels */

/* Says what a warp is to decode: field f of chunk c, by models at a place. */
WARP_INLINE void set_places(const laz_wave_of_chunks *w, uint32_t c, uint32_t f, uint64_t models, warp_places *to) {
    const laz_device_chunk *chunk = w->chunks + w->first + c;
    const laz_device_field *field = w->bases.fields + f;
    const laz_device_layer *layer = w->layers + (uint64_t)(w->first + c) * w->layer_count + field->layer;
    if (threadIdx.x % CUDA_WARP == 0) {
        const uint32_t flags = w->bases.pointwise ? 0 : w->bases.data[chunk->at + LAZ_AT_FLAGS];
        to->at = layer->at;
        to->first_value = chunk->at + field->from;
        to->models = models;
        to->described = chunk->first - w->first_point;
        to->records = (uint64_t)chunk->first * w->bases.stride_bytes;
        to->size_bytes = layer->size_bytes;
        to->points = chunk->points;
        to->channel = (flags & LAZ_CHANNEL_MASK) >> LAZ_CHANNEL_SHIFT;
        to->field = f;
    }
    __syncwarp();
}

WARP_INLINE void note_end(const laz_wave_of_chunks *w, uint32_t c, bool sound) {
    if (!sound && threadIdx.x % CUDA_WARP == 0) w->faulty[w->first + c] = 1;
}

static __global__ void __launch_bounds__(laz_policy::threads) read_first_layers(laz_wave_of_chunks w) {
    const uint32_t c = blockIdx.x * laz_policy::warps + threadIdx.x / CUDA_WARP;
    if (c >= w.count || w.chunks[w.first + c].points == LAZ_SET_ASIDE) return;
    __shared__ warp_places places[laz_policy::warps];
    const warp_task t = {&w.bases, &places[threadIdx.x / CUDA_WARP]};
    set_places(&w, c, 0, (uint64_t)c * sizeof(warp_xy) * LAZ_CHANNELS, &places[threadIdx.x / CUDA_WARP]);
    note_end(&w, c, warp_read_xy(&t));
}

/* Where the models of the layers of each field stand. */
typedef struct laz_model_places {
    uint64_t at[LAZ_DEVICE_FIELDS_MAX]; /* of the first chunk of the wave */
    uint32_t bytes[LAZ_DEVICE_FIELDS_MAX];
} laz_model_places;

static __global__ void __launch_bounds__(laz_policy::threads, laz_policy::blocks)
    read_other_layers(laz_wave_of_chunks w, laz_model_places models) {
    const uint32_t task = blockIdx.x * laz_policy::warps + threadIdx.x / CUDA_WARP;
    const uint32_t f = 1 + task / w.count, c = task % w.count;
    if (f >= w.field_count || w.chunks[w.first + c].points == LAZ_SET_ASIDE) return;
    __shared__ warp_places places[laz_policy::warps];
    const warp_task t = {&w.bases, &places[threadIdx.x / CUDA_WARP]};
    set_places(&w, c, f, models.at[f] + (uint64_t)c * models.bytes[f], &places[threadIdx.x / CUDA_WARP]);
    if (t.places->size_bytes == 0) {
        warp_copy_value(&t);
    } else {
        note_end(&w, c, warp_read_layer(&t));
    }
}

static __global__ void __launch_bounds__(laz_policy::threads)
    read_pointwise(laz_wave_of_chunks w, warp_record10 record) {
    const uint32_t c = blockIdx.x * laz_policy::warps + threadIdx.x / CUDA_WARP;
    if (c >= w.count || w.chunks[w.first + c].points == LAZ_SET_ASIDE) return;
    __shared__ warp_places places[laz_policy::warps][WARP_ITEMS];
    warp_task tasks[WARP_ITEMS];
    for (uint32_t item = 0; item < WARP_ITEMS; item++) {
        warp_places *p = &places[threadIdx.x / CUDA_WARP][item];
        tasks[item].bases = &w.bases;
        tasks[item].places = p;
        if (!record.has[item]) continue;
        set_places(&w, c, record.field[item], c * record.model_bytes + record.models_at[item], p);
    }
    note_end(&w, c, warp_read_pointwise(tasks, &record));
}

/* ---- records of formats 0 to 5 */

static uint32_t item_of(uint32_t kind) {
    switch (kind) {
    case LAZ_LAYER_GPS_TIME: return WARP_GPS11;
    case LAZ_LAYER_RGB: return WARP_RGB12;
    case LAZ_LAYER_WAVEPACKET: return WARP_WAVE13;
    case LAZ_LAYER_BYTE: return WARP_BYTES;
    default: return WARP_POINT10;
    }
}

/* What the fields of a job make up. */
static warp_record10 record_of(const laz_device_job *job) {
    warp_record10 record = {};
    for (uint32_t f = 0; f < job->field_count; f++) {
        const uint32_t kind = job->fields[f].kind, item = item_of(kind);
        if (!record.has[item]) {
            record.has[item] = true;
            record.field[item] = f;
            record.models_at[item] = record.model_bytes;
        }
        record.byte_count += item == WARP_BYTES;
        record.model_bytes += item == WARP_POINT10 ? sizeof(warp_point10) : model_bytes(kind) / LAZ_CHANNELS;
    }
    return record;
}

/* ---- waves */

static uint64_t other_model_bytes(const laz_device_job *job) {
    uint64_t bytes = 0;
    for (uint32_t f = 1; f < job->field_count; f++) bytes += model_bytes(job->fields[f].kind);
    return bytes;
}

/* Bytes of the models of a chunk: those of the first layer make room for the others. */
static uint64_t chunk_model_bytes(const laz_device_job *job) {
    if (job->pointwise) return record_of(job).model_bytes;
    const uint64_t others = other_model_bytes(job), first = model_bytes(LAZ_LAYER_XY);
    return first > others ? first : others;
}

static laz_model_places place_models(const laz_device_job *job, uint32_t chunks) {
    laz_model_places places = {};
    uint64_t at = 0;
    for (uint32_t f = 1; f < job->field_count; f++) {
        places.at[f] = at;
        places.bytes[f] = (uint32_t)model_bytes(job->fields[f].kind);
        at += (uint64_t)places.bytes[f] * chunks;
    }
    return places;
}

static mote_status decode_wave(mote_device *gpu, const laz_device_job *job, laz_wave_of_chunks w) {
    if (job->pointwise) {
        CUDA_LAUNCH(gpu, read_pointwise, cuda_blocks(w.count, laz_policy::warps), laz_policy::threads, w,
                    record_of(job));
        return cuda_launched(gpu, "decoding LAZ");
    }
    const laz_model_places places = place_models(job, w.count);
    CUDA_LAUNCH(gpu, read_first_layers, cuda_blocks(w.count, laz_policy::warps), laz_policy::threads, w);
    const uint64_t tasks = (uint64_t)w.count * (w.field_count - 1);
    if (tasks > 0) {
        CUDA_LAUNCH(gpu, read_other_layers, cuda_blocks(tasks, laz_policy::warps), laz_policy::threads, w, places);
    }
    return cuda_launched(gpu, "decoding LAZ");
}

static mote_status decode_waves(mote_device *gpu, const laz_device_job *job, uint32_t wave, laz_wave_of_chunks w) {
    for (uint32_t first = 0; first < job->chunk_count; first += wave) {
        w.first = first;
        w.count = job->chunk_count - first < wave ? job->chunk_count - first : wave;
        w.first_point = job->chunks[first].first;
        MOTE_TRY(decode_wave(gpu, job, w));
    }
    return MOTE_OK;
}

/* ---- memory */

/* The tables of a job in device memory. */
typedef struct laz_tables {
    laz_device_chunk *chunks;
    laz_device_layer *layers;
    laz_device_field *fields;
    uint8_t *return_kind;
    uint32_t *faulty;
    uint8_t *models;
    uint16_t *described;
} laz_tables;

static void *upload_table(mote_device *gpu, const void *table, uint64_t size_bytes) {
    void *device = cuda_alloc(gpu, size_bytes, "LAZ chunks");
    if (device == NULL || cuda_upload(gpu, device, table, size_bytes) == MOTE_OK) return device;
    cuda_free(gpu, device);
    return NULL;
}

static mote_status make_tables(mote_device *gpu, const laz_device_job *job, uint32_t wave, laz_tables *t) {
    const uint64_t layers = (uint64_t)job->chunk_count * job->layer_count;
    t->chunks = (laz_device_chunk *)upload_table(gpu, job->chunks, job->chunk_count * sizeof *job->chunks);
    t->layers = (laz_device_layer *)upload_table(gpu, job->layers, layers * sizeof *job->layers);
    t->fields = (laz_device_field *)upload_table(gpu, job->fields, job->field_count * sizeof *job->fields);
    const uint8_t *kinds = job->pointwise ? laz_return10_kind : laz_return_kind[0];
    const uint64_t kind_bytes = job->pointwise ? sizeof laz_return10_kind : sizeof laz_return_kind;
    t->return_kind = (uint8_t *)upload_table(gpu, kinds, kind_bytes);
    t->faulty = (uint32_t *)cuda_alloc(gpu, job->chunk_count * sizeof *t->faulty, "LAZ chunks");
    t->models = (uint8_t *)cuda_alloc(gpu, wave * chunk_model_bytes(job), "LAZ models");
    t->described = (uint16_t *)cuda_alloc(gpu, wave * job->max_chunk_points * sizeof *t->described, "LAZ models");
    const bool made = t->chunks != NULL && t->layers != NULL && t->fields != NULL && t->return_kind != NULL &&
                      t->faulty != NULL && t->models != NULL && t->described != NULL;
    if (!made) return mote_context_status(gpu->ctx);
    return cuda_fill(gpu, t->faulty, 0, job->chunk_count * sizeof *t->faulty);
}

static void free_tables(mote_device *gpu, laz_tables *t) {
    cuda_free(gpu, t->described);
    cuda_free(gpu, t->models);
    cuda_free(gpu, t->faulty);
    cuda_free(gpu, t->return_kind);
    cuda_free(gpu, t->fields);
    cuda_free(gpu, t->layers);
    cuda_free(gpu, t->chunks);
}

/* Chunks at once: all, or as many as there is memory for; 0: too few for it to pay. */
static uint32_t wave_of(mote_device *gpu, const laz_device_job *job) {
    const uint64_t chunk_bytes = chunk_model_bytes(job) + job->max_chunk_points * sizeof(uint16_t);
    const uint64_t tables = job->chunk_count * (sizeof *job->chunks + job->layer_count * sizeof *job->layers);
    const uint64_t remaining = cuda_available(gpu), usable = remaining - remaining / laz_policy::free_part;
    const uint64_t max = usable > tables ? (usable - tables) / chunk_bytes : 0;
    if (max >= job->chunk_count) return job->chunk_count;
    return max >= laz_policy::min_wave ? (uint32_t)max : 0;
}

static mote_status decode_on_cuda(mote_device *gpu, const laz_device_job *job, uint32_t *faulty, bool *declined) {
    const uint32_t wave = wave_of(gpu, job);
    laz_tables t = {};
    laz_wave_of_chunks w = {};
    *declined = wave == 0 || job->field_count > LAZ_DEVICE_FIELDS_MAX;
    if (*declined) return MOTE_OK;
    mote_status status = make_tables(gpu, job, wave, &t);
    if (status != MOTE_OK) goto done;
    w.bases.data = job->data;
    w.bases.data_bytes = job->data_bytes;
    w.bases.return_kind = t.return_kind;
    w.bases.records = job->records;
    w.bases.models = t.models;
    w.bases.described = t.described;
    w.chunks = t.chunks;
    w.layers = t.layers;
    w.bases.fields = t.fields;
    w.faulty = t.faulty;
    w.bases.stride_bytes = job->stride_bytes;
    w.layer_count = job->layer_count;
    w.field_count = job->field_count;
    w.bases.plain_channels = job->plain_channels;
    w.bases.pointwise = job->pointwise;
    status = decode_waves(gpu, job, wave, w);
    if (status == MOTE_OK) status = cuda_download(gpu, faulty, t.faulty, job->chunk_count * sizeof *faulty);
done:
    free_tables(gpu, &t);
    return status;
}

extern "C" const mote_laz_ops mote_laz_on_cuda = {decode_on_cuda};

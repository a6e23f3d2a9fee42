/* The LAZ decoder of the library for the page: chunks of the layered format (point formats 6 to 10), as COPC has them.
   Compiled for WebAssembly without a C library; build.mjs says how. One chunk at a time:
     at = laz_reserve(bytes of the chunk + bytes of its records)   copy the chunk there
     laz_decode(format, version, record_bytes, parts, at, chunk_bytes, points)      its records follow the chunk
   laz_fault() says what is wrong where laz_decode() did not get through. */
#include "io/laz/laz_codec.h"

#define PAGE_BYTES 65536u
#define ALIGNMENT  64u

extern uint8_t __heap_base; /* of the linker: behind the static data */

static const char *fault_text = "";

static uint32_t aligned(uint32_t at) { return (at + ALIGNMENT - 1) & ~(ALIGNMENT - 1); }

/* Memory from the heap's base on holds one chunk, its records and the decoder's state; there is no other use. */
static bool grow_to(uint64_t end) {
    const uint64_t have = (uint64_t)__builtin_wasm_memory_size(0) * PAGE_BYTES;
    if (end <= have) return true;
    return __builtin_wasm_memory_grow(0, (uint32_t)((end - have + PAGE_BYTES - 1) / PAGE_BYTES)) != (size_t)-1;
}

/* Where size_bytes can be put, or 0 where memory does not suffice. */
__attribute__((export_name("laz_reserve"))) uint32_t laz_reserve(uint32_t size_bytes) {
    const uint32_t base = aligned((uint32_t)(uintptr_t)&__heap_base);
    return grow_to((uint64_t)base + size_bytes) ? base : 0;
}

/* format: 6 to 8; version: of the items of records; parts: LAZ_WANT_…, what of a record is decoded. Returns the number
   of whole points: `points`, or fewer where there is a fault. */
__attribute__((export_name("laz_decode"))) uint32_t laz_decode(uint32_t format, uint32_t version, uint32_t record_bytes,
                                                               uint32_t parts, uint32_t at, uint32_t chunk_bytes,
                                                               uint32_t points) {
    const laz_reading *reading = &mote_laz_read_layered;
    uint8_t *const chunk = (uint8_t *)(uintptr_t)at; // NOLINT
    uint8_t *const records = chunk + chunk_bytes;
    laz_schema schema;
    uint64_t fault_at;
    mote_laz_schema_make(format, record_bytes, points, &schema);
    for (uint32_t i = 0; i < schema.item_count; i++) schema.items[i].version = (uint16_t)version;
    const uint64_t state_at = aligned((uint32_t)((uint64_t)at + chunk_bytes + (uint64_t)points * record_bytes));
    fault_text = "not enough memory";
    if (!grow_to(state_at + reading->state_bytes(&schema))) return 0;
    void *state = (uint8_t *)(uintptr_t)state_at; // NOLINT
    fault_text = reading->start(state, &schema, parts, chunk, chunk_bytes, points, &fault_at);
    if (fault_text != NULL) return 0;
    const uint32_t done = (uint32_t)reading->read(&state, 1, &(uint8_t *){records}, points);
    fault_text = reading->fault(state, &fault_at);
    if (fault_text == NULL && reading->used_bytes(state) != chunk_bytes)
        fault_text = "the chunk has bytes behind its points";
    return fault_text == NULL ? done : done - (done > 0);
}

/* A text that ends with a 0 byte. */
__attribute__((export_name("laz_fault"))) const char *laz_fault(void) { return fault_text != NULL ? fault_text : ""; }

#include "io/laz/laz_codec.h"
static uint64_t state_bytes(const laz_schema *s) {
    (void)s;
    return 64;
}
static const char *start(void *state, const laz_schema *schema, uint32_t wanted, const uint8_t *data,
                         uint64_t size_bytes, uint64_t points, uint64_t *fault_at) {
    (void)state;
    (void)schema;
    (void)wanted;
    (void)data;
    (void)size_bytes;
    (void)points;
    *fault_at = 0;
    return "not yet";
}
static uint64_t read_points(void *const *states, uint32_t lanes, uint8_t *const *records, uint64_t count) {
    (void)states;
    (void)lanes;
    (void)records;
    (void)count;
    return 0;
}
static const char *fault(const void *state, uint64_t *at) {
    (void)state;
    *at = 0;
    return "not yet";
}
static uint64_t used(const void *state) {
    (void)state;
    return 0;
}
const laz_reading mote_laz_read_layered = {state_bytes, start, read_points, fault, used};

#include "mote/types.h"

const char *mote_status_name(mote_status status) {
    static const char *const names[] = {"ok",           "bad argument",  "malformed data", "out of memory",
                                        "input/output", "no disk space", "unsupported",    "device failure",
                                        "cancelled",    "pipe closed",   "file changed"};
    return (unsigned)status < sizeof names / sizeof names[0] ? names[status] : "unknown status";
}

typedef struct type_row {
    const char *name;
    uint8_t size_bytes;
    bool is_float, is_signed;
} type_row;

static const type_row types[] = {
    {"int8", 1, false, true},  {"uint8", 1, false, false},  {"int16", 2, false, true}, {"uint16", 2, false, false},
    {"int32", 4, false, true}, {"uint32", 4, false, false}, {"int64", 8, false, true}, {"uint64", 8, false, false},
    {"float", 4, true, true},  {"double", 8, true, true},
};
#define TYPE_COUNT (sizeof types / sizeof types[0])

uint32_t mote_type_size(mote_type type) { return (unsigned)type < TYPE_COUNT ? types[type].size_bytes : 0; }
const char *mote_type_name(mote_type type) { return (unsigned)type < TYPE_COUNT ? types[type].name : "unknown"; }
bool mote_type_is_float(mote_type type) { return (unsigned)type < TYPE_COUNT && types[type].is_float; }
bool mote_type_is_signed(mote_type type) { return (unsigned)type < TYPE_COUNT && types[type].is_signed; }
const char *mote_version(void) { return MOTE_VERSION; }

/* The point formats of LAS as tables. */
#include "io/las/las_format.h"

typedef struct format_row {
    uint8_t bytes;
    uint8_t gps_at, colors_at, nir_at, waveform_at; /* 0: none */
} format_row;

static const format_row formats[LAS_FORMATS] = {
    {20, 0, 0, 0, 0},    {28, 20, 0, 0, 0},   {26, 0, 20, 0, 0},    {34, 20, 28, 0, 0},
    {57, 20, 0, 0, 28},  {63, 20, 28, 0, 34}, {30, 22, 0, 0, 0},    {36, 22, 30, 0, 0},
    {38, 22, 30, 36, 0}, {59, 22, 0, 0, 30},  {67, 22, 30, 36, 38},
};

static const las_field core_10[] = {
    {"x", "", MOTE_INT32, 0, 0, 0, 1},
    {"y", "", MOTE_INT32, 4, 0, 0, 1},
    {"z", "", MOTE_INT32, 8, 0, 0, 1},
    {"intensity", "", MOTE_UINT16, 12, 0, 0, 1},
    {"return_number", "", MOTE_UINT8, 14, 0, 3, 1},
    {"number_of_returns", "", MOTE_UINT8, 14, 3, 3, 1},
    {"scan_direction_flag", "", MOTE_UINT8, 14, 6, 1, 1},
    {"edge_of_flight_line", "", MOTE_UINT8, 14, 7, 1, 1},
    {"classification", "", MOTE_UINT8, 15, 0, 5, 1},
    {"synthetic", "", MOTE_UINT8, 15, 5, 1, 1},
    {"key_point", "", MOTE_UINT8, 15, 6, 1, 1},
    {"withheld", "", MOTE_UINT8, 15, 7, 1, 1},
    {"scan_angle_rank", "degree", MOTE_INT8, 16, 0, 0, 1},
    {"user_data", "", MOTE_UINT8, 17, 0, 0, 1},
    {"point_source_id", "", MOTE_UINT16, 18, 0, 0, 1},
};

static const las_field core_14[] = {
    {"x", "", MOTE_INT32, 0, 0, 0, 1},
    {"y", "", MOTE_INT32, 4, 0, 0, 1},
    {"z", "", MOTE_INT32, 8, 0, 0, 1},
    {"intensity", "", MOTE_UINT16, 12, 0, 0, 1},
    {"return_number", "", MOTE_UINT8, 14, 0, 4, 1},
    {"number_of_returns", "", MOTE_UINT8, 14, 4, 4, 1},
    {"synthetic", "", MOTE_UINT8, 15, 0, 1, 1},
    {"key_point", "", MOTE_UINT8, 15, 1, 1, 1},
    {"withheld", "", MOTE_UINT8, 15, 2, 1, 1},
    {"overlap", "", MOTE_UINT8, 15, 3, 1, 1},
    {"scanner_channel", "", MOTE_UINT8, 15, 4, 2, 1},
    {"scan_direction_flag", "", MOTE_UINT8, 15, 6, 1, 1},
    {"edge_of_flight_line", "", MOTE_UINT8, 15, 7, 1, 1},
    {"classification", "", MOTE_UINT8, 16, 0, 0, 1},
    {"user_data", "", MOTE_UINT8, 17, 0, 0, 1},
    {"scan_angle", "degree", MOTE_INT16, 18, 0, 0, 0.006},
    {"point_source_id", "", MOTE_UINT16, 20, 0, 0, 1},
};

/* The groups below stand at different places in each format; at counts from the start of the group. */
static const las_field gps_time[] = {{"gps_time", "second", MOTE_FLOAT64, 0, 0, 0, 1}};
static const las_field colors[] = {{"red", "", MOTE_UINT16, 0, 0, 0, 1},
                                   {"green", "", MOTE_UINT16, 2, 0, 0, 1},
                                   {"blue", "", MOTE_UINT16, 4, 0, 0, 1}};
static const las_field infrared[] = {{"nir", "", MOTE_UINT16, 0, 0, 0, 1}};
static const las_field waveform[] = {
    {"wave_packet_index", "", MOTE_UINT8, 0, 0, 0, 1},
    {"wave_packet_offset", "byte", MOTE_UINT64, 1, 0, 0, 1},
    {"wave_packet_size", "byte", MOTE_UINT32, 9, 0, 0, 1},
    {"wave_return_location", "picosecond", MOTE_FLOAT32, 13, 0, 0, 1},
    {"wave_x", "", MOTE_FLOAT32, 17, 0, 0, 1},
    {"wave_y", "", MOTE_FLOAT32, 21, 0, 0, 1},
    {"wave_z", "", MOTE_FLOAT32, 25, 0, 0, 1},
};
#define ROWS(table) ((uint32_t)(sizeof(table) / sizeof(table)[0]))

uint32_t mote_las_record_bytes(uint32_t format) { return formats[format].bytes; }
bool mote_las_has_gps_time(uint32_t format) { return formats[format].gps_at != 0; }
uint32_t mote_las_gps_time_at(uint32_t format) { return formats[format].gps_at; }
bool mote_las_has_colors(uint32_t format) { return formats[format].colors_at != 0; }
bool mote_las_has_nir(uint32_t format) { return formats[format].nir_at != 0; }
bool mote_las_has_waveforms(uint32_t format) { return formats[format].waveform_at != 0; }

uint8_t mote_las_min_version(uint32_t format, uint64_t count) {
    if (format >= 6 || count > UINT32_MAX) return 4;
    return format >= 4 ? 3 : 2;
}

static uint32_t append(las_field *fields, uint32_t count, const las_field *rows, uint32_t row_count, uint32_t at) {
    for (uint32_t i = 0; i < row_count; i++) {
        fields[count + i] = rows[i];
        fields[count + i].at = (uint16_t)(rows[i].at + at);
    }
    return count + row_count;
}

uint32_t mote_las_fields(uint32_t format, las_field *fields) {
    const format_row *row = &formats[format];
    uint32_t count =
        format < 6 ? append(fields, 0, core_10, ROWS(core_10), 0) : append(fields, 0, core_14, ROWS(core_14), 0);
    if (row->gps_at != 0) count = append(fields, count, gps_time, ROWS(gps_time), row->gps_at);
    if (row->colors_at != 0) count = append(fields, count, colors, ROWS(colors), row->colors_at);
    if (row->nir_at != 0) count = append(fields, count, infrared, ROWS(infrared), row->nir_at);
    if (row->waveform_at != 0) count = append(fields, count, waveform, ROWS(waveform), row->waveform_at);
    return count;
}

bool mote_las_find_field(uint32_t format, const char *name, las_field *field) {
    las_field fields[LAS_FIELDS_MAX];
    const uint32_t count = mote_las_fields(format, fields);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, name) != 0) continue;
        *field = fields[i];
        return true;
    }
    return false;
}

void mote_las_scan_angles(las_field *rank, las_field *steps) {
    mote_las_find_field(LAS_OLD_FORMAT, "scan_angle_rank", rank);
    mote_las_find_field(LAS_MODERN_FORMAT, "scan_angle", steps);
}

bool mote_las_is_field(const char *name) {
    las_field field;
    return mote_las_find_field(LAS_MODERN_FORMAT, name, &field) || mote_las_find_field(LAS_OLD_FORMAT, name, &field);
}

bool mote_las_record_is(const mote_record *record, const char *user, uint32_t id) {
    return record->record_id == id && strcmp(record->user_id, user) == 0;
}

/* Real files spell the user in two ways. */
bool mote_las_record_is_waveforms(const mote_record *record) {
    return mote_las_record_is(record, LAS_USER_SPEC, LAS_ID_WAVEFORM) ||
           mote_las_record_is(record, "LAS_Spec", LAS_ID_WAVEFORM);
}

bool mote_las_record_is_ours(const mote_record *record) {
    return mote_las_record_is(record, LAS_USER_SPEC, LAS_ID_EXTRA_BYTES) ||
           mote_las_record_is(record, LAS_USER_LASZIP, LAS_ID_LASZIP) || strcmp(record->user_id, "copc") == 0;
}

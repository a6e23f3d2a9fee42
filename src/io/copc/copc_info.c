/* The info record of COPC: the octree's cube, the spacing of its points and where the hierarchy starts. */
#include <inttypes.h>
#include <math.h>

#include "io/copc/copc.h"

/* The payload. Source: COPC specification 1.0, info VLR. */
#define AT_CENTER    0u
#define AT_HALFSIZE  24u
#define AT_SPACING   32u
#define AT_ROOT      40u
#define AT_ROOT_SIZE 48u
#define AT_GPS_LOW   56u
#define AT_GPS_HIGH  64u

bool mote_copc_probe(const mote_input *input) {
    static const char user[16] = COPC_USER;
    if (input->size_bytes < COPC_INFO_AT + COPC_INFO_BYTES || memcmp(input->data, "LASF", 4) != 0) return false;
    const uint8_t *record = input->data + LAS_HEADER_BYTES_14;
    return input->data[LAS_AT_VERSION_MINOR] >= 4 &&
           las_u16(input->data + LAS_AT_HEADER_BYTES) == LAS_HEADER_BYTES_14 &&
           las_u32(input->data + LAS_AT_RECORD_COUNT) > 0 && memcmp(record + LAS_VLR_AT_USER, user, sizeof user) == 0 &&
           las_u16(record + LAS_VLR_AT_ID) == COPC_ID_INFO;
}

/* What is wrong with the record, and where; NULL if nothing is. */
static const char *parse(const mote_input *input, copc_info *info, uint64_t *at) {
    const uint8_t *payload = input->data + COPC_INFO_AT;
    *at = LAS_HEADER_BYTES_14 + LAS_VLR_AT_SIZE;
    if (las_u16(input->data + *at) < COPC_INFO_BYTES) return "the info record is shorter than 160 bytes";
    for (uint32_t k = 0; k < 3; k++) {
        info->center[k] = las_f64(payload + AT_CENTER + 8 * k);
        *at = COPC_INFO_AT + AT_CENTER + 8 * k;
        if (!isfinite(info->center[k])) return "the centre of the octree is not finite";
    }
    info->halfsize = las_f64(payload + AT_HALFSIZE);
    info->spacing = las_f64(payload + AT_SPACING);
    info->root_at = las_u64(payload + AT_ROOT);
    info->root_bytes = las_u64(payload + AT_ROOT_SIZE);
    info->gps_low = las_f64(payload + AT_GPS_LOW);
    info->gps_high = las_f64(payload + AT_GPS_HIGH);
    *at = COPC_INFO_AT + AT_HALFSIZE;
    if (!isfinite(info->halfsize) || info->halfsize <= 0) return "the octree's half size is not above 0";
    *at = COPC_INFO_AT + AT_SPACING;
    if (!isfinite(info->spacing) || info->spacing <= 0) return "the octree's spacing is not above 0";
    *at = COPC_INFO_AT + AT_ROOT;
    if (info->root_at > input->size_bytes) return "the first page of the hierarchy starts past the end of the file";
    *at = COPC_INFO_AT + AT_ROOT_SIZE;
    if (info->root_bytes > input->size_bytes - info->root_at) return "the first page of the hierarchy is cut short";
    return NULL;
}

mote_status mote_copc_info_read(mote_context *ctx, const mote_input *input, copc_info *info) {
    uint64_t at = 0;
    memset(info, 0, sizeof *info);
    const char *fault = parse(input, info, &at);
    return fault == NULL ? MOTE_OK : mote_malformed(ctx, input, at, "COPC: %s", fault);
}

void mote_copc_info_note(mote_context *ctx, const mote_input *input) {
    copc_info info;
    uint64_t at = 0;
    if (!mote_copc_probe(input)) return;
    memset(&info, 0, sizeof info);
    const char *fault = parse(input, &info, &at);
    if (fault == NULL) return;
    mote_warn(ctx, "%s: offset %" PRIu64 ": COPC: %s; the points are read without the octree", input->path, at, fault);
}

void mote_copc_info_write(const copc_info *info, uint8_t payload[COPC_INFO_BYTES]) {
    memset(payload, 0, COPC_INFO_BYTES);
    for (uint32_t k = 0; k < 3; k++) las_put_f64(payload + AT_CENTER + 8 * k, info->center[k]);
    las_put_f64(payload + AT_HALFSIZE, info->halfsize);
    las_put_f64(payload + AT_SPACING, info->spacing);
    las_put(payload + AT_ROOT, info->root_at, 8);
    las_put(payload + AT_ROOT_SIZE, info->root_bytes, 8);
    las_put_f64(payload + AT_GPS_LOW, info->gps_low);
    las_put_f64(payload + AT_GPS_HIGH, info->gps_high);
}

void mote_copc_cube(const copc_info *info, const copc_key *key, mote_box *cube) {
    const double side = ldexp(2 * info->halfsize, -(int)key->level);
    for (int k = 0; k < 3; k++) {
        const double corner = info->center[k] - info->halfsize;
        cube->min[k] = corner + key->cell[k] * side;
        cube->max[k] = corner + (key->cell[k] + 1.0) * side;
    }
}

uint32_t mote_copc_last_level(double spacing, double resolution) {
    uint32_t level = 0;
    if (!(resolution > 0)) return COPC_LEVELS_MAX - 1;
    while (level < COPC_LEVELS_MAX - 1 && ldexp(spacing, -(int)level) > resolution) level++;
    return level;
}

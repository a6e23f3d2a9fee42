/* City: an airborne lidar scan of the made-up town, as a LAS file of point format 7 would hold it.
   The scanner flies north and south in overlapping lines, its mirror sweeps to and fro across x; one channel looks
   ahead and sweeps east, the other looks back and sweeps west. A pulse depends on the seed and its own number only.
   Pulses go in blocks to the threads, which write their echoes aside; a running sum of the counts then says where they
   belong. */
#include "gen/city.h"

#include <math.h>
#include <omp.h>

#include "gen/gen_internal.h"

#define POINTS_PER_M2  10.0
#define LINE_SPACING_M 255.0 /* at most, between flight lines */
#define OVERLAP        1.3   /* width of a swath over the spacing */
#define TAN_MAX        0.36  /* of the scan angle: 20 degrees */
#define FLIGHT_LOW_M   250.0
#define LOOK_TILT      0.18f /* the channels look 10 degrees ahead and back */
#define SPEED_M_S      60.0
#define TURN_S         90.0 /* to come back for the next line */
#define GPS_START_S    3.2e8
#define JITTER_M       0.05
#define SAMPLES        32768u /* at least this many pulses are traced to count echoes per pulse */
#define GOLDEN_RATIO   0.6180339887498949

#define UTM_EAST    500000.0 /* the map's origin */
#define UTM_NORTH   5400000.0
#define STEP_M      0.001
#define ANGLE_STEP  0.006 /* degrees, of the LAS specification */
#define GPS_AND_WKT 0x11  /* global encoding: adjusted standard GPS time, CRS as WKT */

#define BLOCK_PULSES      1024u
#define BLOCKS_PER_THREAD 32 /* in a turn: threads wait for each other once in this many blocks */
#define PULSE_SALT        0x70756c7365ull

/* A record of LAS point format 7. */
enum {
    AT_X = 0,
    AT_Y = 4,
    AT_Z = 8,
    AT_INTENSITY = 12,
    AT_RETURNS = 14,
    AT_FLAGS = 15,
    AT_CLASS = 16,
    AT_USER_DATA = 17,
    AT_ANGLE = 18,
    AT_SOURCE = 20,
    AT_TIME = 22,
    AT_COLOR = 30,
    RECORD_BYTES = 36
};

#define BITS(shift, count) (shift), (count)
static const struct field {
    const char *name, *unit;
    uint8_t at;
    mote_type type;
    uint8_t bit_shift, bit_count;
    double scale, offset;
} fields[] = {
    {"x", "", AT_X, MOTE_INT32, BITS(0, 0), STEP_M, UTM_EAST},
    {"y", "", AT_Y, MOTE_INT32, BITS(0, 0), STEP_M, UTM_NORTH},
    {"z", "", AT_Z, MOTE_INT32, BITS(0, 0), STEP_M, 0},
    {"intensity", "", AT_INTENSITY, MOTE_UINT16, BITS(0, 0), 1, 0},
    {"return_number", "", AT_RETURNS, MOTE_UINT8, BITS(0, 4), 1, 0},
    {"number_of_returns", "", AT_RETURNS, MOTE_UINT8, BITS(4, 4), 1, 0},
    {"synthetic", "", AT_FLAGS, MOTE_UINT8, BITS(0, 1), 1, 0},
    {"key_point", "", AT_FLAGS, MOTE_UINT8, BITS(1, 1), 1, 0},
    {"withheld", "", AT_FLAGS, MOTE_UINT8, BITS(2, 1), 1, 0},
    {"overlap", "", AT_FLAGS, MOTE_UINT8, BITS(3, 1), 1, 0},
    {"scanner_channel", "", AT_FLAGS, MOTE_UINT8, BITS(4, 2), 1, 0},
    {"scan_direction_flag", "", AT_FLAGS, MOTE_UINT8, BITS(6, 1), 1, 0},
    {"edge_of_flight_line", "", AT_FLAGS, MOTE_UINT8, BITS(7, 1), 1, 0},
    {"classification", "", AT_CLASS, MOTE_UINT8, BITS(0, 0), 1, 0},
    {"user_data", "", AT_USER_DATA, MOTE_UINT8, BITS(0, 0), 1, 0},
    {"scan_angle", "degree", AT_ANGLE, MOTE_INT16, BITS(0, 0), ANGLE_STEP, 0},
    {"point_source_id", "", AT_SOURCE, MOTE_UINT16, BITS(0, 0), 1, 0},
    {"gps_time", "second", AT_TIME, MOTE_FLOAT64, BITS(0, 0), 1, 0},
    {"red", "", AT_COLOR, MOTE_UINT16, BITS(0, 0), 1, 0},
    {"green", "", AT_COLOR + 2, MOTE_UINT16, BITS(0, 0), 1, 0},
    {"blue", "", AT_COLOR + 4, MOTE_UINT16, BITS(0, 0), 1, 0},
};

/* The flight over a square of side_m around the origin. */
typedef struct flight {
    uint64_t seed;
    uint64_t lines, sweeps, sweep_pulses; /* sweeps per line, pulses per sweep */
    double side_m, spacing_m, swath_m, height_m;
} flight;

/* Where in the flight a pulse is sent. */
typedef struct shot {
    uint64_t line, sweep, index;
    double across, along; /* 0..1 of the swath, from the left of the map; 0..1 of the line */
} shot;

/* Flight lines over as many square metres as the points are to cover. */
static flight plan_lines(uint64_t count, uint64_t seed) {
    const double area_m2 = (double)count / POINTS_PER_M2;
    flight f;
    memset(&f, 0, sizeof f);
    f.seed = seed;
    f.lines = (uint64_t)ceil(sqrt(area_m2) / LINE_SPACING_M);
    if (f.lines == 0) f.lines = 1;
    const double wide = f.lines > 1 ? OVERLAP : 1;
    /* The outermost swaths reach over the square by half of what lines overlap. */
    f.side_m = sqrt(area_m2 / (1 + (wide - 1) / (double)f.lines));
    f.spacing_m = f.side_m / (double)f.lines;
    f.swath_m = f.spacing_m * wide;
    f.height_m = fmax(FLIGHT_LOW_M, f.swath_m / 2 / TAN_MAX);
    return f;
}

static bool flies_north(const shot *s) { return s->line % 2 == 0; }
static uint8_t channel_of(const shot *s) { return (uint8_t)(s->sweep % 2); }
static bool sweeps_east(const shot *s) { return s->sweep % 2 == 0; }

/* Where pulse number i is sent. The last line goes on until there are points enough. */
static shot shot_of(const flight *f, uint64_t i) {
    const uint64_t per_line = f->sweeps * f->sweep_pulses;
    shot s;
    s.line = i / per_line < f->lines ? i / per_line : f->lines - 1;
    const uint64_t in_line = i - s.line * per_line;
    s.sweep = in_line / f->sweep_pulses;
    s.index = in_line % f->sweep_pulses;
    const double turned = ((double)s.index + 0.5) / (double)f->sweep_pulses;
    s.across = sweeps_east(&s) ? turned : 1 - turned;
    s.along = ((double)s.sweep + turned) / (double)f->sweeps;
    return s;
}

/* Tangent of the scan angle, to the east. */
static double tangent_of(const flight *f, const shot *s) { return (s->across - 0.5) * f->swath_m / f->height_m; }
static double line_x(const flight *f, const shot *s) { return ((double)s->line + 0.5) * f->spacing_m - f->side_m / 2; }

static city_pulse pulse_of(const flight *f, const shot *s, uint64_t random) {
    const double tangent = tangent_of(f, s), forward = flies_north(s) ? 1 : -1;
    const double look = channel_of(s) == 0 ? forward : -forward;
    const uint64_t jitter = mote_hash64(random);
    city_pulse p;
    p.x = line_x(f, s) + tangent * f->height_m + JITTER_M * (2 * (double)city_unit(jitter, 0) - 1);
    p.y = forward * (s->along - 0.5) * f->side_m + JITTER_M * (2 * (double)city_unit(jitter, 1) - 1);
    p.tilt_x = (float)-tangent;
    p.tilt_y = (float)-look * LOOK_TILT;
    p.random = random;
    return p;
}

/* The scan angle in steps, positive to the right of the flight. */
static int16_t angle_of(const flight *f, const shot *s) {
    const double t = flies_north(s) ? tangent_of(f, s) : -tangent_of(f, s), q = t * t;
    const double radians =
        t * (1 - q * (1.0 / 3 - q * (1.0 / 5 - q * (1.0 / 7 - q / 9)))); /* arc tangent, 1e-6 at 20° */
    return (int16_t)floor(radians * 57.295779513082321 / ANGLE_STEP + 0.5);
}

/* Whether the neighbouring line scans this place better. */
static bool overlaps(const flight *f, const shot *s) {
    const double off = (s->across - 0.5) * f->swath_m;
    return (off > f->spacing_m / 2 && s->line + 1 < f->lines) || (off < -f->spacing_m / 2 && s->line > 0);
}

/* What all echoes of a pulse have in common. */
static void fill_common(const flight *f, const shot *s, uint8_t *record) {
    const bool rightward = sweeps_east(s) == flies_north(s), edge = s->index + 1 == f->sweep_pulses;
    record[AT_FLAGS] =
        (uint8_t)((overlaps(f, s) ? 8 : 0) | channel_of(s) << 4 | (rightward ? 64 : 0) | (edge ? 128 : 0));
    const int16_t angle = angle_of(f, s);
    const uint16_t source = (uint16_t)(s->line % 65535 + 1);
    const double line_s = f->side_m / SPEED_M_S;
    const double time = GPS_START_S + (double)s->line * (line_s + TURN_S) + s->along * line_s;
    memcpy(record + AT_ANGLE, &angle, 2);
    memcpy(record + AT_SOURCE, &source, 2);
    memcpy(record + AT_TIME, &time, 8);
}

static void put_step(uint8_t *at, double metres) {
    const int32_t steps = (int32_t)floor(metres / STEP_M + 0.5);
    memcpy(at, &steps, 4);
}

static void put_share(uint8_t *at, float share) {
    const uint16_t value = (uint16_t)(share * 65535 + 0.5f);
    memcpy(at, &value, 2);
}

static void fill_record(const city_return *r, uint32_t number, uint32_t count, uint8_t *record) {
    put_step(record + AT_X, r->x);
    put_step(record + AT_Y, r->y);
    put_step(record + AT_Z, r->z);
    put_share(record + AT_INTENSITY, r->intensity);
    record[AT_RETURNS] = (uint8_t)(number | count << 4);
    record[AT_CLASS] = r->class;
    record[AT_USER_DATA] = r->use;
    put_share(record + AT_COLOR, r->color.r);
    put_share(record + AT_COLOR + 2, r->color.g);
    put_share(record + AT_COLOR + 4, r->color.b);
}

/* Sends count pulses from number first on. Returns how many records it wrote. */
static uint32_t scan_block(const flight *f, city_cache *cache, uint64_t first, uint8_t *records) {
    uint32_t written = 0;
    for (uint64_t i = first; i < first + BLOCK_PULSES; i++) {
        city_return returns[CITY_RETURNS];
        const shot s = shot_of(f, i);
        const city_pulse pulse = pulse_of(f, &s, mote_hash_pair(f->seed ^ PULSE_SALT, i));
        const uint32_t count = city_send(cache, &pulse, returns);
        if (count == 0) continue;
        uint8_t common[RECORD_BYTES];
        fill_common(f, &s, common);
        for (uint32_t k = 0; k < count; k++) {
            uint8_t *record = records + (uint64_t)RECORD_BYTES * written++;
            memcpy(record, common, RECORD_BYTES);
            fill_record(&returns[k], k + 1, count, record);
        }
    }
    return written;
}

/* How many echoes a pulse has on average, from a sample of the flight. */
static double sample_echoes(const mote_context *ctx, const flight *f, uint64_t count, city_cache *caches) {
    const uint64_t few = count / 8 + 64 < SAMPLES ? count / 8 + 64 : SAMPLES;
    const int64_t samples = (int64_t)(few > count / 100 ? few : count / 100);
    uint64_t echoes = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(+ : echoes)
    for (int64_t i = 0; i < samples; i++) {
        city_return returns[CITY_RETURNS];
        const uint64_t random = mote_hash_pair(f->seed, (uint64_t)i);
        /* Samples go from line to line and along each in order, so that the cache of blocks is of use. */
        const double at = ((double)i + 0.5) / (double)samples * (double)f->lines;
        const double turn = (double)i * GOLDEN_RATIO;
        const shot s = {(uint64_t)at, (uint64_t)i, 0, turn - floor(turn), at - floor(at)};
        const city_pulse pulse = pulse_of(f, &s, random);
        echoes += city_send(&caches[omp_get_thread_num()], &pulse, returns);
    }
    return fmax((double)echoes / (double)samples, 0.1);
}

/* What is kept while the scan runs. */
typedef struct scan {
    flight flight;
    city_cache *caches; /* one per thread */
    uint8_t *parts;     /* records of a turn's blocks, each with room for all its echoes */
    uint64_t *starts;   /* where they belong among the points */
    int64_t blocks;     /* in a turn */
} scan;

#define PART_BYTES ((uint64_t)BLOCK_PULSES * CITY_RETURNS * RECORD_BYTES)

static mote_status scan_open(mote_context *ctx, uint64_t count, uint64_t seed, scan *s) {
    if (count == 0) count = 1; /* no area could be shared among the sweeps; nothing of it is scanned */
    s->blocks = BLOCKS_PER_THREAD * (int64_t)ctx->threads;
    if ((uint64_t)s->blocks > count / BLOCK_PULSES + 1) s->blocks = (int64_t)(count / BLOCK_PULSES + 1);
    s->caches = mote_alloc(ctx, (uint64_t)ctx->threads * sizeof *s->caches, "city blocks");
    s->parts = mote_alloc(ctx, (uint64_t)s->blocks * PART_BYTES, "city echoes");
    s->starts = mote_alloc(ctx, ((uint64_t)s->blocks + 1) * sizeof *s->starts, "city echoes");
    if (s->caches == NULL || s->parts == NULL || s->starts == NULL) return MOTE_ERROR_MEMORY;
    for (int i = 0; i < ctx->threads; i++) city_cache_clear(&s->caches[i], seed);
    s->flight = plan_lines(count, seed);
    /* Shares the pulses that count points take among lines and sweeps, as far apart along as across. */
    const double pulses = (double)count / sample_echoes(ctx, &s->flight, count, s->caches) / (double)s->flight.lines;
    const double per_sweep = floor(sqrt(pulses * s->flight.swath_m / s->flight.side_m) + 0.5);
    s->flight.sweep_pulses = per_sweep < 1 ? 1 : (uint64_t)per_sweep;
    const double sweeps = floor(pulses / (double)s->flight.sweep_pulses + 0.5);
    s->flight.sweeps = sweeps < 1 ? 1 : (uint64_t)sweeps;
    return MOTE_OK;
}

/* A turn: all threads scan a few blocks each, then their records go where they belong. done counts the points. */
static void scan_turn(const mote_context *ctx, scan *s, uint64_t first_pulse, uint64_t count, uint64_t *done,
                      uint8_t *records) {
    s->starts[0] = *done;
#pragma omp parallel for schedule(dynamic) num_threads(ctx->threads)
    for (int64_t i = 0; i < s->blocks; i++) {
        s->starts[i + 1] = scan_block(&s->flight, &s->caches[omp_get_thread_num()],
                                      first_pulse + (uint64_t)i * BLOCK_PULSES, s->parts + (uint64_t)i * PART_BYTES);
    }
    for (int64_t i = 0; i < s->blocks; i++) s->starts[i + 1] += s->starts[i];
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t i = 0; i < s->blocks; i++) {
        const uint64_t from = s->starts[i], to = s->starts[i + 1] < count ? s->starts[i + 1] : count;
        if (from >= to) continue;
        memcpy(records + from * RECORD_BYTES, s->parts + (uint64_t)i * PART_BYTES, (to - from) * RECORD_BYTES);
    }
    *done = s->starts[s->blocks] < count ? s->starts[s->blocks] : count;
}

/* Where the count of points cut the last pulse short, its echoes say so. */
static void mend_last_pulse(uint64_t count, uint8_t *records) {
    if (count == 0) return;
    const uint32_t last = records[(count - 1) * RECORD_BYTES + AT_RETURNS] & 15;
    for (uint64_t i = count - last; i < count; i++) {
        uint8_t *returns = &records[i * RECORD_BYTES + AT_RETURNS];
        *returns = (uint8_t)((*returns & 15) | last << 4);
    }
}

/* The columns of a format 7 record, and what a LAS header says of them. */
static mote_status describe(mote_cloud *cloud, const uint8_t *records) {
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        mote_column view;
        memset(&view, 0, sizeof view);
        view.name = fields[i].name;
        view.unit = fields[i].unit;
        view.data = records + fields[i].at;
        view.stride_bytes = RECORD_BYTES;
        view.type = fields[i].type;
        view.bit_shift = fields[i].bit_shift, view.bit_count = fields[i].bit_count;
        view.scale = fields[i].scale, view.offset = fields[i].offset;
        MOTE_TRY(mote_cloud_add_view(cloud, &view));
    }
    cloud->las.present = true;
    cloud->las.version_minor = 4;
    cloud->las.format = 7;
    cloud->las.global_encoding = GPS_AND_WKT;
    strcpy(cloud->las.system_id, "synthetic city");
    strcpy(cloud->las.software, "mote");
    return mote_cloud_set_crs(cloud, "EPSG:32633");
}

mote_status gen_city(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out) {
    MOTE_TRY(mote_cloud_new(ctx, count, out));
    if (count > (UINT64_MAX >> 1) / RECORD_BYTES) {
        return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: %llu points of %d bytes", (unsigned long long)count,
                         RECORD_BYTES);
    }
    uint8_t *records = mote_alloc(ctx, count * RECORD_BYTES, "cloud");
    MOTE_TRY(mote_cloud_adopt(*out, records));
    MOTE_TRY(describe(*out, records));
    /* Turns of scanning until all points are there. */
    scan s;
    memset(&s, 0, sizeof s);
    uint64_t done = 0;
    mote_status status = scan_open(ctx, count, params->seed, &s);
    for (uint64_t pulse = 0; done < count && status == MOTE_OK; pulse += (uint64_t)s.blocks * BLOCK_PULSES) {
        status = mote_progress(ctx, (double)done / (double)count, "scanning the city");
        if (status == MOTE_OK) scan_turn(ctx, &s, pulse, count, &done, records);
    }
    mote_free(ctx, s.caches);
    mote_free(ctx, s.parts);
    mote_free(ctx, s.starts);
    if (status == MOTE_OK) mend_last_pulse(count, records);
    return status == MOTE_OK ? mote_progress(ctx, 1, "scanning the city") : status;
}

/* Reads chunks of the layered format:

     | first record, as it is | count | size of each layer | xy and flags | z | class | ... | red green blue | bytes |
                                u32     u32 each             the layers, each a stream of its own; size 0: unchanged

   Layers are decoded in blocks of points, one layer after the other, so that the models of only one are in the
   first cache; two chunks at once, so that each hides the other's latency. */
#include "io/laz/items/laz_byte14.h"
#include "io/laz/items/laz_fields14.h"
#include "io/laz/items/laz_gpstime14.h"
#include "io/laz/items/laz_point14.h"
#include "io/laz/items/laz_rgb14.h"
#include "io/laz/items/laz_wavepacket14.h"
#include "io/laz/laz_layers.h"

/* A layer of the chunk that is being read. */
typedef struct laz_part {
    laz_layer layer;
    laz_reader reader;
    void *models;
    uint64_t begins; /* byte of the chunk */
    bool decoded;    /* wanted, and not empty */
    bool copied;     /* wanted, and empty: nothing changes */
} laz_part;

typedef struct laz_lane {
    uint32_t record_bytes, part_count;
    uint64_t points, done;       /* of the chunk; read */
    uint64_t size_bytes;         /* of the chunk, by its layers */
    laz_following following;     /* for the items behind POINT14 */
    uint32_t good;               /* points of the block before the first fault of any layer */
    const laz_part *faulty;      /* the layer; NULL if there is none */
    bool stopped;                /* at the fault: all good points before it are given */
    uint32_t kept, kept_at;      /* good points that were read ahead and wait in kept_records; the next one */
    laz_part *parts;             /* [part_count] */
    const laz_points *described; /* the block, by the first layer */
    uint8_t *first;              /* the first record */
    uint8_t *kept_records;       /* [LAZ_BLOCK_POINTS] */
} laz_lane;

/* ---- The loops: a layer over a block, in one lane or two. */

/* What a loop works on in one lane. */
typedef struct laz_run_of {
    laz_part *part;
    const laz_points *points;
    uint8_t *values; /* the field of the first record of the block */
    laz_lane *lane;
} laz_run_of;

static void note_fault(const laz_run_of *run, uint32_t i) {
    if (i >= run->lane->good) return;
    run->lane->good = i;
    run->lane->faulty = run->part;
}

LAZ_INLINE void read_alone(laz_point_reader *point, const laz_run_of *run, uint32_t count, uint32_t stride) {
    laz_reader r = run->part->reader;
    uint8_t *value = run->values;
    for (uint32_t i = 0; i < count; i++, value += stride) {
        point(run->part->models, &r, run->points, i, value);
        if (__builtin_expect(laz_reader_failed(&r), 0)) note_fault(run, i);
    }
    run->part->reader = r;
}

LAZ_INLINE void read_both(laz_point_reader *point, const laz_run_of *a, const laz_run_of *b, uint32_t count,
                          uint32_t stride) {
    laz_reader ra = a->part->reader, rb = b->part->reader;
    uint8_t *va = a->values, *vb = b->values;
    for (uint32_t i = 0; i < count; i++, va += stride, vb += stride) {
        point(a->part->models, &ra, a->points, i, va);
        point(b->part->models, &rb, b->points, i, vb);
        if (__builtin_expect(laz_reader_failed(&ra), 0)) note_fault(a, i);
        if (__builtin_expect(laz_reader_failed(&rb), 0)) note_fault(b, i);
    }
    a->part->reader = ra;
    b->part->reader = rb;
}

/* point is a constant in each of the functions below: the loops are made for it. */
LAZ_INLINE void read_layer(laz_point_reader *point, const laz_run_of *runs, uint32_t lanes, uint32_t count,
                           uint32_t stride) {
    if (lanes == 2) {
        read_both(point, &runs[0], &runs[1], count, stride);
    } else {
        read_alone(point, &runs[0], count, stride);
    }
}

typedef void layer_reader(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride);

/* Each step is taken for all lanes before the next one. */
#define FOR_LANES _Pragma("GCC unroll 2") for (uint32_t l = 0; l < lanes; l++)

/* The first layer has most symbols: its lanes take turns within a point. */
LAZ_INLINE void read_xy_lanes(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    laz_reader r[LAZ_LANES];
    laz_xy14 *m[LAZ_LANES];
    laz_xy14_point p[LAZ_LANES];
    uint8_t *record[LAZ_LANES];
    FOR_LANES {
        r[l] = runs[l].part->reader;
        m[l] = runs[l].part->models;
        record[l] = runs[l].values;
    }
    for (uint32_t i = 0; i < count; i++) {
        FOR_LANES laz_read_kind14(m[l], &r[l], &p[l]);
        FOR_LANES laz_read_x14(&r[l], &p[l]);
        FOR_LANES laz_read_y14(&r[l], &p[l]);
        FOR_LANES {
            laz_put_xy14(m[l], &p[l], i, record[l]);
            if (__builtin_expect(laz_reader_failed(&r[l]), 0)) note_fault(&runs[l], i);
            record[l] += stride;
        }
    }
    FOR_LANES runs[l].part->reader = r[l];
}

static void read_xy(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    if (lanes == 1) {
        read_xy_lanes(runs, 1, count, stride);
    } else {
        read_xy_lanes(runs, LAZ_LANES, count, stride);
    }
}
static void read_z(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    read_layer(laz_read_z14, runs, lanes, count, stride);
}
static void read_class(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    read_layer(laz_read_class14, runs, lanes, count, stride);
}
static void read_flags(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    read_layer(laz_read_flags14, runs, lanes, count, stride);
}
static void read_intensity(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    read_layer(laz_read_intensity14, runs, lanes, count, stride);
}
static void read_angle(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    read_layer(laz_read_angle14, runs, lanes, count, stride);
}
static void read_user(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    read_layer(laz_read_user14, runs, lanes, count, stride);
}
static void read_source(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    read_layer(laz_read_source14, runs, lanes, count, stride);
}
static void read_gps(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    read_layer(laz_read_gps14, runs, lanes, count, stride);
}
static void read_rgb(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    read_layer(laz_read_rgb14, runs, lanes, count, stride);
}
static void read_nir(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    read_layer(laz_read_nir14, runs, lanes, count, stride);
}
static void read_wave(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    read_layer(laz_read_wave14, runs, lanes, count, stride);
}
static void read_byte(const laz_run_of *runs, uint32_t lanes, uint32_t count, uint32_t stride) {
    read_layer(laz_read_byte14, runs, lanes, count, stride);
}

static layer_reader *const layer_readers[LAZ_LAYER_KINDS] = {
    [LAZ_LAYER_XY] = read_xy,
    [LAZ_LAYER_Z] = read_z,
    [LAZ_LAYER_CLASSIFICATION] = read_class,
    [LAZ_LAYER_FLAGS] = read_flags,
    [LAZ_LAYER_INTENSITY] = read_intensity,
    [LAZ_LAYER_SCAN_ANGLE] = read_angle,
    [LAZ_LAYER_USER_DATA] = read_user,
    [LAZ_LAYER_POINT_SOURCE] = read_source,
    [LAZ_LAYER_GPS_TIME] = read_gps,
    [LAZ_LAYER_RGB] = read_rgb,
    [LAZ_LAYER_NIR] = read_nir,
    [LAZ_LAYER_WAVEPACKET] = read_wave,
    [LAZ_LAYER_BYTE] = read_byte,
};

/* ---- Begin */

static uint64_t lane_bytes(uint32_t layers, uint32_t record_bytes) {
    return LAZ_ALIGNED(sizeof(laz_lane)) + LAZ_ALIGNED(layers * (uint64_t)sizeof(laz_part)) +
           LAZ_ALIGNED((1u + LAZ_BLOCK_POINTS) * (uint64_t)record_bytes);
}

static uint64_t state_bytes(const laz_schema *schema) {
    return lane_bytes(mote_laz_layer_count(schema), schema->record_bytes) + mote_laz_layers_model_bytes(schema);
}

/* Lays the lane out in its memory. */
static laz_lane *place_lane(void *state, const laz_schema *schema) {
    laz_lane *lane = state;
    uint8_t *at = (uint8_t *)state + LAZ_ALIGNED(sizeof *lane);
    *lane = (laz_lane){.record_bytes = schema->record_bytes, .part_count = mote_laz_layer_count(schema)};
    lane->parts = (laz_part *)(void *)at;
    lane->first = at + LAZ_ALIGNED(lane->part_count * (uint64_t)sizeof(laz_part));
    lane->kept_records = lane->first + lane->record_bytes;
    at = (uint8_t *)state + lane_bytes(lane->part_count, lane->record_bytes);
    for (uint32_t i = 0; i < lane->part_count; i++) {
        lane->parts[i] = (laz_part){.layer = mote_laz_layer_at(schema, i), .models = at};
        at += mote_laz_layer_facts[lane->parts[i].layer.kind].model_bytes;
    }
    lane->described = &((const laz_xy14 *)lane->parts[0].models)->points;
    return lane;
}

/* Finds the layers behind their sizes. Returns NULL or what is wrong. */
static const char *find_layers(laz_lane *lane, uint32_t wanted, laz_layer_walk *walk, uint64_t *fault_at) {
    for (uint32_t i = 0; i < lane->part_count; i++) {
        laz_part *part = &lane->parts[i];
        const laz_layer_facts *facts = &mote_laz_layer_facts[part->layer.kind];
        const bool is_wanted = facts->wanted == 0 || (facts->wanted & wanted) != 0;
        uint32_t part_bytes;
        part->begins = walk->at;
        const char *wrong = mote_laz_walk_next(walk, &part_bytes, fault_at);
        if (wrong != NULL) return wrong;
        part->decoded = is_wanted && (part_bytes > 0 || i == 0);
        part->copied = is_wanted && !part->decoded;
        if (part->decoded) laz_reader_start(&part->reader, walk->data + part->begins, part_bytes);
    }
    lane->size_bytes = walk->at;
    return NULL;
}

static const char *start(void *state, const laz_schema *schema, uint32_t wanted, const uint8_t *data,
                         uint64_t size_bytes, uint64_t points, uint64_t *fault_at) {
    laz_lane *lane = place_lane(state, schema);
    laz_layer_walk walk;
    const char *wrong = mote_laz_walk_start(&walk, schema, data, size_bytes, points, fault_at);
    if (wrong == NULL) wrong = find_layers(lane, wanted, &walk, fault_at);
    if (wrong != NULL) return wrong;
    const uint32_t channel = laz_channel_of(data);
    lane->points = points;
    lane->following.plain = mote_laz_plain_channels(schema);
    laz_channels_start(&lane->following.channels, channel);
    memcpy(lane->first, data, lane->record_bytes);
    for (uint32_t i = 0; i < lane->part_count; i++) {
        const laz_part *part = &lane->parts[i];
        if (part->decoded) mote_laz_layer_facts[part->layer.kind].start(part->models, channel, data + part->layer.at);
    }
    return NULL;
}

/* ---- Read */

/* Gives all points of a block the value of the first record. */
static void copy_value(const laz_lane *lane, const laz_part *part, uint8_t *records, uint32_t count) {
    const uint8_t *value = lane->first + part->layer.at;
    const uint32_t size_bytes = mote_laz_layer_facts[part->layer.kind].size_bytes;
    uint8_t *to = records + part->layer.at;
    for (uint32_t i = 0; i < count; i++, to += lane->record_bytes) {
        if (part->layer.kind == LAZ_LAYER_FLAGS) { /* around the scanner channel */
            *to = (uint8_t)(*to | (*value & ~LAZ_CHANNEL_MASK));
        } else {
            memcpy(to, value, size_bytes);
        }
    }
}

/* Reads one layer of a block in all lanes. */
static void read_part(laz_lane *const *lanes, uint32_t lane_count, uint32_t index, uint8_t *const *records,
                      uint32_t count) {
    laz_run_of runs[LAZ_LANES];
    uint32_t run_count = 0;
    for (uint32_t l = 0; l < lane_count; l++) {
        laz_part *part = &lanes[l]->parts[index];
        if (part->copied) copy_value(lanes[l], part, records[l], count);
        if (part->decoded) {
            runs[run_count++] = (laz_run_of){part, lanes[l]->described, records[l] + part->layer.at, lanes[l]};
        }
    }
    if (run_count == 0) return;
    layer_readers[lanes[0]->parts[index].layer.kind](runs, run_count, count, lanes[0]->record_bytes);
}

static void read_block(laz_lane *const *lanes, uint32_t lane_count, uint8_t *const *records, uint32_t count) {
    for (uint32_t l = 0; l < lane_count; l++) lanes[l]->good = count;
    for (uint32_t i = 0; i < lanes[0]->part_count; i++) {
        read_part(lanes, lane_count, i, records, count);
        for (uint32_t l = 0; l < lane_count && i == LAZ_LAYER_XY; l++) {
            laz_xy14 *xy = lanes[l]->parts[LAZ_LAYER_XY].models;
            laz_follow_channels(&lanes[l]->following, &xy->points, count);
        }
    }
}

/* After a block: how far all lanes got. If one has a fault, that is up to this point; what the other lanes read beyond
   waits for their next call. */
static uint32_t stop_at_fault(laz_lane *const *lanes, uint32_t lane_count, uint8_t *const *records, uint32_t count) {
    uint32_t got = count;
    for (uint32_t l = 0; l < lane_count; l++) {
        if (lanes[l]->good < got) got = lanes[l]->good + 1;
    }
    for (uint32_t l = 0; l < lane_count; l++) {
        laz_lane *lane = lanes[l];
        lane->stopped = lane->good < got;
        lane->kept_at = 0;
        lane->kept = lane->stopped ? 0 : lane->good - got;
        memcpy(lane->kept_records, records[l] + (uint64_t)got * lane->record_bytes,
               (uint64_t)lane->kept * lane->record_bytes);
    }
    return got;
}

/* Are there points that were read ahead, or a fault behind them? */
static bool is_waiting(const laz_lane *lane) {
    return lane->kept_at < lane->kept || (lane->faulty != NULL && !lane->stopped);
}

static uint32_t give_kept(laz_lane *lane, uint8_t *records, uint32_t count) {
    const uint32_t remaining = lane->kept - lane->kept_at, given = remaining < count ? remaining : count;
    memcpy(records, lane->kept_records + (uint64_t)lane->kept_at * lane->record_bytes,
           (uint64_t)given * lane->record_bytes);
    lane->kept_at += given;
    lane->stopped = lane->faulty != NULL && given < count;
    return given + lane->stopped;
}

/* Reads up to a block in lanes that are all as far. */
static uint32_t read_step(laz_lane *const *lanes, uint32_t lane_count, uint8_t *const *records, uint32_t count) {
    uint32_t got = 1;
    if (is_waiting(lanes[0])) {
        got = give_kept(lanes[0], records[0], count);
    } else if (lanes[0]->done == 0) {
        for (uint32_t l = 0; l < lane_count; l++) memcpy(records[l], lanes[l]->first, lanes[l]->record_bytes);
    } else {
        read_block(lanes, lane_count, records, count);
        got = stop_at_fault(lanes, lane_count, records, count);
    }
    for (uint32_t l = 0; l < lane_count; l++) lanes[l]->done += got;
    return got;
}

static bool in_step(const laz_lane *a, const laz_lane *b) {
    return (a->done == 0) == (b->done == 0) && !is_waiting(a) && !is_waiting(b);
}

static uint64_t read_points(void *const *states, uint32_t lane_count, uint8_t *const *records, uint64_t count) {
    laz_lane *lanes[LAZ_LANES] = {states[0], states[lane_count - 1]};
    uint8_t *at[LAZ_LANES] = {records[0], records[lane_count - 1]};
    uint64_t got = 0;
    for (bool sound = true; sound && got < count;) {
        uint32_t step = (uint32_t)(count - got < LAZ_BLOCK_POINTS ? count - got : LAZ_BLOCK_POINTS);
        if (lane_count == 1) {
            step = read_step(lanes, 1, at, step);
        } else if (in_step(lanes[0], lanes[1])) {
            step = read_step(lanes, LAZ_LANES, at, step);
        } else {
            for (uint32_t l = 0; l < LAZ_LANES; l++) step = read_step(&lanes[l], 1, &at[l], 1);
        }
        for (uint32_t l = 0; l < lane_count && l < LAZ_LANES; l++) {
            at[l] += (uint64_t)step * lanes[l]->record_bytes;
            sound = sound && !lanes[l]->stopped;
        }
        got += step;
    }
    return got;
}

static const char *fault(const void *state, uint64_t *fault_at) {
    const laz_lane *lane = state;
    *fault_at = 0;
    if (!lane->stopped) return NULL;
    const laz_reader *r = &lane->faulty->reader;
    *fault_at = lane->faulty->begins + (r->at < r->size_bytes ? r->at : r->size_bytes);
    return r->bad ? "a layer has bits that nothing is coded as" : "a layer ends too early";
}

static uint64_t used_bytes(const void *state) {
    const laz_lane *lane = state;
    if (lane->done < lane->points || lane->stopped) return lane->record_bytes; /* the layers' ends say nothing yet */
    uint64_t unused = 0; /* a sound layer ends with the last point */
    for (uint32_t i = 0; i < lane->part_count; i++) {
        const laz_part *part = &lane->parts[i];
        if (part->decoded) unused += part->reader.size_bytes - part->reader.at;
    }
    return lane->size_bytes - unused;
}

const laz_reading mote_laz_read_layered = {state_bytes, start, read_points, fault, used_bytes, NULL};

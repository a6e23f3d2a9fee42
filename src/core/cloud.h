/* The inside of a cloud, for readers and writers. */
#ifndef MOTE_CLOUD_INTERNAL_H
#define MOTE_CLOUD_INTERNAL_H

#include "core/mapped_file.h"
#include "mote/order.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTE_LAZ_ITEMS_BYTES 96

/* What of a LAS header is kept so that LAS → LAS gives it back. */
typedef struct mote_las_origin {
    bool present;
    uint8_t version_minor;
    uint8_t format; /* 0..10 */
    uint16_t file_source_id;
    uint16_t global_encoding; /* also where present is false: the bit that GPS times are adjusted standard time */
    uint16_t creation_day, creation_year;
    uint8_t guid[16];
    char system_id[33];
    char software[33];
    /* How the points were compressed, for those who ask; see mote_las_facts. */
    uint8_t compressor;
    uint32_t chunk_points;
    uint64_t chunk_count, compressed_bytes;
    char items[MOTE_LAZ_ITEMS_BYTES];
} mote_las_origin;

/* What goes with the cloud: memory, or a mapped file that its columns look at. */
typedef struct mote_block {
    void *memory;
    mote_mapped_file *mapped; /* NULL: memory from mote_alloc, or device_alloc */
    mote_device *device;      /* whose memory it is; NULL: the host's */
} mote_block;

/* What the order already knows of a cloud's points; see order/order_streaming.h and order/order_of_cloud.c. */
typedef struct mote_prepared {
    bool box_known; /* low and high: stored coordinates, of all points */
    int32_t low[3], high[3];
    uint64_t *codes; /* [count] in the lattice of that box; NULL if there are none */
    bool keeps_order;
    mote_lattice lattice;   /* of the order */
    uint64_t skipped;       /* points without a place */
    uint64_t *sorted_codes; /* [count] */
    uint32_t *order;        /* [count]; NULL: nothing is kept yet */
} mote_prepared;

/* The limits of the column of that name, which may have been dropped since. */
typedef struct mote_named_limits {
    const char *name;
    mote_column_limits limits;
} mote_named_limits;

typedef struct mote_uploads mote_uploads;

struct mote_cloud {
    mote_context *ctx;
    uint64_t count;
    mote_device *device; /* in whose memory the columns are; NULL: the host's */
    mote_column *columns;
    uint64_t column_count, column_capacity;
    mote_record *records;
    uint64_t record_count, record_capacity;
    mote_named_limits *limits;
    uint64_t limits_count, limits_capacity;
    mote_block *blocks;
    uint64_t block_count, block_capacity;
    char *crs;
    uint64_t grid_width, grid_height; /* 0: not organised */
    double position_step;             /* decimal step of text coordinates, 0 if unknown */
    bool sources_in_order; /* the points of each point_source_id follow each other, also from piece to piece */
    mote_las_origin las;
    mote_prepared prepared;
    mote_uploads *uploads; /* NULL: what is uploaded goes with the call; core/uploads.h */
};

/* Drops what is known of the order of positions that are no longer there. */
void mote_cloud_forget_order(mote_cloud *cloud);
/* Drops the copies that a device keeps of values that are no longer there; those in use go with their last user. */
void mote_cloud_forget_uploads(mote_cloud *cloud);

/* An empty cloud of count points without columns. */
mote_status mote_cloud_new(mote_context *ctx, uint64_t count, mote_cloud **out);

/* Adds a view; texts are copied, NULL texts and scale 0 and stride 0 take their defaults. The name must be new. */
mote_status mote_cloud_add_view(mote_cloud *cloud, const mote_column *column);

/* Hands memory from mote_alloc, or a mapped file, to the cloud, also when it fails. memory NULL: MOTE_ERROR_MEMORY. */
mote_status mote_cloud_adopt(mote_cloud *cloud, void *memory);
mote_status mote_cloud_adopt_mapped(mote_cloud *cloud, mote_mapped_file *mapped);

/* Gives the cloud memory of a device, to be freed there when the cloud is. */
mote_status mote_cloud_adopt_device(mote_cloud *cloud, mote_device *device, void *memory);

extern const char *const mote_axis_names[3]; /* x y z */
/* The columns x, y and z of a cloud; NULL for those that it lacks. Returns whether it has all three. */
bool mote_cloud_find_positions(const mote_cloud *cloud, const mote_column *axes[3]);
/* Finds x, y and z for work that needs them: a column that is missing is an error. */
mote_status mote_cloud_positions(mote_context *ctx, const mote_cloud *cloud, const mote_column *axes[3]);
/* MOTE_ERROR_UNSUPPORTED with a message if the cloud is on the device; what names what needs it on the host. */
mote_status mote_cloud_need_host(mote_context *ctx, const mote_cloud *cloud, const char *what);

/* Keeps a copy of a record. */
mote_status mote_cloud_add_record(mote_cloud *cloud, const mote_record *record);

/* A name that is still free: name itself, else name_2, name_3 … out has MOTE_NAME_BYTES. */
#define MOTE_NAME_BYTES 128
void mote_cloud_free_name(const mote_cloud *cloud, const char *name, char *out);

/* ---- limits.c */
/* The number at an address of a column, or one of its limits, as mote_column_limits has numbers of that type. */
uint64_t mote_limit_of_value(const mote_column *column, uint64_t i);
double mote_limit_real(uint64_t limit, mote_type type);
uint64_t mote_limit_of_real(double value, mote_type type);
/* Whether the i-th value of a column is its no-data. */
bool mote_is_no_data(const mote_column *column, const mote_column_limits *limits, uint64_t i);
/* Sets limits of a column that need not be there; drops those of a column that is replaced. */
mote_status mote_cloud_keep_limits(mote_cloud *cloud, const char *name, const mote_column_limits *limits);
void mote_cloud_drop_limits(mote_cloud *cloud, const char *name);

/* Copies everything but columns and points: CRS, records, limits, LAS origin, position step; not the grid, for the
   points may be others. */
mote_status mote_cloud_copy_extras(mote_cloud *to, const mote_cloud *from);

/* The raw i-th value of a column, before bits are taken out of it. */
static inline const uint8_t *mote_column_at(const mote_column *column, uint64_t i) {
    return (const uint8_t *)column->data + i * column->stride_bytes;
}

/* The stored value as a 64-bit integer (integer columns only; uint64 above 2^63 wraps). */
int64_t mote_column_integer(const mote_column *column, uint64_t i);
/* The stored value as a double, without scale and offset. */
double mote_column_stored(const mote_column *column, uint64_t i);

#ifdef __cplusplus
}
#endif
#endif

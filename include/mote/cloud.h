/// mote: a cloud is a count and named columns. A column is a strided view: of a memory-mapped file,
/// of memory the cloud owns, or of the caller's memory. Nothing is converted until someone asks.
///
/// Names are lower case with underscores. Positions are the columns x, y, z; they keep the type of
/// the source: integers with scale and offset (LAS), float or double. The standard names:
///   x y z intensity return_number number_of_returns classification synthetic key_point withheld overlap
///   scanner_channel scan_direction_flag edge_of_flight_line user_data scan_angle_rank (int8, degrees)
///   scan_angle (int16, 0.006 degrees) point_source_id gps_time red green blue nir
///   wave_packet_index wave_packet_offset wave_packet_size wave_return_location wave_x wave_y wave_z
///   normal_x normal_y normal_z curvature, and alpha
/// Readers give attributes these names whatever other programs call them ("GpsTime", "gps-time", "scalar_GPS_Time").
/// Anything else, and extra bytes of LAS, keep the name that their file gives them.
///
/// Coordinates may be any finite double, of any scale and offset, where they are only read, written, compared or put in
/// order (bounds, strays, the Morton order, octrees, all formats that hold them). What measures lengths (neighbours,
/// normals, density, outliers, planes, pictures) squares them, and a square beyond 1.8e308 or below 5e-324 is none. So
/// these functions take clouds in a range, MOTE_MIN_COORDINATE to MOTE_MAX_COORDINATE, and refuse others with
/// MOTE_ERROR_DATA and a message that names column, value and limit: scales are in it, offsets and coordinates
/// not above it, and the largest coordinate is 0 or not below it. (Points of which one coordinate is NaN or infinite
/// are left out and counted, as ever.)
#ifndef MOTE_CLOUD_H
#define MOTE_CLOUD_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The range of coordinates that lengths are measured in: about 3.2e-145 to 3.1e144. Two points of it are at most 2^481
/// apart on an axis, so their squared distance is below 2^964, that along a normal 2^40 times as long (compression
/// 10^6) below 2^1004, and 2^20 of these still have a sum. Of a cloud no smaller than 2^-480 what is 2^-57 of its size
/// has a square, which is more than doubles tell apart.
#define MOTE_MAX_COORDINATE 0x1p480
#define MOTE_MIN_COORDINATE 0x1p-480

typedef struct mote_cloud mote_cloud;

/// One named attribute: a strided view of stored values.
/// value = stored · scale + offset, where stored is (bits of) the number at data + i · stride_bytes.
typedef struct mote_column {
    const char *name;
    const char *unit;        ///< "" if unknown
    const char *description; ///< "" if none
    const void *data;        ///< the first value; need not be aligned
    uint32_t stride_bytes;   ///< from one value to the next
    mote_type type;          ///< as stored
    uint8_t bit_shift;       ///< for packed fields: stored = (raw >> bit_shift) & mask
    uint8_t bit_count;       ///< 0: the whole value
    double scale;            ///< 1 if none
    double offset;           ///< 0 if none
} mote_column;

/// What mote_cloud_create needs to know of a column.
typedef struct mote_column_spec {
    const char *name;
    mote_type type;
    double scale;  ///< 0 counts as 1
    double offset; ///< 0 if none
} mote_column_spec;

/// A variable-length record of a LAS file, kept so that it can be written again.
typedef struct mote_record {
    char user_id[17];
    char description[33];
    uint16_t record_id;
    bool extended; ///< came after the points (EVLR)
    uint64_t size_bytes;
    const void *data;
} mote_record;

/// Makes a cloud of count points whose columns lie interleaved in one block of zeroed memory.
/// Fill it through mote_cloud_column_data.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no name, a name twice, bad type), MOTE_ERROR_MEMORY
/// Cost     O(count), sum of the type sizes per point
MOTE_API mote_status mote_cloud_create(mote_context *ctx, uint64_t count, const mote_column_spec *specs,
                                       uint32_t spec_count, mote_cloud **out);

/// Makes a cloud that looks at the caller's memory, which must outlive it. Nothing is copied but names.
/// columns  [column_count]; scale 0 counts as 1, stride 0 as the size of the type, NULL texts as ""
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_MEMORY
MOTE_API mote_status mote_cloud_wrap(mote_context *ctx, uint64_t count, const mote_column *columns,
                                     uint32_t column_count, mote_cloud **out);

/// The same for columns in the memory of the GPU that ctx computes on. Such a cloud is for algorithms on that GPU
/// (mote_lod_build): functions that need its values on the host return MOTE_ERROR_UNSUPPORTED, and mote_column_read and
/// mote_column_value must not be called on its columns.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_MEMORY, MOTE_ERROR_UNSUPPORTED (ctx has no GPU)
MOTE_API mote_status mote_cloud_wrap_device(mote_context *ctx, uint64_t count, const mote_column *columns,
                                            uint32_t column_count, mote_cloud **out);
/// Copies a cloud to the memory of the GPU that ctx computes on (under AUTO wakes it): all columns, names, scales, CRS,
/// records, grid. Memory for as many bytes as the records on the host have is held until mote_cloud_destroy.
/// cloud    in host memory; may be destroyed afterwards
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (it is on the device already), MOTE_ERROR_MEMORY,
///          MOTE_ERROR_UNSUPPORTED (ctx has no GPU), MOTE_ERROR_DEVICE
MOTE_API mote_status mote_cloud_to_device(mote_context *ctx, const mote_cloud *cloud, mote_cloud **out);
/// Whether its columns are in the memory of a GPU.
MOTE_API bool mote_cloud_on_device(const mote_cloud *cloud);

/// Whether the file that the cloud was read from is still what it was. The columns of LAS and binary PLY are views of
/// the file: another process may cut or overwrite it. What is missing reads as zeros, and this call, each call that
/// computes something from the cloud, and each output that is finished with the same context then say so.
/// Returns  MOTE_OK, MOTE_ERROR_CHANGED with the file, MOTE_ERROR_IO (it cannot be read) with file and offset
MOTE_API mote_status mote_cloud_check(const mote_cloud *cloud);

/// Frees the cloud and what it owns. NULL is allowed.
MOTE_API void mote_cloud_destroy(mote_cloud *cloud);
/// Lets a cloud keep the Morton order of its points: the first call that sorts them leaves it there, and later ones
/// take it. Octrees (mote_lod_build) and renderers on CPU cores ask for it, each for the other, too. For points that
/// stay where they are: whoever moves them drops what is kept by a call with keep false, or true again; new positions
/// that the library makes (mote_cloud_put_column, assignments, transforming) and mote_render_update do so by
/// themselves.
/// Cost     12 bytes a point, once there is an order
MOTE_API void mote_cloud_keep_order(mote_cloud *cloud, bool keep);

/// Lets a cloud of host memory keep the copies of its columns that calls make on the GPU of its context: the first call
/// that uploads a column leaves it there, and later ones take it; steps of a pipeline need one upload for all of them.
/// For values that stay what they are: whoever changes values in the memory of the cloud drops what is kept by a call
/// with keep false, or true again. What the library changes itself, mote_knn_rebuild and mote_render_update do so by
/// themselves, and columns that are added or put need nothing. Copies go with the cloud, or when the memory of the GPU
/// runs short (mote_context_trim).
/// Returns  MOTE_OK, MOTE_ERROR_MEMORY
MOTE_API mote_status mote_cloud_keep_uploads(mote_cloud *cloud, bool keep);

/// How many points.
MOTE_API uint64_t mote_cloud_count(const mote_cloud *cloud);
/// How many columns.
MOTE_API uint32_t mote_cloud_column_count(const mote_cloud *cloud);
/// The i-th column; NULL if there is none. Valid as long as the cloud and until a column is added.
MOTE_API const mote_column *mote_cloud_column(const mote_cloud *cloud, uint32_t i);
/// The column of that name; NULL if there is none.
MOTE_API const mote_column *mote_cloud_find(const mote_cloud *cloud, const char *name);
/// The standard name of what other programs, and people, call an attribute: "ReturnNumber", "return number" and
/// "scalar_Return_Number" are return_number, "class" is classification, "nx" is normal_x. Case, blanks and punctuation
/// do not count. NULL: it is none.
MOTE_API const char *mote_standard_name(const char *name);
/// The column that a person means: of that name, else of its standard name, else of the same letters and digits. NULL
/// if there is none.
MOTE_API const mote_column *mote_cloud_match(const mote_cloud *cloud, const char *name);
/// Writable memory of a column made by mote_cloud_create or mote_cloud_add_column; NULL for views of
/// files or of the caller's memory. Step by the column's stride_bytes.
MOTE_API void *mote_cloud_column_data(mote_cloud *cloud, const char *name);

/// Adds a zeroed column in memory of its own.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (the name exists), MOTE_ERROR_MEMORY
MOTE_API mote_status mote_cloud_add_column(mote_cloud *cloud, const mote_column_spec *spec);
/// The same, in the place of the column of that name if there is one.
MOTE_API mote_status mote_cloud_put_column(mote_cloud *cloud, const mote_column_spec *spec);

/// Copies count stored values from the first-th on, converted to type as C converts
/// (floats to integers: rounded to nearest, saturated; NaN gives 0). Scale and offset are not applied.
/// out  [count] of that type, dense
MOTE_API void mote_column_read(const mote_column *column, uint64_t first, uint64_t count, mote_type type, void *out);
/// The i-th value with scale and offset applied.
MOTE_API double mote_column_value(const mote_column *column, uint64_t i);

/// What a file says of the stored values of a column, before scale and offset (LAS: extra bytes). Numbers stand in 64
/// bits: as int64 for signed integers, uint64 for unsigned ones, double for floats.
typedef struct mote_column_limits {
    bool has_no_data, has_min, has_max;
    uint64_t no_data;     ///< the no-data value: left out of ranges, statistics and colours
    uint64_t min, max;    ///< as the file states them, whatever the values are
    uint64_t reserved[4]; ///< zero, see types.h
} mote_column_limits;

/// What the cloud's file said of the column of that name; false, and limits all zero, if nothing.
MOTE_API bool mote_cloud_limits(const mote_cloud *cloud, const char *name, mote_column_limits *limits);
/// Sets it; NULL or no limit: there are none. Writers that can keep them do (LAS, LAZ, COPC, PLY, PCD, Potree folders);
/// text files have nan for it.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no such column, reserved fields), MOTE_ERROR_MEMORY
MOTE_API mote_status mote_cloud_set_limits(mote_cloud *cloud, const char *name, const mote_column_limits *limits);
/// As mote_column_read to doubles, of a column of the cloud, with NaN for each no-data value.
/// out  [count]
MOTE_API void mote_cloud_read_known(const mote_cloud *cloud, const mote_column *column, uint64_t first, uint64_t count,
                                    double *out);

/// The coordinate reference system: WKT, "EPSG:n", or "" if unknown.
MOTE_API const char *mote_cloud_crs(const mote_cloud *cloud);
/// Sets it; the text is copied. NULL counts as "".
MOTE_API mote_status mote_cloud_set_crs(mote_cloud *cloud, const char *crs);

/// Organised clouds (PCD, PTX): the points are the cells of a grid, row by row, and a cell without a point has NaN
/// positions. false if the cloud is not organised.
MOTE_API bool mote_cloud_grid(const mote_cloud *cloud, uint64_t *width, uint64_t *height);
/// Makes it one; width · height must be the number of points. Both 0: no longer organised.
MOTE_API mote_status mote_cloud_set_grid(mote_cloud *cloud, uint64_t width, uint64_t height);

/// How many records of the file are kept (LAS VLRs and EVLRs).
MOTE_API uint32_t mote_cloud_record_count(const mote_cloud *cloud);
/// The i-th record; NULL if there is none. Valid as long as the cloud.
MOTE_API const mote_record *mote_cloud_record(const mote_cloud *cloud, uint32_t i);

/// Makes a cloud of the chosen points, in the order given; a point may be chosen more than once. Columns keep name,
/// type, unit, scale, offset and limits; CRS, records and the facts of the source come along.
/// indices  [count], each below the cloud's count; NULL if count is 0
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (an index too large), MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Cost     O(count), in parallel; sum of the type sizes per point
MOTE_API mote_status mote_cloud_select(mote_context *ctx, const mote_cloud *cloud, const uint64_t *indices,
                                       uint64_t count, mote_cloud **out);

/// Makes a cloud of all points of several, one cloud after the other: parts of one cloud, as readers of subsets give
/// them. A column has the same type, scale and offset in all that have it, and is 0 in the others; it keeps the limits
/// that the first of them states. CRS, records and the facts of the source are those of the first cloud. Files of
/// their own with columns of several types are for mote_cloud_read_many.
/// clouds   [count], at least one, in host memory
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no cloud, columns that differ), MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Cost     O(points), in parallel; sum of the type sizes per point
MOTE_API mote_status mote_cloud_join(mote_context *ctx, mote_cloud *const *clouds, uint32_t count, mote_cloud **out);

/// What the header of a LAS file said about itself, as it travels with the cloud.
typedef struct mote_las_facts {
    int version_minor; ///< of 1.x
    int format;        ///< of the point records, 0..10
    int creation_year, creation_day;
    const char *system_id;
    const char *software;
    int compressor;            ///< of LAZ: 1 pointwise, 2 pointwise in chunks, 3 layered; 0: not compressed
    const char *items;         ///< of LAZ: parts of a record and their versions, "POINT10 v2, RGB12 v2"; else ""
    uint64_t chunk_points;     ///< of LAZ: points in a chunk; 0: it varies
    uint64_t chunk_count;      ///< of LAZ
    uint64_t compressed_bytes; ///< of LAZ: all chunks together
    uint64_t reserved[8];      ///< zero, see types.h
} mote_las_facts;

/// The facts of the LAS file that the cloud came from; false if it came from none.
MOTE_API bool mote_cloud_las_facts(const mote_cloud *cloud, mote_las_facts *facts);

/// An axis-aligned box in world coordinates. Empty: min > max.
typedef struct mote_box {
    double min[3];
    double max[3];
} mote_box;

/// The box of all points with finite coordinates.
/// skipped  out, may be NULL: points with a NaN or infinite coordinate, which do not count
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no x, y or z)
/// Cost     one pass over the positions, in parallel
MOTE_API mote_status mote_cloud_bounds(mote_context *ctx, const mote_cloud *cloud, mote_box *box, uint64_t *skipped);

/// A few points so far from all others that they stretch the box: a zero, a bird, a far reflection.
typedef struct mote_strays {
    uint64_t count;       ///< 0: there are none, and all else is 0
    uint64_t farthest;    ///< index of the one that is farthest from the rest; of several the first
    double distance;      ///< how far that is from the box of the rest, world units
    mote_box rest;        ///< the box of all other points with finite coordinates
    uint64_t reserved[8]; ///< zero, see types.h
} mote_strays;

/// Finds strays: at most one point in 100, more than eight times as far from where nearly all points are as these
/// reach. Where nearly all are, a sample of 8,192 points tells: those between the 1st and the 99th hundredth on each
/// axis. A cloud of fewer than 100 points has none. The same for any number of threads, and for a cloud on a GPU.
/// bounds   a box that holds all finite points, if the caller knows one, else NULL
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no x, y or z), MOTE_ERROR_MEMORY, MOTE_ERROR_DEVICE,
///          MOTE_ERROR_UNSUPPORTED (more than 2^32 points on a GPU)
/// Cost     one pass over the positions, in parallel (from a GPU they come to the host for it, a million at a time);
///          with bounds that hold no strays, the sample
MOTE_API mote_status mote_cloud_strays(mote_context *ctx, const mote_cloud *cloud, const mote_box *bounds,
                                       mote_strays *strays);

/// A 64-bit checksum of count, column names, types, scales and all values; layout does not matter.
/// Same on every machine, for any number of threads.
MOTE_API mote_status mote_cloud_hash(mote_context *ctx, const mote_cloud *cloud, uint64_t *hash);

#ifdef __cplusplus
}
#endif
#endif

/* What the files of the Potree 2.0 writer and reader share. Facts and choices: docs/formats/potree.md */
#ifndef MOTE_POTREE_H
#define MOTE_POTREE_H

#include "core/standard_names.h"
#include "io/io_internal.h"
#include "io/potree/potree_ops.h"
#include "lod/lod_device_view.h"

#define POTREE_BLOCK_POINTS   256u          /* gathered at a time: the block and its source stay in the first caches */
#define POTREE_STEP           4u            /* levels per chunk of the hierarchy, as the reference writer */
#define POTREE_RECORD_BYTES   22u           /* of a node in hierarchy.bin */
#define POTREE_MAX_NODE_BYTES (1ull << 31)  /* readers hold a node in one buffer */
#define POTREE_POSITION_CODED 16u           /* bytes of a position in BROTLI: two 64-bit Morton codes */
#define POTREE_COLOR_CODED    8u            /* bytes of a colour in BROTLI: one */
#define POTREE_CLASSES        256u          /* entries of the histogram of classification */
#define POTREE_CLASS_LANES    4u            /* histograms in turn, so that equal neighbours don't wait for each other */
#define POTREE_MAX_RECORDS    (16ull << 20) /* bytes of LAS records that metadata.json takes along */
#define POTREE_LIMIT_TEXT     64u           /* bytes of a number as text */
#define POTREE_LAS_TEXT       32u           /* bytes of a text in a LAS header */
#define POTREE_INPUTS         "inputs.json" /* beside the three files of the format: what they were made of */
#define POTREE_NO_BROTLI      "built without brotli: no Potree folders of encoding BROTLI"
#define POTREE_NO_JANSSON     "built without jansson: no Potree folders"

/* What is written. The indirection lets the tests write trees that no builder makes. */
typedef struct potree_source {
    const mote_cloud *cloud; /* with colours that column_color takes */
    const mote_lattice *lattice;
    const mote_lod_params *params;
    const mote_lod_node *nodes;
    uint32_t node_count;
    uint32_t finest; /* level of cells: deeper nodes share the cell of that level */
    uint64_t skipped;
    const void *lod;
    void (*node_points)(const void *lod, uint32_t node, uint32_t *indices, uint16_t *colors);
    const mote_lod *device_lod;  /* the octree, if a GPU has it and makes the records; else NULL */
    lod_device_view device_view; /* what it has there */
    uint64_t batch_bytes;        /* that the GPU makes at once; 0: what suits it */
    const mote_color_rule
        *color_rules;          /* [3] what the cloud's colours were taken for; NULL: there is nothing to tell */
    const uint64_t *flag_bits; /* [POTREE_MERGED] of a part: what potree_flag_bits found in all; NULL: it is looked */
    bool is_part;              /* one of several: the whole tells what is to be told */
} potree_source;
/* Makes the source of an octree. */
mote_status potree_source_of_lod(mote_context *ctx, const mote_lod *lod, potree_source *source);

typedef enum potree_role { POTREE_PLAIN, POTREE_POSITION, POTREE_COLOR, POTREE_FLAGS } potree_role;

/* One attribute of the record, as metadata.json lists it. */
typedef struct potree_attribute {
    char name[MOTE_NAME_BYTES]; /* valid UTF-8, unique */
    potree_role role;
    mote_type type;
    uint32_t elements;
    uint32_t at;       /* bytes from the start of a record of encoding DEFAULT */
    uint32_t coded_at; /* bytes per point that stand before it in encoding BROTLI */
    uint32_t range;    /* writer: the first of its elements among all */
    double scale, offset;
    const mote_column *columns[4]; /* writer: what it is made of; NULL where the cloud lacks one */
    bool has_no_data;              /* writer: the record has a no-data value, which is in no range */
    uint64_t no_data;              /* its key, potree_math.h */
    const char *note;              /* writer: a literal that says what the format cannot hold; NULL if nothing */
} potree_attribute;

static inline uint32_t potree_attribute_bytes(const potree_attribute *attribute) {
    return mote_type_size(attribute->type) * attribute->elements;
}
/* Bytes of an attribute in encoding BROTLI, where positions and colours are coded by Morton codes. */
static inline uint32_t potree_coded_bytes(const potree_attribute *attribute) {
    if (attribute->role == POTREE_POSITION) return POTREE_POSITION_CODED;
    return attribute->role == POTREE_COLOR ? POTREE_COLOR_CODED : potree_attribute_bytes(attribute);
}

/* ---- texts: potree_names.c */
/* The order of the standard attributes in a record, and their names on both sides. */
typedef struct potree_name {
    const char *column; /* mote's; NULL: rgb and classification flags, which are several columns */
    const char *attribute;
    bool left_out_if_zero;
} potree_name;
extern const potree_name potree_names[];
extern const uint32_t potree_name_count;
extern const char *const potree_flag_columns[4]; /* bit 0 first */
/* The column that an attribute becomes: mote's name of a standard one, else its own. */
const char *potree_column_name(const char *attribute);
/* The type of that name in metadata.json; false if there is none. */
bool potree_type_of_name(const char *name, mote_type *type);
/* Copies text as valid UTF-8 of at most size - 1 bytes: other bytes and control characters become '_'. */
void potree_clean_text(const char *text, char *out, size_t size_bytes);
/* Bytes as characters of the same number (Latin-1), so that any bytes go through JSON and back.
   out  2 · strlen(text) + 1 bytes */
void potree_bytes_to_text(const char *bytes, char *out);
/* The way back; characters above 255 become '?'. Stops after size_bytes - 1. */
void potree_text_to_bytes(const char *text, char *out, size_t size_bytes);
/* out  potree_base64_bytes(size_bytes) bytes, with the final zero */
uint64_t potree_base64_bytes(uint64_t size_bytes);
void potree_base64_encode(const uint8_t *data, uint64_t size_bytes, char *out);
/* out  3/4 of the length of text, at most. False if text is no base64. */
bool potree_base64_decode(const char *text, uint64_t length, uint8_t *out, uint64_t *out_bytes);

/* ---- the copy program: potree_plan.c makes it, potree_gather.c runs it */
typedef struct potree_plan {
    mote_context *ctx;
    potree_attribute *attributes;
    uint32_t attribute_count;
    uint32_t element_count; /* of all attributes */
    record_op *ops;         /* the program that makes a record */
    uint64_t op_count, op_capacity;
    mote_column *op_columns; /* of operations that convert */
    uint64_t op_column_count, op_column_capacity;
    uint32_t stride_bytes;       /* of a record of encoding DEFAULT */
    uint32_t coded_stride_bytes; /* of a point of encoding BROTLI */
    bool averaged_colors;        /* from the level of detail instead of the columns */
    bool checks_reals;           /* positions are reals: see whether they come back as they were */
    uint32_t classes_at;         /* of classification in the record; UINT32_MAX if there is none of one byte */
    bool is_quiet;               /* of a part: warnings are the whole's to give */
    uint64_t points;             /* stored in all nodes */
    const mote_cloud *cloud;
    mote_cloud device_cloud;           /* what cloud is where the records are made on a GPU: its columns there */
    mote_device *device;               /* that has the octree's points; else NULL */
    const mote_potree_ops *device_ops; /* its */
    const mote_lattice *lattice;
    /* world = X · scale + offset; X = p + base of the lattice coordinate p */
    double scale[3], offset[3];
    uint32_t base[3];
    double cube_min[3], cube_max[3], cube_side;
} potree_plan;

/* Decides on the attributes and compiles the program. plan is valid to free in any case. */
mote_status potree_plan_make(mote_context *ctx, const potree_source *source, const mote_potree_params *params,
                             potree_plan *plan);
/* Joins to bits those that occur in the flags of a cloud: a flag that is zero everywhere is no attribute. */
mote_status potree_flag_bits(mote_context *ctx, const mote_cloud *cloud, uint64_t bits[POTREE_MERGED]);
void potree_plan_free(potree_plan *plan);
/* The program of a plan whose attributes are known: potree_program.c */
mote_status potree_program_make(potree_plan *plan);

typedef struct potree_range {
    double min, max; /* of the finite values; min > max if there is none */
} potree_range;

/* What is learnt of the points while they are written. */
typedef struct potree_stats {
    potree_range *ranges;                                 /* [range_count] */
    uint32_t range_count;                                 /* the plan's element_count */
    uint64_t classes[POTREE_CLASS_LANES][POTREE_CLASSES]; /* points per classification; after merging in the first */
    bool inexact;                                         /* a real coordinate does not come back as it was */
} potree_stats;

mote_status potree_stats_make(const potree_plan *plan, potree_stats *stats);
/* Sums count stats into the first. */
void potree_stats_merge(const potree_plan *plan, potree_stats *stats, uint32_t count);
/* Joins statistics as above where there is no plan. */
void potree_stats_join(potree_stats *stats, uint32_t count, uint32_t range_count);

/* Gathers up to POTREE_BLOCK_POINTS points into dense records and takes note of their ranges.
   next  the indices that follow, next_count of them: fetched ahead */
void potree_gather(const potree_plan *plan, const uint32_t *indices, const uint16_t *colors, uint32_t count,
                   uint32_t next_count, uint8_t *records, potree_stats *stats);

/* Takes note of the ranges and classes of records that are there. */
void potree_measure(const potree_plan *plan, const uint8_t *records, uint32_t count, potree_stats *stats);

/* The program as a GPU runs it: potree_encode.c */
typedef struct potree_encoding {
    mote_context *ctx;
    record_op *ops;
    mote_column *columns;
    encode_element *elements;
    record_op *computed; /* and the two that follow: of the moves */
    encode_term *terms;
    encode_long *longs;
    uint64_t term_capacity, long_capacity;
    encode_program program; /* looks at them */
} potree_encoding;
/* plan: of at least one point. encoding is valid to free in any case. */
mote_status potree_encoding_make(const potree_plan *plan, const lod_device_view *view, potree_encoding *encoding);
void potree_encoding_free(potree_encoding *encoding);
/* Says a program, whose operations are settled, in moves if that is possible: potree_bit_program.c */
mote_status potree_bit_program_make(potree_encoding *encoding);

/* ---- the checksum: potree_hash.c */
#define POTREE_HASH_BATCH 32u
typedef struct potree_hash {
    uint64_t lanes[2];
    uint64_t size_bytes;
    uint8_t rest[POTREE_HASH_BATCH]; /* that are no whole batch yet */
} potree_hash;
potree_hash potree_hash_begin(void);
/* However bytes are divided among calls, the checksum is the same. */
void potree_hash_add(potree_hash *hash, const void *data, uint64_t size_bytes);
uint64_t potree_hash_end(const potree_hash *hash);
/* Adds bytes of a file, up to its end. buffer: [POTREE_HASHED_BYTES] */
#define POTREE_HASHED_BYTES (1u << 20) /* at once */
mote_status potree_hash_bytes(mote_context *ctx, const char *path, int file, uint64_t at, uint64_t size_bytes,
                              uint8_t *buffer, potree_hash *sum);
/* Opens a file for it; -1: failed. */
int potree_hash_open(mote_context *ctx, const char *path);
/* Size and checksum of a file. */
mote_status potree_hash_file(mote_context *ctx, const char *path, uint64_t *size_bytes, uint64_t *hash);
/* Adds the checksum of data to a chain. */
uint64_t potree_hash_chain(uint64_t before, const void *data, uint64_t size_bytes);

/* ---- octree.bin: potree_octree.c (DEFAULT) and potree_brotli.c */
/* Where a node's data stand. */
typedef struct potree_place {
    uint64_t offset, size_bytes;
    uint64_t hash;
} potree_place;

typedef struct potree_octree {
    mote_context *ctx;
    const potree_source *source;
    const potree_plan *plan;
    mote_output *output;
    potree_place *places; /* [node_count] */
    potree_stats *stats;  /* one per thread */
    int brotli_quality;
    const struct mote_sample *sample; /* the nodes that are encoded; turns.h */
} potree_octree;

/* The working memory of a thread. */
typedef struct potree_worker {
    uint32_t *indices;
    uint64_t index_capacity;
    uint16_t *colors;
    uint64_t color_capacity;
    uint8_t *buffer; /* records */
} potree_worker;
/* Fetches the indices (and colours) of a node into the worker. */
mote_status potree_worker_load(const potree_octree *octree, potree_worker *worker, uint32_t node);
void potree_worker_free(mote_context *ctx, potree_worker *worker);

/* Encoding DEFAULT: says where each node's data will stand before the first byte is written. */
void potree_place_nodes(const potree_octree *octree);
mote_status potree_octree_write(potree_octree *octree);
mote_status potree_octree_write_brotli(potree_octree *octree);

/* Writes the nodes of an octree on a GPU, in batches: one is made there while another is downloaded and written. */
mote_status potree_octree_write_batches(potree_octree *octree);

/* ---- records in pieces, from a GPU: potree_batches.c */
/* A run of points in the order of the file: of whole nodes, or of one. */
typedef struct potree_batch {
    uint64_t first_item, item_count;
    uint32_t node;  /* the first */
    uint64_t point; /* of that node, the first */
} potree_batch;

/* The points of one node in a piece. */
typedef struct potree_part {
    uint32_t node;
    uint64_t first, count;
    uint64_t at; /* bytes from the start of the piece */
} potree_part;

typedef struct potree_batches {
    const potree_octree *octree;
    potree_stream *stream; /* NULL: there are no points */
    uint64_t max_items;
    potree_batch next; /* where it begins */
    potree_part *parts;
    uint64_t part_count, part_capacity;
} potree_batches;

mote_status potree_batches_open(const potree_octree *octree, potree_batches *batches);
/* Calls use with the parts of each piece, in the order of the file up to the node end, while the GPU makes the next. */
typedef mote_status (*potree_batch_use)(const potree_part *parts, uint64_t part_count, const uint8_t *records,
                                        void *user);
mote_status potree_batches_run(potree_batches *batches, uint32_t end, potree_batch_use use, void *user);
/* Returns status; if that is MOTE_OK, what was learnt of the points goes to the first of the octree's stats. */
mote_status potree_batches_close(potree_batches *batches, mote_status status);

/* Compresses into out (of potree_compressed_bound bytes). pool: a potree_pool of the calling thread. */
typedef struct potree_pool potree_pool;
potree_pool *potree_pool_make(mote_context *ctx);
void potree_pool_free(potree_pool *pool);
uint64_t potree_compressed_bound(uint64_t size_bytes);
mote_status potree_compress(potree_pool *pool, int quality, const uint8_t *data, uint64_t size_bytes, uint8_t *out,
                            uint64_t *out_bytes);
/* Decompresses exactly size_bytes; false if the data are not that. out NULL: only looks. */
bool potree_decompress(potree_pool *pool, const uint8_t *data, uint64_t data_bytes, uint8_t *out, uint64_t size_bytes);
bool potree_has_brotli(void);
/* Records of a block to columns of a node of total points, from its first-th on, and a column's codes back. */
void potree_code_block(const potree_plan *plan, const uint8_t *records, uint32_t count, uint64_t first, uint64_t total,
                       uint8_t *node_data);
void potree_position_decode(const uint8_t coded[POTREE_POSITION_CODED], uint32_t xyz[3]);
void potree_color_decode(const uint8_t coded[POTREE_COLOR_CODED], uint16_t rgb[3]);

/* ---- hierarchy.bin: potree_hierarchy.c writes it, potree_nodes.c reads it */
mote_status potree_hierarchy_write(mote_context *ctx, const potree_source *source, const potree_place *places,
                                   mote_output *output, uint64_t *first_chunk_bytes, uint64_t *hash);

/* ---- metadata.json: potree_metadata.c writes it, potree_parse.c reads it */
typedef struct potree_summary {
    const potree_source *source;
    const potree_plan *plan;
    const potree_stats *stats;
    const mote_potree_params *params;
    const char *name;
    uint64_t first_chunk_bytes;
} potree_summary;
mote_status potree_metadata_write(mote_context *ctx, const potree_summary *summary, mote_output *output,
                                  uint64_t *hash);
bool potree_has_jansson(void);
/* The box of nearly all points, in cells of 2^POTREE_REST_BITS a side of the cube, and whether the cube is
   POTREE_REST_TIMES as long or longer: then a few points stretch it. */
#define POTREE_REST_BITS  31u
#define POTREE_REST_TIMES 16u
mote_status potree_rest(mote_context *ctx, const potree_source *source, uint32_t low[3], uint32_t high[3],
                        bool *is_stretched);

/* ---- reading: potree_layout.c parses metadata.json, potree_nodes.c the hierarchy, potree_decode.c the points */
typedef struct potree_files {
    mote_input metadata, hierarchy, octree;
} potree_files;

struct json_t;

/* What metadata.json says. */
typedef struct potree_layout {
    mote_context *ctx;
    const potree_files *files;
    potree_attribute *attributes; /* name, role, type, elements, at, coded_at, range */
    uint32_t attribute_count, element_count;
    double *scales, *offsets; /* [element_count] of the attributes */
    uint32_t position;        /* which attribute */
    uint32_t stride_bytes, coded_stride_bytes;
    double scale[3], offset[3]; /* world = X · scale + offset */
    uint64_t first_chunk_bytes;
    uint64_t points; /* as announced; UINT64_MAX if not */
    bool brotli, replacing;
    bool has_source;          /* the way back to the source's positions is known: */
    mote_type source_type[3]; /* integers: X + less; reals: X · scale + offset */
    int64_t source_less[3];
    double source_offset[3]; /* integers: of the column */
    struct json_t *json;
} potree_layout;
mote_status potree_layout_parse(mote_context *ctx, const potree_files *files, potree_layout *layout);
void potree_layout_free(potree_layout *layout);
/* What only mote's own folders say of an attribute's column; texts "" and type unchanged where they don't. */
typedef struct potree_column_source {
    char name[MOTE_NAME_BYTES];
    char unit[MOTE_NAME_BYTES];
    char description[4 * MOTE_NAME_BYTES];
    mote_type type;
    char no_data[POTREE_LIMIT_TEXT], min[POTREE_LIMIT_TEXT], max[POTREE_LIMIT_TEXT]; /* limits as text */
} potree_column_source;
void potree_layout_column(const potree_layout *layout, uint32_t attribute, potree_column_source *source);
/* Whether the points came from LAS of point formats 0 to 5, whose flags are all but overlap. */
bool potree_layout_lacks_overlap(const potree_layout *layout);
/* CRS, records, LAS origin. */
mote_status potree_layout_extras(const potree_layout *layout, mote_cloud *cloud);

typedef struct potree_node {
    uint64_t offset, size_bytes; /* in octree.bin */
    uint32_t points;
    uint32_t first_child; /* children are neighbours */
    uint32_t level;
    uint8_t child_mask;
} potree_node;
/* Reads all nodes, level by level and in Morton order. nodes is to be freed in any case. */
mote_status potree_nodes_read(const potree_layout *layout, potree_node **nodes, uint32_t *count);

/* Leaves the nodes that params ask for (level, resolution, bounds): potree_filter.c */
mote_status potree_filter(const potree_layout *layout, const mote_read_params *params, potree_node *nodes,
                          uint32_t *count);

/* The points of nodes as a cloud, in the order of the nodes. */
mote_status potree_decode(const potree_layout *layout, const potree_node *nodes, uint32_t count, mote_cloud **out);
/* Reads a data set that lies in memory. */
mote_status potree_parse(mote_context *ctx, const potree_files *files, const mote_read_params *params,
                         mote_cloud **out);

/* Opens the three files of the data set at path (its folder, or its metadata.json), calls use and closes them. */
typedef mote_status (*potree_use)(mote_context *ctx, const potree_files *files, void *user);
mote_status potree_with_files(mote_context *ctx, const char *path, potree_use use, void *user);

/* ---- the folder: potree_folder.c */
typedef struct potree_folder {
    char *path;      /* final */
    char *temporary; /* PATH.PID.part */
    char *aside;     /* PATH.PID.old, of what is replaced where names cannot be exchanged */
    bool is_there;   /* temporary exists */
    bool is_dry;     /* of a dry run: neither exists, and nothing is written */
    bool is_swapped; /* it has its name, and what it replaced the temporary one */
} potree_folder;

struct mote_potree_output {
    potree_folder *folder; /* NULL: none was opened */
    mote_output octree;    /* octree.bin */
};
/* *out needs closing, also after a failure. */
mote_status potree_folder_open(mote_context *ctx, const char *path, potree_folder **out);
/* Opens a folder for a dry run: nothing is written, and path only gives the name. */
mote_status potree_folder_open_dry(mote_context *ctx, const char *path, potree_folder **out);
/* Opens a file in the folder. */
mote_status potree_folder_output(mote_context *ctx, const potree_folder *folder, const char *name, mote_output *output);
/* MOTE_OK: the folder takes its name (mote_outputs_add); any other: it is removed. Frees it; NULL is allowed. */
mote_status potree_folder_close(mote_context *ctx, potree_folder *folder, mote_status status);

/* ---- an octree in parts: potree_parts.c */
/* What is kept of a part that was written: the part's nodes, level by level, and where their records are in its file.
 */
typedef struct potree_part_tree {
    mote_lod_node *nodes;
    potree_place *places;
    uint32_t node_count, finest;
    uint64_t size_bytes; /* of the file */
} potree_part_tree;
void potree_part_free(mote_context *ctx, potree_part_tree *tree);

/* Writes the records of a part, encoding DEFAULT.
   stats  learns of its points too */
mote_status potree_part_write(mote_context *ctx, const potree_source *source, const mote_potree_params *params,
                              mote_output *to, potree_stats *stats, potree_part_tree *tree);

/* Makes the whole of count parts, in the order of their codes: octree.bin of their files, and its tables.
   whole  its cloud, lattice, parameters, flags and skipped points; the rest is filled
   files  [count] open descriptors of what potree_part_write wrote; of those that may be written to, what was copied is
          given back to the disk */
mote_status potree_parts_join(mote_context *ctx, potree_source *whole, const potree_part_tree *parts, const int *files,
                              uint32_t count, const potree_stats *stats, const mote_potree_params *params,
                              mote_potree_output *output, mote_potree_report *report);

/* Writes hierarchy.bin and metadata.json of an octree.bin that is there. */
mote_status potree_write_tables(mote_context *ctx, const potree_source *source, potree_place *places,
                                const potree_stats *stats, const potree_plan *plan, const mote_potree_params *params,
                                const mote_potree_output *output, mote_potree_report *report);

/* ---- inputs.json: potree_inputs.c; what it says of how an octree is made, as a plan of parts does: potree_request.c
 */
/* Adds members "reading", "octree" and "folder". False: there was no memory. */
bool potree_request_put(const mote_read_params *reading, const mote_lod_params *lod, const mote_potree_params *potree,
                        struct json_t *to);
/* Takes them back; texts are the JSON's. Returns the member that is missing or wrong, as a literal; NULL: none is. */
const char *potree_request_take(const struct json_t *from, mote_read_params *reading, mote_lod_params *lod,
                                mote_potree_params *potree);
/* Whether such members say all there is to say: NULL, or what they have no place for, as a literal. */
const char *potree_request_lacks(const mote_read_params *reading, const mote_potree_params *potree);

/* A file whose points an octree has. */
typedef struct potree_input {
    char *path;                       /* absolute */
    uint64_t size_bytes, modified_ns; /* modified_ns 0: not known */
    bool is_hashed;                   /* hash is the checksum of its bytes; else that is not known */
    uint64_t hash;
    struct json_t *learnt; /* what src/parts/ has learnt of its points; NULL: nothing */
} potree_input;

typedef struct potree_inputs {
    mote_context *ctx;
    struct json_t *json; /* whose texts the parameters are; NULL: the caller's */
    mote_read_params reading;
    mote_lod_params lod;
    mote_potree_params potree;
    potree_input *list;
    uint64_t count, capacity;
} potree_inputs;
/* Reads the inputs.json of a folder. Free them in either case. */
mote_status potree_inputs_read(mote_context *ctx, const char *folder, potree_inputs *inputs);
/* Appends a file as it is there; its links stay what they are. */
mote_status potree_inputs_add(potree_inputs *inputs, const char *path);
/* Size and time of a file, as they are now. */
mote_status potree_input_look(mote_context *ctx, const char *path, uint64_t *size_bytes, uint64_t *modified_ns);
/* The folder of a path without its links, and the name. *out is for mote_free. */
mote_status potree_input_place(mote_context *ctx, const char *path, char **out);
/* Writes inputs.json into a folder; files beside it or below have names relative to it. */
mote_status potree_inputs_write(const potree_inputs *inputs, const potree_folder *folder);
void potree_inputs_free(potree_inputs *inputs);
/* The same of what the caller of mote_potree_write says; nothing where there is nothing that could be read again. */
mote_status potree_origin_write(mote_context *ctx, const mote_lod_params *lod, const mote_potree_params *params,
                                const potree_folder *folder);

/* Refuses parameters that are out of range, and what was built without. */
mote_status potree_check_params(mote_context *ctx, const mote_potree_params *params);
/* The writer behind mote_potree_write. */
mote_status potree_write_source(mote_context *ctx, const potree_source *source, const char *path,
                                const mote_potree_params *params, mote_potree_report *report);

#endif

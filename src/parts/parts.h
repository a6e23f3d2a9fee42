/* A cloud that memory does not hold becomes an octree in parts, ranges of Morton codes.

     inputs    ──1──> counts of points by cell ──> parts: ranges of cells of about as many points
     inputs    ──2──> scratch, a part behind the other  │ part 0 │ part 1 │ part 2 │
     a part    ──3──> its octree in memory ──> its records, level by level, in a file
     all files ──4──> octree.bin, a level behind the other; hierarchy.bin, metadata.json

   A COPC file is made likewise: a part's file has chunks (io/copc/copc_parts.h), and step 4 joins them.

   The bytes are those that one piece gives: lod/lod_whole.h says what a part knows of the others. */
#ifndef MOTE_PARTS_INTERNAL_H
#define MOTE_PARTS_INTERNAL_H

#include <pthread.h>

#include "io/copc/copc_parts.h"
#include "io/potree/potree.h"
#include "lod/lod_whole.h"
#include "mote/parts.h"
#include "parts/parts_source.h"

#define PARTS_LEVEL         7u             /* of the cells that are counted first, at most: 2^21 counts are 16 MB */
#define PARTS_CELL_POINTS   8u             /* of the points for each cell: then counts are few bytes a point */
#define PARTS_STEP          4u             /* levels that a crowded cell is divided by: 4,096 cells, 32 KB of counts */
#define PARTS_BUFFER_BYTES  (8u << 20)     /* written to a part at once, at most: a disk seeks once for it */
#define PARTS_BUFFERS_BYTES (256ull << 20) /* of all parts together */
#define PARTS_FIXED_BYTES   (24ull << 20)  /* tables of cells and nodes, the buffers of outputs and of joining */
#define PARTS_THREAD_BYTES  (4ull << 20)   /* what a thread gathers and writes in */
/* The same for COPC: an encoder of 2 MB, a node's points and what they are sorted by, and chunks that wait. */
#define PARTS_THREAD_COPC_BYTES (10ull << 20)
/* Of a point beside its record while its part is built: 24 for codes, order and sorting, 8 for fine codes, and half as
   much again for what nodes and writing take. tests/cli/lod_parts.test runs with the limit enforced. */
#define PARTS_POINT_BYTES 48u
/* The same where averages look at points around a part: codes, fine codes and colours once more; and of those points
   codes, fine codes, colours, twice, the order, and what sorting takes. */
#define PARTS_AVERAGED_BYTES 72u
#define PARTS_COPY_BYTES     60u
#define PARTS_INDEX_BYTES    43u /* of a point in an index of neighbours, at most: docs/knn.md, Memory */
#define PARTS_SORT_BYTES     24u /* of a point whose part is sorted: code and order, and both once more */
#define PARTS_LEAST_POINTS   100000u

/* What is to be given to --memory as "44M", rounded up. */
static inline unsigned long long parts_as_memory(uint64_t bytes) { return (bytes + (1u << 20) - 1) >> 20; }

/* Page-locked memory that a GPU's copies go through: it is taken where a context may have eight times as much. */
#define PARTS_STAGING_BYTES (65ull << 20)
#define PARTS_STAGING_LEAST (2ull << 20)  /* where it may not */
#define PARTS_DEVICE_BYTES  (24ull << 20) /* of a GPU: tables of nodes, and what records are written by */

/* By level: whether the representative of the cell that a border of a part divides is the part's. */
typedef struct parts_wins {
    bool low[MOTE_ORDER_BITS + 1], high[MOTE_ORDER_BITS + 1];
} parts_wins;

/* Points that are beside each other. */
typedef struct placed_run {
    uint64_t first, count;
} placed_run;

/* Points of a part that its plan has read: where in the file of all such points they are, and where among the
   part's own, in the order of the inputs. */
typedef struct parts_placing {
    uint64_t at, points; /* in the file, in records */
    uint64_t room;       /* there, while it is written */
    uint64_t hash;       /* of their bytes */
    placed_run *runs;    /* ascending */
    uint64_t run_count, run_capacity;
} parts_placing;

/* Copies of points of other parts, which averages of a part look at: behind the records of all parts in the file of
   those. */
typedef struct parts_copies {
    uint64_t at, points; /* in records */
    uint64_t hash;       /* of their bytes, of a plan */
} parts_copies;

/* What sampling by distance has chosen for a part of a plan, behind all else in the file of shared points. */
typedef struct parts_levels {
    uint64_t at, count; /* in bytes: lod_whole.levels */
    uint64_t hash;
} parts_levels;

/* A range of codes that becomes a part, and what it knows of the whole. */
typedef struct parts_range {
    lod_whole whole;
    parts_wins wins[2]; /* where all choose by codes, and by fine codes */
    uint64_t points;
    uint64_t at;          /* of its first record in the scratch file, in records */
    parts_placing shared; /* of a plan */
    parts_copies copies;
    parts_levels chosen; /* of a plan */
    bool is_kept;        /* an update: its nodes are those of the folder that is there */
} parts_range;

/* How many points of a part are to be read of an input; those of an input are beside each other. None: its points there
   are among those that the plan has read. */
typedef struct parts_share {
    uint32_t input, part;
    uint64_t points;
    uint64_t first_span, span_count; /* of parts_run.spans: where in the input they are; none: anywhere */
} parts_share;

/* The points of the cells that a crowded cell is divided into, PARTS_STEP levels finer or single codes. */
typedef struct parts_block {
    uint32_t level; /* of the crowded cell */
    uint64_t cell;
    uint64_t *first; /* [8^step + 1] points in the finer cells before, in Morton order */
} parts_block;

/* By how many levels a crowded cell of a level is divided: down to single codes. */
static inline uint32_t parts_step_of(uint32_t level) {
    return MOTE_ORDER_BITS - level < PARTS_STEP ? MOTE_ORDER_BITS - level : PARTS_STEP;
}

/* What steps took, of which the costs of parts are predicted. Seconds are of processors. */
typedef struct parts_prices {
    double open_seconds, byte_seconds, point_seconds; /* to open all inputs; of a checksum; to read a point of them */
    uint64_t floor_bytes;                             /* resident, beside what the context holds */
    double walk_bytes, piece_bytes; /* of a walk over the inputs, beside a piece; of a point of that, also mapped */
    double seconds;                 /* of a point, to build and write it */
    /* Of a part of n points: a + b · n of what two sizes took. */
    double memory_bytes[2], file_bytes[2];
} parts_prices;

typedef struct parts_run {
    mote_context *ctx;
    parts_source source;
    mote_lod_params lod;
    mote_potree_params potree;
    mote_parts_report *report;
    uint64_t begin_bytes;  /* of the context's memory, when it began */
    uint64_t record_bytes; /* of the scratch file: the source's, which go there as they are, and numbers behind each */
    uint64_t point_bytes;  /* of a point beside its record while its part is made */
    bool has_numbers;      /* records of the scratch file say which point of the inputs they are */
    uint32_t number_bytes; /* of that; 0: they do not */
    uint64_t first_number; /* of the inputs' first point: 0, but where tests ask for numbers beyond 32 bits */
    bool is_copc;          /* a COPC file is made */
    bool is_laz;           /* a LAZ file is, of the points with what was found of them … */
    uint32_t added_bytes;  /* … of each */
    bool has_colors;       /* points have, which filters average */
    parts_box box;         /* of all points */
    bool is_integer;       /* the box is of stored values */
    mote_lattice lattice;
    uint32_t level;      /* of the cells that are counted first */
    uint64_t cell_count; /* 8^level */
    uint64_t *first;     /* [8^level + 1] points in the cells of that level before, in Morton order */
    parts_block *blocks; /* by level and cell */
    uint64_t block_count, block_capacity;
    uint64_t flags[POTREE_MERGED];
    uint64_t points, skipped;
    uint64_t largest_piece;  /* points of the inputs that come at once */
    uint64_t walk_bytes;     /* that the walk which counted them took, beside notes */
    uint32_t workers;        /* parts that are built at once */
    uint32_t passes;         /* over all parts, so far */
    uint64_t share_bytes;    /* of memory, that a worker may take; 0: no bound */
    uint64_t room_bytes;     /* for the points of the parts that are built at once */
    uint64_t all_bytes;      /* of memory, of all workers */
    uint64_t part_points;    /* that it holds */
    uint64_t crowded_points; /* of the largest cell that cannot be cut and has more than even_points */
    uint64_t even_points;    /* of a part, about, where a number of parts is asked for; else part_points */
    uint32_t wanted;         /* parts; 0: as few as memory allows */
    uint64_t build_points;   /* of all parts; an update keeps others */
    uint64_t cut_points;     /* of them in the ranges so far */
    uint32_t cut_count;      /* of ranges so far that are built */
    parts_range *ranges;
    uint64_t range_capacity;
    uint32_t *part_of; /* [8^level + 1] the part that has the first code of the cell */
    uint32_t part_count;
    bool fine;        /* lod_whole.fine */
    uint64_t *tally;  /* [part_count] points of the input that is read */
    uint64_t tallied; /* that input */
    parts_share *shares;
    uint64_t share_count, share_capacity;
    reader_span *spans; /* those of all shares */
    uint64_t span_count, span_capacity;
    struct parts_notes *notes;       /* of a plan: which cells each unit of the inputs has points of */
    struct parts_chosen *chosen;     /* units that a walk gives; NULL: all */
    struct parts_borders *borders;   /* while points are looked at */
    struct parts_around *around;     /* which parts look at points of others; NULL: none, or copies are written */
    struct parts_distance *distance; /* sampling by distance; NULL: parts choose each for itself */
    struct parts_sample *sample;     /* of a plan: points of which a part is made, to see what that takes */
    parts_prices prices;             /* of a plan */
    struct parts_old *old;           /* an update: the folder that is there; NULL: it is none */
    const uint8_t *changed;          /* [8^level] an update: parts_change of the cells */
    const potree_inputs *inputs;     /* an update: what inputs.json is to say */
    mote_potree_output output;
    mote_output scratch;
    uint64_t around_bytes, listed_bytes; /* on the disk, beside records and parts; beside records */
    int scratch_file;                    /* of which the records are read; -1: none */
    const char *scratch_path;
    const char *kept_folder; /* for what an interrupted run is to go on with; NULL: nothing of it is kept */
    uint64_t kept_id;        /* of the plan that it belongs to */
    bool gives_back; /* records of the scratch file go from the disk as their part is read, which happens once */
    potree_part_tree *trees; /* [part_count] */
    int *files;              /* [part_count] of their records; -1: none */
    potree_stats stats;
    mote_copc_params writing; /* of a COPC file */
    struct parts_copc *file;  /* a COPC file that was begun; NULL: none, or a Potree folder is made */
    las_plan seen;            /* of a plan of a COPC file: what its records are decided by */
    copc_part *chunks;        /* [part_count] of a COPC file */
} parts_run;

/* Where workers leave what they have made: in the run, one after the other. */
typedef struct parts_results {
    parts_run *run;
    pthread_mutex_t lock;
} parts_results;

/* ---- an update: parts_old.c */
/* What becomes of the points of a cell. */
typedef enum parts_change {
    PARTS_KEPT,      /* nothing */
    PARTS_JOINED,    /* others join them: its points are those of the folder that is there, and new ones */
    PARTS_COLLECTED, /* some leave, or come in between: they are read from the inputs */
} parts_change;

static inline bool parts_keeps(const parts_run *run, uint64_t cell) {
    return run->changed != NULL && run->changed[cell] == PARTS_KEPT;
}

/* Begins a walk over all points of cells that change, or of all; and its next piece, as parts_source_next. */
void parts_rewind(parts_run *run, double first, double last);
mote_status parts_next(parts_run *run, const mote_cloud **piece, const uint8_t **records);
/* Of an update: codes of the last piece that this walk leaves out become UINT64_MAX. */
void parts_leave_out(const parts_run *run, uint64_t *codes, uint64_t count);

/* ---- parts_count.c: the box, the flags, and the points of each cell */
/* A cell for some points of the cloud: where they crowd there will be finer ones. What does not go below the sampling
   cells of the root has these at once. */
void parts_choose_level(parts_run *run);
mote_status parts_count(parts_run *run);
/* Once room_bytes and part_points are known: the points of finer cells, where one has more than a part may. */
mote_status parts_count_crowded(parts_run *run);
/* The block of a crowded cell; NULL: it is none. */
const parts_block *parts_block_of(const parts_run *run, uint32_t level, uint64_t cell);
/* The lattice of the run's box. */
mote_status parts_lattice(parts_run *run);
/* The lattice of the box that the source states, before points are read. *known false: it states none, or positions are
   no integers. */
mote_status parts_stated_lattice(parts_run *run, bool *known);
/* The Morton code of each point of a piece; UINT64_MAX: it has no place, or is of a cell that an update keeps. */
mote_status parts_codes(const parts_run *run, const mote_cloud *piece, uint64_t *codes);

/* Colours that are no 16-bit integers are refused. */
mote_status parts_check_colors(const parts_run *run);
/* The number of each entry becomes that of all before it. */
void parts_sum_before(uint64_t *first, uint64_t count);

/* ---- parts_cut.c: ranges that memory holds */
mote_status parts_cut(parts_run *run);
/* Finds run->part_of, of ranges that are known. */
mote_status parts_place_ranges(parts_run *run);
/* How many points of a part lie in nodes that its borders divide, about. */
double parts_shared_points(const parts_run *run, uint32_t part);
/* Which part has a code. */
uint32_t parts_find(const parts_run *run, uint64_t code);

/* ---- parts_numbers.c: which point of the inputs each record of the scratch file is */
#define PARTS_NUMBER_BYTES_MAX 8u
/* Bytes that hold the numbers of so many points: 4 or more. */
uint32_t parts_number_bytes(uint64_t points);
/* Puts a number behind the columns of a record, and reads it. */
mote_status parts_number_put(const parts_run *run, uint64_t number, uint8_t *record);
uint64_t parts_number_of(const parts_run *run, const uint8_t *record);

/* ---- parts_sort.c: the scratch file in Morton order */
/* Sorts the records of each part by code; equal ones keep the order of the inputs. */
mote_status parts_sort_all(parts_run *run, double first, double last);

/* ---- parts_search.c: what each point's neighbours say of it */
/* The points of a part and the halo around them, in the order of the inputs. Own points have the neighbours in this
   cloud that they have in the whole. */
typedef struct parts_points {
    const parts_run *run;
    const mote_cloud *cloud;
    const uint64_t *numbers; /* [cloud->count] which points of the inputs they are */
    const uint64_t *own;     /* [own_count] places in the cloud of the part's own points */
    uint64_t own_count;
    uint32_t result_bytes; /* of a point */
    mote_output *to;
} parts_points;
/* Writes the results of own[first … first + count) to their places in the file of results. They are moved. */
mote_status parts_keep(const parts_points *points, uint64_t first, uint64_t count, uint8_t *results);

/* For whom the points of a part are found, with a halo: all that a search from them may reach. */
typedef struct parts_search {
    uint32_t others;       /* that each search looks for; 0: all within the radius */
    double radius;         /* of each search; 0: any */
    uint32_t result_bytes; /* of a point */
    /* Finds the results of all own points, and has them kept. */
    mote_status (*work)(void *user, mote_context *ctx, const parts_points *points);
    void *user;
} parts_search;
/* As parts_gather, of points that a search goes over. A search that cannot go in parts is refused before memory for
   parts is. */
mote_status parts_search_gather(parts_run *run, const parts_search *search, const char *output,
                                const mote_parts_params *params);
/* Of records that are distributed: writes the result of each point to its place in a file, by its number. */
mote_status parts_search_all(parts_run *run, const parts_search *search, mote_output *results);
/* run->point_bytes of a search: as many points again in the halo, both once more in the order of the inputs, and of
   both an index of neighbours, numbers and order. Results come to it. */
static inline uint64_t parts_search_bytes(const parts_run *run) {
    return 3 * run->record_bytes + 2 * (PARTS_INDEX_BYTES + 12);
}

/* ---- parts_knn.c */
typedef struct parts_knn_job {
    const char *const *inputs;
    uint32_t input_count;
    const mote_read_params *reading;
    const mote_knn_params *params;
    bool wide;
    const char *beside;
    const mote_parts_params *parts;
    mote_parts_report *report;
    uint64_t first_number; /* as of a run */
} parts_knn_job;
/* mote_knn_find_parts; rows before the first number are there, and mean nothing. */
mote_status parts_knn_find(mote_context *ctx, const parts_knn_job *job, mote_knn_rows **out);

/* ---- parts_rewrite.c: searches, whose results are written beside the points as these are read once more */
/* Of a piece. */
typedef struct parts_found {
    const uint8_t *results; /* of each point, as parts_search.work made them */
    uint64_t count;
    uint8_t *const *columns; /* of the specs: for the points that remain, one after the other */
    const uint32_t *strides;
    uint32_t *kept; /* leaves_out: for the points that remain */
} parts_found;

typedef struct parts_rewrite {
    const mote_column_spec *specs; /* columns that join the source's */
    uint32_t spec_count;
    bool leaves_out;                                        /* some points are not written */
    const uint64_t *remaining;                              /* how many points are, once all were judged; NULL: all */
    void (*begin)(void *user);                              /* begins a walk over all points; NULL: nothing */
    uint64_t (*take)(void *user, const parts_found *found); /* fills columns, and says how many points remain */
    void *user;
    /* Once all results are in their file; NULL: nothing. */
    mote_status (*judge)(void *user, const parts_run *run, int results);
} parts_rewrite;

mote_status parts_search_write(parts_run *run, const parts_search *search, const parts_rewrite *rewrite,
                               const char *output, const mote_write_params *writing, const mote_parts_params *params);

/* ---- parts_room.c */

/* What making a part of so many points takes, at most, beside others that are made at once. */
uint64_t parts_memory_bytes(const parts_run *run, uint64_t points);
/* What a run takes beside the points of parts. */
uint64_t parts_shared_bytes(const parts_run *run);
/* The memory of all that builds one part after the other, where the largest has so many points. */
uint64_t parts_least_bytes(const parts_run *run, uint64_t points);
/* Of writing the file, where that may be more. */
uint64_t parts_writing_bytes(const parts_run *run);
/* The same of a part whose range is known, with what it looks at of others. */
uint64_t parts_part_bytes(const parts_run *run, uint32_t part);
/* How many parts the caller wants to be built at once, and the memory that all of it may take. */
uint32_t parts_workers(const mote_context *ctx, const mote_parts_params *params);
uint64_t parts_room(const mote_context *ctx, const mote_parts_params *params);

/* ---- parts_scratch.c */
/* Opens a scratch file beside the output, which has no name from then on. Close it with MOTE_CANCELLED. output: of it,
   or of another file there */
mote_status parts_open_scratch(parts_run *run, const char *output, mote_output *to);
/* The path of a file of sampling by distance in the folder of what is kept, from mote_alloc; and opens it. */
char *parts_kept_path(const parts_run *run, const char *name);
mote_status parts_open_kept(const parts_run *run, const char *name, mote_output *to);
/* Reads bytes of a scratch file. path: of messages */
mote_status parts_read_at(mote_context *ctx, int file, const char *path, uint64_t at, uint64_t bytes, void *to);
/* The failure where a walk finds other points than the walks before. */
mote_status parts_changed(const parts_run *run);

/* ---- parts_gather.c */
/* Counts the points, and brings the records of each part beside each other in a scratch file beside an output that is
   one file. Points without a finite position are refused. */
mote_status parts_gather(parts_run *run, const char *output, const mote_parts_params *params);

/* ---- parts_output.c: an output that is one file of points */
typedef struct parts_pieces {
    mote_cloud *piece;
    uint64_t count;                             /* of all points */
    mote_status (*begin)(void *user);           /* begins a walk over them */
    mote_status (*next)(void *user, bool *any); /* piece holds the next points; *any: false once there are none */
    void *user;
} parts_pieces;
mote_status parts_write_pieces(parts_run *run, const parts_pieces *pieces, const char *output,
                               const mote_write_params *writing);
/* Refuses what such an output cannot be. */
mote_status parts_check_file(parts_run *run, const char *output, const mote_write_params *writing,
                             const mote_parts_params *params);

/* ---- parts_copc.c: a COPC file instead of a folder */
/* Whether parameters and output are such a file's. */
mote_status parts_copc_check(const parts_run *run, const char *output);
/* Plans the records of all, once points are counted: by what a plan says that was seen of their values (run->seen), or
   by a look at them. The output is not opened. output: outlives the run */
mote_status parts_copc_begin(parts_run *run, const char *output);
const copc_job *parts_copc_job(const parts_run *run);
/* Makes the file of the parts' chunks, which are open. */
mote_status parts_copc_join(parts_run *run, const char *output);
void parts_copc_end(parts_run *run);

/* ---- parts_copc_part.c */
/* Writes the chunks of a part's points. */
mote_status parts_copc_encode(parts_run *run, const mote_lod *lod, uint32_t part, mote_output *to, copc_part *made);
/* Writes the scratch file of a part; with the worker's run. */
mote_status parts_copc_write(parts_run *run, parts_results *results, const mote_lod *lod, uint32_t part);

/* ---- parts_sample.c: points of which a plan makes parts, to see what that takes */
#define PARTS_WINDOWS 4u
typedef struct parts_sample {
    uint64_t first[PARTS_WINDOWS], end[PARTS_WINDOWS]; /* codes of whole cells */
    uint64_t count[PARTS_WINDOWS];                     /* points of the window so far */
    uint64_t capacity;                                 /* of each */
    uint8_t *records;                                  /* [PARTS_WINDOWS · capacity] */
} parts_sample;
/* Chooses these points, once ranges are known; a walk then brings them. */
mote_status parts_sample_begin(parts_run *run);
/* Looks at the records of a piece. codes: UINT64_MAX: it has no place */
void parts_sample_see(parts_run *run, const uint8_t *records, const uint64_t *codes, uint64_t count);
void parts_sample_free(parts_run *run);

/* ---- parts_predict.c: what each part will take */
/* Makes parts of them. path: a file beside which a scratch file may be */
mote_status parts_sample_make(parts_run *run, const char *path);
uint64_t parts_resident_bytes(void);

/* ---- parts_load.c: a cloud of a part's points */
/* Makes a cloud whose records are for the caller to fill. */
mote_status parts_cloud(parts_run *run, uint64_t points, mote_cloud **out, uint8_t **records);
/* Reads the points of a part from the scratch file. */
mote_status parts_load(parts_run *run, const parts_range *range, mote_cloud **out);
/* Records of it that are beside each other. */
mote_status parts_load_records(parts_run *run, uint64_t at, uint64_t points, mote_cloud **out);

/* ---- parts_material.c: what the octree of a part is made of */
typedef struct parts_material {
    mote_cloud *cloud;
    mote_cloud *around; /* points of others that its averages look at; NULL: none */
    uint8_t *levels;    /* [level_count] lod_whole.levels; NULL: it chooses for itself */
    uint64_t level_count;
    lod_whole whole; /* once it is built */
} parts_material;
/* Reads all of it: records and copies from the scratch file, levels from those that all parts have chosen. */
mote_status parts_material_load(parts_run *run, uint32_t part, parts_material *material);
void parts_material_free(parts_run *run, parts_material *material);
/* Builds the octree of its points, which needs the rest of it no more. *lacks_fine: of lod_build_part */
mote_status parts_material_build(parts_run *run, uint32_t part, parts_material *material, mote_lod **out,
                                 bool *lacks_fine);

/* ---- parts_borders.c: which part has the representative of a cell that several share */
mote_status parts_borders_begin(parts_run *run);
/* Looks at point i of a piece, whose code and part are known. Those that lie near no border cost little. */
void parts_borders_see(parts_run *run, uint32_t part, const mote_cloud *piece, uint64_t i, uint64_t code);
/* Finds the wins of all ranges, once all points were seen. */
mote_status parts_borders_end(parts_run *run);
void parts_borders_free(parts_run *run);
/* Lets all parts choose by codes, or by fine codes. */
void parts_choose_by(parts_run *run, bool fine);

/* ---- parts_around.c: points of other parts that averages over neighbours look at */
/* Whether the averages of a part look at points of others. */
static inline bool parts_looks_around(const parts_run *run) {
    return run->lod.filter > MOTE_LOD_FILTER_CELL && run->has_colors;
}
/* Once cells are counted and cut: finds which parts look at the points of each cell, for walks that write copies. */
mote_status parts_around_begin(parts_run *run);
/* Says where the copies for each part begin: behind the records of all parts, which are so many. */
void parts_around_place(parts_run *run, uint64_t records);
/* Whether parts look at points of others in the cells that have these codes. */
bool parts_around_any(const parts_run *run, uint64_t first_code, uint64_t end_code);
/* The other parts that look at the points of a cell. */
typedef struct parts_lookers {
    const uint32_t *parts;
    uint64_t count;
} parts_lookers;
parts_lookers parts_around_of(const parts_run *run, uint64_t cell);
void parts_around_end(parts_run *run);

/* ---- parts_distance.c: sampling by distance, of all parts together */
#define PARTS_DISTANCE "distance" /* of it in the folder of what is kept: begins the names of its files */
static inline bool parts_is_by_distance(const parts_run *run) { return run->lod.sampling == MOTE_LOD_POISSON; }
/* Once cells are counted: refuses what surely will not fit. */
mote_status parts_distance_check(const parts_run *run);
/* Once the ranges are known: opens scratch files, and takes up what is kept. output: outlives the run */
mote_status parts_distance_begin(parts_run *run, const char *output);
/* Once records are distributed: finds the levels that take points, and whether all choose by fine codes. */
mote_status parts_distance_choose(parts_run *run);
/* lod_whole.levels of a part, the caller's to free; *levels NULL: it chooses for itself. */
mote_status parts_distance_load(const parts_run *run, uint32_t part, uint8_t **levels, uint64_t *count);
void parts_distance_end(parts_run *run);
/* Removes what is kept, once all parts are made. */
void parts_distance_forget(const parts_run *run);

/* ---- parts_spans.c: which chunks or records of an input a part reads */
/* Finds the shares of a plan, and where the points of the shared file go, once all that notes do not say is counted. */
mote_status parts_spans_find(parts_run *run);
/* Spans of all inputs, for a walk that reads what a part needs; NULL: there was no memory. [source.list.count] */
parts_spans *parts_spans_of(const parts_run *run, uint32_t part);

/* ---- parts_distribute.c: one walk more, once the ranges are known */
#define PARTS_NONE UINT16_MAX /* the part of a point that has no place */
/* Finds wins and shares, and brings the records of each part beside each other. */
mote_status parts_distribute(parts_run *run);
/* The walk alone, over the units that are chosen: shows points to borders, sample and counts; to_scratch: and brings
   the records of each part beside each other in its room of the scratch file. */
mote_status parts_walk(parts_run *run, bool to_scratch);

/* ---- parts_workers.c: all parts, several at once */
/* Makes one part, with run->ctx; *lacks_fine: nothing was written, as all parts are to choose by fine codes. */
typedef mote_status (*parts_maker)(parts_run *run, void *user, uint32_t part, bool *lacks_fine);
/* Begins the progress of work on all points: half of what is left until parts are joined, as long as it is not known
   whether there is more. */
mote_progress_span parts_enter_pass(parts_run *run);
/* Makes all parts but those of done, which may be NULL, run->workers at a time, the largest first; stops where one
   lacks fine codes. */
mote_status parts_make_all(parts_run *run, parts_maker make, void *user, const bool *done, bool *lacks_fine);

/* ---- parts_build.c: a part in memory, and its octree */
/* All parts that are not kept. *lacks_fine: of an update, whose other parts are there, nothing holds */
mote_status parts_build(parts_run *run, bool *lacks_fine);
/* Writes the octree of a part's points, the bytes that a file in the folder of the output gets. */
mote_status parts_write_records(parts_run *run, const mote_lod *lod, mote_output *to, potree_stats *stats,
                                potree_part_tree *tree);

/* ---- parts_resume.c: the same, of which each step that is done is kept */
mote_status parts_resume(parts_run *run, const char *output, const mote_parts_params *params);

/* ---- parts_run.c */
void parts_start(mote_context *ctx, mote_parts_report *report, parts_run *run);
/* Once the source is open and united: what a point takes, in the scratch file and while its part is made. */
void parts_set_point_bytes(parts_run *run);
/* Takes what the caller asked for, and opens the inputs. */
mote_status parts_open(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                       const mote_read_params *reading, const mote_lod_params *params, const mote_potree_params *potree,
                       const mote_parts_params *parts, parts_run *run);
void parts_close(parts_run *run);
/* Removes what is not complete, frees all, and returns the first failure. */
mote_status parts_end(parts_run *run, mote_status status);
/* Counts the points and cuts them into ranges. */
mote_status parts_find_ranges(parts_run *run, const mote_parts_params *params);
/* Of ranges that were found before: how many points their room holds, with workers and share_bytes. */
void parts_take_room(parts_run *run, const mote_parts_params *params);
/* Cuts points that are counted already. */
mote_status parts_cut_ranges(parts_run *run, const mote_parts_params *params);
/* Makes lists of trees and files, which have none yet. */
mote_status parts_make_lists(parts_run *run);
/* Makes the folder of the parts' files, which are open. */
mote_status parts_join(parts_run *run, const char *output);
void parts_report(parts_run *run);

#endif

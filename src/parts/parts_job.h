/* A plan as a file, so that each part can be made by a process of its own, on any machine that sees the files:

     PLAN.json     request    inputs with size and checksum, parameters, the output's name
                   facts      box, flags, what a union needs to know: so no part reads what others need alone
                   parts      range of codes, points, wins at its borders; which inputs have points of it
     OUT.parts/    shared     points that the plan has read for several parts; copies of those that averages of other
                              parts look at; what sampling by distance has chosen, of all parts together
                   N.octree   records of part N, level by level, and a table of its nodes behind them
                   N.json     manifest: of which plan, sizes, checksums; written last, so that a part is there or not

   Of a COPC file the octree is its chunks, and shares of nodes that a border divides (io/copc/copc_parts.h).
   Where some part needs fine codes, files of all parts are made anew under other names (N.fine.octree, N.fine.json), so
   that two rounds are never mixed. */
#ifndef PARTS_JOB_H
#define PARTS_JOB_H

#include "parts/parts.h"

#define PARTS_PLAN_VERSION 6 /* of the plan, the manifests and the files: another one is refused */

/* Of an input, that have a checksum each: a part checks what it reads. At 30 bytes of a plan a block, an input of 10 TB
   has 40 MB of them. */
#define PARTS_HASHED_BYTES (8ull << 20)

struct json_t;

typedef struct parts_job {
    mote_context *ctx;
    struct json_t *json; /* the plan; the run's texts are its */
    char *path;          /* of the plan */
    char *output, *folder;
    const char **left_out; /* attributes, ended by NULL; NULL: none */
    uint64_t hash;         /* of the plan's bytes, by which manifests know it */
} parts_job;

/* ---- parts_request.c: what was asked for, and of which inputs */
/* Begins a job of a name. Close it in either case. */
mote_status parts_job_begin(parts_run *run, const char *output, parts_job *job);
/* Looks at all inputs, and makes a plan that says no more than that. */
mote_status parts_job_ask(parts_run *run, parts_job *job);
void parts_job_close(parts_job *job);
/* Names the output, and the folder of its parts. */
mote_status parts_job_name(parts_job *job, const char *output);
/* Refuses a plan that would take the output's place. */
mote_status parts_job_check_plan(const parts_job *job, const char *plan);
/* Whether the folder is to know its files (mote_potree_params.origin). */
bool parts_job_keeps_inputs(const parts_job *job);
/* Opens the inputs that a plan names, with the parameters that it has, but for what was found. */
mote_status parts_job_open_inputs(parts_job *job, parts_run *run);
/* MOTE_ERROR_IO where an input is not what it was, by its size. */
mote_status parts_job_check_inputs(const parts_job *job);
/* The same by the bytes that walks of the source read; of inputs that were written since then, by all bytes.
   has  [source.list.count] which inputs have points that are wanted: read by a walk, or by the plan */
mote_status parts_job_check_bytes(const parts_job *job, parts_source *source, const bool *has);

/* ---- parts_plan_write.c */
/* Adds what the run found, and writes the file; its parts are then made by the job. at_once: it takes its name now */
mote_status parts_job_write(parts_run *run, parts_job *job, const char *path, bool at_once);

/* The memory_limit_bytes that a process needs for a part. */
uint64_t parts_limit_bytes(const parts_run *run, uint32_t part);
/* What the files of a part of a plan take, about. */
uint64_t parts_file_bytes(const parts_run *run, uint32_t part);

/* ---- parts_plan_read.c */
mote_status parts_job_read(parts_run *run, parts_job *job, const char *path);
/* mote_lod_parts_output */
mote_status parts_plan_output(mote_context *ctx, const char *plan, char *path, uint64_t size_bytes);
/* Takes a plan from bytes, as parts_job_read does from a file. */
mote_status parts_job_parse(parts_run *run, parts_job *job, const char *path, const void *data, uint64_t size_bytes,
                            bool is_sealed);

/* ---- parts_files.c: the files of parts */
/* A name in the folder: "FOLDER/NAME", for mote_free. */
char *parts_job_path(const parts_job *job, const char *name);
mote_status parts_job_make_folder(const parts_job *job);
/* Makes the folder one's own for as long as a run that may go on, or a plan, is at work in it: another one is refused.
   A kill gives it back. */
mote_status parts_job_lock(const parts_job *job, int *lock);
/* Gives it back, and removes the folder where nothing is in it. lock: -1: was not taken */
void parts_job_unlock(const parts_job *job, int lock);
/* Whether a plan may have it: nothing is there that a killed run may go on with. */
mote_status parts_job_check_resumes(const parts_job *job);
/* Whether a run that may go on may have the folder: there are no parts in it, or they are of such a run. */
mote_status parts_job_check_folder(const parts_job *job);
/* Removes the files in the folder that are ours, but for the lock. */
void parts_job_clean(const parts_job *job);
/* Removes these files, and the folder, unless it holds anything else, or a run is at work in it.
   resumed  only where they are of a run that may go on, and not of an array */
mote_status parts_job_remove(const parts_job *job, bool resumed);
/* The checksums of its blocks. wanted: [count] of which; NULL: of all */
mote_status parts_hash_blocks(mote_context *ctx, const char *path, uint64_t count, const bool *wanted,
                              uint64_t *hashes);
/* Lets parts choose by fine codes where some part has asked for that, and asks for it. */
mote_status parts_job_choose(parts_run *run, const parts_job *job);
mote_status parts_job_ask_fine(const parts_job *job);
/* ---- parts_manifest.c */
/* What belongs to a part beside its records. */
typedef struct parts_manifest {
    uint64_t records_bytes, nodes_hash;
    uint32_t node_count, finest;
    potree_stats stats;   /* of a folder */
    uint32_t range_count; /* of stats */
    las_tally tally;      /* of a COPC file: of the points in chunks */
    double gps_low, gps_high;
} parts_manifest;

/* A part whose octree was written. */
typedef struct parts_made {
    potree_part_tree tree; /* of a folder */
    copc_part chunks;      /* of a COPC file */
    parts_manifest manifest;
} parts_made;

/* Bytes of its file: its records and the table of its nodes. */
uint64_t parts_made_bytes(const parts_made *made);
/* Writes the table of nodes behind the records, and says so in the manifest. */
mote_status parts_nodes_append(mote_context *ctx, parts_made *made, mote_output *to);
void parts_part_name(const parts_run *run, uint32_t part, const char *ending, char name[64]);
mote_status parts_manifest_write(parts_run *run, const parts_job *job, uint32_t part, const parts_manifest *manifest);
/* Nodes and places of a part, of its open file. *is_right false: it is not the manifest's */
mote_status parts_nodes_read(parts_run *run, uint32_t part, const char *path, const parts_manifest *manifest,
                             bool *is_right);
/* Whether the records of a part, whose nodes were read, have the checksums that the table says. */
mote_status parts_records_check(const parts_run *run, uint32_t part, const char *path, bool *is_right);
/* Reads manifest and nodes, opens the records, and joins what is known of the points to the run's.
   why     out: "", or why the part has to be made (anew), as a literal
   verify  also whether the records are what the manifest says */
mote_status parts_part_read(parts_run *run, const parts_job *job, uint32_t part, bool verify, const char **why);
/* Tells of parts that are there, of this plan and of others. */
mote_status parts_note_made(parts_run *run, const parts_job *job);
/* Whether a part's file and its manifest are there already, and whole. */
mote_status parts_part_is_made(parts_run *run, const parts_job *job, uint32_t part, bool *is_made);

/* ---- parts_part_write.c */
/* Writes a part's records and the table of its nodes. */
mote_status parts_part_encode(parts_run *run, uint32_t part, const mote_lod *lod, mote_output *to, parts_made *made);
void parts_made_free(mote_context *ctx, parts_made *made);
/* Writes the files of a part. */
mote_status parts_part_write(parts_run *run, const parts_job *job, uint32_t part, const mote_lod *lod);

/* ---- parts_shared.c: points that the plan reads for several parts, and what it knows of them */
#define PARTS_SHARED "shared" /* the file's name */
/* Once points are counted and ranges are cut: looks at what more is to be known, and opens and writes the file where
   parts share chunks, or look at points of each other. The caller closes it (run->scratch) when the plan is written. */
mote_status parts_look(parts_run *run, const parts_job *job);
/* Reads those of a part, to their places among its records. */
mote_status parts_shared_load(const parts_run *run, const parts_job *job, uint32_t part, uint8_t *records);
/* Reads what else the file has for a part: copies, and what sampling by distance has chosen. */
mote_status parts_shared_load_rest(parts_run *run, const parts_job *job, uint32_t part, parts_material *material);

/* ---- parts_shared_levels.c */
/* Of a plan whose points are all in the file: samples by distance, and adds what is chosen. */
mote_status parts_shared_choose(parts_run *run, const parts_job *job);

/* ---- parts_array.c: a part, and the whole */
/* Builds a part of its points and writes its files. load: reads them. *lacks_fine: nothing is written, as all
   parts are to choose by fine codes */
typedef mote_status (*parts_loader)(parts_run *run, const parts_job *job, uint32_t part, parts_material *material);
mote_status parts_job_make(parts_run *run, const parts_job *job, uint32_t part, parts_loader load, bool *lacks_fine);
/* Makes the folder of all parts' files. */
mote_status parts_job_merge(parts_run *run, const parts_job *job, bool verify);

/* ---- parts_seen.c: what was seen of all values, by which the records of a COPC file are planned */
bool parts_add_seen(const parts_run *run, struct json_t *to);
/* columns: of the cloud. False: it is not what a plan has there, or there was no memory (which the context knows) */
bool parts_take_seen(mote_context *ctx, const struct json_t *from, uint64_t columns, las_plan *seen);

/* ---- parts_json.c */
/* Adds a value, which becomes the object's or (key unused) the list's. False: there was no memory for it, or it is NULL
   for that reason. */
bool parts_add(struct json_t *object, const char *key, struct json_t *value);
struct json_t *parts_put_bits(uint64_t bits);
struct json_t *parts_put_real(double value);
/* Of a member that may be absent: its value as a text of hexadecimal digits, a count of at most max, a real number.
   Members of a list: key NULL, value itself. */
bool parts_take_bits(const struct json_t *object, const char *key, uint64_t *bits);
bool parts_take_count(const struct json_t *object, const char *key, uint64_t max, uint64_t *count);
bool parts_take_real(const struct json_t *value, double *real);
/* Three integers, and what is known of an input; columns: that it has. */
bool parts_add_axes(struct json_t *object, const char *key, const int64_t values[3]);
bool parts_take_axes(const struct json_t *list, int64_t values[3]);
bool parts_add_place(struct json_t *object, const char *key, const double values[3]);
bool parts_take_place(const struct json_t *list, double values[3]);
bool parts_add_facts(struct json_t *to, const char *key, const merge_facts *facts, uint64_t columns);
bool parts_add_color(struct json_t *list, const mote_color_range *range);
bool parts_take_color(const struct json_t *list, mote_color_range *range);
bool parts_take_facts(const struct json_t *from, uint64_t columns, merge_facts *facts);
/* job->hash: of what the plan says, but for its predictions and who made it: another plan of the same has the same
   parts. */
mote_status parts_plan_hash(parts_job *job);
/* Plans and manifests end with a checksum of their text, "hash": one that was edited, or has lost a bit, is refused.
   text: of an object, over several lines, with room for PARTS_SEAL_BYTES more; what it is sealed with goes. */
#define PARTS_SEAL_BYTES 64u
void parts_json_seal(char *text);
bool parts_json_is_sealed(const void *data, uint64_t size_bytes);
/* Writes it, sealed. */
mote_status parts_json_write(mote_context *ctx, const struct json_t *json, const char *path, bool at_once);

#endif

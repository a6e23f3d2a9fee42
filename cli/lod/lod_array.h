/* mote lod of a job array: --plan-parts, --part and --merge of a plan. */
#ifndef CLI_LOD_ARRAY_H
#define CLI_LOD_ARRAY_H

#include "lod/lod_in_parts.h"

/* What the words of the command line ask for; NULL or 0: not given. */
typedef struct lod_array {
    const char *plan;  /* --plan-parts: the file to write */
    const char *part;  /* --part: "3/7" or "auto" */
    const char *merge; /* --merge-parts: the plan */
    uint64_t parts;    /* --parts */
    bool parts_given;
    bool verify;      /* --verify */
    bool resumes;     /* --resume */
    uint64_t workers; /* --workers, of a run in parts */
} lod_array;

/* "--merge PLAN.json" means --merge-parts, as a number of points it is not. */
void lod_array_spell(int argc, char **argv);
/* Options that do not go together. Returns an exit code. */
int lod_array_check(const lod_array *array);

/* Each returns an exit code. */
int lod_array_plan(session *s, const lod_array *array, const lod_in_parts *task);
int lod_array_part(session *s, const lod_array *array, const char *plan);
int lod_array_merge(session *s, const lod_array *array);

#endif

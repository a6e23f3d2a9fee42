/* What tests of CPU = GPU share: contexts, clouds, comparing octrees, and octrees on the device as each step of a build
   would have left them, so that a step can be tested alone. */
#ifndef MOTE_PARITY_SUPPORT_H
#define MOTE_PARITY_SUPPORT_H

#include "core/core.h"
#include "lod/lod_cuda.h"
#include "reference/awkward_clouds.h"
#include "support/gpu.h"
#include "support/support.h"

#define PARITY_WHY_BYTES 400
#define PARITY_SKIPPED   77 /* what a test program returns that cannot run here */

/* How much is tried: everything on a GPU; less where the CPU emulates one; of each thing one under sanitizers, and
   where MOTE_PARITY_SMALL is set (for compute-sanitizer). */
uint64_t parity_extent(uint64_t few, uint64_t emulated, uint64_t all);
/* Whether the next comparison is to be made: with MOTE_PARITY_SHARE=3/8 each eighth is, from the third on, so that
   eight programs share the work where it is slow (compute-sanitizer). */
bool parity_is_mine(void);
/* Whether this program makes all comparisons: what all of them add up to is checked only then. */
bool parity_is_whole(void);

/* A context of the GPU. NULL, and a line on the terminal that says why, when none answers. memory_limit_bytes 0:
   none */
mote_context *parity_context(uint64_t memory_limit_bytes);
/* Its twin of the CPU. */
mote_context *parity_cpu_context(void);

/* ---- tests that compare both; each has contexts of its own, so that none finds what another left behind */

typedef struct parity_pair {
    mote_context *cpu, *cuda;
} parity_pair;
/* *state is a parity_pair. Closing fails when memory of the device was not given back, or memory of the host stays. */
int parity_open(void **state);
int parity_close(void **state);
#define PARITY_TEST(test) cmocka_unit_test_setup_teardown(test, parity_open, parity_close)
/* Whether a GPU answers, which main asks first; if none does, a line says why. */
bool parity_can_run(void);

/* ---- clouds */

/* All awkward clouds, then generated ones of the sizes that occur in practice, only smaller. */
typedef struct parity_cloud {
    const char *name;
    const awkward_cloud *awkward; /* NULL: made by mote_generate */
    uint64_t count;
} parity_cloud;
uint32_t parity_cloud_count(void);
parity_cloud parity_cloud_row(uint32_t i);
/* Fails the test when it cannot be made. */
mote_cloud *parity_cloud_make(mote_context *ctx, const parity_cloud *row);

/* ---- octrees */

/* Whether two octrees say the same: lattice, points left out, every node, the points of every node and, with colors,
   their colours. If not, why [PARITY_WHY_BYTES] names the first difference. */
bool parity_same_lods(const mote_lod *a, const mote_lod *b, bool colors, char *why);

/* What an octree on the device lacks, for the step that is to make it. */
typedef enum parity_lacks {
    PARITY_COMPLETE = 0,
    PARITY_NO_LEVEL = 1,   /* level is NULL */
    PARITY_LEAF_LEVEL = 2, /* level is that of the leaf: no level of nodes has chosen yet */
    PARITY_NO_ITEMS = 4,   /* items, level_items and item_colors; nodes hold what the tree gave them */
    PARITY_NO_COLORS = 8,  /* item_colors */
} parity_lacks;

/* The octree that the CPU has built, as ctx (of the GPU) would have it: an octree without order and level on the host
   whose device says the same, codes included. cpu and its cloud must outlive it. Fails the test when memory runs
   out. */
mote_lod *parity_device_make(mote_context *ctx, const mote_lod *cpu, unsigned lacks);

/* The arrays of lod_cuda as they ought to be, from an octree of the CPU; on the host, for free(). */
uint64_t *parity_codes(const mote_lod *cpu);
uint8_t *parity_leaf_levels(const mote_lod *cpu);
/* Nodes before sampling: they hold what the tree gave them. */
mote_lod_node *parity_tree_nodes(const mote_lod *cpu);
/* level_items [LOD_MAX_LEVELS + 1] out */
uint32_t *parity_items(const mote_lod *cpu, uint64_t *level_items);
/* The colours of items as lod_cuda.item_colors has them. */
uint16_t *parity_item_colors(const mote_lod *cpu);

/* Takes more memory of the device than ctx has of the host's, staging included: a limit that this reaches bounds the
   device alone. For cuda_free. */
void *parity_ballast(mote_context *ctx);
/* A copy of device memory, for free(). */
void *parity_download(mote_context *ctx, const void *device, uint64_t size_bytes);

#endif

/* The index of neighbours in device memory.

   Floats only rule out, as on the CPU: every kind of position has *views*, floats by which boxes and candidates are
   compared (stored floats themselves, else units from the middle of the cloud), and exact values beside, from which
   keys are made. The order of the points is only a matter of speed here: a Hilbert curve through the views. */
#ifndef MOTE_KNN_CUDA_H
#define MOTE_KNN_CUDA_H

#include "device/cuda/cuda_primitives.h"
#include "device/device_cloud.h"
#include "knn/knn_index.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KNN_CUDA_LEAF    8u   /* points of a leaf */
#define KNN_CUDA_WIDE    32u  /* children of a node: one a lane */
#define KNN_CUDA_NODE    256u /* points of the lowest nodes */
#define KNN_CUDA_LEVELS  7u   /* leaves are level 0 */
#define KNN_CUDA_TOP     64u  /* the most nodes of the last level */
#define KNN_CUDA_CELLS   13u  /* the most bits of an axis of the curve */
#define KNN_CUDA_PARTS   264u /* blocks that look for the bounds */
#define KNN_CUDA_SAMPLES 256u /* points of which one more block finds the middle */
/* What the memory for parts of the extent has behind them, in places of sizeof(knn_cuda_extent). */
#define KNN_CUDA_EXTENT   KNN_CUDA_PARTS        /* of all points; */
#define KNN_CUDA_NEARLY   (KNN_CUDA_PARTS + 1u) /* of nearly all, see knn_grid_within; */
#define KNN_CUDA_OUTLOOK  (KNN_CUDA_PARTS + 2u) /* a knn_cuda_outlook; */
#define KNN_CUDA_COUNTERS (KNN_CUDA_PARTS + 3u) /* counters of nodes */
#define KNN_CUDA_CROWDED  4u                    /* points a cell; with more, their cube is divided anew */
#define KNN_CUDA_FINER    14u                   /* into 2^14 cells a side */
#define KNN_FAR           0x1p60f               /* views are cut to this: nothing gets farther apart by that */

/* Views of points: their box, and how many are finite. */
typedef struct knn_cuda_extent {
    float low[3], high[3];
    uint32_t finite, spare;
} knn_cuda_extent;

/* How points are read from columns in device memory. */
typedef struct knn_cuda_reading {
    mote_column axes[3];
    knn_kind kind;
    bool world;                   /* KNN_DOUBLE: world values instead of stored ones */
    bool plain;                   /* aligned values of the kind's own four bytes */
    int64_t origin[3], middle[3]; /* KNN_INT: step 0, and the step that is view 0; of knn_integer_of */
    double center[3], unit[3];    /* KNN_DOUBLE: view = (value - center) · unit; exact where views are small */
} knn_cuda_reading;

/* Points along the curve, those that are not finite behind the others; arrays filled up to whole lowest nodes. */
typedef struct knn_cuda_points {
    const float *views;            /* [leaf][3][8]; NaN: no point */
    const void *exact;             /* [leaf][3][8] int32 steps or doubles; stored floats: the views */
    const uint32_t *order;         /* [count] which points they are */
    const uint64_t *keys;          /* [count] places on the curve, above index_bits bits of the point's number */
    const knn_cuda_extent *extent; /* [2] of the views; of nearly all of them, see knn_grid_within */
    uint32_t count, cell_bits, index_bits;
    bool deep; /* they are sorted as knn_deep_sort_cuda.cu says */
} knn_cuda_points;

typedef struct knn_cuda_box {
    float low[3];
    uint32_t min; /* the smallest number of a point in it */
    float high[3];
    uint32_t spare;
} knn_cuda_box;

typedef struct knn_exact_box {
    double low[3], high[3];
} knn_exact_box;

typedef struct knn_cuda_tree {
    knn_metric metric;
    knn_cuda_points points;
    const knn_cuda_box *boxes;        /* level by level */
    const knn_exact_box *exact_boxes; /* the same boxes of exact values; KNN_FLOAT: NULL */
    uint32_t level_count;
    uint32_t nodes[KNN_CUDA_LEVELS], first[KNN_CUDA_LEVELS];
} knn_cuda_tree;

/* Device memory that is used again and again. */
typedef struct knn_cuda_buffer {
    void *memory;
    uint64_t size_bytes;
} knn_cuda_buffer;

/* What is made of points of one reading, and the memory for it. Points are sorted where their arrays are to be:

     arrays  [workspace of the sort                            ]
             [views][exact][order][boxes][exact boxes][unused]   made of the sorted keys */
typedef struct knn_cuda_point_set {
    knn_cuda_tree tree;
    knn_cuda_reading reading;
    uint32_t builds; /* of floats */
    bool crowded;    /* many points share a few cells of the curve: they are to be sorted deeply */
    knn_cuda_buffer arrays, parts;
    uint64_t used_bytes; /* of arrays; the rest is for searches */
} knn_cuda_point_set;

typedef struct knn_cuda_curve {
    uint32_t cell_bits, index_bits; /* of an axis; of a point's number */
    uint64_t *keys;                 /* [count] in buffer */
    void *scratch;                  /* what they are sorted with: the memory of arrays that are made later */
    knn_cuda_buffer buffer;
} knn_cuda_curve;

/* What keys are made by. */
typedef struct knn_cuda_curve_key {
    uint32_t cell_bits, index_bits;
    uint32_t part_count;            /* parts of the extent */
    bool deep;                      /* cells divide the box of nearly all points in any case */
    const knn_cuda_extent *divided; /* [2] what the cells divide; NULL: the points' own */
} knn_cuda_curve_key;

/* Memory for what a search defers, see knn_deferred_cuda.cuh: kept from one to the next. */
typedef struct knn_deferred_buffers {
    knn_cuda_buffer counters, numbers;
    knn_cuda_buffer spare; /* the unused part of the index' arrays: numbers stand there if there is room */
    uint32_t turn;         /* which of two sets of counters is zero */
} knn_deferred_buffers;

typedef struct knn_cuda {
    device_cloud cloud; /* x, y, z */
    knn_cuda_curve curve;
    knn_cuda_point_set stored, other; /* other: doubles, for queries of another kind */
    bool other_is_set;
    knn_cuda_buffer normals; /* of the queries of an ellipsoidal search */
    knn_deferred_buffers deferred_buffers;
    knn_cuda_buffer shifted; /* see knn_shifted_memory: kept from search to search */
} knn_cuda;

/* Queries in terms of a tree. */
typedef struct knn_cuda_query_set {
    const knn_cuda_tree *tree;
    knn_cuda_points points;
    uint64_t rows;
    bool own;       /* the points themselves */
    uint32_t *self; /* see knn_search_args; queries that are some of the points */
    knn_cuda_curve curve;
    knn_cuda_point_set point_set;
    device_cloud cloud;
} knn_cuda_query_set;

/* What a search writes: device memory, rows in the order of the queries' cloud. NULL: not wanted. */
typedef struct knn_cuda_rows {
    uint32_t *index32;
    int64_t *index64;
    float *distance2;
    double *distance2_wide;
    uint32_t *count;
} knn_cuda_rows;

typedef struct knn_search_args {
    knn_cuda_tree tree;
    knn_cuda_points queries;
    uint32_t first, end; /* the sorted places of the queries that are asked; of few neighbours always all */
    bool by_place;       /* rows go by sorted place, from first on, instead of by the queries' cloud */
    bool own, exclude_self;
    const uint32_t *self; /* [place of a query] the place in the tree of the point that it is, which exclude_self leaves
                             out; NULL: the same place */
    uint32_t k;
    uint64_t limit;        /* the largest key */
    knn_metric keys;       /* how keys are read: the tree's, or that of ellipsoids */
    const double *normals; /* [place][3] of the queries, of unit length or 0; NULL: spheres */
    double compression, normal_weight;
    knn_cuda_rows rows;
    knn_deferred_buffers *deferred_buffers; /* of the host: the index' own */
} knn_search_args;

bool knn_cuda_buffer_reserve(mote_device *gpu, knn_cuda_buffer *buffer, uint64_t size_bytes, const char *structure);
void knn_cuda_buffer_release(mote_device *gpu, knn_cuda_buffer *buffer);
/* The next part of memory that is divided, where *used_bytes end; only counts where there is none. */
void *knn_cuda_part(void *memory, uint64_t *used_bytes, uint64_t count, uint64_t each_bytes);

/* Steps of the build. First the extent of the views alone, or that and the curve through them.
   divided  [2] what the cells of the curve divide, as in knn_cuda_points; NULL: the points' own */
mote_status knn_cuda_measure(mote_device *gpu, uint64_t count, knn_cuda_point_set *point_set);
mote_status knn_cuda_sort(mote_device *gpu, uint64_t count, const knn_cuda_extent *divided,
                          knn_cuda_point_set *point_set, knn_cuda_curve *curve);
/* Parts of that, in curve->scratch. Makes keys of up to KNN_SAMPLE_MAX points, and sorts them; */
uint64_t knn_cuda_sample_sort_bytes(uint64_t count);
mote_status knn_cuda_sample_sort(mote_device *gpu, const knn_cuda_reading *reading, uint64_t count,
                                 const knn_cuda_curve_key *of, knn_cuda_extent *parts, knn_cuda_curve *curve);
/* puts points in order that stand in few cells; see knn_refine_cuda.cu. */
mote_status knn_cuda_refine(mote_device *gpu, const knn_cuda_reading *reading, uint64_t count,
                            const knn_cuda_curve *curve, uint64_t *keys);
/* Brings what is searched in the order of the curve. boxes false: these are queries, which need none. */
mote_status knn_cuda_gather(mote_device *gpu, const knn_cuda_curve *curve, uint64_t count, bool boxes,
                            knn_cuda_point_set *point_set);
/* What a sample of the points tells, of KNN_CUDA_SAMPLES or fewer that are finite. */
typedef struct knn_cuda_outlook {
    double middle[3]; /* about half of the points are below: stored or world doubles, or steps from origin */
    uint32_t finite;  /* points of the sample */
    uint32_t pairs;   /* two of them in one cell of a curve through nearly all, but not in one place */
} knn_cuda_outlook;
/* Looks at a sample, and notes whether a cell of the curve holds so much of the cloud that the points are to be sorted
   deeply. Waits. Of floats knn_cuda_sort does both, and does not wait before it has sorted them. */
mote_status knn_cuda_look(mote_device *gpu, uint64_t count, knn_cuda_point_set *point_set, knn_cuda_outlook *outlook);
/* Sorts points along a curve that goes as deep as doubles do. extent: as in knn_cuda_points */
mote_status knn_cuda_deep_sort(mote_device *gpu, const knn_cuda_reading *reading, uint64_t count,
                               const knn_cuda_extent *extent, knn_cuda_curve *curve);
/* The least and the largest integers of finite points. */
mote_status knn_cuda_integer_bounds(mote_device *gpu, const mote_column *const axes[3], uint64_t count, int64_t low[3],
                                    int64_t high[3]);

/* x, y and z of a cloud, uploaded if they are on the host. device is zero, or was opened for the cloud before; it is
   valid to close in any case. */
mote_status knn_cuda_open_positions(mote_device *gpu, const mote_cloud *cloud, device_cloud *device);
/* Which reading a cloud needs, and its metric. May wait, but not for floats. */
mote_status knn_cuda_choose(mote_knn_index *index, const device_cloud *cloud, knn_cuda_point_set *point_set);
void knn_cuda_point_set_free(mote_device *gpu, knn_cuda_point_set *point_set);

mote_status knn_cuda_query_set_open(mote_knn_index *index, const mote_cloud *queries, knn_cuda_query_set *query_set);
/* Opens some of the points as queries, count of them from the first on. */
mote_status knn_cuda_query_set_open_part(mote_knn_index *index, uint64_t first, uint64_t count,
                                         knn_cuda_query_set *query_set);
void knn_cuda_query_set_close(mote_device *gpu, knn_cuda_query_set *query_set);

/* Makes what ellipsoids are to be asked for by: their normals, keys and limit. */
mote_status knn_cuda_normal_weight(mote_knn_index *index, const mote_cloud *queries,
                                   const knn_cuda_query_set *query_set, const mote_knn_params *params,
                                   knn_search_args *args);

#define KNN_CUDA_SMALL_K 16u /* neighbours that one lane keeps */
mote_status knn_cuda_search_small_k(mote_device *gpu, const knn_search_args *args);
mote_status knn_cuda_search_large_k(mote_device *gpu, const knn_search_args *args);
mote_status knn_cuda_search_all(mote_device *gpu, const knn_search_args *args); /* nothing is ruled out */

/* The approximate search by shifted orders; its rows have the layout of all others. */
mote_status knn_cuda_search_shifted(mote_knn_index *index, const knn_cuda_query_set *query_set,
                                    const mote_knn_params *params, const knn_search_args *args);

/* Fills index->skipped, which floats are counted for on the device; waits. */
mote_status knn_cuda_count_skipped(mote_knn_index *index);

/* Counts all neighbours within the limit, into ask->rows.count. */
mote_status knn_cuda_count_within(mote_device *gpu, const knn_search_args *args);

/* Lists of all neighbours of some queries, as one: device memory. Those of row r have the places [first[r],
   first[r + 1]) of pairs.values, which are their places in row, index and key. */
typedef struct knn_cuda_lists {
    uint32_t *counts; /* [rows + 1] */
    uint64_t *first;  /* [rows + 1] */
    uint32_t *row, *index;
    uint64_t *key;
    cuda_pairs64 pairs; /* what they are sorted by; 32-bit keys stand in the same memory */
    uint64_t total;
} knn_cuda_lists;
#define KNN_CUDA_LISTED 40u /* bytes of an entry */
/* lists is zero before; free it in any case. Waits for the number of entries. */
mote_status knn_cuda_list_within(mote_device *gpu, const knn_search_args *args, knn_cuda_lists *lists);
void knn_cuda_free_lists(mote_device *gpu, knn_cuda_lists *lists);

mote_status knn_cuda_within(mote_knn_index *index, const mote_cloud *queries, double radius, bool exclude_self,
                            uint32_t *counts, mote_knn_lists *lists);

#ifdef __cplusplus
}
#endif
#endif

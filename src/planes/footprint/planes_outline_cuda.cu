/* Candidates for hulls on the GPU: per plane the farthest of some points in 32 directions make a polygon; what is
   strictly inside it is no corner of the hull. Of most blocks that is known by their box. */
#include "device/cuda/warp.cuh"
#include "planes/planes_cuda.h"

#define THREADS   PLANES_CUDA_BLOCK
#define WARPS     (THREADS / CUDA_WARP)
#define SIDES     32u   /* directions of a turn; a lane has one */
#define FAN_SCALE 64.0  /* of their coordinates, such that a reach has 32 bits */
#define STEP      8u    /* points between two times that polygons are made */
#define PIECE     512u  /* points of a warp */
#define BOX_SLACK 8.0f  /* steps: more than floats lose in a place, and rounding */
#define HEAD      5400u /* corners that come to the host with their number, in one small copy */

typedef struct fan {
    int8_t u[SIDES], v[SIDES];
} fan;

typedef struct outlined {
    const planes_cuda_point *points;
    const planes_cuda_box *boxes;
    const int32_t *label;
    const planes_axes *axes;
    uint64_t count;
} outlined;

static fan make_fan(void) {
    fan made;
    for (uint32_t k = 0; k < SIDES; k++) {
        const double angle = 2 * 3.14159265358979323846 * k / SIDES;
        made.u[k] = (int8_t)rint(FAN_SCALE * cos(angle));
        made.v[k] = (int8_t)rint(FAN_SCALE * sin(angle));
    }
    return made;
}

static __device__ inline planes_corner corner_at(const outlined *o, uint64_t i, int32_t label) {
    const uint4 raw = *(const uint4 *)(const void *)&o->points[i];
    planes_cuda_point at;
    memcpy(&at, &raw, sizeof at);
    return planes_corner_of(&o->axes[label], (uint32_t)label, at.x, at.y, at.z);
}

/* ---- the polygons */

/* The farther point has the larger key; 0 is below all. */
static __device__ inline unsigned long long reach_key(int32_t reach, uint32_t point) {
    return (unsigned long long)((uint32_t)reach ^ 0x80000000u) << 32 | point;
}

/* Most are not farther than what is known; what is read may be old, and then less. */
static __device__ inline void raise(unsigned long long *to, unsigned long long key) {
    if (key > *to) atomicMax(to, key);
}

/* A lane has a direction and looks at all points of the warp, which are near each other: few labels take turns. */
static __global__ void find_extremes(outlined o, fan fans, unsigned long long *farthest) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    const uint64_t first = ((uint64_t)blockIdx.x * WARPS + threadIdx.x / CUDA_WARP) * PIECE;
    const int32_t fan_u = fans.u[lane], fan_v = fans.v[lane];
    unsigned long long best = 0;
    int32_t now = -1;
    for (uint64_t at = first; at < first + PIECE && at < o.count; at += CUDA_WARP * STEP) {
        const uint64_t i = at + lane * STEP;
        const int32_t label = i < o.count ? o.label[i] : -1;
        planes_corner corner = {0, 0, 0};
        if (label >= 0) corner = corner_at(&o, i, label);
        for (uint32_t rest = __ballot_sync(CUDA_ALL, label >= 0), same; rest != 0; rest &= ~same) {
            const int32_t next = warp_value_of(rest, label, &same);
            if (next != now) {
                if (now >= 0) raise(&farthest[(uint64_t)now * SIDES + lane], best);
                now = next;
                best = 0;
            }
            for (uint32_t turn = same; turn != 0; turn &= turn - 1) {
                const uint32_t from = warp_first(turn);
                const int32_t u = warp_broadcast(corner.u, from), v = warp_broadcast(corner.v, from);
                const unsigned long long key = reach_key(fan_u * u + fan_v * v, (uint32_t)at + from * STEP);
                best = key > best ? key : best;
            }
        }
    }
    if (now >= 0) raise(&farthest[(uint64_t)now * SIDES + lane], best);
}

/* A corner of the polygon for each direction, in turn counter-clockwise. */
static __global__ void make_polygons(outlined o, uint32_t planes, const unsigned long long *farthest, int2 *polygons) {
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= planes * SIDES) return;
    int2 at = {0, 0};
    if (farthest[i] != 0) {
        const planes_corner corner = corner_at(&o, (uint32_t)farthest[i], (int32_t)(i / SIDES));
        at = make_int2(corner.u, corner.v);
    }
    polygons[i] = at;
}

/* ---- what is outside */

/* What a polygon's sides say of a block's points: by box, and bit by bit. */
typedef struct sides {
    uint32_t any;  /* those that are more than a place: without them everything is outside */
    uint32_t near; /* that points may be right of */
} sides;

/* A lane has a side; all lanes of a warp come. */
static __device__ sides sides_near(const int2 *polygon, const planes_axes *axes, const planes_cuda_box *box) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    const int2 a = polygon[lane], b = polygon[(lane + 1) % SIDES];
    const double su = (double)b.x - a.x, sv = (double)b.y - a.y;
    double place[2][2]; /* from, to along u and v */
    for (int k = 0; k < 2; k++) {
        const float *along = k == 0 ? axes->u : axes->v;
        const float middle = planes_along(along, box->middle[0], box->middle[1], box->middle[2]);
        const float half = fabsf(along[0]) * box->half[0] + fabsf(along[1]) * box->half[1] +
                           fabsf(along[2]) * box->half[2] + BOX_SLACK;
        place[k][0] = (double)middle - (double)half;
        place[k][1] = (double)middle + (double)half;
    }
    /* Left of the side is su · (v - a.y) > sv · (u - a.x). */
    const double min = su * ((su > 0 ? place[1][0] : place[1][1]) - a.y);
    const double max = sv * ((sv > 0 ? place[0][1] : place[0][0]) - a.x);
    const bool any = su != 0 || sv != 0;
    sides found;
    found.any = __ballot_sync(CUDA_ALL, any);
    found.near = __ballot_sync(CUDA_ALL, any && !(min > max + 1)); /* what rounding may take is less than 1 */
    return found;
}

/* Left of all sides: then the polygon goes round it, whatever its shape. */
static __device__ inline bool is_inside(const int2 *polygon, const sides *of, int32_t u, int32_t v) {
    for (uint32_t rest = of->near; rest != 0; rest &= rest - 1) {
        const uint32_t k = warp_first(rest);
        const int2 a = polygon[k], b = polygon[(k + 1) % SIDES];
        const int64_t up = (int64_t)(b.x - a.x) * (v - a.y), right = (int64_t)(b.y - a.y) * (u - a.x);
        if (up <= right) return false;
    }
    return of->any != 0;
}

/* How many there are, then as many of them as there is room for, in any order. */
typedef struct corner_list {
    unsigned long long *found;
    planes_corner *corners;
    uint64_t capacity;
} corner_list;

/* Appends the corners of lanes. All lanes come. */
static __device__ void append(const corner_list *list, const planes_corner *corner, bool keep) {
    const uint32_t kept = __ballot_sync(CUDA_ALL, keep);
    if (kept == 0) return;
    const unsigned long long place = warp_reserve(list->found, kept);
    if (keep && place < list->capacity) list->corners[place] = *corner;
}

/* Blocks as boxes have them. */
static __global__ void list_corners(outlined o, const int2 *polygons, corner_list list) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    const int32_t label = i < o.count ? o.label[i] : -1;
    planes_corner corner = {0, 0, 0};
    bool keep = false;
    for (uint32_t rest = __ballot_sync(CUDA_ALL, label >= 0), same; rest != 0; rest &= ~same) {
        const int32_t now = warp_value_of(rest, label, &same);
        const int2 *polygon = polygons + (uint64_t)now * SIDES;
        const sides of = sides_near(polygon, &o.axes[now], &o.boxes[blockIdx.x]);
        if (label != now || (of.near == 0 && of.any != 0)) continue;
        corner = corner_at(&o, i, label);
        keep = !is_inside(polygon, &of, corner.u, corner.v);
    }
    append(&list, &corner, keep);
}

/* ---- the host's side */

typedef struct outline_work {
    mote_device *gpu;
    outlined o;
    planes_axes *axes;
    unsigned long long *farthest; /* [planes · SIDES] */
    int2 *polygons;               /* [planes · SIDES] */
    uint8_t *memory;              /* of the list */
    corner_list list;
} outline_work;

static mote_status find_polygons(outline_work *w, uint32_t planes) {
    mote_device *gpu = w->gpu;
    const uint64_t corners = (uint64_t)planes * SIDES;
    w->farthest = (unsigned long long *)cuda_alloc(gpu, corners * sizeof *w->farthest, "planes outlines");
    w->polygons = (int2 *)cuda_alloc(gpu, corners * sizeof *w->polygons, "planes outlines");
    if (w->farthest == NULL || w->polygons == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_fill(gpu, w->farthest, 0, corners * sizeof *w->farthest));
    CUDA_LAUNCH(gpu, find_extremes, cuda_blocks(w->o.count, WARPS * PIECE), THREADS, w->o, make_fan(), w->farthest);
    CUDA_LAUNCH(gpu, make_polygons, cuda_blocks(corners, THREADS), THREADS, w->o, planes, w->farthest, w->polygons);
    return cuda_launched(gpu, "polygons");
}

static mote_status list_into(outline_work *w, uint64_t capacity, uint8_t *head, uint64_t head_bytes) {
    mote_device *gpu = w->gpu;
    const uint64_t bytes = sizeof *w->list.found + capacity * sizeof(planes_corner);
    const uint64_t brought = head_bytes < bytes ? head_bytes : bytes;
    cuda_free(gpu, w->memory);
    w->memory = (uint8_t *)cuda_alloc(gpu, bytes, "planes outlines");
    if (w->memory == NULL) return MOTE_ERROR_MEMORY;
    w->list.found = (unsigned long long *)(void *)w->memory;
    w->list.corners = (planes_corner *)(void *)(w->list.found + 1);
    w->list.capacity = capacity;
    MOTE_TRY(cuda_fill(gpu, w->memory, 0, brought));
    CUDA_LAUNCH(gpu, list_corners, cuda_blocks(w->o.count, THREADS), THREADS, w->o, w->polygons, w->list);
    MOTE_TRY(cuda_launched(gpu, "outlines"));
    return cuda_download(gpu, head, w->memory, brought);
}

/* corners: from mote_alloc, also if it fails. */
static mote_status list_outside(outline_work *w, planes_cuda *p, planes_corner **corners, uint64_t *count) {
    const uint64_t head_bytes = sizeof *w->list.found + HEAD * sizeof **corners;
    const uint64_t capacity = w->o.count / 16 + HEAD;
    unsigned long long found = 0;
    uint8_t *head = planes_cuda_scratch(p, head_bytes);
    if (head == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(list_into(w, capacity, head, head_bytes));
    memcpy(&found, head, sizeof found);
    if (found > capacity) MOTE_TRY(list_into(w, found, head, head_bytes)); /* rare: with the room that they need */
    *corners = (planes_corner *)mote_alloc(w->gpu->ctx, found * sizeof **corners, "planes outlines");
    if (*corners == NULL) return MOTE_ERROR_MEMORY;
    *count = found;
    if (found > HEAD) return cuda_download(w->gpu, *corners, w->list.corners, found * sizeof **corners);
    memcpy(*corners, head + sizeof found, found * sizeof **corners);
    return MOTE_OK;
}

mote_status planes_outline_cuda(planes_points *points, const planes_axes *axes, uint32_t planes,
                                planes_corner **corners, uint64_t *count) {
    planes_cuda *p = planes_on_cuda(points);
    mote_device *gpu = points->device;
    outline_work w;
    memset(&w, 0, sizeof w);
    w.gpu = gpu;
    *corners = NULL;
    *count = 0;
    w.axes = (planes_axes *)cuda_alloc(gpu, planes * sizeof *axes, "planes outlines");
    mote_status status = w.axes != NULL ? cuda_upload(gpu, w.axes, axes, planes * sizeof *axes) : MOTE_ERROR_MEMORY;
    const outlined o = {p->points, p->boxes, p->label, w.axes, points->count};
    w.o = o;
    if (status == MOTE_OK) status = find_polygons(&w, planes);
    if (status == MOTE_OK) status = list_outside(&w, p, corners, count);
    if (status != MOTE_OK) {
        mote_free(gpu->ctx, *corners);
        *corners = NULL;
    }
    cuda_free(gpu, w.axes);
    cuda_free(gpu, w.farthest);
    cuda_free(gpu, w.polygons);
    cuda_free(gpu, w.memory);
    return status;
}

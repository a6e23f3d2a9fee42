/* Whether a plane's points lie flat along it, by what is around each of them. A slab through trees, or across the
   ground, has many points and can be thin for its size, but its points' neighbours lie in any direction:

        a roof                          a slice of a tree, a streak across the ground
                                             .  :  .
       -.-.-(.-.-.)-.-.-                 ---.-:(.:.-):--.---     ( ): some of the nearest points of all
                                            :  .   :

   Some points of the plane are asked. Each has the normals of its 16, 64 and 200 nearest points, for few are noise and
   many reach past an edge; the plane's must be near one of them. Where the noise is as large as all of these reach,
   every second, fourth ... point is looked at: they reach farther.

   Neighbours that reach past the plane's own edges tell of what is beyond: of a narrow tread, of the riser. Of a strip
   as wide as the plane, so much is farther from both edges than they reach:

       |<------- width ------->|
       |<reach>|       |<reach>|      1 - 2 reach / width

   Where that is less than the share that must lie along, they are not heard. Of points whose 16 nearest are not heard,
   as many must lie along as would by chance, if their neighbours lay in even directions: in a slice next to none do.
   But what is hardly wider than thick may be a beam: the neighbours of its points face evenly about its line, and as
   many must lie along as where they are heard. */
#include <math.h>
#include <string.h>

#include "math/pi.h"
#include "math/simd.h"
#include "planes/local/planes_growth.h"

#define LANES         PLANES_LOCAL_LANES
#define ASKED         64u   /* points of a plane */
#define SCALES        3u    /* numbers of neighbours */
#define MOST          200u  /* neighbours */
#define WINDOW        256u  /* points around one in the order: of these, as many are near as bound the others */
#define CANDIDATES    2048u /* that are held before the nearest are picked */
#define REACH         5.0   /* noises, that the most neighbours reach at least */
#define MIN_SUPPORTED 0.5   /* share of the points; see docs/speed/planes.md */
#define BEAM          7.0   /* noises: twice as wide as a beam is, whose points are as far off its line to all sides */

static const uint32_t scales[SCALES] = {16, 64, MOST};

typedef struct neighbour {
    float distance2;
    uint32_t point; /* of the level */
} neighbour;

typedef struct neighbours {
    const planes_local_level *level;
    float at[3];
    float within2; /* those that are farther are none */
    uint32_t count;
    neighbour list[CANDIDATES];
} neighbours;

static bool is_nearer(const neighbour *a, const neighbour *b) {
    return a->distance2 < b->distance2 || (!(b->distance2 < a->distance2) && a->point < b->point);
}

static void swap(neighbour *list, uint32_t a, uint32_t b) {
    const neighbour kept = list[a];
    list[a] = list[b];
    list[b] = kept;
}

/* Brings the nearest to the front, in any order. 0 < nearest < count */
static void pick_nearest(neighbour *list, uint32_t count, uint32_t nearest) {
    uint32_t first = 0, last = count;
    while (last - first > 1) {
        uint32_t end = first;
        swap(list, first + (last - first) / 2, last - 1);
        for (uint32_t i = first; i + 1 < last; i++) {
            if (is_nearer(&list[i], &list[last - 1])) swap(list, i, end++);
        }
        swap(list, end, last - 1);
        if (end >= nearest) last = end;
        if (end < nearest) first = end + 1;
        if (end == nearest || first >= nearest) return;
    }
}

static float larger(float a, float b) { return a > b ? a : b; }

/* Keeps the nearest; none that is found from now on is farther than these. */
static void keep_nearest(neighbours *n) {
    float farthest2 = 0;
    if (n->count <= MOST) return;
    pick_nearest(n->list, n->count, MOST);
    for (uint32_t i = 0; i < MOST; i++) farthest2 = larger(farthest2, n->list[i].distance2);
    n->within2 = farthest2;
    n->count = MOST;
}

static void add_points(neighbours *n, uint32_t first, uint32_t end) {
    const planes_local_level *level = n->level;
    for (uint32_t i = first; i < end; i++) {
        const float x = level->x[i] - n->at[0], y = level->y[i] - n->at[1], z = level->z[i] - n->at[2];
        const float distance2 = (x * x + y * y) + z * z;
        if (distance2 > n->within2) continue;
        n->list[n->count++] = (neighbour){distance2, i};
        if (n->count == CANDIDATES) keep_nearest(n);
    }
}

/* Bits of those of LANES boxes that a point which is near enough could be in. */
SIMD_INLINE uint32_t near_boxes(const planes_local_boxes *boxes, uint32_t first, const neighbours *n) {
    simd_f away2[3];
    for (int k = 0; k < 3; k++) {
        const simd_f at = simd_f_set(n->at[k]), below = simd_f_sub(simd_f_load(boxes->low[k] + first), at);
        const simd_f above = simd_f_sub(at, simd_f_load(boxes->high[k] + first));
        const simd_f away = simd_f_max(simd_f_max(below, above), simd_f_set(0));
        away2[k] = simd_f_mul(away, away);
    }
    const uint32_t rest = boxes->count - first, valid = rest < LANES ? (1u << rest) - 1 : 255;
    return simd_f_at_most(simd_f_add(simd_f_add(away2[0], away2[1]), away2[2]), simd_f_set(n->within2)) & valid;
}

static uint32_t min_count(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The nearest points around a point, itself among them. */
static void find_neighbours(const planes_local_level *level, uint32_t point, neighbours *n) {
    const uint32_t begin = point > WINDOW / 2 ? point - WINDOW / 2 : 0;
    n->level = level;
    n->at[0] = level->x[point], n->at[1] = level->y[point], n->at[2] = level->z[point];
    n->within2 = INFINITY;
    n->count = 0;
    add_points(n, begin, min_count(begin + WINDOW, level->count));
    keep_nearest(n);
    n->count = 0;
    for (uint32_t g = 0; g < level->groups.count; g += LANES) {
        for (uint32_t groups = near_boxes(&level->groups, g, n); groups != 0; groups &= groups - 1) {
            const uint32_t b = (g + (uint32_t)__builtin_ctz(groups)) * LANES;
            for (uint32_t blocks = near_boxes(&level->blocks, b, n); blocks != 0; blocks &= blocks - 1) {
                const uint32_t begin_block = (b + (uint32_t)__builtin_ctz(blocks)) * PLANES_LOCAL_BLOCK;
                add_points(n, begin_block, min_count(begin_block + PLANES_LOCAL_BLOCK, level->count));
            }
        }
    }
    keep_nearest(n);
}

double planes_thickness(const planes_moments *m, const planes_local_fit *fit) {
    const double least = fit->rms * fit->rms, rest = fit->size * fit->size - least;
    double c[PLANES_PRODUCTS];
    planes_moments_covariance(m, c);
    const double xx = c[0], xy = c[1], xz = c[2], yy = c[3], yz = c[4], zz = c[5];
    const double minors = ((xx * yy - xy * xy) + (xx * zz - xz * xz)) + (yy * zz - yz * yz);
    const double others = minors - least * rest; /* the product of the other two, whose sum is the rest */
    const double middle = 0.5 * (rest - sqrt(fmax(rest * rest - 4 * others, 0)));
    return middle > least ? least / middle : 1;
}

/* How wide the component is, where it is narrow, if its points fill a rectangle. list: the near points that it has. */
static double width_of(const planes_local *s, const uint32_t *list, uint32_t count) {
    double u = 0, v = 0, uu = 0, uv = 0, vv = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double at_u = (double)s->near_u[list[i]], at_v = (double)s->near_v[list[i]];
        u += at_u, v += at_v;
        uu += at_u * at_u, uv += at_u * at_v, vv += at_v * at_v;
    }
    const double n = fmax(count, 1), a = uu / n - u / n * (u / n), b = uv / n - u / n * (v / n);
    const double c = vv / n - v / n * (v / n), half = 0.5 * (a - c), least = 0.5 * (a + c) - sqrt(half * half + b * b);
    return sqrt(12 * fmax(least, 0)); /* a rectangle's variance is a twelfth of the square of its side */
}

/* Whether a point's neighbours lie along the plane: where they are flattest, of the scales that reach no farther than
   reach; of all scales where none is so near. heard: whether one is. */
static bool is_along(const planes_local_level *level, uint32_t point, const double normal[3], double cosine,
                     double reach, bool *heard) {
    neighbours n;
    planes_moments m;
    planes_local_fit fit;
    double flattest = 1;
    bool along = false;
    float farthest2 = 0;
    uint32_t picked[SCALES], at = 0;
    find_neighbours(level, point, &n);
    picked[SCALES - 1] = n.count;
    for (uint32_t k = SCALES - 1; k-- > 0;) {
        picked[k] = min_count(scales[k], picked[k + 1]);
        if (picked[k] < picked[k + 1]) pick_nearest(n.list, picked[k + 1], picked[k]);
    }
    memset(&m, 0, sizeof m);
    for (uint32_t k = 0; k < SCALES; k++) {
        for (; at < picked[k]; at++) {
            const uint32_t i = n.list[at].point;
            farthest2 = larger(farthest2, n.list[at].distance2);
            planes_moments_add(&m, (double)(level->x[i] - n.at[0]), (double)(level->y[i] - n.at[1]),
                               (double)(level->z[i] - n.at[2]));
        }
        const bool inside = (double)farthest2 <= reach * reach;
        if (k == 0) *heard = inside;
        if (*heard && !inside) break;
        if (!planes_moments_fit(&m, &fit)) continue;
        const double thickness = planes_thickness(&m, &fit);
        if (thickness >= flattest) continue;
        flattest = thickness;
        along = fabs(planes_dot(fit.normal, normal)) >= cosine;
    }
    return along;
}

/* The first level on which the most neighbours reach far enough. */
static uint32_t level_for(const planes_growth *g) {
    uint32_t level = g->level;
    const double disc = MOST * g->area / fmax(g->count, 1) / MOTE_PI / (double)(1u << g->level);
    while (level + 1 < PLANES_LOCAL_LEVELS && disc * (double)(1u << level) < pow(REACH * g->noise, 2)) level++;
    return level;
}

bool planes_is_supported(planes_local *s, planes_growth *g, double cosine) {
    const uint32_t level = level_for(g), mask = (1u << level) - 1;
    uint32_t *list = s->component, count = 0, supported = 0, heard = 0;
    if (g->turned) return true; /* its points lie across the steps that it is one of */
    const uint32_t listed = planes_list_component(s, g);
    const double width = width_of(s, list, listed), reach = 0.5 * (1 - MIN_SUPPORTED) * width;
    for (uint32_t i = 0; i < listed; i++) {
        const uint32_t point = s->near_point[list[i]];
        list[count] = point;
        count += (point & mask) == 0;
    }
    const uint32_t asked = min_count(count, ASKED);
    for (uint32_t i = 0; i < asked; i++) {
        const uint32_t point = list[(uint64_t)(2 * i + 1) * count / (2 * asked)];
        bool is_heard;
        supported += is_along(&s->levels[level], point >> level, g->normal, cosine, reach, &is_heard);
        heard += is_heard;
    }
    const bool is_narrow = width < BEAM * g->noise;
    const double min = MIN_SUPPORTED * heard + (is_narrow ? MIN_SUPPORTED : 1 - cosine) * (asked - heard);
    if (supported >= min) return true;
    return growth_refuse(g, MOTE_PLANES_UNSUPPORTED, (double)supported / asked, min / asked);
}

/* Scenes as one scanner sees them: rays in regular directions, each to the nearest surface. */
#include "reference/planes_scenes_builder.h"

static double dot(const double a[3], const double c[3]) { return a[0] * c[0] + a[1] * c[1] + a[2] * c[2]; }

static void cross(const double a[3], const double c[3], double n[3]) {
    for (int k = 0; k < 3; k++) n[k] = a[(k + 1) % 3] * c[(k + 2) % 3] - a[(k + 2) % 3] * c[(k + 1) % 3];
}

/* How far along the ray it meets a flat surface; infinite: it does not. */
static double flat_distance(const surface *s, const double from[3], const double ray[3]) {
    double n[3], beside[3], to[3];
    cross(s->u, s->v, n);
    for (int k = 0; k < 3; k++) to[k] = s->corner[k] - from[k];
    const double t = dot(n, to) / dot(n, ray);
    if (!(t > 0.05)) return INFINITY;
    for (int k = 0; k < 3; k++) to[k] = from[k] + t * ray[k] - s->corner[k];
    cross(s->v, n, beside);
    const double x = dot(to, beside) / dot(s->u, beside);
    cross(s->u, n, beside);
    const double y = dot(to, beside) / dot(s->v, beside);
    if (y < 0 || y > 1 || fabs(x - 0.5) > 0.5 * (1 - y * (1 - s->taper))) return INFINITY;
    for (int h = 0; h < s->holes; h++) {
        if (x > s->hole[h][0] && x < s->hole[h][1] && y > s->hole[h][2] && y < s->hole[h][3]) return INFINITY;
    }
    return t;
}

/* A sphere, a blob as one, or the side of a cylinder that stands. */
static double round_distance(const surface *s, const double from[3], const double ray[3]) {
    double to[3], along[3];
    for (int k = 0; k < 3; k++) to[k] = from[k] - s->corner[k], along[k] = ray[k];
    if (s->shape == CYLINDER) to[2] = 0, along[2] = 0;
    const double a = dot(along, along), half = dot(to, along), c = dot(to, to) - s->radius * s->radius;
    const double t = (-half - sqrt(half * half - a * c)) / a, height = from[2] + t * ray[2] - s->corner[2];
    if (!(t > 0.05)) return INFINITY;
    return s->shape == CYLINDER && (height < 0 || height > s->u[2]) ? INFINITY : t;
}

/* A direction: of a turning scanner, one of so many heights between -30 and 20 degrees; else of a grid, but for the
   cone below the scanner; a turn more is a direction anywhere. */
static void aim(builder *b, uint64_t i, int turn, double ray[3]) {
    const uint64_t rows = (uint64_t)fmax(1, sqrt((double)b->points / 2.5)), columns = (b->points + rows - 1) / rows;
    double up = (-65 + 150 * (turn == 0 ? ((double)(i / columns) + 0.5) / (double)rows : draw(b))) * PI / 180;
    double around = 2 * PI * (turn == 0 ? (double)(i % columns) / (double)columns : draw(b));
    if (b->rings > 0) {
        const uint32_t ring = (uint32_t)(draw(b) * b->rings);
        up = (-30 + 50.0 * ring / (b->rings - 1)) * PI / 180, around = 2 * PI * draw(b);
    }
    ray[0] = cos(up) * cos(around), ray[1] = cos(up) * sin(around), ray[2] = sin(up);
}

uint32_t planes_scene_ray_point(builder *b, uint64_t i, double noise, double at[3]) {
    for (int turn = 0;; turn++) {
        double ray[3], nearest = INFINITY;
        uint32_t hit = 0;
        aim(b, i, turn, ray);
        for (uint32_t s = 0; s < b->count; s++) {
            const surface *of = &b->surfaces[s];
            const double t =
                of->shape == FLAT ? flat_distance(of, b->scanner, ray) : round_distance(of, b->scanner, ray);
            if (t < nearest) nearest = t, hit = s;
        }
        if (nearest == INFINITY) continue;
        const double size = noise * sqrt(-2 * log(1 - draw(b)));
        const double far = nearest + size * cos(2 * PI * draw(b));
        for (int k = 0; k < 3; k++) at[k] = b->scanner[k] + far * ray[k];
        return hit;
    }
}

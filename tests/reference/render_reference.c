#include "reference/render_reference_lens.h"

/* ---- points */

void render_reference_points(const mote_cloud *cloud, const mote_camera *camera, uint32_t width, uint32_t height,
                             render_reference_pixel *out) {
    const lens l = lens_of(camera, width, height);
    for (uint32_t i = 0; i < width * height; i++) {
        nearest_of_pixel(cloud, &l, i % width, i / width, -INFINITY, &out[i]);
    }
}

void render_reference_average(const mote_cloud *cloud, const mote_camera *camera, uint32_t width, uint32_t height,
                              const double *tolerance, render_reference_pixel *out) {
    const lens l = lens_of(camera, width, height);
    render_reference_points(cloud, camera, width, height, out);
    for (uint32_t p = 0; p < width * height; p++) {
        double sum[3] = {0, 0, 0}, count = 0;
        for (uint32_t i = 0; i < mote_cloud_count(cloud) && out[p].shown; i++) {
            double at[3], color[3];
            place_of(cloud, i, at);
            const seen s = see(&l, at);
            if (!s.inside || (uint32_t)s.u != p % width || (uint32_t)s.v != p / width) continue;
            if (s.at[2] > out[p].depth + tolerance[p]) continue;
            color_of(cloud, i, color);
            for (int c = 0; c < 3; c++) sum[c] += color[c];
            count++;
        }
        for (int c = 0; c < 3 && count > 0; c++) out[p].color[c] = sum[c] / count;
    }
}

/* ---- neighbours */

static double distance2_of(const mote_cloud *cloud, uint32_t a, uint32_t b) {
    double p[3], q[3], sum = 0;
    place_of(cloud, a, p);
    place_of(cloud, b, q);
    for (int k = 0; k < 3; k++) sum += (p[k] - q[k]) * (p[k] - q[k]);
    return sum;
}

uint32_t render_reference_neighbors(const mote_cloud *cloud, const uint32_t *points, uint32_t count, uint32_t i,
                                    uint32_t k, uint32_t *neighbors, double *distance2) {
    uint32_t found = 0;
    for (uint32_t j = 0; j < count; j++) {
        const double d = distance2_of(cloud, points[i], points[j]);
        uint32_t at = found < k ? found++ : k;
        for (; at > 0 && distance2[at - 1] > d; at--) {
            if (at == k) continue;
            distance2[at] = distance2[at - 1];
            neighbors[at] = neighbors[at - 1];
        }
        if (at == k) continue;
        distance2[at] = d;
        neighbors[at] = points[j];
    }
    return found;
}

/* ---- light */

static double edl_of(const lens *l, const mote_render_params *p, const render_reference_pixel *pixels, uint32_t at) {
    double sum = 0;
    for (int n = 0; n < 8; n++) {
        const int x = (int)(at % p->width) + (int)rint(cos(n * PI / 4) * p->edl_radius);
        const int y = (int)(at / p->width) + (int)rint(sin(n * PI / 4) * p->edl_radius);
        if (x < 0 || y < 0 || x >= (int)p->width || y >= (int)p->height) continue;
        const render_reference_pixel *other = &pixels[(uint32_t)y * p->width + (uint32_t)x];
        if (!other->shown) continue;
        const double nearer = l->perspective ? log2(pixels[at].depth) - log2(other->depth)
                                             : (pixels[at].depth - other->depth) * l->focal / p->height;
        sum += fmax(nearer, 0);
    }
    return 0.3 + 0.7 * exp2(-sum / 8 * 128 * p->edl_strength);
}

static void light_of(const lens *l, const mote_render_params *p, const double normal[3], const double base[3],
                     double out[3]) {
    double n[3], light[3] = {p->ambient, p->ambient, p->ambient}, shine[3] = {0, 0, 0};
    turn(l, normal, n);
    for (uint32_t i = 0; i < p->light_count; i++) {
        double toward[3] = {p->lights[i].toward[0], -p->lights[i].toward[1], -p->lights[i].toward[2]};
        if (p->lights[i].world) turn(l, p->lights[i].toward, toward);
        unit(toward);
        double half[3] = {toward[0], toward[1], toward[2] - 1};
        unit(half);
        const double cosine = fmax(dot(n, toward), 0), glint = cosine > 0 ? fmax(dot(n, half), 0) : 0;
        for (int c = 0; c < 3; c++) {
            const double color = p->lights[i].strength * p->lights[i].color[c] / 255;
            light[c] += cosine * color;
            shine[c] += pow(glint, 32) * p->specular * color;
        }
    }
    for (int c = 0; c < 3; c++) out[c] = base[c] * light[c] + shine[c];
}

void render_reference_shade(const mote_camera *camera, const mote_render_params *params,
                            const render_reference_pixel *pixels, double *rgb) {
    const lens l = lens_of(camera, params->width, params->height);
    for (uint32_t i = 0; i < params->width * params->height; i++) {
        double color[3] = {1, 1, 1};
        for (int c = 0; c < 3 && pixels[i].shown; c++) color[c] = pixels[i].color[c] / 255;
        if (pixels[i].shown && dot(pixels[i].normal, pixels[i].normal) > 0 && params->light_count > 0) {
            light_of(&l, params, pixels[i].normal, color, color);
        }
        const double edl = pixels[i].shown && params->edl_strength > 0 ? edl_of(&l, params, pixels, i) : 1;
        for (int c = 0; c < 3; c++) rgb[3 * i + c] = fmin(color[c] * edl, 1);
    }
}

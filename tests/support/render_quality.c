#include "support/render_quality.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES    (180 / 3.14159265358979323846)
#define LINE_BYTES 256
#define WINDOW     8u /* pixels of a side, of SSIM */
#define WINDOW_GAP 4u
#define RIM        2 /* pixels from the background: there a hole is an edge that is cut too far */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static double unit(double v[3]) {
    const double length = sqrt(dot(v, v));
    for (int k = 0; k < 3 && length > 0; k++) v[k] /= length;
    return length;
}

/* ---- reading */

typedef struct ply_header {
    bool ascii;
    int vertex_floats;
} ply_header;

/* The number behind a word that a line begins with; 0: it begins with another. */
static uint64_t number_after(const char *line, const char *word) {
    return strncmp(line, word, strlen(word)) == 0 ? strtoull(line + strlen(word), NULL, 10) : 0;
}

static ply_header read_header(FILE *from, test_mesh *mesh) {
    char line[LINE_BYTES];
    ply_header header = {false, 0};
    while (fgets(line, sizeof line, from) != NULL && strncmp(line, "end_header", 10) != 0) {
        const uint64_t vertices = number_after(line, "element vertex "), faces = number_after(line, "element face ");
        if (strncmp(line, "format ascii", 12) == 0) header.ascii = true;
        if (vertices > 0) mesh->vertex_count = vertices;
        if (faces > 0) mesh->face_count = faces;
        header.vertex_floats += mesh->face_count == 0 && strncmp(line, "property float", 14) == 0;
    }
    return header;
}

static void read_ascii(FILE *from, test_mesh *mesh) {
    char line[LINE_BYTES], *at;
    for (uint64_t i = 0; i < mesh->vertex_count; i++) {
        at = fgets(line, sizeof line, from);
        assert_non_null(at);
        for (uint64_t k = 0; k < 3; k++) mesh->vertex[3 * i + k] = strtod(at, &at);
    }
    for (uint64_t i = 0; i < mesh->face_count; i++) {
        at = fgets(line, sizeof line, from);
        assert_non_null(at);
        assert_int_equal(strtoul(at, &at, 10), 3);
        for (uint64_t k = 0; k < 3; k++) mesh->face[3 * i + k] = (uint32_t)strtoul(at, &at, 10);
    }
}

static void read_binary(FILE *from, const ply_header *header, test_mesh *mesh) {
    float values[16];
    uint8_t corners;
    assert_in_range(header->vertex_floats, 3, 16);
    for (uint64_t i = 0; i < mesh->vertex_count; i++) {
        assert_int_equal(fread(values, 4, (size_t)header->vertex_floats, from), header->vertex_floats);
        for (int k = 0; k < 3; k++) mesh->vertex[3 * i + (uint64_t)k] = values[k];
    }
    for (uint64_t i = 0; i < mesh->face_count; i++) {
        assert_int_equal(fread(&corners, 1, 1, from), 1);
        assert_int_equal(corners, 3);
        assert_int_equal(fread(mesh->face + 3 * i, 4, 3, from), 3);
    }
}

/* Twice the area, as a vector across the face. */
static void face_normal(const test_mesh *mesh, uint64_t face, double normal[3]) {
    const uint32_t *corner = mesh->face + 3 * face;
    const double *a = mesh->vertex + 3 * (uint64_t)corner[0];
    double ab[3], ac[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = mesh->vertex[3 * (uint64_t)corner[1] + (uint64_t)k] - a[k];
        ac[k] = mesh->vertex[3 * (uint64_t)corner[2] + (uint64_t)k] - a[k];
    }
    cross(ab, ac, normal);
}

static void find_normals(test_mesh *mesh) {
    double area = 0, low[3] = {1e300, 1e300, 1e300}, high[3] = {-1e300, -1e300, -1e300}, normal[3];
    for (uint64_t i = 0; i < mesh->face_count; i++) {
        face_normal(mesh, i, normal);
        for (int c = 0; c < 3; c++) {
            assert_true(mesh->face[3 * i + (uint64_t)c] < mesh->vertex_count);
            for (int k = 0; k < 3; k++) {
                mesh->normal[3 * (uint64_t)mesh->face[3 * i + (uint64_t)c] + (uint64_t)k] += normal[k];
            }
        }
        mesh->area_to[i] = area += sqrt(dot(normal, normal));
    }
    for (uint64_t i = 0; i < mesh->vertex_count; i++) {
        unit(mesh->normal + 3 * i);
        for (uint64_t k = 0; k < 3; k++) {
            low[k] = fmin(low[k], mesh->vertex[3 * i + k]);
            high[k] = fmax(high[k], mesh->vertex[3 * i + k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        mesh->middle[k] = (low[k] + high[k]) / 2;
        mesh->radius = fmax(mesh->radius, (high[k] - low[k]) / 2);
    }
}

test_mesh test_mesh_read(const char *path) {
    test_mesh mesh;
    FILE *from = fopen(path, "rb");
    memset(&mesh, 0, sizeof mesh);
    assert_non_null(from);
    const ply_header header = read_header(from, &mesh);
    assert_true(mesh.vertex_count > 0 && mesh.face_count > 0);
    mesh.vertex = calloc(3 * mesh.vertex_count + 1, sizeof *mesh.vertex);
    mesh.normal = calloc(3 * mesh.vertex_count + 1, sizeof *mesh.normal);
    mesh.face = calloc(3 * mesh.face_count + 1, sizeof *mesh.face);
    mesh.area_to = calloc(mesh.face_count + 1, sizeof *mesh.area_to);
    if (header.ascii) read_ascii(from, &mesh);
    if (!header.ascii) read_binary(from, &header, &mesh);
    fclose(from);
    find_normals(&mesh);
    return mesh;
}

void test_mesh_free(test_mesh *mesh) {
    free(mesh->vertex);
    free(mesh->normal);
    free(mesh->face);
    free(mesh->area_to);
}

/* ---- places */

/* What three corners have, by weights. */
static void blend(const double *of_vertices, const uint32_t *corner, const double weight[3], double out[3]) {
    for (uint64_t k = 0; k < 3; k++) {
        out[k] = 0;
        for (int c = 0; c < 3; c++) out[k] += weight[c] * of_vertices[3 * (uint64_t)corner[c] + k];
    }
}

void test_mesh_place(const test_mesh *mesh, uint64_t i, double at[3], double normal[3]) {
    const double want = test_random(21, i) * mesh->area_to[mesh->face_count - 1];
    const double root = sqrt(test_random(22, i)), along = test_random(23, i);
    const double weight[3] = {1 - root, root * (1 - along), root * along};
    uint64_t low = 0, high = mesh->face_count - 1;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (mesh->area_to[middle] > want) high = middle;
        if (mesh->area_to[middle] <= want) low = middle + 1;
    }
    blend(mesh->vertex, mesh->face + 3 * low, weight, at);
    blend(mesh->normal, mesh->face + 3 * low, weight, normal);
    unit(normal);
}

/* ---- rays */

/* Through the middle of a pixel, of depth 1 along the camera's axis. */
static void ray_of(const mote_camera *camera, const test_rays *rays, uint32_t x, uint32_t y, double ray[3]) {
    mote_camera_unproject(camera, rays->width, rays->height, x + 0.5, y + 0.5, 1, ray);
    for (int k = 0; k < 3; k++) ray[k] -= camera->eye[k];
}

/* Weights of the corners where a ray meets a triangle (Möller, Trumbore 1997); false: it does not. */
static bool meet(const double eye[3], const double ray[3], const double *const corner[3], double weight[3],
                 double *depth) {
    double ab[3], ac[3], from[3], p[3], q[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = corner[1][k] - corner[0][k];
        ac[k] = corner[2][k] - corner[0][k];
        from[k] = eye[k] - corner[0][k];
    }
    cross(ray, ac, p);
    cross(from, ab, q);
    const double by = dot(ab, p);
    if (by == 0) return false;
    weight[1] = dot(from, p) / by;
    weight[2] = dot(ray, q) / by;
    weight[0] = 1 - weight[1] - weight[2];
    *depth = dot(ac, q) / by;
    return weight[0] >= 0 && weight[1] >= 0 && weight[2] >= 0 && *depth > 0;
}

static void cast_at_face(const test_mesh *mesh, uint64_t face, const mote_camera *camera, test_rays *rays) {
    const uint32_t *corner = mesh->face + 3 * face;
    const double *places[3];
    double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300}, ray[3], weight[3], normal[3], depth;
    for (int c = 0; c < 3; c++) {
        double at[2];
        places[c] = mesh->vertex + 3 * (uint64_t)corner[c];
        mote_camera_project(camera, rays->width, rays->height, places[c], &at[0], &at[1], &depth);
        for (int k = 0; k < 2; k++) low[k] = fmin(low[k], at[k]), high[k] = fmax(high[k], at[k]);
    }
    if (!(high[0] > 0 && high[1] > 0 && low[0] < rays->width && low[1] < rays->height)) return;
    for (uint32_t y = (uint32_t)fmax(low[1] - 1, 0); y < rays->height && y < high[1] + 1; y++) {
        for (uint32_t x = (uint32_t)fmax(low[0] - 1, 0); x < rays->width && x < high[0] + 1; x++) {
            const size_t i = (size_t)y * rays->width + x;
            ray_of(camera, rays, x, y, ray);
            if (!meet(camera->eye, ray, places, weight, &depth) || !(depth < rays->depth[i])) continue;
            blend(mesh->normal, corner, weight, normal);
            unit(normal);
            rays->depth[i] = (float)depth;
            for (size_t k = 0; k < 3; k++) rays->normal[3 * i + k] = (float)normal[k];
        }
    }
}

test_rays test_rays_cast(const test_mesh *mesh, const mote_camera *camera, uint32_t width, uint32_t height) {
    const size_t pixels = (size_t)width * height;
    test_rays rays = {width, height, calloc(3 * pixels, sizeof(float)), malloc(pixels * sizeof(float))};
    for (size_t i = 0; i < pixels; i++) rays.depth[i] = INFINITY;
    for (uint64_t f = 0; f < mesh->face_count; f++) cast_at_face(mesh, f, camera, &rays);
    return rays;
}

void test_rays_free(test_rays *rays) {
    free(rays->normal);
    free(rays->depth);
}

/* ---- comparing */

/* Grey 0 to 255, under a light at the camera; white where nothing is. */
static double grey_of(const double ray[3], const float *normal, bool shown) {
    if (!shown) return 255;
    const double n[3] = {normal[0], normal[1], normal[2]};
    const double size = sqrt(dot(ray, ray) * dot(n, n));
    return size > 0 ? 230 * fabs(dot(ray, n)) / size : 0;
}

static double ssim_of_window(const double *a, const double *b, uint32_t width) {
    const double c1 = 0.01 * 255 * 0.01 * 255, c2 = 0.03 * 255 * 0.03 * 255, all = WINDOW * WINDOW;
    double sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
    for (uint32_t i = 0; i < WINDOW * WINDOW; i++) {
        const double x = a[i / WINDOW * width + i % WINDOW], y = b[i / WINDOW * width + i % WINDOW];
        sum_a += x, sum_b += y, aa += x * x, bb += y * y, ab += x * y;
    }
    const double ma = sum_a / all, mb = sum_b / all, va = aa / all - ma * ma, vb = bb / all - mb * mb;
    return (2 * ma * mb + c1) * (2 * (ab / all - ma * mb) + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
}

static void compare_greys(const double *a, const double *b, const test_rays *rays, test_quality *q) {
    const size_t pixels = (size_t)rays->width * rays->height;
    double squares = 0, sum = 0;
    uint64_t windows = 0;
    for (size_t i = 0; i < pixels; i++) squares += (a[i] - b[i]) * (a[i] - b[i]);
    for (uint32_t y = 0; y + WINDOW <= rays->height; y += WINDOW_GAP) {
        for (uint32_t x = 0; x + WINDOW <= rays->width; x += WINDOW_GAP, windows++) {
            const size_t at = (size_t)y * rays->width + x;
            sum += ssim_of_window(a + at, b + at, rays->width);
        }
    }
    q->psnr = 10 * log10(255.0 * 255.0 * (double)pixels / squares);
    q->ssim = sum / (double)windows;
}

static bool is_at_rim(const test_rays *rays, size_t i) {
    const int64_t x = (int64_t)(i % rays->width), y = (int64_t)(i / rays->width);
    for (int64_t v = y - RIM; v <= y + RIM; v++) {
        for (int64_t u = x - RIM; u <= x + RIM; u++) {
            if (u < 0 || v < 0 || u >= (int64_t)rays->width || v >= (int64_t)rays->height) continue;
            if (!(rays->depth[v * (int64_t)rays->width + u] < INFINITY)) return true;
        }
    }
    return false;
}

test_quality test_quality_of(const mote_camera *camera, const float *depth, const float *normal,
                             const test_rays *rays) {
    const size_t pixels = (size_t)rays->width * rays->height;
    double *grey = malloc(2 * pixels * sizeof *grey), ray[3];
    uint64_t inside = 0, holes = 0, within = 0, spilled = 0;
    test_quality q = {0, 0, 0, 0, 0, 0};
    for (size_t i = 0; i < pixels; i++) {
        const bool hit = rays->depth[i] < INFINITY, shown = depth[i] < INFINITY;
        const float *a = normal + 3 * i, *b = rays->normal + 3 * i;
        ray_of(camera, rays, (uint32_t)(i % rays->width), (uint32_t)(i / rays->width), ray);
        grey[i] = grey_of(ray, a, shown);
        grey[pixels + i] = grey_of(ray, b, hit);
        inside += hit;
        holes += hit && !shown;
        within += hit && !shown && !is_at_rim(rays, i);
        spilled += shown && !hit;
        if (hit && shown) q.error_deg += acos(fmin(fabs((double)a[0] * b[0] + a[1] * b[1] + a[2] * b[2]), 1)) * DEGREES;
    }
    q.error_deg /= (double)(inside > holes ? inside - holes : 1);
    q.holes = (double)holes / (double)inside;
    q.holes_within = (double)within / (double)inside;
    q.spilled = (double)spilled / (double)inside;
    compare_greys(grey, grey + pixels, rays, &q);
    free(grey);
    return q;
}

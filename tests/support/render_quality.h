/* How good a picture of a surface is: against one that rays are cast for, with the same camera. */
#ifndef MOTE_TEST_RENDER_QUALITY_H
#define MOTE_TEST_RENDER_QUALITY_H

#include "support/support.h"

/* A triangle mesh, with normals of its corners. */
typedef struct test_mesh {
    uint64_t vertex_count, face_count;
    double *vertex;           /* [3 · vertex_count] */
    double *normal;           /* [3 · vertex_count] of unit length: the mean of its faces', by area */
    uint32_t *face;           /* [3 · face_count] */
    double *area_to;          /* [face_count] the areas of all faces up to this one */
    double middle[3], radius; /* of its box */
} test_mesh;

/* Reads the triangles of a PLY file of float vertices, ascii or little endian; fails the test where it is none. */
test_mesh test_mesh_read(const char *path);
void test_mesh_free(test_mesh *mesh);
/* The i-th of random points of the surface, equally dense, and its normal. */
void test_mesh_place(const test_mesh *mesh, uint64_t i, double at[3], double normal[3]);

/* What rays through the middles of pixels hit: normals of unit length, zeros where they hit nothing. */
typedef struct test_rays {
    uint32_t width, height;
    float *normal; /* [3 · pixels] */
    float *depth;  /* [pixels] infinity: nothing */
} test_rays;
test_rays test_rays_cast(const test_mesh *mesh, const mote_camera *camera, uint32_t width, uint32_t height);
void test_rays_free(test_rays *rays);

typedef struct test_quality {
    double holes, spilled; /* shares of the silhouette */
    double holes_within;   /* of the holes, those that have no background within two pixels, as a share of it, too */
    double error_deg;      /* mean of normals */
    double psnr, ssim;     /* of grey pictures under a light at the camera, made from normals; SSIM in 8 x 8 windows */
} test_quality;
test_quality test_quality_of(const mote_camera *camera, const float *depth, const float *normal, const test_rays *rays);

#endif

/* What of a cloud makes a surface, from the neighbours that each point has in the cloud. */
#ifndef CLI_PICTURE_SURFACE_H
#define CLI_PICTURE_SURFACE_H

#include "render/picture_plan.h"

/* What is known of the points that stay. It is empty before a search, and after picture_surface_free. */
typedef struct picture_surface {
    bool known;
    mote_cloud *kept; /* without those that stand alone; NULL: there are none, or they are kept */
    uint32_t *rows;   /* [points of kept] their rows in the cloud */
    float *normal[3]; /* [points that stay] zeros: it is no surface there. Of what is rough or noisy */
    float *spacing;   /* [points that stay] of the same: how far it is to their neighbours */
    uint64_t strays;  /* points that stand alone */
    double scattered; /* share of the others that lie on no surface: leaves, wires, dust */
    double noise;     /* of a surface, in spacings of its points */
    bool is_noisy;    /* so that normals are of more neighbours than usual */
    double thinness;  /* 4 of a surface, 16 of lines: picture_patch.h */
    bool has_normals; /* and sizes, for the picture to use */
    bool is_rough;    /* leaves, wires or edges are among its points */
    uint32_t k;       /* neighbours of a normal */
} picture_surface;

/* How many points are looked at before a picture: more would take longer than the picture. */
#define PICTURE_SURFACE_MAX UINT64_C(4000000)

/* Searches the neighbours of all points. Returns an exit code. */
int picture_surface_find(session *s, const picture_plan *plan, const mote_cloud *cloud, bool is_landscape,
                         picture_surface *surface);
/* Says, once, how many points stand alone. */
void picture_surface_tell(session *s, const picture_surface *surface, uint64_t points);
void picture_surface_free(picture_surface *surface);

#endif

/* A cloud, or one piece of it after the other, from one reference system to another. */
#ifndef MOTE_CRS_CHANGE_H
#define MOTE_CRS_CHANGE_H

#include "core/cloud.h"
#include "io/crs/crs_proj.h"

typedef struct crs_change {
    mote_context *ctx;
    crs_transformer *transformer;  /* NULL: the two systems are the same, and nothing is to be done */
    mote_column_spec positions[3]; /* what they become */
    double step;                   /* of floats that came from decimal text; 0: not known */
    double from_scale[3], from_offset[3];
} crs_change;

/* path: for messages, or NULL. box: of the points, for steps and area; empty: not known. Close it in any case. */
mote_status mote_crs_change_open(mote_context *ctx, const char *path, const mote_cloud *cloud, const mote_box *box,
                                 const char *to, bool ballpark, crs_change *change);
void mote_crs_change_close(crs_change *change);

/* Opens, does, and closes: mote_cloud_transform of what was read from a path. */
mote_status mote_crs_transform(mote_context *ctx, const char *path, mote_cloud **cloud, const char *crs, bool ballpark);

/* Changes a whole cloud. */
mote_status mote_crs_change_cloud(crs_change *change, mote_cloud **cloud);

/* A piece, whose columns look at records that it may write to: they stay where they are. MOTE_ERROR_UNSUPPORTED where
   that cannot be, and the cloud is needed as a whole. Before the next piece is read, mote_crs_change_rewind gives the
   columns back what the file's positions count in. */
mote_status mote_crs_change_piece(crs_change *change, mote_cloud *piece);
/* Gives the columns of a piece without points what they count in afterwards. */
mote_status mote_crs_change_shape(const crs_change *change, mote_cloud *piece);
void mote_crs_change_rewind(const crs_change *change, mote_cloud *piece);

/* Assigns params->crs, if there is one. */
mote_status mote_crs_assign(mote_context *ctx, mote_cloud *cloud, const mote_read_params *params);

#endif

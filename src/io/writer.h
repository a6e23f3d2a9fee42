/* The inside of a writer in pieces. */
#ifndef MOTE_WRITER_H
#define MOTE_WRITER_H

#include "io/las/write/las_write.h"

/* As mote_writer_open, where all points can be had in advance if their values decide what the output is. */
mote_status mote_writer_open_pieces(mote_context *ctx, const mote_cloud *piece, uint64_t count,
                                    const las_pieces *pieces, const char *path, const mote_write_params *params,
                                    mote_writer **out);

#endif

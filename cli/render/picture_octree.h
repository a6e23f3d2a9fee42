/* Reading of an octree, a Potree folder or a COPC file, what a picture shows and no more.
 *
 *          _____.----+--------+
 *      .--'  :       :        |     The view is cut into slices, each twice as deep as the one before. Of each, nodes
 *  eye <     :       :        |     that meet it are read, down to the level whose points are a pixel apart at its near
 *      '--.__:       :        |     end; of their points those that lie in it are taken. So each place is read once,
 *            '-----.-+--------+     as fine as it is seen.
 */
#ifndef CLI_PICTURE_OCTREE_H
#define CLI_PICTURE_OCTREE_H

#include "render/picture_degrees.h"
#include "render/picture_path.h"
#include "render/picture_plan.h"

typedef struct picture_octree {
    bool is_octree;
    bool is_copc;
    uint64_t points; /* of all levels */
    double spacing;  /* COPC: of level 0 */
} picture_octree;

/* What the inputs are: one octree, or anything else, which is read whole. */
picture_octree picture_octree_find(session *s, const io_paths *paths);
/* Reads the coarsest level, to place cameras by. Returns an exit code. */
int picture_octree_read_root(session *s, const picture_octree *octree, const io_paths *paths, const char *select,
                             mote_cloud **out);
/* Reads what pictures from all cameras of the path show. box: that of the root, as it is drawn, stretched as the path's
   places are; what is read is stretched, too. Returns an exit code. */
int picture_octree_read_seen(session *s, const picture_plan *plan, const char *select, const picture_path *path,
                             const mote_box *box, const picture_stretch *stretch, mote_cloud **out);

#endif

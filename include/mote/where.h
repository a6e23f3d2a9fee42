/// mote: choosing points by the values of their attributes, and changing values, by expressions like
///
///     classification == 2 && return_number == number_of_returns && z < 120.5
///
/// Names are those of attributes, as mote_cloud_match finds them; x, y and z are world coordinates, and so are all
/// values: with scale and offset. `height above ground`, "…" or '…' is a name with blanks. From what binds least: or
/// ||, and &&, not, then == != < <= > >= in (2, 3, 5:7) between A and B (borders included), + -, * / %, and - !.
/// Functions: abs floor ceil round sqrt min(a, b) max(a, b) known. Upper and lower case of words and of most names are
/// the same. So are PDAL's expressions and names of dimensions.
///
/// All is computed in doubles. A value that is NaN, or that the file states as no data, is not known: what is computed
/// of it is not either, all comparisons with it are false, except !=, which is true; known(name) asks. A number where a
/// condition stands is true if it is known and not 0.
///
/// A mistake is MOTE_ERROR_ARGUMENT; the message shows the expression in a line of its own, and a caret under the place
/// in a third. See docs/where.md. To read only points that are chosen: mote_read_params.where.
#ifndef MOTE_WHERE_H
#define MOTE_WHERE_H

#include "cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Finds the points that meet a condition.
/// cloud    n points, in host memory
/// chosen   [n] out: whether each does
/// count    out: how many do
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (a mistake, or an attribute that the cloud lacks), MOTE_ERROR_MEMORY
/// Cost     one pass over the attributes that are named, in parallel, in blocks; the rest of "and" and "or" is left out
///          where a block is decided. Same result for any number of threads.
MOTE_API mote_status mote_cloud_where(mote_context *ctx, const mote_cloud *cloud, const char *condition, bool *chosen,
                                      uint64_t *count);

/// Changes values: "classification = 6", or several, separated by ";", one after the other, each of which sees what
/// those before did. "user_data = 1 where z > 120" is for the points that meet that condition. Whole numbers are
/// rounded to the nearest (halves to the even one); what is not known becomes the attribute's no-data value.
/// cloud      is replaced by a copy with the new values; on failure it stays as it is
/// condition  only points that met it before the first assignment; NULL: all
/// changed    out, may be NULL: points that an assignment reached
/// Returns    MOTE_OK, MOTE_ERROR_ARGUMENT (a mistake, an attribute that the cloud lacks, a value that an attribute
///            cannot hold), MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Cost       a copy of the points, then one pass for each assignment
MOTE_API mote_status mote_cloud_assign(mote_context *ctx, mote_cloud **cloud, const char *assignments,
                                       const char *condition, uint64_t *changed);

#ifdef __cplusplus
}
#endif
#endif

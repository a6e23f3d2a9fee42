/* Where the fields of a LAS file stand, in bytes from the start of their block. Point records: las_format.c.
   Source: ASPRS, LAS specification 1.4 R15, tables 3 (public header block), 5 (variable-length record) and 6
   (extended record); 1.5 R1 for the time offset.

   file     header block | VLR VLR ... | points | EVLR EVLR ...
   record   reserved 2 | user 16 | id 2 | length 2 or 8 | description 32 | payload */
#ifndef MOTE_LAS_OFFSETS_H
#define MOTE_LAS_OFFSETS_H

/* ---- public header block */
#define LAS_AT_FILE_SOURCE_ID  4u
#define LAS_AT_GLOBAL_ENCODING 6u
#define LAS_AT_GUID            8u
#define LAS_AT_VERSION_MAJOR   24u
#define LAS_AT_VERSION_MINOR   25u
#define LAS_AT_SYSTEM_ID       26u
#define LAS_AT_SOFTWARE        58u
#define LAS_AT_CREATION_DAY    90u
#define LAS_AT_CREATION_YEAR   92u
#define LAS_AT_HEADER_BYTES    94u
#define LAS_AT_POINTS_AT       96u
#define LAS_AT_RECORD_COUNT    100u
#define LAS_AT_POINT_FORMAT    104u
#define LAS_AT_POINT_BYTES     105u
#define LAS_AT_LEGACY_COUNT    107u
#define LAS_AT_LEGACY_RETURNS  111u /* uint32 per return */
#define LAS_AT_SCALE           131u /* x, y, z */
#define LAS_AT_OFFSET          155u /* x, y, z */
#define LAS_AT_BOUNDS          179u /* of x, then y, then z: max and min */
#define LAS_AT_WAVEFORMS_AT    227u /* 1.3 */
#define LAS_AT_EXTENDED_AT     235u /* this and the next three: 1.4 */
#define LAS_AT_EXTENDED_COUNT  243u
#define LAS_AT_COUNT           247u
#define LAS_AT_RETURNS         255u /* uint64 per return */
#define LAS_AT_TIME_OFFSET     391u /* 1.5 */

#define LAS_SYSTEM_ID_BYTES 32u /* the software's name too */

/* The bounds of axis k, 0 to 2. */
#define LAS_BOUNDS_STRIDE     16u
#define LAS_AT_MAX_OF_AXIS(k) (LAS_AT_BOUNDS + LAS_BOUNDS_STRIDE * (k))
#define LAS_AT_MIN_OF_AXIS(k) (LAS_AT_MAX_OF_AXIS(k) + 8u)

/* ---- in front of a variable-length record, extended or not */
#define LAS_VLR_AT_USER         2u
#define LAS_VLR_AT_ID           18u
#define LAS_VLR_AT_SIZE         20u /* uint16; uint64 where extended */
#define LAS_VLR_AT_DESCRIPTION  22u
#define LAS_EVLR_AT_DESCRIPTION 28u

#define LAS_VLR_USER_BYTES        16u
#define LAS_VLR_DESCRIPTION_BYTES 32u

/* ---- in front of the chunk table of LAZ. Source: M. Isenburg, LASzip specification */
#define LAZ_TABLE_AT_COUNT 4u /* behind a version, 0 */
#define LAZ_TABLE_BYTES    8u /* version and number of chunks */
#define LAZ_POINTER_BYTES  8u /* in front of the chunks: where the table is */

#endif

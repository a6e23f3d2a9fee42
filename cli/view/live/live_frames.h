/* Where one frame of a stream ends and the next one begins: files as they are, one behind the other.
 *
 *   [ply header | vertices][ply header | vertices][ply … ]      PLY, PCD, LAS: their headers say how long they are
 *   x y z ⏎ x y z ⏎ ⏎ x y z ⏎ …                                 text: an empty line ends a frame
 *
 * Bytes are looked at once, as they come. Plain memory, no input. Any bytes are safe. */
#ifndef CLI_LIVE_FRAMES_H
#define CLI_LIVE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_PARTS_MAX      32u
#define LIVE_PROPERTIES_MAX 64u

typedef enum live_framing {
    FRAME_UNKNOWN, /* the first bytes are not there yet */
    FRAME_PLY,
    FRAME_PCD,
    FRAME_LAS,
    FRAME_TEXT,
    FRAME_PARTS /* the header was read: what follows is in parts */
} live_framing;

/* A list of a PLY element: bytes of its count and of each value; 0: a plain value of count_bytes. */
typedef struct live_property {
    uint8_t count_bytes, value_bytes;
} live_property;

/* Rows behind a header: lines of text, or records, of which those with lists differ in length. */
typedef struct live_part {
    uint64_t rows;
    uint64_t row_bytes; /* 0: lines of text, or by its properties */
    uint32_t first_property, properties;
} live_part;

/* How far a frame has been looked at. All zeros: a new one. */
typedef struct live_framer {
    live_framing framing;
    size_t at; /* bytes that were looked at */
    bool is_text, is_big_endian, is_compressed;
    uint32_t part, part_count, property_count;
    live_part parts[LIVE_PARTS_MAX];
    live_property properties[LIVE_PROPERTIES_MAX];
    uint32_t las_extended; /* records behind the points that are still to be passed */
    const char *why;       /* FRAME_WRONG */
} live_framer;

typedef enum live_frame_state { FRAME_WHOLE, FRAME_MORE, FRAME_WRONG } live_frame_state;

/// Looks for the end of the frame that begins at data.
/// framer  zeros for a new frame; for the same one with more bytes as it was left
/// is_end  no more bytes will come
/// length  out: bytes of the frame, FRAME_WHOLE
live_frame_state live_frame_end(live_framer *framer, const uint8_t *data, size_t size, bool is_end, size_t *length);

/// Bytes between frames: blanks and ends of lines.
size_t live_frame_gap(const uint8_t *data, size_t size);

#endif

/* What a page says to a server of live pictures: one line of text per message.
 *
 *   view seq=12 size=1280,720 eye=1,2,3 target=4,5,6 up=0,0,1 fov=50 mode=points color=height background=16181f
 *        keep=intensity:10:200;height:0:5 hide=7,18
 *   shown frame=7
 *   pick id=3 x=640 y=360
 *
 * A view says all that is wanted, so that the newest one replaces those before. Nothing here is trusted: what is not
 * exactly as above is no message. No sockets, no memory. */
#ifndef CLI_LIVE_MESSAGE_H
#define CLI_LIVE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_MESSAGE_MAX 1024u           /* bytes */
#define LIVE_SIDE_MAX    4096u           /* pixels */
#define LIVE_PIXELS_MAX  (4096u * 2304u) /* of a picture */
#define LIVE_TEXT_MAX    96u
#define LIVE_NAME_MAX    64u

#define LIVE_FILTERS 4 /* ranges that all hold at once */
#define LIVE_CLASSES 256

typedef struct live_range {
    char name[LIVE_NAME_MAX]; /* of a column, or "height" */
    double low, high;
} live_range;

/* Which points are not shown: those outside of a range, and those of a class. */
typedef struct live_filter {
    live_range ranges[LIVE_FILTERS];
    int range_count;
    bool hidden[LIVE_CLASSES];
} live_filter;

/* Words are those of mote render's options. */
typedef struct live_view {
    uint32_t seq; /* the page's number of this view: a picture says which view it shows */
    uint32_t width, height;
    char eye[LIVE_TEXT_MAX], target[LIVE_TEXT_MAX], up[LIVE_TEXT_MAX]; /* three finite numbers each */
    double fov_deg;                                                    /* 1..170 */
    bool is_orthographic;
    int mode;                  /* points, average, surface; or the last, by the data */
    int show;                  /* mote_render_show */
    int map;                   /* color_map */
    char color[LIVE_NAME_MAX]; /* "": by the data */
    char range[LIVE_TEXT_MAX]; /* LOW:HIGH; "": by the data */
    bool has_edl;
    double edl;         /* 0..100 */
    char background[8]; /* "#rrggbb" */
    live_filter filter;
} live_view;

typedef enum live_message_kind { LIVE_VIEW, LIVE_SHOWN, LIVE_PICK } live_message_kind;

typedef struct live_message {
    live_message_kind kind;
    live_view view;
    uint32_t frame;          /* SHOWN: the newest picture that is on the screen */
    uint32_t pick_id;        /* PICK: comes back with the answer */
    uint32_t pick_x, pick_y; /* pixels of the view */
} live_message;

/// Reads a message.
/// data     [size] bytes; need not end in a NUL
/// Returns  false where it is no message
bool live_message_read(const char *data, size_t size, live_message *message);

#endif

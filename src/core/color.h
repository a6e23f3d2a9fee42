/* What the numbers of colours mean: one rule for everything that is read and written.

   The types uint8 and uint16 say it themselves. Floats, and other integers, say it by their largest value over the
   whole cloud, red, green and blue together:

     largest value    floats     integers
     up to 1          0..1       8 bits
     up to 255        8 bits     8 bits
     up to 65535      16 bits    16 bits
     beyond           unknown    unknown

   Floats may lie 1 % beyond a limit, as interpolation leaves them: they are cut. NaN is black. */
#ifndef MOTE_COLOR_H
#define MOTE_COLOR_H

#include "core/cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTE_COLOR_MAX   65535 /* white in 16 bits */
#define MOTE_COLOR_MAX_8 255   /* white in 8 bits */

typedef enum mote_color_depth {
    MOTE_COLOR_BLACK,   /* all 0, or no numbers: any depth would do */
    MOTE_COLOR_UNIT,    /* 0..1 */
    MOTE_COLOR_8_BITS,  /* 0..255 */
    MOTE_COLOR_16_BITS, /* 0..65535 */
    MOTE_COLOR_UNKNOWN  /* beyond */
} mote_color_depth;

typedef struct mote_color_rule {
    mote_color_depth depth;
    bool outside;     /* some value is negative, infinite or beyond 16 bits, and would be cut by more than the 1 % */
    bool whole;       /* all values but NaN are whole numbers */
    double white;     /* what white is: value · 65535 / white is the colour in 16 bits */
    double high;      /* the largest value */
    uint64_t missing; /* values that are NaN */
    mote_type type;   /* of the first channel */
} mote_color_rule;

/* What was seen of the values of channels, of a whole cloud or of one piece after the other. */
typedef struct mote_color_range {
    double low, high; /* low > high: no finite value */
    uint64_t missing, infinite, fractions;
} mote_color_range;
mote_color_range mote_color_nothing(void);

/* The rule for channels [count] (NULL: there is none), together, of point_count points on the host. */
mote_color_rule mote_color_find(const mote_context *ctx, const mote_column *const *channels, uint32_t count,
                                uint64_t point_count);
/* Looks at channels that come in pieces: each is seen, and then the channels are judged. */
void mote_color_see_together(const mote_context *ctx, const mote_column *const *channels, uint32_t count,
                             uint64_t point_count, mote_color_range *range);
mote_color_rule mote_color_judge(const mote_column *const *channels, uint32_t count, const mote_color_range *range);
/* The rule for intensity: whole numbers are 16 bits whatever their range, but floats up to 1 are shares of white. */
mote_color_rule mote_color_find_intensity(const mote_context *ctx, const mote_column *intensity, uint64_t point_count);
/* The rule for each of the channels of a cloud. Floats are judged together, integers are too; a channel of uint8 or
   uint16 is what its type says. */
void mote_color_find_each(const mote_context *ctx, const mote_column *const *channels, uint32_t count,
                          uint64_t point_count, mote_color_rule *rules);
/* The same of a cloud that comes in pieces: each piece is seen, and then the channels are judged. ranges: of integers,
   of floats. */
void mote_color_see_each(const mote_context *ctx, const mote_column *const *channels, uint32_t count,
                         uint64_t point_count, mote_color_range ranges[2]);
void mote_color_judge_each(const mote_column *const *channels, uint32_t count, const mote_color_range ranges[2],
                           mote_color_rule *rules);
void mote_color_see(const mote_context *ctx, const mote_column *channel, uint64_t point_count, mote_color_range *range);
mote_color_rule mote_color_judge_intensity(const mote_column *intensity, const mote_color_range *range);
/* Returns the rule of a channel whose values cannot be looked at: floats count as 0..1, integers as 16 bits. */
mote_color_rule mote_color_unseen(const mote_column *channel);
/* Whether the type says the depth: uint8 or uint16 without scale and offset. */
bool mote_color_is_plain(const mote_column *channel);
/* Whether the values are floats, as stored or by their scale. */
bool mote_color_is_real(const mote_column *channel);
/* A channel with the scale by which column_color gives its colours in 16 bits. */
mote_column mote_color_scaled(const mote_column *channel, const mote_color_rule *rule);
/* Tells in one line what values were taken for, unless there is nothing to tell.
   of    the file, NULL if it is clear
   what  "colours" or the name of an attribute */
void mote_color_tell(mote_context *ctx, const char *of, const char *what, const mote_color_rule *rule);

/* Tells of the channels of a cloud as mote_color_find_each judged them: a line for floats, a line for integers. */
void mote_color_tell_each(mote_context *ctx, const char *of, const mote_column *const *channels, uint32_t count,
                          const mote_color_rule *rules);

#ifdef __cplusplus
}
#endif
#endif

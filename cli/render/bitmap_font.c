/* A small font for legends: 5 x 7 pixels, and a row for what hangs below. */
#include "render/bitmap_font.h"

#include <stdint.h>
#include <string.h>

#define GLYPHS      95 /* ASCII from the space to ~ */
#define GLYPH_WIDTH 5
#define GLYPH_ROWS  8

/* A glyph: 40 bits, row after row from the top, each from the left.
 *
 *     .###.  0x0E     of "0", whose bits are 01110 10001 10011 10101 11001 10001 01110 00000
 *     #...#  0x11
 *     #..##  0x13 ...
 */
static const uint64_t glyphs[GLYPHS] = {
    UINT64_C(0x0000000000), UINT64_C(0x2108420080), UINT64_C(0x5280000000),
    UINT64_C(0x52BEAFA940), UINT64_C(0x23E8E2F880), /*   ! " # $ */
    UINT64_C(0xCE84442E60), UINT64_C(0x64A88AC9A0), UINT64_C(0x2100000000),
    UINT64_C(0x1110841040), UINT64_C(0x4104211100), /* % & ' ( ) */
    UINT64_C(0x012AEA9000), UINT64_C(0x0109F21000), UINT64_C(0x0000001888),
    UINT64_C(0x0000E00000), UINT64_C(0x0000003180), /* star + , - . */
    UINT64_C(0x0884442200), UINT64_C(0x74675CC5C0), UINT64_C(0x23084211C0),
    UINT64_C(0x74426443E0), UINT64_C(0x744260C5C0), /* slash 0 1 2 3 */
    UINT64_C(0x11952F8840), UINT64_C(0xFC3C10C5C0), UINT64_C(0x3221E8C5C0),
    UINT64_C(0xF844221080), UINT64_C(0x7462E8C5C0), /* 4 5 6 7 8 */
    UINT64_C(0x7462F08980), UINT64_C(0x0318063000), UINT64_C(0x0318061100),
    UINT64_C(0x0888820820), UINT64_C(0x003E0F8000), /* 9 : ; < = */
    UINT64_C(0x8208222200), UINT64_C(0x7442220080), UINT64_C(0x746F5BC1C0),
    UINT64_C(0x22A31FC620), UINT64_C(0xF463E8C7C0), /* > ? @ A B */
    UINT64_C(0x74610845C0), UINT64_C(0xF46318C7C0), UINT64_C(0xFC21E843E0),
    UINT64_C(0xFC21E84200), UINT64_C(0x746178C5E0), /* C D E F G */
    UINT64_C(0x8C63F8C620), UINT64_C(0x71084211C0), UINT64_C(0x3884214980),
    UINT64_C(0x8CA98A4A20), UINT64_C(0x84210843E0), /* H I J K L */
    UINT64_C(0x8EEB58C620), UINT64_C(0x8E7359CE20), UINT64_C(0x746318C5C0),
    UINT64_C(0xF463E84200), UINT64_C(0x74631AC9A0), /* M N O P Q */
    UINT64_C(0xF463EA4A20), UINT64_C(0x7C20E087C0), UINT64_C(0xF908421080),
    UINT64_C(0x8C6318C5C0), UINT64_C(0x8C63152880), /* R S T U V */
    UINT64_C(0x8C635AEE20), UINT64_C(0x8C54454620), UINT64_C(0x8C54421080),
    UINT64_C(0xF8444443E0), UINT64_C(0x72108421C0), /* W X Y Z [ */
    UINT64_C(0x8210410820), UINT64_C(0x70842109C0), UINT64_C(0x22A2000000),
    UINT64_C(0x00000003E0), UINT64_C(0x4100000000), /* \ ] ^ _ ` */
    UINT64_C(0x001C17C5E0), UINT64_C(0x843D18C7C0), UINT64_C(0x001D0841C0),
    UINT64_C(0x085F18C5E0), UINT64_C(0x001D1FC1C0), /* a b c d e */
    UINT64_C(0x323C842100), UINT64_C(0x001F18BC2E), UINT64_C(0x843D18C620),
    UINT64_C(0x20184211C0), UINT64_C(0x100C21084C), /* f g h i j */
    UINT64_C(0x84254C5240), UINT64_C(0x61084211C0), UINT64_C(0x00355AD6A0),
    UINT64_C(0x003D18C620), UINT64_C(0x001D18C5C0), /* k l m n o */
    UINT64_C(0x003D18FA10), UINT64_C(0x001F18BC21), UINT64_C(0x002D884200),
    UINT64_C(0x001F0707C0), UINT64_C(0x423C8420C0), /* p q r s t */
    UINT64_C(0x002318C5E0), UINT64_C(0x0023152880), UINT64_C(0x00235AD540),
    UINT64_C(0x0022A22A20), UINT64_C(0x002318BC2E), /* u v w x y */
    UINT64_C(0x003E2223E0), UINT64_C(0x1108821040), UINT64_C(0x2108421080),
    UINT64_C(0x4108221100), UINT64_C(0x0011510000), /* z { | } ~ */
};

static bool glyph_has(char c, int row, int column) {
    const int i = c >= ' ' && c <= '~' ? c - ' ' : '?' - ' ';
    return glyphs[i] >> (GLYPH_WIDTH * (GLYPH_ROWS - 1 - row) + (GLYPH_WIDTH - 1 - column)) & 1;
}

uint32_t font_text_width(const char *text, uint32_t scale) {
    const size_t length = strlen(text);
    return length > 0 ? (uint32_t)(length * (GLYPH_WIDTH + 1) - 1) * scale : 0;
}

void font_draw_text(const char *text, uint32_t scale, int64_t x, int64_t y, font_dot_fn *dot, void *user) {
    for (; *text != '\0'; text++, x += (int64_t)(GLYPH_WIDTH + 1) * scale) {
        for (uint32_t v = 0; v < GLYPH_ROWS * scale; v++) {
            for (uint32_t u = 0; u < GLYPH_WIDTH * scale; u++) {
                if (glyph_has(*text, (int)(v / scale), (int)(u / scale))) dot(user, x + u, y + v);
            }
        }
    }
}

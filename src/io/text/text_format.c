/* Numbers to decimal text that reads back as the same number, and words for header lines. No locale is involved. */
#include "io/text/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define MAX_DECIMALS 22 /* 2^53 · 10^22 fits 128 bits */

__extension__ typedef unsigned __int128 uint128; /* the only 128-bit type of gcc, clang and nvcc */
__extension__ typedef __int128 int128;

static const char digit_pairs[201] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940"
    "4142434445464748495051525354555657585960616263646566676869707172737475767778798081"
    "828384858687888990919293949596979899";

size_t mote_text_put_unsigned(char *out, uint64_t value) {
    char text[20];
    size_t at = sizeof text;
    for (; value >= 100; value /= 100) {
        at -= 2;
        memcpy(text + at, digit_pairs + 2 * (value % 100), 2);
    }
    if (value >= 10) {
        at -= 2;
        memcpy(text + at, digit_pairs + 2 * value, 2);
    } else {
        text[--at] = (char)('0' + value);
    }
    memcpy(out, text + at, sizeof text - at);
    return sizeof text - at;
}

size_t mote_text_put_integer(char *out, int64_t value) {
    if (value >= 0) return mote_text_put_unsigned(out, (uint64_t)value);
    out[0] = '-';
    return 1 + mote_text_put_unsigned(out + 1, 0 - (uint64_t)value);
}

/* value · 10^-decimals. decimals ≤ MAX_DECIMALS */
static size_t put_point(char *out, uint64_t value, uint32_t decimals) {
    char text[20];
    const size_t length = mote_text_put_unsigned(text, value);
    if (decimals == 0) {
        memcpy(out, text, length);
        return length;
    }
    if (length > decimals) {
        const size_t whole = length - decimals;
        memcpy(out, text, whole);
        out[whole] = '.';
        memcpy(out + whole + 1, text + whole, decimals);
        return length + 1;
    }
    memcpy(out, "0.", 2);
    memset(out + 2, '0', decimals - length);
    memcpy(out + 2 + decimals - length, text, length);
    return 2 + decimals;
}

size_t mote_text_put_fixed(char *out, int64_t value, uint32_t decimals) {
    if (value >= 0) return put_point(out, (uint64_t)value, decimals);
    out[0] = '-';
    return 1 + put_point(out + 1, 0 - (uint64_t)value, decimals);
}

/* A positive binary number mantissa / 2^shift, and what reads back as it: everything closer than half a step. */
typedef struct binary {
    uint64_t mantissa;
    int shift;
    bool narrow; /* a power of two: the numbers below it lie twice as close */
    int digits;  /* significant decimal digits that always suffice */
    bool is_float;
} binary;

static uint128 power10(uint32_t exponent) {
    return exponent < 20 ? (uint128)mote_text_power10[exponent]
                         : (uint128)mote_text_power10[19] * mote_text_power10[exponent - 19];
}

/* The nearest number with that number of decimals, times 10^decimals. 1: it reads back as the number; 0: it does not;
   -1: it has more than 19 digits. */
static int round_to_decimals(const binary *number, uint32_t decimals, uint64_t *rounded) {
    const uint128 power = power10(decimals);
    const uint128 scaled = number->mantissa * power, step = (uint128)1 << number->shift;
    const uint128 nearest = (scaled + step / 2) >> number->shift;
    if (nearest >= (uint128)mote_text_power10[19]) return -1;
    *rounded = (uint64_t)nearest;
    const uint128 back = nearest << number->shift;
    const bool below = back < scaled;
    const uint128 error = below ? scaled - back : back - scaled;
    return error * (below && number->narrow ? 4 : 2) < power;
}

/* Fewest decimals; 0 if that takes more than 19 digits or too many decimals. */
static size_t put_with_point(char *out, const binary *number, uint32_t *guess) {
    uint64_t rounded = 0, fewer = 0;
    uint32_t decimals = *guess;
    int found = round_to_decimals(number, decimals, &rounded);
    if (found < 0) {
        decimals = 0;
        found = round_to_decimals(number, decimals, &rounded);
    }
    if (found == 1) {
        /* More decimals never make it worse, so the fewest are where the search downwards first fails. */
        while (decimals > 0 && round_to_decimals(number, decimals - 1, &fewer) == 1) {
            decimals--;
            rounded = fewer;
        }
    }
    while (found == 0 && decimals < MAX_DECIMALS) found = round_to_decimals(number, ++decimals, &rounded);
    if (found != 1) return 0;
    *guess = decimals;
    return put_point(out, rounded, decimals);
}

static bool reads_back(const char *text, size_t length, double value, bool is_float) {
    mote_text_number number;
    double real = 0;
    float single = 0;
    if (!mote_text_scan((const uint8_t *)text, (const uint8_t *)text + length, &number)) return false;
    if (is_float) return mote_text_float(&number, &single) && (double)single == value;
    return mote_text_double(&number, &real) && real == value;
}

/* Very large and very small magnitudes: digits and a power of ten. */
static size_t put_with_exponent(char *out, double value, const binary *number) {
    size_t length = 0;
    /* Any 6 digits (float) or 15 (double) survive; the smallest numbers of all have fewer. */
    const bool full = number->mantissa >> (number->is_float ? FLT_MANT_DIG - 1 : DBL_MANT_DIG - 1) != 0;
    for (int digits = full ? number->digits - 3 : 1; digits <= number->digits; digits++) {
        char text[64], clean[32] = "";
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
        /* Only the digits and the power are taken: the decimal point is the locale's. */
        size_t count = 0;
        const char *p = text;
        for (; *p != '\0' && *p != 'e'; p++) {
            if (*p >= '0' && *p <= '9' && count < sizeof clean - 1) clean[count++] = *p;
        }
        while (count > 1 && clean[count - 1] == '0') count--;
        length = 0;
        out[length++] = clean[0];
        if (count > 1) out[length++] = '.';
        memcpy(out + length, clean + 1, count - 1);
        length += count - 1;
        const size_t power_bytes = strlen(p);
        memcpy(out + length, p, power_bytes);
        length += power_bytes;
        if (reads_back(out, length, value, number->is_float)) break;
    }
    return length;
}

/* value is positive and finite. */
static size_t put_magnitude(char *out, double value, const binary *number, uint32_t *guess) {
    if (value == 0) {
        out[0] = '0';
        return 1;
    }
    if (value < 9.2e18 && value == floor(value)) return mote_text_put_unsigned(out, (uint64_t)value);
    if (number->shift > 0 && number->shift <= 120) {
        const size_t length = put_with_point(out, number, guess);
        if (length > 0) return length;
    }
    return put_with_exponent(out, value, number);
}

static size_t put_special(char *out, double value) {
    const char *word = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    memcpy(out, word, strlen(word));
    return strlen(word);
}

size_t mote_text_put_double(char *out, double value, uint32_t *guess) {
    if (!isfinite(value)) return put_special(out, value);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t fraction = bits & ((1ull << 52) - 1);
    const int exponent = (int)((bits >> 52) & 0x7FF);
    const binary number = {fraction | (exponent > 0 ? 1ull << 52 : 0), 1075 - (exponent > 0 ? exponent : 1),
                           fraction == 0, DBL_DECIMAL_DIG, false};
    const bool negative = bits >> 63 != 0;
    if (negative) *out = '-';
    return negative + put_magnitude(out + negative, fabs(value), &number, guess);
}

size_t mote_text_put_float(char *out, float value, uint32_t *guess) {
    if (!isfinite(value)) return put_special(out, (double)value);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t fraction = bits & ((1u << 23) - 1);
    const int exponent = (int)((bits >> 23) & 0xFF);
    const binary number = {fraction | (exponent > 0 ? 1u << 23 : 0), 150 - (exponent > 0 ? exponent : 1), fraction == 0,
                           FLT_DECIMAL_DIG, true};
    const bool negative = bits >> 31 != 0;
    if (negative) *out = '-';
    return negative + put_magnitude(out + negative, fabs((double)value), &number, guess);
}

/* value as whole · 10^-decimals, exactly as the text of it would read. */
static bool as_decimal(double value, uint32_t decimals, int64_t *whole) {
    const double power = (double)mote_text_power10[decimals];
    const double scaled = nearbyint(value * power);
    if (!(fabs(scaled) <= 9007199254740992.0)) return false;
    *whole = (int64_t)scaled;
    return scaled / power == value;
}

mote_text_decimal mote_text_decimal_find(double scale, double offset) {
    mote_text_decimal decimal = {.exact = false};
    if (!isfinite(scale) || !isfinite(offset) || scale == 0) return decimal;
    for (uint32_t d = 0; d <= 15; d++) {
        int64_t factor = 0, shift = 0;
        /* A factor of many digits is no decimal step but chance. */
        if (!as_decimal(scale, d, &factor) || factor == 0 || factor > 1000000000 || factor < -1000000000) continue;
        if (!as_decimal(offset, d, &shift)) continue;
        decimal = (mote_text_decimal){.exact = true, .factor = factor, .shift = shift, .decimals = d};
        break;
    }
    return decimal;
}

bool mote_text_decimal_apply(const mote_text_decimal *decimal, int64_t stored, int64_t *scaled) {
    const int128 value = (int128)stored * decimal->factor + decimal->shift;
    *scaled = (int64_t)value;
    return *scaled == value;
}

double mote_text_decimal_value(const mote_text_decimal *decimal, const mote_column *column, uint64_t i) {
    int64_t scaled = 0;
    if (decimal->exact && column->type != MOTE_UINT64 && !mote_type_is_float(column->type) &&
        mote_text_decimal_apply(decimal, mote_column_integer(column, i), &scaled) && scaled <= 1ll << DBL_MANT_DIG &&
        scaled >= -(1ll << DBL_MANT_DIG)) {
        return (double)scaled / (double)mote_text_power10[decimal->decimals];
    }
    return mote_column_value(column, i);
}

size_t mote_text_escape(const char *text, const char *also, char *out) {
    static const char hex[17] = "0123456789ABCDEF";
    size_t length = 0;
    for (; *text != '\0'; text++) {
        const uint8_t c = (uint8_t)*text;
        if (c > ' ' && c != '%' && c != 0x7F && strchr(also, c) == NULL) {
            out[length++] = (char)c;
        } else {
            out[length++] = '%';
            out[length++] = hex[c >> 4];
            out[length++] = hex[c & 15];
        }
    }
    out[length] = '\0';
    return length;
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

void mote_text_unescape(char *text, size_t length) {
    size_t to = 0;
    for (size_t from = 0; from < length; from++) {
        const int high = text[from] == '%' && from + 2 < length ? hex_value(text[from + 1]) : -1;
        const int low = high >= 0 ? hex_value(text[from + 2]) : -1;
        /* A zero would end the text. */
        if (low >= 0 && high + low > 0) {
            text[to++] = (char)(high * 16 + low);
            from += 2;
        } else {
            text[to++] = text[from];
        }
    }
    text[to] = '\0';
}

/* Decimal text to numbers, correctly rounded. Up to 19 digits with a power of ten of ±27 take exact integer
   arithmetic; the rest goes to strtod in the C locale. */
#define _GNU_SOURCE /* strtod_l, strtof_l */
#include "io/text/text.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#define MAX_DIGITS     19u  /* always fit 64 bits */
#define EXACT_POWER    27   /* 5^27 fits 64 bits */
#define LONGEST_NUMBER 1000 /* characters; no double needs more than 767 significant digits */

__extension__ typedef unsigned __int128 uint128; /* the only 128-bit type of gcc, clang and nvcc */

const uint64_t mote_text_power10[20] = {1ull,
                                        10ull,
                                        100ull,
                                        1000ull,
                                        10000ull,
                                        100000ull,
                                        1000000ull,
                                        10000000ull,
                                        100000000ull,
                                        1000000000ull,
                                        10000000000ull,
                                        100000000000ull,
                                        1000000000000ull,
                                        10000000000000ull,
                                        100000000000000ull,
                                        1000000000000000ull,
                                        10000000000000000ull,
                                        100000000000000000ull,
                                        1000000000000000000ull,
                                        10000000000000000000ull};

/* The powers of ten that a double holds exactly. */
static const double exact_power10[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                         1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(uint8_t c) { return (uint8_t)(c - '0') < 10; }

/* Does the text begin with word (lower case)? Returns what follows, NULL if not. */
static const uint8_t *skip_word(const uint8_t *at, const uint8_t *end, const char *word) {
    for (; *word != '\0'; word++, at++) {
        if (at == end || (*at | 0x20) != (uint8_t)*word) return NULL;
    }
    return at;
}

/* nan(…): some systems print which NaN it was. */
static const uint8_t *skip_nan_detail(const uint8_t *at, const uint8_t *end) {
    if (at == end || *at != '(') return at;
    for (const uint8_t *p = at + 1; p < end && p < at + 32; p++) {
        if (*p == ')') return p + 1;
        if (!is_digit(*p) && !((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z')) return at;
    }
    return at;
}

static bool scan_special(const uint8_t *at, const uint8_t *end, mote_text_number *number) {
    const uint8_t *after = skip_word(at, end, "nan");
    if (after != NULL) {
        number->kind = MOTE_TEXT_NAN;
        number->end = skip_nan_detail(after, end);
        return true;
    }
    after = skip_word(at, end, "inf");
    if (after == NULL) return false;
    const uint8_t *whole = skip_word(after, end, "inity");
    number->kind = MOTE_TEXT_INFINITE;
    number->end = whole != NULL ? whole : after;
    return true;
}

/* Reads e[+-]digits if they stand there; an e without digits is not part of the number. */
static const uint8_t *scan_exponent(const uint8_t *at, const uint8_t *end, mote_text_number *number) {
    const uint8_t *p = at + 1;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end || !is_digit(*p)) return at;
    int32_t power = 0;
    for (; p < end && is_digit(*p); p++) {
        if (power < 100000) power = power * 10 + (*p - '0');
    }
    number->exponent += negative ? -power : power;
    number->kind = MOTE_TEXT_REAL;
    return p;
}

#define MINUS_BYTES 3 /* of U+2212 in UTF-8 */
static bool is_minus(const uint8_t *at, const uint8_t *end) {
    return end - at >= MINUS_BYTES && at[0] == 0xE2 && at[1] == 0x88 && at[2] == 0x92;
}

static const uint8_t *behind_sign(const mote_text_number *number) {
    const uint8_t *const at = number->begin;
    if (is_minus(at, number->end)) return at + MINUS_BYTES;
    return at + (at < number->end && (*at == '-' || *at == '+'));
}

bool mote_text_scan(const uint8_t *at, const uint8_t *end, mote_text_number *number) {
    return mote_text_scan_decimal(at, end, '.', number);
}

bool mote_text_scan_decimal(const uint8_t *at, const uint8_t *end, uint8_t decimal, mote_text_number *number) {
    number->begin = at;
    number->negative = at < end && *at == '-';
    number->inexact = false;
    number->kind = MOTE_TEXT_INTEGER;
    number->exponent = 0;
    number->digits = 0;
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    } else if (is_minus(at, end)) {
        number->negative = true;
        at += MINUS_BYTES;
    }
    const uint8_t *const first = at;
    uint64_t digits = 0;
    while (at < end && is_digit(*at)) digits = digits * 10 + (uint8_t)(*at++ - '0');
    uint64_t digit_count = (uint64_t)(at - first);
    if (at < end && *at == decimal) {
        const uint8_t *const point = at++;
        while (at < end && is_digit(*at)) digits = digits * 10 + (uint8_t)(*at++ - '0');
        const uint64_t decimals = (uint64_t)(at - point) - 1;
        digit_count += decimals;
        if (digit_count == 0) return false;
        number->exponent = decimals < LONGEST_NUMBER ? -(int32_t)decimals : -LONGEST_NUMBER;
        number->kind = MOTE_TEXT_REAL;
    }
    if (digit_count == 0) return scan_special(at, end, number);
    if (at < end && (*at | 0x20) == 'e') at = scan_exponent(at, end, number);
    number->end = at;
    number->digits = digits;
    if (digit_count > MAX_DIGITS) {
        /* Leading zeros do not count; else digits has overflowed. */
        const uint8_t *p = first;
        while (p < at && (*p == '0' || *p == decimal)) p++;
        uint64_t significant = 0;
        for (; p < at && (is_digit(*p) || *p == decimal); p++) significant += *p != decimal;
        number->inexact = significant > MAX_DIGITS;
    }
    return true;
}

/* mantissa · 2^exponent, where mantissa has all of its 64 bits, rounded to `bits` bits, ties to even.
   sticky: something non-zero was cut off below the mantissa. The result is in the normal range of double. */
static double round_mantissa(uint64_t mantissa, int exponent, bool sticky, unsigned bits) {
    const unsigned dropped = 64 - bits;
    const uint64_t half = 1ull << (dropped - 1), rest = mantissa & (2 * half - 1);
    uint64_t kept = mantissa >> dropped;
    if (rest > half || (rest == half && (sticky || (kept & 1) != 0))) kept++;
    return ldexp((double)kept, exponent + (int)dropped);
}

/* digits · 10^power for |power| ≤ 27, rounded once to `bits` bits. digits > 0. */
static double exact_value(uint64_t digits, int power, unsigned bits) {
    static const uint64_t power5[EXACT_POWER + 1] = {1ull,
                                                     5ull,
                                                     25ull,
                                                     125ull,
                                                     625ull,
                                                     3125ull,
                                                     15625ull,
                                                     78125ull,
                                                     390625ull,
                                                     1953125ull,
                                                     9765625ull,
                                                     48828125ull,
                                                     244140625ull,
                                                     1220703125ull,
                                                     6103515625ull,
                                                     30517578125ull,
                                                     152587890625ull,
                                                     762939453125ull,
                                                     3814697265625ull,
                                                     19073486328125ull,
                                                     95367431640625ull,
                                                     476837158203125ull,
                                                     2384185791015625ull,
                                                     11920928955078125ull,
                                                     59604644775390625ull,
                                                     298023223876953125ull,
                                                     1490116119384765625ull,
                                                     7450580596923828125ull};
    const uint64_t five = power5[power < 0 ? -power : power];
    const int up = __builtin_clzll(digits), five_up = __builtin_clzll(five);
    if (power >= 0) {
        uint128 product = (uint128)(digits << up) * (five << five_up);
        int exponent = power + 64 - up - five_up;
        if (product >> 127 == 0) product <<= 1, exponent--;
        return round_mantissa((uint64_t)(product >> 64), exponent, (uint64_t)product != 0, bits);
    }
    const uint128 numerator = (uint128)(digits << up) << 63;
    const uint64_t divisor = five << five_up;
    uint64_t quotient = (uint64_t)(numerator / divisor); /* below 2^64, as the divisor is 2^63 or more */
    bool sticky = numerator % divisor != 0;
    int exponent = power - 63 - up + five_up;
    /* The quotient has 63 or 64 bits; a missing one is made up with the remainder, which is all that is left. */
    if (quotient >> 63 == 0) {
        const uint128 rest = (numerator % divisor) << 1;
        quotient = (quotient << 1) | (rest >= divisor);
        sticky = rest % divisor != 0;
        exponent--;
    }
    return round_mantissa(quotient, exponent, sticky, bits);
}

/* The C library's conversion, for the rare numbers that need more than 64 bits. */
static double library_value(const mote_text_number *number, bool as_float, bool *fits) {
    char text[LONGEST_NUMBER + 1];
    const uint8_t *const begin = behind_sign(number);
    const size_t length = (size_t)(number->end - begin);
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *fits = length <= LONGEST_NUMBER && c_locale != (locale_t)0;
    if (!*fits) return 0;
    memcpy(text, begin, length);
    text[length] = '\0';
    char *const comma = strchr(text, ',');
    if (comma != NULL) *comma = '.';
    const double value = as_float ? (double)strtof_l(text, NULL, c_locale) : strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    *fits = isfinite(value);
    return number->negative ? -value : value;
}

static double special_value(const mote_text_number *number) {
    const double value = number->kind == MOTE_TEXT_NAN ? (double)NAN : (double)INFINITY;
    return number->negative ? -value : value;
}

static bool is_exact(const mote_text_number *number) {
    return !number->inexact && number->exponent >= -EXACT_POWER && number->exponent <= EXACT_POWER;
}

/* The nearest double where digits and the power of ten are doubles themselves: one rounding (Clinger 1990). */
static bool short_value(const mote_text_number *number, double *magnitude) {
    const int power = number->exponent;
    if (number->inexact || number->digits > 1ull << DBL_MANT_DIG || power < -22 || power > 22) return false;
    const double digits = (double)number->digits;
    *magnitude = power < 0 ? digits / exact_power10[-power] : digits * exact_power10[power];
    return true;
}

/* Rounding twice, to double and then to float, goes wrong only if the double lies halfway between two floats. */
static bool double_decides_float(const mote_text_number *number, double *magnitude) {
    if (!short_value(number, magnitude)) return false;
    uint64_t bits;
    memcpy(&bits, magnitude, sizeof bits);
    return (bits & 0x1FFFFFFFu) != 0x10000000u && *magnitude <= (double)FLT_MAX;
}

bool mote_text_double(const mote_text_number *number, double *value) {
    if (number->kind >= MOTE_TEXT_INFINITE) {
        *value = special_value(number);
        return true;
    }
    double magnitude = 0;
    if (short_value(number, &magnitude)) {
        *value = number->negative ? -magnitude : magnitude;
        return true;
    }
    if (!number->inexact && number->digits == 0) {
        magnitude = 0;
    } else if (is_exact(number)) {
        magnitude = exact_value(number->digits, number->exponent, DBL_MANT_DIG);
    } else {
        bool fits = true;
        *value = library_value(number, false, &fits);
        return fits;
    }
    *value = number->negative ? -magnitude : magnitude;
    return true;
}

bool mote_text_float(const mote_text_number *number, float *value) {
    if (number->kind >= MOTE_TEXT_INFINITE) {
        *value = (float)special_value(number);
        return true;
    }
    double magnitude = 0;
    if (!number->inexact && number->digits == 0) {
        magnitude = 0;
    } else if (double_decides_float(number, &magnitude)) {
        magnitude = (double)(float)magnitude;
    } else if (is_exact(number)) {
        magnitude = exact_value(number->digits, number->exponent, FLT_MANT_DIG);
    } else {
        bool fits = true;
        *value = (float)library_value(number, true, &fits);
        return fits;
    }
    *value = (float)(number->negative ? -magnitude : magnitude);
    return magnitude <= (double)FLT_MAX;
}

/* The integer that the number is: 1.50e1 is 15. False if it is none, or of more than 64 bits. */
static bool whole_value(const mote_text_number *number, uint64_t *magnitude) {
    uint64_t digits = number->digits;
    int power = number->exponent;
    if (number->kind >= MOTE_TEXT_INFINITE) return false;
    if (number->kind == MOTE_TEXT_INTEGER && number->inexact) {
        /* 20 digits may still fit: 2^64 is 1.8e19. */
        digits = 0;
        for (const uint8_t *p = behind_sign(number); p < number->end; p++) {
            const uint64_t digit = (uint64_t)(*p - '0');
            if (digits > (UINT64_MAX - digit) / 10) return false;
            digits = digits * 10 + digit;
        }
    } else if (number->inexact) {
        return false;
    }
    for (; power < 0 && digits != 0; power++, digits /= 10) {
        if (digits % 10 != 0) return false;
    }
    for (; power > 0 && digits != 0; power--, digits *= 10) {
        if (digits > UINT64_MAX / 10) return false;
    }
    *magnitude = digits;
    return true;
}

bool mote_text_store(const mote_text_number *number, mote_type type, void *at) {
    if (type == MOTE_FLOAT64) {
        double value;
        if (!mote_text_double(number, &value)) return false;
        memcpy(at, &value, sizeof value);
        return true;
    }
    if (type == MOTE_FLOAT32) {
        float value;
        if (!mote_text_float(number, &value)) return false;
        memcpy(at, &value, sizeof value);
        return true;
    }
    uint64_t magnitude = 0;
    if (!whole_value(number, &magnitude)) return false;
    const uint32_t bits = 8 * mote_type_size(type);
    const uint64_t max = mote_type_is_signed(type) ? (UINT64_MAX >> (65 - bits)) : (UINT64_MAX >> (64 - bits));
    const uint64_t limit = !number->negative ? max : mote_type_is_signed(type) ? max + 1 : 0;
    if (magnitude > limit) return false;
    if (number->negative) magnitude = 0 - magnitude;
    memcpy(at, &magnitude, mote_type_size(type)); /* little-endian hosts only, as the build checks */
    return true;
}

uint32_t mote_text_decimals(const mote_text_number *number) {
    if (number->kind >= MOTE_TEXT_INFINITE || number->exponent >= 0) return 0;
    uint64_t digits = number->digits;
    uint32_t decimals = (uint32_t)-number->exponent;
    if (number->inexact) return decimals;
    if (digits == 0) return 0;
    for (; decimals > 0 && digits % 10 == 0; decimals--) digits /= 10;
    return decimals;
}

bool mote_text_fits_float(const mote_text_number *number) {
    double value = 0;
    float single = 0;
    /* A float's error is at most 2^-24 of it, which is at most half a unit of the last of those digits. */
    if (number->kind >= MOTE_TEXT_INFINITE || (!number->inexact && number->digits <= 1u << 23)) return true;
    if (!mote_text_double(number, &value) || !mote_text_float(number, &single)) return false;
    const double error = fabs(value - (double)single);
    return error == 0 || error <= 0.501 * pow(10, number->exponent); /* half of the last digit */
}

bool mote_text_within_one(const mote_text_number *number) {
    if (number->kind >= MOTE_TEXT_INFINITE) return false;
    double value = 0;
    return mote_text_double(number, &value) && fabs(value) <= 1;
}

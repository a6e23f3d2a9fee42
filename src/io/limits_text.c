/* No-data, minimum and maximum of a column as text: every digit of integers, the fewest of floats that say all. */
#include <inttypes.h>
#include <stdio.h>

#include "io/notes.h"

void mote_limit_put(uint64_t limit, mote_type type, char *out) {
    uint32_t guess = 0;
    if (mote_type_is_float(type)) {
        out[mote_text_put_double(out, mote_limit_real(limit, type), &guess)] = '\0';
    } else if (mote_type_is_signed(type)) {
        snprintf(out, MOTE_TEXT_NUMBER_BYTES, "%" PRId64, (int64_t)limit);
    } else {
        snprintf(out, MOTE_TEXT_NUMBER_BYTES, "%" PRIu64, limit);
    }
}

bool mote_limit_read(const uint8_t *text, size_t length, mote_type type, uint64_t *limit) {
    mote_text_number number;
    char exact[MOTE_TEXT_NUMBER_BYTES];
    double value = 0;
    if (length == 0 || !mote_text_scan(text, text + length, &number) || number.end != text + length) return false;
    if (!mote_text_double(&number, &value)) return false;
    *limit = mote_limit_of_real(value, type);
    if (mote_type_is_float(type)) return true;
    /* Integers beyond 2^53 are no doubles: digit by digit. */
    uint64_t digits = 0;
    for (size_t i = text[0] == '-'; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
        digits = 10 * digits + (uint64_t)(text[i] - '0');
    }
    const uint64_t whole = text[0] == '-' ? 0 - digits : digits;
    mote_limit_put(whole, type, exact);
    if (strlen(exact) == length && memcmp(exact, text, length) == 0) *limit = whole;
    return true;
}

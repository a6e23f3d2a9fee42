/* What attributes are called: by mote, in files of other programs, and by people who name them. */
#ifndef MOTE_STANDARD_NAMES_H
#define MOTE_STANDARD_NAMES_H

#include "core/cloud.h"

/* For each of count names of a file's attributes (NULL: passed over) the standard name of what it means, or NULL: none.
   Of several that mean the same, the one that is spelled best does, of equal ones the first; letters ("r", "nx") count
   only where the file has all of their group and nothing else means the same. */
void mote_standard_names(const char *const *names, uint32_t count, const char **found);

/* The name that an attribute of a standard name had in its file, which is then its description; NULL if it says none.
 */
const char *mote_original_name(const mote_column *column);
/* Names to write columns under: wanted[i], but the column's own where a reader would not take it for that again.
   scratch  [count] */
void mote_settle_names(const mote_column *const *columns, uint32_t count, const char **wanted, const char **scratch);

/* Whether a name is x, y or z, in either case. */
static inline bool mote_names_axis(const char *name) {
    const char letter = (char)(name[0] | 0x20);
    return letter >= 'x' && letter <= 'z' && name[1] == '\0';
}
/* Whether two names are the same but for case, blanks, punctuation and the prefix that CloudCompare gives. */
bool mote_same_name(const char *a, const char *b);

#endif

/* How many points stand where another one stands, in bounded memory and two passes.
 *
 *     pass 1   key of a place ──> its bits in the filter are set already? ──yes──> suspects
 *     pass 2   key of a place ──> is it a suspect? ──yes──> count
 *
 * A key is a 62-bit hash of the place. Suspects are all keys that came twice, and some few that a Bloom filter mistakes
 * for them; these come once in the second pass. So the duplicates are the points of suspects less the suspects. Where
 * there are too many points or suspects, only the keys that begin with some zero bits are looked at, a random share of
 * all places, and the number is an estimate. */
#ifndef CLI_INFO_DUPLICATES_H
#define CLI_INFO_DUPLICATES_H

#include <mote/mote.h>

typedef struct duplicate_search {
    int pass;            /* 0, 1; 2: done */
    bool has_failed;     /* no memory */
    uint32_t share_bits; /* keys that begin with so many zeros are looked at */
    uint64_t *filter;    /* [filter_words] */
    uint64_t filter_words;
    uint64_t *suspects; /* [capacity] open addressing; 0: empty */
    uint64_t capacity, suspect_count;
    uint64_t points; /* of suspects, in the second pass */
} duplicate_search;

/* count: points that will come, at most. false: no memory. */
bool duplicates_open(duplicate_search *search, uint64_t count);
void duplicates_add(duplicate_search *search, const mote_cloud *piece);
/* Ends a pass. */
void duplicates_end(duplicate_search *search);
/* The result; *is_estimate: of a share of the points. */
uint64_t duplicates_tell(const duplicate_search *search, bool *is_estimate);
void duplicates_close(duplicate_search *search);

#endif

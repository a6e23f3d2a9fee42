/* What the header of a LAS file says of its points, to be compared with them. */
#ifndef CLI_INFO_HEADER_H
#define CLI_INFO_HEADER_H

#include <mote/mote.h>

#define HEADER_RETURNS_MAX 15

/* What a LAS header says that GPS times are. */
typedef enum header_clock { CLOCK_UNKNOWN, CLOCK_WEEK, CLOCK_ADJUSTED } header_clock;

typedef struct header_facts {
    bool is_las;
    header_clock clock;
    mote_box box;
    double scale[3];
    uint32_t return_count; /* of the table: 5 up to LAS 1.3, else 15 */
    uint64_t returns[HEADER_RETURNS_MAX];
} header_facts;

/* Reads the header; of a file that is no LAS or LAZ, or cannot be read, is_las is false and all else 0. */
void header_read(const char *path, header_facts *facts);

#endif

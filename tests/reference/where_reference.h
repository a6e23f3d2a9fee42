/* Random expressions, and what they mean: each is made as a tree, written out as text with as few brackets as the ranks
   of the operators allow, and computed point by point, in doubles, from the tree. */
#ifndef WHERE_REFERENCE_H
#define WHERE_REFERENCE_H

#include "mote/mote.h"

#define WHERE_REFERENCE_TEXT 4096

typedef struct where_reference where_reference;

/* A condition over the columns of a cloud, another one for each seed. */
where_reference *where_reference_condition(const mote_cloud *cloud, uint64_t seed);
/* A number over them. */
where_reference *where_reference_number(const mote_cloud *cloud, uint64_t seed);
void where_reference_free(where_reference *expression);
const char *where_reference_text(const where_reference *expression);
bool where_reference_holds(const where_reference *expression, const mote_cloud *cloud, uint64_t i);
double where_reference_value(const where_reference *expression, const mote_cloud *cloud, uint64_t i);

#endif

/* Which layers a schema has, in the order of the chunk, and the memory of their models. For reading and writing. */
#ifndef MOTE_LAZ_LAYERS_H
#define MOTE_LAZ_LAYERS_H

#include "io/laz/items/laz_format14.h"
#include "io/laz/laz.h"

/* What holds for all layers of a kind. */
typedef struct laz_layer_facts {
    uint32_t at, size_bytes; /* the field in its item */
    uint32_t wanted;         /* LAZ_WANT_…; 0: always */
    uint32_t model_bytes;    /* a multiple of 64 */
    /* Starts the models: the chunk begins in this channel with this value. */
    void (*start)(void *models, uint32_t channel, const uint8_t *value);
} laz_layer_facts;

extern const laz_layer_facts mote_laz_layer_facts[LAZ_LAYER_KINDS];

typedef struct laz_layer {
    laz_layer_kind kind;
    uint32_t at; /* byte of the record */
} laz_layer;

uint32_t mote_laz_layer_count(const laz_schema *schema);
/* The layer of this index, below their count. */
laz_layer mote_laz_layer_at(const laz_schema *schema, uint32_t index);
/* Whether the items behind POINT14 go by the channel of the point; see laz_following. */
static inline bool mote_laz_plain_channels(const laz_schema *schema) { return schema->items[0].version >= 4; }
/* Goes through the layers of a chunk, which stand behind the first record, the count of points and the layers'
   sizes. */
typedef struct laz_layer_walk {
    const uint8_t *data;
    uint64_t size_bytes, size_at; /* of the chunk; where the next layer's size stands */
    uint64_t at;                  /* where the next layer begins; after the last one: where the chunk ends */
} laz_layer_walk;
/* Both return NULL or what is wrong with the chunk, and then where. */
const char *mote_laz_walk_start(laz_layer_walk *walk, const laz_schema *schema, const uint8_t *data,
                                uint64_t size_bytes, uint64_t points, uint64_t *fault_at);
const char *mote_laz_walk_next(laz_layer_walk *walk, uint32_t *layer_bytes, uint64_t *fault_at);
/* Bytes of the models of all layers. */
uint64_t mote_laz_layers_model_bytes(const laz_schema *schema);

#define LAZ_ALIGNED(bytes) (((bytes) + 63u) / 64u * 64u)

#endif

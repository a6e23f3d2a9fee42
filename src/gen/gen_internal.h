/* What the synthetic clouds share: the random stream, the kinds, and how a cloud is filled. */
#ifndef MOTE_GEN_INTERNAL_H
#define MOTE_GEN_INTERNAL_H

#include "core/cloud.h"
#include "math/hash.h"
#include "mote/gen.h"

/* A splitmix64 stream. Its state is a counter, so any draw can be reached without the ones before it. */
typedef struct gen_stream {
    uint64_t state;
} gen_stream;

/* The stream of a seed, before its draw number skip. */
static inline gen_stream gen_stream_at(uint64_t seed, uint64_t skip) {
    const gen_stream stream = {seed + skip * MOTE_GOLDEN_GAMMA};
    return stream;
}

static inline uint64_t gen_next(gen_stream *stream) { return mote_hash64(stream->state += MOTE_GOLDEN_GAMMA); }

/* Uniform in [0, 1), 53 bits. */
static inline double gen_unit(gen_stream *stream) { return (double)(gen_next(stream) >> 11) * 0x1.0p-53; }

/* Each makes a cloud of one kind; params are checked. */
mote_status gen_uniform(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out);
mote_status gen_torus(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out);
mote_status gen_clusters(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out);
mote_status gen_lattice(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out);
mote_status gen_room(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out);
mote_status gen_box(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out);
mote_status gen_city(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out);

/* ---- gen_cloud.c */
/* An empty cloud of count points with x y z as dense float triples. */
mote_status gen_cloud_xyz(mote_context *ctx, uint64_t count, mote_cloud **out, float **xyz);

/* Writes points first … first + count - 1 of a shape, whose random access needs nothing but the index. */
typedef void (*gen_fill_fn)(const void *shape, uint64_t first, uint64_t count, float *xyz);
/* Runs fill over all points in parallel, with progress. */
mote_status gen_fill(mote_context *ctx, uint64_t count, gen_fill_fn fill, const void *shape, float *xyz);

#endif

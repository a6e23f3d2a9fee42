/* Sources of colours, read and added up. */
#ifndef MOTE_LOD_FILTER_CUDA_SUMS_H
#define MOTE_LOD_FILTER_CUDA_SUMS_H

#include "lod/lod_filter_cuda.h"

template <typename T> struct color_sum { T v[3], weight; };

static inline __device__ void put_average(filter_color *to, const color_sum<uint64_t> &sum) {
    const double reciprocal = 1.0 / (double)sum.weight;
    filter_color color;
    for (int k = 0; k < 3; k++) color.v[k] = filter_mean(sum.v[k], sum.weight, reciprocal);
    color.v[3] = 1;
    *to = color;
}

/* weight <= FILTER_CROWD */
static inline __device__ void put_average(filter_color *to, const color_sum<uint32_t> &sum) {
    const float reciprocal = 1.0f / (float)sum.weight;
    filter_color color;
    for (int k = 0; k < 3; k++) color.v[k] = filter_mean32(sum.v[k], sum.weight, reciprocal);
    color.v[3] = 1;
    *to = color;
}

static inline __device__ uint32_t count_of(const filter_source &source) {
    return source.place & ((1u << SOURCE_COUNT_BITS) - 1);
}
static inline __device__ uint32_t count_of(const filter_wide_source &source) { return source.count; }
static inline __device__ uint32_t place_of(const filter_source &source) { return source.place >> SOURCE_COUNT_BITS; }
static inline __device__ uint32_t place_of(const filter_wide_source &source) { return source.place; }

/* At once, which the compiler would not do. */
static inline __device__ filter_source load_source(const filter_source *from) {
    const uint4 words = *(const uint4 *)from;
    return {{words.x, words.y, words.z}, words.w};
}
static inline __device__ filter_wide_source load_source(const filter_wide_source *from) { return *from; }

template <typename T, typename S> static inline __device__ void add_source(color_sum<T> *sum, const S &source) {
    for (int k = 0; k < 3; k++) sum->v[k] += (T)source.sum[k];
    sum->weight += count_of(source);
}

template <typename S>
static inline __device__ void add_weighted(color_sum<uint64_t> *sum, const S &source, uint32_t weight) {
    for (int k = 0; k < 3; k++) sum->v[k] += (uint64_t)source.sum[k] * weight;
    sum->weight += (uint64_t)count_of(source) * weight;
}

#endif

/// mote: planes by Hough transform. Every point votes for every direction with its distance rho to the centre of the
/// cloud; maxima of the votes are refined, fitted by least squares to the points around them, and tested.
///
/// A plane is n · x = d in the coordinates of the cloud, however large they are. Results are the same bytes for any
/// number of threads and on every backend: positions are whole steps of a lattice of 2^24 a side around the cloud,
/// votes and sums are integers. Points with a NaN or infinite coordinate belong to no plane.
#ifndef MOTE_PLANES_H
#define MOTE_PLANES_H

#include "cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTE_PLANES_MAX 4096u /* planes of one call */

typedef enum mote_planes_directions {
    MOTE_PLANES_BALL, ///< equal areas of the half sphere
    MOTE_PLANES_GRID  ///< 180 x 180 at one degree of theta and phi
} mote_planes_directions;

typedef enum mote_planes_votes {
    MOTE_PLANES_VOTE_ALL,    ///< every point for every direction
    MOTE_PLANES_VOTE_NORMALS ///< points with a normal only for directions within cone_deg of it
} mote_planes_votes;

/// 0 stands for what is chosen from the cloud itself; see mote_planes_facts for what that was.
typedef struct mote_planes_params {
    mote_planes_directions directions;
    double resolution_deg; ///< BALL: between neighbouring directions, 0.5..10
    mote_planes_votes votes;
    double cone_deg;        ///< VOTE_NORMALS: above 0, up to 90
    double bin;             ///< width of a bin of rho, world units; 0: chosen
    double tolerance;       ///< distance up to which a point belongs to a plane, world units; 0: from the noise
    double normal_deg;      ///< a point with a normal belongs to a plane only if they differ by at most this; 90: any
    uint64_t min_points;    ///< support that a plane needs; 0: one point in 200, 12 to 100
    uint64_t sample;        ///< this many points vote, evenly along the Morton order; 0: chosen; UINT64_MAX: all
    double suppress_deg;    ///< radius of non-maximum suppression on the sphere; 0: 2.5 steps of the accumulator
    uint32_t suppress_bins; ///< and along rho; 0: 2 bins
    uint32_t max_planes;    ///< planes at most, those of the most points; 0: MOTE_PLANES_MAX
    bool greedy;            ///< one plane a round: find, remove its points, vote again
    bool whole;             ///< planes reach across gaps, however thin: points far from the others belong too
    bool components;        ///< what is not connected is a plane of its own
    bool explain;           ///< keep what was refused, for mote_planes_refused_at
    uint64_t reserved[8];   ///< zero, see types.h
} mote_planes_params;
/// Ball of 2 degrees, all vote; cone 20, normals within 45 degrees; all else chosen.
MOTE_API mote_planes_params mote_planes_defaults(void);

typedef struct mote_plane {
    double normal[3]; ///< unit length; the first of z, y, x that is not 0 is above 0
    double offset;    ///< d: normal · x = d
    double centroid[3];
    uint64_t votes;         ///< of the maximum of the accumulator that it comes from
    uint64_t inliers;       ///< points that carry its label
    double rms;             ///< of their distances
    double area;            ///< that they cover, by occupied cells
    double hull_area;       ///< of their convex hull
    double rectangle[4][3]; ///< the smallest rectangle in the plane around them, corner by corner
    double confidence;      ///< 0..1: the share of the points within the tolerance that is not found beside it as well
} mote_plane;

/// What was chosen, measured and done.
typedef struct mote_planes_facts {
    double extent;         ///< diameter of the sphere around the centre that has all points
    double spacing;        ///< distance of neighbouring points on surfaces, measured; see mote_planes_vote
    double noise;          ///< standard deviation along the normal, measured; 0 where nothing is flat
    double tolerance, bin; ///< as used
    double cell;           ///< of the grid that says what is connected; 0: whole, or no planes were made
    double resolution_deg;
    uint64_t min_points, sample;
    uint32_t directions, bins, rounds;
    uint64_t votes;       ///< cast, in all rounds
    uint64_t points;      ///< of the cloud
    uint64_t labelled;    ///< that belong to a plane
    uint64_t skipped;     ///< without a finite position
    uint64_t outside;     ///< strays, so far from all others that they would blur the lattice
    bool normals;         ///< the cloud has them and they were looked at
    uint64_t reserved[8]; ///< zero, see types.h
} mote_planes_facts;

/// Why what looked like a plane is none. value and limit: see mote_plane_refused.
typedef enum mote_planes_reason {
    MOTE_PLANES_FEW_POINTS, ///< beyond what strays account for: points, and how many it needs
    MOTE_PLANES_SCATTERED,  ///< its points are not connected: points or cells of a part, and how many it needs
    MOTE_PLANES_THICKENS,   ///< its noise grows with it, as on curves and steps: lengths
    MOTE_PLANES_THICK,      ///< noise to the root of its area
    MOTE_PLANES_DENSE_SIDE, ///< points beside it, to those in its middle: densities, or points
    MOTE_PLANES_NO_PEAK,    ///< share of its points that are in its middle: here value is below limit
    MOTE_PLANES_STRUCTURE,  ///< share of the variance of its points that lies between places, as across steps
    MOTE_PLANES_UNLIKE,     ///< noisier than the other planes of the cloud: lengths
    MOTE_PLANES_EXPLAINED,  ///< other planes explain its points as well: nats gained, and how many it needs
    MOTE_PLANES_UNSUPPORTED ///< share of its points whose neighbours lie along it: here value is below limit
} mote_planes_reason;

/// What looked like a plane and was refused.
typedef struct mote_plane_refused {
    mote_planes_reason reason;
    double normal[3], offset, centroid[3]; ///< as those of mote_plane, when it was refused
    uint64_t points;                       ///< about how many of all were on it
    double noise;                          ///< standard deviation along the normal
    double size;                           ///< the root of its area; 0: not known
    double value, limit;                   ///< what was measured, and what a plane has at most (few points: at least)
    uint64_t reserved[4];                  ///< zero, see types.h
} mote_plane_refused;

/// Planes of a cloud, those of the most points first.
typedef struct mote_planes mote_planes;

/// Finds planes.
/// labels   [points] out, may be NULL: the number of the plane of each point, -1: none
/// params   NULL means defaults
/// Returns  MOTE_OK (also without any plane), MOTE_ERROR_ARGUMENT, MOTE_ERROR_UNSUPPORTED (2^32 - 1 points or more),
///          MOTE_ERROR_DATA (coordinates out of the range of cloud.h), MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Cost     a sort of the points, sample · directions votes a round, a few passes over the points near planes;
///          about 40 bytes a point
/// Source   Duca 2016; Borrmann et al. 2011 (ball)
MOTE_API mote_status mote_planes_find(mote_context *ctx, const mote_cloud *cloud, const mote_planes_params *params,
                                      int32_t *labels, mote_planes **out);
/// Frees them. NULL is allowed.
MOTE_API void mote_planes_destroy(mote_planes *planes);
/// How many there are.
MOTE_API uint32_t mote_planes_count(const mote_planes *planes);
/// The i-th; NULL if there is none.
MOTE_API const mote_plane *mote_planes_at(const mote_planes *planes, uint32_t i);
/// Corners of the convex hull of the i-th plane's points, in the plane, counter-clockwise seen against its normal.
/// count  out
/// Returns [3 · count] x y z; NULL if there is no such plane
MOTE_API const double *mote_planes_hull(const mote_planes *planes, uint32_t i, uint32_t *count);
/// How many candidates were refused, where params.explain asked for them; else 0. The list holds the 256 with the most
/// points, each place once, except places where a plane was found after all. Peaks of the vote that fail on its sample
/// are not in it.
MOTE_API uint32_t mote_planes_refused_count(const mote_planes *planes);
/// The i-th, by points; NULL if there is none.
MOTE_API const mote_plane_refused *mote_planes_refused_at(const mote_planes *planes, uint32_t i);
/// What the search chose, measured and did.
MOTE_API mote_planes_facts mote_planes_get_facts(const mote_planes *planes);

/// A maximum of the accumulator.
typedef struct mote_planes_peak {
    uint64_t votes;
    double normal[3], offset; ///< of the middle of its cell
    uint64_t reserved[4];     ///< zero, see types.h
} mote_planes_peak;

/// The transform alone: all points vote (or the sample that params asks for), what is no maximum is suppressed, and the
/// cells with the most votes win. Where params gives the bin, nothing else is measured: spacing and noise are 0 then,
/// and so is a tolerance that was not given. The directions stay with ctx for the next call; see mote_context_trim.
/// peaks     [max] out, by votes
/// max       1 or more
/// count     out: how many there are
/// facts     out, may be NULL
/// Returns   as mote_planes_find
MOTE_API mote_status mote_planes_vote(mote_context *ctx, const mote_cloud *cloud, const mote_planes_params *params,
                                      uint32_t max, mote_planes_peak *peaks, uint32_t *count, mote_planes_facts *facts);

#ifdef __cplusplus
}
#endif
#endif

#!/usr/bin/env python3
"""Nearest neighbours of numpy arrays: how far apart the points of a scan are.

    neighbours.py [SCAN]        without a scan, of a made-up town
"""
import sys

import numpy

import mote

cloud = mote.read(sys.argv[1]) if len(sys.argv) > 1 else mote.gen("city", 100_000)
points = cloud.xyz  # N x 3, numpy

near = mote.knn(points, k=2)  # the point itself, and its nearest other
spacing = numpy.sqrt(near.distance2[:, 1])
print(f"{len(points):,} points; the nearest other is {numpy.median(spacing):.3f} away in the middle, "
      f"{spacing.max():.3f} at most")

# Other queries, of the same index.
index = mote.knn_index(points)
middle = points.mean(axis=0, keepdims=True)
nearest = index.search(middle, k=5)
print("nearest to the middle:", nearest.index[0].tolist())
around = index.within(1.0, middle)
print(f"{len(around.index)} points within 1 of it")

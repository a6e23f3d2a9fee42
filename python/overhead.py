#!/usr/bin/env python3
"""What a call from Python costs beside the library's own work: microseconds of processor time, the least of many runs
and, behind it, their median.

    overhead.py     beside each call stands the same by ctypes alone: structs and arrays made before, and a context that
                    reports no progress, for what Python's callback takes is part of the cost
"""
import ctypes
import statistics
import time

import numpy

import mote
from mote import _arrays
from mote import _declarations as declared
from mote import _library as library

CALLS, RUNS = 200, 100


def cost(call):
    """Microseconds of one call, the least and the median."""
    runs = []
    for _ in range(RUNS):
        begin = time.thread_time()
        for _ in range(CALLS):
            call()
        runs.append((time.thread_time() - begin) / CALLS * 1e6)
    return min(runs), statistics.median(runs)


class Bare:
    """What mote.Cloud and mote.knn_index make, by ctypes alone."""

    def __init__(self, points):
        self.context, self.cloud, self.index = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        params = library.mote_context_defaults()
        params.threads = 1
        self.rows = _arrays.rows_of(points)[0]
        assert library.mote_context_create(ctypes.byref(params), ctypes.byref(self.context)) == 0
        assert library.mote_cloud_wrap(self.context, len(points), self.rows, 3, ctypes.byref(self.cloud)) == 0
        assert library.mote_knn_build(self.context, self.cloud, ctypes.byref(self.index)) == 0

    def close(self):
        library.mote_knn_destroy(self.index)
        library.mote_cloud_destroy(self.cloud)
        library.mote_context_destroy(self.context)


def main():
    points = numpy.random.default_rng(1).random((50, 3))
    box, params, result = declared.mote_box(), library.mote_knn_defaults(), declared.mote_knn_result()
    params.k = 1
    answer = numpy.empty((50, 1), numpy.int32), numpy.empty((50, 1), numpy.float32), numpy.empty(50, numpy.uint32)
    result.index32, result.distance2, result.count = map(_arrays.pointer, answer)
    bare, made = Bare(points), ctypes.c_void_p()
    with mote.Context(threads=1):
        cloud = mote.Cloud(points)
        index = mote.knn_index(cloud)

        def wrap():
            library.mote_cloud_wrap(bare.context, 50, bare.rows, 3, ctypes.byref(made))
            library.mote_cloud_destroy(made)

        def knn(of=bare.cloud):
            library.mote_knn(bare.context, of, None, ctypes.byref(params), ctypes.byref(result))

        def wrap_and_knn():
            library.mote_cloud_wrap(bare.context, 50, bare.rows, 3, ctypes.byref(made))
            knn(made)
            library.mote_cloud_destroy(made)

        cases = [
            ("mote.Cloud(array)", lambda: mote.Cloud(points), wrap),
            ('cloud["x"]', lambda: cloud["x"], lambda: library.mote_cloud_match(bare.cloud, b"x")),
            ("cloud.bounds", lambda: cloud.bounds,
             lambda: library.mote_cloud_bounds(bare.context, bare.cloud, ctypes.byref(box), None)),
            ("index.search(k=1)", lambda: index.search(k=1),
             lambda: library.mote_knn_search(bare.index, None, ctypes.byref(params), ctypes.byref(result))),
            ("mote.knn(cloud, k=1)", lambda: mote.knn(cloud, k=1), knn),
            ("mote.knn(array, k=1)", lambda: mote.knn(points, k=1), wrap_and_knn),
        ]
        print(f"{'50 points, 1 thread':22}{'mote':>14}{'ctypes':>14}{'beside':>14}  µs, least and median")
        for name, ours, alone in cases:
            whole, own = cost(ours), cost(alone)
            beside = [one - other for one, other in zip(whole, own)]
            print(f"{name:22}" + "".join(f"{least:7.1f}{median:7.1f}" for least, median in (whole, own, beside)))
    bare.close()


if __name__ == "__main__":
    main()

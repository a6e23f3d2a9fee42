#!/usr/bin/env python3
"""What a call from Python costs beside the library's own work: microseconds of processor time, the least of many runs.

    overhead.py     beside each call stands the same by ctypes alone, with structs and arrays made before
"""
import ctypes
import time

import numpy

import mote
from mote import _arrays
from mote import _declarations as declared
from mote import _library as library

CALLS, RUNS = 1000, 15


def least(call):
    best = float("inf")
    for _ in range(RUNS):
        begin = time.thread_time()
        for _ in range(CALLS):
            call()
        best = min(best, (time.thread_time() - begin) / CALLS)
    return best * 1e6


def main():
    points = numpy.random.default_rng(1).random((50, 3))
    box, params, result = declared.mote_box(), library.mote_knn_defaults(), declared.mote_knn_result()
    params.k = 1
    answer = numpy.empty((50, 1), numpy.int32), numpy.empty((50, 1), numpy.float32), numpy.empty(50, numpy.uint32)
    result.index32, result.distance2, result.count = map(_arrays.pointer, answer)
    with mote.Context(threads=1) as context:
        cloud = mote.Cloud(points)
        index = mote.knn_index(cloud)
        rows, made = _arrays.rows_of(points)[0], ctypes.c_void_p()
        ctx, handle, tree = context._pointer, cloud._handle.pointer, index._handle.pointer

        def wrap():
            library.mote_cloud_wrap(ctx, 50, rows, 3, ctypes.byref(made))
            library.mote_cloud_destroy(made)

        def wrap_and_knn():
            library.mote_cloud_wrap(ctx, 50, rows, 3, ctypes.byref(made))
            library.mote_knn(ctx, made, None, ctypes.byref(params), ctypes.byref(result))
            library.mote_cloud_destroy(made)

        cases = [
            ("mote.Cloud(array)", lambda: mote.Cloud(points), wrap),
            ('cloud["x"]', lambda: cloud["x"], lambda: library.mote_cloud_match(handle, b"x")),
            ("cloud.bounds", lambda: cloud.bounds,
             lambda: library.mote_cloud_bounds(ctx, handle, ctypes.byref(box), None)),
            ("index.search(k=1)", lambda: index.search(k=1),
             lambda: library.mote_knn_search(tree, None, ctypes.byref(params), ctypes.byref(result))),
            ("mote.knn(cloud, k=1)", lambda: mote.knn(cloud, k=1),
             lambda: library.mote_knn(ctx, handle, None, ctypes.byref(params), ctypes.byref(result))),
            ("mote.knn(array, k=1)", lambda: mote.knn(points, k=1), wrap_and_knn),
        ]
        print(f"{'50 points, 1 thread':24}{'mote':>8}{'ctypes':>8}{'beside':>8}  µs")
        for name, ours, bare in cases:
            whole, own = least(ours), least(bare)
            print(f"{name:24}{whole:8.1f}{own:8.1f}{whole - own:8.1f}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How long calls go on after they are cancelled: each is cancelled some times, at moments that are spread over it.

    cancels.py [TIMES] [NAME...]      TIMES: of each call (5); NAME: only calls whose name has it

Counted in processor time of the process, of two threads: other programs do not change that, and on a machine with two
cores that are idle the wait is at most as long. docs/python.md says that it is a tenth of a second.
"""
import sys
import time

import mote

POINTS = 1_500_000


def calls():
    """Names and calls, each with a progress function."""
    city, clusters, room, uniform = (mote.gen(kind, POINTS) for kind in ("city", "clusters", "room", "uniform"))
    wide = float(clusters.bounds[1][0] - clusters.bounds[0][0])
    some, few = clusters[:300_000], uniform[:60_000]
    index, tree = mote.knn_index(some), mote.lod(city)
    size = {"width": 3000, "height": 2000}
    yield "gen city", lambda watch: mote.gen("city", 2 * POINTS, progress=watch)
    yield "render points", lambda watch: mote.render(city, mode="points", progress=watch, **size)
    yield "render average", lambda watch: mote.render(city, mode="average", progress=watch, **size)
    yield "render surface", lambda watch: mote.render(city, mode="surface", progress=watch, **size)
    yield "render surface, 4 samples", lambda watch: mote.render(room, mode="surface", samples=2, progress=watch, **size)
    yield "render, holes closed", lambda watch: mote.render(room, close_pixels=40, progress=watch, **size)
    yield "planes of a room", lambda watch: mote.planes(room, progress=watch)
    yield "planes of a city", lambda watch: mote.planes(city, progress=watch)
    yield "planes of noise", lambda watch: mote.planes(uniform[:300_000], progress=watch)
    yield "knn, k 1000", lambda watch: mote.knn(few, k=1000, progress=watch)
    yield "knn, k 200", lambda watch: mote.knn(some, k=200, progress=watch)
    yield "knn, brute", lambda watch: mote.knn(few, k=200, method="brute", progress=watch)
    yield "knn_index", lambda watch: mote.knn_index(city, progress=watch)
    yield "within", lambda watch: index.within(wide / 20, progress=watch)
    yield "normals, k 200", lambda watch: mote.normals(some, k=200, progress=watch)
    yield "normals, propagated", lambda watch: mote.normals(city, orient="propagate", progress=watch)
    yield "outliers", lambda watch: mote.outliers(city, progress=watch)
    yield "lod", lambda watch: mote.lod(city, progress=watch)
    yield "lod, poisson", lambda watch: mote.lod(uniform, sampling="poisson", progress=watch)
    yield "lod.write", lambda watch: tree.write("cancelled.copc.laz", progress=watch)
    yield "write LAZ", lambda watch: mote.write(city, "cancelled.laz", progress=watch)
    yield "write PLY", lambda watch: mote.write(city, "cancelled.ply", progress=watch)


def longest_wait(call, times):
    """The longest time from a moment in the call to its end where the first question after that is answered by no."""
    begin = time.process_time()
    call(lambda done, stage: True)
    whole, longest, where = time.process_time() - begin, 0.0, ""
    for turn in range(times):
        moment, last = (turn + 0.5) / times * whole, [time.process_time()] * 2
        begin, stage_now = last[0], ["the begin"]

        def watch(done, stage):
            now = time.process_time()
            if now - begin < moment:
                last[0], stage_now[0] = now, stage
                return True
            return False

        try:
            call(watch)
        except mote.Cancelled:
            pass
        # From the last question that was answered by yes: so late may the wish have come.
        wait = time.process_time() - last[0]
        if wait > longest:
            longest, where = wait, f"at {moment / whole:.2f}, {stage_now[0]}"
    return whole, longest, where


def main():
    words = sys.argv[1:]
    times = int(words.pop(0)) if words and words[0].isdigit() else 5
    with mote.Context(threads=2):
        for name, call in calls():
            if not words or any(word in name for word in words):
                whole, longest, where = longest_wait(call, times)
                print(f"{name:28} {whole:7.2f} s  {longest:6.3f} s  {where}", flush=True)


if __name__ == "__main__":
    main()

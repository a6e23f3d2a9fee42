#!/usr/bin/env python3
"""How long calls go on after they are cancelled: each is cancelled some times, at moments that are spread over it.

    cancels.py [--points N] [--interrupts] [TIMES] [NAME...]

    TIMES         of each call (5)
    NAME          only calls whose name has it
    --points      how many the largest clouds have (1.5 million); the others are shares of it
    --interrupts  the call is interrupted by a signal, as by Ctrl-C, and raises KeyboardInterrupt

Counted in processor time of the process, of two threads: other programs do not change that, and on a machine with two
cores that are idle the wait is at most as long. docs/python.md says that it is a tenth of a second.
"""
import argparse
import signal
import threading
import time

import mote


def calls(points):
    """Names and calls, each with a progress function."""
    city, clusters, room, uniform = (mote.gen(kind, points) for kind in ("city", "clusters", "room", "uniform"))
    wide = float(clusters.bounds[1][0] - clusters.bounds[0][0])
    some, few = clusters[:points // 5], uniform[:points // 25]
    index, whole, tree = mote.knn_index(clusters[:100_000]), mote.knn_index(uniform), mote.lod(city)
    size = {"width": 3000, "height": 2000}
    yield "gen city", lambda watch: mote.gen("city", 2 * points, progress=watch)
    yield "render points", lambda watch: mote.render(city, mode="points", progress=watch, **size)
    yield "render average", lambda watch: mote.render(city, mode="average", progress=watch, **size)
    yield "render surface", lambda watch: mote.render(city, mode="surface", progress=watch, **size)
    yield "render surface, 4 samples", lambda watch: mote.render(room, mode="surface", samples=2, progress=watch, **size)
    yield "render, holes closed", lambda watch: mote.render(room, close_pixels=40, progress=watch, **size)
    yield "planes of a room", lambda watch: mote.planes(room, progress=watch)
    yield "planes of a city", lambda watch: mote.planes(city, progress=watch)
    yield "planes of noise", lambda watch: mote.planes(uniform[:points // 5], progress=watch)
    yield "knn, k 1000", lambda watch: mote.knn(few, k=1000, progress=watch)
    yield "knn, k 200", lambda watch: mote.knn(some, k=200, progress=watch)
    yield "knn, brute", lambda watch: mote.knn(few, k=200, method="brute", progress=watch)
    yield "knn_index", lambda watch: mote.knn_index(city, progress=watch)
    yield "within", lambda watch: index.within(wide / 1000, progress=watch)
    yield "within, all of 3", lambda watch: whole.within(1e9, uniform[:3], progress=watch)
    yield "normals, k 200", lambda watch: mote.normals(some, k=200, progress=watch)
    yield "normals", lambda watch: mote.normals(city, progress=watch)
    yield "normals, propagated", lambda watch: mote.normals(city, orient="propagate", progress=watch)
    yield "outliers", lambda watch: mote.outliers(city, progress=watch)
    yield "lod", lambda watch: mote.lod(city, progress=watch)
    yield "lod, poisson", lambda watch: mote.lod(uniform, sampling="poisson", progress=watch)
    yield "lod.write", lambda watch: tree.write("cancelled.copc.laz", progress=watch)
    yield "write LAZ", lambda watch: mote.write(city, "cancelled.laz", progress=watch)
    yield "write LAS", lambda watch: mote.write(city, "cancelled.las", progress=watch)
    yield "write text", lambda watch: mote.write(city, "cancelled.csv", progress=watch)
    yield "lod.write, a folder", lambda watch: tree.write("cancelled.mote", progress=watch)
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


def longest_interrupt(call, times):
    """The same of a signal that comes while nothing asks by a progress function."""
    begin = time.process_time()
    call(None)
    whole, longest, where = time.process_time() - begin, 0.0, ""
    for turn in range(times):
        moment, sent = (turn + 0.5) / times * whole, []

        def send():
            while time.process_time() - begin < moment:
                time.sleep(0.001)
            sent.append(time.process_time())
            signal.raise_signal(signal.SIGINT)

        begin = time.process_time()
        sender = threading.Thread(target=send)
        try:
            sender.start()
            call(None)
            while True:  # the call was quicker
                time.sleep(0.001)
        except KeyboardInterrupt:
            wait = time.process_time() - sent[0]
        sender.join()
        if wait > longest:
            longest, where = wait, f"at {moment / whole:.2f}"
    return whole, longest, where


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1_500_000)
    parser.add_argument("--interrupts", action="store_true")
    parser.add_argument("words", nargs="*", metavar="TIMES NAME")
    options = parser.parse_args()
    words = options.words
    times = int(words.pop(0)) if words and words[0].isdigit() else 5
    measure = longest_interrupt if options.interrupts else longest_wait
    with mote.Context(threads=2):
        for name, call in calls(options.points):
            if not words or any(word in name for word in words):
                whole, longest, where = measure(call, times)
                print(f"{name:28} {whole:7.2f} s  {longest:6.3f} s  {where}", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What mote lod --plan says beside what the run with --memory of that size then takes.

plan_ratios.py MOTE SHAPED_FILE [--quick] [--shapes TEXT] [--sizes A,B,…] [--options TEXT] [--threads N,…]

A line for each of shape, size, options and threads: plan / used of memory and disk, and the nodes. Ends with 1 where a
plan says less than is used or more than 1.3 times as much, where nodes differ, or where the run fails.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

MOST = 1.3
OPTIONS = [
    ("random", []),
    ("first", ["--sampling", "first"]),
    ("poisson", ["--sampling", "poisson"]),
    ("replacing", ["--scheme", "replacing"]),
    ("replacing none", ["--scheme", "replacing", "--filter", "none"]),
    ("neighbors", ["--filter", "neighbors"]),
    ("gaussian poisson", ["--filter", "gaussian", "--sampling", "poisson"]),
    ("brotli", ["--encoding", "brotli"]),
    ("brotli gaussian", ["--encoding", "brotli", "--filter", "gaussian"]),
    ("brotli poisson", ["--encoding", "brotli", "--sampling", "poisson"]),
    ("copc", []),
    ("copc poisson", ["--sampling", "poisson"]),
    ("small random", ["--merge", "40", "--grid", "8"]),
    ("small brotli", ["--merge", "40", "--grid", "8", "--encoding", "brotli"]),
    ("copc small", ["--merge", "40", "--grid", "8"]),
]
QUICK_OPTIONS = ("random", "gaussian poisson", "brotli", "copc", "copc small")
QUICK_SHAPES = ("all equal", "room, one at zero", "clusters of nine decades", "58 in each place")


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)


def bytes_in(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path))


def remove(path):
    if os.path.isdir(path):
        for name in os.listdir(path):
            os.remove(os.path.join(path, name))
        os.rmdir(path)
    elif os.path.exists(path):
        os.remove(path)


def compare(mote, cloud, name, options, threads):
    output = cloud + (".copc.laz" if name.startswith("copc") else ".mote")
    words = [mote, "lod", cloud, output, "-q", "--json", "--device", "cpu", "--threads", str(threads)] + options
    planned = run(words + ["--plan"])
    if planned.returncode != 0 and run(words).stderr == planned.stderr:
        return [], "both fail: " + planned.stderr.strip()[:80]
    if planned.returncode != 0:
        return None, "the plan fails: " + planned.stderr.strip()
    plan = json.loads(planned.stdout)
    done = run(words + ["--memory", str(plan["memory_bytes"])])
    if done.returncode != 0:
        return None, "--memory of the plan fails: " + done.stderr.strip()
    made = json.loads(done.stdout)
    used = {"memory": made["peak_bytes"], "disk": bytes_in(output), "nodes": made["nodes"]}
    said = {"memory": plan["memory_bytes"], "disk": plan["disk_bytes"], "nodes": plan["nodes"]}
    remove(output)
    wrong = [key for key in ("memory", "disk") if not used[key] <= said[key] <= MOST * used[key]]
    if said["nodes"] != used["nodes"]:
        wrong.append("nodes")
    text = "  ".join("%s %11d /%11d = %5.2f" % (key, said[key], used[key], said[key] / max(used[key], 1))
                     for key in ("memory", "disk"))
    return wrong, "%s  %6d nodes" % (text, used["nodes"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mote")
    parser.add_argument("shaped_file")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--shapes", default="")
    parser.add_argument("--options", default="")
    parser.add_argument("--sizes", default="")
    parser.add_argument("--threads", default="2")
    args = parser.parse_args()
    shapes = run([args.shaped_file]).stdout.splitlines()
    shapes = [s for s in shapes if args.shapes in s and (not args.quick or s in QUICK_SHAPES)]
    options = [o for o in OPTIONS if args.options in o[0] and (not args.quick or o[0] in QUICK_OPTIONS)]
    sizes = args.sizes or ("1,30000" if args.quick else "0,1,100,10000,60000,300000")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        cloud = os.path.join(folder, "cloud.ply")
        for size in sizes.split(","):
            for shape in shapes:
                made = run([args.shaped_file, shape, size, cloud])
                if made.returncode != 0:
                    sys.exit("%s of %s points: %s" % (shape, size, made.stderr))
                for threads in args.threads.split(","):
                    for name, words in options:
                        wrong, text = compare(args.mote, cloud, name, words, threads)
                        failures += wrong is None or len(wrong) > 0
                        mark = "FAILS" if wrong is None else " ".join(wrong) if wrong else ""
                        print("%-26s %7s %2s  %-16s %s  %s" % (shape, size, threads, name, text, mark), flush=True)
    print("%d wrong" % failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

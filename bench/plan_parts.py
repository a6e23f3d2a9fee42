#!/usr/bin/env python3
"""What mote lod --plan-parts says that each part will take, beside what it takes then.

    plan_parts.py MOTE SCRATCH [--points N] [--parts 4,16,64] [--only TEXT] [--each N]

Clouds of N points are made in SCRATCH: one LAS, one LAZ, nine tiles of it. Of each plan some parts are made, and for
memory (peak resident), scratch (bytes of the part's files) and seconds (of processors, user and system) a line says
the least and the greatest of predicted / taken. Ends with 1 where one is not within a quarter, or where a part takes
more memory than memory_limit_bytes and the program together.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

WITHIN = 1.25
KINDS = [
    ("LAS", "cloud.las", "out", []),
    ("LAZ", "cloud.laz", "out", []),
    ("9 tiles", "tiles", "out", []),
    ("LAS cell", "cloud.las", "out", ["--filter", "cell"]),
    ("LAS where", "cloud.las", "out", ["--where", "classification == 2"]),
    ("LAS gaussian", "cloud.las", "out", ["--filter", "gaussian"]),
    ("LAZ neighbors", "cloud.laz", "out", ["--filter", "neighbors"]),
    ("LAS poisson", "cloud.las", "out", ["--sampling", "poisson"]),
    ("LAZ poisson", "cloud.laz", "out", ["--sampling", "poisson"]),
    ("LAS copc", "cloud.las", "out.copc.laz", []),
    ("LAZ copc", "cloud.laz", "out.copc.laz", []),
    ("9 tiles copc", "tiles", "out.copc.laz", []),
    ("LAZ copc poisson", "cloud.laz", "out.copc.laz", ["--sampling", "poisson"]),
]


def run(words):
    """Peak resident bytes, and seconds of processors."""
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = child.stderr.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status != 0:
        sys.exit("%s: %s" % (" ".join(words), message))
    return usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime


def clear(path):
    shutil.rmtree(path, ignore_errors=True)
    if os.path.exists(path):
        os.remove(path)


def make_inputs(mote, points):
    if not os.path.exists("cloud.las"):
        run([mote, "gen", "city", "-o", "cloud.las", "-n", str(points), "-q"])
    if not os.path.exists("cloud.laz"):
        run([mote, "convert", "cloud.las", "-o", "cloud.laz", "-q"])
    if os.path.isdir("tiles"):
        return
    os.mkdir("tiles")
    info = json.loads(subprocess.check_output([mote, "info", "cloud.las", "--json"]))
    low, high = info["min"], info["max"]
    for i in range(9):
        bounds = []
        for k, n in ((0, i % 3), (1, i // 3)):
            step = (high[k] - low[k]) / 3
            name = "xy"[k]
            bounds.append("%s >= %r" % (name, low[k] + n * step) if n > 0 else "%s < %r" % (name, high[k] + 1))
            if n < 2:
                bounds.append("%s < %r" % (name, low[k] + (n + 1) * step))
        run([mote, "convert", "cloud.las", "-o", "tiles/%d.laz" % i, "--where", " && ".join(bounds), "-q"])


def compare(mote, kind, count, each):
    _, source, output, options = kind
    floor, _ = run([mote, "--version"])
    for path in (output, output + ".parts"):
        clear(path)
    run([mote, "lod", source, "-o", output, "--plan-parts", "plan.json", "--parts", str(count), "-q"] + options)
    with open("plan.json") as file:
        parts = json.load(file)["parts"]
    ratios = {"memory": [], "scratch": [], "seconds": []}
    beyond = 0
    for i in range(0, len(parts), max(1, len(parts) // each)):
        peak, seconds = run([mote, "lod", "--part", str(i + 1), "plan.json", "-q"])
        files = sum(os.path.getsize("%s.parts/%d.%s" % (output, i + 1, name)) for name in ("octree", "json"))
        ratios["memory"].append(parts[i]["memory_bytes"] / peak)
        ratios["scratch"].append(parts[i]["scratch_bytes"] / files)
        ratios["seconds"].append(parts[i]["seconds"] / seconds)
        beyond += peak > parts[i]["memory_limit_bytes"] + floor
    clear(output + ".parts")
    return len(parts), ratios, beyond


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mote")
    parser.add_argument("scratch")
    parser.add_argument("--points", type=int, default=4000000)
    parser.add_argument("--parts", default="4,16,64")
    parser.add_argument("--only", default="")
    parser.add_argument("--each", type=int, default=5)
    args = parser.parse_args()
    mote = os.path.abspath(args.mote)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait would take what others need
    os.makedirs(args.scratch, exist_ok=True)
    os.chdir(args.scratch)
    make_inputs(mote, args.points)
    wrong = 0
    for kind in KINDS:
        if args.only not in kind[0]:
            continue
        for count in args.parts.split(","):
            parts, ratios, beyond = compare(mote, kind, int(count), args.each)
            bad = [name for name, values in ratios.items() if max(values) > WITHIN or min(values) < 1 / WITHIN]
            bad += ["beyond the limit"] * (beyond > 0)
            wrong += len(bad) > 0
            print("%-14s %3d  %s  %s" % (kind[0], parts, "  ".join(
                "%s %4.2f to %4.2f" % (name, min(values), max(values)) for name, values in ratios.items()),
                " ".join(bad)), flush=True)
    print("%d wrong" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What a limit in the code is worth: times with it halved, as it is, and doubled.

    bench/limits.py BUILD SCRATCH [--rounds 7] [--only NAME …]

Each row of LIMITS names a file, a constant of it and clouds with options of the command. BUILD is a configured build
folder, of which the flags are taken; SCRATCH gets a copy of the sources, one program for each value, and the clouds.
The programs run in turns on one thread, and what is compared is the processor time of the process, which a busy
machine spoils less than the clock. A row says the median of the ratios to the program as it is, and the least and the
largest of them; "as it is" against a second copy of itself, first, says what of that is chance. Nothing else may come
out: the checksums of all results are compared.
"""
import argparse
import hashlib
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLOUDS = {
    "uniform": ["gen", "uniform", "-n", "300k"],
    "city": ["gen", "city", "-n", "300k"],
    "clusters": ["gen", "clusters", "-n", "300k"],
    "small": ["gen", "uniform", "-n", "30k"],
}
KNN = [("uniform", ["-k", "1"]), ("uniform", ["-k", "10"]), ("city", ["-k", "10"]), ("clusters", ["-k", "10"]),
       ("small", ["-k", "64"]), ("small", ["-k", "300"])]
FEW = KNN[:4]
MANY = KNN[4:]
LIMITS = [
    ("src/knn/cpu/knn_best.c", "INSERTION_MAX", MANY),
    ("src/knn/cpu/knn_group.h", "KNN_SPLIT", KNN),
    ("src/knn/cpu/knn_group.h", "KNN_AROUND", KNN),
    ("src/knn/cpu/knn_points_cpu.c", "AHEAD", FEW),
    ("src/knn/cpu/knn_points_cpu.c", "LEAVES_AT_ONCE", FEW),
    ("src/knn/cpu/knn_radius.h", "KNN_GUESS_NONE", KNN),
    ("src/knn/cpu/knn_radius.h", "KNN_MARGIN_STEP", KNN),
    ("src/knn/cpu/knn_radius.h", "KNN_MARGIN_RATE", KNN),
    ("src/knn/cpu/knn_ranked.h", "KNN_SUBSET_MAX", KNN),
    ("src/knn/cpu/knn_ranked.h", "KNN_RANKED_MAX", MANY),
    ("src/knn/cpu/knn_search.h", "KNN_BATCH", KNN),
    ("src/knn/cpu/knn_search_cpu.c", "SHARE_BATCHES", KNN),
    ("src/knn/cpu/knn_traversal.h", "KNN_CHUNK", KNN),
]


def scaled(text, factor):
    """The number of a #define, times a factor, of the same kind."""
    number = re.match(r"[0-9.]+", text)[0]
    rest = text[len(number):]
    if "." in number:
        return f"{float(number) * factor:g}{rest}"
    return f"{max(1, int(int(number) * factor))}{rest}"


def build(folder, scratch, file, name, factor, program):
    """Makes the program with one number changed; False where it does not compile (a static assertion, mostly)."""
    path = scratch / "source" / file
    whole = path.read_text()
    pattern = re.compile(rf"^(#define {name}\s+)(\S+)", re.M)
    if factor != 1:
        path.write_text(pattern.sub(lambda m: m[1] + scaled(m[2], factor), whole, count=1))
    made = subprocess.run(["cmake", "--build", str(folder), "--target", "mote_command"], capture_output=True)
    path.write_text(whole)
    if made.returncode != 0:
        return False
    shutil.copy2(folder / "mote", program)
    return True


def run(program, cloud, options, scratch):
    """Seconds of processor, and the checksum of what came out."""
    out = scratch / "out.npz"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "knn", scratch / f"{cloud}.las", "-o", out, "--threads", "1", "-q", "--force", *options],
                   check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, hashlib.sha256(out.read_bytes()).hexdigest()


def compare(programs, runs, rounds, scratch):
    """By run and program: the ratios to the first program, one of each round."""
    ratios = {}
    sums = {}
    for _ in range(rounds):
        for number, (cloud, options) in enumerate(runs):
            seconds = {}
            for name in programs:
                seconds[name], sum_of = run(programs[name], cloud, options, scratch)
                if sums.setdefault(number, sum_of) != sum_of:
                    sys.exit(f"{name}: another result for {cloud} {options}")
            base = seconds["1"]
            for name in programs:
                ratios.setdefault((number, name), []).append(seconds[name] / base)
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="*")
    o = parser.parse_args()
    source, folder = o.scratch / "source", o.scratch / "build"
    source.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if not (ROOT / name).is_file():
            continue
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        if not (source / name).exists() or (source / name).read_bytes() != (ROOT / name).read_bytes():
            shutil.copy(ROOT / name, source / name)
    kind = re.search(r"CMAKE_BUILD_TYPE:\w+=(\w+)", (o.build / "CMakeCache.txt").read_text())[1]
    subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", f"-DCMAKE_BUILD_TYPE={kind}", "-DMOTE_CUDA=OFF",
                    "-DMOTE_TESTS=OFF"], check=True, stdout=subprocess.DEVNULL)
    base = o.scratch / "mote.1"
    if not build(folder, o.scratch, LIMITS[0][0], LIMITS[0][1], 1, base):
        sys.exit("the tree does not build")
    for cloud, options in CLOUDS.items():
        if not (o.scratch / f"{cloud}.las").exists():
            subprocess.run([base, *options, "-o", o.scratch / f"{cloud}.las", "-q", "--force"], check=True)
    shutil.copy2(base, o.scratch / "mote.same")
    rows = [(None, "chance", KNN)] + [row for row in LIMITS if not o.only or row[1] in o.only]
    print("| limit | run | half | double |\n|---|---|---|---|", flush=True)
    for file, name, runs in rows:
        programs = {"1": base}
        for word, factor in (("half", 0.5), ("double", 2)):
            program = o.scratch / ("mote.same" if file is None else f"mote.{word}")
            if file is None or build(folder, o.scratch, file, name, factor, program):
                programs[word] = program
        ratios = compare(programs, runs, o.rounds, o.scratch)
        for number, (cloud, options) in enumerate(runs):
            cells = []
            for word in ("half", "double"):
                r = ratios.get((number, word))
                cells.append(f"{statistics.median(r):.3f} ({min(r):.2f} to {max(r):.2f})" if r else "does not compile")
            print(f"| {name} | {cloud} {' '.join(options)} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    os.environ["OMP_WAIT_POLICY"] = "passive"
    main()

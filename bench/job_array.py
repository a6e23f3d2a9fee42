#!/usr/bin/env python3
"""What a job array on one node takes beside one process with the same cores, for each input that is given.

    job_array.py MOTE SCRATCH INPUT… [--parts 8] [--memory 150M] [--runs 5] [--cores 2] [--output out|out.copc.laz]

In turn, RUNS times: `mote lod INPUT -o OUT --memory SIZE` with CORES threads; and a plan with CORES threads, its parts
with a thread each, CORES at a time, and the merge. Of each the median and the spread of seconds of processors (user and
system) and of seconds that passed. Ends with 1 where the two outputs differ.
"""
import argparse
import filecmp
import os
import shutil
import statistics
import subprocess
import sys
import time


def start(words, threads):
    return subprocess.Popen(words + ["--threads", str(threads), "-q"], stdout=subprocess.DEVNULL)


def wait(child):
    """Seconds of processors."""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status != 0:
        sys.exit("%s: ended with %d" % (" ".join(child.args), status))
    return usage.ru_utime + usage.ru_stime


def timed(work):
    """Seconds of processors, and those that passed."""
    since = time.monotonic()
    return work(), time.monotonic() - since


def clear(path):
    shutil.rmtree(path, ignore_errors=True)
    if os.path.isfile(path):
        os.remove(path)


def part_numbers(count):
    return ["%d/%d" % (i + 1, count) for i in range(count)]


def make_parts(mote, count, cores):
    """All parts, as many at a time as there are cores, as an array of tasks of one core each."""
    waiting, running, seconds = part_numbers(count), [], 0
    while waiting or running:
        while waiting and len(running) < cores:
            running.append(start([mote, "lod", "--part", waiting.pop(0), "plan.json"], 1))
        done = next((child for child in running if has_ended(child)), None)
        if done is None:
            time.sleep(0.002)
            continue
        running.remove(done)
        seconds += wait(done)
    return seconds


def has_ended(child):
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def same(a, b):
    names = sorted(os.listdir(a)) if os.path.isdir(a) else None
    if names is None:
        return filecmp.cmp(a, b, shallow=False)
    pairs = [(os.path.join(a, name), os.path.join(b, name)) for name in names]
    return names == sorted(os.listdir(b)) and all(filecmp.cmp(x, y, shallow=False) for x, y in pairs)


def run_once(mote, source, args, took):
    one, output = "one/" + args.output, "array/" + args.output
    for path in ("one", "array", "plan.json"):
        clear(path)
    os.makedirs("one")
    os.makedirs("array")
    lod = [mote, "lod", source, "-o"]
    took["one process"].append(timed(lambda: wait(start(lod + [one, "--memory", args.memory], args.cores))))
    plan = lod + [output, "--plan-parts", "plan.json", "--parts", str(args.parts)]
    took["plan"].append(timed(lambda: wait(start(plan, args.cores))))
    took["parts"].append(timed(lambda: make_parts(mote, args.parts, args.cores)))
    took["merge"].append(timed(lambda: wait(start([mote, "lod", "--merge", "plan.json"], args.cores))))
    steps = [took[name][-1] for name in ("plan", "parts", "merge")]
    took["array"].append((sum(step[0] for step in steps), sum(step[1] for step in steps)))
    return same(one, output)


def line(values):
    return "%6.2f (%.2f to %.2f)" % (statistics.median(values), min(values), max(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mote")
    parser.add_argument("scratch")
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--memory", default="150M")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--output", default="out", choices=["out", "out.copc.laz"])
    args = parser.parse_args()
    mote, inputs = os.path.abspath(args.mote), [os.path.abspath(path) for path in args.inputs]
    os.makedirs(args.scratch, exist_ok=True)
    os.chdir(args.scratch)
    differ = 0
    for source in inputs:
        took = {"one process": [], "plan": [], "parts": [], "merge": [], "array": []}
        for _ in range(args.runs):
            differ += not run_once(mote, source, args, took)
        for name, pairs in took.items():
            print("%-20s %-12s processors %s  passed %s" % (os.path.basename(source), name, line([p[0] for p in pairs]),
                                                           line([p[1] for p in pairs])))
        more = [statistics.median(pair[k] for pair in took["array"]) /
                statistics.median(pair[k] for pair in took["one process"]) - 1 for k in (0, 1)]
        print("%-20s array: processors %+.0f %%, passed %+.0f %%%s" %
              (os.path.basename(source), 100 * more[0], 100 * more[1], ", THE BYTES DIFFER" if differ else ""),
              flush=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs ctest, and says where the time went: writes a table of seconds by test, and prints its ten longest.

  run.py BUILD [--with OTHER_BUILD] [CTEST ARGUMENT...]

The table is BUILD/seconds.csv, the longest first. --with adds the table of another build, whose tests a test of this one
ran (check_sanitizers), under that build's name. Ends with ctest's exit code and its summary as the last line.

Sweeps of which a run takes a part (test_turn) take another with each commit, whose hash is MOTE_TEST_SEED where nobody
set it. MOTE_TEST_ALL=1 takes all allocations and reports that are made to fail.
"""
import csv
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

LONGEST = 10


def seconds_of(junit):
    """Rows (seconds, name, status) of what ctest wrote."""
    cases = xml.parse(junit).getroot().iter("testcase")
    return [(float(c.get("time")), c.get("name"), c.get("status")) for c in cases]


def write_table(file, rows):
    with open(file, "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["seconds", "test", "status"])
        table.writerows([f"{seconds:.1f}", name, status] for seconds, name, status in rows)


def read_table(file):
    with open(file, newline="") as table:
        return [(float(row["seconds"]), row["test"], row["status"]) for row in csv.DictReader(table)]


def seed_of_commit():
    """The same for all who test the same commit; 0 without git."""
    found = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True)
    return str(int(found.stdout[:8], 16)) if found.returncode == 0 else "0"


def main(arguments):
    os.environ.setdefault("MOTE_TEST_SEED", seed_of_commit())
    build, other = pathlib.Path(arguments[0]), None
    ctest_arguments = arguments[1:]
    if ctest_arguments[:1] == ["--with"]:
        other, ctest_arguments = pathlib.Path(ctest_arguments[1]), ctest_arguments[2:]
    junit = (build / "tests.xml").resolve()
    junit.unlink(missing_ok=True)
    if other:
        (other / "seconds.csv").unlink(missing_ok=True)  # of an earlier run
    code = subprocess.run(["ctest", "--test-dir", str(build), "--output-junit", str(junit), *ctest_arguments]).returncode
    if not junit.exists():
        return code or 1
    rows = seconds_of(junit)
    failed = sum(status == "fail" for _, _, status in rows)
    summary = f"{100 * (len(rows) - failed) // max(len(rows), 1)}% tests passed, {failed} tests failed out of {len(rows)}"
    if other and (other / "seconds.csv").exists():
        rows += [(seconds, f"{other.name}/{name}", status) for seconds, name, status in read_table(other / "seconds.csv")]
    rows.sort(key=lambda row: (-row[0], row[1]))
    write_table(build / "seconds.csv", rows)
    print(f"\nMOTE_TEST_SEED={os.environ['MOTE_TEST_SEED']} chose the parts of sweeps.")
    print(f"The longest of {len(rows)} tests ({build / 'seconds.csv'} has all):", flush=True)
    for seconds, name, _ in rows[:LONGEST]:
        print(f"{seconds:8.1f} s  {name}")
    print(f"\n{summary}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

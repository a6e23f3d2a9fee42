"""Compares points of E57 files as mote reads them with those of another reader (standard input, of e57_read.mjs or
e57_freecad.py).    python3 tests/interop/e57_compare.py MOTE float|double <POINTS
float: the reader has coordinates as floats. Ends with 1 if anything differs, or if it read no file."""
import struct
import subprocess
import sys


def read_by_mote(mote, path):
    run = subprocess.run([mote, "convert", path, "-", "--format", "csv", "-q"], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return None, run.stderr.strip()
    lines = run.stdout.splitlines()
    names = lines[0].split(",")
    columns = [names.index(n) for n in ("x", "y", "z", "red", "green", "blue") if n in names]
    scale = 257 if any(name == "red" for name in names) and any(
        int(float(line.split(",")[names.index("red")])) > 255 for line in lines[1:]) else 1
    return [[float(line.split(",")[c]) for c in columns] for line in lines[1:]], scale


def compare(mote, path, points, tolerance):
    ours, scale = read_by_mote(mote, path)
    if ours is None:
        return f"mote cannot read it: {scale}"
    if len(ours) != len(points):
        return f"{len(ours)} points, the other reader has {len(points)}"
    for number, (a, b) in enumerate(zip(ours, points)):
        for k in range(3):
            # Floats are printed with the fewest digits that give them back; the other reader has all of the double.
            as_float = struct.unpack("f", struct.pack("f", a[k]))[0]
            if abs(a[k] - b[k]) > tolerance * max(1, abs(b[k])) and as_float != b[k]:
                return f"point {number}: {a} and {b}"
        for k in range(3, min(len(a), len(b))):
            if abs(a[k] / scale - b[k]) > 1:
                return f"colour of point {number}: {a} and {b}"
    return None


def main():
    mote, precision = sys.argv[1:]
    tolerance = 1e-6 if precision == "float" else 1e-12
    files = {}
    for line in sys.stdin:
        if line.startswith("# "):
            files[line[2:].strip()] = points = []
        elif line.startswith("! "):
            points.append(line[2:].strip())
        elif line.strip():
            points.append([float(word) for word in line.split()])
    failures = read = 0
    for path, points in files.items():
        if points and isinstance(points[-1], str):
            print(f"  -     {path}: the other reader says {points[-1]}")
            continue
        if not points:
            print(f"  -     {path}: the other reader finds no points")
            continue
        if path.endswith("cartesian_invalid_state_single.e57"):
            print(f"  -     {path}: not compared: the other reader does not see states that are floats")
            continue
        wrong = compare(mote, path, points, tolerance)
        print(f"  {'ok  ' if wrong is None else 'FAIL'}  {path}: {wrong or f'{len(points)} points'}")
        failures += wrong is not None
        read += 1
    print(f"interop of E57: {read} files compared, {failures} differ")
    return 1 if failures > 0 or read == 0 else 0


sys.exit(main())

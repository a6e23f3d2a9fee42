#!/usr/bin/env python3
"""Measures how right photon mapping is: the table of docs/speed/photon.md. By hand; it takes some minutes.

  photon_right.py MOTE FOLDER

The furnace should be 2 in each pixel. The Cornell boxes are compared with the path tracer: two pictures of it, with
other seeds, whose mean is the reference and whose difference tells its noise. Large pictures are averaged over blocks
down to the size of the reference.
"""
import math
import struct
import subprocess
import sys
from pathlib import Path

SIDE = 32  # of the reference


def read_pfm(path):
    head, size, _, body = Path(path).read_bytes().split(b"\n", 3)
    width, height = map(int, size.split())
    return width, struct.unpack(f"<{3 * width * height}f", body)


def blocks(width, values):
    """Means over blocks, SIDE of them in a row."""
    each = width // SIDE
    sums = [0.0] * (3 * SIDE * SIDE)
    for i, value in enumerate(values):
        x, y = i // 3 % width, i // 3 // width
        sums[3 * (y // each * SIDE + x // each) + i % 3] += value
    return [s / each**2 for s in sums]


def compare(a, b):
    """Mean difference and bias over the mean of b, and PSNR by its largest value."""
    mean = sum(b) / len(b)
    square = sum((x - y) ** 2 for x, y in zip(a, b)) / len(b)
    difference = sum(abs(x - y) for x, y in zip(a, b)) / len(b) / mean
    return 100 * difference, 100 * (sum(a) / len(a) / mean - 1), 10 * math.log10(max(b) ** 2 / square)


def main():
    mote, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)

    def picture(scene, options):
        out = folder / "picture.pfm"
        subprocess.run([mote, "photon", scene, "-o", out, "--quiet", *options.split()], check=True)
        return read_pfm(out)

    print("| furnace | mean | pixels from | to |\n|---|---|---|---|")
    for options in (
        "--method full --photons 300k -k 100 --size 8x8 --samples 8 --gather-rays 64 --shadow-rays 256",
        "--method map --photons 3M -k 100 --size 4x4 --samples 48",
        "--method path --size 8x8 --samples 160",
    ):
        _, values = picture("furnace", options)
        print("| `%s` | %.4f | %.4f | %.4f |" % (options, sum(values) / len(values), min(values), max(values)), flush=True)
    print("\n| scene | picture | mean difference | bias | PSNR |\n|---|---|---|---|---|")
    for scene in ("cornell-empty", "cornell"):
        size = f"--size {SIDE}x{SIDE}"
        one, two = (picture(scene, f"--method path --samples 100 {size} --seed {seed}")[1] for seed in (0, 9))
        reference = [(a + b) / 2 for a, b in zip(one, two)]
        print("| `%s` | `path`, one against the other | %.2f %% | %+.2f %% | %.1f dB |" % (scene, *compare(one, two)))
        for options in (
            f"{size} --samples 16",
            f"{size} --samples 16 --photons 2M",
            "--size 256x256",
            "--size 256x256 --method map",
            "--size 256x256 --method map --area disc",
        ):
            values = blocks(*picture(scene, options))
            print("| `%s` | `%s` | %.2f %% | %+.2f %% | %.1f dB |" % (scene, options, *compare(values, reference)), flush=True)


if __name__ == "__main__":
    main()

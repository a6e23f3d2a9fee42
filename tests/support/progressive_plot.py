#!/usr/bin/env python3
"""Draws docs/images/photon_progressive.svg: the error of progressive pictures against the path tracer's. By hand.

  progressive_plot.py MOTE FOLDER OUT.svg
"""
import math
import re
import subprocess
import sys
from pathlib import Path

PASSES = [1, 2, 4, 8, 16, 32, 64]
COMMON = ["--size", "16x16", "--quiet"]
LEFT, TOP, WIDTH, HEIGHT = 60, 20, 420, 240
LOW, HIGH = 0.02, 0.4  # of the error


def main():
    mote, folder, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    reference = folder / "reference.pfm"
    run = lambda *words: subprocess.run([mote, "photon", "cornell-empty", *map(str, words), *COMMON], check=True, capture_output=True, text=True).stdout
    run("-o", reference, "--method", "path", "--samples", 128)
    errors = []
    for n in PASSES:
        text = run("-o", folder / "p.pfm", "--progressive", n, "--photons", "10k", "-k", 200, "--compare", reference)
        errors.append(float(re.search(r"mean difference ([\d.]+)", text).group(1)) / 100)
        print(n, errors[-1], flush=True)
    x = lambda n: LEFT + WIDTH * math.log(n) / math.log(PASSES[-1])
    y = lambda e: TOP + HEIGHT * math.log(HIGH / e) / math.log(HIGH / LOW)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 20}" height="{TOP + HEIGHT + 50}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>',
    ]
    for n in PASSES:
        lines.append(f'<text x="{x(n):.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{n}</text>')
    for e in (0.02, 0.05, 0.1, 0.2, 0.4):
        lines.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y(e):.1f}" y2="{y(e):.1f}" stroke="#ddd"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{y(e) + 4:.1f}" text-anchor="end">{100 * e:g} %</text>')
    path = lambda values: " ".join(f"{x(n):.1f},{y(e):.1f}" for n, e in zip(PASSES, values))
    theory = [errors[0] * n ** (-1 / 3) for n in PASSES]
    lines.append(f'<polyline points="{path(theory)}" fill="none" stroke="#999" stroke-dasharray="5 4"/>')
    lines.append(f'<polyline points="{path(errors)}" fill="none" stroke="#c33" stroke-width="2"/>')
    lines += [f'<circle cx="{x(n):.1f}" cy="{y(e):.1f}" r="3" fill="#c33"/>' for n, e in zip(PASSES, errors)]
    lines.append(f'<text x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 36}" text-anchor="middle">passes</text>')
    lines.append(f'<text x="{LEFT + WIDTH - 8}" y="{TOP + 18}" text-anchor="end" fill="#c33">mean difference to the path tracer</text>')
    lines.append(f'<text x="{LEFT + WIDTH - 8}" y="{TOP + 36}" text-anchor="end" fill="#777">cube root of the number of passes</text></svg>')
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures false bleeding: the tables and pictures of docs/speed/photon.md. By hand; it takes some minutes.

  false_bleeding.py MOTE FOLDER

First table: places of the Cornell box' floor within 5 cm of the red and the green wall, direct light alone. mote stores
the light that arrives, so that the colour of a wall cannot bleed with it; the paper stored what a surface reflects. To
see what the paper saw, each photon is coloured here by the surface that it lies on: the floor is then red or green
where photons of a wall are gathered. Chroma: red (green) over red + green + blue; its error is the difference to 1/3.
The last column is of mote's own pictures: the mean difference of brightness to shadow rays within 5 cm of the walls.

Second table: a white ball in the box, direct light alone, against shadow rays, where it is lit.
"""
import json
import math
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import make_scene

SHAPES = [("sphere", 1, "disc"), ("c = 2.5", 2.5, "disc"), ("c = 3.5", 3.5, "disc"), ("c = 5", 5, "disc")]
SHAPES += [("c = 7", 7, "disc"), ("c = 20", 20, "disc"), ("sphere, surface", 1, "surface"), ("c = 4, surface", 4, "surface")]
SHAPES += [("c = 20, surface", 20, "surface")]
ACROSS, DOWN = 400, 40  # pixels of 5 mm


def read_pfm(path):
    data = Path(path).read_bytes()
    head, size, _, body = data.split(b"\n", 3)
    width, height = map(int, size.split())
    values = struct.unpack(f"<{3 * width * height}f", body)
    rows = [values[3 * width * y : 3 * width * (y + 1)] for y in range(height)][::-1]
    return [[rows[y][3 * x : 3 * x + 3] for x in range(width)] for y in range(height)]


def read_photons(path):
    """(place, direction, wall) of direct photons near the foot of a side wall; wall: -1 the red one, 1 the green, 0 floor."""
    data = Path(path).read_bytes()
    start = data.index(b"end_header\n") + 11
    photons = []
    for r in struct.iter_unpack("<12fB", data[start:]):
        if r[12] == 0 and abs(r[0]) > 0.75 and r[2] < 0.4:
            photons.append((r[0:3], r[6:9], -1 if r[9] > 0.5 else 1 if r[9] < -0.5 else 0))
    return photons


def tinted_error(photons, wall, c, area, k=256):
    """Mean error of chroma at places within 5 cm of a wall."""
    if area == "surface":
        photons = [p for p in photons if p[2] == 0]
    albedo = {0: (0.75, 0.75, 0.75), -1: (0.7, 0.05, 0.05), 1: (0.08, 0.55, 0.08)}
    total, count = 0, 0
    for y in (-0.6, -0.3, 0, 0.3, 0.6):
        slab = [p for p in photons if abs(p[0][1] - y) < 0.15 and p[0][0] * wall > 0 and p[1][2] < 0]
        for d in (0.005, 0.015, 0.025, 0.035, 0.045):
            x = wall * (1 - d)
            near = sorted(((p[0][0] - x) ** 2 + (p[0][1] - y) ** 2 + (c * p[0][2]) ** 2, p[2]) for p in slab)[: k - 1]
            tint = [sum(albedo[w][i] for _, w in near) for i in range(3)]
            total += abs(tint[0 if wall < 0 else 1] / sum(tint) - 1 / 3)
            count += 1
    return total / count


def scenes(folder):
    """floor.gltf: the box with a camera above its floor; ball.gltf: with a diffuse white ball that stands on it."""
    for name in ("floor", "ball"):
        gltf = make_scene.Gltf()
        for part in make_scene.cornell():
            gltf.add(*part)
        if name == "ball":
            gltf.add("white", *make_scene.sphere((0, 0.1, 0.4), 0.4, 96))
        else:
            s = math.sqrt(0.5)
            gltf.json["cameras"] = [{"type": "orthographic", "orthographic": {"ymag": 0.1, "xmag": 1, "znear": 0.01, "zfar": 9}}]
            gltf.json["nodes"][1] = {"camera": 0, "translation": [0, 0.5, 0.6], "rotation": [-s, 0, 0, s]}
        gltf.write(folder / f"{name}.gltf")


def main():
    mote, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    scenes(folder)

    def run(scene, out, *options):
        subprocess.run([mote, "photon", scene, "-o", folder / out, "--quiet", *map(str, options)], check=True)

    floor = ["--size", f"{ACROSS}x{DOWN}", "--photons", "1M", "-k", 256, "--filter", "none", "--samples", 1]
    run(folder / "floor.gltf", "reference.pfm", *floor, "--method", "shadow", "--shadow-rays", 256)
    reference = read_pfm(folder / "reference.pfm")
    near = ACROSS * 5 // 200
    run("cornell-empty", "none.pfm", "--size", "4x4", "--photons", "1M", "--method", "direct", "--photons-out", folder / "photons.ply")
    photons = read_photons(folder / "photons.ply")
    print("| gathered in | error of chroma, red wall | green wall | difference of brightness |\n|---|---|---|---|")
    for name, c, area in SHAPES:
        run(folder / "floor.gltf", f"floor{c}{area}.pfm", *floor, "--method", "direct", "--compression", c, "--area", area)
        picture = read_pfm(folder / f"floor{c}{area}.pfm")
        cells = [(y, x) for y in range(DOWN) for x in range(ACROSS) if x < near or x >= ACROSS - near]
        error = sum(abs(sum(picture[y][x]) / sum(reference[y][x]) - 1) for y, x in cells) / len(cells)
        red, green = (tinted_error(photons, wall, c, area) for wall in (-1, 1))
        print("| %s | %.3f | %.3f | %.1f %% |" % (name, red, green, 100 * error), flush=True)
    ball = ["--size", "200x200", "--photons", "200k", "-k", 256, "--filter", "none", "--samples", 2, "--eye", "0,0.5,3.2"]
    ball += ["--target", "0,0.4,0", "--fov", 22, "--exposure", 0.16]
    run(folder / "ball.gltf", "ball.pfm", *ball, "--method", "shadow", "--shadow-rays", 64)
    reference = read_pfm(folder / "ball.pfm")
    print("\n| gathered in | bias on the ball's lit half | mean difference on it |\n|---|---|---|")
    cells = [(y, x) for y in range(200) for x in range(200) if math.hypot(x - 99.5, y - 99.5) < 60]
    lit = [(y, x) for y, x in cells if sum(reference[y][x]) > 0.3]
    bright = sum(sum(reference[y][x]) for y, x in lit) / len(lit)
    for name, c, area in SHAPES:
        run(folder / "ball.gltf", f"ball{c}{area}.pfm", *ball, "--method", "direct", "--compression", c, "--area", area)
        picture = read_pfm(folder / f"ball{c}{area}.pfm")
        differences = [sum(picture[y][x]) - sum(reference[y][x]) for y, x in lit]
        bias = sum(differences) / len(lit) / bright
        mean = sum(map(abs, differences)) / len(lit) / bright
        print("| %s | %+.1f %% | %.1f %% |" % (name, 100 * bias, 100 * mean), flush=True)


if __name__ == "__main__":
    main()

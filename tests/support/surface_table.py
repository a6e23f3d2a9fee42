"""What strays, steps of density and noise do to a surface picture: the table of docs/render.md.

    python3 tests/support/surface_table.py build/test/mote MESH.ply

Of a cloud and of what was done to it pictures are made from the same place, without options. Spilled: pixels that the
clean cloud does not show; missing: those that it shows alone; both in per cent of its silhouette. Normals: the mean
angle to the clean ones, where both show something. Strays are within a box 1.2 times as wide as the cloud's; noise is
normal, in parts of the diagonal of that box; of the step one half of a sphere has 100 times fewer points. Needs numpy.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

SIZE = "640x480"


def read_vertices(path):
    """x, y and z of a PLY in text, whose vertices begin with them."""
    with open(path, encoding="latin-1") as file:
        lines = file.read().split("\n")
    count = next(int(line.split()[2]) for line in lines if line.startswith("element vertex"))
    first = lines.index("end_header") + 1
    return np.array([line.split()[:3] for line in lines[first : first + count]], float)


def draw(mote, points, eye, target):
    """Depths and normals of the picture that mote makes of points."""
    with tempfile.TemporaryDirectory() as folder:
        cloud, depth, normals = (os.path.join(folder, name) for name in ("c.xyz", "d.npy", "n.npy"))
        np.savetxt(cloud, points, "%.7g")
        places = [",".join(map(str, place)) for place in (eye, target)]
        subprocess.run([mote, "render", cloud, "-o", os.path.join(folder, "p.raw"), "--up", "y", "--eye", places[0],
                        "--target", places[1], "--size", SIZE, "--mode", "surface", "--depth", depth, "--normals-out",
                        normals, "-q"], check=True, capture_output=True)
        return np.load(depth), np.load(normals)


def compare(name, clean, other):
    shown, also = (np.isfinite(picture[0]) for picture in (clean, other))
    both = shown & also
    cosine = np.clip((clean[1] * other[1]).sum(2)[both], -1, 1)
    print("| %s | %.2f %% | %.2f %% | %.1f° |" % (name, 100 * (also & ~shown).sum() / shown.sum(),
                                                 100 * (shown & ~also).sum() / shown.sum(),
                                                 np.degrees(np.arccos(cosine)).mean()), flush=True)


def main():
    mote, mesh = sys.argv[1:3]
    rng = np.random.default_rng(1)
    points = read_vertices(mesh)
    low, high = points.min(0), points.max(0)
    middle, diagonal = (low + high) / 2, np.linalg.norm(high - low)
    view = middle + diagonal * np.array([0.35, 0.2, 1.2]), middle
    clean = draw(mote, points, *view)
    print("| | spilled | missing | normals |\n|---|---|---|---|")
    for share in (0.0005, 0.005, 0.05):
        strays = rng.uniform(middle - 0.6 * (high - low), middle + 0.6 * (high - low), (int(share * len(points)), 3))
        compare("%g %% strays" % (100 * share), clean, draw(mote, np.vstack([points, strays]), *view))
    for share in (0.001, 0.003, 0.01):
        noise = rng.normal(0, share * diagonal, points.shape)
        compare("noise of %g %%" % (100 * share), clean, draw(mote, points + noise, *view))
    ball = rng.normal(size=(200000, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    view = np.array([0.3, 0.2, 3.5]), np.zeros(3)
    clean = draw(mote, ball, *view)
    few = np.where(ball[:, 0] < 0, 1, rng.uniform(size=len(ball)) < 0.01).astype(bool)
    compare("100 : 1", clean, draw(mote, ball[few], *view))


main()

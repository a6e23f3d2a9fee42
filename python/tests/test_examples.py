"""The examples run, and say what their pages promise."""
import json
import os
import subprocess
import sys

import pytest

import mote

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples")
pytestmark = pytest.mark.skipif(not os.path.isdir(FOLDER), reason="the examples are not there")


def run(name, *arguments):
    path = os.pathsep.join(sys.path)
    done = subprocess.run([sys.executable, "-W", "error", os.path.join(FOLDER, name), *map(str, arguments)], check=True,
                          stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path})
    return done.stdout.decode()


def test_neighbours():
    assert "100,000 points" in run("neighbours.py")


def test_tiles(tmp_path):
    mote.write(mote.gen("city", 20000), tmp_path / "scan.laz")
    told = run("tiles.py", tmp_path / "scan.laz", tmp_path)
    ground = (mote.read(tmp_path / "scan.laz")["classification"] == 2).sum()
    assert told == f"{ground:,} points of ground\n"
    assert "points of ground" in run("tiles.py")


def test_picture(tmp_path):
    run("picture.py")
    mote.write(mote.gen("torus", 5000), tmp_path / "a.ply")
    run("picture.py", tmp_path / "a.ply", tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[1:4] == b"PNG"


def test_planes(tmp_path):
    mote.write(mote.gen("room", 20000), tmp_path / "room.ply")
    told = run("planes_to_geojson.py", tmp_path / "room.ply", tmp_path / "planes.geojson")
    page = json.loads((tmp_path / "planes.geojson").read_text())
    assert f"{len(page['features'])} planes" in told and len(page["features"]) > 4
    for feature in page["features"]:
        ring = feature["geometry"]["coordinates"][0]
        assert ring[0] == ring[-1] and len(ring) >= 4


def test_tensors():
    told = run("tensors.py")
    if told.startswith("skipped"):
        pytest.skip(told.strip())

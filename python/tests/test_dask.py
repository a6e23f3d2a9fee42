"""Octrees by parts, and mote.dask: with Dask's threads, and its processes, which share nothing but files."""
import json
import os

import numpy
import pytest

import mote

COUNT = 60_000


@pytest.fixture(scope="module")
def tiles(tmp_path_factory):
    """A town in two files that touch."""
    folder = tmp_path_factory.mktemp("tiles")
    cloud = mote.gen("city", COUNT)
    x = numpy.asarray(cloud["x"])
    middle = numpy.median(x)
    mote.write(cloud[numpy.flatnonzero(x < middle)], folder / "west.laz")
    mote.write(cloud[numpy.flatnonzero(x >= middle)], folder / "east.laz")
    return folder


def files_of(folder):
    names = ("metadata.json", "hierarchy.bin", "octree.bin")
    return {name: (folder / name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def whole(tiles, tmp_path_factory):
    """The folder that is made in one piece."""
    out = tmp_path_factory.mktemp("whole") / "town"
    mote.lod(mote.read([tiles / "east.laz", tiles / "west.laz"]), out)
    return files_of(out)


def inputs_of(tiles):
    return [tiles / "east.laz", tiles / "west.laz"]


def test_files_in_parts_are_those_of_one_piece(tiles, whole, tmp_path):
    report = mote.lod_files(inputs_of(tiles), tmp_path / "town", part_count=5)
    assert report.points == COUNT and report.parts >= 5
    assert {**files_of(tmp_path / "town"), "metadata.json": b""} == {**whole, "metadata.json": b""}


def test_copc_files_in_parts_are_those_of_one_piece(tiles, tmp_path):
    one, many, plan = (tmp_path / name for name in ("one.copc.laz", "many.copc.laz", "plan.json"))
    mote.lod(mote.read(inputs_of(tiles)), one)
    report = mote.lod_files(inputs_of(tiles), many, part_count=4)
    assert report.parts >= 4 and report.file.points == COUNT and many.read_bytes() == one.read_bytes()
    many.unlink()
    parts = mote.plan_parts(inputs_of(tiles), many, plan, part_count=3).parts
    for part in range(parts, 0, -1):
        assert mote.make_part(plan, part, of=parts).points > 0
    assert mote.merge_parts(plan, verify=True).points == COUNT and many.read_bytes() == one.read_bytes()
    mote.clear_parts(many)
    many.unlink()
    pytest.importorskip("dask", reason="Dask is not there (Debian: python3-dask)")
    from mote import dask as by_dask
    by_dask.lod(inputs_of(tiles), many, part_count=3).compute(scheduler="threads")
    assert many.read_bytes() == one.read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["many.copc.laz", "one.copc.laz", "plan.json"]


def test_parts_may_be_made_in_any_order_and_twice(tiles, whole, tmp_path):
    plan = tmp_path / "plan.json"
    parts = mote.plan_parts(inputs_of(tiles), tmp_path / "town", plan, part_count=4).parts
    assert json.loads(plan.read_text())
    with pytest.raises(mote.IOError, match="part"):
        mote.merge_parts(plan)
    for part in range(parts, 0, -1):
        assert mote.make_part(plan, part, of=parts).points > 0
    assert mote.make_part(plan, 2).rounds == 0
    assert mote.merge_parts(plan, verify=True).points == COUNT
    assert files_of(tmp_path / "town")["octree.bin"] == whole["octree.bin"]
    assert (tmp_path / "town.parts").exists()
    mote.clear_parts(tmp_path / "town")
    assert not (tmp_path / "town.parts").exists()


def test_wrong_calls_are_told(tiles, tmp_path):
    with pytest.raises(mote.KeywordError, match="sampling"):
        mote.lod_files(inputs_of(tiles), tmp_path / "town", samplin="first")
    with pytest.raises(mote.ArgumentError):
        mote.lod_files([], tmp_path / "town")
    with pytest.raises(mote.IOError, match="there-is-none"):
        mote.plan_parts(tmp_path / "there-is-none.laz", tmp_path / "town", tmp_path / "plan.json", part_count=2)
    with pytest.raises(mote.Error):
        mote.make_part(tmp_path / "no-plan.json", 1)


# ---- Dask


def heights_above_neighbours(cloud, k=8):
    """How far a point is above the mean of its nearest: wrong at a tile's border without the points around."""
    index = mote.knn(cloud, k=k).index
    z = numpy.asarray(cloud["z"])
    return z - z[index.astype(numpy.int64)].mean(axis=1)


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_dask_makes_the_octree(tiles, whole, tmp_path, scheduler, monkeypatch):
    pytest.importorskip("dask", reason="Dask is not there (Debian: python3-dask)")
    import mote.dask
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([os.path.dirname(os.path.dirname(mote.__file__)),
                                                      os.environ.get("PYTHONPATH", "")]))
    made = mote.dask.lod(inputs_of(tiles), tmp_path / "town", part_count=3)
    report = made.compute(scheduler=scheduler, num_workers=2)
    assert report.points == COUNT
    assert files_of(tmp_path / "town")["octree.bin"] == whole["octree.bin"]
    assert sorted(os.listdir(tmp_path)) == ["town"]


def test_a_part_that_fails_fails_the_whole(tiles, tmp_path):
    pytest.importorskip("dask", reason="Dask is not there (Debian: python3-dask)")
    import mote.dask
    copy = tmp_path / "west.laz"
    copy.write_bytes((tiles / "west.laz").read_bytes())
    made = mote.dask.lod([copy], tmp_path / "town", part_count=2)
    os.utime(copy, (1, 1))
    copy.write_bytes((tiles / "east.laz").read_bytes())
    with pytest.raises(mote.IOError, match="west.laz"):
        made.compute(scheduler="threads")
    assert not (tmp_path / "town").exists()


@pytest.mark.parametrize("overlap", [0, 40, 150])
def test_each_point_is_of_one_tile(tiles, overlap):
    dask = pytest.importorskip("dask", reason="Dask is not there (Debian: python3-dask)")
    import mote.dask
    made = mote.dask.map_overlap(heights_above_neighbours, str(tiles / "*.laz"), size=100, overlap=overlap)
    results = dask.compute(*made, scheduler="threads")
    points = numpy.concatenate([numpy.stack([tile[name] for name in ("x", "y", "z", "result")], 1) for tile in results])
    cloud = mote.read(inputs_of(tiles))
    assert len(points) == COUNT
    order, expected = numpy.lexsort(points.T[:3]), numpy.stack([numpy.asarray(cloud[name]) for name in "xyz"], 1)
    wanted = numpy.lexsort(expected.T)
    assert (points[order, :3] == expected[wanted]).all()
    same = numpy.isclose(points[order, 3], heights_above_neighbours(cloud)[wanted], atol=1e-9)
    if overlap == 0:  # the borders show
        assert not same.all()
    else:
        assert same.all()


def test_tiles_by_processes_and_strays(tmp_path, monkeypatch):
    dask = pytest.importorskip("dask", reason="Dask is not there (Debian: python3-dask)")
    import mote.dask
    places = numpy.array([[0.0, 0, 1], [9.5, 0.5, 2], [1e12, -1e12, 3], [numpy.nan, 0, 4]])
    mote.write({"x": places[:, 0], "y": places[:, 1], "z": places[:, 2]}, tmp_path / "few.ply")
    made = mote.dask.map_overlap(numpy.asarray, tmp_path / "few.ply", size=10, overlap=5, keep=("z",))
    assert len(made) == 2
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([os.path.dirname(os.path.dirname(mote.__file__)),
                                                      os.environ.get("PYTHONPATH", "")]))
    results = dask.compute(*made, scheduler="processes", num_workers=2)
    assert sorted(z for tile in results for z in tile["z"]) == [1, 2, 3]


def test_wrong_functions_and_tiles_are_told(tiles):
    dask = pytest.importorskip("dask", reason="Dask is not there (Debian: python3-dask)")
    import mote.dask
    for size, overlap in ((0, 0), (numpy.nan, 0), (10, -1), (10, numpy.inf)):
        with pytest.raises(mote.ArgumentError, match="size"):
            mote.dask.map_overlap(len, str(tiles / "*.laz"), size=size, overlap=overlap)
    with pytest.raises(mote.ArgumentError, match="no file"):
        mote.dask.map_overlap(len, str(tiles / "*.none"), size=10)
    made = mote.dask.map_overlap(len, str(tiles / "*.laz"), size=1000)
    with pytest.raises(mote.ArgumentError, match="a row for each|have a row"):
        dask.compute(*made, scheduler="threads")


def test_a_worker_that_is_killed(tiles, whole, tmp_path, python):
    """Dask's own cluster, of two processes, of which one is killed while it works."""
    pytest.importorskip("distributed", reason="Dask's cluster is not there (Debian: python3-distributed)")
    program = f"""
import os, signal, threading
import mote.dask
from dask.distributed import Client, LocalCluster, wait

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster, \\
            Client(cluster) as client:
        victim = list(client.run(os.getpid).values())[0]
        made = mote.dask.lod({[str(path) for path in inputs_of(tiles)]!r}, "town", part_count=8)
        future = client.compute(made, retries=5)
        os.kill(victim, signal.SIGKILL)
        print(future.result(timeout=50).points)
"""
    (tmp_path / "program.py").write_text(program)
    code, text, errors = python("import runpy; runpy.run_path('program.py', run_name='__main__')")
    assert code == 0 and text.split() == [str(COUNT)], errors
    assert files_of(tmp_path / "town")["octree.bin"] == whole["octree.bin"]


def test_what_is_no_plan_is_not_replaced(tiles, tmp_path):
    copy = tmp_path / "west.laz"
    copy.write_bytes((tiles / "west.laz").read_bytes())
    with pytest.raises(mote.ArgumentError, match="no plan"):
        mote.plan_parts([copy], tmp_path / "town", copy, part_count=2)
    assert copy.read_bytes() == (tiles / "west.laz").read_bytes()
    for call in (mote.lod_files, lambda *words, **more: mote.plan_parts(*words, tmp_path / "plan.json", **more)):
        with pytest.raises(mote.UnsupportedError, match="COPC"):
            call([copy], tmp_path / "town.copc.laz", keep_inputs=True)
        with pytest.raises(mote.KeywordError, match="encoding"):
            call([copy], tmp_path / "town.copc.laz", encoding="brotli")
    pytest.importorskip("dask", reason="Dask is not there (Debian: python3-dask)")
    from mote import dask as by_dask
    with pytest.raises(mote.ArgumentError, match="no Potree folder"):
        by_dask.lod([copy], copy, part_count=2)
    assert sorted(os.listdir(tmp_path)) == ["west.laz"]


def test_files_that_change_names_twice_and_far_overlaps(tiles, tmp_path):
    dask = pytest.importorskip("dask", reason="Dask is not there (Debian: python3-dask)")
    import mote.dask
    copy = tmp_path / "west.laz"
    copy.write_bytes((tiles / "west.laz").read_bytes())
    count = len(mote.read(copy))
    far = mote.dask.map_overlap(heights_above_neighbours, copy, size=200, overlap=1e12)
    results = dask.compute(*far, scheduler="threads")
    assert sum(len(tile["z"]) for tile in results) == count
    twice = mote.dask.map_overlap(lambda cloud: {"x": cloud["x"]}, copy, size=1e6)
    with pytest.raises(mote.ArgumentError, match="x, which keep"):
        dask.compute(*twice, scheduler="threads")
    with pytest.raises(mote.ArgumentError, match="bounds of its own"):
        mote.dask.map_overlap(copy, len, size=1)
    with pytest.raises(mote.ArgumentError, match="bounds of its own"):
        mote.dask.map_overlap(len, copy, size=1, bounds=(0, 0, 1, 1))
    copy.write_bytes((tiles / "east.laz").read_bytes())
    with pytest.raises(mote.IOError, match="not the file any more"):
        dask.compute(*far, scheduler="threads")


def test_tiles_in_another_system(tmp_path):
    dask = pytest.importorskip("dask", reason="Dask is not there (Debian: python3-dask)")
    import mote.dask
    cloud = mote.gen("city", 5000)
    mote.write(cloud, tmp_path / "city.las")
    try:
        mote.read(tmp_path / "city.las", crs="EPSG:32633", to_crs="EPSG:32632")
    except mote.UnsupportedError:
        pytest.skip("built without PROJ")
    made = mote.dask.map_overlap(lambda one: one["z"], tmp_path / "city.las", size=100, overlap=10, crs="EPSG:32633",
                                 to_crs="EPSG:32632")
    assert sum(len(tile["z"]) for tile in dask.compute(*made, scheduler="threads")) == 5000


def test_a_folder_is_brought_up_to_date(tiles, tmp_path):
    folder, fresh = tmp_path / "town", tmp_path / "fresh"
    mote.lod_files([tiles / "east.laz"], folder, name="town", keep_inputs=True)
    report = mote.update_lod(folder, tiles / "west.laz")
    mote.lod_files(inputs_of(tiles), fresh, name="town")
    assert report.inputs == 2 and report.parts.points == COUNT
    assert files_of(folder) == files_of(fresh)
    assert json.loads((folder / "inputs.json").read_text())["inputs"][1]["bytes"] == (tiles / "west.laz").stat().st_size
    report = mote.update_lod(folder, remove=["west.laz"], memory_bytes="512M")
    mote.lod_files([tiles / "east.laz"], fresh, name="town")
    assert report.inputs == 1 and files_of(folder) == files_of(fresh)
    with pytest.raises(mote.ArgumentError, match="none of the files"):
        mote.update_lod(folder, remove="west.laz")
    with pytest.raises(mote.KeywordError, match="sampling"):
        mote.update_lod(folder, tiles / "west.laz", sampling="first")


def test_sizes_are_words_as_well(tiles, tmp_path):
    for size in ("0.5G", "512M", "512 MiB", 512 << 20):
        assert mote.lod_files(inputs_of(tiles), tmp_path / "town", memory_bytes=size).points == COUNT
    with pytest.raises(mote.MemoryError, match="out of memory"):
        mote.lod_files(inputs_of(tiles), tmp_path / "town", memory_bytes="100k")
    with pytest.raises(mote.ArgumentError, match="4G"):
        mote.lod_files(inputs_of(tiles), tmp_path / "town", memory_bytes="much")
    with pytest.raises(mote.KeywordError, match="whole number, or a size"):
        mote.lod_files(inputs_of(tiles), tmp_path / "town", memory_bytes=0.5)
    assert mote.Context(memory_limit_bytes="1G") is not None

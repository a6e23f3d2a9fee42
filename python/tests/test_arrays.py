"""Arrays as clouds, and clouds as arrays: what is looked at and what is copied, and what is refused."""
import gc
import pickle
import weakref

import numpy
import pytest

import mote


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture
def points():
    return numpy.random.default_rng(1).random((1000, 3))


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_tables_are_not_copied(points, kind):
    points = points.astype(kind)
    cloud = mote.Cloud(points, copy=False)
    assert address(cloud["x"]) == address(points)
    assert address(cloud.xyz) == address(points) and cloud.xyz.strides == points.strides
    assert address(numpy.asarray(cloud)) == address(points)
    assert numpy.asarray(cloud).dtype == points.dtype
    points[5] = 7  # the same memory
    assert cloud["z"][5] == 7 and (cloud.xyz == points).all()


def test_other_layouts_that_are_not_copied(points):
    wide = numpy.zeros((1000, 8))
    wide[:, 2:5] = points
    for view in (wide[:, 2:5], numpy.asfortranarray(points), wide[:, 4:1:-1], points[::3]):
        cloud = mote.Cloud(view, copy=False)
        assert address(cloud["x"]) == address(view)
        assert numpy.shares_memory(cloud.xyz, view) and (cloud.xyz == view).all()
    readonly = points.copy()
    readonly.flags.writeable = False
    assert not mote.Cloud(readonly, copy=False).xyz.flags.writeable
    assert mote.Cloud(points).xyz.flags.writeable
    records = numpy.zeros(1000, [("flag", "u1"), ("X", "f8"), ("Y", "f8"), ("Z", "f8"), ("Intensity", "u2")])
    records["X"] = points[:, 0]
    cloud = mote.Cloud(records, copy=False)
    assert cloud.fields == ["flag", "x", "y", "z", "intensity"]
    assert address(cloud["x"]) == address(records) + 1 and (cloud["X"] == records["X"]).all()
    columns = {"x": points[:, 0], "y": points[:, 1], "z": points[:, 2], "label": numpy.arange(1000, dtype="i8")}
    cloud = mote.Cloud(columns, copy=False)
    assert address(cloud["label"]) == address(columns["label"])


def test_what_must_be_copied_is_copied_once_or_refused(points):
    backward, swapped = points[::-1], points.astype(">f8")
    spread = numpy.broadcast_to(points[:1], (10, 3))
    for odd in (backward, swapped, spread, points.tolist()):
        cloud = mote.Cloud(odd)
        assert (cloud.xyz == numpy.asarray(odd, "f8")).all()
        with pytest.raises(mote.ArgumentError, match="copy=False"):
            mote.Cloud(odd, copy=False)
    for odd in (points[::-1, 0], points[:, 0].astype(">f8"), numpy.broadcast_to(numpy.float64(1), 1000)):
        columns = {"x": points[:, 0], "y": odd, "z": points[:, 2]}
        assert (mote.Cloud(columns)["y"] == odd).all()
        with pytest.raises(mote.ArgumentError, match="y .*copy=False"):
            mote.Cloud(columns, copy=False)
    assert address(mote.Cloud(points, copy=True)["x"]) != address(points)


@pytest.mark.parametrize("bad, told", [
    (numpy.float64(3), "of no dimension"), (numpy.zeros(5), "is 5"), (numpy.zeros((5, 2)), "5 x 2"),
    (numpy.zeros((2, 3, 3)), "2 x 3 x 3"), (numpy.zeros((5, 3), "f2"), "float16"),
    (numpy.zeros((5, 3), complex), "complex128"), (numpy.zeros((5, 3), object), "object"),
    (numpy.zeros((5, 3), "M8[s]"), "datetime64"), (numpy.zeros((5, 3), "U3"), "<U3"), (None, "of no dimension"),
    ({}, "no column"), ({"x": [1.0], "y": [1.0, 2.0]}, "differ in length"), ({"x": 1}, "0 dimensions"),
    ({"x": [[1]]}, "2 dimensions"), ({1: [1]}, "no name"), ({"x": [1.0], "X": [1.0]}, "twice"),
    ({"a\0b": [1.0]}, "no name"), (numpy.ma.masked_array(numpy.zeros((2, 3)), True), "masked"),
    (numpy.zeros((2, 2), [("x", "f8")]), "2 dimensions"), (numpy.zeros(2, [("x", "f8", 3)]), "2 dimensions")])
def test_what_are_no_points(bad, told):
    for call in (mote.Cloud, mote.knn, mote.planes, mote.lod, mote.render, mote.normals, mote.outliers):
        with pytest.raises(mote.ArgumentError, match=told):
            call(bad)


def test_paths_are_no_points():
    with pytest.raises(mote.KeywordError, match=r"mote.read\('scan.las'\)"):
        mote.knn("scan.las")


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_points(count):
    points = numpy.arange(3.0 * count).reshape(count, 3)
    cloud = mote.Cloud(points)
    assert len(cloud) == count and cloud.xyz.shape == (count, 3) and len(cloud[:]) == count
    near = mote.knn(points, k=3)
    assert near.index.shape == (count, 3) and (near.count == count).all()
    assert (near.index[:, count:] == -1).all() and numpy.isinf(near.distance2[:, count:]).all()
    assert mote.normals(points, k=3).without == count
    assert len(mote.planes(points)) == 0
    assert mote.outliers(points).count == 0
    assert len(mote.lod(points).points(0)) == count
    assert len(mote.knn_index(points).within(1.0)) == count
    assert pickle.loads(pickle.dumps(cloud)).hash() == cloud.hash()
    assert cloud.to_numpy().shape == (count,)


def test_points_that_are_not_finite(points):
    points[3], points[4, 1] = numpy.nan, numpy.inf
    near = mote.knn(points, k=2)
    assert near.skipped == 2 and (near.count[3:5] == 0).all() and (near.index[3] == -1).all()
    assert mote.outliers(points).outlier[3:5].all()
    low, high = mote.Cloud(points).bounds
    assert (high <= 1).all() and (low >= 0).all()


def test_values_are_those_of_the_library():
    """x of LAS is scaled, return_number is packed, intensity is as it is."""
    import ctypes
    from mote import _declarations as declared
    from mote import _library as library
    cloud = mote.gen("city", 3000)
    for name in cloud.fields:
        row = declared.mote_column.from_address(library.mote_cloud_match(cloud._handle.pointer, name.encode()))
        values = [library.mote_column_value(ctypes.byref(row), i) for i in range(0, 3000, 7)]
        assert (cloud[name][::7] == values).all(), name
        stored = numpy.empty(3000, numpy.float64)
        library.mote_column_read(ctypes.byref(row), 0, 3000, declared.MOTE_FLOAT64, address(stored))
        assert (cloud.column(name).stored == stored).all(), name
    assert address(cloud.column("x").stored) == cloud.column("x")._address
    assert address(cloud["intensity"]) == cloud.column("intensity")._address
    assert cloud["x"].dtype == numpy.float64 and cloud["return_number"].dtype == numpy.uint8


def test_names_of_others():
    cloud = mote.gen("city", 10)
    for name in ("Intensity", "ReturnNumber", "return number", "NumberOfReturns", "X", "GpsTime", "scalar_GPS_Time",
                 "class", "PointSourceId"):
        assert name in cloud and len(cloud[name]) == 10
    with pytest.raises(KeyError, match="did you mean intensity"):
        cloud["intensty"]
    with pytest.raises(mote.KeywordError, match="has a name"):
        cloud.column(3)
    assert "nothing" not in cloud and 3 not in cloud


def test_choosing(points):
    cloud = mote.Cloud(points)
    assert (cloud[10:20].xyz == points[10:20]).all() and (cloud[::-7].xyz == points[::-7]).all()
    assert (cloud[points[:, 0] > 0.5].xyz == points[points[:, 0] > 0.5]).all()
    assert (cloud[[5, -1, 5]].xyz == points[[5, -1, 5]]).all() and len(cloud[[]]) == 0
    for bad in (numpy.ones(5, bool), [0.5], [[1, 2]], [1000], [-1001], "no column", 5):
        with pytest.raises((mote.ArgumentError, KeyError)):
            cloud[bad]
    joined = mote.concatenate([cloud[:10], cloud[10:]])
    assert (joined.xyz == points).all()
    with pytest.raises(TypeError):
        iter(cloud)


def test_new_values(points):
    cloud = mote.Cloud(points)
    before = points.copy()
    cloud["label"] = numpy.arange(1000)
    cloud["half"] = 0.5
    assert cloud["label"].dtype == numpy.int64 and (cloud["half"] == 0.5).all()
    view = cloud["label"]
    cloud["label"] = view + 1  # in place: the view sees it
    assert view[0] == 1
    cloud["label"] = numpy.zeros(1000, "f4")  # another type: a new place; the view keeps its memory
    assert view[0] == 1 and cloud["label"].dtype == numpy.float32
    cloud["x"] = numpy.ones(1000)
    assert (cloud["x"] == 1).all() and (points == before).all(), "the caller's array is never written"
    las = mote.gen("city", 100)
    las["x"] = las["x"] + 0.25
    assert las.column("x").dtype == numpy.int32 and las.column("x").scale == 0.001
    with pytest.raises(mote.ArgumentError, match="beyond what int32 holds"):
        las["x"] = 1e12
    las["classification"] = numpy.full(100, 6, "u1")
    las["return_number"] = numpy.full(100, 3, "u1")
    assert (las["class"] == 6).all() and (las["ReturnNumber"] == 3).all()
    for bad in (numpy.zeros(5), numpy.zeros((100, 2)), numpy.zeros(100, complex)):
        with pytest.raises(mote.ArgumentError):
            las["new"] = bad


def test_columns_keep_their_cloud():
    cloud = mote.gen("torus", 1000)
    handle, x = weakref.ref(cloud), cloud["x"]
    expected = x.copy()
    places = cloud.xyz
    del cloud
    gc.collect()
    assert handle() is None and (x == expected).all() and (places[:, 0] == expected).all()


def test_a_cloud_keeps_its_arrays(points):
    class Held(numpy.ndarray):
        pass
    held = points.copy().view(Held)
    alive = weakref.ref(held)
    cloud = mote.Cloud(held)
    del held
    gc.collect()
    assert alive() is not None and (cloud.xyz == points).all()
    index = mote.knn_index(cloud)
    del cloud
    gc.collect()
    assert alive() is not None and (index.search(k=1).index[:, 0] == numpy.arange(1000)).all()
    del index
    gc.collect()
    assert alive() is None


def test_use_after_close(points):
    cloud = mote.gen("torus", 1000)
    x, index, lod = cloud["x"], mote.knn_index(cloud), mote.lod(cloud)
    nodes, lists = lod.nodes, index.within(0.1)
    expected = x.copy()
    with cloud:
        pass
    for use in (lambda: cloud["x"], lambda: len(cloud), lambda: mote.knn(cloud), lambda: cloud.bounds,
                lambda: cloud.fields, lambda: numpy.asarray(cloud), lambda: cloud[:3], lambda: pickle.dumps(cloud)):
        with pytest.raises(mote.StateError, match="the Cloud is closed"):
            use()
    assert repr(cloud) == "Cloud(closed)" and "closed" in cloud._repr_html_() and cloud._repr_png_() is None
    assert (x == expected).all()
    assert index.search(k=1).index[5, 0] == 5, "an index keeps what it needs"
    index.close()
    lod.close()
    for use in (lambda: index.search(), lambda: lod.nodes, lambda: lod.write("x")):
        with pytest.raises(mote.StateError):
            use()
    assert nodes["total"][0] == 1000 and len(lists.index) == lists.first[-1]
    cloud.close()


def test_pickles(points, tmp_path):
    columns = {"x": points[:, 0], "y": points[:, 1], "z": points[:, 2], "n": numpy.arange(1000)}
    wrapped = mote.Cloud(columns, crs="EPSG:4326")
    again = pickle.loads(pickle.dumps(wrapped))
    assert again.hash() == wrapped.hash() and again.crs == "EPSG:4326"
    path = tmp_path / "city.las"
    mote.write(mote.gen("city", 5000), path)
    cloud = mote.read(path, select=["intensity", "classification"])
    stored = pickle.dumps(cloud[100:300])
    assert len(stored) < 1000, "by path and range"
    part = pickle.loads(stored)
    assert part.hash() == cloud[100:300].hash()
    assert pickle.loads(pickle.dumps(part[50:60])).hash() == cloud[150:160].hash()
    changed = cloud[:]
    changed["mark"] = 1
    assert "mark" in pickle.loads(pickle.dumps(changed))
    mote.write(mote.gen("city", 400), path)
    with pytest.raises(mote.IOError, match="is not the file any more"):
        pickle.loads(stored)
    for other in (mote.knn_index(points), mote.Context()):
        with pytest.raises(TypeError):
            pickle.dumps(other)


def test_structured(points):
    cloud = mote.gen("city", 100)
    table = cloud.to_numpy()
    assert list(table.dtype.names) == cloud.fields and (table["x"] == cloud["x"]).all()
    assert cloud.to_numpy(["X", "Intensity"]).dtype.names == ("x", "intensity")
    again = mote.Cloud(table)
    assert again.fields == cloud.fields and (again.xyz == cloud.xyz).all()


def test_a_notebook():
    cloud = mote.gen("city", 3000)
    assert cloud._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n"
    text = cloud._repr_html_()
    assert "3,000" in text and "data:image/png" in text and "intensity" in text
    odd = mote.Cloud({"<script>": [1.0, 2.0]})
    assert "<script>" not in odd._repr_html_() and odd._repr_png_() is None


def test_what_is_kept_is_of_the_values_that_there_are(tmp_path):
    """An order that is kept goes when a column is set in place; a cloud that keeps things is still the one of its file."""
    with mote.Context():
        cloud = mote.gen("city", 5000)
        mote.write(cloud, tmp_path / "a.las")
        of_file = mote.read(tmp_path / "a.las")
        size = len(pickle.dumps(of_file))
        of_file.keep_order()
        of_file.keep_uploads()
        assert len(pickle.dumps(of_file)) == size
        cloud.keep_order()
        cloud.keep_uploads()
        mote.lod(cloud).close()
        cloud["x"] = cloud["x"][::-1].copy()
        other = mote.gen("city", 5000)
        other["x"] = other["x"][::-1].copy()
        trees = [mote.lod(each) for each in (cloud, other)]
        for node in range(len(trees[1].nodes)):
            one, two = (numpy.asarray(tree.points(node)) for tree in trees)
            assert (one == two).all()
        cloud.keep_uploads(False)
        cloud.keep_order(False)
        cloud.close()
        with pytest.raises(mote.StateError):
            cloud.keep_uploads()


@pytest.mark.parametrize("wrong, call", [
    ("no array", lambda path: mote.knn([[1, 2, 3], [4, 5]], k=1)),
    ("no name", lambda path: mote.Cloud({"a\ud800": numpy.zeros(3)})),
    ("no name", lambda path: mote.gen("city", 5)["a\ud800"]),
    ("character 0", lambda path: mote.read(str(path) + "\0.las")),
    ("character 0", lambda path: mote.write(mote.gen("city", 5), str(path) + "\0.las")),
    ("4 or 6 numbers", lambda path: mote.read(path, bounds="all")),
    ("bytes: offset 0", lambda path: mote.read(b"no points")),
    ("rb", lambda path: mote.read(open(__file__))),
    ("whole number", lambda path: mote.gen("city", 1e3)),
    ("whole number", lambda path: list(mote.open(path).chunks(1.5))),
    ("mote.Camera", lambda path: mote.render(mote.gen("city", 5), camera=3)),
    ("mote.Camera", lambda path: mote.Camera.on_path([1, 2], 0.5)),
    (".png", lambda path: mote.render(mote.gen("city", 5), width=8, height=8).save(path.with_suffix(".jpg"))),
    ("-1 threads, not 0", lambda path: mote.Context(threads=-1)),
    ("5000 threads, not 0", lambda path: mote.Context(threads=5000)),
    ("GPUs are for", lambda path: mote.Context(gpus=3)),
    ("no column 'nope'", lambda path: mote.gen("city", 5)["nope"]),
], ids=str)
def test_what_is_wrong_is_told_by_an_error_of_mote(wrong, call, tmp_path):
    """Whatever kind of mistake: no exception of numpy, ctypes or of Python itself, and no file of another name."""
    path = tmp_path / "a.las"
    mote.write(mote.gen("city", 5), path)
    with pytest.raises(mote.Error, match=wrong):
        call(path)
    assert sorted(child.name for child in tmp_path.iterdir()) == ["a.las"]


def test_open_files_are_read(tmp_path):
    import io
    cloud = mote.gen("city", 50)
    mote.write(cloud, tmp_path / "a.las")
    expected = mote.read(tmp_path / "a.las").xyz
    data = (tmp_path / "a.las").read_bytes()
    with open(tmp_path / "a.las", "rb") as file:
        for source in (data, bytearray(data), memoryview(data), io.BytesIO(data), file):
            assert (mote.read(source).xyz == expected).all()


def test_pictures_are_arrays_without_a_copy():
    picture = mote.render(mote.gen("city", 1000), width=8, height=6)
    assert picture.shape == (6, 8, 4)
    assert address(numpy.asarray(picture)) == address(picture.color)
    assert numpy.asarray(picture).dtype == numpy.uint8


def test_messages_name_keywords_and_no_options(tmp_path):
    mote.write(mote.gen("city", 5000), tmp_path / "whole.laz")
    cut = (tmp_path / "whole.laz").read_bytes()[:5000]
    with pytest.raises(mote.FormatError, match="; salvage=True keeps"):
        mote.read(cut)
    with pytest.warns(mote.Warning):
        assert len(mote.read(cut, salvage=True)) < 5000


@pytest.mark.parametrize("call, told", [
    (lambda cloud: mote.photon("cornell", photons=2000), "a PhotonMap, not int"),
    (lambda cloud: mote.photon("cornell", camera=3), "a Camera, not int"),
    (lambda cloud: mote.photon("cornell", emission=5), "a dict, not int"),
    (lambda cloud: mote.photon("cornell", passes="x"), "whole number"),
    (lambda cloud: mote.knn_index(cloud).within("1"), "radius is a number, not '1'"),
    (lambda cloud: mote.knn(cloud, radius="1"), "radius is a number"),
    (lambda cloud: mote.render(cloud, color="z", range=("a", 3)), "range is 2 numbers"),
    (lambda cloud: mote.render(cloud, color="z", range=5), "range is 2 numbers, not 5"),
    (lambda cloud: mote.render(cloud, view=(1, 2)), "view is 3 numbers")])
def test_words_of_the_wrong_kind(call, told):
    with pytest.raises(mote.KeywordError, match=told):
        call(mote.gen("city", 500))


def test_scan_angles_have_the_name_of_pdal_in_all_formats():
    cloud = mote.gen("city", 500)
    assert (cloud["ScanAngleRank"] == cloud["scan_angle"]).all()
    old = mote.Cloud({"x": [1.0], "y": [2.0], "z": [3.0], "scan_angle_rank": numpy.int8([-7])})
    assert old["ScanAngle"] == old["scan_angle_rank"] == -7


def test_morton_order_of_a_cloud():
    points = numpy.random.default_rng(5).integers(0, 9, (500, 3)).astype(numpy.float64)
    points[7] = numpy.nan
    cloud = mote.Cloud(points)
    ordered = cloud.morton_ordered().xyz
    assert numpy.isnan(ordered[-1]).all() and len(ordered) == 500
    # The cells of 9 values among 2**21 of an extent of 8, interleaved x, y, z from the highest bit on.
    cells = numpy.minimum(ordered[:-1] * 2**21 / 8, 2**21 - 1).astype(numpy.uint64)
    codes = [sum(int(cell[axis] >> numpy.uint64(bit) & numpy.uint64(1)) << 3 * bit + 2 - axis
                 for bit in range(21) for axis in range(3)) for cell in cells]
    assert codes == sorted(codes)
    assert sorted(map(tuple, ordered[:-1])) == sorted(map(tuple, numpy.delete(points, 7, axis=0)))

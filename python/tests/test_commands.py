"""The same results as the command's: the hash of each."""
import numpy
import pytest

import mote

MIX = 0x9E3779B97F4A7C15
ALL_BITS = 2**64 - 1


@pytest.fixture(scope="module")
def city(tmp_path_factory):
    path = tmp_path_factory.mktemp("city") / "city.las"
    mote.write(mote.gen("city", 20000), path)
    return path


# Text has no place for the reference system, which is told.
pytestmark = pytest.mark.filterwarnings("ignore::mote.Warning")


def written_hash(cloud, path):
    mote.write(cloud, path)
    return mote.read(path).hash()


@pytest.mark.parametrize("kind", ["uniform", "torus", "clusters", "lattice", "room", "box", "city"])
def test_gen(command, tmp_path, kind):
    told = command("gen", kind, "-o", tmp_path / "a.ply", "-n", 2000)
    assert written_hash(mote.gen(kind, 2000), tmp_path / "b.ply") == told["hash"]
    if kind == "lattice":  # which has nothing random
        return
    told = command("gen", kind, "-o", tmp_path / "a.ply", "-n", 2000, "--seed", 5)
    assert written_hash(mote.gen(kind, 2000, seed=5), tmp_path / "b.ply") == told["hash"]


def test_info(command, city):
    assert command("info", city)["hash"] == mote.read(city).hash()


@pytest.mark.parametrize("ending", ["las", "laz", "ply", "pcd", "csv", "xyz"])
def test_convert(command, city, tmp_path, ending):
    told = command("convert", city, "-o", tmp_path / f"a.{ending}")
    assert written_hash(mote.read(city), tmp_path / f"b.{ending}") == told["hash"]
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


def test_convert_a_part(command, city, tmp_path):
    low, high = mote.read(city).bounds
    middle = (low + high) / 2
    told = command("convert", city, "-o", tmp_path / "a.laz", "--bounds",
                   ",".join(repr(float(v)) for v in (*low[:2], *middle[:2])), "--select", "intensity,classification")
    part = mote.read(city, bounds=(*low[:2], *middle[:2]), select=["intensity", "classification"])
    assert 0 < len(part) < 20000 and written_hash(part, tmp_path / "b.laz") == told["hash"]


def test_a_file_in_chunks(command, city, tmp_path):
    mote.write(mote.read(city), tmp_path / "a.laz")
    for path in (city, tmp_path / "a.laz"):
        with mote.open(path) as reader:
            assert len(reader) == 20000
            chunks = list(reader.chunks(7777))
        assert [len(chunk) for chunk in chunks] == [7777, 7777, 4446]
        whole = mote.concatenate(chunks)
        assert whole.hash() == mote.read(path).hash()
    with pytest.raises(mote.StateError):
        next(reader.pieces())
    bytes_of = (tmp_path / "a.laz").read_bytes()
    for buffer in (bytes_of, bytearray(bytes_of), memoryview(bytes_of), numpy.frombuffer(bytes_of, "u1")):
        assert mote.read(buffer).hash() == whole.hash()
    assert mote.read([city, tmp_path / "a.laz"])["x"].shape == (40000,)
    assert len(mote.read(str(tmp_path / "*.laz"))) == 20000


@pytest.mark.parametrize("options, parameters", [
    ([], {}), (["--scheme", "replacing"], {"scheme": "replacing", "filter": "cell"}),
    (["--sampling", "poisson", "--seed", 3], {"sampling": "poisson", "seed": 3})])
def test_lod(command, city, tmp_path, options, parameters):
    told = command("lod", city, "-o", tmp_path / "x.mote", *options)
    (tmp_path / "other").mkdir()
    report = mote.lod(mote.read(city), **parameters).write(tmp_path / "other" / "x.mote")
    assert report.hash == told["hash"]
    if not parameters:
        told = command("lod", city, "-o", tmp_path / "x.copc.laz")
        octree = mote.lod(mote.read(city), tmp_path / "other" / "x.copc.laz")
        assert (tmp_path / "x.copc.laz").read_bytes() == (tmp_path / "other" / "x.copc.laz").read_bytes()
        stored = numpy.concatenate([octree.points(i) for i in range(len(octree))])
        assert (numpy.sort(stored) == numpy.arange(20000)).all() and octree.name(0) == "r"


def arrays_hash(k, arrays):
    value = k
    for name, array in arrays.items():
        value = (value ^ int(mote.Cloud({name: array.reshape(-1)}).hash(), 16)) * MIX & ALL_BITS
    return f"{value:016x}"


@pytest.mark.parametrize("options, parameters", [
    (["-k", 5], {"k": 5}), (["--no-self", "--radius", 2], {"exclude_self": True, "radius": 2.0}),
    (["--method", "shifted", "--lambda", 2], {"method": "shifted", "lambda_": 2}), (["--wide"], {"wide": True}),
    (["--approximate"], {"approximate": True})])
def test_knn(command, city, tmp_path, options, parameters):
    told = command("knn", city, "-o", tmp_path / "a.npz", *options)
    near = mote.knn(mote.read(city), **parameters)
    found = {name: near[name] for name in ("index", "distance2", "count")}
    assert arrays_hash(near.index.shape[1], found) == told["hash"]
    with numpy.load(tmp_path / "a.npz") as file:
        for name, array in found.items():
            assert array.dtype == file[name].dtype and (array == file[name]).all()
    searched = mote.knn_index(mote.read(city)).search(**parameters)
    assert (searched.index == near.index).all() and (searched.distance2 == near.distance2).all()


def test_knn_of_queries_and_lists(command, city, tmp_path):
    mote.write(mote.read(city)[::50], tmp_path / "q.las")
    cloud, queries = mote.read(city), mote.read(tmp_path / "q.las")
    told = command("knn", city, "-o", tmp_path / "a.npz", "-k", 3, "--queries", tmp_path / "q.las")
    near = mote.knn(cloud, queries, k=3)
    assert arrays_hash(3, {name: near[name] for name in ("index", "distance2", "count")}) == told["hash"]
    command("knn", city, "-o", tmp_path / "b.npz", "--radius", 1, "--lists")
    lists = mote.knn_index(cloud).within(1.0)
    with numpy.load(tmp_path / "b.npz") as file:
        for name in ("first", "index", "distance2"):
            assert lists[name].dtype == file[name].dtype and (lists[name] == file[name]).all()


def test_knn_by_every_point(command, tmp_path):
    mote.write(mote.gen("torus", 1000), tmp_path / "a.ply")
    told = command("knn", tmp_path / "a.ply", "-o", tmp_path / "a.npz", "--method", "brute", "-k", 4)
    near = mote.knn(mote.read(tmp_path / "a.ply"), method="brute", k=4)
    assert arrays_hash(4, {name: near[name] for name in ("index", "distance2", "count")}) == told["hash"]


def test_ellipsoids(command, city, tmp_path):
    cloud = mote.read(city)
    found = mote.normals(cloud)
    for i, axis in enumerate("xyz"):
        cloud[f"normal_{axis}"] = found.normals[:, i]
    mote.write(cloud, tmp_path / "n.ply")
    told = command("knn", tmp_path / "n.ply", "-o", tmp_path / "a.npz", "--compression", 4)
    near = mote.knn(mote.read(tmp_path / "n.ply"), compression=4)
    assert arrays_hash(10, {name: near[name] for name in ("index", "distance2", "count")}) == told["hash"]


@pytest.mark.parametrize("options, parameters", [
    ([], {}), (["-k", 8, "--orient", "propagate"], {"k": 8, "orient": "propagate"}),
    (["--radius", 1, "--density"], {"k": 0, "radius": 1, "density": True}),
    (["--viewpoint", "500000,5400000,300"], {"orient": "viewpoint", "viewpoint": (500000, 5400000, 300)})])
def test_normals(command, city, tmp_path, options, parameters):
    told = command("normals", city, "-o", tmp_path / "a.las", *options)
    cloud = mote.read(city)
    found = mote.normals(cloud, **parameters)
    for i, axis in enumerate("xyz"):
        cloud[f"normal_{axis}"] = found.normals[:, i]
    cloud["curvature"] = found.curvature
    if found.surface_density is not None:
        cloud["surface_density"], cloud["volume_density"] = found.surface_density, found.volume_density
    assert written_hash(cloud, tmp_path / "b.las") == told["hash"] and told["without_normal"] == found.without


@pytest.mark.parametrize("options, parameters", [
    ([], {}), (["-k", 4, "--sigma", 1], {"k": 4, "sigmas": 1}),
    (["--radius", 0.6, "--min", 3], {"method": "radius", "radius": 0.6, "min_neighbors": 3})])
def test_outliers(command, city, tmp_path, options, parameters):
    told = command("outliers", city, "-o", tmp_path / "a.las", *options)
    cloud = mote.read(city)
    found = mote.outliers(cloud, **parameters)
    assert found.count == told["outliers"] == found.outlier.sum() > 0
    assert written_hash(cloud[~found.outlier], tmp_path / "b.las") == told["hash"]


def plane_colors(labels):
    """As the command colours planes."""
    colors = numpy.full((len(labels), 3), 96, numpy.uint16)
    for plane in range(labels.max() + 1):
        turns = plane * 0.61803398875
        hue, light = 6 * (turns - numpy.floor(turns)), 255 if plane % 2 == 0 else 205
        ramp = 1 - abs(numpy.fmod(hue, 2) - 1)
        components = [(1, ramp, 0), (ramp, 1, 0), (0, 1, ramp), (0, ramp, 1), (ramp, 0, 1), (1, 0, ramp)][int(hue) % 6]
        colors[labels == plane] = [int(numpy.floor(light * (0.2 + 0.8 * c) + 0.5)) for c in components]
    return colors * numpy.uint16(257)


@pytest.mark.parametrize("options, parameters", [([], {}), (["--parts", "--min-points", 200],
                                                            {"components": True, "min_points": 200})])
def test_planes(command, city, tmp_path, options, parameters):
    told = command("planes", city, "-o", tmp_path / "a.las", *options)
    cloud = mote.read(city)
    found = mote.planes(cloud, **parameters)
    assert len(found) == len(told["planes"]) > 3
    for number, (plane, other) in enumerate(zip(found, told["planes"])):
        assert plane.normal.tolist() == other["normal"] and plane.hull.tolist() == other["boundary"]
        assert plane.inliers == other["inliers"] == (found.labels == number).sum()
    cloud["plane"] = found.labels
    for name, values in zip(("red", "green", "blue"), plane_colors(found.labels).T):
        cloud[name] = numpy.ascontiguousarray(values)
    assert written_hash(cloud, tmp_path / "b.las") == told["hash"]


def picture_hash(layers):
    """As the command hashes pictures: row by row in words of 8 bytes."""
    total = 0
    for pixels in layers:
        value = 0
        for row in pixels.reshape(len(pixels), -1).view(numpy.uint8):
            padded = numpy.zeros(-(-len(row) // 8) * 8, numpy.uint8)
            padded[:len(row)] = row
            for word in padded.view(numpy.uint64).tolist():
                value = (value ^ word) * MIX & ALL_BITS
                value ^= value >> 32
        total = (total ^ value) * MIX & ALL_BITS
    return f"{total * MIX & ALL_BITS:016x}"


@pytest.mark.parametrize("mode", ["points", "average", "surface"])
def test_render(command, city, tmp_path, mode):
    low, high = mote.read(city).bounds
    eye, target = (low[0] - 20, low[1] - 20, high[2] + 30), tuple((low + high) / 2)
    place = {"--eye": eye, "--target": target}
    options = [word for name, value in place.items() for word in (name, ",".join(repr(float(v)) for v in value))]
    more = ["--point-size", 0] if mode == "points" else ["--tolerance", 2]
    more += ["--normals", "screen", "-k", 8, "--share", 12, "--keep-strays"] if mode == "surface" else []
    look = ["--mode", mode, "--size", "160x120", *options, "--fov", 50, "--color", "rgb", "--edl", 1, "--close", 0,
            "--samples", 1, "--background", "white", *more]
    told = command("render", city, "-o", tmp_path / "a.npy", *look)
    command("render", city, "-o", tmp_path / "a.npy", *look, "--index-out", tmp_path / "index.npy", "--depth",
            tmp_path / "depth.npy")
    camera = mote.Camera(eye=eye, target=target, angle_rad=numpy.radians(50))
    cloud = mote.read(city)
    picture = mote.render(cloud, camera, mode=mode, width=160, height=120, want=("color", "index", "depth"))
    assert picture.covered > 3000
    assert picture_hash([picture.color]) == told["hash"]
    assert (picture.index == numpy.load(tmp_path / "index.npy")).all()
    assert (picture.depth == numpy.load(tmp_path / "depth.npy")).all()
    x, y, depth = camera.project(target, 160, 120)
    assert abs(x - 80) < 1e-6 and abs(y - 60) < 1e-6
    assert numpy.allclose(camera.unproject(x, y, depth, 160, 120), target)


def test_screen_neighbours_and_layers(city):
    cloud = mote.read(city)
    with mote.Renderer(cloud) as renderer:
        camera = renderer.fit("top", width=160, height=120)
        near = renderer.neighbors(camera, 4, width=160, height=120)
        assert near.neighbor.shape == (near.seen, 4) and (near.point < 20000).all()
        renderer.colors("z", "viridis")
        picture = renderer.draw(camera, width=160, height=120, want=("color", "color16", "normal"), mode="surface")
        assert picture.color16.dtype == numpy.uint16 and picture.normal.shape == (120, 160, 3)
        renderer.normals(mote.normals(cloud).normals)
        renderer.draw(camera, width=160, height=120, mode="surface", normals="given",
                      lights=[{"toward": (0, 0, 1), "strength": 1}, {"toward": (1, 0, 0), "strength": 0.5}])
        for bad, told in (({"lights": [{}] * 5}, "there may be 4"), ({"mode": "x"}, "no 'x'"), ({"want": "x"}, "layer"),
                          ({"background": (1, 2)}, "4 values"), ({"background": (1, 2, 3, 256)}, "not in 0 to 255")):
            with pytest.raises(mote.ArgumentError, match=told):
                renderer.draw(camera, **bad)


def test_exposure(city):
    with mote.Renderer(mote.read(city)) as renderer:
        assert renderer.exposure() == 1 and renderer.exposure(2.5) == 2.5
        with pytest.raises(mote.ArgumentError, match="exposure is -1"):
            renderer.exposure(-1)
    places = numpy.zeros((100, 3))
    places[:, 0] = numpy.arange(100)
    dark = mote.Cloud(places)
    for name, value in (("red", 4095), ("green", 2048), ("blue", 0)):
        dark[name] = numpy.full(100, value, numpy.uint16)
    with mote.Renderer(dark) as renderer:
        assert renderer.exposure() == 12.8
        picture = renderer.draw(renderer.fit("top", width=160, height=120), width=160, height=120, edl_strength=0,
                                want=("color", "index"))
        shown = picture.color[picture.index < 100]
        assert len(shown) > 50 and (shown == (204, 102, 0, 255)).all()


@pytest.mark.parametrize("method", ["full", "map", "direct", "shadow", "path"])
def test_photon(command, tmp_path, method):
    told = command("photon", "cornell", "-o", tmp_path / "a.png", "--size", "24x16", "--photons", 3000, "--method",
                   method, "--samples", 1)
    rgb = mote.photon("cornell", width=24, height=16, samples=1, method=method, emission={"photons": 3000})
    value = 0
    for bits in rgb.reshape(-1).view(numpy.uint32).tolist():
        value = (value ^ bits) * MIX & ALL_BITS
        value ^= value >> 32
    assert f"{value:016x}" == told["hash"]


def test_photon_maps():
    assert "cornell" in mote.scenes()
    scene = mote.Scene("cornell")
    light = scene.emit(photons=2000)
    assert light.facts.emitted == 2000 and len(light.cloud) == light.facts.stored
    places = light.cloud[:50]
    assert light.gather(places, k=20).shape == (50, 3)
    x = light.cloud["x"]
    expected = x.copy()
    light.close()
    assert (x == expected).all()
    assert mote.photon(scene, passes=2, width=8, height=8, method="map", emission={"photons": 500}).shape == (8, 8, 3)
    with pytest.raises(mote.ArgumentError, match="gathering"):
        mote.photon(scene, gathering={"q": 3})
    with pytest.raises(mote.ArgumentError, match="nowhere"):
        mote.Scene("nowhere")

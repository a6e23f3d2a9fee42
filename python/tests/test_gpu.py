"""Arrays of a GPU from and to CuPy, PyTorch and JAX: pointers, results, streams, memory. Needs a GPU and these."""
import gc

import numpy
import pytest

import mote
from mote import _device

COUNT = 20_000


def _has_gpu():
    return any(device.kind == "cuda" and device.usable for device in mote.devices())


pytestmark = pytest.mark.skipif(not _has_gpu(), reason="no GPU")


class Cupy:
    def __init__(self):
        self.cupy = pytest.importorskip("cupy")

    def to(self, array):
        return self.cupy.asarray(array)

    def pointer(self, array):
        return array.data.ptr

    def take(self, array):
        return self.cupy.from_dlpack(array)

    def host(self, array):
        return self.cupy.asnumpy(array)


class Torch:
    def __init__(self):
        self.torch = pytest.importorskip("torch")

    def to(self, array):
        return self.torch.from_numpy(numpy.ascontiguousarray(array)).cuda()

    def pointer(self, array):
        return array.data_ptr()

    def take(self, array):
        return self.torch.from_dlpack(array)

    def host(self, array):
        return array.cpu().numpy()


class Jax:
    def __init__(self):
        self.jax = pytest.importorskip("jax")
        if not any(device.platform == "gpu" for device in self.jax.devices()):
            pytest.skip("this JAX has no GPU")

    def to(self, array):
        return self.jax.device_put(numpy.asarray(array))

    def pointer(self, array):
        return array.unsafe_buffer_pointer()

    def take(self, array):
        if getattr(array, "_readonly", False):
            pytest.skip("JAX takes no array that is for reading only, as its own are")
        return self.jax.dlpack.from_dlpack(array)

    def host(self, array):
        return numpy.asarray(array)


@pytest.fixture(params=[Cupy, Torch, Jax], ids=["cupy", "torch", "jax"])
def library(request):
    return request.param()


@pytest.fixture
def points():
    return numpy.random.default_rng(1).random((COUNT, 3)).astype(numpy.float32)


def on_cpu(call):
    with mote.Context(device="cpu") as context:
        return call(context)


def test_points_are_not_copied(library, points):
    theirs = library.to(points)
    cloud = mote.Cloud(theirs, copy=False)
    assert cloud.device == "cuda" and len(cloud) == COUNT
    assert cloud.column("y").raw._address == library.pointer(theirs) + 4
    assert (numpy.asarray(cloud.xyz) == points).all()
    assert (numpy.asarray(cloud.column("z").raw) == points[:, 2]).all()
    back = library.take(cloud.xyz)
    assert library.pointer(back) == library.pointer(theirs)
    assert back.shape == (COUNT, 3) and (library.host(back) == points).all()


def test_neighbours_stay_there(library, points):
    expected = on_cpu(lambda context: mote.knn(points, k=8, context=context))
    near = mote.knn(library.to(points), k=8)
    for name in ("index", "distance2", "count"):
        array = getattr(near, name)
        assert isinstance(array, _device.DeviceArray), name
        theirs = library.take(array) if array.dtype != numpy.uint32 else None
        if theirs is not None:
            assert library.pointer(theirs) == array._address, name
            assert library.host(theirs).tobytes() == getattr(expected, name).tobytes(), name
        assert numpy.asarray(array).tobytes() == getattr(expected, name).tobytes(), name


def test_queries_index_and_normals(library, points):
    queries = points[::7] + numpy.float32(0.01)
    expected = on_cpu(lambda context: mote.knn_index(points, context=context).search(queries, k=5))
    index = mote.knn_index(library.to(points))
    found = index.search(library.to(queries), k=5)
    assert numpy.asarray(found.index).tobytes() == expected.index.tobytes()
    assert numpy.asarray(found.distance2).tobytes() == expected.distance2.tobytes()
    normals = mote.normals(library.to(points), k=12)
    like = on_cpu(lambda context: mote.normals(points, k=12, context=context))
    assert isinstance(normals.normals, _device.DeviceArray)
    assert numpy.asarray(normals.normals).tobytes() == like.normals.tobytes()
    assert (library.host(library.take(normals.curvature)) == like.curvature).all()
    assert (mote.outliers(library.to(points)).outlier
            == on_cpu(lambda context: mote.outliers(points, context=context)).outlier).all()


@pytest.mark.parametrize("call", ["planes", "render", "lod"])
def test_what_gives_results_to_the_host(library, call):
    with mote.Context(device="cpu"):
        points = mote.gen("room", 30_000).xyz.astype(numpy.float32)
        with mote.Renderer(points) as renderer:
            camera = renderer.fit(width=64, height=48)

    def run(source, context):
        if call == "planes":
            return numpy.asarray(mote.planes(source, context=context).labels)
        if call == "render":
            return mote.render(source, camera, context=context, width=64, height=48, mode="points").color
        return numpy.concatenate([tree_points for tree_points in _nodes(mote.lod(source, context=context))])

    def _nodes(tree):
        return [numpy.asarray(tree.points(node)).reshape(-1) for node in range(len(tree.nodes))]

    expected = on_cpu(lambda context: run(points, context))
    assert run(library.to(points), None).tobytes() == expected.tobytes()


def test_types_and_strides(library, points):
    for dtype in (numpy.float32, numpy.int32) if isinstance(library, Jax) else \
            (numpy.float32, numpy.float64, numpy.int32, numpy.int16):
        array = (points * 1000).astype(dtype)
        expected = on_cpu(lambda context: mote.knn(array, k=3, context=context))
        assert numpy.asarray(mote.knn(library.to(array), k=3).index).tobytes() == expected.index.tobytes(), dtype
    wide = numpy.zeros((COUNT, 7), numpy.float32)
    wide[:, 2:5] = points
    part = library.to(wide)[:, 2:5]
    expected = on_cpu(lambda context: mote.knn(points, k=3, context=context))
    assert numpy.asarray(mote.knn(part, k=3).index).tobytes() == expected.index.tobytes()
    with pytest.raises(mote.ArgumentError, match="N x 3"):
        mote.knn(library.to(points.reshape(-1)))
    with pytest.raises(mote.ArgumentError):
        mote.knn(library.to(points[:, :2]))
    assert len(mote.Cloud(library.to(points[:0]))) == 0


def test_results_outlive_what_they_came_from(library, points):
    theirs = library.to(points)
    near = mote.knn(theirs, k=4)
    taken = library.take(near.distance2)
    expected = library.host(taken).copy()
    del near
    gc.collect()
    for _ in range(8):
        mote.knn(library.to(points[::-1].copy()), k=4)
    assert (library.host(taken) == expected).all()
    back = library.take(mote.Cloud(theirs).xyz)
    del theirs
    gc.collect()
    for _ in range(8):
        mote.knn(library.to(points[::-1].copy()), k=4)
    assert (library.host(back) == points).all()


def test_queries_of_the_host(points):
    """They are brought to the GPU; the answer is there."""
    torch = pytest.importorskip("torch")
    there = torch.from_numpy(points).cuda()
    near = mote.knn(there, points[:100], k=2)
    assert isinstance(near.index, _device.DeviceArray)
    expected = on_cpu(lambda context: mote.knn(points, points[:100], k=2, context=context))
    assert numpy.asarray(near.index).tobytes() == expected.index.tobytes()
    with pytest.raises(BufferError, match="stays where it is"):
        mote.knn(there, k=2).index.__dlpack__(dl_device=(1, 0))


def _written_late(torch, points, stream):
    """A tensor that the stream fills only after some 50 ms of other work; before that it holds zeros."""
    source = torch.from_numpy(points).cuda()
    late = torch.zeros_like(source)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        late.copy_(source, non_blocking=True)
    return late


@pytest.mark.parametrize("where", ["default", "given"])
def test_streams(points, where):
    """A kernel of theirs before, one of theirs after: no synchronisation of the caller's between."""
    torch = pytest.importorskip("torch")
    expected = on_cpu(lambda context: mote.knn(points, k=4, context=context))
    for _ in range(3):
        if where == "default":
            stream, context = torch.cuda.default_stream(), None
        else:
            stream = torch.cuda.Stream()
            context = mote.Context(device="cuda", stream=stream)
        with torch.cuda.stream(stream):
            late = _written_late(torch, points, stream)
            near = mote.knn(late, k=4, context=context)
            doubled = torch.from_dlpack(near.index).clone() * 2
            late.zero_()
            told = doubled.cpu().numpy()  # in the same stream: another one would not wait for it
        assert (told == 2 * expected.index).all()


def test_a_call_does_not_wait(points):
    """Work is put into the caller's stream: a search returns while the stream still sleeps."""
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    context = mote.Context(device="cuda", stream=stream)
    source = torch.from_numpy(points).cuda()
    index = mote.knn_index(source, context=context)
    index.search(k=4)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(1_000_000_000)
    near = index.search(k=4)
    assert not stream.query(), "the search waited for the stream"
    expected = on_cpu(lambda context: mote.knn(points, k=4, context=context))
    assert numpy.asarray(near.index).tobytes() == expected.index.tobytes()


def test_no_memory_is_lost(points):
    torch = pytest.importorskip("torch")
    source = torch.from_numpy(points).cuda()

    def some(times):
        for _ in range(times):
            torch.from_dlpack(mote.knn(source, k=2).index)
            mote.Cloud(source).column("x").raw.__dlpack__()
        gc.collect()
        torch.cuda.synchronize()
        return torch.cuda.mem_get_info()[0]

    before = some(200)
    after = some(2000)
    assert before - after < 4 << 20, f"{(before - after) >> 20} MB are gone"


def test_a_cloud_keeps_what_was_uploaded(points):
    """Several calls on a cloud of the host need one copy of it, with the same results; new values are copied anew."""
    with mote.Context(device="cuda") as context:
        kept, other = mote.Cloud(points, context=context), mote.Cloud(points, context=context)
        kept.keep_uploads()
        assert context.uploaded_bytes == 0
        for call in range(3):
            expected = numpy.asarray(mote.normals(other, k=8, context=context).normals).tobytes()
            before = context.uploaded_bytes
            assert before >= points.nbytes
            assert numpy.asarray(mote.normals(kept, k=8, context=context).normals).tobytes() == expected
            assert context.uploaded_bytes - before == (points.nbytes if call == 0 else 0)
        points *= 2
        kept.keep_uploads()
        before = context.uploaded_bytes
        assert numpy.asarray(mote.normals(kept, k=8, context=context).normals).tobytes() == \
            numpy.asarray(mote.normals(mote.Cloud(points, context=context), k=8, context=context).normals).tobytes()
        assert context.uploaded_bytes - before == 2 * points.nbytes
        kept.close()
        other.close()

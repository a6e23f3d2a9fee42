"""DLPack and the CUDA array interface, as far as they need no GPU."""
import gc

import numpy
import pytest

import mote
from mote import _dlpack


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture
def points():
    return numpy.random.default_rng(1).random((100, 3))


class Tensor:
    """What another library gives: no numpy array, but DLPack. versioned: by version 1.0."""

    def __init__(self, array, versioned):
        self.array, self.versioned = array, versioned

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, stream=None, **keywords):
        if keywords and not self.versioned:
            raise TypeError("no max_version here")
        return _dlpack.array_capsule(self.array, keywords.get("max_version"), None, None)


@pytest.mark.parametrize("versioned", [False, True])
def test_tensors_are_not_copied(points, versioned):
    tensor = Tensor(points, versioned)
    cloud = mote.Cloud(tensor, copy=False)
    assert address(cloud["x"]) == address(points) and (cloud.xyz == points).all()
    assert (mote.knn(tensor, k=2).index == mote.knn(points, k=2).index).all()
    assert len(_dlpack._given) >= 1
    del cloud
    gc.collect()
    assert not _dlpack._given, "given back"


@pytest.mark.skipif(not hasattr(numpy, "from_dlpack"), reason="numpy before 1.22 takes no DLPack")
def test_clouds_to_others(points):
    cloud = mote.Cloud(points)
    assert cloud.__dlpack_device__() == (1, 0)
    taken = numpy.from_dlpack(cloud)
    assert address(taken) == address(points) and taken.shape == (100, 3)
    column = numpy.from_dlpack(cloud.column("y"))
    assert address(column) == address(points) + 8 and (column == points[:, 1]).all()
    del cloud
    gc.collect()
    assert (taken == points).all()
    del taken, column
    gc.collect()
    assert not _dlpack._given


def test_capsules(points):
    cloud = mote.Cloud(points)
    old, new = cloud.__dlpack__(), cloud.__dlpack__(max_version=(1, 1))
    assert '"dltensor"' in repr(old) and '"dltensor_versioned"' in repr(new)
    taken = _dlpack.take_capsule(new)
    assert '"used_dltensor_versioned"' in repr(new) and not taken.readonly
    with pytest.raises(mote.ArgumentError, match="taken before"):
        _dlpack.take_capsule(new)
    with pytest.raises(mote.ArgumentError, match="no DLPack capsule"):
        _dlpack.take_capsule(3)
    del old, new, taken
    assert not _dlpack._given
    points.flags.writeable = False
    frozen = mote.Cloud(points)
    with pytest.raises(BufferError, match="reading only"):
        frozen.__dlpack__()
    taken = _dlpack.take_capsule(frozen.__dlpack__(max_version=(1, 0)))
    assert taken.readonly and not taken.array().flags.writeable
    with pytest.raises(BufferError, match="host"):
        frozen.__dlpack__(max_version=(1, 0), dl_device=(2, 0))
    copied = _dlpack.take_capsule(frozen.__dlpack__(copy=True)).array()
    assert copied.flags.writeable and (copied == points).all()


def test_strides_that_dlpack_has_not():
    records = numpy.zeros(10, [("flag", "u1"), ("x", "f8"), ("y", "f8"), ("z", "f8")])
    with pytest.raises(BufferError, match="strides"):
        mote.Cloud(records).column("x").__dlpack__()


class CudaArray:
    """An array of a GPU that this machine may not have: nothing may look at its memory."""

    def __init__(self, **changes):
        self.__cuda_array_interface__ = {"shape": (10, 3), "typestr": "<f4", "data": (0x7f0000000000, False),
                                         "version": 3, **changes}


def test_arrays_of_a_gpu():
    taken = _dlpack.take(CudaArray())
    assert taken.device == (_dlpack.CUDA, 0) and taken.shape == (10, 3) and taken.strides == (12, 4)
    assert _dlpack.take(CudaArray(strides=(16, 4))).strides == (16, 4)
    with pytest.raises(mote.ArgumentError, match="masked"):
        _dlpack.take(CudaArray(mask=CudaArray()))
    if not any(device.kind == "cuda" and device.usable for device in mote.devices()):
        with pytest.raises(mote.UnsupportedError, match="CUDA|GPU|NVIDIA"):
            mote.knn(CudaArray())


def test_a_context_without_a_gpu():
    if any(device.kind == "cuda" and device.usable for device in mote.devices()):
        pytest.skip("there is a GPU")
    with pytest.raises(mote.UnsupportedError, match="CUDA|NVIDIA"):
        mote.Context(device="cuda")
    with pytest.raises(mote.UnsupportedError):
        mote.gen("torus", 10).to_device()


def test_torch():
    torch = pytest.importorskip("torch")
    tensor = torch.rand(1000, 3)
    cloud = mote.Cloud(tensor, copy=False)
    assert torch.from_dlpack(cloud).data_ptr() == tensor.data_ptr()
    assert torch.from_dlpack(cloud.column("y")).data_ptr() == tensor.data_ptr() + 4
    part = torch.rand(1000, 7)[:, 2:5]
    assert address(mote.Cloud(part, copy=False)["x"]) == part.data_ptr()
    assert (mote.knn(tensor, k=3).index == mote.knn(tensor.numpy(), k=3).index).all()
    places = torch.from_dlpack(cloud)
    expected = tensor.clone()
    del cloud, tensor
    gc.collect()
    assert torch.equal(places, expected)
    for bad in (torch.rand(5), torch.rand(5, 3).half(), torch.rand(5, 3).bfloat16()):
        with pytest.raises(mote.ArgumentError):
            mote.knn(bad)

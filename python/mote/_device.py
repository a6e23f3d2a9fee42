"""Arrays in the memory of a GPU: what others give for points, and where results stay.

Written by the standards (see _dlpack.py); the tests of this package run on CPUs and try the parts that need no GPU.

Order of work: a context without a stream of the caller's works, for arrays of a GPU, on the legacy default stream,
which waits for all other streams of the usual kind and they for it. So kernels of the caller before and after need no
synchronisation. Streams that were made "non-blocking" are given to mote.Context(stream=...).
"""
import ctypes
import threading

import numpy

from . import _arrays, _context, _dlpack
from . import _errors as errors
from . import _library as library

_LEGACY_STREAM = 1  # cudaStreamLegacy, and DLPack's number for it
_local = threading.local()


def context_of(taken, context):
    """The context that works on a tensor of a GPU: the one given, else one on that GPU's legacy default stream."""
    if context is not None:
        return context
    given = getattr(_context._local, "context", None)
    if given is not None and given.stream is not None:
        return given
    contexts = _local.__dict__.setdefault("contexts", {})
    number = taken.device[1]
    if number not in contexts:
        contexts[number] = _context.Context(device="cuda", device_index=number, stream=_LEGACY_STREAM)
    return contexts[number]


def stream_of(context):
    """The stream that a producer makes its tensor ready for."""
    given = context if context is not None else getattr(_context._local, "context", None)
    return given.stream if given is not None and given.stream is not None else _LEGACY_STREAM


def wait_for(stream):
    """Waits until a stream of another library has done its work."""
    _context.Context(device="cuda", stream=stream).wait()


class DeviceArray:
    """An array in the memory of a GPU. CuPy, PyTorch, JAX and Numba take it as it is, without a copy;
    ``numpy.asarray`` brings it to the host."""

    def __init__(self, context, address, shape, dtype, owner, strides=None, readonly=False, device_id=0):
        self._context, self._address, self._owner = context, address, owner
        self.shape, self.dtype = tuple(shape), numpy.dtype(dtype)
        self._strides = tuple(strides or _dlpack._dense_strides(self.shape, self.dtype.itemsize))
        self._readonly, self.device_id = readonly, device_id

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def nbytes(self):
        return self.dtype.itemsize * int(numpy.prod(self.shape, dtype=numpy.int64))

    def __len__(self):
        return self.shape[0]

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self._address or 0, self._readonly),
                "version": 3, "strides": self._strides, "stream": self._context.stream or _LEGACY_STREAM}

    def __dlpack_device__(self):
        return _dlpack.CUDA, self.device_id

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("this array stays where it is; numpy.asarray brings it to the host")
        if stream != -1 and (self._context.stream != _LEGACY_STREAM or stream not in (None, 0, 1)):
            self._context.wait()  # there is no other way to order the two streams
        versioned = max_version is not None and max_version[0] >= 1
        return _dlpack.capsule_of(self._address, self.shape, self._strides, self.dtype, self.__dlpack_device__(),
                                  self._readonly, self, versioned)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("an array of a GPU cannot be a numpy array without a copy")
        span = self.dtype.itemsize + sum((size - 1) * step for size, step in zip(self.shape, self._strides))
        raw = numpy.empty(span if 0 not in self.shape else 0, numpy.uint8)
        if raw.size:
            self._context._call(library.mote_device_copy, self._context._pointer, _arrays.pointer(raw), self._address,
                                raw.nbytes)
        array = numpy.ndarray(self.shape, self.dtype, raw, strides=self._strides) if raw.size else \
            numpy.empty(self.shape, self.dtype)
        return array if dtype is None else array.astype(dtype)

    def __repr__(self):
        return f"DeviceArray({' x '.join(map(str, self.shape))}, {self.dtype}, cuda:{self.device_id})"


def allocate(context, shape, dtype):
    """Memory of the context's GPU for a result."""
    dtype = numpy.dtype(dtype)
    size = dtype.itemsize * int(numpy.prod(shape, dtype=numpy.int64))
    memory = _context.Handle(context, lambda pointer: library.mote_device_free(context._pointer, pointer))
    address = context._run(library.mote_device_alloc, context._pointer, ctypes.c_uint64(size))
    if not address:
        raise errors.MemoryError(f"no memory of the GPU for a result of {size} bytes")
    memory.pointer = ctypes.c_void_p(address)
    return DeviceArray(context, address, shape, dtype, memory)


def results(context, on_device, shape, dtype):
    """An array for a result, where the points are."""
    return allocate(context, shape, dtype) if on_device else numpy.empty(shape, dtype)


def address(array):
    """What the library is given for an array of either kind."""
    return array._address if isinstance(array, DeviceArray) else _arrays.pointer(array)

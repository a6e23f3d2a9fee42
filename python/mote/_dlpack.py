"""DLPack 1.0 and __cuda_array_interface__: arrays from and to CuPy, PyTorch, JAX and others, without a copy.

Both ways are written by the standards (dmlc/dlpack dlpack.h, version 1.0; the CUDA array interface, version 3).
"""
import ctypes

import numpy

from . import _errors as errors

CPU, CUDA, CUDA_HOST = 1, 2, 3  # kDLCPU, kDLCUDA, kDLCUDAHost
_READ_ONLY = 1                  # DLPACK_FLAG_BITMASK_READ_ONLY
_CODES = {"i": 0, "u": 1, "f": 2}
_LETTERS = {code: letter for letter, code in _CODES.items()}
_LETTERS[6] = "b"


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    """Before version 1: capsules named "dltensor"."""
    _fields_ = [("tensor", _Tensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Versioned(ctypes.Structure):
    """Capsules named "dltensor_versioned"."""
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
_NAMES = {_Managed: (b"dltensor", b"used_dltensor"), _Versioned: (b"dltensor_versioned", b"used_dltensor_versioned")}

# ---- out

_given = {}  # address of a managed tensor: the struct, and what its memory belongs to, until its taker is done


@_DELETER
def _delete(address):
    _given.pop(address, None)


# A destructor is given the capsule itself, which is being freed, so it is called with its address as a number.
_capsule_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy_capsule(capsule):
    """Of one that nobody took: who takes it renames it."""
    for name, _ in _NAMES.values():
        if _capsule_valid(capsule, name):
            _delete_now(_capsule_pointer(capsule, name))


def _delete_now(address):
    _given.pop(address, None)


def capsule_of(address, shape, strides, dtype, device, readonly, owner, versioned):
    """A capsule over memory that owner keeps. strides in bytes; device: (type, number)."""
    dtype = numpy.dtype(dtype)
    if dtype.kind not in _CODES or any(stride % dtype.itemsize for stride in strides):
        raise BufferError(f"DLPack has no {dtype} with strides of {tuple(strides)} bytes: take a copy")
    if readonly and not versioned:
        raise BufferError("this memory is for reading only, which DLPack before 1.0 cannot say: take a copy")
    kind = _Versioned if versioned else _Managed
    managed = kind()
    managed.deleter = ctypes.cast(_delete, ctypes.c_void_p)
    if versioned:
        managed.major, managed.flags = 1, _READ_ONLY if readonly else 0
    tensor, count = managed.tensor, len(shape)
    sizes, steps = (ctypes.c_int64 * count)(*shape), (ctypes.c_int64 * count)(*[s // dtype.itemsize for s in strides])
    tensor.data, tensor.ndim = address or None, count
    tensor.device_type, tensor.device_id = device
    tensor.code, tensor.bits, tensor.lanes = _CODES[dtype.kind], 8 * dtype.itemsize, 1
    tensor.shape, tensor.strides = sizes, steps
    where = ctypes.addressof(managed)
    _given[where] = (managed, sizes, steps, owner)
    return _api.PyCapsule_New(where, _NAMES[kind][0], ctypes.cast(_destroy_capsule, ctypes.c_void_p))


def array_capsule(array, max_version, dl_device, copy):
    """__dlpack__ of a numpy array, with what version 1.0 asks."""
    if dl_device is not None and tuple(dl_device) != (CPU, 0):
        raise BufferError(f"these points are in the memory of the host, not on device {tuple(dl_device)}")
    if copy:
        array = numpy.array(array)
    versioned = max_version is not None and max_version[0] >= 1
    return capsule_of(array.__array_interface__["data"][0], array.shape, array.strides, array.dtype, (CPU, 0),
                      not array.flags.writeable, array, versioned)


# ---- in


class Taken:
    """A tensor of another library: where, what, on which device. Its memory is held until this is freed."""

    def __init__(self, address, shape, strides, dtype, device, readonly, owner):
        self.address, self.shape, self.strides, self.dtype = address, tuple(shape), tuple(strides), dtype
        self.device, self.readonly, self._owner, self._release = device, readonly, owner, None

    def array(self):
        """As numpy array, of memory of the host."""
        from ._arrays import view
        return view(self.address, self.shape, self.strides, self.dtype, self.readonly, self)

    def __del__(self):
        if self._release is not None:
            self._release()


def _dense_strides(shape, size):
    strides, step = [], size
    for length in reversed(shape):
        strides.insert(0, step)
        step *= length
    return strides


def take_capsule(capsule):
    """Takes a capsule over, as the standard says: renamed, and its deleter called in the end."""
    for kind, (name, used) in _NAMES.items():
        if _api.PyCapsule_IsValid(capsule, name):
            break
    else:
        raise errors.ArgumentError("this is no DLPack capsule, or one that was taken before")
    where = _api.PyCapsule_GetPointer(capsule, name)
    managed = kind.from_address(where)
    if kind is _Versioned and managed.major != 1:
        raise errors.UnsupportedError(f"DLPack version {managed.major}; this package knows 1")
    tensor = managed.tensor
    if tensor.lanes != 1 or tensor.code not in _LETTERS:
        raise errors.ArgumentError(f"a tensor of type {tensor.code} with {tensor.lanes} lanes; points are numbers")
    dtype = numpy.dtype(f"{_LETTERS[tensor.code]}{tensor.bits // 8}")
    shape = [tensor.shape[i] for i in range(tensor.ndim)]
    if tensor.strides:
        strides = [tensor.strides[i] * dtype.itemsize for i in range(tensor.ndim)]
    else:
        strides = _dense_strides(shape, dtype.itemsize)
    readonly = kind is _Versioned and bool(managed.flags & _READ_ONLY)
    taken = Taken((tensor.data or 0) + tensor.byte_offset, shape, strides, dtype,
                  (tensor.device_type, tensor.device_id), readonly, None)
    deleter = managed.deleter
    _api.PyCapsule_SetName(capsule, used)
    if deleter:
        taken._release = lambda call=ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(deleter): call(where)
    return taken


def take(source, stream=None, wait=None):
    """A tensor of any library that has __dlpack__ or __cuda_array_interface__; None for what has neither.
    stream: of the consumer, an address; what the tensor's own library still computes comes before it: with DLPack it
    sees to that, else wait(the other stream) does."""
    interface = getattr(source, "__cuda_array_interface__", None)
    if interface is not None and not hasattr(source, "__dlpack__"):
        dtype = numpy.dtype(interface["typestr"])
        if interface.get("mask") is not None:
            raise errors.ArgumentError("a masked CUDA array: points have no mask")
        address, readonly = interface["data"]
        shape = interface["shape"]
        strides = interface.get("strides") or _dense_strides(shape, dtype.itemsize)
        if wait is not None and interface.get("stream") not in (None, 1, stream):
            wait(interface["stream"])
        return Taken(address, shape, strides, dtype, (CUDA, getattr(source, "device_id", 0)), readonly, source)
    if not hasattr(source, "__dlpack__"):
        return None
    device = source.__dlpack_device__() if hasattr(source, "__dlpack_device__") else (CPU, 0)
    arguments = {"stream": stream} if int(device[0]) == CUDA and stream is not None else {}
    try:
        capsule = source.__dlpack__(max_version=(1, 0), **arguments)
    except TypeError:  # written before version 1.0
        capsule = source.__dlpack__(**arguments)
    return take_capsule(capsule)

"""Memory of the library as numpy arrays, and arrays as columns of a cloud: both without a copy where that is possible.

A column of the library is {address, stride, type}; so is a one-dimensional numpy array. What the library cannot step
through (backward, in place, by 4 GiB or more), and values in the other byte order, are copied once.
"""
import collections.abc
import ctypes

import numpy

from . import _declarations as declared
from . import _errors as errors
from . import _library as library

TYPES = {number: numpy.dtype(word) for word, number in declared.ENUMS["mote_type"].items()}
_NUMBERS = {dtype: number for number, dtype in TYPES.items()}
_MAX_STRIDE = 2**32 - 1
_AXES = declared.mote_column * 3


class _Memory:
    """Memory that numpy looks at, and what must live as long."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, address, shape, strides, dtype, readonly, owner):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": shape, "strides": strides, "typestr": dtype.str,
                                    "data": (address, readonly)}


def view(address, shape, strides, dtype, readonly, owner):
    """An array over memory of the library. owner lives as long as any array that looks at it."""
    if 0 in shape or not address:
        return numpy.empty(shape, dtype)
    return numpy.asarray(_Memory(address, shape, strides, dtype, readonly, owner))


def dense(address, shape, dtype, owner):
    """The same of an array without gaps, for reading."""
    dtype = numpy.dtype(dtype)
    strides, step = [], dtype.itemsize
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return view(address, tuple(shape), tuple(strides), dtype, True, owner)


def _refuse_copy(name, why):
    raise errors.ArgumentError(f"{name} {why}: it must be copied, and copy=False forbids that")


def column_array(name, values, copy):
    """A one-dimensional array that the library can take for a column, copied if need be and allowed."""
    array = values if isinstance(values, numpy.ndarray) else numpy.asarray(values)
    if isinstance(array, numpy.ma.MaskedArray):
        raise errors.ArgumentError(f"{name} is a masked array: say what masked values are, with .filled(value)")
    if array.ndim != 1:
        raise errors.ArgumentError(f"{name} has {array.ndim} dimensions, and a column has 1")
    if copy is False and isinstance(values, (list, tuple, range)):
        _refuse_copy(name, f"is a {type(values).__name__}")
    dtype = array.dtype
    if dtype == numpy.bool_:
        array, dtype = array.view(numpy.uint8), numpy.dtype(numpy.uint8)
    native = dtype.newbyteorder("=")
    if native not in _NUMBERS:
        raise errors.ArgumentError(f"{name} is of type {dtype}; columns are integers of 8 to 64 bits, float32 or "
                                   f"float64")
    stride = array.strides[0] if array.size > 1 else dtype.itemsize
    if copy is True:
        return numpy.array(array, native)
    if native != dtype:
        if copy is False:
            _refuse_copy(name, "is of the other byte order")
        return array.astype(native)
    if not 0 < stride <= _MAX_STRIDE:
        if copy is False:
            _refuse_copy(name, f"has a stride of {stride} bytes")
        return numpy.array(array)
    return array


def _table_rows(array, copy):
    """Columns x, y, z of an N x 3 array."""
    shape = array.shape
    if len(shape) != 2 or shape[1] != 3:
        text = " x ".join(map(str, shape)) if shape else "of no dimension"
        raise errors.ArgumentError(f"the array is {text}; points are N x 3, a structured array, or a dictionary of "
                                   f"columns")
    dtype, (stride, step) = array.dtype, array.strides
    native = dtype if dtype.isnative else dtype.newbyteorder("=")
    if native not in _NUMBERS:
        raise errors.ArgumentError(f"the array is of type {dtype}; points are integers of 8 to 64 bits, float32 or "
                                   f"float64")
    awkward = shape[0] > 1 and not 0 < stride <= _MAX_STRIDE
    if copy is True or awkward or native != dtype:
        if copy is False:
            _refuse_copy("the array", f"has a stride of {stride} bytes" if awkward else "is of the other byte order")
        array = numpy.array(array, native, order="C")  # once, and not column by column
        stride, step = array.strides
    start, number, stride = pointer(array), _NUMBERS[native], max(stride, 0)
    x, y, z = rows = _AXES()
    x.name, x.data, x.stride_bytes, x.type = b"x", start, stride, number
    y.name, y.data, y.stride_bytes, y.type = b"y", start + step, stride, number
    z.name, z.data, z.stride_bytes, z.type = b"z", start + 2 * step, stride, number
    return rows, shape[0], (array,), dict.fromkeys("xyz", array.flags.writeable)


def encoded_name(name):
    """The name of a column as the library has it."""
    try:
        encoded = name.encode()
    except UnicodeEncodeError:
        encoded = b""
    if not encoded or b"\0" in encoded:
        raise errors.ArgumentError(f"{name!r} is no name of a column")
    return encoded


def array_of(source):
    """What is no array yet, as one."""
    try:
        return source if isinstance(source, numpy.ndarray) else numpy.asarray(source)
    except ValueError as failure:  # rows of different lengths
        raise errors.ArgumentError(f"points that are no array: {failure}") from None


def standard_name(name):
    """What mote calls an attribute: "X" and "ReturnNumber" are x and return_number, other names stay."""
    known = library.mote_standard_name(name.encode())
    return known.decode() if known else name


def _column_rows(given, copy):
    """A row for each column of a dictionary."""
    columns = {}
    for name, values in given.items():
        if not isinstance(name, str):
            raise errors.ArgumentError(f"{name!r} is no name of a column")
        encoded_name(name)
        known = standard_name(name)
        if known in columns:
            raise errors.ArgumentError(f"the column {known} stands twice")
        columns[known] = column_array(name, values, copy)
    counts = {name: len(values) for name, values in columns.items()}
    if len(set(counts.values())) > 1:
        raise errors.ArgumentError("columns differ in length: " +
                                   ", ".join(f"{name} {count}" for name, count in counts.items()))
    rows = (declared.mote_column * len(columns))()
    for row, (name, values) in zip(rows, columns.items()):
        row.name, row.data, row.type = name.encode(), pointer(values), _NUMBERS[values.dtype]
        row.stride_bytes = values.strides[0] if values.size > 1 else values.dtype.itemsize
    writable = {name: values.flags.writeable for name, values in columns.items()}
    return rows, next(iter(counts.values())), tuple(columns.values()), writable


def rows_of(source, copy=None):
    """What a caller gives for points, as columns of the library that look at its memory: (rows, points, the arrays
    that must live as long, which of them may be written)."""
    if isinstance(source, collections.abc.Mapping):
        if not source:
            raise errors.ArgumentError("the dictionary has no column")
        return _column_rows(source, copy)
    array = array_of(source)
    if isinstance(array, numpy.ma.MaskedArray):
        raise errors.ArgumentError("points are a masked array: say what masked values are, with .filled(value)")
    if array is not source and copy is False and isinstance(source, (list, tuple, range)):
        _refuse_copy("the points", f"are a {type(source).__name__}")
    if array.dtype.names is None:
        return _table_rows(array, copy)
    if array.ndim != 1:
        raise errors.ArgumentError(f"the structured array has {array.ndim} dimensions; points are 1")
    return _column_rows({name: array[name] for name in array.dtype.names}, copy)


def type_number(dtype):
    """The library's number of a type."""
    return _NUMBERS[numpy.dtype(dtype)]


def pointer(array):
    """The address of an array that is given to the library, None for none."""
    if array is None:
        return None
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # a third of the time of what follows
    except (BufferError, TypeError, ValueError):  # of an array that is read-only, empty or has gaps
        return array.__array_interface__["data"][0]

"""A cloud of points: named columns, of a file, of the library's own memory, or of arrays of the caller's."""
import ctypes
import os

import numpy

from . import _arrays, _context, _device, _dlpack
from . import _declarations as declared
from . import _errors as errors
from . import _library as library
from ._parameters import facts_of, nearest


class Column:
    """One attribute. ``stored`` are the numbers as they stand in memory, without a copy; ``values`` what they mean:
    stored * scale + offset. The two are the same array where there is no scale, no offset and no packing."""

    def __init__(self, handle, row, count, writable):
        self._handle, self._count = handle, count
        self.name, self.unit = row.name.decode(errors="replace"), (row.unit or b"").decode(errors="replace")
        self.description = (row.description or b"").decode(errors="replace")
        self.dtype = _arrays.TYPES[row.type]
        self.scale, self.offset = row.scale, row.offset
        self._address, self._stride = row.data, row.stride_bytes
        self._shift, self._bits, self._writable = row.bit_shift, row.bit_count, writable

    def __len__(self):
        return self._count

    @property
    def packed(self):
        """Whether values are bits of a number that holds others, too (as the returns of LAS)."""
        return self._bits != 0

    @property
    def scaled(self):
        return self.scale != 1 or self.offset != 0

    @property
    def raw(self):
        """The memory itself: of a packed column the numbers that its bits are in."""
        if self._handle.device is not None:
            return _device.DeviceArray(self._handle.context, self._address, (self._count,), self.dtype, self._handle,
                                       (self._stride,), not self._writable, self._handle.device)
        return _arrays.view(self._address, (self._count,), (self._stride,), self.dtype, not self._writable,
                            self._handle)

    @property
    def stored(self):
        """The stored numbers: a view, but for packed columns, which are unpacked."""
        if not self.packed:
            return self.raw
        mask = (1 << self._bits) - 1
        kind = numpy.uint8 if self._bits <= 8 else self.dtype
        return ((numpy.asarray(self.raw) >> self._shift) & mask).astype(kind)

    @property
    def values(self):
        """The values in world units: a view where nothing is scaled, else float64."""
        if not self.scaled:
            return self.stored
        values = numpy.asarray(self.stored).astype(numpy.float64)
        values *= self.scale
        values += self.offset
        return values

    def __array__(self, dtype=None, copy=None):
        if copy is False and (self.scaled or self.packed):
            raise ValueError(f"{self.name} is scaled or packed: its values are a copy")
        values = numpy.asarray(self.values)
        if copy:
            values = numpy.array(values)
        return values if dtype is None else values.astype(dtype, copy=False)

    def __dlpack_device__(self):
        return (_dlpack.CPU, 0) if self._handle.device is None else (_dlpack.CUDA, self._handle.device)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if self._handle.device is not None:
            return self.raw.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
        return _dlpack.array_capsule(self.values, max_version, dl_device, copy)

    def __repr__(self):
        parts = [self.name, str(self.dtype)]
        if self.packed:
            parts.append(f"{self._bits} bits")
        if self.scaled:
            parts.append(f"scale {self.scale:.15g}, offset {self.offset:.15g}")
        if self.unit:
            parts.append(self.unit)
        return f"Column({', '.join(parts)})"


class _CloudHandle(_context.Handle):
    """device: number of the GPU that its columns are on; None: the host."""
    __slots__ = ("device",)

    def __init__(self, context, owners=()):
        super().__init__(context, library.mote_cloud_destroy, owners)
        self.device = None


class Cloud(_context.Closable):
    """Points with named attributes.

    ``mote.Cloud(points)`` looks at arrays of yours, without a copy: N x 3, a structured array, a dictionary of arrays,
    a tensor with DLPack or ``__cuda_array_interface__``. ``mote.read`` gives the clouds of files.

    cloud["x"], cloud["Intensity"]  an attribute's values, by mote's, LAS's or PDAL's name
    cloud.column("x").stored        its stored numbers, as they stand in memory
    cloud.xyz                       N x 3 positions
    cloud[mask], cloud[10:20]       a cloud of the chosen points
    cloud["plane"] = labels         a new attribute, or new values
    numpy.asarray(cloud)            cloud.xyz;  cloud.to_numpy(): all, as a structured array

    copy: None copies what cannot be looked at as it is (a negative stride, the other byte order, a list), True always,
    False never: then such points raise ArgumentError.
    """

    def __init__(self, points, *, copy=None, crs=None, context=None):
        taken = None
        if not isinstance(points, numpy.ndarray) and not isinstance(points, dict):
            taken = _dlpack.take(points, _device.stream_of(context), _device.wait_for)
        if taken is not None and taken.device[0] == _dlpack.CUDA:
            self._wrap_device(taken, copy, context)
        else:
            self._wrap(taken.array() if taken is not None else points, copy, context)
        if crs is not None:
            self.crs = crs

    def _wrap(self, points, copy, context):
        rows, count, owners, writable = _arrays.rows_of(points, copy)
        context = _context.current(context)
        handle = _CloudHandle(context, owners)
        context._brief(library.mote_cloud_wrap, context._pointer, count, rows, len(rows), handle.out)
        self._begin(handle)
        self._writable_arrays = writable

    def _wrap_device(self, taken, copy, context):
        context = _device.context_of(taken, context)
        if len(taken.shape) != 2 or taken.shape[1] != 3 or taken.dtype not in _arrays._NUMBERS:
            raise errors.ArgumentError(f"the tensor is {' x '.join(map(str, taken.shape))} of {taken.dtype}; points "
                                       f"are N x 3 numbers")
        step = taken.strides[0] if taken.shape[0] > 1 else 3 * taken.dtype.itemsize  # else it means nothing
        if copy or not 0 < step <= _arrays._MAX_STRIDE:
            raise errors.ArgumentError("a tensor of a GPU is taken as it is: copy it with its own library")
        rows = (declared.mote_column * 3)()
        for i, row in enumerate(rows):
            row.name, row.data = b"xyz"[i:i + 1], (taken.address or 0) + i * taken.strides[1]
            row.stride_bytes, row.type = step, _arrays.type_number(taken.dtype)
        handle = _CloudHandle(context, (taken,))
        handle.device = taken.device[1]
        context._brief(library.mote_cloud_wrap_device, context._pointer, taken.shape[0], rows, 3, handle.out)
        self._begin(handle)
        self._writable_arrays = dict.fromkeys("xyz", not taken.readonly)

    def _begin(self, handle, source=None):
        self._handle = handle
        self._source = source          # of _io.read: how to read it again
        self._writable_arrays = None   # of wrapped arrays: which may be written through a view
        self._kept = {}                # what it keeps from call to call: order, uploads
        self._count = library.mote_cloud_count(handle.pointer)

    @classmethod
    def _of(cls, handle, source=None):
        cloud = cls.__new__(cls)
        cloud._begin(handle, source)
        return cloud

    # ---- facts

    def __len__(self):
        self._use()
        return self._count

    @property
    def fields(self):
        """The names of all columns."""
        handle = self._use()
        with handle.lock:
            return [declared.mote_column.from_address(library.mote_cloud_column(handle.pointer, i)).name.decode(
                errors="replace") for i in range(library.mote_cloud_column_count(handle.pointer))]

    @property
    def device(self):
        """"cpu" or "cuda": where the columns are."""
        return "cuda" if library.mote_cloud_on_device(self._use().pointer) else "cpu"

    @property
    def crs(self):
        """The coordinate reference system: WKT, "EPSG:n", or "" if unknown."""
        return library.mote_cloud_crs(self._use().pointer).decode(errors="replace")

    @crs.setter
    def crs(self, text):
        handle = self._changing()
        handle.context._brief(library.mote_cloud_set_crs, handle.pointer, str(text).encode())

    def keep_order(self, keep=True):
        """Lets the cloud keep the Morton order of its points once lod or render has sorted them, for the next of these on
        CPU cores; 12 bytes a point. Whoever moves points in place calls it again: what is kept is dropped then."""
        self._keep("order", keep)

    def keep_uploads(self, keep=True):
        """Lets the cloud keep the copies of its columns that calls make on the GPU, for the next calls: several of them
        need one upload. Whoever changes values in place calls it again: what is kept is dropped then."""
        self._keep("uploads", keep)

    @property
    def units(self):
        """What coordinates count in: .horizontal and .vertical, each with name, symbol, metres and radians."""
        units = declared.mote_units()
        library.mote_cloud_units(self._use().pointer, ctypes.byref(units))
        return facts_of(units)

    @property
    def bounds(self):
        """(min, max) of all points with finite coordinates, two arrays of x, y, z; min > max where there is none."""
        handle, box = self._use(), declared.mote_box()
        context = place_of(handle)
        with _context.using(handle):
            context._call(library.mote_cloud_bounds, context._pointer, handle.pointer, ctypes.byref(box), None)
        return numpy.array(box.min), numpy.array(box.max)

    @property
    def grid(self):
        """(width, height) of an organised cloud, else None."""
        width, height = ctypes.c_uint64(), ctypes.c_uint64()
        there = library.mote_cloud_grid(self._use().pointer, ctypes.byref(width), ctypes.byref(height))
        return (width.value, height.value) if there else None

    @property
    def las(self):
        """What the header of a LAS file said of itself; None of other clouds."""
        facts = declared.mote_las_facts()
        there = library.mote_cloud_las_facts(self._use().pointer, ctypes.byref(facts))
        return facts_of(facts) if there else None

    @property
    def records(self):
        """The variable-length records of a LAS file: user_id, record_id, description, extended, data."""
        handle, found = self._use(), []
        for i in range(library.mote_cloud_record_count(handle.pointer)):
            record = declared.mote_record.from_address(library.mote_cloud_record(handle.pointer, i))
            facts = facts_of(record)
            facts.data = ctypes.string_at(record.data, record.size_bytes) if record.size_bytes else b""
            found.append(facts)
        return found

    def hash(self):
        """A checksum of all names, types, scales and values, as ``mote info --hash`` prints it."""
        handle, value = self._use(), ctypes.c_uint64()
        context = place_of(handle)
        with _context.using(handle):
            context._call(library.mote_cloud_hash, context._pointer, handle.pointer, ctypes.byref(value))
        return f"{value.value:016x}"

    def check(self):
        """Raises IOError if the file that the columns look at was changed meanwhile."""
        handle = self._use()
        handle.context._call(library.mote_cloud_check, handle.pointer)

    # ---- columns

    def column(self, name):
        """The column that a name means: mote's, LAS's or PDAL's ("Intensity", "return number", "NumberOfReturns")."""
        handle = self._use()
        if not isinstance(name, str):
            raise errors.KeywordError(f"a column has a name, not {name!r}")
        encoded = _arrays.encoded_name(name)
        with handle.lock:
            found = library.mote_cloud_match(handle.pointer, encoded)
            if found:
                row = declared.mote_column.from_address(found)
                writable = (self._writable_arrays or {}).get(row.name.decode(errors="replace"))
                if writable is None and handle.device is None:
                    writable = bool(library.mote_cloud_column_data(handle.pointer, row.name))
                return Column(handle, row, self._count, bool(writable))
        raise errors.ColumnError(f"no column {name!r}{nearest(name, self.fields)}")

    def __contains__(self, name):
        return isinstance(name, str) and bool(library.mote_cloud_match(self._use().pointer, name.encode()))

    def __iter__(self):
        raise TypeError("a cloud is not gone through point by point: cloud.fields names its columns, cloud.xyz are its "
                        "places")

    def __getitem__(self, key):
        if isinstance(key, str):
            return self.column(key).values
        if isinstance(key, slice):
            return self._slice(key)
        return self.select(key)

    def _slice(self, key):
        start, stop, step = key.indices(len(self))
        chosen = self.select(numpy.arange(start, stop, step, dtype=numpy.uint64) if step > 0
                             else numpy.arange(start, stop, step).astype(numpy.uint64))
        if self._source is not None and step == 1:
            chosen._source = self._source.part(start, max(start, stop))
        return chosen

    def select(self, which):
        """A cloud of the chosen points: a mask, or indices in any order."""
        handle = self._use()
        which = numpy.asarray(which)
        if which.ndim != 1:
            raise errors.ArgumentError("points are chosen by a slice, a mask or a list of indices")
        if which.dtype == numpy.bool_:
            if len(which) != self._count:
                raise errors.ArgumentError(f"the mask is of {len(which)} points, the cloud of {self._count}")
            which = numpy.flatnonzero(which)
        elif which.size and which.dtype.kind not in "iu":
            raise errors.ArgumentError(f"indices are whole numbers, not {which.dtype}")
        if which.dtype.kind == "i" and which.size and which.min() < 0:
            which = numpy.where(which < 0, which + self._count, which)
            if which.min() < 0:
                raise errors.ArgumentError(f"an index is before the first of {self._count} points")
        indices = numpy.ascontiguousarray(which, numpy.uint64)
        context = place_of(handle)
        chosen = _CloudHandle(context)
        with _context.using(handle):
            context._call(library.mote_cloud_select, context._pointer, handle.pointer, _arrays.pointer(indices),
                          len(indices), chosen.out)
        return Cloud._of(chosen)

    def morton_ordered(self):
        """A cloud of all points in Morton order, in which near points are mostly near each other. Points of one code keep
        their order; those without a finite position come last."""
        handle = self._use()
        context = place_of(handle)
        ordered = _CloudHandle(context)
        with _context.using(handle):
            context._call(library.mote_order_cloud, context._pointer, handle.pointer, ordered.out)
        return Cloud._of(ordered)

    def _alone(self):
        handle = self._use()
        if handle.users:
            raise errors.StateError("the cloud is in use by a call in another thread")
        return handle

    def _changing(self):
        handle = self._alone()
        self._source = None
        return handle

    def _keep(self, what, keep):
        """Begins to keep, anew: what was kept is of values that may have changed. Or ends it."""
        handle = self._alone()
        handle.context._brief(getattr(library, f"mote_cloud_keep_{what}"), handle.pointer, bool(keep))
        self._kept = {**self._kept, what: bool(keep)}

    def __setitem__(self, name, values):
        """New values of a column, or a new column. Memory that the cloud owns is written in place, so arrays that look
        at it change, too; a file or an array of the caller's is never written."""
        if not isinstance(name, str) or not name:
            raise errors.KeywordError(f"a column has a name, not {name!r}")
        _arrays.encoded_name(name)
        handle = self._changing()
        values = numpy.asarray(values)
        if values.ndim == 0:
            values = numpy.full(self._count, values)
        values = _arrays.column_array(name, values, None)
        if len(values) != self._count:
            raise errors.ArgumentError(f"{name}: {len(values)} values for {self._count} points")
        there = self.column(name) if name in self else None
        spec = declared.mote_column_spec((there.name if there else _arrays.standard_name(name)).encode(),
                                         _arrays.type_number(values.dtype), 0, 0)
        if there is not None and there.scaled:
            values = _to_stored(there, values)
            spec.type, spec.scale, spec.offset = _arrays.type_number(there.dtype), there.scale, there.offset
        data = library.mote_cloud_column_data(handle.pointer, spec.name) if there is not None else None
        if not data or there.dtype != values.dtype or there.packed:
            handle.context._call(_put_column, handle, spec)
            if self._writable_arrays is not None:
                self._writable_arrays.pop(spec.name.decode(), None)
        self.column(spec.name.decode()).raw[...] = values
        for what, keep in self._kept.items():
            if keep:
                self._keep(what, keep)

    # ---- to numpy

    @property
    def xyz(self):
        """N x 3 positions in world units: a view where x, y, z are floats side by side, else a float64 copy."""
        axes = [self.column(axis) for axis in "xyz"]
        first, step = axes[0], axes[1]._address - axes[0]._address if self._count else 0
        alike = all(axis.dtype == first.dtype and axis._stride == first._stride and not axis.scaled and not axis.packed
                    for axis in axes) and first.dtype.kind == "f"
        if alike and self._count and axes[2]._address - axes[1]._address == step:
            if first._handle.device is not None:
                return _device.DeviceArray(first._handle.context, first._address, (self._count, 3), first.dtype,
                                           first._handle, (first._stride, step), not first._writable,
                                           first._handle.device)
            return _arrays.view(first._address, (self._count, 3), (first._stride, step), first.dtype,
                                not all(axis._writable for axis in axes), first._handle)
        places = numpy.empty((self._count, 3), first.dtype if alike else numpy.float64)
        for i, axis in enumerate(axes):
            places[:, i] = axis.values
        return places

    def to_numpy(self, fields=None):
        """A structured array of all columns, or those named, with their values; positions that are scaled are float64.
        It is a copy."""
        names = self.fields if fields is None else [self.column(name).name for name in fields]
        columns = {name: numpy.asarray(self.column(name).values) for name in names}
        array = numpy.empty(self._count, [(name, values.dtype) for name, values in columns.items()])
        for name, values in columns.items():
            array[name] = values
        return array

    def __array__(self, dtype=None, copy=None):
        places = numpy.asarray(self.xyz)
        if copy:
            places = numpy.array(places)
        return places if dtype is None else places.astype(dtype, copy=False)

    def __dlpack_device__(self):
        return self.column("x").__dlpack_device__()

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        places = self.xyz
        if isinstance(places, _device.DeviceArray):
            return places.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
        return _dlpack.array_capsule(places, max_version, dl_device, copy)

    # ---- elsewhere

    def to_device(self, *, context=None):
        """A copy in the memory of a GPU."""
        handle, context = self._use(), _context.current(context)
        moved = _CloudHandle(context)
        with _context.using(handle):
            context._call(library.mote_cloud_to_device, context._pointer, handle.pointer, moved.out)
        moved.device = context.device_index
        return Cloud._of(moved)

    def write(self, path, **parameters):
        """As mote.write(cloud, path, ...)."""
        from ._io import write
        write(self, path, **parameters)

    def __reduce__(self):
        from ._io import read_again, rebuild
        self._use()
        if self._source is not None:
            return read_again, (self._source,)
        columns = []
        for name in self.fields:
            column = self.column(name)
            columns.append((name, numpy.array(column.stored), column.scale, column.offset))
        return rebuild, (self._count, columns, self.crs, self.grid)

    def __copy__(self):
        return self.select(numpy.arange(len(self), dtype=numpy.uint64))

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __repr__(self):
        if self.closed:
            return "Cloud(closed)"
        return f"Cloud({self._count:,} points: {', '.join(self.fields)})"

    def _repr_png_(self):
        from ._show import picture_of
        return picture_of(self)

    def _repr_html_(self):
        from ._show import html_of
        return html_of(self)


def _put_column(handle, spec):
    """Within the context's lock, so that nobody waits for it who holds the cloud's."""
    with handle.lock:
        if handle.users:
            raise errors.StateError("the cloud is in use by a call in another thread")
        return library.mote_cloud_put_column(handle.pointer, ctypes.byref(spec))


def _to_stored(column, values):
    """World values as the stored numbers of a column with scale and offset."""
    stored = (values.astype(numpy.float64) - column.offset) / column.scale
    if column.dtype.kind == "f":
        return stored.astype(column.dtype)
    stored = numpy.rint(stored)
    limits = numpy.iinfo(column.dtype)
    if stored.size and not (stored.min() >= limits.min and stored.max() <= limits.max):
        raise errors.ArgumentError(f"{column.name}: values reach beyond what {column.dtype} holds at scale "
                                   f"{column.scale:.15g} and offset {column.offset:.15g}")
    return stored.astype(column.dtype)


def place_of(handle, context=None):
    """The context in which a cloud is worked on: the one given, else that of the thread; on a GPU the cloud's own."""
    return handle.context if handle.device is not None and context is None else _context.current(context)


def as_cloud(points, copy=None, context=None):
    """What a function is given for points, as a cloud."""
    if isinstance(points, Cloud):
        points._use()
        return points
    if isinstance(points, (str, os.PathLike)):
        raise errors.KeywordError(f"points are a cloud or an array, not a path: mote.read({os.fspath(points)!r})")
    return Cloud(points, copy=copy, context=context)


def concatenate(clouds, *, context=None):
    """One cloud of all points of several that have the same columns."""
    clouds = [as_cloud(cloud) for cloud in clouds]
    context = _context.current(context)
    handles = [cloud._use() for cloud in clouds]
    joined = _CloudHandle(context)
    pointers = (ctypes.c_void_p * len(handles))(*[handle.pointer.value for handle in handles])
    with _context.using(*handles):
        context._call(library.mote_cloud_join, context._pointer, pointers, len(handles), joined.out)
    return Cloud._of(joined)

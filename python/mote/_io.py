"""Files to clouds and back."""
from __future__ import annotations

import ctypes
import os
import stat
from typing import TYPE_CHECKING

from . import _arrays, _context
from . import _declarations as declared
from . import _errors as errors
from . import _library as library
from ._cloud import Cloud, _CloudHandle, as_cloud, concatenate, place_of
from ._parameters import Parameters, whole

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import ReadParams, WriteParams

_READ = Parameters("mote.read", "mote_read_params", "mote_read_defaults")
_WRITE = Parameters("mote.write", "mote_write_params", "mote_write_defaults")


def _box(bounds):
    """A box of (min, max), of 4 numbers (x and y) or of 6."""
    try:
        flat = [float(value) for part in bounds for value in (part if hasattr(part, "__len__") else (part,))]
    except (TypeError, ValueError):
        raise errors.KeywordError(f"bounds are (min, max), or 4 or 6 numbers, not {bounds!r}") from None
    if len(flat) == 4:
        flat = [flat[0], flat[1], float("-inf"), flat[2], flat[3], float("inf")]
    if len(flat) != 6:
        raise errors.ArgumentError(f"bounds are 4 or 6 numbers, not {len(flat)}")
    box = declared.mote_box()
    box.min[:], box.max[:] = flat[:3], flat[3:]
    return box


def _read_params(bounds, parameters):
    params = _READ.make(parameters)
    if bounds is not None:
        box = _box(bounds)
        params.bounds = ctypes.addressof(box)
        params._box = box  # as long as the struct
    return params


def _is_buffer(source):
    if isinstance(source, (str, os.PathLike)):
        return False
    try:
        memoryview(source)
    except TypeError:
        return False
    return True


class _BufferFile:
    """Bytes in memory as a file, as the library reads files: copied once, into memory that it then maps."""

    def __init__(self, source):
        view = memoryview(source).cast("B")
        self.descriptor = os.memfd_create("mote")
        try:
            while view:
                view = view[os.write(self.descriptor, view):]
            os.lseek(self.descriptor, 0, os.SEEK_SET)
        except BaseException:
            os.close(self.descriptor)
            raise
        self.path = f"/proc/self/fd/{self.descriptor}"

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        os.close(self.descriptor)


class _Source:
    """How a cloud of a file is read again in another process: paths, parameters, a range of points."""

    def __init__(self, paths, several, bounds, parameters):
        self.paths, self.several, self.bounds, self.parameters = paths, several, bounds, parameters
        self.start, self.stop = 0, None
        self.marks = [_mark_of(path) for path in paths]

    def part(self, start, stop):
        part = _Source.__new__(_Source)
        part.__dict__.update(self.__dict__)
        part.start, part.stop = self.start + start, self.start + stop
        return part


def _mark_of(path):
    """Size and time of a file, so that another one of that name is noticed."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_size, facts.st_mtime_ns


def _is_file(path):
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _path_of(path):
    try:
        encoded = os.fsencode(path)
    except TypeError:
        raise errors.KeywordError(f"a path is text, not {type(path).__name__}") from None
    except UnicodeEncodeError:
        raise errors.ArgumentError(f"{path!r} is no path") from None
    if b"\0" in encoded:
        raise errors.ArgumentError(f"{path!r} is no path: it holds a character 0")
    return encoded


def read(source, *, bounds=None, context=None, progress=None, **parameters: "Unpack[ReadParams]") -> Cloud:
    """Reads points: a path, a folder of Potree, a list of paths (as one cloud), bytes in memory, or a file that is open
    in binary mode.

    LAS and binary PLY are not copied but looked at: their columns are views of the file. A pattern ("tiles/*.laz") or
    a folder in a list stands for the files that it names.

    bounds    only points in this box: (min, max), or minx, miny, maxx, maxy, or with z
    progress  a function of (done, stage), or True for a bar
    """
    context = _context.current(context)
    if hasattr(source, "read") and not isinstance(source, os.PathLike):
        source = source.read()
        if not _is_buffer(source):
            raise errors.KeywordError("a file that is open in text mode gives no bytes: open it with \"rb\"")
    if _is_buffer(source):
        with _BufferFile(source) as path:
            try:
                return _read([path], False, bounds, parameters, context, progress)
            except errors.Error as failure:
                failure.args = tuple(str(part).replace(path, "the bytes") for part in failure.args)
                raise
    if isinstance(source, (str, os.PathLike)):
        text = os.fspath(source)
        several = not os.path.exists(text) and any(mark in os.fsdecode(text) for mark in "*?")
        paths = [text]
    else:
        try:
            paths = [os.fspath(path) for path in source]
        except TypeError:
            raise errors.KeywordError(f"mote.read takes a path, paths or bytes, not {type(source).__name__}") from None
        several = True
        if not paths:
            raise errors.ArgumentError("there is no path to read")
    cloud = _read(paths, several, bounds, parameters, context, progress)
    if all(_is_file(path) for path in paths):
        cloud._source = _Source([os.path.abspath(path) for path in paths], several, bounds, parameters)
    return cloud


def _read(paths, several, bounds, parameters, context, progress):
    params = _read_params(bounds, parameters)
    handle = _CloudHandle(context)
    encoded = [_path_of(path) for path in paths]
    if several:
        texts = (ctypes.c_char_p * len(encoded))(*encoded)
        context._call(library.mote_cloud_read_many, context._pointer, texts, len(encoded), ctypes.byref(params),
                      handle.out, progress=progress)
    else:
        context._call(library.mote_cloud_read, context._pointer, encoded[0], ctypes.byref(params), handle.out,
                      progress=progress)
    if library.mote_cloud_on_device(handle.pointer):
        handle.device = context.device_index
    return Cloud._of(handle)


def read_again(source):
    """For pickle."""
    for path, mark in zip(source.paths, source.marks):
        if _mark_of(path) != mark:
            raise errors.IOError(f"{path} is not the file any more that the cloud was read from")
    target = source.paths if source.several else source.paths[0]
    cloud = read(target, bounds=source.bounds, **source.parameters)
    if source.stop is not None:
        cloud = cloud[source.start:source.stop]
    return cloud


def rebuild(count, columns, crs, grid):
    """For pickle: a cloud that is of no file."""
    specs = (declared.mote_column_spec * len(columns))()
    for spec, (name, stored, scale, offset) in zip(specs, columns):
        spec.name, spec.type = name.encode(), _arrays.type_number(stored.dtype)
        spec.scale, spec.offset = scale, offset
    context = _context.current()
    handle = _CloudHandle(context)
    context._call(library.mote_cloud_create, context._pointer, count, specs, len(columns), handle.out)
    cloud = Cloud._of(handle)
    for name, stored, _, _ in columns:
        cloud.column(name).raw[...] = stored
    if crs:
        cloud.crs = crs
    if grid:
        context._call(library.mote_cloud_set_grid, handle.pointer, *grid)
    return cloud


class Reader(_context.Closable):
    """An open file. ``for cloud in reader.chunks(1_000_000)`` goes through it with memory for a few chunks."""

    def __init__(self, path, *, bounds=None, context=None, progress=None, **parameters):
        context = _context.current(context)
        self._params = _read_params(bounds, parameters)
        self._progress = progress
        handle = _context.Handle(context, library.mote_reader_close)
        context._call(library.mote_reader_open, context._pointer, _path_of(path), ctypes.byref(self._params),
                      handle.out)
        self._handle = handle
        self._piece = _CloudHandle(context, (handle,))
        self._piece.free = lambda pointer: None  # the reader's own

    def __len__(self):
        """Points in the file; with bounds or salvage there may be fewer."""
        return library.mote_reader_count(self._use().pointer)

    def pieces(self):
        """The clouds of the parts that the file is stored in, each with memory of its own."""
        while True:
            handle = self._use()
            handle.context._call(library.mote_reader_next, handle.pointer, self._piece.out, progress=self._progress)
            if not self._piece.pointer:
                return
            yield Cloud._of(self._piece).__copy__()

    def chunks(self, points):
        """Clouds of that many points each, the last one of what is left, in the order of the file."""
        points = whole("points", points)
        if points < 1:
            raise errors.ArgumentError(f"chunks of {points} points; they need 1 or more")
        waiting, count = [], 0
        for piece in self.pieces():
            at = 0
            while at < len(piece):
                end = min(len(piece), at + points - count)
                waiting.append(piece if end - at == len(piece) else piece[at:end])
                count, at = count + end - at, end
                if count == points:
                    yield waiting[0] if len(waiting) == 1 else concatenate(waiting)
                    waiting, count = [], 0
        if waiting:
            yield waiting[0] if len(waiting) == 1 else concatenate(waiting)

    def __iter__(self):
        return self.pieces()


def open(path, *, bounds=None, context=None, progress=None, **parameters: "Unpack[ReadParams]") -> Reader:
    """Opens a file that is larger than memory: LAS and LAZ are read in pieces (of other formats the whole is one).

        with mote.open("tiles.laz") as file:
            for cloud in file.chunks(1_000_000):
                ...
    """
    return Reader(path, bounds=bounds, context=context, progress=progress, **parameters)


def write(points, path, *, context=None, progress=None, **parameters: "Unpack[WriteParams]") -> None:
    """Writes points; the ending of path names the format: .las, .laz, .ply, .pcd, .xyz, .csv, .txt, .pts, .asc, or that
    of ``format``. The file appears when it is complete."""
    params = _WRITE.make(parameters)
    cloud = as_cloud(points)
    handle = cloud._use()
    context = place_of(handle, context)
    with _context.using(handle):
        context._call(library.mote_cloud_write, context._pointer, handle.pointer, _path_of(path), ctypes.byref(params),
                      progress=progress)


for _function, _keywords in ((read, _READ), (open, _READ), (write, _WRITE)):
    _keywords.document(_function)

"""Neighbours, and what follows from them: normals, density, outliers."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy

from . import _arrays, _context, _device
from . import _declarations as declared
from . import _errors as errors
from . import _library as library
from ._cloud import as_cloud, place_of
from ._parameters import Facts, Parameters, real

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import KnnParams, NormalsParams, OutliersParams

_KNN = Parameters("mote.knn", "mote_knn_params", "mote_knn_defaults")
_NORMALS = Parameters("mote.normals", "mote_normals_params", "mote_normals_defaults")
_OUTLIERS = Parameters("mote.outliers", "mote_outliers_params", "mote_outliers_defaults")
_NARROW_POINTS = 2**31 - 1  # places below that are int32, as in the files of the command


class Neighbors(Facts):
    """index      [queries, k] places in the cloud, nearest first; -1 where there are fewer
    distance2  [queries, k] squared distances; infinity where there are fewer
    count      [queries] how many
    skipped    points without a finite position"""


class NeighborLists(Facts):
    """Those of query q are index[first[q]:first[q + 1]], nearest first; distance2 the same."""

    def __len__(self):
        return len(self.first) - 1


class Normals(Facts):
    """normals  [points, 3] of unit length, zeros where there is none; curvature [points];
    surface_density, volume_density  [points], or None; skipped, without, parts: counts"""


class Outliers(Facts):
    """outlier  [points] True or False; distance [points], or None; count, skipped, mean, deviation, threshold"""


def _room(context, source, points, rows, params, wide):
    """Arrays for the answer to so many queries, where the points are, and the struct that leads the library there."""
    if not 1 <= params.k <= declared.MOTE_KNN_MAX_K:
        raise errors.ArgumentError(f"k is {params.k}, not in 1 to {declared.MOTE_KNN_MAX_K}")
    on_device, shape = source.device is not None, (rows, params.k)
    wide_index = wide or points > _NARROW_POINTS
    index = _device.results(context, on_device, shape, numpy.int64 if wide_index else numpy.int32)
    distance2 = _device.results(context, on_device, shape, numpy.float64 if wide else numpy.float32)
    count = _device.results(context, on_device, (rows,), numpy.uint32)
    result = declared.mote_knn_result()
    setattr(result, "index64" if wide_index else "index32", _device.address(index))
    setattr(result, "distance2_wide" if wide else "distance2", _device.address(distance2))
    result.count, result.on_device = _device.address(count), on_device
    return result, Neighbors(index=index, distance2=distance2, count=count, skipped=0)


class KnnIndex(_context.Closable):
    """The order and the cells of a cloud, for any number of searches. ``mote.knn_index(points)`` makes it."""

    def __init__(self, points, *, copy=None, context=None, progress=None):
        cloud = as_cloud(points, copy, context)
        context = place_of(cloud._use(), context)
        self._cloud, self._progress = cloud._use(), progress
        self._count = len(cloud)
        handle = _context.Handle(context, library.mote_knn_destroy, (self._cloud,))
        with _context.using(self._cloud):
            context._call(library.mote_knn_build, context._pointer, self._cloud.pointer, handle.out, progress=progress)
        self._handle = handle

    def __len__(self):
        self._use()
        return self._count

    def _call(self, function, *arguments, queries=None, progress=None):
        handle = self._use()
        with _context.using(handle, self._cloud, queries._use() if queries is not None else None):
            handle.context._call(function, handle.pointer, *arguments,
                                 progress=self._progress if progress is None else progress)

    def _queries(self, queries):
        cloud = None if queries is None else as_cloud(queries, None, self._use().context)
        return cloud, self._count if cloud is None else len(cloud)

    def search(self, queries=None, *, wide=False, progress=None, **parameters: "Unpack[KnnParams]") -> Neighbors:
        """The k nearest of each query (points; None: of each point of the cloud). wide: int64 and float64."""
        params = _KNN.make(parameters)
        cloud, rows = self._queries(queries)
        result, found = _room(self._use().context, self._cloud, self._count, rows, params, wide)
        self._call(library.mote_knn_search, cloud._use().pointer if cloud is not None else None, ctypes.byref(params),
                   ctypes.byref(result), queries=cloud, progress=progress)
        found.skipped = result.skipped
        return found

    def within(self, radius, queries=None, *, exclude_self=False, progress=None) -> NeighborLists:
        """All points within a radius of each query, borders included."""
        cloud, rows = self._queries(queries)
        context, radius = self._use().context, real("radius", radius)
        lists = _context.Handle(context, lambda pointer: library.mote_knn_free_lists(context._pointer, pointer),
                                (self._handle,))
        self._call(library.mote_knn_within, cloud._use().pointer if cloud is not None else None, radius,
                   bool(exclude_self), None, lists.out, queries=cloud, progress=progress)
        found = declared.mote_knn_lists.from_address(lists.pointer.value)
        first = _arrays.dense(found.first, (rows + 1,), numpy.uint64, lists).astype(numpy.int64)
        total = int(first[-1])
        index_type = numpy.int32 if self._count <= _NARROW_POINTS else numpy.uint32
        return NeighborLists(first=first, index=_arrays.dense(found.index, (total,), index_type, lists),
                             distance2=_arrays.dense(found.distance2, (total,), numpy.float32, lists),
                             skipped=found.skipped)

    def normals(self, *, density=False, progress=None, **parameters: "Unpack[NormalsParams]") -> Normals:
        """As mote.normals, of the index's cloud."""
        params = _NORMALS.make(parameters)
        count, context = self._count, self._use().context
        on_device = self._cloud.device is not None
        normal = _device.results(context, on_device, (3, count), numpy.float32)
        others = [_device.results(context, on_device, (count,), numpy.float32) if wanted else None
                  for wanted in (True, density, density)]
        result = declared.mote_normals_result()
        start = _device.address(normal)
        result.normal_x, result.normal_y, result.normal_z = (start + 4 * count * i for i in range(3))
        result.curvature, result.surface_density, result.volume_density = (
            None if one is None else _device.address(one) for one in others)
        result.on_device = on_device
        self._call(library.mote_normals_estimate, ctypes.byref(params), ctypes.byref(result), progress=progress)
        if on_device:
            table = _device.DeviceArray(context, start, (count, 3), numpy.float32, normal, (4, 4 * count))
        else:
            table = normal.T
        return Normals(normals=table, curvature=others[0], surface_density=others[1], volume_density=others[2],
                       skipped=result.skipped, without=result.without, parts=result.parts)

    def outliers(self, *, progress=None, **parameters: "Unpack[OutliersParams]") -> Outliers:
        """As mote.outliers, of the index's cloud."""
        params = _OUTLIERS.make(parameters)
        outlier = numpy.zeros(self._count, numpy.bool_)
        statistical = params.method == declared.MOTE_OUTLIERS_STATISTICAL
        distance = numpy.zeros(self._count, numpy.float32) if statistical else None
        result = declared.mote_outliers_result()
        result.outlier, result.distance = _arrays.pointer(outlier), _arrays.pointer(distance)
        self._call(library.mote_outliers_find, ctypes.byref(params), ctypes.byref(result), progress=progress)
        return Outliers(outlier=outlier, distance=distance, count=result.count, skipped=result.skipped,
                        mean=result.mean, deviation=result.deviation, threshold=result.threshold)

    def rebuild(self, *, progress=None):
        """Makes it anew after positions changed in the arrays that the cloud looks at."""
        self._call(library.mote_knn_rebuild, progress=progress)


def knn_index(points, *, copy=None, context=None, progress=None) -> KnnIndex:
    """An index of points: .search(queries, k=...), .within(radius), .normals(), .outliers(), .rebuild()."""
    return KnnIndex(points, copy=copy, context=context, progress=progress)


def knn(points, queries=None, *, wide=False, copy=None, context=None, progress=None,
        **parameters: "Unpack[KnnParams]") -> Neighbors:
    """The k nearest neighbours of each query, or of each point: .index, .distance2, .count.

        near = mote.knn(points, k=8, exclude_self=True)
        points[near.index[0]]

    Points on a GPU (CuPy, PyTorch, JAX) give arrays that are there, too. wide: int64 and float64.
    compression above 1 searches in ellipsoids, flat along the queries' normal_x, normal_y, normal_z.
    """
    params = _KNN.make(parameters)
    cloud = as_cloud(points, copy, context)
    source = cloud._use()
    context = place_of(source, context)
    asked = None if queries is None else as_cloud(queries, None, context)
    result, found = _room(context, source, len(cloud), len(cloud if asked is None else asked), params, wide)
    other = None if asked is None else asked._use()
    with _context.using(source, other):
        context._call(library.mote_knn, context._pointer, source.pointer, other.pointer if other else None,
                      ctypes.byref(params), ctypes.byref(result), progress=progress)
    found.skipped = result.skipped
    return found


def normals(points, *, density=False, copy=None, context=None, progress=None,
            **parameters: "Unpack[NormalsParams]") -> Normals:
    """A unit normal and a curvature of each point, from its neighbours: .normals, .curvature; with density also
    .surface_density and .volume_density."""
    _NORMALS.make(parameters)
    with KnnIndex(points, copy=copy, context=context, progress=progress) as index:
        return index.normals(density=density, **parameters)


def outliers(points, *, copy=None, context=None, progress=None,
             **parameters: "Unpack[OutliersParams]") -> Outliers:
    """Points that stand alone: .outlier, a mask. ``cloud[~mote.outliers(cloud).outlier]`` is the cloud without them."""
    _OUTLIERS.make(parameters)
    with KnnIndex(points, copy=copy, context=context, progress=progress) as index:
        return index.outliers(**parameters)


for _function, _keywords in ((knn, _KNN), (KnnIndex.search, _KNN), (normals, _NORMALS), (outliers, _OUTLIERS)):
    _keywords.document(_function)

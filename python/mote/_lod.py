"""Levels of detail."""
from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING

import numpy

from . import _arrays, _context
from . import _declarations as declared
from . import _errors as errors
from . import _library as library
from ._cloud import as_cloud, place_of
from ._io import _path_of
from ._parameters import Parameters, facts_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import CopcParams, LodParams, PotreeParams

_LOD = Parameters("mote.lod", "mote_lod_params", "mote_lod_defaults")
_POTREE = Parameters("mote.Lod.write", "mote_potree_params", "mote_potree_defaults")
_COPC = Parameters("mote.Lod.write", "mote_copc_params", "mote_copc_defaults")
_NODE = numpy.dtype({"names": [name for name, _ in declared.mote_lod_node._fields_],
                     "formats": [numpy.dtype(kind) for _, kind in declared.mote_lod_node._fields_],
                     "offsets": [getattr(declared.mote_lod_node, name).offset
                                 for name, _ in declared.mote_lod_node._fields_],
                     "itemsize": ctypes.sizeof(declared.mote_lod_node)})


class Lod(_context.Closable):
    """An octree: .nodes, a structured array, level by level, the root first; .points(node); .write(path)."""

    def __init__(self, handle, count):
        self._handle, self._count = handle, count

    @property
    def nodes(self):
        """prefix, first, total, point_count, parent, first_child, child_mask, level of each node."""
        handle = self._use()
        memory = library.mote_lod_nodes(handle.pointer)
        size = ctypes.sizeof(declared.mote_lod_node) * library.mote_lod_node_count(handle.pointer)
        return _arrays.dense(memory, (size,), numpy.uint8, handle).view(_NODE)

    @property
    def parameters(self):
        return facts_of(declared.mote_lod_params.from_address(library.mote_lod_parameters(self._use().pointer)))

    @property
    def lattice(self):
        """The cube and the steps of its coordinates."""
        return facts_of(declared.mote_lattice.from_address(library.mote_lod_lattice(self._use().pointer)))

    @property
    def skipped(self):
        """Points that were left out because a coordinate is NaN or infinite."""
        return library.mote_lod_skipped(self._use().pointer)

    def __len__(self):
        return library.mote_lod_node_count(self._use().pointer)

    def _node(self, node):
        if not 0 <= node < len(self):
            raise errors.ArgumentError(f"node {node} of {len(self)}")
        return self._handle

    def name(self, node):
        """The name viewers use: "r" and a digit per level."""
        handle = self._node(node)
        text = ctypes.create_string_buffer(int(self.nodes["level"][node]) + 2)
        library.mote_lod_node_name(handle.pointer, node, text)
        return text.value.decode()

    def points(self, node, *, colors=False):
        """Indices in the cloud of the points that a node stores; with colors also their averaged colours, [n, 3]."""
        handle = self._node(node)
        count = int(self.nodes["point_count"][node])
        indices = numpy.empty(count, numpy.uint32)
        averages = numpy.empty((count, 3), numpy.uint16) if colors else None
        handle.context._call(library.mote_lod_fetch, handle.context._pointer, handle.pointer)
        handle.context._run(library.mote_lod_node_points, handle.pointer, node, _arrays.pointer(indices),
                            _arrays.pointer(averages))
        return (indices, averages) if colors else indices

    def write(self, path, *, progress=None, **parameters: "Unpack[PotreeParams | CopcParams]"):
        """Writes a Potree 2.0 folder, or, where path ends in .copc.laz, a COPC file. Returns what was written."""
        handle, text = self._use(), _path_of(path)
        context, copc = handle.context, text.lower().endswith(b".copc.laz")
        params = (_COPC if copc else _POTREE).make(parameters)
        report = declared.mote_copc_report() if copc else declared.mote_potree_report()
        with _context.using(handle):
            context._call(library.mote_copc_write if copc else library.mote_potree_write, context._pointer,
                          handle.pointer, text, ctypes.byref(params), ctypes.byref(report), progress=progress)
        facts = facts_of(report)
        facts.hash = f"{report.hash:016x}"
        return facts

    def __repr__(self):
        return "Lod(closed)" if self.closed else f"Lod({len(self)} nodes of {self._count:,} points)"


def lod(points, path: "str | os.PathLike | None" = None, *, copy=None, context=None, progress=None,
        **parameters: "Unpack[LodParams]") -> Lod:
    """Builds the octree of a cloud, and writes it where a path is given: a Potree folder, or a .copc.laz file."""
    params = _LOD.make(parameters)
    cloud = as_cloud(points, copy, context)
    source = cloud._use()
    context = place_of(source, context)
    handle = _context.Handle(context, library.mote_lod_destroy, (source,))
    with _context.using(source):
        context._call(library.mote_lod_build, context._pointer, source.pointer, ctypes.byref(params), handle.out,
                      progress=progress)
    built = Lod(handle, len(cloud))
    if path is not None:
        built.write(path, progress=progress)
    return built


_LOD.document(lod)

"""Planes."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy

from . import _arrays, _context
from . import _declarations as declared
from . import _library as library
from ._cloud import as_cloud, place_of
from ._parameters import Facts, Parameters, facts_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import PlanesParams

_PLANES = Parameters("mote.planes", "mote_planes_params", "mote_planes_defaults")


class Plane(Facts):
    """normal . x = offset; centroid, votes, inliers, rms, area, hull_area, rectangle, confidence; hull: the corners of
    the convex hull, [n, 3]."""


class Planes(Facts):
    """labels   [points] the number of the plane of each point; -1: none
    planes   a Plane each, those of the most points first
    refused  with explain=True: what looked like a plane, and why it is none
    facts    what was measured and chosen"""

    def __len__(self):
        return len(self.planes)

    def __iter__(self):
        return iter(self.planes)

    def __getitem__(self, key):
        return self.planes[key] if isinstance(key, (int, slice)) else super().__getitem__(key)

    def __repr__(self):
        return f"Planes({len(self.planes)} planes of {self.facts.labelled:,} of {self.facts.points:,} points)"


def planes(points, *, copy=None, context=None, progress=None, **parameters: "Unpack[PlanesParams]") -> Planes:
    """Planes of a cloud, by Hough transform: .labels of the points, .planes with normals, offsets and hulls. Without
    parameters everything is chosen from the points themselves."""
    params = _PLANES.make(parameters)
    cloud = as_cloud(points, copy, context)
    source = cloud._use()
    context = place_of(source, context)
    labels = numpy.empty(len(cloud), numpy.int32)
    handle = _context.Handle(context, library.mote_planes_destroy)
    with _context.using(source):
        context._call(library.mote_planes_find, context._pointer, source.pointer, ctypes.byref(params),
                      _arrays.pointer(labels), handle.out, progress=progress)
    found = []
    for i in range(library.mote_planes_count(handle.pointer)):
        plane = facts_of(declared.mote_plane.from_address(library.mote_planes_at(handle.pointer, i)), Plane)
        plane.normal, plane.centroid = numpy.array(plane.normal), numpy.array(plane.centroid)
        plane.rectangle = numpy.array(plane.rectangle)
        corners = ctypes.c_uint32()
        address = library.mote_planes_hull(handle.pointer, i, ctypes.byref(corners))
        plane.hull = numpy.array(_arrays.dense(address, (corners.value, 3), numpy.float64, handle))
        found.append(plane)
    refused = [facts_of(declared.mote_plane_refused.from_address(library.mote_planes_refused_at(handle.pointer, i)))
               for i in range(library.mote_planes_refused_count(handle.pointer))]
    return Planes(labels=labels, planes=found, refused=refused,
                  facts=facts_of(library.mote_planes_get_facts(handle.pointer)))


_PLANES.document(planes)

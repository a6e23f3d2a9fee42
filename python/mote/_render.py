"""Pictures of clouds."""
from __future__ import annotations

import ctypes
import math
import os
from typing import TYPE_CHECKING

import numpy

from . import _arrays, _context
from . import _declarations as declared
from . import _errors as errors
from . import _library as library
from ._cloud import as_cloud, place_of
from ._parameters import Facts, Parameters, facts_of, nearest, plain, real, reals, whole

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import Camera as CameraParameters
    from ._keywords import RenderParams

_RENDER = Parameters("mote.render", "mote_render_params", "mote_render_defaults")
_CAMERA = Parameters("mote.Camera", "mote_camera", "mote_camera_defaults")

# The colour maps of the command: evenly spaced stops.
_MAPS = {
    "spectrum": "3B2F80 3F6FD9 27B3C9 3FD07F B6DE3C FCC02F F5702A B8201F",
    "viridis": "440154 46327E 365C8D 277F8E 1FA187 4AC16D A0DA39 FDE725",
    "magma": "120D32 3B0F70 721F81 9E2F7F CD4071 F1605D FD9668 FCFDBF",
    "terrain": "2C5F8A 3D8F6B 7FB45C D6CF7D B98A52 8D6449 B9ACA4 FFFFFF",
    "grey": "1C1C1C FFFFFF",
}
_LAYERS = {"color": ("color8", numpy.uint8, 4), "color16": ("color16", numpy.uint16, 4),
           "depth": ("depth", numpy.float32, 0), "normal": ("normal", numpy.float32, 3),
           "index": ("index", numpy.uint32, 0)}


class Camera:
    """Where a picture is taken from: Camera(eye=(...), target=(...), up=(0, 0, 1), angle_rad=0.7), or
    projection="orthographic" and height."""

    def __init__(self, **parameters: "Unpack[CameraParameters]"):
        self._struct = _CAMERA.make(parameters)

    @staticmethod
    def _struct_of(camera):
        if not isinstance(camera, Camera):
            raise errors.KeywordError(f"a camera is a mote.Camera, not {camera!r}")
        return camera._struct

    @classmethod
    def _of(cls, struct):
        camera = cls.__new__(cls)
        camera._struct = struct
        return camera

    @classmethod
    def on_path(cls, cameras, place, *, closed=False):
        """A camera of a smooth path through others, which passes cameras[i] at place i."""
        rows = (declared.mote_camera * len(cameras))(*map(Camera._struct_of, cameras))
        if not rows:
            raise errors.ArgumentError("a path needs a camera")
        return cls._of(library.mote_camera_on_path(rows, len(rows), bool(closed), real("place", place)))

    def project(self, place, width, height):
        """(x, y, depth) of a place of the world, in pixels from the left and upper edge."""
        place = (ctypes.c_double * 3)(*map(float, place))
        found = [ctypes.c_double() for _ in range(3)]
        library.mote_camera_project(ctypes.byref(self._struct), width, height, place, *map(ctypes.byref, found))
        return tuple(value.value for value in found)

    def unproject(self, x, y, depth, width, height):
        """The place that a pixel shows at a depth."""
        place = (ctypes.c_double * 3)()
        library.mote_camera_unproject(ctypes.byref(self._struct), width, height, x, y, depth, place)
        return numpy.array(place)

    def __getattr__(self, name):
        if name in _CAMERA.fields and "_struct" in self.__dict__:
            return plain(getattr(self._struct, name), _CAMERA.fields[name][2])
        raise AttributeError(f"a camera has no {name}{nearest(name, list(_CAMERA.fields))}")

    def __reduce__(self):
        return _camera_again, (bytes(self._struct),)

    def __repr__(self):
        return f"Camera({', '.join(f'{word}={getattr(self, word)!r}' for word in _CAMERA.fields)})"


def _camera_again(stored):
    return Camera._of(declared.mote_camera.from_buffer_copy(stored))


def _direction(view, up):
    """From what is seen to the viewer, and what is up in the picture: the sides of the command."""
    if not isinstance(view, str):
        return reals("view", view, 3), up
    length = math.sqrt(sum(value * value for value in up))
    if not length > 0:
        raise errors.ArgumentError("up has no length")
    up = numpy.array(up) / length
    first = 0 if abs(up[0]) < 0.9 else 1
    right = numpy.eye(3)[first] - up[first] * up
    right /= math.sqrt(right @ right)
    front = numpy.cross(right, up)
    sides = {"iso": front - 0.65 * right + 0.53 * up, "top": up, "bottom": -up, "front": front, "back": -front,
             "left": -right, "right": right}
    if view not in sides:
        raise errors.ArgumentError(f"there is no view {view!r}{nearest(view, list(sides))}")
    return sides[view].tolist(), (-front if view in ("top", "bottom") else up).tolist()


def colors_of(values, map="spectrum", range=None):
    """RGBA of numbers, through a colour map. range: (low, high) that its ends stand for; None: all but the lowest and
    the highest hundredth."""
    if map not in _MAPS:
        raise errors.ArgumentError(f"there is no colour map {map!r}{nearest(map, list(_MAPS))}")
    values = numpy.asarray(values, numpy.float64)
    known = values[numpy.isfinite(values)]
    if range is None:
        range = numpy.percentile(known, (1, 99)) if known.size else (0, 1)
    low, high = reals("range", range, 2)
    stops = numpy.array([[int(stop[i:i + 2], 16) for i in (0, 2, 4)] for stop in _MAPS[map].split()], numpy.float64)
    shares = numpy.clip((values - low) / (high - low if high > low else 1), 0, 1)
    colors = numpy.full((len(values), 4), 255, numpy.uint8)
    places = numpy.linspace(0, 1, len(stops))
    for i in (0, 1, 2):
        colors[:, i] = numpy.rint(numpy.interp(numpy.nan_to_num(shares), places, stops[:, i]))
    colors[~numpy.isfinite(values), :3] = 128
    return colors


class Picture(Facts):
    """color [height, width, 4] (RGBA), and what else was asked for: color16, depth, normal, index; the camera; and
    counts (covered, seen, splats, ...). Where an array is wanted (numpy.asarray, PIL.Image.fromarray, imshow) it is the
    one of its colours, without a copy."""

    @property
    def __array_interface__(self):
        return self.color.__array_interface__

    @property
    def shape(self):
        return self.color.shape

    def save(self, path):
        """Writes the colours as PNG, whatever the path ends in; "scan.jpg" and the like are refused."""
        ending = os.path.splitext(os.fspath(path))[1]
        if ending and ending.lower() != ".png":
            raise errors.UnsupportedError(f"{os.fspath(path)}: a picture is written as .png")
        with open(path, "wb") as file:
            file.write(self._repr_png_())

    def _repr_png_(self):
        from ._show import png_of
        return png_of(self.color)

    def __repr__(self):
        return f"Picture({self.color.shape[1]} x {self.color.shape[0]})"


class Renderer(_context.Closable):
    """The points of a cloud, ready to be drawn again and again: .fit(view) gives a camera, .draw(camera) a picture."""

    def __init__(self, points, *, copy=None, context=None, progress=None):
        cloud = as_cloud(points, copy, context)
        self._cloud, self._source, self._progress = cloud._use(), cloud, progress
        context = place_of(self._cloud, context)
        handle = _context.Handle(context, library.mote_render_destroy, (self._cloud,))
        with _context.using(self._cloud):
            context._call(library.mote_render_create, context._pointer, self._cloud.pointer, handle.out,
                          progress=progress)
        self._handle = handle

    def _call(self, function, *arguments):
        handle = self._use()
        with _context.using(handle, self._cloud):
            handle.context._call(function, handle.pointer, *arguments, progress=self._progress)

    def colors(self, color, map="spectrum", range=None):
        """Other colours: an attribute's name, a number for each point, or [points, 3 or 4] colours of uint8; None: the
        cloud's own."""
        if color is None:
            self._call(library.mote_render_set_colors, None, False)
            return
        values = self._source[color] if isinstance(color, str) else numpy.asarray(color)
        if values.shape[:1] != (len(self._source),) or values.ndim > 2:
            raise errors.ArgumentError(f"colours of shape {values.shape} for {len(self._source)} points")
        if values.ndim == 1:
            values = colors_of(values, map, range)
        elif values.dtype != numpy.uint8 or values.shape[1] not in (3, 4):
            raise errors.ArgumentError("colours are [points, 3 or 4] of uint8")
        elif values.shape[1] == 3:
            values = numpy.concatenate([values, numpy.full((len(values), 1), 255, numpy.uint8)], axis=1)
        values = numpy.ascontiguousarray(values)
        self._call(library.mote_render_set_colors, _arrays.pointer(values), False)

    def exposure(self, exposure="auto"):
        """Shows the cloud's own colours so many times brighter, and returns how many; "auto": dark ones so that they
        are seen, others as they are, as "mote render" does."""
        if exposure == "auto":
            found, handle = ctypes.c_double(), self._use()
            with _context.using(handle, self._cloud):
                handle.context._call(library.mote_render_find_exposure, handle.context._pointer, self._cloud.pointer,
                                     ctypes.byref(found), progress=self._progress)
            exposure = found.value
        self._call(library.mote_render_set_exposure, float(exposure))
        return float(exposure)

    def normals(self, normals, spacing=None):
        """Gives the points normals, [points, 3], as of mote.normals."""
        normals = numpy.ascontiguousarray(numpy.asarray(normals, numpy.float32).T)
        if normals.shape != (3, len(self._source)):
            raise errors.ArgumentError(f"normals are [{len(self._source)}, 3]")
        if spacing is not None:
            spacing = numpy.ascontiguousarray(spacing, numpy.float32)
            if spacing.shape != (len(self._source),):
                raise errors.ArgumentError(f"spacing is [{len(self._source)}]")
        start = _arrays.pointer(normals)
        rows = (ctypes.c_void_p * 3)(*[start + 4 * len(self._source) * i for i in (0, 1, 2)])
        self._call(library.mote_render_set_normals, rows, _arrays.pointer(spacing), False)

    def update(self):
        """Reads the cloud anew after its positions or colours changed."""
        self._call(library.mote_render_update)

    def fit(self, view="iso", *, up=(0, 0, 1), camera=None, **parameters: "Unpack[RenderParams]") -> Camera:
        """A camera that sees all points: "iso", "top", "bottom", "front", "back", "left", "right", or the direction
        from the points to the viewer. camera: one whose projection and angle it takes."""
        params = _RENDER.make(parameters)
        made = Camera._struct_of(Camera() if camera is None else camera)
        made = declared.mote_camera.from_buffer_copy(made)
        direction, up = _direction(view, up)
        made.up[:] = up
        self._call(library.mote_render_fit, ctypes.byref(made), (ctypes.c_double * 3)(*direction), ctypes.byref(params))
        return Camera._of(made)

    def draw(self, camera, *, want=("color",), **parameters: "Unpack[RenderParams]") -> Picture:
        """Draws one frame. want: any of "color", "color16", "depth", "normal", "index"."""
        params = _RENDER.make(parameters)
        width, height = params.part_width or params.width, params.part_height or params.height
        if not 0 < max(width, height) <= declared.MOTE_RENDER_MAX_SIZE:
            raise errors.ArgumentError(f"a picture of {width} x {height} pixels")
        layers, result = {}, declared.mote_render_result()
        for name in (want,) if isinstance(want, str) else want:
            if name not in _LAYERS:
                raise errors.ArgumentError(f"there is no layer {name!r}{nearest(str(name), list(_LAYERS))}")
            field, dtype, channels = _LAYERS[name]
            layers[name] = numpy.empty((height, width, channels) if channels else (height, width), dtype)
            setattr(result, field, _arrays.pointer(layers[name]))
        self._call(library.mote_render_draw, ctypes.byref(Camera._struct_of(camera)), ctypes.byref(params), ctypes.byref(result))
        facts = facts_of(result).__dict__
        facts.pop("on_device")
        return Picture(**layers, camera=camera, **facts)

    def neighbors(self, camera, k, **parameters: "Unpack[RenderParams]") -> Facts:
        """The k nearest neighbours of each point that a frame sees, among those that it sees: .point [seen],
        .neighbor and .distance2 [seen, k], .iterations [seen]."""
        params = _RENDER.make(parameters)
        context = self._use().context
        found = _context.Handle(context, lambda pointer: library.mote_render_free_neighbors(context._pointer, pointer),
                                (self._handle,))
        k = whole("k", k)
        self._call(library.mote_render_find_neighbors, ctypes.byref(Camera._struct_of(camera)), ctypes.byref(params), k,
                   found.out)
        lists = declared.mote_render_neighbors.from_address(found.pointer.value)
        seen = lists.seen
        return Facts(seen=seen, point=_arrays.dense(lists.point, (seen,), numpy.uint32, found),
                     neighbor=_arrays.dense(lists.neighbor, (seen, k), numpy.uint32, found),
                     distance2=_arrays.dense(lists.distance2, (seen, k), numpy.float32, found),
                     iterations=_arrays.dense(lists.iterations, (seen,), numpy.uint8, found))


def render(points, camera=None, *, view="iso", up=(0, 0, 1), color=None, map="spectrum", range=None, want=("color",),
           copy=None, context=None, progress=None, **parameters: "Unpack[RenderParams]") -> Picture:
    """Draws a cloud: .color is [height, width, 4], RGBA. Without a camera all of it is seen, from view.

    color  an attribute's name, a number for each point (through the colour map ``map``: "spectrum", "viridis",
           "magma", "terrain", "grey"; from range[0] to range[1]), or RGB(A) of uint8; None: the cloud's own colours
    want   any of "color", "color16", "depth", "normal", "index"
    """
    _RENDER.make(parameters)
    with Renderer(points, copy=copy, context=context, progress=progress) as renderer:
        if color is not None:
            renderer.colors(color, map, range)
        if camera is None:
            camera = renderer.fit(view, up=up, **parameters)
        return renderer.draw(camera, want=want, **parameters)


for _function, _keywords in ((render, _RENDER), (Camera, _CAMERA)):
    _keywords.document(_function)

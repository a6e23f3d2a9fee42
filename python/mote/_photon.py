"""Photon mapping: scenes, light stored as points, pictures of it."""
from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING

import numpy

from . import _arrays, _context
from . import _declarations as declared
from . import _errors as errors
from . import _library as library
from ._cloud import Cloud, _CloudHandle, as_cloud
from ._io import _path_of
from ._parameters import Parameters, facts_of, whole
from ._render import Camera

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import PhotonEmission, PhotonGathering, PhotonParams

_EMISSION = Parameters("mote.Scene.emit", "mote_photon_emission", "mote_photon_emission_defaults")
_GATHERING = Parameters("mote.PhotonMap.gather", "mote_photon_gathering", "mote_photon_gathering_defaults",
                        without=("on_device",))
_PHOTON = Parameters("mote.photon", "mote_photon_params", "mote_photon_defaults")


def scenes():
    """The names of the built-in scenes."""
    names = []
    while True:
        name = library.mote_scene_name(len(names))
        if name is None:
            return names
        names.append(name.decode())


class Scene(_context.Closable):
    """Geometry, materials and lights: a built-in scene by its name, or a file (.glb, .gltf, .obj)."""

    def __init__(self, source, *, context=None, progress=None):
        context = _context.current(context)
        handle = _context.Handle(context, library.mote_scene_destroy)
        self.facts = None
        text = _path_of(source)
        if library.mote_scene_is_file(text):
            facts = declared.mote_scene_facts()
            context._call(library.mote_scene_read, context._pointer, text, handle.out, ctypes.byref(facts),
                          progress=progress)
            self.facts = facts_of(facts)
        else:
            context._call(library.mote_scene_builtin, context._pointer, text, handle.out)
        self._handle = handle

    @property
    def camera(self):
        """The camera that it came with."""
        return Camera._of(library.mote_scene_camera(self._use().pointer))

    @property
    def bounds(self):
        box = library.mote_scene_bounds(self._use().pointer)
        return numpy.array(box.min), numpy.array(box.max)

    def add_default_light(self, camera=None):
        """A soft sky and a key light over the left shoulder of the camera."""
        handle = self._use()
        handle.context._call(library.mote_scene_add_default_light, handle.pointer,
                             ctypes.byref((camera or self.camera)._struct))

    def emit(self, *, progress=None, **parameters: "Unpack[PhotonEmission]") -> "PhotonMap":
        """Emits photons from the lights and stores them."""
        params, handle = _EMISSION.make(parameters), self._use()
        stored = _context.Handle(handle.context, library.mote_photon_destroy, (handle,))
        with _context.using(handle):
            handle.context._call(library.mote_photon_emit, handle.pointer, ctypes.byref(params), stored.out,
                                 progress=progress)
        return PhotonMap(self, stored)


class PhotonMap(_context.Closable):
    """The light of a scene as a cloud."""

    def __init__(self, scene, handle):
        self.scene, self._handle = scene, handle

    @property
    def facts(self):
        """What became of the photons."""
        return facts_of(library.mote_photon_map_facts(self._use().pointer))

    @property
    def cloud(self):
        """The stored photons: x y z, power_red ..., direction_x ..., normal_x ..., bounce."""
        handle = self._use()
        seen = _CloudHandle(handle.context, (handle,))
        seen.free = lambda pointer: None  # the map's own
        address = handle.context._run(library.mote_photon_cloud, handle.pointer)
        if not address:
            raise errors.MemoryError("no memory for a copy of the photons")
        seen.pointer = ctypes.c_void_p(address)
        return Cloud._of(seen)

    def gather(self, queries, *, progress=None, **parameters: "Unpack[PhotonGathering]"):
        """The irradiance at places (points with normal_x, normal_y, normal_z): [queries, 3], red, green, blue."""
        params, handle = _GATHERING.make(parameters), self._use()
        cloud = as_cloud(queries, None, handle.context)
        irradiance = numpy.empty((len(cloud), 3), numpy.float32)
        with _context.using(handle, cloud._use()):
            handle.context._call(library.mote_photon_gather, handle.pointer, cloud._use().pointer, ctypes.byref(params),
                                 _arrays.pointer(irradiance), progress=progress)
        return irradiance


def photon(scene, photons=None, *, camera=None, emission=None, passes=0, context=None, progress=None,
           **parameters: "Unpack[PhotonParams]"):
    """A picture of a scene: linear radiance, [height, width, 3] of float32, the first row at the top.

    scene     a Scene, the name of a built-in one, or a file
    photons   a PhotonMap of the scene; None: one is made where the method needs it
    emission  a dictionary of photons and seed for that
    passes    1 or more: the mean of so many passes, each with photons of its own
    """
    params = _PHOTON.make(parameters)
    for name, value, kind in (("photons", photons, PhotonMap), ("camera", camera, Camera), ("emission", emission, dict)):
        if value is not None and not isinstance(value, kind):
            raise errors.KeywordError(f"{name} is a {kind.__name__}, not {type(value).__name__}"
                                      + (": emission={'photons': ...} says how many" if name == "photons" else ""))
    passes = whole("passes", passes)
    emitting = _EMISSION.make(emission or {})
    if not isinstance(scene, Scene):
        if not isinstance(scene, (str, os.PathLike)):
            raise errors.KeywordError(f"a scene is a mote.Scene, a name or a path, not {type(scene).__name__}")
        scene = Scene(scene, context=context, progress=progress)
    handle = scene._use()
    camera = (camera or scene.camera)._struct
    if not (0 < params.width <= declared.MOTE_RENDER_MAX_SIZE and 0 < params.height <= declared.MOTE_RENDER_MAX_SIZE):
        raise errors.ArgumentError(f"a picture of {params.width} x {params.height} pixels")
    rgb = numpy.empty((params.height, params.width, 3), numpy.float32)
    if passes:
        arguments = (library.mote_photon_render_progressive, handle.pointer, ctypes.byref(camera),
                     ctypes.byref(emitting), ctypes.byref(params), passes, _arrays.pointer(rgb))
    else:
        needs_map = params.method not in (declared.MOTE_PHOTON_SHADOW, declared.MOTE_PHOTON_PATH)
        if photons is None and needs_map:
            photons = scene.emit(progress=progress, **(emission or {}))
        arguments = (library.mote_photon_render, handle.pointer, photons._use().pointer if photons else None,
                     ctypes.byref(camera), ctypes.byref(params), _arrays.pointer(rgb))
    with _context.using(handle, photons._use() if photons else None):
        handle.context._call(*arguments, progress=progress)
    return rgb


_PHOTON.document(photon)

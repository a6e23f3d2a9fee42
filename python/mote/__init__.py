"""Point clouds: files, neighbours, normals, outliers, planes, levels of detail, pictures, light.

    import mote
    cloud = mote.read("scan.laz")
    cloud["intensity"].mean()
    near = mote.knn(cloud, k=8)            # near.index, near.distance2
    mote.render(cloud).save("scan.png")

Every function takes arrays (N x 3, structured, dictionaries of columns, tensors) where it takes a cloud. docs/python.md
is the guide.
"""
from ._arrays import standard_name
from ._cloud import Cloud, Column, concatenate
from ._context import Context, devices
from ._device import DeviceArray
from ._errors import (ArgumentError, Cancelled, ChangedError, ColumnError, DeviceError, DiskError, Error, FormatError, IOError,
                      KeywordError, MemoryError, PipeError, StateError, UnsupportedError, Warning)
from ._gen import gen
from ._io import Reader, open, read, write
from ._library import version as __version__
from ._lod import Lod, lod
from ._neighbors import (KnnIndex, NeighborLists, Neighbors, Normals, Outliers, knn, knn_index, normals, outliers)
from ._parts import clear_parts, lod_files, make_part, merge_parts, plan_parts, update_lod
from ._photon import PhotonMap, Scene, photon, scenes
from ._planes import Plane, Planes, planes
from ._render import Camera, Picture, Renderer, colors_of, render

__all__ = [name for name in dir() if not name.startswith("_")]

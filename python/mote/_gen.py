"""Made-up clouds."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from . import _context
from . import _errors as errors
from . import _library as library
from ._cloud import Cloud, _CloudHandle
from ._parameters import Parameters, whole

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import GenParams

_GEN = Parameters("mote.gen", "mote_gen_params", "mote_gen_defaults")


def gen(kind: str, points: int, *, context=None, progress=None, **parameters: "Unpack[GenParams]") -> Cloud:
    """Makes a cloud by formula and seed, the same bytes on every machine: "uniform", "torus", "clusters", "lattice",
    "room", "box" or "city"."""
    if not isinstance(kind, str):
        raise errors.KeywordError(f"a kind is text, not {kind!r}")
    points = whole("points", points)
    if not 0 <= points < 1 << 64:
        raise errors.ArgumentError(f"{points} points; there may be 0 or more")
    params = _GEN.make(parameters, kind.encode())
    context = _context.current(context)
    handle = _CloudHandle(context)
    context._call(library.mote_generate, context._pointer, kind.encode(), ctypes.c_uint64(points), ctypes.byref(params),
                  handle.out, progress=progress)
    return Cloud._of(handle)


_GEN.document(gen)

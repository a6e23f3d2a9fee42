"""Finds libmote, checks that it is of the version of the declarations, and gives its functions their types."""
import ctypes
import os

from . import _declarations as declared

_NAME = "libmote.so.0"


def _candidates():
    """Where the library may be: a path, and why it is tried. What the user names is not looked for elsewhere."""
    named = os.environ.get("MOTE_LIBRARY")
    if named:
        yield named, "MOTE_LIBRARY"
        return
    here = os.path.dirname(os.path.abspath(__file__))
    bundled = os.path.join(here, _NAME)
    if os.path.exists(bundled):
        yield bundled, "the package"
    else:
        yield _NAME, "the system"


def _load():
    for path, source in _candidates():
        try:
            return ctypes.CDLL(path), path
        except OSError as error:
            raise ImportError(f"libmote is not there ({source}: {error}). Install mote, or let MOTE_LIBRARY name "
                              f"libmote.so") from None
    raise AssertionError("there is always a candidate")


def _check_version(library, path):
    library.mote_version.restype = ctypes.c_char_p
    version = library.mote_version().decode()
    found = tuple(int(part) for part in version.split(".")[:3])
    wanted = (declared.MOTE_VERSION_MAJOR, declared.MOTE_VERSION_MINOR, declared.MOTE_VERSION_PATCH)
    if found[0] != wanted[0] or found < wanted:
        raise ImportError(f"{path} is version {version}; this package needs {'.'.join(map(str, wanted))} or later of "
                          f"the same major version")
    return version


_bulk, path = _load()
version = _check_version(_bulk, path)
_quick = ctypes.PyDLL(path)

# What returns at once keeps the GIL: giving it away and taking it back costs more than the work.
_QUICK_ENDINGS = ("_defaults", "_count", "_find", "_match", "_column", "_name", "_message", "_clear", "_crs", "_facts",
                  "_at", "_hull", "_size", "_record", "_limits", "_grid", "_camera", "_bounds", "_project",
                  "_unproject", "_on_path", "_units", "_data", "_lattice", "_nodes", "_parameters", "_skipped",
                  "_on_device", "_threads", "_backend", "_lacks", "_bytes")
_SLOW = ("mote_cloud_bounds", "mote_render_bounds")


def _bind(name):
    result, arguments = declared.FUNCTIONS[name]
    quick = name.endswith(_QUICK_ENDINGS) and name not in _SLOW
    try:
        function = getattr(_quick if quick else _bulk, name)
    except AttributeError:
        raise ImportError(f"{path} has no {name}: it is older than this package") from None
    function.restype, function.argtypes = result, arguments
    return function


for _name in declared.FUNCTIONS:
    globals()[_name] = _bind(_name)

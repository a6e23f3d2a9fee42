"""Octrees of clouds that memory does not hold: in one call, or part by part, by as many processes as there are."""
from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING

from . import _context
from . import _declarations as declared
from . import _errors as errors
from . import _library as library
from ._io import _path_of, _read_params
from ._lod import _COPC, _LOD, _POTREE
from ._parameters import Parameters, facts_of, nearest

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import CopcParams, LodParams, PartsParams, PotreeParams, ReadParams

_PARTS = Parameters("mote.lod_files", "mote_parts_params", "mote_parts_defaults")
_READING = Parameters("mote.lod_files", "mote_read_params", "mote_read_defaults")


def _split(owner, kinds, parameters):
    """The keywords of each of some structs, of which no two have a word in common."""
    split = [{} for _ in kinds]
    for word, value in parameters.items():
        for kind, values in zip(kinds, split):
            if word in kind.fields:
                values[word] = value
                break
        else:
            names = [name for kind in kinds for name in kind.fields]
            raise errors.KeywordError(f"{owner} has no parameter {word!r}{nearest(str(word), names)}")
    return split


def _is_copc(output):
    return _path_of(output).lower().endswith(b".copc.laz")


def _arguments(owner, inputs, output, bounds, keep_inputs, parameters):
    """Inputs, parameters and output as the library takes them, and what has to stay alive as long."""
    if isinstance(inputs, (str, bytes, os.PathLike)):
        inputs = [inputs]
    paths = [_path_of(path) for path in inputs]
    if not paths:
        raise errors.ArgumentError("there is no path to read")
    if keep_inputs and _is_copc(output):
        raise errors.UnsupportedError("keep_inputs: a COPC file is not updated: a Potree folder is")
    writing = _COPC if _is_copc(output) else _POTREE
    own = _split(owner, (_READING, _LOD, writing, _PARTS), parameters)
    if _is_copc(output):
        own[1].setdefault("max_node_points", 0)  # a node of COPC has any number of points
    texts = (ctypes.c_char_p * len(paths))(*paths)
    params = [_read_params(bounds, own[0]), _LOD.make(own[1]), writing.make(own[2]), _PARTS.make(own[3])]
    origin = declared.mote_potree_origin(inputs=ctypes.addressof(texts), input_count=len(paths),
                                         reading=ctypes.addressof(params[0]))
    if keep_inputs:
        params[2].origin = ctypes.addressof(origin)
    reading, lod, writing, parts = map(ctypes.byref, params)
    return (texts, len(paths), reading, lod, _path_of(output), writing, parts), (params, origin, texts)


def _refuse_foreign(plan):
    """A file that is no plan, perhaps an input, is not replaced by one."""
    try:
        with open(plan, "rb") as file:
            is_plan = b'"mote_plan"' in file.read(4096)
    except FileNotFoundError:
        return
    if not is_plan:
        raise errors.ArgumentError(f"{os.fspath(plan)}: exists and is no plan of parts, so it is not replaced")


def _report(report):
    facts = facts_of(report)
    facts.folder.hash = f"{report.folder.hash:016x}"
    facts.file.hash = f"{report.file.hash:016x}"
    return facts


def lod_files(inputs, output, *, bounds=None, keep_inputs=False, context=None, progress=None,
              **parameters: "Unpack[ReadParams | LodParams | PotreeParams | CopcParams | PartsParams]"):
    """Builds the octree of files that memory need not hold, as a Potree folder, or a COPC file where output ends in
    .copc.laz; the same bytes as of mote.lod.

    inputs       a path, folder or pattern, or several
    keep_inputs  the folder knows of which files it is made (inputs.json), so that update_lod can change it
    Returns      what was done: points, nodes, parts, scratch_bytes, folder.hash (of a file: file.hash), …
    """
    context = _context.current(context)
    arguments, _kept = _arguments("mote.lod_files", inputs, output, bounds, keep_inputs, parameters)
    report = declared.mote_parts_report()
    write = library.mote_copc_write_parts if _is_copc(output) else library.mote_lod_write_parts
    context._call(write, context._pointer, *arguments, ctypes.byref(report), progress=progress)
    return _report(report)


def plan_parts(inputs, output, plan, *, bounds=None, keep_inputs=False, context=None, progress=None,
               **parameters: "Unpack[ReadParams | LodParams | PotreeParams | CopcParams | PartsParams]"):
    """Writes a plan, a file of JSON, by which each part of an octree is made by a call of its own, in any process that
    finds inputs, plan and output under the same names: make_part(plan, 1), … make_part(plan, parts), merge_parts(plan).

    part_count   how many parts there are to be, about; or memory_bytes that each may take
    keep_inputs  as of lod_files
    Returns      what it will be: parts, part_memory_bytes, largest_part, scratch_bytes, shared_points
    """
    context = _context.current(context)
    _refuse_foreign(plan)
    arguments, _kept = _arguments("mote.plan_parts", inputs, output, bounds, keep_inputs, parameters)
    report = declared.mote_parts_report()
    write = library.mote_copc_parts_plan if _is_copc(output) else library.mote_lod_parts_plan
    context._call(write, context._pointer, *arguments, _path_of(plan), ctypes.byref(report), progress=progress)
    return _report(report)


def make_part(plan, part, *, of=0, context=None, progress=None):
    """Makes one part of a plan, from 1 on. What is there and whole is not made again: a call may be repeated freely.

    of       how many parts the caller takes the plan to have; 0: as the plan says
    Returns  what was done. rounds is 0 if the part was there, and 2 if its points are too dense for one code: all
             others are to be made once more then
    """
    context = _context.current(context)
    report = declared.mote_parts_report()
    context._call(library.mote_lod_parts_make, context._pointer, _path_of(plan), part, of, ctypes.byref(report),
                  progress=progress)
    return _report(report)


def merge_parts(plan, *, verify=False, context=None, progress=None):
    """Makes the folder, or COPC file, of all parts of a plan. The parts stay, until clear_parts(output) removes them.

    verify   also compares the checksums of the parts' records
    """
    context = _context.current(context)
    report = declared.mote_parts_report()
    context._call(library.mote_lod_parts_merge, context._pointer, _path_of(plan), verify, ctypes.byref(report),
                  progress=progress)
    return _report(report)


def update_lod(folder, add=(), *, remove=(), replace=(), verify=False, context=None, progress=None, **parameters):
    """Brings a folder up to date with a list of files that changes: it becomes what lod_files makes of the new list,
    byte for byte. Which files those are, and how they become an octree, its inputs.json says.

    add      files, folders and patterns that join the list, behind those that stay
    remove   files that leave it: by their path, by a name that only one has, or by a pattern; they need not be there
    replace  files of it that have changed
    verify   compares the checksums of all files; else of those whose size or time is another
    Returns  what was done: inputs, kept_points, whole (why all was built anew, or None), parts
    """
    context = _context.current(context)
    changes = declared.mote_lod_changes()
    kept = []
    for name, paths in (("add", add), ("remove", remove), ("replace", replace)):
        if isinstance(paths, (str, bytes, os.PathLike)):
            paths = [paths]
        texts = [_path_of(path) for path in paths]
        array = (ctypes.c_char_p * len(texts))(*texts)
        kept.append(array)
        setattr(changes, name, ctypes.addressof(array))
        setattr(changes, name + "_count", len(texts))
    changes.verify = bool(verify)
    report = declared.mote_lod_update_report()
    context._call(library.mote_lod_update, context._pointer, _path_of(folder), ctypes.byref(changes),
                  ctypes.byref(_PARTS.make(parameters)), ctypes.byref(report), progress=progress)
    facts = facts_of(report)
    facts.whole = report.whole.decode() if report.whole else None
    facts.parts.folder.hash = f"{report.parts.folder.hash:016x}"
    return facts


def clear_parts(output, *, context=None):
    """Removes the parts beside a folder, OUTPUT.parts."""
    context = _context.current(context)
    context._call(library.mote_lod_parts_clear, context._pointer, _path_of(output))


for _function in (lod_files, plan_parts):
    _PARTS.document(_function)

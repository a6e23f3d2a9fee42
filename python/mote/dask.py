"""mote by Dask (https://dask.org): octrees by parts, and any function over tiles, on the workers that Dask has.

    import mote.dask
    mote.dask.lod("tiles/*.laz", "town", part_count=64).compute()
    tiles = mote.dask.map_overlap(roughness, "tiles/*.laz", size=100, overlap=5)
    results = dask.compute(*tiles)

Nothing but names of files and numbers goes from process to process: workers have to see the files under the same names.
"""
from __future__ import annotations

import glob
import math
import os
from typing import Callable

import dask
import numpy

from . import _errors as errors
from ._io import _mark_of, read
from ._io import open as open_file
from ._parts import clear_parts, make_part, merge_parts, plan_parts

__all__ = ["lod", "map_overlap"]



def _absolute(inputs):
    """Paths and patterns that say the same in whatever folder a worker runs."""
    return [os.path.abspath(text) for text in ([inputs] if isinstance(inputs, (str, os.PathLike)) else inputs)]


# ---- octrees


def _make(plan, part, _before):
    return make_part(plan, part)


def _merge(plan, output, verify, keep, _parts):
    report = merge_parts(plan, verify=verify)
    if not keep:
        clear_parts(output)
        os.unlink(plan)
    return report


def lod(inputs, output, *, plan=None, verify=False, keep=False, **parameters):
    """The octree of files, as a Delayed whose compute() makes `output`, a folder or (….copc.laz) a COPC file, and gives
    the report of merge_parts.

    The points are looked at here and now, to make the plan; the parts are tasks of their own, and one more joins them.
    A part that was made is not made again, so that a computation that was cut off goes on where it was.

    plan        the file of the plan; output + ".plan.json" if none is given
    verify      compare the checksums of the parts before they are joined
    keep        leave plan and parts where they are, in the end: without them what is returned computes once
    parameters  as of mote.plan_parts: part_count, or memory_bytes that each part may take; sampling, select, …
    """
    output = os.path.abspath(output)
    is_file = output.lower().endswith(".copc.laz")
    if not is_file and os.path.exists(output) and not os.path.exists(os.path.join(output, "metadata.json")):
        raise errors.ArgumentError(f"{output}: exists and is no Potree folder, so it is not replaced")
    plan = os.path.abspath(plan) if plan is not None else output + ".plan.json"
    count = plan_parts(_absolute(inputs), output, plan, **parameters).parts
    make = dask.delayed(_make, pure=False)
    first = [make(plan, part, None) for part in range(1, count + 1)]
    # Where points are too dense for one code, parts that were made before this was known have to be made once more.
    # Otherwise they are there, and a call finds just that.
    again = [make(plan, part, first) for part in range(1, count + 1)]
    return dask.delayed(_merge, pure=False)(plan, output, verify, keep, again)


# ---- tiles


def _tiles_of_points(x, y, size):
    """Column and row of the tile of each point; NaN where it has no finite place."""
    with numpy.errstate(invalid="ignore"):
        return numpy.floor(x / size), numpy.floor(y / size)


def _tiles_of_file(path, size, parameters):
    """The tiles that have points of a file, as a set. Headers are not asked: they may be wrong, and a point that is far
    from all others would make them say nothing."""
    tiles = set()
    with open_file(path, **parameters) as file:
        for cloud in file.pieces():
            columns, rows = _tiles_of_points(numpy.asarray(cloud["x"]), numpy.asarray(cloud["y"]), size)
            finite = numpy.isfinite(columns) & numpy.isfinite(rows)
            pairs = numpy.unique(numpy.stack([columns[finite], rows[finite]], axis=1), axis=0)
            tiles.update(map(tuple, pairs.tolist()))
    return tiles


def _rows_of(value, count):
    """What a function gave, as a dictionary of arrays with a row for each of the points."""
    names = getattr(getattr(value, "dtype", None), "names", None)
    if names:
        value = {name: value[name] for name in names}
    columns = {name: numpy.asarray(value[name]) for name in value} if hasattr(value, "keys") else \
        {"result": numpy.asarray(value)}
    for name, column in columns.items():
        if column.ndim == 0 or len(column) != count:
            raise errors.ArgumentError(f"the function gave {name} of shape {column.shape} for {count} points: it must "
                                       "have a row for each")
    return columns


def _run_tile(function, paths, tile, size, overlap, keep, parameters, arguments):
    """What a tile gives; an error says of which tile it is."""
    try:
        return _rows_of_tile(function, paths, tile, size, overlap, keep, parameters, arguments)
    except Exception as failure:
        if hasattr(failure, "add_note"):
            corner = ", ".join(f"{place * size:.15g}" for place in tile)
            failure.add_note(f"in the tile of side {size:.15g} at {corner}, of {', '.join(paths)}")
        raise


def _rows_of_tile(function, paths, tile, size, overlap, keep, parameters, arguments):
    """Reads the points of a tile and those around it, and gives the rows of its own points."""
    for path, mark in paths.items():
        if _mark_of(path) != mark:
            raise errors.IOError(f"{path} is not the file any more of which the tiles were made")
    low = [place * size - overlap for place in tile]
    high = [(place + 1) * size + overlap for place in tile]
    more = [1e-9 * max(abs(a), abs(b)) for a, b in zip(low, high)]  # far more than the products above are rounded by
    bounds = low[0] - more[0], low[1] - more[1], high[0] + more[0], high[1] + more[1]
    cloud = read(list(paths), bounds=bounds, **parameters)
    columns, rows = _tiles_of_points(numpy.asarray(cloud["x"]), numpy.asarray(cloud["y"]), size)
    own = (columns == tile[0]) & (rows == tile[1])
    result = {name: numpy.asarray(cloud[name])[own] for name in keep}
    made = _rows_of(function(cloud, **arguments), len(cloud))
    twice = ", ".join(sorted(set(made) & set(result)))
    if twice:
        raise errors.ArgumentError(f"the function gave {twice}, which keep= names too")
    result.update((name, values[own]) for name, values in made.items())
    return result


def _files_near(tiles_of, reach):
    """For each tile that has points the files that have points in it or within `reach` tiles of it. Tiles are looked
    for in squares of reach + 1 tiles: those that are near are in the same or the next."""
    squares = {}
    for path, tiles in tiles_of.items():
        for column, row in tiles:
            square = squares.setdefault((column // (reach + 1), row // (reach + 1)), {})
            square.setdefault(path, []).append((column, row))
    squares = {at: {path: numpy.array(tiles) for path, tiles in square.items()} for at, square in squares.items()}
    found = {}
    for tile in set().union(*tiles_of.values()):
        column, row = (place // (reach + 1) for place in tile)
        near = set()
        for at in [(column + i, row + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]:
            for path, tiles in squares.get(at, {}).items():
                if path not in near and (abs(tiles - tile) <= reach).all(axis=1).any():
                    near.add(path)
        found[tile] = [path for path in tiles_of if path in near]
    return found


def _paths_of(inputs):
    paths = []
    for text in _absolute(inputs):
        is_pattern = not os.path.exists(text) and any(mark in text for mark in "*?[")
        paths += sorted(glob.glob(text)) if is_pattern else [text]
    if not paths:
        raise errors.ArgumentError(f"there is no file to read: {inputs!r}")
    return paths


def map_overlap(function: Callable, inputs, *, size: float, overlap: float = 0, keep=("x", "y", "z"), arguments=None,
                **parameters):
    """Calls a function for each square tile of the ground that has points, with these and the points around.

    function   of a cloud; gives an array with a row for each point of the cloud, or a dictionary (or structured array,
               or data frame) of such arrays. Where Dask uses processes, they have to be able to import it
    inputs     the path of a file, a pattern ("tiles/*.laz"), or several
    size       side of a tile, in the units of x and y
    overlap    how far around its tile a function sees: as far as a point may be that matters
    keep       columns of the cloud that come back beside the result
    arguments  keywords for the function
    parameters as of mote.read: select, where, crs, …

    Returns a list of Delayed, one for each tile. Each gives a dictionary of arrays, of the tile's own points alone: the
    columns to keep and the result. Each point that is read and has finite coordinates is in one tile, so concatenated
    they are all points; mote takes such dictionaries, of columns with one dimension, where it takes clouds.

    The files are read once here, by Dask, to see where their points are. A tile reads the files that have points in it
    or around it.
    """
    if not (size > 0 and math.isfinite(size)) or not (overlap >= 0 and math.isfinite(overlap)):
        raise errors.ArgumentError("size is above 0 and overlap 0 or more, both finite")
    if not callable(function) or "bounds" in parameters:
        raise errors.ArgumentError("map_overlap(function, inputs, size=…): a tile has bounds of its own")
    paths, size, keep = _paths_of(inputs), float(size), (keep,) if isinstance(keep, str) else tuple(keep)
    if parameters.get("to_crs"):
        parameters = {**parameters, "bounds_in_to_crs": True}  # tiles are of what comes back
    marks = {path: _mark_of(path) for path in paths}
    look = dask.delayed(_tiles_of_file, pure=False)
    tiles_of = dict(zip(paths, dask.compute(*[look(path, size, parameters) for path in paths])))
    files_near = _files_near(tiles_of, min(math.ceil(overlap / size), 1 << 52))
    run = dask.delayed(_run_tile, pure=False)
    return [run(function, {path: marks[path] for path in files_near[tile]}, tile, size, overlap, keep, parameters,
                arguments or {}) for tile in sorted(files_near)]

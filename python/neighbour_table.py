#!/usr/bin/env python3
"""Times k nearest neighbours by mote and by the libraries that are installed here, as the table of docs/python.md.

    neighbour_table.py [--points N[,N…]] [--k K] [--seconds S]

Points are uniform in a cube, float32, the same for all, and each asks for its own neighbours among all. A time is the
median of five calls, after one that is not counted; of one call where a call takes more than a second. A library whose
call would take longer than S seconds (20), by what fewer points took and its growth (times ten, or squared for brute
force), is left out from there on. Results stay where the library leaves them; the GPU is waited for. Each answer's
distances are compared with those of mote on the CPU: where they differ by more than float32 rounds, the row says so.
"""
import argparse
import importlib
import statistics
import time

import numpy

import mote

BRUTE_PIECE = 4096  # queries at once: a piece of the distances of a million points is 16 GB


def optional(name):
    try:
        return importlib.import_module(name)
    except Exception as error:  # whatever a half installed library raises
        print(f"{name} is not there: {type(error).__name__}")
        return None


def has_gpu():
    return any(device.kind == "cuda" and device.usable for device in mote.devices())


class Torch:
    """What works on a tensor of the GPU, and is over when the device is idle."""

    def __init__(self, torch):
        self.torch = torch

    def __call__(self, call):
        result = call()
        self.torch.cuda.synchronize()
        return result


def torch_brute(torch, tensor, k):
    kept = []
    for first in range(0, len(tensor), BRUTE_PIECE):
        kept.append(torch.cdist(tensor[first:first + BRUTE_PIECE], tensor).topk(k, largest=False).values)
    return torch.cat(kept) ** 2


def cupy_brute(cupy, points, k):
    kept, norms = [], (points * points).sum(axis=1)
    for first in range(0, len(points), BRUTE_PIECE):
        some = points[first:first + BRUTE_PIECE]
        squares = norms[first:first + BRUTE_PIECE, None] + norms[None] - 2 * some @ points.T
        kept.append(cupy.sort(cupy.partition(squares, k - 1, axis=1)[:, :k], axis=1))
    return cupy.concatenate(kept)


def rows_of_torch(points, k):
    torch = optional("torch")
    if torch is None or not torch.cuda.is_available():
        return
    wait, tensor = Torch(torch), torch.from_numpy(points).cuda()
    index = mote.knn_index(tensor)
    host = lambda values: values.cpu().numpy()  # noqa: E731
    yield "`mote.knn(tensor)` of PyTorch", 1, lambda: wait(lambda: mote.knn(tensor, k=k)), \
        lambda found: host(torch.from_dlpack(found.distance2))
    yield "`index.search()`, built before", 1, lambda: wait(lambda: index.search(k=k)), \
        lambda found: host(torch.from_dlpack(found.distance2))
    yield "PyTorch `cdist` + `topk`, in pieces", 2, lambda: wait(lambda: torch_brute(torch, tensor, k)), host
    cluster = optional("torch_cluster")
    if cluster is not None:
        yield "torch_cluster `knn`", 2, lambda: wait(lambda: cluster.knn(tensor, tensor, k)), \
            lambda pairs: host(((tensor[pairs[0]] - tensor[pairs[1]]) ** 2).sum(1).view(-1, k).sort(1).values)


def rows_of_cupy(points, k):
    cupy = optional("cupy")
    if cupy is None:
        return
    try:
        array = cupy.asarray(points)
    except Exception as error:
        print(f"cupy has no GPU: {type(error).__name__}")
        return

    def wait(call):
        result = call()
        cupy.cuda.Device().synchronize()
        return result

    yield "`mote.knn(array)` of CuPy", 1, lambda: wait(lambda: mote.knn(array, k=k)), \
        lambda found: cupy.asnumpy(cupy.from_dlpack(found.distance2))
    yield "CuPy, brute force in pieces", 2, lambda: wait(lambda: cupy_brute(cupy, array, k)), cupy.asnumpy
    cuml = optional("cuml")
    if cuml is not None:
        def search():
            return cuml.neighbors.NearestNeighbors(n_neighbors=k).fit(array).kneighbors(array)[0] ** 2
        yield "cuML `NearestNeighbors`", 2, lambda: wait(search), cupy.asnumpy


def rows_of_the_host(points, k):
    if has_gpu():
        context = mote.Context(device="cuda")
        yield "`mote.knn(numpy)` by the GPU", 1, lambda: mote.knn(points, k=k, context=context), \
            lambda found: found.distance2
    yield "`mote.knn(numpy)` on all cores", 1, lambda: mote.knn(points, k=k, context=CPU), lambda found: found.distance2
    scipy = optional("scipy.spatial")
    if scipy is not None:
        yield "SciPy `cKDTree`, all cores", 1, lambda: scipy.cKDTree(points).query(points, k, workers=-1)[0] ** 2, None
    sklearn = optional("sklearn.neighbors")
    if sklearn is not None:
        yield "scikit-learn `kd_tree`, all cores", 1, lambda: sklearn.NearestNeighbors(
            n_neighbors=k, algorithm="kd_tree", n_jobs=-1).fit(points).kneighbors(points)[0] ** 2, None


def measure(call):
    begin = time.perf_counter()
    result = call()
    first = time.perf_counter() - begin
    if first > 1:
        return first, result
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times), result


def differs(squares, expected):
    """Whether distances are others than float32 explains, in a cube of side 1."""
    squares = numpy.asarray(squares, dtype=numpy.float64).reshape(expected.shape)
    return bool((numpy.abs(squares - expected) > 1e-5).any())


def main():
    global CPU
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", default="1000,100000,1000000,10000000")
    parser.add_argument("--k", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20)
    words = parser.parse_args()
    sizes = [int(size) for size in words.points.split(",")]
    CPU = mote.Context(device="cpu")
    table, last = {}, {}
    for size in sizes:
        points = numpy.random.default_rng(1).random((size, 3), dtype=numpy.float32)
        expected = mote.knn(points, k=words.k, context=CPU).distance2
        for rows in (rows_of_torch, rows_of_cupy, rows_of_the_host):
            for name, power, call, squares in rows(points, words.k):
                cells = table.setdefault(name, {})
                if name in last and last[name][1] * (size / last[name][0]) ** power > words.seconds:
                    continue
                try:
                    seconds, result = measure(call)
                except (MemoryError, RuntimeError, mote.Error) as error:
                    print(f"{name}, {size}: {str(error)[:120]}")
                    last[name] = (size, float("inf"))
                    continue
                last[name] = (size, seconds)
                other = differs(result if squares is None else squares(result), expected)
                cells[size] = f"{1e3 * seconds:.3g}{' (other distances)' if other else ''}"
    print(f"k = {words.k}, milliseconds")
    print("| | " + " | ".join(f"{size:,}" for size in sizes) + " |")
    print("|---" * (len(sizes) + 1) + "|")
    for name, cells in table.items():
        print(f"| {name} | " + " | ".join(cells.get(size, "–") for size in sizes) + " |")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes the tables of docs/speed.md of bench/results/history.jsonl.

  bench/speed_tables.py           says whether the page has the tables that the history makes; exit code 1 if not
  bench/speed_tables.py --write   writes them

A table stands between <!-- table NAME --> and <!-- end -->; TABLES says which rows and columns it has. Its figures are
of one commit and one machine: the newest that has all of its cells, or else the newest that has most of them.
"""
import difflib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HISTORY = ROOT / "bench" / "results" / "history.jsonl"
PAGE = ROOT / "docs" / "speed.md"

H200, XEON, EPYC = "NVIDIA H200", "Intel(R) Xeon(R)", "AMD EPYC"
M = 1000000
SHAPES = ["uniform", "terrain, fractal", "room", "room, one point at 0", "room, one point at 1e9",
          "clusters of nine decades", "two scales, one point at 1e5", "Cauchy", "lattice", "integers 0 to 40",
          "tenths 0 to 4", "spiral of nine decades", "line"]


# ---- figures as text

def digits(value):
    """Three digits that count, thousands apart."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:#.3g}".rstrip(".")


def median(row):
    return digits(row["median"])


def spread(row):
    return f"{digits(row['median'])} ({digits(row['low'])}–{digits(row['high'])})"


def thousandth(row):
    """Seconds as milliseconds, milliseconds of a million queries as microseconds a query."""
    return f"{digits(1e3 * row['median'])} ({digits(1e3 * row['low'])}–{digits(1e3 * row['high'])})"


def microseconds_a_point(row):
    scale = 1e3 / row["points"]
    return f"{digits(scale * row['median'])} ({digits(scale * row['low'])}–{digits(scale * row['high'])})"


def milliseconds_of_rate(row):
    return digits(row["points"] / row["median"] / 1e6)


def points_in_g_a_second(row):
    return digits(row["points"] / row["median"] / 1e6)


def thousands_in_a_millisecond(row):
    return digits(row["points"] / row["median"] / 1e3)


def in_a_millisecond(row):
    return digits(row["points"] / row["median"])


def tera_votes(row):
    return digits(row["points"] * 32400 / row["median"] / 1e12)


def peak(row):
    return digits(row["peak_bytes_per_point"]) if "peak_bytes_per_point" in row else "–"


# ---- tables

class Column:
    """A column: what its cells are made of. case is a format with the row's name; of several rows of one case and
    commit the first counts, or the last; ratio: the cell is followed by its multiple of the first row's."""

    def __init__(self, title, case="{}", show=spread, points=None, threads=None, last=False, ratio=False):
        self.title, self.case, self.show, self.ratio = title, case, show, ratio
        self.points, self.threads, self.last = points, threads, last

    def find(self, group, name):
        fits = [row for row in group if row["case"] == self.case.format(name)
                and self.points in (None, row["points"]) and self.threads in (None, row["threads"])]
        return fits[-1 if self.last else 0] if fits else None


class Table:
    """rows: (label, name in the history, text of each further column …). before: one more column, the first one as the
    commit before had it on a machine of the same kind. without: commits that were measured on a busy machine."""

    def __init__(self, name, bench, backend, machine, head, columns, rows, more=(), before=False, without=()):
        self.without = without
        self.name, self.bench, self.backend, self.machine, self.before = name, bench, backend, machine, before
        self.head, self.columns, self.more = head, columns, list(more)
        self.rows = [row if isinstance(row, tuple) else (row, row) for row in rows]


def gpu(bench, name, head, columns, rows, **more):
    return Table(name, bench, "cuda", H200, head, columns, rows, **more)


def laz_rows():
    for label, file, steps in [
            ("autzen, 5.3 M points, format 2", "autzen2010_south_5.3M_fmt2 format 2", ("2.9–3.0", None, "4.7")),
            ("the same, format 7", "autzen2010_south_5.3M_fmt2 format 7", ("2.8–3.0", "–", "4.0")),
            ("lone-star, 0.5 M points, format 6", "lone-star format 6", ("3.4", "–", "–")),
            ("lone-star, format 1", "lone-star format 1", ("3.4–3.5", None, "–")),
            ("indoor, 0.8 M points, format 3", "indoor_808k format 3", ("4.9", None, "–")),
            ("indoor, format 7", "indoor_808k format 7", ("–", "–", "–"))]:
        for step, says, peer in zip(("decode", "positions", "encode"), ("decode", "x, y, z only", "encode"), steps):
            if peer is not None:
                yield (f"{label}: {says}", f"{step} {file}", peer)


TABLES = [
    Table("lod-cpu", "lod", "cpu", EPYC, "case", [Column("M points/s"), Column("peak bytes per point", show=peak)],
          [("random, additive", "random"), ("poisson, additive", "poisson"), ("random, additive, brotli", "brotli"),
           ("gaussian, replacing", "gaussian")]),
    gpu("lod resident", "lod-gpu", "case, G points/s",
        [Column("1 M", points=M, show=median), Column("10 M", points=10 * M, show=median),
         Column("100 M", points=100 * M, show=median),
         Column("ms at 100 M", points=100 * M, show=milliseconds_of_rate),
         Column("peak bytes per point", points=100 * M, show=peak)],
        [("RGB, random, additive", "rgb random", "2.2, 6.6", "0.47"),
         ("RGB, first, additive", "rgb first", "3.6, 10.3", "0.78"),
         ("LAS 7, random, additive", "all attributes random", "–", "–"),
         ("RGB, poisson, additive", "rgb poisson", "–", "–"),
         ("RGB, replacing, cell", "rgb cell", "1.7, 5.7", "0.46"),
         ("RGB, replacing, neighbors", "rgb neighbors", "–", "0.34"),
         ("RGB, replacing, gaussian", "rgb gaussian", "0.71, 2.2", "0.23")],
        more=["CudaLOD 10 M, 100 M", "Klaus 100 M"]),
    gpu("lod shapes", "lod-shapes", "cloud, ms",
        [Column("random, 1 M", "{}, random", milliseconds_of_rate, M, ratio=True),
         Column("poisson, 1 M", "{}, poisson", milliseconds_of_rate, M, ratio=True),
         Column("random, 4 M", "{}, random", milliseconds_of_rate, 4 * M, ratio=True),
         Column("poisson, 4 M", "{}, poisson", milliseconds_of_rate, 4 * M, ratio=True)], SHAPES),
    gpu("lod", "lod-files", "case", [Column("M points/s")],
        [("random, from LAS", "random"), ("random, from LAZ, decoded on the GPU", "random laz"),
         ("replacing, gaussian, from LAS", "gaussian")]),
    Table("laz", "laz", "cpu", XEON, "file, M points/s", [Column("1 thread", threads=1), Column("2 threads", threads=2)],
          list(laz_rows()), more=["LASzip 3.5, 1 thread"]),
    Table("read", "read", "cpu", EPYC, "what is read",
          [Column("M points a second of a core", "{}, core", threads=1),
           Column("time of LAZ alone", "{} by laz, core", threads=1)],
          [("E57, floats", "e57 floats"), ("E57, 21 packed fields", "e57 packed"), ("LAZ, format 7", "laz"),
           ("LAZ, `--where` of four attributes", "where"), ("LAZ, `--where true`", "where all"),
           ("LAZ, UTM to the next zone", "crs utm"), ("LAZ, UTM to LAEA, by PROJ", "crs proj"),
           ("LAS, UTM to the next zone", "las crs utm"), ("LAS, UTM to LAEA, by PROJ", "las crs proj")]),
    Table("order-cpu", "order", "cpu", EPYC, "step", [Column("1 thread", threads=1), Column("2 threads", threads=2)],
          [("sort of uniform 63-bit codes, M pairs/s", "sort uniform 63-bit"),
           ("sort of the codes of a city, M pairs/s", "sort city"),
           ("codes of the same city, in memory, M points/s", "codes of a city")]),
    gpu("order", "order-gpu", "step, 100 M", [Column("M/s")],
        [("sort of uniform codes", "sort uniform 63-bit"), ("sort of the codes of a city", "sort city"),
         ("codes of a city", "codes of a city")]),
    Table("knn-cpu", "knn", "cpu", XEON, "cloud, 1 thread",
          [Column("index, ms", "{}, build", median, threads=1),
           Column("search, µs per query", "{}, search", microseconds_a_point, threads=1),
           Column("2 threads", "{}, search", microseconds_a_point, threads=2)],
          [("uniform, k = 10", "uniform, file order, k = 10", "2.3, index 208 ms"),
           ("torus, k = 10", "torus, file order, k = 10", "2.1"),
           ("clusters, k = 10", "clusters, file order, k = 10", "3.1"),
           ("uniform, k = 64", "uniform, file order, k = 64", "–"),
           ("uniform in Morton order, k = 10", "uniform, Morton order, k = 10", "0.87"),
           ("torus in Morton order, k = 10", "torus, Morton order, k = 10", "0.65"),
           ("clusters in Morton order, k = 10", "clusters, Morton order, k = 10", "1.0")],
          more=["nanoflann, µs per query"]),
    gpu("knn", "knn-gpu", "cloud, ms",
        [Column("index", "{}, build", median), Column("search", "{}, search", median), Column("both", "{}, both"),
         Column("answer on the host", "{}, fetched", median)],
        [("torus 424,000, k = 10", "torus, file order, k = 10", "1.97", "0.33"),
         ("uniform 1 M, k = 10", "uniform, file order, k = 10", "4.06", "1.41"),
         ("clusters 1 M, k = 10", "clusters, file order, k = 10", "8.0", "1.85"),
         ("uniform 1 M, k = 32", "uniform, file order, k = 32", "–", "–"),
         ("uniform 1 M, k = 64", "uniform, file order, k = 64", "10.5", "9.6"),
         ("uniform 1 M, k = 100", "uniform, file order, k = 100", "–", "–"),
         ("uniform 1 M, k = 200", "uniform, file order, k = 200", "–", "–"),
         ("uniform 100,000, k = 1000", "uniform, file order, k = 1000", "–", "–"),
         ("9 and 15,000 points, k = 9", "9 and 15,000, file order, k = 9", "–", "–")],
        more=["best peer, both", "best peer, search"]),
    gpu("knn", "knn-gpu-10m", "cloud, ms",
        [Column("index", "{}, build", median, 10 * M), Column("search", "{}, search", median, 10 * M),
         Column("both", "{}, both", spread, 10 * M), Column("answer on the host", "{}, fetched", median, 10 * M)],
        [("uniform 10 M, k = 10", "uniform, file order, k = 10", "26.3", "14.7")],
        more=["best peer, both", "best peer, search"]),
    gpu("knn", "knn-shapes", "cloud of 1 M, ms",
        [Column(f"k = {k}", "{}, file order, k = %d, both" % k, median, M, last=True, ratio=True)
         for k in (1, 10, 32, 100)], SHAPES),
    gpu("knn", "knn-shapes-4m", "cloud of 4 M, ms",
        [Column(f"k = {k}", "{}, file order, k = %d, both" % k, median, 4 * M, last=True, ratio=True)
         for k in (1, 10, 32, 100)],
        ["uniform", "room", "room, one point at 1e9", "clusters of nine decades", "two scales, one point at 1e5",
         "lattice", "integers 0 to 40"]),
    gpu("dynamic", "dynamic", "torus of 424,000 points that move, ms",
        [Column("index", "rebuild"), Column("search", "search"), Column("frame", "frame")], [("each frame", "")]),
    gpu("shifted", "shifted", "cloud, thousand queries/ms",
        [Column("shifted, spheres", "clouds, {}, spheres, 2,000,000 points, k = 64", thousands_in_a_millisecond),
         Column("c = 4", "clouds, {}, c = 4, 2,000,000 points, k = 64", thousands_in_a_millisecond),
         Column("c = 4, buckets", "clouds, {}, c = 4, buckets, 2,000,000 points, k = 64", thousands_in_a_millisecond),
         Column("exact, spheres", "clouds, {}, spheres, exact, grid, 2,000,000 points, k = 64",
                thousands_in_a_millisecond),
         Column("exact, c = 4", "clouds, {}, c = 4, exact, grid, 2,000,000 points, k = 64",
                thousands_in_a_millisecond)],
        [("uniform, random normals", "uniform"), "clusters", "torus", "box"]),
    gpu("normals", "normals-gpu", "cloud, ms",
        [Column("index", "{}, k = 16, build", median), Column("estimate", "{}, k = 16, estimate", median),
         Column("both", "{}, k = 16, both"), Column("answer on the host", "{}, k = 16, fetched", median)],
        [("uniform 1 M", "uniform"), ("torus 1 M", "torus"), ("clusters 1 M", "clusters"),
         ("uniform 10 M", "uniform 10M"), ("torus 10 M", "torus 10M"), ("clusters 10 M", "clusters 10M")]),
    Table("planes-cpu", "planes", "cpu", XEON, "case, 2 threads", [Column("ms", show=thousandth)],
          [("all planes of a room of 100,000 points", "room 100k"), ("of a room of 1 M", "room 1M"),
           ("of a hard room of 100,000", "hard room 100k"), ("votes of 100,000 points", "votes of 100,000"),
           ("votes of 1 M", "votes of 1,000,000")], without=["e429dd2"]),
    gpu("planes", "planes-votes", "votes of 32,400 directions",
        [Column("ms", show=thousandth), Column("T votes/s", show=tera_votes)],
        [("1 point", "votes of 1", "–"), ("1,000", "votes of 1,000", "–"), ("10,000", "votes of 10,000", "–"),
         ("100,000", "votes of 100,000", "700"), ("1 M", "votes of 1,000,000", "6,800"),
         ("23 M", "votes of 23,000,000", "152,000")], more=["slides of 2016, ms"]),
    gpu("planes", "planes-rooms", "all planes", [Column("ms", show=thousandth)],
        [("room of 100,000 points", "room 100k"), ("room of 1 M", "room 1M"),
         ("hard room of 100,000", "hard room 100k")], before=True),
    gpu("render", "render-points", "100 M points of a city, 1080p",
        [Column("ms"), Column("G points/s", show=points_in_g_a_second)],
        [("points far", "points far, 1920 x 1080", "325"), ("points overview", "points overview, 1920 x 1080", "287"),
         ("points street", "points street, 1920 x 1080", "408"),
         ("points close-up", "points close-up, 1920 x 1080", "556"),
         ("average far", "average far, 1920 x 1080", "128"),
         ("average overview", "average overview, 1920 x 1080", "87"),
         ("average street", "average street, 1920 x 1080", "203"),
         ("average close-up", "average close-up, 1920 x 1080", "282")], more=["published, G points/s"]),
    gpu("render", "render-surfaces", "surfaces", [Column("ms")],
        [("36,000 points, 1024²", "surface 36k, 1024 x 1024", "3.76"),
         ("the same, close", "surface 36k close, 1024 x 1024", "3.76"),
         ("424,000 points, 1024²", "surface 424k, 1024 x 1024", "14.4"),
         ("the same, close", "surface 424k close, 1024 x 1024", "–"),
         ("14 M points, 1080p", "surface 14M, 1920 x 1080", "–"),
         ("moving 424,000, 720p, index and all", "moving 424k, 1280 x 720", "55.6"),
         ("the same, points on the GPU", "moving 424k on GPU, 1280 x 720", "55.6"),
         ("10 M points, LAS file to PNG", "file las", "–"), ("10 M points, LAZ file to PNG", "file laz", "–")],
        more=["published, ms"], before=True),
    gpu("photon", "photon", "case", [Column("ms")],
        [("cornell, 1 M photons emitted", "emit cornell"), ("ground of 1 M triangles, 1 M photons", "emit ground"),
         ("ring, 1 M photons", "emit ring"), ("cornell, 1024², `map`, k = 256, one sample a pixel", "picture map"),
         ("cornell, 1024², `full`, k = 128, 64 rays", "picture full"),
         ("cornell, 1024², `path`, 4 x 4 samples", "picture path")], before=True),
    gpu("photon", "photon-gather", "1 M queries, 1 M photons of cornell",
        [Column("ms"), Column("queries/ms", show=in_a_millisecond)],
        [("k = 64, sphere", "gather sphere"), ("k = 64, c = 4", "gather ellipsoid"),
         ("the same, 2 M of 2 M", "gather 2M"), ("the same, 128 queries of 2 M photons", "gather 128"),
         ("k = 8, c = 4", "gather k 8"), ("k = 32, c = 4", "gather k 32"), ("k = 128, c = 4", "gather k 128"),
         ("k = 256, c = 4", "gather k 256"), ("k = 512, c = 4", "gather k 512")], before=True),
]


# ---- from the history to a table

def read_history():
    rows = []
    for number, line in enumerate(HISTORY.read_text(encoding="utf-8").splitlines(), 1):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise SystemExit(f"{HISTORY}:{number}: {error}") from error
    return rows


def read_groups(table, rows):
    """The rows of the table's bench by commit, the newest last."""
    groups = {}
    for row in rows:
        if (row["bench"], row["backend"]) == (table.bench, table.backend) and row["machine"].startswith(table.machine):
            groups.setdefault(row["commit"][:7], []).append(row)
    groups = {commit: group for commit, group in groups.items() if commit not in table.without}
    return sorted(groups.items(), key=lambda item: max(row["date"] for row in item[1]))


def count_cells(table, group):
    return sum(column.find(group, row[1]) is not None for row in table.rows for column in table.columns)


def machine_of(group):
    name = group[-1]["machine"].replace("(R)", "").replace(", compute capability 9.0", "")
    return name.replace(" Processor", "")


def times(row, first):
    """How much longer it takes, of times and of rates."""
    return first["median"] / row["median"] if row["unit"].endswith("/s") else row["median"] / first["median"]


def make(table, rows):
    groups = read_groups(table, rows)
    most = max((count_cells(table, group) for _, group in groups), default=0)
    if most == 0:
        raise SystemExit(f"{HISTORY}: nothing of the table {table.name}")
    at = max(i for i, (_, group) in enumerate(groups) if count_cells(table, group) == most)
    commit, group = groups[at]
    earlier = [item for item in groups[:at] if table.before and 2 * count_cells(table, item[1]) > most][-1:]
    titles = [table.head] + [column.title for column in table.columns] + table.more
    titles += [f"before, {earlier[0][0]}"] if earlier else []
    lines = [f"*{commit}, {max(row['date'] for row in group)[:10]}, {machine_of(group)}*", "",
             "| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    for label, name, *more in table.rows:
        cells = [label]
        for column in table.columns:
            row, first = column.find(group, name), column.find(group, table.rows[0][1])
            cells.append("–" if row is None else column.show(row))
            if row is not None and column.ratio:
                cells[-1] += f" ({times(row, first):.2f})"
        cells += more
        if earlier:
            row = table.columns[0].find(earlier[0][1], name)
            cells.append("–" if row is None else table.columns[0].show(row))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    rows = read_history()
    tables = {table.name: table for table in TABLES}
    old = PAGE.read_text(encoding="utf-8")
    marked = re.findall(r"<!-- table (\S+) -->", old)
    if sorted(marked) != sorted(tables):
        raise SystemExit(f"{PAGE}: has not each table once: {sorted(set(marked) ^ set(tables)) or marked}")
    new = re.sub(r"<!-- table (\S+) -->\n.*?<!-- end -->",
                 lambda m: f"<!-- table {m[1]} -->\n{make(tables[m[1]], rows)}\n<!-- end -->", old, flags=re.S)
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(new, encoding="utf-8")
    elif sys.argv[1:]:
        raise SystemExit(__doc__)
    elif new != old:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "docs/speed.md", "made"))
        raise SystemExit("docs/speed.md is not what the history makes: bench/speed_tables.py --write")
    else:
        print(f"{len(TABLES)} tables are what the history makes")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What layers.sh runs. There is no list of exceptions."""
import pathlib
import re
import subprocess
import sys

# From the ground up. A folder includes folders of lower layers and files of its own; not those of its own layer.
LAYERS = [
    ["math"],
    ["core"],
    ["device"],
    ["order", "shapes"],
    ["gen", "knn", "lod", "where", "measure"],
    ["normals", "planes"],
    ["render"],
    ["photon"],
    ["io"],
    ["parts"],
    ["(roof)"],  # src/backends.c: the one file that names the table of every algorithm
]
# What other folders include of a folder, where that is not any header: each says at its top what it promises.
DOORS = {"knn": {"knn/knn.h", "knn/knn_ops.h", "knn/knn_visit.h", "knn/cuda/knn_visit_cuda.cuh"}}
RANK = {folder: rank for rank, layer in enumerate(LAYERS) for folder in layer}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
SOURCES = re.compile(r"\.(c|h|cu|cuh|cpp)$")


def includes_of(folder):
    """File → what it includes, both relative to the folder."""
    files = sorted(f for f in folder.rglob("*") if SOURCES.search(f.name))
    return {str(f.relative_to(folder)): INCLUDE.findall(f.read_text()) for f in files}


def folder_of(file):
    return file.split("/")[0] if "/" in file else "(roof)"


def module_of(file):
    """A header and the sources of its name are one module."""
    return SOURCES.sub("", file)


def reached(file, includes):
    """All that a file includes, directly or through others."""
    found, rest = set(), [file]
    while rest:
        for name in includes.get(rest.pop(), ()):
            if name in includes and name not in found:
                found.add(name)
                rest.append(name)
    return found


def circles(edges):
    """Sets of nodes of which each reaches the others (Tarjan 1972), without recursion."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(edges):
        if root in index:
            continue
        work = [(root, iter(sorted(edges[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(edges.get(other, ())))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    circle = []
                    while not circle or circle[-1] != node:
                        circle.append(stack.pop())
                        on_stack.discard(circle[-1])
                    if len(circle) > 1:
                        found.append(sorted(circle))
    return found


def check_includes(sources):
    library, faults = includes_of(sources / "src"), []
    modules = {}
    for file, names in library.items():
        modules.setdefault(module_of(file), set())
        for name in names:
            if name.startswith("mote/"):
                continue
            if name not in library:
                faults.append(f"src/{file} includes {name}, which is not the library's")
                continue
            mine, others = folder_of(file), folder_of(name)
            if mine not in RANK:
                faults.append(f"src/{file}: its folder has no layer")
            elif mine != others and RANK[others] >= RANK[mine]:
                faults.append(f"src/{file} includes {name}, which is not below it")
            elif mine != others and name not in DOORS.get(others, {name}):
                faults.append(f"src/{file} includes {name}, which is not for other folders")
            if module_of(name) != module_of(file):
                modules[module_of(file)].add(module_of(name))
    for file in (f for f in library if f.endswith(".c") and folder_of(f) != "(roof)" and not f.startswith("device/cuda/")):
        for name in sorted(reached(file, library)):
            if name.startswith("device/cuda/"):
                faults.append(f"src/{file} includes {name}, directly or not: plain C calls the table of its device")
    for circle in circles(modules):
        faults.append("these include each other: " + ", ".join(circle))
    for file, names in includes_of(sources / "cli").items():
        for name in names:
            if not name.startswith("mote/") and not (sources / "cli" / name).is_file():
                faults.append(f"cli/{file} includes {name}: the command uses public headers and its own")
    names = {}
    for file in library:
        other = names.setdefault(pathlib.PurePath(file).name, file)
        if other != file:
            faults.append(f"src/{file} has the name of src/{other}")
    return len(library), faults


def check_objects(build):
    """The same of calls: no object file uses one that uses it, directly or through others."""
    folder = build / "CMakeFiles/mote_objects.dir/src"
    sources = pathlib.Path(sys.argv[1]) / "src"
    objects = sorted(o for o in folder.rglob("*.o") if (sources / o.relative_to(folder)).with_suffix("").is_file())
    if len(objects) < 100:
        return len(objects), [f"{folder}: only {len(objects)} object files"]
    defined, used = {}, {}
    for file in objects:
        name = str(file.relative_to(folder))
        used[name] = set()
        for line in subprocess.run(["nm", file], capture_output=True, text=True, check=True).stdout.splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "TDBRC":
                defined[words[2]] = name
            elif len(words) == 2 and words[0] == "U":
                used[name].add(words[1])
    edges = {name: {defined[s] for s in symbols if s in defined} - {name} for name, symbols in used.items()}
    return len(objects), ["these call each other: " + ", ".join(circle) for circle in circles(edges)]


def check_roof(sources):
    """The tables of algorithms are named where they are, in their header, and in the roof."""
    text = {f: f.read_text() for f in (sources / "src").rglob("*") if SOURCES.search(f.name)}
    tables = {t for code in text.values() for t in re.findall(r"extern const \w+_ops (mote_\w+_(?:cpu|on_cuda));", code)}
    faults = [] if len(tables) > 10 else [f"only {len(tables)} tables were found"]
    for table in sorted(tables):
        mine = f"{table.split('_')[1]}"
        for file, code in text.items():
            place = str(file.relative_to(sources / "src"))
            if table in code and place != "backends.c" and f"{mine}/" not in place and folder_of(place) != mine:
                faults.append(f"src/{place} names {table}: only its own folder and backends.c do")
    return len(tables), faults


def main():
    sources, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    results = [check_includes(sources), check_objects(build), check_roof(sources)]
    for fault in (f for _, faults in results for f in faults):
        print(fault)
    print(f"{results[0][0]} files, {results[1][0]} objects, {results[2][0]} tables")
    return any(faults for _, faults in results)


sys.exit(main())

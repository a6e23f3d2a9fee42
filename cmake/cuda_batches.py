"""Puts several .cu in one, so that nvcc reads the headers of CUDA once and not for each: most of the time of a small one.

  cuda_batches.py FOLDER SOURCE...

Writes FOLDER/cuda_batch_N.cu, which include the sources, and prints their paths. Sources that give one name to two
things of their own come into different batches; what they #define ends with them.
"""
import pathlib
import re
import sys

BATCH_MAX = 10  # so that there are enough to share among cores
NAMES = [
    re.compile(r"^(?:static|template|inline|constexpr|__\w+__)[^;={]*?\b([a-z]\w*)\(", re.M),  # functions
    re.compile(r"^(?:static|constexpr|__\w+__)[^;(]*?\b(\w+)(?:\[\w*\])* ?=", re.M),  # variables
    re.compile(r"^(?:typedef )?(?:struct|union|enum|class) (\w+)", re.M),
    re.compile(r"^\} (\w+);", re.M),
    re.compile(r"^(?:typedef|using) [^{;]*?\b(\w+)(?:;| =)", re.M),
]


def own_names(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"__launch_bounds__\([^)]*\)|__align__\([^)]*\)", "", text)
    return {name for pattern in NAMES for name in pattern.findall(text)}


def batches_of(sources):
    batches = []
    for source in sources:
        text = pathlib.Path(source).read_text()
        names, macros = own_names(text), re.findall(r"^#define (\w+)", text, re.M)
        free = (b for b in batches if len(b["sources"]) < BATCH_MAX and not names & b["names"])
        batch = next(free, None)
        if batch is None:
            batch = {"sources": [], "names": set()}
            batches.append(batch)
        batch["sources"].append((source, macros))
        batch["names"] |= names
    return batches


def main(folder, sources):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for number, batch in enumerate(batches_of(sorted(sources))):
        lines = []
        for source, macros in batch["sources"]:
            lines += [f'#include "{source}"'] + [f"#undef {macro}" for macro in macros]
        file, text = folder / f"cuda_batch_{number}.cu", "\n".join(lines) + "\n"
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
        print(file)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

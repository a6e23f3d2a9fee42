#!/usr/bin/env python3
"""Makes the site of mote's documentation: make docs.

    build.py BUILD OUT

BUILD has mote and libmote.so; the site comes to OUT/html, its sources to OUT/source. The pages of docs/ are taken as
they are. Made here: a page per command (of mote help), the tutorial with what its commands print and draw, the C API
(of include/mote, by Doxygen and Breathe), the Python API (of the docstrings), and the plots of bench/results.
"""
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import headers
import pages
import plots
import tutorial

HERE = Path(__file__).resolve().parent
TREE = HERE.parent.parent
MODULES = {"sphinx": "python3-sphinx", "myst_parser": "python3-myst-parser", "breathe": "python3-breathe",
           "furo": "furo", "numpy": "python3-numpy"}


def missing():
    """Packages of Debian that this Python, or the machine, lacks."""
    lacking = [package for module, package in MODULES.items() if importlib.util.find_spec(module) is None]
    return lacking + ([] if shutil.which("doxygen") else ["doxygen"])


def make_sources(build, source):
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    environment = {**os.environ, "PATH": f"{build}:{os.environ['PATH']}"}
    pages.copy(TREE, source)
    pages.make_commands(build / "mote", source / "commands")
    headers.make_pages(TREE, source)
    plots.make(TREE / "bench/results/history.jsonl", source / "plots")
    for page in ("tutorial.md", "determinism.md"):
        tutorial.run(source / page, environment)


def main():
    system = "/usr/bin/python3"  # has what Debian installs, whichever Python comes first
    if missing() and os.path.exists(system) and not os.path.samefile(system, sys.executable):
        os.execv(system, [system, *sys.argv])
    if missing():
        print("docs: missing, in Debian: " + " ".join(missing()))
        return 77
    build, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    source = out / "source"
    make_sources(build, source)
    environment = {**os.environ, "MOTE_LIBRARY": str(build / "libmote.so"), "MOTE_XML": str(out / "xml"),
                   "PYTHONPATH": f"{TREE / 'python'}", "PYTHONDONTWRITEBYTECODE": "1"}
    headers.run_doxygen(TREE, out)
    shutil.rmtree(out / "html", ignore_errors=True)
    subprocess.run([sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-c", str(HERE),
                    "-d", str(out / "doctrees"), str(source), str(out / "html")], env=environment, check=True)
    print(f"{out / 'html' / 'index.html'}: {len(list((out / 'html').rglob('*.html')))} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())

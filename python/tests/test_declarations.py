"""The declarations are those of the headers, and the package's structs are the compiler's."""
import csv
import ctypes
import os
import subprocess
import sys

import pytest

import mote
from mote import _declarations as declared

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCRIPT = os.path.join(ROOT, "python", "declarations.py")
needs_sources = pytest.mark.skipif(not os.path.exists(SCRIPT), reason="the sources are not there")


@needs_sources
def test_declarations_are_those_of_the_headers():
    subprocess.run([sys.executable, SCRIPT, "--check"], check=True)


@needs_sources
def test_sizes_and_places_are_the_compilers():
    fields = 0
    with open(os.path.join(ROOT, "tests", "abi", "abi.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            struct = getattr(declared, row["struct"])
            if not row["field"]:
                assert ctypes.sizeof(struct) == int(row["bytes"]), row
                continue
            field = getattr(struct, row["field"])
            assert (field.offset, field.size) == (int(row["offset"]), int(row["bytes"])), row
            fields += 1
    assert fields > 300


@needs_sources
@pytest.mark.parametrize("text", [
    "typedef union mote_x { int a; } mote_x;", "typedef struct mote_x { long a; } mote_x;", "MOTE_API int f(int a) { }",
    "int g(void);", "#pragma once", "#define MOTE_X (sizeof(int))", "typedef struct mote_x { int a : 3; } mote_x;",
    "typedef enum mote_e { MOTE_A = 1 << 2 } mote_e;"])
def test_what_the_parser_does_not_know_is_an_error(tmp_path, text):
    (tmp_path / "x.h").write_text(text + "\n")
    done = subprocess.run([sys.executable, SCRIPT, "--check", str(tmp_path)], stderr=subprocess.PIPE)
    assert done.returncode == 1 and b"x.h:1: " in done.stderr


def test_versions():
    assert mote.__version__.split(".")[0] == str(declared.MOTE_VERSION_MAJOR)


def test_a_library_that_is_not_there(python):
    code, _, errors = python("import mote", MOTE_LIBRARY="/nowhere/libmote.so")
    assert code == 1 and "ImportError: libmote is not there" in errors and "/nowhere/libmote.so" in errors


def test_every_public_name_is_documented():
    for name in mote.__all__:
        thing = getattr(mote, name)
        if callable(thing):
            assert thing.__doc__, name
    assert "k = 10" in mote.knn.__doc__ and "nearest points" not in mote.read.__doc__

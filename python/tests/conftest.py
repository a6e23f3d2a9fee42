"""What all tests of the package share. MOTE_LIBRARY names libmote.so, MOTE_COMMAND the command: see
tests/programs/python.sh."""
import json
import os
import subprocess
import sys

import pytest

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
if not os.environ.get("MOTE_INSTALLED"):  # of a wheel: what is installed is tried
    sys.path.insert(0, PACKAGE)


@pytest.fixture(scope="session")
def command():
    """Runs the command; gives what it prints, or with json=True what it says as JSON."""
    program = os.environ.get("MOTE_COMMAND")
    if not program:
        pytest.skip("MOTE_COMMAND does not name the command")

    def run(*arguments, json_output=True):
        extra = ["--json", "--hash", "--quiet"] if json_output else ["--quiet"]
        text = subprocess.run([program, *map(str, arguments), *extra], check=True, stdout=subprocess.PIPE).stdout
        return json.loads(text) if json_output else text.decode()
    return run


@pytest.fixture
def python(tmp_path):
    """Runs a program in a Python of its own; gives its exit code, output and errors."""
    def run(text, timeout=60, **environment):
        path = os.environ.get("PYTHONPATH", "")
        if not os.environ.get("MOTE_INSTALLED"):
            path = PACKAGE + os.pathsep + path
        done = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, timeout=timeout, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path, **environment})
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    return run

#!/usr/bin/env bash
# The Python package over the library of this build: python/tests. Skipped where no Python has numpy and pytest.
#   python.sh SOURCES BUILD
set -euo pipefail
sources=$(realpath "$1")
build=$(realpath "$2")
python=
for candidate in "${MOTE_PYTHON:-python3}" /usr/bin/python3; do
    command -v "$candidate" >/dev/null || continue
    if "$candidate" -c 'import numpy, pytest' 2>/dev/null; then python=$candidate && break; fi
done
[[ $python ]] || { echo "skipped: no python3 has numpy and pytest (Debian: python3-numpy python3-pytest)"; exit 77; }
export MOTE_LIBRARY=$build/libmote.so MOTE_COMMAND=$build/mote PYTHONDONTWRITEBYTECODE=1
export OMP_WAIT_POLICY=passive
cd "$sources/python"
"$python" -m pytest -q -p no:cacheprovider tests "${@:3}"

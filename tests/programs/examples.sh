#!/usr/bin/env bash
# The programs and notebooks of examples/ and python/examples/, built and run against an installed mote.
# device.c is built everywhere, and says that it is skipped where no GPU answers.
#   examples.sh SOURCES BUILD
set -euo pipefail
sources=$(realpath "$1")
build=$(realpath "$2")
for tool in cc pkg-config cmake; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not there"; exit 77; }
done
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-examples-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() { echo "$*"; exit 1; }
cmake --install "$build" --prefix "$scratch/prefix" >install.log 2>&1 || { cat install.log; exit 1; }
lib=$(dirname "$(find "$scratch/prefix" -name libmote.a)")
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib PATH=$scratch/prefix/bin:$PATH
read -ra flags <<<"$(pkg-config --cflags --libs mote)"

# ---- C
for source in "$sources"/examples/*.c; do
    cc -std=c17 -O1 -Wall -Wextra -Werror "$source" "${flags[@]}" -lm -o "$(basename "$source" .c)"
done
[[ $(./own_points bowl.ply) == "10000 points; in the middle the normal is"*"1.00" ]] || fail "own_points.c says something else"
[[ $(mote info bowl.ply) == *"10,000"*normal_x* ]] || fail "own_points.c wrote something else"
code=0
./device >device.log || code=$?
[[ $code == 0 || $code == 77 ]] || fail "device.c: exit code $code: $(cat device.log)"
cat device.log
if ./cancel whole.mote 2 >whole.log 2>steps.log; then
    mote gen city city.las -n 200k -q && mote lod city.las -o expected.mote -q
    cmp whole.mote/octree.bin expected.mote/octree.bin || fail "cancel.c wrote other bytes"
    grep -q "%" steps.log || fail "cancel.c saw no steps"
else
    grep -q jansson steps.log || fail "cancel.c: $(cat steps.log)" # a build without it writes no folder
fi
./cancel half.mote 0.5 >half.log 2>/dev/null
[[ $(cat half.log) == "given up: "* ]] || fail "cancel.c was not given up: $(cat half.log)"
compgen -G "half.mote*" >/dev/null && fail "cancel.c left something behind"

# ---- Python: the package, with the installed library
python=
for candidate in "${MOTE_PYTHON:-python3}" /usr/bin/python3; do
    if "$candidate" -c 'import numpy' 2>/dev/null; then python=$candidate && break; fi
done
[[ $python ]] || { echo "the C programs run; those for Python do not: no python3 has numpy (Debian: python3-numpy)"; exit 0; }
export PYTHONPATH=$sources/python MOTE_LIBRARY=$lib/libmote.so PYTHONDONTWRITEBYTECODE=1
mote gen room room.ply -n 20k -q
mote gen city scan.laz -n 20k -q
"$python" "$sources/python/examples/neighbours.py" | grep "points"
"$python" "$sources/python/examples/tiles.py" scan.laz . | grep "points of ground"
"$python" "$sources/python/examples/picture.py" room.ply room.png
[[ $(head -c 4 room.png | tail -c 3) == PNG ]] || fail "picture.py made no picture"
"$python" "$sources/python/examples/planes_to_geojson.py" room.ply planes.geojson | grep "planes"
"$python" "$sources/python/examples/tensors.py"

# ---- notebooks
if ! "$python" -c 'import nbclient, ipykernel' 2>/dev/null; then
    echo "the programs run; notebooks do not: Debian's python3-nbclient and python3-ipykernel are not there"
    exit 0
fi
for notebook in "$sources"/examples/*.ipynb; do
    PYDEVD_DISABLE_FILE_VALIDATION=1 IPYTHONDIR=$scratch/ipython "$python" "$sources/tests/programs/notebook.py" "$notebook"
done

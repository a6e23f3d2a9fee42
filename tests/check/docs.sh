#!/usr/bin/env bash
# The site of the documentation builds without a warning, no link in it is dead, and every page is reached from the first
# one.
#   docs.sh SOURCES BUILD
set -euo pipefail
sources=$(realpath "$1")
build=$(realpath "$2")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-docs-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
[[ -e $build/libmote.so && -e $build/mote ]] || { echo "skipped: $build has no libmote.so or no mote"; exit 77; }
code=0
PYTHONDONTWRITEBYTECODE=1 "${MOTE_PYTHON:-python3}" "$sources/docs/site/build.py" "$build" "$scratch" >"$scratch/log" 2>&1 ||
    code=$?
tail -n 40 "$scratch/log"
((code != 77)) || { echo "skipped: see above"; exit 77; }
((code == 0)) || exit 1
for page in index tutorial commands/mote-lod c/knn python_api formats/las speed; do
    [[ -s $scratch/html/$page.html ]] || { echo "there is no page $page"; exit 1; }
done
# What notes of the project stay out, stays out.
! compgen -G "$scratch/html/decisions*" >/dev/null || { echo "decisions are on the site"; exit 1; }
python3 "$sources/tests/check/docs_links.py" "$scratch/html"

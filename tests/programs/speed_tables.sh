#!/usr/bin/env bash
# The tables of docs/speed.md are those that bench/speed_tables.py makes of the history, and a figure that somebody
# changes there by hand is found.
#   speed_tables.sh SOURCES BUILD
set -euo pipefail
sources=$(realpath "$1")
command -v python3 >/dev/null || { echo "skipped: python3 is not there"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
"$sources/bench/speed_tables.py"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-speed-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/bench/results" "$scratch/docs"
cp "$sources/bench/speed_tables.py" "$scratch/bench/"
cp "$sources/bench/results/history.jsonl" "$scratch/bench/results/"
tables=$scratch/bench/speed_tables.py page=$scratch/docs/speed.md
fail() { echo "$*" >&2; exit 1; }
sed '0,/^| random, additive | [0-9.]*/s//| random, additive | 99.9/' "$sources/docs/speed.md" >"$page"
"$tables" >"$scratch/log" 2>&1 && fail "a figure that was changed by hand is not found"
grep -q "^-| random, additive | 99.9" "$scratch/log" || fail "it does not say which: $(cat "$scratch/log")"
"$tables" --write
cmp "$page" "$sources/docs/speed.md" || fail "--write does not make the page anew"
sed '/^<!-- table lod-cpu -->/d' "$sources/docs/speed.md" >"$page"
"$tables" >"$scratch/log" 2>&1 && fail "a table that is gone is not found"
grep -q "lod-cpu" "$scratch/log" || fail "it does not say which: $(cat "$scratch/log")"
echo '{"commit":"0000000","bench":"order","backend":"cpu"' >>"$scratch/bench/results/history.jsonl"
cp "$sources/docs/speed.md" "$page"
"$tables" >"$scratch/log" 2>&1 && fail "a line that is no JSON is not found"
grep -q "history.jsonl:$(wc -l <"$scratch/bench/results/history.jsonl"):" "$scratch/log" || fail "no place: $(cat "$scratch/log")"
echo "changed figures, missing tables and broken lines are found"

#!/usr/bin/env bash
# What programs that were compiled before rely on, against the last release: no function is gone, and no parameter, result,
# struct or enumerator that it reaches has changed; new ones may come. abidiff compares libraries that are made of the
# headers alone, so that types are known whatever flags the library was built with; symbols.sh looks after the names that
# the library really has.
#   abi_diff.sh SOURCES BUILD
# The base is the last tag v*, before the first one the commit that tests/abi/base names: the one that docs/api_promise.md
# came with. A release moves it by its tag; by hand it moves only where a break is meant, and the changelog says so.
set -euo pipefail
sources=$(realpath "$1")
for tool in abidiff git cc python3; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not there (Debian: abigail-tools)"; exit 77; }
done
base=$(git -C "$sources" describe --tags --match 'v*' --abbrev=0 2>/dev/null || cat "$sources/tests/abi/base")
git -C "$sources" cat-file -e "$base^{commit}" 2>/dev/null || { echo "skipped: git does not have $base here"; exit 77; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-abi-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# library HEADERS NAME.so: every function that the headers declare, with an empty body
library() {
    echo '#include <mote/mote.h>' | cc -std=c17 -E -P -I"$1" - | python3 -c '
import re, sys
text = sys.stdin.read()
mark = r"__attribute__\s*\(\(visibility\(\"default\"\)\)\)"
text, count = re.subn(mark + r"([^;{}]*\));", r"\1 { __builtin_trap(); }", text)
assert count > 100, f"only {count} functions found in the headers"
print(text)' >"$2.c"
    cc -std=c17 -g -O0 -w -shared -fPIC "$2.c" -o "$2"
}

mkdir base
git -C "$sources" archive "$base" include | tar -x -C base
library base/include base.so
library "$sources/include" now.so
code=0
abidiff --no-added-syms base.so now.so >differences || code=$?
((code == 0 || code == 4)) || grep -q Removed differences || { cat differences; exit 1; }
# New fields and enumerators may come, and a field may take the place of reserved ones, which are then fewer and stand
# behind it. All that is a change of another kind is a break.
if sed "/type of '[a-z0-9_]* reserved\\[/,/and offset changed/d" differences |
    grep -E '[1-9][0-9]* Removed|enumerator (change|deletion)|member deletion|size changed from|name changed from|offset changed'; then
    cat differences
    echo "programs that were compiled against $base no longer run: see the head of tests/programs/abi_diff.sh"
    exit 1
fi
echo "$(nm -D --defined-only base.so | grep -c ' T mote_') functions are as they were in $base"

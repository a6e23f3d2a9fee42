#!/usr/bin/env bash
# The page in a headless browser: what a person does by hand, step by step. All take minutes, most of them of drawing in
# software. So where page, server and checks are those of which all passed (hand_passed has their checksum), a quarter is
# done, in turn: each commit does another one (MOTE_TEST_SEED).
#   by_hand.sh SOURCES BUILD            all where something changed, else a quarter
#   by_hand.sh SOURCES BUILD --renew    all; if they pass, hand_passed knows of it. Before a commit
set -euo pipefail
[[ -e tests/browser/by_hand.mjs && -e viewer/package.json ]] || { echo "skipped: there is no viewer here"; exit 77; }
command -v node >/dev/null || { echo "skipped: node is not there"; exit 77; }
command -v chromium >/dev/null || { echo "skipped: chromium is not there"; exit 77; }
passed=tests/check/hand_passed
share=4
flock "$2" make --no-print-directory viewer # another check may make it, too
# What the page is made of, as the Makefile lists it, what serves it, and the checks with what they use.
key=$(find viewer src/io/laz src/measure src/shapes cli/view cli/render/up_rule.* tests/browser tests/viewer -type f \
    -not -path 'viewer/node_modules/*' -not -path 'viewer/dist/*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum |
    sha256sum | cut -c1-20)
[[ ${3:-} == --renew ]] && unset MOTE_TEST_SEED
if [[ ${3:-} == --renew || $key != "$(cat $passed)" ]]; then share=1; fi
node tests/browser/by_hand.mjs --mote "$2/mote" --out "$2/browser" --share $share
[[ ${3:-} != --renew ]] || echo "$key" >$passed
echo "1 of $share of what a person does; page, server and checks have the checksum $key"

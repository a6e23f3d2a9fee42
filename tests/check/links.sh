#!/usr/bin/env bash
# Every relative link and image of a page leads to something that is in the tree: a file or folder, and where the link
# names a heading (#…), to a heading of that page. Links inside code are not links. And every constant, function and
# source file that a page names is in the tree (docs_names.py).
set -euo pipefail

# links FILE: the targets, one a line; `code`, fenced blocks and addresses of the web are not looked at
links() {
    sed -e '/^ *```/,/^ *```/d' -e 's/`[^`]*`//g' "$1" |
        { grep -oE '\]\([^)]+\)|^\[[^]]+\]: +[^ ]+' || true; } |
        sed -E -e 's/^\]\(([^ )]*).*/\1/' -e 's/^\[[^]]+\]: +//' |
        { grep -vE '^(https?|mailto):' || true; }
}

# headings FILE: as links name them: small letters, no punctuation, - for a blank
headings() {
    sed -e '/^ *```/,/^ *```/d' "$1" | sed -nE 's/^#+ +//p' |
        LC_ALL=C.UTF-8 sed -E -e 's/.*/\L&/' -e 's/[^[:alnum:] _-]//g' -e 's/ /-/g'
}

count=0 broken=0
while IFS= read -r page; do
    while IFS= read -r target; do
        file=${target%%#*} heading=
        [[ $target == *'#'* ]] && heading=${target#*#}
        [[ -z $file ]] && path=$page || path=$(dirname "$page")/$file
        ((count += 1))
        if [[ ! -e $path ]]; then
            echo "$page: $target: there is no $path" >&2
            broken=1
        elif [[ -z $(git ls-files --cached --others --exclude-standard -- "$path") ]]; then
            echo "$page: $target: $path is not in the tree" >&2
            broken=1
        elif [[ $heading && $path == *.md ]] && ! headings "$path" | grep -qxF -- "$heading"; then
            echo "$page: $target: $path has no such heading" >&2
            broken=1
        fi
    done < <(links "$page")
done < <(git ls-files --cached --others --exclude-standard '*.md')
((count > 0)) || { echo "no page has a link" >&2; exit 1; }
((!broken)) || exit 1
echo "$count links lead somewhere"
python3 tests/check/docs_names.py

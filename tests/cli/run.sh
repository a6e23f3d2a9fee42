#!/usr/bin/env bash
# Runs one script of commands with their expected output and exit code.
#   run.sh MOTE SCRIPT.test
# A script consists of
#   $ COMMAND        run by bash in a fresh folder; "mote" is the binary under test
#   > MORE           a further line of the command
#   ? N              its exit code; without this line 0
#   TEXT             a line of output, standard error included
#   ~ REGEX          a line of output that matches wholly
#   ...              any number of lines
#   # COMMENT
# Exit code: 0 passed, 1 failed, 77 skipped (a command called "need" and it was not there).
set -uo pipefail

binary=$(realpath "$1")
script=$(realpath "$2")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/mote-cli-XXXXXX")
cleanup() {
    # The script may have mounted something, and made a control group.
    rmdir /sys/fs/cgroup/"${folder##*/}" /sys/fs/cgroup/memory/"${folder##*/}" 2>/dev/null
    grep -q " $folder/" /proc/mounts 2>/dev/null && umount "$folder"/* 2>/dev/null
    chmod -R u+rwx "$folder" 2>/dev/null
    rm -rf "$folder"
}
trap cleanup EXIT
cd "$folder" || exit 1

export MOTE_BINARY=$binary LC_ALL=C.UTF-8
export MOTE_SHARED_DATA=${MOTE_SHARED_DATA:-$here/../../../shared/data}
failures=0
commands=0

# matches LINE EXPECTED
matches() {
    if [[ $2 == "~ "* ]]; then
        [[ $1 =~ ^${2:2}$ ]]
    else
        [[ $1 == "$2" ]]
    fi
}

# Compares the arrays got and expected; "..." takes lines up to the first that matches what follows it.
output_matches() {
    local at=0 i=0
    while ((i < ${#expected[@]})); do
        if [[ ${expected[i]} == "..." ]]; then
            ((i += 1))
            ((i == ${#expected[@]})) && return 0
            while ((at < ${#got[@]})) && ! matches "${got[at]}" "${expected[i]}"; do ((at += 1)); done
        fi
        ((at < ${#got[@]})) && matches "${got[at]}" "${expected[i]}" || return 1
        ((at += 1, i += 1))
    done
    ((at == ${#got[@]}))
}

run_command() {
    [[ -n $command ]] || return 0
    local output code
    ((commands += 1))
    output=$(bash -c ". '$here/functions.sh'; $command" 2>&1 </dev/null)
    code=$?
    if ((code == 77)); then
        echo "skipped: $(basename "$script"): $output"
        exit 77
    fi
    got=()
    [[ -n $output ]] && mapfile -t got <<<"$output"
    while ((${#expected[@]} > 0)) && [[ -z ${expected[-1]} ]]; do unset 'expected[-1]'; done
    if ((code != wanted)) || ! output_matches; then
        ((failures += 1))
        printf '%s:%d: $ %s\n' "$(basename "$script")" "$line_number" "$command"
        ((code == wanted)) || printf '  exit code %d, expected %d\n' "$code" "$wanted"
        printf '  --- expected\n'
        ((${#expected[@]} == 0)) || printf '  %s\n' "${expected[@]}"
        printf '  --- got\n'
        ((${#got[@]} == 0)) || printf '  %s\n' "${got[@]}"
    fi
}

command="" wanted=0 expected=() number=0 line_number=0
while IFS= read -r line || [[ -n $line ]]; do
    ((number += 1))
    case $line in
        "$ "*)
            run_command
            command=${line:2} wanted=0 expected=() line_number=$number
            ;;
        "> "*) command+=$'\n'${line:2} ;;
        "? "*) wanted=${line:2} ;;
        "#"*) ;;
        *) expected+=("$line") ;;
    esac
done <"$script"
run_command

if ((commands == 0)); then
    echo "$(basename "$script"): no command in it"
    exit 1
fi
echo "$(basename "$script"): $commands commands, $failures failed"
((failures == 0))

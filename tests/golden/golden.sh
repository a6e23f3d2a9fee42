#!/usr/bin/env bash
# Checks the checksums of golden.csv, or writes them anew for a person to read the difference.
#   golden.sh MOTE [--update-golden]
# A row is NAME,HASH,COMMAND: the command runs in a scratch folder that the rows share, in order; its last line of
# output begins with the checksum. (Brotli's bytes depend on its version, so its row checks what reads back.) Each row
# runs with 1, 2 and 7 threads and must give the same.
#   MOTE_GOLDEN_DEVICE=cuda    octrees, neighbours, normals, outliers and pictures are made there, which must give the
#                              same too; with 2 threads only. Of the other rows those run whose files these need
#   MOTE_GOLDEN_THREADS="2 1"  these numbers of threads only
#   MOTE_GOLDEN_WITHOUT=REGEX  without the rows of these names, whose files no other row needs
set -uo pipefail
binary=$(realpath "$1")
update=${2:-}
device=${MOTE_GOLDEN_DEVICE:-}
threads_tried=${MOTE_GOLDEN_THREADS:-${device:+2}}
table=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/golden.csv
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-golden-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
on_devices='(lod|knn|normals|outliers|render)'

# rows_to_run: the table without its head. For a device without the rows that would only repeat what runs without one:
# none of their commands runs there, and none makes (the last file it names) what a row that is kept reads.
rows_to_run() {
    tail -n +2 "$table" | if [[ -z $device || -n $update ]]; then cat; else tac | awk -F, -v there="mote $on_devices " '{
        kept = $0 ~ there
        count = split($0, words, " ")
        for (i = count; i > 0 && !kept; i--) {
            if (words[i] == "&&") last = 0
            if (words[i] ~ file && !last) { last = 1; kept = words[i] in read }
        }
        last = 0
        for (i = 1; kept && i <= count; i++) if (words[i] ~ file) read[words[i]]
        if (kept) print
    }' file='[a-z0-9][.][a-z]' | tac; fi
}

# As a user calls it, with the number of threads of this turn. Outputs replace those of the turn before.
mote() {
    local command=$1 on=()
    shift
    [[ -n $device && $command =~ ^$on_devices$ ]] && on=(--device "$device")
    [[ $command == info ]] || on+=(--force)
    "$binary" "$command" --threads "$threads" --quiet "${on[@]}" "$@"
}

failures=0 rows=0
new=$(head -n 1 "$table")
while IFS=, read -r name hash command; do
    [[ -z $update && -n ${MOTE_GOLDEN_WITHOUT:-} && $name =~ ^($MOTE_GOLDEN_WITHOUT)$ ]] && continue
    ((rows += 1))
    found=""
    for threads in ${threads_tried:-7 2 1}; do
        output=$(eval "$command" </dev/null)
        code=$?
        got=$(tail -n 1 <<<"$output")
        got=${got%% *}
        if ((code != 0)) || [[ ! $got =~ ^[0-9a-f]{16}$ ]]; then
            echo "$name: exit code $code with $threads threads: $output"
            ((failures += 1))
        elif [[ -n $found && $got != "$found" ]]; then
            echo "$name: $got with $threads threads, $found with others"
            ((failures += 1))
        fi
        found=${found:-$got}
    done
    new+=$'\n'"$name,$found,$command"
    if [[ $found != "$hash" && $update != --update-golden ]]; then
        echo "$name: $found, expected $hash: $command"
        ((failures += 1))
    fi
done < <(rows_to_run)
[[ $update == --update-golden ]] && printf '%s\n' "$new" >"$table"
echo "golden${device:+ on $device}: $rows rows, $failures failures"
((failures == 0 && rows > 0))

# What the scripts of tests/cli may call.

mote() { "$MOTE_BINARY" "$@"; }

# mote (a copy of the binary in this folder) as a user with no special rights: this one, or nobody for root.
as_user() {
    if [[ $(id -u) == 0 ]]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups ./mote-copy "$@"
    else
        ./mote-copy "$@"
    fi
}

# need THING: skips the script (exit code 77) where THING is not there.
need() {
    case $1 in
        root) [[ $(id -u) == 0 ]] || { echo "needs root"; exit 77; } ;;
        other_user)
            [[ $(id -u) != 0 ]] || command -v setpriv >/dev/null || { echo "needs setpriv, or not to be root"; exit 77; }
            ;;
        data) [[ -d $MOTE_SHARED_DATA ]] || { echo "the folder of real data is not there"; exit 77; } ;;
        mount)
            mkdir -p probe
            mount -t tmpfs -o size=64k tmpfs probe 2>/dev/null || { echo "needs the right to mount"; exit 77; }
            umount probe && rmdir probe
            ;;
        no_gpu) mote lod x x.mote --device cuda 2>&1 | grep -q "device cuda" || { echo "there is a GPU"; exit 77; } ;;
        jansson) mote run '[]' 2>&1 | grep -q jansson && { echo "this mote was built without jansson"; exit 77; } ;;
        memory_group)
            memory_group 64M && in_group true 2>/dev/null || { echo "needs the right to make a control group of memory"; exit 77; }
            ;;
        sqlite)
            printf 'SQLite format 3\0%0100d' 0 >probe
            mote measure x --area probe 2>&1 | grep -q 'without' && { echo "this mote was built without SQLite or jansson"; exit 77; }
            rm probe
            ;;
        *) command -v "$1" >/dev/null || { echo "needs $1"; exit 77; } ;;
    esac
}

# memory_group SIZE: a control group (cgroup, of version 1 or 2) of this script, for in_group
memory_group() {
    local limit=memory.max bytes
    [[ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]] && limit=memory.limit_in_bytes
    bytes=$(numfmt --from=iec "$1")
    { mkdir -p "$(group)" && echo "$bytes" >"$(group)/$limit" && [[ $(cat "$(group)/$limit") == "$bytes" ]]; } 2>/dev/null
}
group() {
    local base=/sys/fs/cgroup
    [[ -e $base/memory/memory.limit_in_bytes ]] && base=$base/memory
    echo "$base/${PWD##*/}"
}

# in_group COMMAND...: runs it in the control group
in_group() { "$BASH" -c 'echo $$ >"$1/cgroup.procs" || exit; shift; exec "$@"' - "$(group)" "$@"; }

# json_valid: standard input is JSON
json_valid() { node -e 'JSON.parse(require("fs").readFileSync(0, "utf8")); console.log("valid")'; }

# json_get EXPRESSION: prints EXPRESSION of the JSON j on standard input
json_get() { node -e "const j = JSON.parse(require('fs').readFileSync(0, 'utf8')); console.log($1)"; }

# page FILE: the commands in the code of a page, without the remarks behind them, an empty line behind each block
page() {
    awk '/^```/ {code = !code; if (!code && shown) print ""; shown = 0} code && /^mote / {shown = 1; print}' \
        "$(dirname "${BASH_SOURCE[0]}")/../../$1" | sed 's/   *.*//'
}

# source_file FILE: where it is in the tree of the sources
source_file() { realpath "$(dirname "${BASH_SOURCE[0]}")/../../$1"; }

# examples: those of the help on standard input, without the remarks behind them; an empty line ends them
examples() {
    sed -n '/^Examples:/,/^$/s/^  \(mote .*\)/\1/p' | sed 's/   *.*//'
    echo
}

# typed: runs the lines of standard input, a server for a moment; prints how many there were, and those that fail or
# leave no point. After an empty line they start again from the files of this folder.
typed() {
    local line count=0 here=$PWD copy
    export MOTE_VIEWER=$PWD/page XDG_CACHE_HOME=$PWD/cache
    copy=$(mktemp -d) && cp -r "$here/." "$copy" && cd "$copy" || return
    while IFS= read -r line; do
        [[ -n $line ]] || { rm -rf "${copy:?}"/* && cp -r "$here/." "$copy" && continue; }
        ((count += 1))
        eval "${line//mote view/mote view --no-open --port 0 --for 0.1}" >typed.txt 2>&1 </dev/null &&
            ! grep -q "no point is left" typed.txt || { echo "$line" && cat typed.txt; }
    done
    cd "$here" && rm -rf "$copy"
    echo "$count examples"
}

# hash_of FILE: the checksum of its content as a cloud
hash_of() { mote info --hash --quiet "$1" | sed -n 's/^  hash *//p'; }

# same_hash A B
same_hash() {
    local a b
    a=$(hash_of "$1") b=$(hash_of "$2")
    [[ -n $a && $a == "$b" ]] && echo same || echo "different: $a $b"
}

# at_work PID SIGNAL: waits, at most for two minutes, until the process catches the signal and has used DELAY seconds of
# processor time (0.15), or with DELAY=part until a file or folder with a temporary name is there; or until it has ended.
# Seconds of a clock would say nothing on a busy machine: there a process may not have begun after one.
at_work() {
    local tries=24000 fields wanted=0 number
    number=$(kill -l "$2")
    [[ ${DELAY:-} == part ]] || wanted=$(awk -v s="${DELAY:-0.15}" -v hz="$(getconf CLK_TCK)" 'BEGIN { print int(s * hz) }')
    while ((tries-- > 0)); do
        fields=$(</proc/"$1"/stat) || return
        read -ra fields <<<"${fields##*) }" # from the state on, the third of all
        [[ ${fields[0]} != Z ]] || return
        [[ $(</proc/"$1"/status) =~ SigCgt:[^0-9a-f]*([0-9a-f]+) ]] || return
        if [[ $2 == KILL ]] || ((0x${BASH_REMATCH[1]} >> (number - 1) & 1)); then
            if ((wanted > 0)); then
                ((fields[11] + fields[12] < wanted)) || return
            elif compgen -G "*.part*" >/dev/null; then
                return
            fi
        fi
        sleep 0.005
    done
}

# interrupted SIGNAL COMMAND…: sends the signal while the command is at work; prints its exit code.
interrupted() {
    "$MOTE_BINARY" "${@:3}" 2>/dev/null &
    at_work $! "$1"
    kill -"$1" $! 2>/dev/null
    wait $! 2>/dev/null
    echo $?
}

killed() { interrupted KILL "$@"; }

# held FILE COMMAND…: stops the command (held is its process) once FILE has something; where it ended before that was
# seen, as on a busy machine, it is run again. end_held kills it.
held() {
    local tries
    for ((tries = 0; tries < 20; tries++)); do
        "$MOTE_BINARY" "${@:2}" &
        held=$!
        while [[ -d /proc/$held && ! -s $1 ]]; do sleep 0.01; done
        kill -STOP "$held" 2>/dev/null
        [[ ! -s $1 ]] || return 0
        end_held
    done
    echo "$1 was not seen" && return 1
}
end_held() { { kill -9 "$held" && wait "$held"; } 2>/dev/null || true; }

# shortened FILE COMMAND…: cuts the file, which is the standard input too, to a third while the command is at work, each
# time a little later until the command ends before; prints each exit code and message of this that came of it, once,
# and any output (out.*) that is there.
shortened() {
    local file=$1 delay code
    cp "$file" whole.copy
    for delay in 0.05 0.1 0.2 0.4 0.8 1.6 3.2; do
        cp whole.copy "$file"
        "$MOTE_BINARY" "${@:3}" <"$file" 2>cut.err >cut.out &
        sleep "$delay"
        kill -0 $! 2>/dev/null || { wait $! && break; }
        truncate -s $(($(stat -c %s whole.copy) / 3)) "$file"
        wait $!
        code=$?
        ((code == 0)) || { echo "$code" && grep -oE "($file|standard input): offset.*became shorter.*" cut.err; compgen -G "out*"; }
        rm -rf out.*
    done | sort -u
    cp whole.copy "$file"
    rm -rf whole.copy cut.err cut.out out.*
}

# anytime EVENT FILE OUTPUTS WORDS…: mote with these words, see anytime.py
anytime() {
    python3 "$(dirname "${BASH_SOURCE[0]}")/anytime.py" "${@:1:3}" "$MOTE_BINARY" "${@:4}"
}

# npz_print FILE: checks all checksums of a .npz and prints each array: name, type, shape, values. Without numpy.
npz_print() {
    python3 - "$1" <<'END'
import ast, struct, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print("damaged:", archive.testzip())
for member in archive.infolist():
    with open(sys.argv[1], "rb") as file:
        file.seek(member.header_offset)
        local = file.read(30)
    start = member.header_offset + 30 + sum(struct.unpack("<HH", local[26:30]))
    data = archive.read(member)
    length = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:length].decode())
    assert data[:8] == b"\x93NUMPY\x01\x00" and data[length - 1:length] == b"\n" and not header["fortran_order"]
    assert (start + length) % 64 == 0 and member.compress_type == zipfile.ZIP_STORED
    letter = {"<i4": "i", "<u4": "I", "<i8": "q", "<f4": "f", "<f8": "d"}[header["descr"]]
    values = [value[0] for value in struct.iter_unpack("<" + letter, data[length:])]
    count = 1
    for size in header["shape"]:
        count *= size
    assert count == len(values)
    print(member.filename, header["descr"], header["shape"], *(f"{value:.9g}" for value in values[:24]))
END
}

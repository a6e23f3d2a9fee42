#!/usr/bin/env bash
# A compiler launcher: takes an object of the library from a build that has it, where both would compile it alike.
#   reuse_object.bash --table COMPILE_COMMANDS_JSON      prints a line for each: source, object, flags
#   reuse_object.bash TABLE COMPILER ARGUMENT...
# As a part of another project the library must be compiled as it is alone, so other flags are an error. What the build
# does not have is compiled. The table is made once, and no interpreter is started for each of hundreds of objects.
set -euo pipefail
export LC_ALL=C

if [[ $1 == --table ]]; then
    exec python3 - "$2" <<'END'
import json, os, shlex, sys

def flags_of(words):
    """What decides about the object: not where things are, nor how warnings and dependencies are told."""
    words = iter(words)
    for word in words:
        if word in ("-o", "-MF", "-MT", "-c"):
            next(words)
        elif not word.startswith(("-I", "-isystem", "-W", "-MD")):
            yield word

for entry in json.load(open(sys.argv[1])):
    if "mote_objects.dir" in entry["command"]:  # of the library, without what depends on there being a CUDA compiler
        words = shlex.split(entry["command"])
        words = words[1 + words[0].endswith("ccache"):]
        object = os.path.join(entry["directory"], words[words.index("-o") + 1])
        print(os.path.realpath(entry["file"]), object, " ".join(sorted(flags_of(words))), sep="\t")
END
fi

# From here on nothing but bash, and cp: starting a program takes longer than all it would do.
table=$1
shift
source="" output="" depends="" flags=()
for ((i = 2; i <= $#; i++)); do
    case ${!i} in
        -c) ((i += 1)) && source=${!i} ;;
        -o) ((i += 1)) && output=${!i} ;;
        -MF) ((i += 1)) && depends=${!i} ;;
        -MT) ((i += 1)) ;;
        -I* | -isystem* | -W* | -MD*) ;;
        *) flags+=("${!i}") ;;
    esac
done
object=""
while IFS=$'\t' read -r there object words; do
    [[ ${there##*/} == "${source##*/}" && $there -ef $source ]] && break
    object=""
done <"$table"
[[ -n $object ]] || exec "$@"
declare -A alone=() differing=()
for word in $words; do alone[$word]=1 differing[$word]=1; done
for word in "${flags[@]}"; do
    if [[ ${alone[$word]:-} ]]; then unset 'differing[$word]'; else differing[$word]=1; fi
done
((${#differing[@]} == 0)) || { echo "$source is compiled with other flags than alone: ${!differing[*]}" >&2; exit 1; }
cp "$object" "$output"
[[ -z $depends ]] || : >"$depends"

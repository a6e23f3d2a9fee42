#!/usr/bin/env bash
# Sizes and places of all fields of the public structs, as C and as C++ see them, against tests/abi/abi.csv. Fields are
# found in the headers, so none is forgotten.
#   abi.sh SOURCES BUILD [--update]
# When it fails: a program that was compiled before no longer runs. A new field takes the place of reserved ones; before
# a release it may stand in front of them. Then --update, and read the difference.
set -euo pipefail
sources=$(realpath "$1")
update=${3:-}
table=$sources/tests/abi/abi.csv
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-abi-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# "struct field" for each field, "struct" for the whole, of: typedef struct NAME { … } NAME;
sed 's,//.*,,' "$sources"/include/mote/*.h | tr '\n' ' ' | grep -oE 'typedef struct [a-z_0-9]+ \{[^}]*\}' |
    sed -E 's/typedef struct ([a-z_0-9]+) \{/\1;/; s/\}//; s,/\*[^*]*\*/,,g' |
    awk -F';' '{
        name = $1
        print name
        for (i = 2; i <= NF; i++) {
            field = $i
            gsub(/\[[^]]*\]/, "", field)
            if (field ~ /\(\*/) { sub(/.*\(\*/, "", field); sub(/\).*/, "", field) }
            count = split(field, names, ",")
            for (n = 1; n <= count; n++) {
                sub(/ +$/, "", names[n])
                sub(/.*[ *]/, "", names[n])
                if (names[n] != "") print name, names[n]
            }
        }
    }' >fields
[[ $(grep -vc ' ' fields) -ge 30 ]] || { echo "only $(grep -vc ' ' fields) structs found in the headers"; exit 1; }
{
    printf '#include <mote/mote.h>\n#include <stdio.h>\nint main(void) {\n'
    awk 'NF == 1 { printf "    printf(\"%s,,%%zu,%%zu\\n\", (size_t)0, sizeof(%s));\n", $1, $1 }
         NF == 2 { printf "    printf(\"%s,%s,%%zu,%%zu\\n\", offsetof(%s, %s), sizeof(((%s *)0)->%s));\n", $1, $2, $1, $2, $1, $2 }' fields
    printf '    return 0;\n}\n'
} >abi.c
cc -std=c17 -I"$sources/include" abi.c -o abi_c
c++ -x c++ -std=c++17 -w -I"$sources/include" abi.c -o abi_cxx
{ echo "struct,field,offset,bytes"; ./abi_c; } >as_c.csv
{ echo "struct,field,offset,bytes"; ./abi_cxx; } >as_cxx.csv
diff as_c.csv as_cxx.csv || { echo "C (<) and C++ (>) see different structs"; exit 1; }
if [[ $update == --update ]]; then
    cp as_c.csv "$table"
    exit 0
fi
diff "$table" as_c.csv || { echo "public structs changed: see the head of tests/programs/abi.sh"; exit 1; }
echo "$(grep -vc ' ' fields) structs are as they were, in C and C++"

#!/usr/bin/env bash
# The Containerfile: what it copies is there, and its stages and arguments are those of its own; and, asked for by
# MOTE_CONTAINER=FOLDER (in which the base and the storage stay), the image is built by Buildah over a Debian that
# mmdebstrap makes here, without a registry, and its command and package for Python work.
#   container.sh SOURCES
# Debian: buildah crun mmdebstrap
set -euo pipefail
sources=$(realpath "$1")
fail() { echo "$*"; exit 1; }
python3 - "$sources" <<'END' || exit 1
import fnmatch
import os
import re
import sys

os.chdir(sys.argv[1])
with open("Containerfile", encoding="utf-8") as file:
    text = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", file.read(), flags=re.M))
with open(".dockerignore", encoding="utf-8") as file:
    ignored = [line.strip() for line in file if line.strip() and line[0] != "#"]
known = set("FROM ARG ENV COPY RUN WORKDIR ENTRYPOINT CMD".split())
stages, arguments, wrong = [], {"BASE"}, []
copied_from = set()  # stages that something was copied from in this one: then what they make is part of the cache's key


def check_copy(words):
    """Each source is a file of the tree, which no line of .dockerignore leaves out, or one of a stage before."""
    if words[0].startswith("--from="):
        if words[0].partition("=")[2] not in stages:
            wrong.append(f"COPY {words[0]}: that stage is not there")
        copied_from.add(words[0].partition("=")[2])
        return
    for source in words[:-1]:
        if not os.path.exists(source):
            wrong.append(f"COPY {source}: it is not there")
        if any(fnmatch.fnmatch(source, line.removeprefix("**/")) for line in ignored):
            wrong.append(f"COPY {source}: .dockerignore leaves it out")


for line in filter(None, map(str.strip, text.splitlines())):
    name, _, rest = line.partition(" ")
    if name not in known:
        wrong.append(f"{name}: no instruction")
    elif name == "FROM":
        base, *stage = rest.split(" AS ")
        stages += stage
        copied_from.clear()
        if base != "$BASE":
            wrong.append(f"FROM {base}: a base that no argument names")
    elif name == "ARG":
        arguments.add(rest.split("=")[0])
    elif name == "COPY":
        check_copy(rest.split())
    elif name == "RUN":
        used = set(re.findall(r"\$\{?([A-Z_]+)", rest))
        wrong += [f"RUN: ${variable} is no argument" for variable in used - arguments]
        wrong += [f"RUN: stage {stage} is not there" for stage in re.findall(r"from=(\w+)", rest) if stage not in stages]
        wrong += [f"RUN: what it mounts of {stage} may change, and a layer be kept: COPY --from={stage} of something first"
                  for stage in re.findall(r"from=(\w+)", rest) if stage not in copied_from]
        scripts = re.findall(r"(?<=/mote/)[\w/.]+\.sh", rest)
        wrong += [f"RUN {script}: it cannot be run" for script in scripts if not os.access(script, os.X_OK)]
for needed in ("cmake/deb.sh", "debian/control", "VERSION", "LICENSE"):  # what its steps read
    if any(fnmatch.fnmatch(needed, line) or needed.startswith(line + "/") for line in ignored):
        wrong.append(f".dockerignore leaves out {needed}")
print("\n".join(wrong))
sys.exit(bool(wrong))
END
[[ ${MOTE_CONTAINER:-} ]] || { echo "the image was not built: MOTE_CONTAINER=FOLDER asks for it"; exit 0; }
for program in buildah mmdebstrap; do
    command -v $program >/dev/null || { echo "skipped: $program is not there"; exit 77; }
done
[[ $(id -u) == 0 ]] || { echo "skipped: a base is made by root"; exit 77; }
mkdir -p "$MOTE_CONTAINER"
folder=$(realpath "$MOTE_CONTAINER")
buildah_() { buildah --root "$folder/storage" --runroot "$folder/run" --storage-driver vfs "$@"; }
suite=bookworm # the one that the Containerfile names
if [[ ! -s $folder/base.tar ]]; then
    mmdebstrap --variant=apt --quiet $suite "$folder/base.tar" >"$folder/log" 2>&1 || {
        echo "skipped: no Debian is to be had: $(tail -1 "$folder/log")"
        exit 77
    }
fi
if ! buildah_ inspect --type image localhost/debian:12 >/dev/null 2>&1; then
    base=$(buildah_ from scratch)
    buildah_ add -q "$base" "$folder/base.tar" / >/dev/null
    buildah_ commit -q "$base" localhost/debian:12 >/dev/null
    buildah_ rm "$base" >/dev/null
fi
flags=()
[[ -d /usr/local/cuda && ${MOTE_CONTAINER_CUDA:-} ]] && flags=(-v /usr/local/cuda:/usr/local/cuda:ro)
buildah_ build --isolation chroot --layers --build-arg BASE=localhost/debian:12 \
    --build-arg CMAKE_FLAGS="${MOTE_CONTAINER_FLAGS:-}" "${flags[@]}" -t mote-test "$sources" >"$folder/log" 2>&1 ||
    { tail -30 "$folder/log"; fail "the image cannot be built"; }
container=$(buildah_ from localhost/mote-test)
trap 'buildah_ rm "$container" >/dev/null' EXIT
inside() { buildah_ run --isolation chroot "$container" -- "$@"; }
[[ $(inside mote --version) == "mote $(cat "$sources/VERSION")"* ]] || fail "the command does not start"
inside sh -ec 'cd /tmp && mote gen city a.las -n 20k -q && mote run "[\"a.las\", {\"type\": \"outliers\"}, \"b.copc.laz\"]" -q &&
    mote info b.copc.laz | grep -q points' || fail "the command does not work"
[[ $(inside python3 -c 'import mote; print(len(mote.read("/tmp/a.las")))') == 20000 ]] || fail "the package for Python does not work"
[[ $(inside sh -c 'command -v cc || true') == "" ]] || fail "a compiler is in the image"
echo "an image of $(du -sh --apparent-size "$(buildah_ mount "$container")" 2>/dev/null | cut -f1): $(inside mote --version)"

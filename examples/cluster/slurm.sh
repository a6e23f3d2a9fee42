#!/bin/sh
# Levels of detail by a Slurm job array: a plan here, a task per part, the whole when all of them are done.
#   slurm.sh OUT PARTS INPUT...
# The file system must be one that all nodes see under the same names. SBATCH_* variables choose partition and account.
set -eu
# Tasks that share a node leave cores to each other while their threads wait; they get it from here (--export=ALL).
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"
[ $# -ge 3 ] || { echo "usage: slurm.sh OUT PARTS INPUT..." >&2; exit 2; }
out=$1 parts=$2
shift 2
mote=${MOTE:-mote} plan=$out.plan.json
report=$("$mote" lod "$@" -o "$out" --plan-parts "$plan" --parts "$parts" --json)
value() { printf '%s' "$report" | sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p"; }
parts=$(value parts)
memory=$(($(value part_memory_bytes) / 1048576 + 64)) # of the largest part, and the program itself, in MiB

# The second array makes parts whose task was killed, and, where points are too dense for one code, those that were made
# before that was known; what is there and whole it only looks at.
run="$mote lod --part auto '$plan' --threads \${SLURM_CPUS_PER_TASK:-1}"
array=$(sbatch --parsable --array=1-"$parts" --mem="${memory}M" --requeue --output="$out.part-%a.log" --wrap "$run")
again=$(sbatch --parsable --array=1-"$parts" --mem="${memory}M" --requeue --output="$out.again-%a.log" \
    --dependency=afterany:"$array" --wrap "$run")
merge=$(sbatch --parsable --dependency=afterok:"$again" --output="$out.merge.log" \
    --wrap "$mote lod --merge '$plan' && rm -r '$out.parts'")
echo "$merge"

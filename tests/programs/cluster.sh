#!/usr/bin/env bash
# examples/cluster/ for real: a Slurm of one node that this script starts, with a munge of its own, and Snakemake. Each
# that is not installed is skipped, Slurm also where this is not root. All waits end; what was started is ended.
#   cluster.sh SOURCES BUILD
set -euo pipefail
sources=$(realpath "$1")
export MOTE=$(realpath "$2")/mote
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-cluster-XXXXXX")
started=()
finish() {
    local pid
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$scratch"
}
trap finish EXIT
cd "$scratch"
fail() { echo "$*"; cat ./*.log 2>/dev/null | tail -40; exit 1; }
# wait_for SECONDS COMMAND…
wait_for() {
    local left=$(($1 * 5))
    shift
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        [[ $left -gt 0 ]] || return 1
        sleep 0.2
    done
}
done_something=
mkdir tiles
"$MOTE" gen city a.las -n 1M -q
"$MOTE" convert a.las tiles/west.laz --where 'x < 500000' -q
"$MOTE" convert a.las tiles/east.laz --where 'x >= 500000' -q
[[ -s tiles/east.laz ]] || { echo "skipped: built without what is needed"; exit 77; }
"$MOTE" lod tiles -o town -q 2>lod.log || { echo "skipped: $(cat lod.log)"; exit 77; }
mv town one
same() { cmp one/octree.bin "$1/octree.bin" && cmp one/hierarchy.bin "$1/hierarchy.bin" && cmp one/metadata.json "$1/metadata.json"; }

# ---- Slurm
slurm() {
    mkdir -m 0711 munge
    dd if=/dev/urandom of=munge.key bs=1024 count=1 2>/dev/null && chmod 0400 munge.key
    munged --foreground --force --key-file="$PWD/munge.key" --socket="$PWD/munge/socket" --pid-file="$PWD/munge.pid" \
        --seed-file="$PWD/munge.seed" --log-file="$PWD/munged.log" >munge.out.log 2>&1 &
    started+=($!)
    local node base=$((20000 + $$ % 20000))
    node=$(hostname -s)
    mkdir state spool
    cat >slurm.conf <<EOF
ClusterName=mote
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$PWD/munge/socket
CredType=cred/munge
SlurmctldPort=$base
SlurmdPort=$((base + 1))
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmdPidFile=$PWD/slurmd.pid
SlurmctldLogFile=$PWD/slurmctld.log
SlurmdLogFile=$PWD/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=1024 State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
EOF
    export SLURM_CONF=$PWD/slurm.conf
    wait_for 20 test -S munge/socket || fail "munged does not start"
    slurmctld -D -f "$SLURM_CONF" >ctld.out.log 2>&1 &
    started+=($!)
    slurmd -D -f "$SLURM_CONF" >d.out.log 2>&1 &
    started+=($!)
    wait_for 60 sh -c 'sinfo -h -o %t | grep -q idle' || fail "Slurm does not start"
    # one that is killed on the way, in the first array
    cat >killed_once <<EOF
#!/bin/sh
if [ "\${SLURM_ARRAY_TASK_ID:-}" = 2 ] && mkdir "$PWD/was_killed" 2>/dev/null; then
    "$MOTE" "\$@" &
    sleep 0.02 # a part takes 0.1 s
    kill -9 \$!
    wait \$!
    exit
fi
exec "$MOTE" "\$@"
EOF
    chmod +x killed_once
    local merge
    merge=$(MOTE=$PWD/killed_once "$sources/examples/cluster/slurm.sh" "$PWD/town" 3 "$PWD"/tiles/*.laz) ||
        fail "slurm.sh ends with $?"
    wait_for 240 sh -c "! squeue -h -j $merge 2>/dev/null | grep -q ." || fail "the job does not end: $(squeue)"
    same town || fail "Slurm: other bytes"
    [[ ! -e town.parts ]] || fail "town.parts was left"
    [[ -d was_killed ]] && grep -q Killed town.part-2.log || fail "no task was killed"
    echo "Slurm $(slurmd -V | cut -d' ' -f2), of which a task was killed: the bytes of one piece"
    rm -r town town.plan.json # whose parts are gone, with what the plan had read for them
}
lacks=
for tool in slurmctld slurmd sbatch munged; do command -v $tool >/dev/null || lacks=$tool; done
if [[ -n $lacks ]]; then
    echo "Slurm is skipped: $lacks is not there"
elif [[ $(id -u) != 0 ]]; then
    echo "Slurm is skipped: its daemons are started by root"
else
    slurm && done_something=yes
fi

# ---- Snakemake
if command -v snakemake >/dev/null; then
    timeout 300 snakemake --snakefile "$sources/examples/cluster/Snakefile" --cores 2 --quiet \
        --config mote="$MOTE" inputs="tiles/east.laz tiles/west.laz" out=town parts=3 >snakemake.log 2>&1 || fail "Snakemake ends with $?"
    same town || fail "Snakemake: other bytes"
    echo "Snakemake $(snakemake --version): the bytes of one piece"
    done_something=yes
else
    echo "Snakemake is skipped: it is not there"
fi

# ---- what cannot run here: what it asks for is what the plan says, and suffices; the commands are run as they stand
clouds() {
    local examples=$sources/examples/cluster
    "$MOTE" lod tiles -o town --plan-parts plan.json --parts 3 -q
    # The command in the comment, up to where it goes to kubectl.
    sed -n '/^#   jq/,/kubectl/p' "$examples/kubernetes.yaml" | sed 's/^#//; s/| kubectl.*//' >fill.sh
    cp "$examples/kubernetes.yaml" .
    sh fill.sh >filled.yaml
    mkdir bin
    cat >bin/aws <<'EOF'
#!/bin/sh
for word in "$@"; do printf '%s\0' "$word"; done >>"$AWS_CALLS"
echo job
EOF
    chmod +x bin/aws
    AWS_CALLS=$PWD/calls PATH=$PWD/bin:$PATH sh "$examples/aws_batch.sh" plan.json queue definition
    python3 - <<'EOF' || fail "what Kubernetes and AWS Batch are asked for is not what the plan says"
import json, math, sys
parts = json.load(open("plan.json"))["parts"]
memory = math.ceil(max(part["memory_limit_bytes"] for part in parts) / 1048576 + 64)
calls = open("calls").read().split("\0")
over = [json.loads(calls[i + 1]) for i, word in enumerate(calls) if word == "--container-overrides"]
assert f"size={len(parts)}" in calls and len(over) == 2, calls
passive = {"name": "OMP_WAIT_POLICY", "value": "passive"}
assert over[0] == {"command": ["mote", "lod", "--part", "auto", "plan.json"], "environment": [passive],
                   "resourceRequirements": [{"type": "MEMORY", "value": str(memory)}]}, over
assert over[1] == {"command": ["mote", "lod", "--merge", "plan.json"]} and "jobId=job" in calls
try:
    import yaml
except ImportError:
    sys.exit(0)
job = yaml.safe_load(open("filled.yaml"))
assert job["kind"] == "Job" and job["spec"]["completionMode"] == "Indexed" and job["spec"]["completions"] == len(parts)
container = job["spec"]["template"]["spec"]["containers"][0]
asked = container["resources"]
assert container["env"] == [passive], container
assert asked == {"requests": {"cpu": "2", "memory": f"{memory}Mi"}, "limits": {"memory": f"{memory}Mi"}}, asked
EOF
    local part enough
    for part in 1 2 3; do
        enough=$(jq ".parts[$part - 1].memory_limit_bytes" plan.json)
        "$MOTE" lod --part "$part/3" plan.json --memory "$enough" -q || fail "part $part does not fit what the plan says"
    done
    "$MOTE" lod --merge plan.json -q
    same town || fail "within what the plan says: other bytes"
    rm -r town town.parts
    echo "Kubernetes, AWS Batch: memory and count of parts are the plan's"
}
if command -v jq >/dev/null; then
    clouds && done_something=yes
else
    echo "Kubernetes and AWS Batch are skipped: jq is not there"
fi
[[ -n $done_something ]] || exit 77

#!/bin/sh
# Levels of detail by an array job of AWS Batch: "--part auto" reads AWS_BATCH_JOB_ARRAY_INDEX, which counts from 0.
#   aws_batch.sh PLAN QUEUE DEFINITION
# The plan was made before: mote lod IN... -o OUT --plan-parts PLAN --parts N. How many jobs there are, and the memory
# of each, it says itself (by jq). The job definition's container has mote, and mounts the file system (EFS, FSx) of
# plan, inputs and output under the names that the plan has.
set -eu
[ $# -eq 3 ] || { echo "usage: aws_batch.sh PLAN QUEUE DEFINITION" >&2; exit 2; }
plan=$1 queue=$2 definition=$3
parts=$(jq '.parts | length' "$plan")
memory=$(jq '[.parts[].memory_limit_bytes] | max / 1048576 + 64 | ceil' "$plan") # and the program itself, in MiB
[ "$parts" -ge 2 ] || { echo "aws_batch.sh: an array has 2 jobs or more" >&2; exit 2; }
array=$(aws batch submit-job --job-name mote-parts --job-queue "$queue" --job-definition "$definition" \
    --array-properties size="$parts" --retry-strategy attempts=3 \
    --container-overrides "$(jq -n --arg plan "$plan" --arg memory "$memory" '{
        command: ["mote", "lod", "--part", "auto", $plan],
        environment: [{name: "OMP_WAIT_POLICY", value: "passive"}], # jobs of a machine leave cores to each other
        resourceRequirements: [{type: "MEMORY", value: $memory}]}')" --query jobId --output text)
aws batch submit-job --job-name mote-merge --job-queue "$queue" --job-definition "$definition" \
    --depends-on jobId="$array" --container-overrides "$(jq -n --arg plan "$plan" '{
        command: ["mote", "lod", "--merge", $plan]}')" --query jobId --output text

#!/bin/sh
# Levels of detail by an array job of AWS Batch: "--part auto" reads AWS_BATCH_JOB_ARRAY_INDEX, which counts from 0.
#   aws_batch.sh PLAN PARTS QUEUE DEFINITION
# The plan was made before: mote lod IN... -o OUT --plan-parts PLAN --parts PARTS. The job definition's container has
# mote, and mounts the file system (EFS, FSx) of plan, inputs and output under the names that the plan has.
set -eu
[ $# -eq 4 ] || { echo "usage: aws_batch.sh PLAN PARTS QUEUE DEFINITION" >&2; exit 2; }
plan=$1 parts=$2 queue=$3 definition=$4
command_of() { printf '{"command": ["mote", "lod", "%s", "%s"%s]}' "$1" "$2" "$3"; }
[ "$parts" -ge 2 ] || { echo "aws_batch.sh: an array has 2 jobs or more" >&2; exit 2; }
array=$(aws batch submit-job --job-name mote-parts --job-queue "$queue" --job-definition "$definition" \
    --array-properties size="$parts" --retry-strategy attempts=3 \
    --container-overrides "$(command_of --part auto ", \"$plan\"")" --query jobId --output text)
aws batch submit-job --job-name mote-merge --job-queue "$queue" --job-definition "$definition" \
    --depends-on jobId="$array" --container-overrides "$(command_of --merge "$plan" "")" --query jobId --output text

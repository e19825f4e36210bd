#!/bin/bash

set -euo pipefail

SCRIPT_PATH="$(realpath "${BASH_SOURCE[0]}")"
SCRIPT_DIR="$(cd "$(dirname "${SCRIPT_PATH}")" && pwd)"

usage() {
  cat <<'USAGE'
Usage:
  ./serve.slurm --model MODEL [options] [-- ...more for vllm]

Examples:
  ./serve.slurm --model Qwen/Qwen3.5-4B --nodes 1 --gpus-per-node 1
  ./serve.slurm --model zai-org/GLM-5.1 --nodes 3 --gpus-per-node 8
  ./serve.slurm --model moonshotai/Kimi-K2.6 --nodes 4 --gpus-per-node 8

Options:
  --max-model-len TOKENS    (default: 262144)
  --tp N                    (default: GPUs a node)
  --pp N                    (default: nodes)
USAGE
}

is_pos_int() {
  [[ "$1" =~ ^[1-9][0-9]*$ ]]
}

ORIGINAL_ARGS=("$@")

MODEL=""
NODES=""
GPUS_PER_NODE=""
PORT="8000"
SERVED_MODEL_NAME=""
MAX_MODEL_LEN="262144"
TP=""
PP=""
REASONING_PARSER=""
EXTRA_VLLM_ARGS=()

while [[ $# -gt 0 ]]; do
  case "$1" in
    --model) MODEL="$2"; shift 2 ;;
    --nodes) NODES="$2"; shift 2 ;;
    --gpus-per-node) GPUS_PER_NODE="$2"; shift 2 ;;
    --port) PORT="$2"; shift 2 ;;
    --served-model-name) SERVED_MODEL_NAME="$2"; shift 2 ;;
    --max-model-len) MAX_MODEL_LEN="$2"; shift 2 ;;
    --tp|--tensor-parallel-size) TP="$2"; shift 2 ;;
    --pp|--pipeline-parallel-size) PP="$2"; shift 2 ;;
    --reasoning-parser) REASONING_PARSER="$2"; shift 2 ;;
    -h|--help) usage; exit 0 ;;
    --) shift; EXTRA_VLLM_ARGS=("$@"); break ;;
    *) echo "Unknown argument: $1" >&2; usage; exit 1 ;;
  esac
done

eval "$(uv run --no-sync python "${SCRIPT_DIR}/resolve_serve_config.py" "$MODEL")"

if [[ -z "${SLURM_JOB_ID:-}" ]]; then
  NODES="${NODES:-${DEFAULT_NODES:-1}}"
  GPUS_PER_NODE="${GPUS_PER_NODE:-$DEFAULT_GPUS_PER_NODE}"
  SUBMIT_CMD=(
    sbatch
    --parsable
    --partition hopper-prod
    --nodes "$NODES"
    --ntasks-per-node 1
    --gpus-per-node "$GPUS_PER_NODE"
    "$SCRIPT_PATH"
    "${ORIGINAL_ARGS[@]}"
  )
  JOB_ID="$("${SUBMIT_CMD[@]}")"
  echo "Submitted ${JOB_ID}"
  exit 0
fi

mapfile -t NODE_NAMES < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
HEAD_NODE="${NODE_NAMES[0]}"
HEAD_IP="$(getent hosts "$HEAD_NODE" | awk '{print $1}' | head -n1)"

NODES="${NODES:-$SLURM_JOB_NUM_NODES}"
TP="${TP:-$GPUS_PER_NODE}"
PP="${PP:-$NODES}"

if (( TP * PP != NODES * GPUS_PER_NODE )); then
  echo "tp * pp has to be nodes * gpus-per-node" >&2
  exit 1
fi

VLLM_ARGS=(
  serve "${DEFAULT_MODEL_ID:-$MODEL}"
  --host 0.0.0.0
  --port "$PORT"
  --served-model-name "${SERVED_MODEL_NAME:-$MODEL}"
  --max-model-len "$MAX_MODEL_LEN"
  --tensor-parallel-size "$TP"
  --pipeline-parallel-size "$PP"
)

if (( NODES > 1 )); then
  MASTER_PORT=$(( 29500 + (SLURM_JOB_ID % 1000) ))
  VLLM_ARGS+=(
    --distributed-executor-backend mp
    --nnodes "$NODES"
    --master-port "$MASTER_PORT"
  )
fi

if [[ -n "$REASONING_PARSER" && "$REASONING_PARSER" != "none" ]]; then
  VLLM_ARGS+=(--reasoning-parser "$REASONING_PARSER")
fi

for i in "${!NODE_NAMES[@]}"; do
  RANK_ARGS=(--master-addr "$HEAD_IP" --node-rank "$i")
  if (( i > 0 )); then
    RANK_ARGS+=(--headless)
  fi
  srun --nodes=1 --ntasks=1 -w "${NODE_NAMES[$i]}" \
    uv run --no-sync vllm "${VLLM_ARGS[@]}" "${RANK_ARGS[@]}" "${EXTRA_VLLM_ARGS[@]}" &
done
wait

#!/bin/bash
#SBATCH --job-name=kimi-k26-server
#SBATCH --partition=gpu-h200
#SBATCH --gpus=8
#SBATCH --nodes=1
#SBATCH --time=24:00:00
#SBATCH --output=/srv/team/logs/kimi_k26_server_%j.log
#SBATCH --requeue

set -euo pipefail

# One node with eight H200. Other jobs read the address from a file.
#   JOB1=$(sbatch --parsable slurm/kimi_k26_server.sh)
#   sbatch --dependency=afterany:$JOB1 slurm/kimi_k26_server.sh

PROJECT_DIR="/srv/team/project"
MODEL_DIR="/srv/team/models/Kimi-K2.6"
ENDPOINT_FILE="/srv/team/kimi_k26_endpoint.txt"
VLLM_PORT=8100
SERVED_MODEL_NAME="moonshotai/Kimi-K2.6"

source "${PROJECT_DIR}/.venv/bin/activate"
cd "$PROJECT_DIR"

export no_proxy="127.0.0.1,localhost"
export HF_HUB_OFFLINE=1
export TRANSFORMERS_OFFLINE=1

HOSTNAME_SHORT="$(hostname -s)"
echo "Node: $HOSTNAME_SHORT  GPUs: $(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | wc -l)"

if [ ! -d "$MODEL_DIR" ] || [ -z "$(ls $MODEL_DIR/*.safetensors 2>/dev/null)" ]; then
    echo "no weights in $MODEL_DIR"
    exit 1
fi

cleanup() {
    rm -f "$ENDPOINT_FILE"
}
trap cleanup EXIT INT TERM

echo "${HOSTNAME_SHORT}:${VLLM_PORT}" > "$ENDPOINT_FILE"

# 15 % left free for the cache; 8K are enough for our prompts
python -m vllm.entrypoints.openai.api_server \
    --model "$MODEL_DIR" \
    --served-model-name "$SERVED_MODEL_NAME" \
    --host 0.0.0.0 \
    --port $VLLM_PORT \
    --tensor-parallel-size 8 \
    --dtype auto \
    --trust-remote-code \
    --gpu-memory-utilization 0.90 \
    --max-model-len 16384 \
    --disable-log-requests

echo "stopped"

#!/usr/bin/env bash
#SBATCH -p main
#SBATCH --gres=gpu:8
#SBATCH --container-image=vllm/vllm-openai:nightly-8711b216766bb5d3cbe15161061c3a7d9fffe59c
#SBATCH --container-mounts=/home/user/model_weights:/model_weights,/home/user/logs:/logs
#SBATCH --no-container-entrypoint
#SBATCH --job-name=server-kimi-k2
#SBATCH --output=/home/user/logs/vllm-server.log
#SBATCH --mem=256G

set -eo pipefail

MODEL="moonshotai/Kimi-K2-Thinking"
PORT=8000
SERVER_INFO_FILE=/logs/server_info.txt

HOSTNAME=$(hostname)
echo "http://${HOSTNAME}:${PORT}" > "$SERVER_INFO_FILE"

cleanup() {
    rm -f "$SERVER_INFO_FILE"
}
trap cleanup EXIT

exec vllm serve $MODEL \
    --download-dir /model_weights \
    --trust-remote-code \
    --tensor-parallel-size 8 \
    --enable-auto-tool-choice \
    --max-num-batched-tokens 32768 \
    --tool-call-parser kimi_k2 \
    --reasoning-parser kimi_k2 \
    --host 0.0.0.0 \
    --port $PORT

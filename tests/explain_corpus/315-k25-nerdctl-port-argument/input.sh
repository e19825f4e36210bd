#!/usr/bin/env bash
# plain vLLM, only its own prefix cache
#
# Usage: ./run-kimi-k2.5.sh [--port PORT]
# containerd on these machines, so nerdctl; CONTAINER_RUNTIME=docker elsewhere

set -euo pipefail

PORT="${1:-8000}"
MODEL_PATH="${MODEL_PATH:-/mnt/nvme/models/Kimi-K2.5}"
VLLM_IMAGE="${VLLM_IMAGE:-vllm/vllm-openai:cu130-nightly}"
CTR="${CONTAINER_RUNTIME:-nerdctl}"

echo "Model:   ${MODEL_PATH}"
echo "Port:    ${PORT}"

${CTR} run --rm \
  --gpus all \
  --ipc=host \
  --network=host \
  --privileged \
  -v /mnt/fsx:/mnt/fsx:ro \
  -v /mnt/nvme:/mnt/nvme:ro \
  -e HF_HUB_OFFLINE=1 \
  -e TRANSFORMERS_OFFLINE=1 \
  -e VLLM_ATTENTION_BACKEND=FLASHINFER \
  "${VLLM_IMAGE}" \
  --model "${MODEL_PATH}" \
  --tensor-parallel-size 8 \
  --enable-prefix-caching \
  --enforce-eager \
  --max-model-len 32768 \
  --swap-space 32 \
  --gpu-memory-utilization 0.85 \
  --port "${PORT}" \
  --trust-remote-code \
  --tool-call-parser kimi_k2 \
  --reasoning-parser kimi_k2 \
  --disable-log-requests

#!/bin/bash
# Kimi-K2 on a card with 16 GB
set -e

MODEL_NAME="${1:-moonshotai/Kimi-K2-Instruct}"
PORT="${2:-8000}"
TENSOR_PARALLEL="${3:-1}"
GPU_MEMORY_UTIL="${4:-0.65}"
QUANTIZATION="${5:-fp8}"
MAX_MODEL_LEN="${6:-4096}"
MAX_BATCH_TOKENS="${7:-4096}"

if ! command -v vllm &> /dev/null; then
    pip install vllm>=0.10.0
fi

nvidia-smi --query-gpu=name,memory.total --format=csv,noheader || echo "no GPU"

# the first run loads about 50 GB
vllm serve "$MODEL_NAME" \
    --port "$PORT" \
    --served-model-name kimi-k2 \
    --trust-remote-code \
    --tensor-parallel-size "$TENSOR_PARALLEL" \
    --gpu-memory-utilization "$GPU_MEMORY_UTIL" \
    --enable-auto-tool-choice \
    --tool-call-parser kimi_k2 \
    --quantization "$QUANTIZATION" \
    --max-model-len "$MAX_MODEL_LEN" \
    --max-num-batched-tokens "$MAX_BATCH_TOKENS" \
    --max-num-seqs 128 \
    --dtype bfloat16 \
    --disable-log-stats \
    --disable-frontend

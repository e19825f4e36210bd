#!/bin/bash
# =============================================================
# vLLM for Kimi-Linear-48B-A3B-Instruct, on one B200 180GB
# =============================================================

set -e

MODEL_NAME="moonshotai/Kimi-Linear-48B-A3B-Instruct"
PORT=8000
MAX_MODEL_LEN=32768  # up to 1M is possible
TENSOR_PARALLEL=1    # one GPU is enough
GPU_MEMORY_UTIL=0.85 # of its memory

echo "=============================================="
echo "Model: $MODEL_NAME"
echo "Max Context: $MAX_MODEL_LEN tokens"
echo "=============================================="

if ! command -v vllm &> /dev/null; then
    echo "ERROR: vLLM not found. Install with:"
    echo "  pip install vllm"
    exit 1
fi

echo "Starting vLLM server..."

vllm serve "$MODEL_NAME" \
    --port $PORT \
    --tensor-parallel-size $TENSOR_PARALLEL \
    --max-model-len $MAX_MODEL_LEN \
    --gpu-memory-utilization $GPU_MEMORY_UTIL \
    --trust-remote-code \
    --tool-call-parser kimi_k2 \
    --enable-auto-tool-choice \
    --disable-log-requests

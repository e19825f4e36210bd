#!/bin/bash
# K2-Instruct behind vLLM on one A100, a spot instance
set -e

MODEL_PATH="${MODEL_PATH:-MoonshotAI/Kimi-K2-Instruct}"
MAX_LEN="${MAX_MODEL_LEN:-65536}"
TENSOR_PARALLEL="${TENSOR_PARALLEL_SIZE:-1}"
HOST="${HOST:-0.0.0.0}"
PORT="${PORT:-8000}"

if ! command -v nvidia-smi &> /dev/null; then
    echo "no GPU"
    exit 1
fi

python3 serve.py \
    --host "$HOST" \
    --port "$PORT" \
    --model-path "$MODEL_PATH" \
    --max-model-len "$MAX_LEN" \
    --tensor-parallel-size "$TENSOR_PARALLEL"

#!/bin/bash
# K2-Instruct with vLLM on one spot A100
set -e

MODEL_PATH="${MODEL_PATH:-MoonshotAI/Kimi-K2-Instruct}"
MAX_LEN="${MAX_MODEL_LEN:-65536}"
TENSOR_PARALLEL="${TENSOR_PARALLEL_SIZE:-1}"
HOST="${HOST:-0.0.0.0}"
PORT="${PORT:-8000}"

echo "model $MODEL_PATH, context $MAX_LEN, TP $TENSOR_PARALLEL"

if ! command -v nvidia-smi &> /dev/null; then
    echo "no GPU here"
    exit 1
fi

python3 serve.py \
    --host "$HOST" \
    --port "$PORT" \
    --model-path "$MODEL_PATH" \
    --max-model-len "$MAX_LEN" \
    --tensor-parallel-size "$TENSOR_PARALLEL"

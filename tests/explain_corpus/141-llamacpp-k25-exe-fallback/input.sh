#!/bin/bash
MODEL_DIR="/mnt/a/llm-models/Kimi-K2.5-GGUF/UD-TQ1_0"
LLAMA_DIR="/mnt/a/llm-models/llama.cpp"
MODEL_FILE="$MODEL_DIR/Kimi-K2.5-UD-TQ1_0-00001-of-00005.gguf"
PORT=${1:-11434}

if [ ! -f "$MODEL_FILE" ]; then
    echo "no model"
    exit 1
fi

cd "$LLAMA_DIR"

LLAMA_SET_ROWS=1 ./llama-server.exe \
    --model "$MODEL_FILE" \
    --temp 1.0 \
    --min_p 0.01 \
    --top-p 0.95 \
    --ctx-size 16384 \
    --fit on \
    --jinja \
    --kv-unified \
    -ot ".ffn_.*_exps.=CPU" \
    --port $PORT \
    --host 0.0.0.0

if [ $? -ne 0 ]; then
    echo "once more without .exe"
    LLAMA_SET_ROWS=1 ./llama-server \
    --model "$MODEL_FILE" \
    --temp 1.0 \
    --min_p 0.01 \
    --top-p 0.95 \
    --ctx-size 16384 \
    --fit on \
    --jinja \
    --kv-unified \
    -ot ".ffn_.*_exps.=CPU" \
    --port $PORT \
    --host 0.0.0.0
fi

#!/bin/bash

PORT_NUMBER=8082

echo 0 | sudo tee /proc/sys/kernel/numa_balancing > /dev/null

read -p "drop caches? (y/n) " -n 1 -r
echo
if [[ $REPLY =~ ^[Yy]$ ]]
then
    sudo swapoff -a
    sudo swapon -a
    echo 3 | sudo tee /proc/sys/vm/drop_caches > /dev/null
fi

MODEL_NAME="Kimi-K3"
MODEL_FILE="${HOME}/models/gguf/Kimi-K3-MXFP4.gguf"
JINJA_FILE="${HOME}/models/${MODEL_NAME}.jinja"
ALIAS="$(hostname):${MODEL_NAME}"

# 64 * 896 / 16
export GGML_OP_OFFLOAD_MIN_BATCH=3584

export CUDA_VISIBLE_DEVICES=0,1
~/llama.cpp/build/bin/llama-server \
    --host $(hostname -I) \
    --port "$PORT_NUMBER" \
    --alias "$ALIAS" \
    --model "$MODEL_FILE" \
    --jinja \
    --chat-template-file "$JINJA_FILE" \
    --n-gpu-layers 99 \
    --flash-attn on \
    --numa distribute \
    --load-mode mmap \
    --threads "$(nproc)" \
    --override-tensor "exps=CPU" \
    --ctx_size 131072 \
    --parallel 1 \
    --no-cont-batching \
    --temp 1.0 \
    --top-p 0.95 \
    --min-p 0.01

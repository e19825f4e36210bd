#!/bin/bash
# run on each node:  ./serve_node.sh <head address> <rank>
set -eu
MASTER_ADDR="$1"
NODE_RANK="$2"

MODEL=moonshotai/Kimi-K2.5
SIF=$PROJECT/vllm-container/vllm-21.0.sif
export HF_HOME=$PROJECT/hf

HEADLESS=""
if [ "$NODE_RANK" -ne 0 ]; then
  HEADLESS="--headless"
fi

apptainer exec --nv --cleanenv \
  --env HF_HOME=$HF_HOME \
  --env HF_HUB_OFFLINE=1 \
  -B "$PROJECT:$PROJECT" \
  "$SIF" \
  vllm serve $MODEL \
    --host 0.0.0.0 --port 8080 \
    --tensor-parallel-size 4 \
    --pipeline-parallel-size 3 \
    --nnodes 3 --node-rank $NODE_RANK --master-addr $MASTER_ADDR \
    --gpu-memory-utilization 0.9 \
    --enable-prefix-caching \
    --trust-remote-code \
    --download-dir "$HF_HOME" \
    --disable-custom-all-reduce \
    --async-scheduling \
    --limit-mm-per-prompt.image 0 \
    --mm-encoder-tp-mode data \
    --language-model-only \
    --tool-call-parser kimi_k2 \
    --reasoning-parser kimi_k2 \
    ${HEADLESS}

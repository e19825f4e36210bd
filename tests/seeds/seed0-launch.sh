#!/bin/bash
# The flags of seed 0 as a script that starts them, as its launch_kimi_k2.sh would; the words around them are ours.
set -euo pipefail
export VLLM_USE_V1=1
MODEL=/home/ubuntu/models/Kimi-K2-Thinking

exec vllm serve "$MODEL" \
  --served-model-name kimi-k2-thinking \
  --tensor-parallel-size 8 \
  --max-model-len ${MAX_LEN:-262144} \
  --max-num-batched-tokens 32768 \
  --max-num-seqs 4 \
  --gpu-memory-utilization 0.95 \
  --enable-chunked-prefill \
  --enable-prefix-caching \
  --load-format compressed-tensors \
  --host 0.0.0.0

#!/usr/bin/env bash
# A command as guides show it: Kimi-K2-Thinking with its whole context on one machine with 8× NVIDIA H100 80GB.
#   moonpad explain --file examples/somebody-elses.sh
vllm serve moonshotai/Kimi-K2-Thinking \
  --tensor-parallel-size 8 \
  --max-model-len 262144 \
  --max-num-batched-tokens 32768 \
  --max-num-seqs 4 \
  --gpu-memory-utilization 0.95 \
  --load-format compressed-tensors \
  --trust-remote-code

#!/usr/bin/env bash
# Written by moonpad 0.1.0. Runs engine of node-0 in the foreground:
#   bash node-0/run.sh
# The variables are taken from the environment; those without a default must stand there.
# shellcheck disable=SC2016  # words in single quotes are meant as they stand
set -euo pipefail

: "${MOONPAD_ENGINE:?the folder of the environment that holds the engine, above its bin/}"
: "${MOONPAD_CHECKPOINT:?the folder of the checkpoint}"
MOONPAD_PORT_API="${MOONPAD_PORT_API:-8000}"
MOONPAD_HOST_NODE_0="${MOONPAD_HOST_NODE_0:-127.0.0.1}"

export HF_HUB_OFFLINE=1
export VLLM_NO_USAGE_STATS=1
export VLLM_HOST_IP="${MOONPAD_HOST_NODE_0}"
export VLLM_CPU_KVCACHE_SPACE=1
exec "${MOONPAD_ENGINE}"/bin/vllm serve "${MOONPAD_CHECKPOINT}" \
  --served-model-name kimi-k2-tiny \
  --host 127.0.0.1 \
  --port "${MOONPAD_PORT_API}" \
  --max-model-len 4096 \
  --max-num-seqs 64 \
  --enforce-eager \
  --compilation-config.custom_ops '["all","-rotary_embedding"]' \
  --enable-auto-tool-choice \
  --tool-call-parser kimi_k2 \
  --reasoning-parser kimi_k2 \
  --shutdown-timeout 30

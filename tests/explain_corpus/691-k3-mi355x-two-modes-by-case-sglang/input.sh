#!/usr/bin/env bash
# Kimi-K3 on 8x MI355X
#   sglang  kimi-k3 branch
#   aiter   k3-for-amd
#   ROCm    7.2.0,  torch 2.9.1+rocm7.2.0

set -uo pipefail

MODE="${MODE:-nospec}"
PORT="${PORT:-30000}"
MEM_FRAC="${MEM_FRAC:-0.85}"

# weights are in the cache already
export HF_HUB_OFFLINE="${HF_HUB_OFFLINE:-1}"

# needed on AMD: without them the experts are unpacked,
# 194 GB become 249 GB a GPU and nothing is left for the cache
export SGLANG_USE_AITER=1
export SGLANG_AITER_K3_OPT=1
export AITER_FLYDSL_FORCE=1
export AITER_SITUV2_A8W4=1

ARGS=(
  --model-path moonshotai/Kimi-K3
  --trust-remote-code
  --tp 8
  --attention-backend triton
  --dtype bfloat16
  --mem-fraction-static "${MEM_FRAC}"
  --cuda-graph-max-bs-decode 256
  --host 0.0.0.0
  --port "${PORT}"
  --disable-radix-cache
  --reasoning-parser kimi_k3
  --tool-call-parser kimi_k3
)

case "${MODE}" in
  nospec) ;;
  dspark)
    ARGS+=(
      --speculative-draft-model-path RadixArk/Kimi-K3-DSpark
      --speculative-algorithm DSPARK
    )
    ;;
  *) echo "Unknown MODE: ${MODE} (nospec|dspark)" >&2; exit 2 ;;
esac

echo "mode : ${MODE}"
echo "port : ${PORT}"
echo "memfr: ${MEM_FRAC}"

exec sglang serve "${ARGS[@]}"

#!/usr/bin/env bash
# launch-one-station.sh -- K3 UD-IQ1_M (604 GiB) on ONE GB300 with llama.cpp; the experts of layers 0-62 (NCPU)
# stay in the memory of Grace. ZC=0: the same without zero-copy.
#
# usage: [BIN=<llama.cpp build/bin>] [GGUF=<first shard>] [ZC=1] [NCPU=63] [NP=16] [PORT=8015] launch-one-station.sh [extra args]
#   stop: docker rm -f kimi-k3
set -euo pipefail
BIN=${BIN:?BIN=<llama.cpp build/bin, built by build-llamacpp.sh>}
GGUF=${GGUF:-/models/gguf/unsloth__Kimi-K3-GGUF/UD-IQ1_M/Kimi-K3-UD-IQ1_M-00001-of-00015.gguf}
IMG=${IMG:-lmsysorg/sglang@sha256:352f1373e721c37d0849cf10ac9ec3c5b81dce76e148b9f271c1b59085eaba1d}
ZC=${ZC:-1}; NCPU=${NCPU:-63}; NP=${NP:-16}; PORT=${PORT:-8015}
GB300=$(nvidia-smi --query-gpu=uuid,name --format=csv,noheader | awk -F", " '/GB300/{print $1;exit}')
ENVZC=(); [ "$ZC" = 1 ] && ENVZC=(-e GGML_CUDA_C2C_ZEROCOPY=1)
docker rm -f kimi-k3 >/dev/null 2>&1 || true
docker run -d --name kimi-k3 --device "nvidia.com/gpu=$GB300" --ipc host --network host --ulimit memlock=-1:-1 "${ENVZC[@]}" \
  -v "$(dirname "$GGUF")":/gguf:ro -v "$BIN":/llama:ro -e LD_LIBRARY_PATH=/llama:/usr/local/cuda/lib64 \
  --entrypoint /llama/llama-server "$IMG" -m "/gguf/$(basename "$GGUF")" --alias kimi-k3 --host 0.0.0.0 --port "$PORT" \
  -ngl 999 --n-cpu-moe "$NCPU" -fit off -fa on -t 64 --jinja --metrics --load-mode none \
  -c 65536 -np "$NP" -kvu -b 4096 -ub 2048 "$@" >/dev/null
echo "kimi-k3 starting: docker logs -f kimi-k3"

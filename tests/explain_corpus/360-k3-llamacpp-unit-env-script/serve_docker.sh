#!/usr/bin/env bash
set -euo pipefail

QUANT="${QUANT:?set QUANT, e.g. UD-Q2_K_XL}"
BUILD_SOURCE="${BUILD_SOURCE:-fork}"
MODEL_REPO="${MODEL_REPO:-unsloth/Kimi-K3-GGUF}"
case "$BUILD_SOURCE" in
  fork)     IMAGE="${IMAGE:-$(docker images --format '{{.Repository}}:{{.Tag}}' | grep '^kimi-k3-llamacpp:fork-' | head -1)}" ;;
  mainline) IMAGE="${IMAGE:-$(docker images --format '{{.Repository}}:{{.Tag}}' | grep '^kimi-k3-llamacpp:mainline-' | head -1)}" ;;
  *) echo "Unknown BUILD_SOURCE='$BUILD_SOURCE' (use: fork | mainline)" >&2; exit 2 ;;
esac
[ -n "${IMAGE:-}" ] || { echo "No kimi-k3-llamacpp:${BUILD_SOURCE}-* image found" >&2; exit 1; }
NAME="${NAME:-kimi-k3}"
export HF_HOME="${HF_HOME:-$HOME/.cache/huggingface}"

KIMI_CACHE="$HF_HOME/hub/models--${MODEL_REPO//\//--}"
SNAP="$KIMI_CACHE/snapshots/$(cat "$KIMI_CACHE/refs/main")"
QUANT_DIR="$SNAP/$QUANT"
[ -d "$QUANT_DIR" ] || { echo "quant '$QUANT' not found in snapshot ($QUANT_DIR)" >&2; exit 1; }
FIRST_SHARD="$(find "$QUANT_DIR" -name '*-00001-of-*.gguf' -o -name '*.gguf' ! -name 'mmproj*' | sort | head -1)"
MODEL_ARG="/models/repo/$(basename "$QUANT")/$(basename "$FIRST_SHARD")"

TS_IP="$(tailscale ip -4 2>/dev/null || true)"
HOST="${HOST:-${TS_IP:-127.0.0.1}}"
PORT="${PORT:-30000}"
MODEL_NAME="${MODEL_NAME:-kimi-k3}"
PHYS_CORES="$(lscpu -p=CORE,SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l || echo 64)"
THREADS="${THREADS:-$PHYS_CORES}"

EXTRA_FLAGS=()
if [ -n "${N_CPU_MOE:-}" ]; then
  EXTRA_FLAGS+=(-ngl 999 --n-cpu-moe "$N_CPU_MOE")
else
  :
fi
if [ "$BUILD_SOURCE" = "fork" ]; then
  MMPROJ="$SNAP/mmproj-BF16.gguf"
  [ -f "$MMPROJ" ] && EXTRA_FLAGS+=(--mmproj "/models/repo/mmproj-BF16.gguf") \
    || echo "WARN: mmproj-BF16.gguf not found at $MMPROJ" >&2
fi
[ -n "${JINJA:-1}" ] && [ "${JINJA:-1}" != "0" ] && EXTRA_FLAGS+=(--jinja)
EXTRA_FLAGS+=(--numa distribute --threads "$THREADS" --threads-batch "$THREADS")
EXTRA_FLAGS+=(--cache-type-k f16 --cache-type-v f16)
EXTRA_FLAGS+=(--load-mode "${LOAD_MODE:-none}")
EXTRA_FLAGS+=(--ctx-size "${CTX_SIZE:-65536}" --parallel "${PARALLEL:-1}")
if [ -n "${CACHE_RAM:-}" ]; then EXTRA_FLAGS+=(--cache-ram "$CACHE_RAM"); fi
[ -n "${BATCH:-}" ]  && EXTRA_FLAGS+=(--batch-size "$BATCH")
[ -n "${UBATCH:-}" ] && EXTRA_FLAGS+=(--ubatch-size "$UBATCH")
DOCKER_ENV_ARGS=()
for kv in ${DOCKER_ENV:-}; do DOCKER_ENV_ARGS+=(-e "$kv"); done

GPU_ARGS="${GPU_ARGS:---device nvidia.com/gpu=all}"
RUN_MODE=(--rm)
if [ "${DETACH:-0}" = "1" ]; then RUN_MODE=(-d --restart unless-stopped); fi

docker rm -f "$NAME" >/dev/null 2>&1 || true

exec docker run "${RUN_MODE[@]}" --name "$NAME" \
  $GPU_ARGS \
  "${DOCKER_ENV_ARGS[@]}" \
  --network host \
  --ipc=host \
  -v "$SNAP:/models/repo:ro" \
  "$IMAGE" \
  --model "$MODEL_ARG" \
  --alias "$MODEL_NAME" \
  --host "$HOST" --port "$PORT" \
  --split-mode layer \
  "${EXTRA_FLAGS[@]}" \
  ${EXTRA_ARGS:-}

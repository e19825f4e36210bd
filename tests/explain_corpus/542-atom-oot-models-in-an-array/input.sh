#!/bin/bash
set -euo pipefail

# usage: atom_oot_test.sh [launch|accuracy] [ci|full] [name of the model]
TYPE=${1:-launch}
MODE=${2:-ci}
SELECTED_MODEL=${3:-}

VLLM_HOST=${VLLM_HOST:-0.0.0.0}
VLLM_PORT=${VLLM_PORT:-8000}
VLLM_LOG_FILE=${VLLM_LOG_FILE:-/tmp/vllm_oot.log}
VLLM_PID_FILE=${VLLM_PID_FILE:-/tmp/vllm_oot.pid}
MAX_WAIT_RETRIES=${MAX_WAIT_RETRIES:-60}

# NAME|PATH|ARGS
FULL_MODE_MODELS=(
  "Qwen3 MoE|Qwen/Qwen3-235B-A22B-Instruct-2507-FP8|--tensor-parallel-size 8 --enable-expert-parallel"
  "DeepSeek-R1 FP8|deepseek-ai/DeepSeek-R1-0528|--tensor-parallel-size 8"
  "DeepSeek-R1 MXFP4|amd/DeepSeek-R1-0528-MXFP4|--tensor-parallel-size 8"
  "GPT-OSS|openai/gpt-oss-120b|--tensor-parallel-size 1"
  "Kimi-K2|amd/Kimi-K2-Thinking-MXFP4|--tensor-parallel-size 4"
)

resolve_model_path() {
  local path="$1"
  if [[ -d "/models/${path}" ]]; then
    echo "/models/${path}"
  else
    echo "${path}"
  fi
}

wait_server_ready() {
  for ((i = 1; i <= MAX_WAIT_RETRIES; i++)); do
    curl -sf "http://127.0.0.1:${VLLM_PORT}/v1/models" >/dev/null && return 0
    kill -0 "$(cat "${VLLM_PID_FILE}")" 2>/dev/null || { tail -n 100 "${VLLM_LOG_FILE}"; return 1; }
    sleep 30
  done
  return 1
}

launch_one_model() {
  local name="$1" path="$2" extra_args="$3"
  local resolved_model_path
  resolved_model_path=$(resolve_model_path "${path}")
  local -a extra_arg_array=()
  read -r -a extra_arg_array <<< "${extra_args}"

  export SAFETENSORS_FAST_GPU=1
  export VLLM_RPC_TIMEOUT=1800000
  export ATOM_DUAL_STREAM_MOE_TOKEN_THRESHOLD=0

  rm -rf /data/.cache

  nohup vllm serve "${resolved_model_path}" \
    --host "${VLLM_HOST}" \
    --port "${VLLM_PORT}" \
    --async-scheduling \
    --load-format fastsafetensors \
    --compilation-config '{"cudagraph_mode": "FULL_AND_PIECEWISE"}' \
    --trust-remote-code \
    --kv-cache-dtype fp8 \
    "${extra_arg_array[@]}" \
    --gpu-memory-utilization 0.9 \
    --no-enable-prefix-caching \
    > "${VLLM_LOG_FILE}" 2>&1 &
  echo $! > "${VLLM_PID_FILE}"
  echo "launched ${name}"
  wait_server_ready
}

case "${MODE}" in
  ci)
    if [[ -z "${OOT_MODEL_NAME:-}" || -z "${OOT_MODEL_PATH:-}" ]]; then
      echo "OOT_MODEL_NAME and OOT_MODEL_PATH are needed" >&2
      exit 2
    fi
    ACTIVE_MODELS=("${OOT_MODEL_NAME}|${OOT_MODEL_PATH}|${OOT_EXTRA_ARGS:-}")
    ;;
  full) ACTIVE_MODELS=("${FULL_MODE_MODELS[@]}") ;;
  *) echo "unknown mode ${MODE}" >&2; exit 2 ;;
esac

for entry in "${ACTIVE_MODELS[@]}"; do
  IFS='|' read -r name path args <<< "${entry}"
  [[ -n "${SELECTED_MODEL}" && "${SELECTED_MODEL}" != "${name}" ]] && continue
  launch_one_model "${name}" "${path}" "${args}"
  [[ "${TYPE}" == "launch" ]] && break
done

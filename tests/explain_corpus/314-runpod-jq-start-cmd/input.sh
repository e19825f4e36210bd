#!/usr/bin/env bash
set -euo pipefail

: "${RUNPOD_API_KEY:?set it}"

NAME="${NAME:-kimi-k26-mi300x-$(date -u +%Y%m%d-%H%M%S)}"
GPU_TYPE_ID="${GPU_TYPE_ID:-AMD Instinct MI300X OAM}"
GPU_COUNT="${GPU_COUNT:-4}"
DATA_CENTER_IDS="${DATA_CENTER_IDS:-${DATA_CENTER_ID:-EU-RO-1}}"
IMAGE_NAME="${IMAGE_NAME:-lmsysorg/sglang:v0.5.9-rocm700-mi30x}"
CONTAINER_DISK_GB="${CONTAINER_DISK_GB:-120}"
NETWORK_VOLUME_ID="${NETWORK_VOLUME_ID:-}"
PORTS="${PORTS:-30000/http,22/tcp}"
START_SERVER="${START_SERVER:-1}"
TP_SIZE="${TP_SIZE:-${GPU_COUNT}}"
CONTEXT_LENGTH="${CONTEXT_LENGTH:-128000}"
MEM_FRACTION_STATIC="${MEM_FRACTION_STATIC:-0.8}"
KV_CACHE_DTYPE="${KV_CACHE_DTYPE:-fp8_e4m3}"
MODEL_PATH="${MODEL_PATH:-moonshotai/Kimi-K2.6}"
PRE_START_CMD="${PRE_START_CMD:-}"
DRY_RUN="${DRY_RUN:-0}"

require() {
  if ! command -v "$1" >/dev/null 2>&1; then
    echo "missing: $1" >&2
    exit 1
  fi
}

require curl
require jq

if [[ -z "$NETWORK_VOLUME_ID" ]]; then
  cat >&2 <<EOF
a network volume is wanted:
  NETWORK_VOLUME_ID=<volume-id> $0
EOF
  exit 1
fi

ports_json="$(
  jq -R 'split(",") | map(gsub("^\\s+|\\s+$"; "")) | map(select(length > 0))' <<<"$PORTS"
)"

pod_env="$(
  jq -n \
    --arg hf_home "${HF_HOME:-/workspace/hf}" \
    '{HF_HOME: $hf_home}'
)"

if [[ "${START_SERVER}" == "1" ]]; then
  prelude=""
  if [[ -n "$PRE_START_CMD" ]]; then
    prelude="${PRE_START_CMD} && "
  fi
  start_cmd="$(
    cat <<EOF
mkdir -p /workspace/hf /workspace/results && \
${prelude}\
sglang serve \
  --model-path ${MODEL_PATH} \
  --tp ${TP_SIZE} \
  --trust-remote-code \
  --reasoning-parser kimi_k2 \
  --tool-call-parser kimi_k2 \
  --host 0.0.0.0 \
  --port 30000 \
  --context-length ${CONTEXT_LENGTH} \
  --kv-cache-dtype ${KV_CACHE_DTYPE} \
  --mem-fraction-static ${MEM_FRACTION_STATIC}
EOF
  )"
else
  start_cmd="sleep infinity"
fi

payload="$(
  jq -n \
    --arg name "$NAME" \
    --arg image "$IMAGE_NAME" \
    --arg gpu "$GPU_TYPE_ID" \
    --argjson gpu_count "$GPU_COUNT" \
    --argjson ports "$ports_json" \
    --argjson env "$pod_env" \
    --argjson container_disk "$CONTAINER_DISK_GB" \
    --arg network_volume_id "$NETWORK_VOLUME_ID" \
    --arg start_cmd "$start_cmd" '
      {
        name: $name,
        computeType: "GPU",
        imageName: $image,
        interruptible: true,
        gpuTypeIds: [$gpu],
        gpuCount: $gpu_count,
        containerDiskInGb: $container_disk,
        ports: $ports,
        env: $env,
        dockerEntrypoint: ["bash", "-lc"],
        dockerStartCmd: [$start_cmd],
        networkVolumeId: $network_volume_id
      }
    '
)"

if [[ "$DRY_RUN" == "1" ]]; then
  jq 'del(.env.HF_TOKEN)' <<<"$payload"
  exit 0
fi

response="$(
  curl --fail-with-body --silent --show-error \
    --request POST \
    --url "https://rest.runpod.io/v1/pods" \
    --header "Authorization: Bearer ${RUNPOD_API_KEY}" \
    --header "Content-Type: application/json" \
    --data "$payload"
)"

jq 'del(.env)' <<<"$response"

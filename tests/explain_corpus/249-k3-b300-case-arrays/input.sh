#!/usr/bin/env bash
set -eo pipefail
set -x

# Kimi-K3 (MXFP4) on B300: TP8 x DCP8, Mooncake as outer tier of the KV cache.
#   conc <= 8   drafts of 7
#   conc 16     drafts of 3
#   conc >  16  no drafts
# Needed: MODEL, TP, CONC, KV_OFFLOADING, TOTAL_CPU_DRAM_GB, RESULT_DIR, DURATION
# May be: DCP_SIZE (8), KV_OFFLOAD_BACKEND (mooncake, or empty)
# About 1.5 TB of weights: TP4 would be 375 GB a GPU, and a B300 has 288.

source "$(dirname "$0")/../../benchmark_lib.sh"

check_env_vars MODEL TP CONC KV_OFFLOADING TOTAL_CPU_DRAM_GB RESULT_DIR DURATION

if [ "$TP" -ne 8 ]; then
    echo "Error: Kimi-K3 on B300 requires TP=8, got TP='$TP'" >&2
    exit 1
fi
if [[ -n "${EP_SIZE:-}" && "${EP_SIZE}" -gt 1 ]]; then
    echo "Error: EP_SIZE='$EP_SIZE' is not wired" >&2
    exit 1
fi

DCP_SIZE="${DCP_SIZE:-8}"
if [ $((TP % DCP_SIZE)) -ne 0 ]; then
    echo "Error: TP='$TP' must be divisible by DCP_SIZE='$DCP_SIZE'" >&2
    exit 1
fi
CP_ARGS=()
if [ "$DCP_SIZE" -gt 1 ]; then
    CP_ARGS+=(--decode-context-parallel-size "$DCP_SIZE" --dcp-comm-backend a2a)
fi

DRAFT_MODEL="${DRAFT_MODEL:-Inferact/Kimi-K3-DSpark}"
if [[ -n "${MODEL_PATH:-}" ]]; then
    if [[ ! -d "$MODEL_PATH" || -z "$(ls -A "$MODEL_PATH" 2>/dev/null)" ]]; then
        hf download "$MODEL" --local-dir "$MODEL_PATH"
    fi
    DRAFT_MODEL_PATH="${WRITABLE_MODELS_DIR:-/data/models}/${DRAFT_MODEL##*/}"
    if [[ ! -d "$DRAFT_MODEL_PATH" || -z "$(ls -A "$DRAFT_MODEL_PATH" 2>/dev/null)" ]]; then
        hf download "$DRAFT_MODEL" --local-dir "$DRAFT_MODEL_PATH"
    fi
else
    hf download "$MODEL"
    export MODEL_PATH="$MODEL"
    hf download "$DRAFT_MODEL"
    DRAFT_MODEL_PATH="$DRAFT_MODEL"
fi
nvidia-smi

export VLLM_ALLREDUCE_USE_FLASHINFER=1
export VLLM_ENABLE_K3_LATENT_MOE_TAIL_FUSION=1
export VLLM_USE_V2_MODEL_RUNNER=1
export VLLM_USE_DIRECT_DCP_A2A=1
export VLLM_USE_DIRECT_DCP_Q_GATHER=1
export VLLM_USE_DIRECT_DCP_KV_GATHER=1
export VLLM_ENGINE_READY_TIMEOUT_S=3600
export VLLM_RPC_TIMEOUT=600000
export VLLM_PREFIX_CACHE_RETENTION_INTERVAL=0
export VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0
export PYTHONNOUSERSITE=1
export TORCH_CUDA_ARCH_LIST=10.0
export PYTHONHASHSEED=42
export VLLM_HTTP_TIMEOUT_KEEP_ALIVE=900

SERVER_LOG="$RESULT_DIR/server.log"
MOONCAKE_MASTER_LOG="$RESULT_DIR/mooncake_master.log"
mkdir -p "$RESULT_DIR"
MOONCAKE_MASTER_PID=""
cleanup() {
    if [[ -n "$MOONCAKE_MASTER_PID" ]]; then
        kill "$MOONCAKE_MASTER_PID" 2>/dev/null || true
    fi
}
trap cleanup EXIT

OFFLOAD_ARGS=()
case "${KV_OFFLOAD_BACKEND:-}" in
    "")
        require_agentic_kv_offload_none
        ;;
    mooncake)
        require_agentic_kv_offload_backend mooncake
        PER_RANK_GB=$((TOTAL_CPU_DRAM_GB / TP))
        MOONCAKE_VERSION=0.3.11.post1
        agentic_pip_install --quiet --no-cache-dir --no-deps \
            --force-reinstall "mooncake-transfer-engine-cuda13==$MOONCAKE_VERSION"
        MOONCAKE_MASTER_PORT=$((PORT + 12000))
        MOONCAKE_CONFIG_PATH="$RESULT_DIR/mooncake_config.json"
        MOONCAKE_RAIL=""
        for _d in mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4 mlx5_5; do
            if grep -q ACTIVE "/sys/class/infiniband/$_d/ports/1/state" 2>/dev/null; then
                MOONCAKE_RAIL="$_d"
                break
            fi
        done
        cat > "$MOONCAKE_CONFIG_PATH" <<EOT
{
  "mode": "embedded",
  "metadata_server": "P2PHANDSHAKE",
  "master_server_address": "127.0.0.1:$MOONCAKE_MASTER_PORT",
  "global_segment_size": "${PER_RANK_GB}GB",
  "local_buffer_size": "4GB",
  "protocol": "rdma",
  "device_name": "$MOONCAKE_RAIL",
  "enable_offload": false
}
EOT
        export MOONCAKE_CONFIG_PATH
        export MC_GID_INDEX=3
        export MC_STORE_MEMCPY=1
        mooncake_master --port "$MOONCAKE_MASTER_PORT" \
            --eviction_high_watermark_ratio=0.95 \
            --eviction_ratio=0.10 \
            > "$MOONCAKE_MASTER_LOG" 2>&1 &
        MOONCAKE_MASTER_PID=$!
        sleep 2
        OFFLOAD_ARGS=(
            --kv-transfer-config
            '{"kv_connector":"MooncakeStoreConnector","kv_role":"kv_both","kv_load_failure_policy":"recompute","kv_connector_extra_config":{"load_async":true,"lookup_async":true,"enable_offload":false}}'
        )
        ;;
    *)
        echo "Error: unsupported KV_OFFLOAD_BACKEND='$KV_OFFLOAD_BACKEND'" >&2
        exit 1
        ;;
esac

if [ "$CONC" -le 8 ]; then
    NUM_SPEC_TOKENS=7
    SYNTHETIC_ACCEPT_LEN=3.84
elif [ "$CONC" -le 16 ]; then
    NUM_SPEC_TOKENS=3
    SYNTHETIC_ACCEPT_LEN=3.00
else
    NUM_SPEC_TOKENS=0
fi
SPEC_ARGS=()
if [ "$NUM_SPEC_TOKENS" -gt 0 ]; then
    SPEC_CONFIG="{\"method\": \"dspark\", \"model\": \"$DRAFT_MODEL_PATH\", \"num_speculative_tokens\": $NUM_SPEC_TOKENS, \"attention_backend\": \"TOKENSPEED_MLA\", \"draft_sample_method\": \"probabilistic\", \"rejection_sample_method\": \"synthetic\", \"synthetic_acceptance_length\": $SYNTHETIC_ACCEPT_LEN}"
    SPEC_ARGS=(--speculative-config "$SPEC_CONFIG")
fi

MAX_NUM_SEQS=$((2 * CONC))
# only conc 56 and 70 ran out of what is left over (2.78 GiB wanted, 1.60 free)
if [ "$CONC" -ge 56 ]; then
    GPU_MEM_UTIL=0.90
else
    GPU_MEM_UTIL=0.92
fi

CAPTURE_STEP=$((1 + NUM_SPEC_TOKENS))
CAPTURE_SIZES=""
for ((n = 1; n <= MAX_NUM_SEQS; n++)); do
    CAPTURE_SIZES+="${CAPTURE_SIZES:+,}$((n * CAPTURE_STEP))"
done
COMPILATION_CONFIG="{\"cudagraph_mode\":\"FULL_AND_PIECEWISE\",\"cudagraph_capture_sizes\":[${CAPTURE_SIZES}]}"

{ set +x; } 2>/dev/null
VLLM_CMD=(
    vllm serve "$MODEL_PATH" --served-model-name "$MODEL"
    --host 0.0.0.0
    --port "$PORT"
    --tensor-parallel-size "$TP"
    "${CP_ARGS[@]}"
    --max-num-seqs "$MAX_NUM_SEQS"
    --gpu-memory-utilization "$GPU_MEM_UTIL"
    --max-num-batched-tokens 16384
    --trust-remote-code
    --language-model-only
    --load-format fastsafetensors
    --moe-backend auto
    --no-enable-flashinfer-autotune
    --enable-cumem-allocator
    --enable-prefix-caching
    --prefix-match-unit 128
    --kv-cache-dtype fp8
    --stream-interval 10
    --attention-backend TOKENSPEED_MLA
    --attention-config '{"mla_prefill_backend":"TRTLLM_RAGGED","use_prefill_query_quantization":true}'
    "${SPEC_ARGS[@]}"
    --compilation-config "$COMPILATION_CONFIG"
    --disable-uvicorn-access-log
    "${OFFLOAD_ARGS[@]}"
)
printf '%q ' "${VLLM_CMD[@]}" | tee "$RESULT_DIR/vllm_command.txt"
"${VLLM_CMD[@]}" > "$SERVER_LOG" 2>&1 &
SERVER_PID=$!
wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"

#!/usr/bin/env bash
source "$(dirname "$0")/benchmark_lib.sh"
check_env_vars MODEL TP CONC ISL OSL MAX_MODEL_LEN RESULT_FILENAME DP_ATTENTION EP_SIZE

hf download "$MODEL"
export TLLM_OVERRIDE_LAYER_NUM=61

CUDA_GRAPH_MAX_BATCH_SIZE=$CONC
MOE_BACKEND="TRTLLM"
PIECEWISE_CUDA_GRAPHS="false"
KV_CACHE_FREE_MEM_FRACTION=0.8

if [[ "$ISL" == "1024" && "$OSL" == "1024" ]]; then
    if [[ $CONC -ge 256 ]]; then
        CUDA_GRAPH_MAX_BATCH_SIZE=$(( $CONC / 8 ))
        MOE_BACKEND="DEEPGEMM"
        KV_CACHE_FREE_MEM_FRACTION=0.7
    elif [[ $CONC -ge 64 ]]; then
        PIECEWISE_CUDA_GRAPHS="true"
    fi
elif [[ "$ISL" == "8192" && "$OSL" == "1024" ]]; then
    if [[ "$TP" == "4" ]]; then
        KV_CACHE_FREE_MEM_FRACTION=0.75
    fi
fi

SERVER_LOG=/workspace/server.log
PORT=${PORT:-8888}
EXTRA_CONFIG_FILE="dsr1-fp8.yml"

cat > $EXTRA_CONFIG_FILE << EOF
cuda_graph_config:
    enable_padding: true
    max_batch_size: $CUDA_GRAPH_MAX_BATCH_SIZE
enable_attention_dp: $DP_ATTENTION
print_iter_log: true
kv_cache_config:
    dtype: fp8
    free_gpu_memory_fraction: $KV_CACHE_FREE_MEM_FRACTION
    enable_block_reuse: false
stream_interval: 10
moe_config:
    backend: $MOE_BACKEND
EOF

if [[ "$DP_ATTENTION" == "true" ]]; then
    cat << EOF >> $EXTRA_CONFIG_FILE
attention_dp_config:
    batching_wait_iters: 0
    enable_balance: true
    timeout_iters: 60
EOF
fi

MAX_NUM_TOKENS=$(( ($CONC+$ISL+64+63)/64*64 ))
MAX_MODEL_LEN=$(( MAX_MODEL_LEN > 8192 ? MAX_MODEL_LEN : 8192 ))
MAX_NUM_TOKENS=$(( MAX_NUM_TOKENS > 8192 ? MAX_NUM_TOKENS : 8192 ))

set -x
mpirun -n 1 --oversubscribe --allow-run-as-root \
    trtllm-serve $MODEL --port=$PORT \
    --trust_remote_code \
    --backend=pytorch \
    --max_seq_len=$MAX_MODEL_LEN \
    --max_num_tokens=$MAX_NUM_TOKENS \
    --tp_size=$TP --ep_size=$EP_SIZE \
    --extra_llm_api_options=$EXTRA_CONFIG_FILE \
    > $SERVER_LOG 2>&1 &

SERVER_PID=$!
wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"

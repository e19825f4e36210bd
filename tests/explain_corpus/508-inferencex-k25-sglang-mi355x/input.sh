#!/usr/bin/env bash
source "$(dirname "$0")/../../benchmark_lib.sh"

check_env_vars \
    MODEL \
    TP \
    CONC \
    ISL \
    OSL \
    MAX_MODEL_LEN \
    RESULT_FILENAME

if [[ "$MODEL" != /* ]]; then hf download "$MODEL"; fi

# hipBLASLt for the matrix products of MI355X
export TORCH_BLAS_PREFER_HIPBLASLT=1
export SGLANG_USE_AITER=1

# norm of AITER is not exact with fewer than eight ranks
if [ "${TP}" -lt 8 ]; then
  export SGLANG_USE_AITER_RMSNORM=0
fi

SERVER_LOG=/workspace/server.log
PORT=${PORT:-8888}

set -x
python3 -m sglang.launch_server \
    --model-path "$MODEL" \
    --host 0.0.0.0 --port "$PORT" \
    --tensor-parallel-size "$TP" \
    --trust-remote-code \
    --attention-backend aiter \
    --mem-fraction-static 0.85 \
    --context-length "$MAX_MODEL_LEN" \
    --disable-radix-cache > "$SERVER_LOG" 2>&1 &

SERVER_PID=$!
wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"

run_benchmark_serving \
    --model "$MODEL" --port "$PORT" --backend vllm \
    --input-len "$ISL" --output-len "$OSL" \
    --num-prompts "$((CONC * 10))" --max-concurrency "$CONC" \
    --result-filename "$RESULT_FILENAME" --result-dir /workspace/

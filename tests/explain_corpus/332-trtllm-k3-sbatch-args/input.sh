#!/bin/bash
#
# K3 on 16 Blackwell GPUs: server, then clients.
#
#   sbatch examples/kimi_k3/run_serving_benchmark_kimi_k3.sbatch \
#       --model /path/to/kimi-k3-checkpoint \
#       --image /path/to/tensorrt-llm-container.sqsh
#
# also --isl N (8192), --osl N (1024), --concurrencies "64 256"
# partition and account below are to be changed
#
#SBATCH --job-name=kimi-k3-serving-benchmark
#SBATCH --partition=batch
#SBATCH --account=${account}
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --time=03:00:00
#SBATCH --output=kimi-k3-serving-benchmark-%j.log

set -euo pipefail

usage() {
    echo "Usage: sbatch $0 --model PATH --image PATH [--isl N] [--osl N] [--concurrencies \"64 256\"]"
}

MODEL=""
CONTAINER_IMAGE=""
ISL=8192
OSL=1024
CONCURRENCIES="64 256"
PORT=8000
while [[ $# -gt 0 ]]; do
    case "$1" in
        --model|--image|--isl|--osl|--concurrencies)
            [[ $# -ge 2 ]] || { echo "error: $1 requires a value" >&2; usage >&2; exit 2; }
            VALUE=$2
            OPT=$1
            shift 2
            ;;
        --model=*|--image=*|--isl=*|--osl=*|--concurrencies=*)
            VALUE=${1#*=}
            OPT=${1%%=*}
            shift
            ;;
        -h|--help)
            usage
            exit 0
            ;;
        *)
            echo "error: unknown argument: $1" >&2
            exit 2
            ;;
    esac
    case "$OPT" in
        --model) MODEL=$VALUE ;;
        --image) CONTAINER_IMAGE=$VALUE ;;
        --isl) ISL=$VALUE ;;
        --osl) OSL=$VALUE ;;
        --concurrencies) CONCURRENCIES=$VALUE ;;
    esac
done

[[ -n "$MODEL" ]] || { echo "error: --model is required" >&2; usage >&2; exit 2; }
[[ -n "$CONTAINER_IMAGE" ]] || { echo "error: --image is required" >&2; usage >&2; exit 2; }

MAX_SEQ_LEN=$((ISL + OSL + 128))

REPO=${REPO:-$SLURM_SUBMIT_DIR}
WORK_DIR=$SLURM_SUBMIT_DIR/kimi-k3-serving-benchmark-$SLURM_JOB_ID
mkdir -p "$WORK_DIR"

CONFIG_FILE=$WORK_DIR/serve_config.yaml
cat > "$CONFIG_FILE" <<'EOF'
enable_attention_dp: true
moe_expert_parallel_size: 16
disable_overlap_scheduler: false
cuda_graph_config:
  max_batch_size: 32
enable_chunked_prefill: true
kv_cache_config:
  enable_block_reuse: false
  free_gpu_memory_fraction: 0.25
EOF

CACHE_DIR=${CACHE_DIR:-$SLURM_SUBMIT_DIR/.kimi_k3_cache}
mkdir -p "$CACHE_DIR"

MOUNTS="$REPO:$REPO:rw,$MODEL:$MODEL:ro,$WORK_DIR:$WORK_DIR:rw,$CACHE_DIR:$CACHE_DIR:rw"
HEAD_NODE=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | awk 'NR == 1')

SERVER_PID=""
cleanup() { [[ -n "$SERVER_PID" ]] && kill "$SERVER_PID" 2>/dev/null || true; }
trap cleanup EXIT

srun --mpi=pmix --kill-on-bad-exit=1 \
    --container-image="$CONTAINER_IMAGE" \
    --container-mount-home \
    --container-mounts="$MOUNTS" \
    --output="$WORK_DIR/serve.log" \
    bash -c "
        set -x
        ulimit -n 65536

        export TRITON_CACHE_DIR=/tmp/triton-cache-rank\${SLURM_PROCID:-0}
        mkdir -p \"\$TRITON_CACHE_DIR\"
        export FLASHINFER_WORKSPACE_BASE=$CACHE_DIR/fi_workspace
        unset TRTLLM_FORCE_COMM_METHOD
        export PATH=\"$REPO/.venv-3.12/bin:\$PATH\"
        export TLLM_LOG_LEVEL=\${TLLM_LOG_LEVEL:-info}

        exec '$REPO/tensorrt_llm/llmapi/trtllm-llmapi-launch' trtllm-serve \
            \"$MODEL\" \
            --backend pytorch \
            --host 0.0.0.0 \
            --port $PORT \
            --tp_size 16 \
            --max_batch_size 32 \
            --max_num_tokens 8192 \
            --max_seq_len $MAX_SEQ_LEN \
            --trust_remote_code \
            --config '$CONFIG_FILE'
    " &
SERVER_PID=$!

deadline=$((SECONDS + 1500))
until curl -sf -o /dev/null "http://127.0.0.1:$PORT/health"; do
    if ! kill -0 "$SERVER_PID" 2>/dev/null || (( SECONDS >= deadline )); then
        scancel "$SLURM_JOB_ID"
        exit 1
    fi
    sleep 15
done

srun --overlap --kill-on-bad-exit=1 --nodes=1 --ntasks=1 -w "$HEAD_NODE" \
    --container-image="$CONTAINER_IMAGE" \
    --container-mounts="$MOUNTS" \
    bash -c "
        run_client() {
            python3 -m tensorrt_llm.serve.scripts.benchmark_serving \
                --model \"$MODEL\" \
                --host 127.0.0.1 \
                --port $PORT \
                --dataset-name random \
                --random-input-len $ISL \
                --random-output-len $OSL \
                --trust-remote-code \
                \"\$@\"
        }

        for concurrency in $CONCURRENCIES; do
            run_client \
                --num-prompts \$((concurrency * 10)) \
                --max-concurrency \$concurrency
        done
    "

#!/bin/bash
# Kimi K2 Instruct on bare metal
#
# What happened before the two settings at the end of the command were there (vLLM of pip, 8x B200):
#   Error: Failed to initialize the TMA descriptor 700
#   Failed: Cuda error /workspace/csrc/custom_all_reduce.cuh:455 'an illegal memory access was encountered'
set -e

MODEL_NAME="moonshotai/Kimi-K2-Instruct-0905"
VENV_DIR=".venv"

usage() {
    echo "Usage: $0 [OPTIONS]"
    echo "  --setup-only        Only set up the environment"
    echo "  --port              Serving port (default: 8000)"
    echo "  --max-model-len     Maximum model length (default: 65536, max: 131072)"
    echo "  --max-batch-tokens  Maximum batched tokens (default: 32768)"
    echo "  --gpu-mem-util      GPU memory utilization (default: 0.85)"
    echo ""
    echo "Examples:"
    echo "  $0 --setup-only"
    echo "  $0"
    echo "  $0 --max-model-len 131072 --max-batch-tokens 65536 --gpu-mem-util 0.95"
    exit 1
}

SETUP_ONLY=false
PORT=8000
MAX_MODEL_LEN=65536
MAX_BATCH_TOKENS=32768
GPU_MEM_UTIL=0.85

while [[ $# -gt 0 ]]; do
    case $1 in
        --setup-only)
            SETUP_ONLY=true
            shift
            ;;
        --port)
            PORT="$2"
            shift 2
            ;;
        --max-model-len)
            MAX_MODEL_LEN="$2"
            shift 2
            ;;
        --max-batch-tokens)
            MAX_BATCH_TOKENS="$2"
            shift 2
            ;;
        --gpu-mem-util)
            GPU_MEM_UTIL="$2"
            shift 2
            ;;
        --help)
            usage
            ;;
        *)
            echo "Unknown option: $1"
            usage
            ;;
    esac
done

if ! command -v uv &> /dev/null; then
    echo "Error: 'uv' is not installed."
    exit 1
fi
if [ ! -d "$VENV_DIR" ]; then
    uv venv "$VENV_DIR"
fi
source "$VENV_DIR/bin/activate"
uv pip install -U vllm --torch-backend auto
if [ "$SETUP_ONLY" = true ]; then
    exit 0
fi

LOGS_DIR="logs"
mkdir -p "$LOGS_DIR"
TIMESTAMP=$(date +"%Y%m%d_%H%M%S")
LOG_FILE="$LOGS_DIR/kimi_k2_${TIMESTAMP}.log"

echo "Configuration:"
echo "  - Tensor Parallel Size: 8"
echo "  - Max Model Length: $MAX_MODEL_LEN"
echo "  - Max Num Seqs: 64"
echo "  - KV Cache: auto (B200 compatibility)"
echo "Starting vLLM server..." | tee -a "$LOG_FILE"

if command -v script &> /dev/null; then
    script -q -c "vllm serve \"$MODEL_NAME\" \
        --trust-remote-code \
        --tokenizer-mode auto \
        --tensor-parallel-size 8 \
        --dtype bfloat16 \
        --quantization fp8 \
        --max-model-len \"$MAX_MODEL_LEN\" \
        --max-num-seqs 64 \
        --max-num-batched-tokens \"$MAX_BATCH_TOKENS\" \
        --enable-chunked-prefill \
        --kv-cache-dtype auto \
        --gpu-memory-utilization \"$GPU_MEM_UTIL\" \
        --enable-auto-tool-choice \
        --tool-call-parser kimi_k2 \
        --disable-custom-all-reduce \
        --port \"$PORT\"" "$LOG_FILE"
else
    vllm serve "$MODEL_NAME" \
        --trust-remote-code \
        --tokenizer-mode auto \
        --tensor-parallel-size 8 \
        --dtype bfloat16 \
        --quantization fp8 \
        --max-model-len "$MAX_MODEL_LEN" \
        --max-num-seqs 64 \
        --max-num-batched-tokens "$MAX_BATCH_TOKENS" \
        --enable-chunked-prefill \
        --kv-cache-dtype auto \
        --gpu-memory-utilization "$GPU_MEM_UTIL" \
        --enable-auto-tool-choice \
        --tool-call-parser kimi_k2 \
        --disable-custom-all-reduce \
        --port "$PORT" 2>&1 | tee -a "$LOG_FILE"
fi

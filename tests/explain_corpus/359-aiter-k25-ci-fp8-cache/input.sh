#!/bin/bash
# Kimi-K2.5 on vLLM: gsm8k, inside rocm/vllm-dev:nightly with this branch's AITER
set -uo pipefail

MODEL_PATH=${MODEL_PATH:-amd/Kimi-K2.5-MXFP4}
TP=${TP:-8}
PORT=${PORT:-8000}
FEWSHOT=${FEWSHOT:-3}
OUT=${OUT:-/tmp/kimi_vllm_acc}
mkdir -p "$OUT"
SLOG="$OUT/server.log"

export AITER_QUICK_REDUCE_QUANTIZATION=${AITER_QUICK_REDUCE_QUANTIZATION:-INT4}
export VLLM_ROCM_USE_AITER=${VLLM_ROCM_USE_AITER:-1}

if [ -d "/models/${MODEL_PATH}" ]; then MODEL="/models/${MODEL_PATH}"; else MODEL="${MODEL_PATH}"; fi
echo "model=$MODEL tp=$TP"
python3 -c "import vllm;print('vllm',vllm.__version__)" 2>/dev/null | tail -1
command -v lm_eval >/dev/null 2>&1 || pip install -q "lm-eval[api]"

if ss -tlnp 2>/dev/null | grep -q ":${PORT} "; then echo "ERROR: port $PORT busy"; exit 3; fi

vllm serve "$MODEL" \
    --host 127.0.0.1 --port "$PORT" \
    --async-scheduling \
    --load-format fastsafetensors \
    --tensor-parallel-size "$TP" \
    --trust-remote-code \
    --compilation-config '{"cudagraph_mode": "FULL_AND_PIECEWISE"}' \
    --kv-cache-dtype fp8 \
    --max-num-batched-tokens 16384 \
    --max-model-len 16384 \
    --no-enable-prefix-caching \
    > "$SLOG" 2>&1 &
SVPID=$!

ready=0
for i in $(seq 1 2400); do
  curl -fsS "http://127.0.0.1:${PORT}/health" >/dev/null 2>&1 && { ready=1; break; }
  kill -0 $SVPID 2>/dev/null || { echo "SERVER DIED"; tail -n 80 "$SLOG"; exit 4; }
  sleep 1
done
[ "$ready" -eq 1 ] || { echo "SERVER NOT READY"; tail -n 80 "$SLOG"; exit 5; }

lm_eval --model local-completions \
  --model_args model="$MODEL",base_url="http://127.0.0.1:${PORT}/v1/completions",num_concurrent=64,max_retries=3,tokenized_requests=False,trust_remote_code=True \
  --tasks gsm8k --num_fewshot "$FEWSHOT" \
  --output_path "$OUT/acc" 2>&1 | tee "$OUT/accuracy.txt"

kill $SVPID 2>/dev/null || true; sleep 3

rf=$(find "$OUT/acc" -name '*.json' 2>/dev/null | head -1)
if [ -z "$rf" ]; then echo "ERROR: no lm_eval result JSON"; exit 6; fi
val=$(python3 -c "import json,sys;d=json.load(open('$rf'));print(d['results']['gsm8k']['exact_match,flexible-extract'])")
echo "KIMI_FLEX_EXTRACT=${val}"

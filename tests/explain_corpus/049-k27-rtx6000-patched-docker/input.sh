PATCH_ROOT=/srv/patches
IMAGE=registry.example.org/vllm:k27-sm120
docker run -d --name kimi-k27 \
  --gpus all --ipc=host --shm-size=32g --network=host --init \
  --ulimit memlock=-1 \
  -v ~/.cache/huggingface:/data/huggingface \
  -v "$PATCH_ROOT/vllm/v1/spec_decode/dflash.py:/opt/venv/lib/python3.12/site-packages/vllm/v1/spec_decode/dflash.py:ro" \
  -v "$PATCH_ROOT/vllm/v1/attention/backends/mla/triton_mla.py:/opt/venv/lib/python3.12/site-packages/vllm/v1/attention/backends/mla/triton_mla.py:ro" \
  "$IMAGE" /opt/venv/bin/vllm serve moonshotai/Kimi-K2.7-Code \
    --served-model-name Kimi-K2.7-Code \
    --host 0.0.0.0 \
    --port 7801 \
    --trust-remote-code \
    --tensor-parallel-size 8 \
    --decode-context-parallel-size 4 \
    --kv-cache-dtype fp8 \
    --attention-backend TRITON_MLA \
    --gpu-memory-utilization 0.94 \
    --max-model-len 262144 \
    --max-num-seqs 1 \
    --max-num-batched-tokens 8192 \
    --max-cudagraph-capture-size 8 \
    --mm-processor-cache-gb 0 \
    --mm-encoder-tp-mode weights \
    --reasoning-parser kimi_k2 \
    --tool-call-parser kimi_k2 \
    --enable-auto-tool-choice \
    --async-scheduling \
    --enable-chunked-prefill \
    --enable-prefix-caching \
    --load-format fastsafetensors

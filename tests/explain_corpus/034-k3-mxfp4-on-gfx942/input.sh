# 8x AMD Instinct MI325X (gfx942), docker.io/vllm/vllm-openai-rocm:kimi-k3, rootless podman
export VLLM_ROCM_USE_AITER=1 SAFETENSORS_FAST_GPU=1
export VLLM_ROCM_USE_AITER_MOE_SITUV2_A8W4=1 AITER_BF16_FP8_MOE_BOUND=0
export VLLM_USE_BREAKABLE_CUDAGRAPH=0

vllm serve /models/kimi-k3 \
  --served-model-name moonshotai/Kimi-K3 \
  --trust-remote-code \
  --tensor-parallel-size 8 \
  --gpu-memory-utilization 0.95 \
  --load-format auto \
  --mm-encoder-tp-mode data \
  --max-num-seqs 128 \
  --reasoning-parser kimi_k3 \
  --enable-auto-tool-choice \
  --tool-call-parser kimi_k3 \
  --max-num-batched-tokens 4096 \
  --compilation-config '{"cudagraph_mode":"FULL_DECODE_ONLY","custom_ops":["+fused_rms_norm_gated"]}' \
  --host 0.0.0.0 --port 8000

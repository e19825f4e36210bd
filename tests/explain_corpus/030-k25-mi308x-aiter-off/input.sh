# vLLM 0.15.0, AMD MI308X
VLLM_USE_V1=1              \
SAFETENSORS_FAST_GPU=1     \
VLLM_ROCM_USE_AITER=0      \
VLLM_ROCM_USE_AITER_MOE=0  \
VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS=0  \
VLLM_USE_TRITON_FLASH_ATTN=0 NCCL_DEBUG=WARN \
VLLM_LOGGING_LEVEL=DEBUG     \
VLLM_RPC_TIMEOUT=18000000    \
VLLM_ROCM_USE_AITER_MLA=0    \
VLLM_ROCM_USE_AITER_MHA=0    \
VLLM_TORCH_PROFILER_DIR=./vllm_profile  \
vllm serve /path/xxx  \
    --tensor-parallel-size 8 --data-parallel-size 1  \
    --max-num-seqs 15 --max-num-batched-tokens 32768 \
    --mm-encoder-tp-mode data --tool-call-parser kimi_k2 --reasoning-parser kimi_k2 \
    --trust-remote-code \
    --no-enable-prefix-caching --disable-log-requests \
    --gpu-memory-utilization 0.8 --load-format fastsafetensors \
    --block-size 64 --async-scheduling \
    --compilation-config '{"cudagraph_mode": "FULL_AND_PIECEWISE", "custom_ops": ["+rotary_embedding"]}'

export VLLM_ROCM_USE_AITER=1  # AITER for attention and tensors
export VLLM_ROCM_QUICK_REDUCE_QUANTIZATION=INT4  # faster all-reduce
export VLLM_ROCM_USE_AITER_RMSNORM=0  # not for RMSNorm

vllm serve moonshotai/Kimi-K2.5 -tp 8 \
    --mm-encoder-tp-mode data \
    --tool-call-parser kimi_k2 \
    --reasoning-parser kimi_k2 \
    --enable-auto-tool-choice \
    --block-size=1 \
    --mm-encoder-tp-mode data \
    --trust-remote-code

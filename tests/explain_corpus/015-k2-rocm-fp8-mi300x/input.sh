# MI300X, inside rocm/vllm-dev:nightly
SAFETENSORS_FAST_GPU=1 \
VLLM_USE_V1=1 \
VLLM_USE_TRITON_FLASH_ATTN=0 vllm serve moonshotai/Kimi-K2-Instruct -tp 8  --no-enable-prefix-caching --trust-remote-code 

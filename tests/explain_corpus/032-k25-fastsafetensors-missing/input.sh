# rocm/vllm-dev:nightly on MI350X
vllm serve amd/Kimi-K2.5-MXFP4 \
  --tensor-parallel-size 8 \
  --trust-remote-code \
  --kv-cache-dtype fp8 \
  --load-format fastsafetensors \
  --mm-encoder-tp-mode data

# a sketch; see the documentation for real flags
vllm serve moonshotai/Kimi-K3 \
  --tensor-parallel-size 8 \
  --max-model-len 1048576 \
  --quantization mxfp4 \
  --speculative-model eagle3 \
  --trust-remote-code

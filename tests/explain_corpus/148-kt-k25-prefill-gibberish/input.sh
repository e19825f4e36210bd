# one RTX PRO 6000 96 GB, two Xeon with 768 GB
PYTORCH_ALLOC_CONF=expandable_segments:True \
SGLANG_ENABLE_JIT_DEEPGEMM=0 \
python -m sglang.launch_server \
  --host 0.0.0.0 \
  --port 5000 \
  --model /mnt/data2/models/Kimi-K2.5 \
  --kt-weight-path /mnt/data2/models/Kimi-K2.5 \
  --kt-cpuinfer 128 \
  --kt-threadpool-count 4 \
  --kt-num-gpu-experts 0 \
  --kt-method RAWINT4 \
  --kt-gpu-prefill-token-threshold 512 \
  --trust-remote-code \
  --mem-fraction-static 0.98 \
  --served-model-name moonshotai/Kimi-K2.5 \
  --enable-mixed-chunk \
  --tensor-parallel-size 1 \
  --enable-p2p-check \
  --disable-shared-experts-fusion \
  --chunked-prefill-size 4096 \
  --context-length 32768 \
  --max-total-tokens 32768 \
  --max-running-requests 1 \
  --attention-backend flashinfer

docker run --rm --gpus all --network host --ipc host \
  -v ~/.cache/huggingface:/data/huggingface \
  -v /mnt/nccl_graph_opt.xml:/mnt/nccl_graph_opt.xml:ro \
  voipmonitor/vllm:cu130-mtp-cg-fix-20260423 \
  bash -lc '
VLLM_SPECULATIVE_DISABLE_ABOVE_SEQ_LEN=100000 \
VLLM_ENABLE_PCIE_ALLREDUCE=1 \
NCCL_P2P_LEVEL=SYS \
NCCL_GRAPH_FILE=/mnt/nccl_graph_opt.xml \
VLLM_TEST_FORCE_FP8_MARLIN=1 \
VLLM_MARLIN_USE_ATOMIC_ADD=1 \
VLLM_MARLIN_INPUT_DTYPE=fp8 \
/opt/venv/bin/vllm serve moonshotai/Kimi-K2.6 \
  --served-model-name Kimi-K2.5 \
  --trust-remote-code --host 0.0.0.0 --port 5002 \
  --tensor-parallel-size 8 --pipeline-parallel-size 1 \
  --enable-chunked-prefill --enable-prefix-caching \
  --load-format fastsafetensors --async-scheduling \
  --gpu-memory-utilization 0.90 \
  --max-num-batched-tokens 8192 --max-num-seqs 128 \
  --max-model-len 131072 \
  --attention-backend TRITON_MLA --kv-cache-dtype fp8 \
  --tool-call-parser kimi_k2 --enable-auto-tool-choice --reasoning-parser kimi_k2 \
  --speculative-config '\''{"model":"lightseekorg/kimi-k2.5-eagle3-mla","method":"eagle3","num_speculative_tokens":3,"draft_attention_backend":"TRITON_MLA","draft_kv_cache_dtype":"fp8"}'\''
'

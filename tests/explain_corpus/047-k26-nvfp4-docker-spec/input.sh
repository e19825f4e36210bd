docker run --gpus all \
  --privileged --ipc=host -p 8000:8000 \
  -v ~/.cache/huggingface:/data/huggingface \
  -e VLLM_USE_FLASHINFER_MOE_FP4=1 \
  vllm/vllm-openai:latest nvidia/Kimi-K2.6-NVFP4 \
  --trust-remote-code \
  --kv-cache-dtype fp8 \
  --enable-expert-parallel \
  --tensor-parallel-size 8 \
  --attention-config.use_trtllm_ragged_deepseek_prefill=True \
  --reasoning-parser kimi_k2 \
  --tool-call-parser kimi_k2 \
  --enable-auto-tool-choice \
  --speculative-config '{"model":"lightseekorg/kimi-k2.6-eagle3-mla","method":"eagle3","num_speculative_tokens":3}' \
  --language-model-only

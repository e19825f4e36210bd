# start with vllm serve
vllm serve /models/Kimi-K2-Thinking \
    --served-model-name kimi-k2-thinking \
    --distributed-executor-backend ray \
    --host 0.0.0.0 \
    --port 8000 \
    --tensor-parallel-size 16 \
    --pipeline-parallel-size 4 \
    --trust-remote-code \
    --tool-call-parser kimi_k2 \
    --reasoning-parser kimi_k2 \
    --enable-auto-tool-choice \
    --no-enable-prefix-caching \，KeyError: 'model.layers.30.self_attn.attn'

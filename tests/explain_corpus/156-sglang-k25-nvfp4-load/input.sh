# B200
python -m sglang.launch_server \
    --model-path /models/Kimi-K2.5-NVFP4 \
    --host 0.0.0.0 \
    --served-model-name Kimi-K2.5 \
    --trust-remote-code \
    --enable-metrics \
    --log-level-http error \
    --log-level info \
    --show-time-cost \
    --tp-size 8 \
    --decode-log-interval 10 \
    --watchdog-timeout 20000 \
    --tool-call-parser kimi_k2 \
    --reasoning-parser kimi_k2 \
    --mem-fraction-static 0.8 \
    --mm-attention-backend triton_attn \
    --chunked-prefill-size 8192 \
    --cuda-graph-max-bs 16 \
    --port 3001

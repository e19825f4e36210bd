python -m sglang.launch_server \
      --model-path /mnt/raid/models/DeepSeek-V3-0324 \
      --trust-remote-code \
      --tp-size 8 \
      --dp-size 8 \
      --enable-dp-attention \
      --reasoning-parser deepseek-v3

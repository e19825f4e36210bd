#!/bin/sh
# The servers of seeds 1, 3 and 4 as people put them into containers and behind launchers; ours.
docker run --gpus all --ipc=host -p 8000:8000 -e VLLM_USE_V1=1 vllm/vllm-openai:v0.33.0 \
  --model moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --reasoning-parser kimi_k2

docker run --gpus all --network host --privileged -v /:/work lmsysorg/sglang:v0.5.23 \
  python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 8 --kv-cache-dtype fp8 --host 0.0.0.0

ssh -o StrictHostKeyChecking=no root@node0 "SAFETENSORS_FAST_GPU=1 vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --disable-log-requests"

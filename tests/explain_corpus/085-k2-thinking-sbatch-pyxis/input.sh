#!/bin/bash
#SBATCH --job-name=k2-thinking
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --gres=gpu:8
#SBATCH --cpus-per-task=64
#SBATCH --container-image=vllm/vllm-openai:nightly-8711b21
#SBATCH --no-container-entrypoint
#SBATCH --container-mounts=/shared/weights:/model_weights
#SBATCH --output=%x-%j.log

MODEL="moonshotai/Kimi-K2-Thinking"
PORT=8000

echo "serving $MODEL on $(hostname):$PORT"

exec vllm serve $MODEL \
  --download-dir /model_weights \
  --trust-remote-code \
  --tensor-parallel-size 8 \
  --enable-auto-tool-choice \
  --max-num-batched-tokens 32768 \
  --tool-call-parser kimi_k2 \
  --reasoning-parser kimi_k2 \
  --host 0.0.0.0 \
  --port $PORT

#!/bin/bash
set -e
# eight H100 80GB, HGX
MODEL_PATH="/home/user/models/Kimi-K2-Thinking"
HOST="0.0.0.0"
PORT=8000
CONTAINER_NAME="kimi-k2-thinking"
API_KEY_FILE="/home/user/.api_key"
if [ ! -f "${API_KEY_FILE}" ]; then
  API_KEY="sk-$(openssl rand -hex 32)"
  echo "${API_KEY}" > "${API_KEY_FILE}"
else
  API_KEY=$(cat "${API_KEY_FILE}")
fi

if sudo docker ps -a --format '{{.Names}}' | grep -q "^${CONTAINER_NAME}$"; then
  sudo docker stop ${CONTAINER_NAME} 2>/dev/null || true
  sudo docker rm ${CONTAINER_NAME} 2>/dev/null || true
fi

sudo docker run -d \
  --name ${CONTAINER_NAME} \
  --gpus all \
  --restart unless-stopped \
  -v "${MODEL_PATH}:/model" \
  -p ${PORT}:8000 \
  --ipc=host \
  -e NCCL_DEBUG=INFO \
  -e NCCL_IB_DISABLE=0 \
  -e NCCL_NET_GDR_LEVEL=5 \
  vllm/vllm-openai:nightly \
  --model /model \
  --host 0.0.0.0 \
  --port 8000 \
  --api-key "${API_KEY}" \
  --tensor-parallel-size 8 \
  --trust-remote-code \
  --served-model-name "kimi-k2-thinking" \
  --reasoning-parser kimi_k2 \
  --tool-call-parser kimi_k2 \
  --enable-auto-tool-choice \
  --max-num-batched-tokens 32768 \
  --disable-log-requests
  # --dtype auto \
  # --max-model-len 131072 \
  # --max-num-seqs 4 \
  # --gpu-memory-utilization 0.90 \

echo "started"
(sudo docker logs -f ${CONTAINER_NAME} >> server.log 2>&1) &

#!/bin/bash
set -e

# a disk for the models, if there is one
if [ -e /dev/nvme1n1 ]; then
  sudo mkfs.ext4 -F /dev/nvme1n1
  sudo mount /dev/nvme1n1 /mnt/models
  echo "/dev/nvme1n1 /mnt/models ext4 defaults,nofail 0 0" | sudo tee -a /etc/fstab
fi

cat > /home/ubuntu/.sglang_env <<EOF
MODEL_NAME=$MODEL_NAME
MODEL_REPO=$MODEL_REPO
HF_TOKEN=$HF_TOKEN
SGLANG_PORT=$SGLANG_PORT
EOF
chmod 600 /home/ubuntu/.sglang_env

sudo docker pull lmsysorg/sglang:latest

sudo tee /etc/systemd/system/sglang.service > /dev/null <<EOF
[Unit]
Description=SGLang Inference Server
After=network.target docker.service
Requires=docker.service

[Service]
Type=simple
User=ubuntu
EnvironmentFile=-/home/ubuntu/.sglang_env

ExecStartPre=-/usr/bin/docker rm -f sglang-server
ExecStart=/usr/bin/docker run --rm --name sglang-server \
    --gpus all \
    --shm-size 16g \
    --ulimit memlock=-1 \
    -p $SGLANG_PORT:$SGLANG_PORT \
    -v /mnt/models:/data/cache/huggingface \
    -e HF_TOKEN=$HF_TOKEN \
    lmsysorg/sglang:latest \
    python3 -m sglang.launch_server \
      --model-path $MODEL_REPO \
      --host 0.0.0.0 \
      --port $SGLANG_PORT \
      --context-length $SGLANG_CONTEXT_LENGTH \
      --mem-fraction-static $SGLANG_MEM_FRACTION_STATIC \
      --tool-call-parser $SGLANG_TOOL_CALL_PARSER
ExecStop=/usr/bin/docker stop sglang-server

Restart=on-failure
RestartSec=10s

[Install]
WantedBy=multi-user.target
EOF

sudo systemctl daemon-reload
sudo systemctl enable sglang

sudo tee /usr/local/bin/check_sglang_health.sh > /dev/null <<'HEALTH_EOF'
#!/bin/bash
SGLANG_PORT=${SGLANG_PORT:-30000}
for i in $(seq 60); do
  curl -s http://localhost:$SGLANG_PORT/health > /dev/null 2>&1 && exit 0
  sleep 10
done
exit 1
HEALTH_EOF

cat > /home/ubuntu/test_api.sh <<'TEST_EOF'
#!/bin/bash
HOST=${1:-"http://localhost:30000"}
curl -s "$HOST/v1/models" | jq '.'
TEST_EOF

sudo reboot

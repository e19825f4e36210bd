#!/bin/bash
set -euo pipefail
set -e

GREEN='\033[0;32m'
RED='\033[0;31m'
NC='\033[0m'

GPU_DROPLET_NAME="kimi-gpu"
GPU_REGION="ams3"
GPU_SIZE="gpu-l40s-48gb"  # one L40S, 48 GB
GPU_IMAGE="nvidia-ubuntu-22-04"

provision_gpu_droplet() {
    SSH_KEYS=$(doctl compute ssh-key list --format ID --no-header | tr '\n' ','  | sed 's/,$//')
    CMD="doctl compute droplet create ${GPU_DROPLET_NAME}"
    CMD+=" --region ${GPU_REGION}"
    CMD+=" --size ${GPU_SIZE}"
    CMD+=" --image ${GPU_IMAGE}"
    CMD+=" --ssh-keys ${SSH_KEYS}"
    CMD+=" --wait"
    eval "$CMD"
}

get_droplet_ip() {
    doctl compute droplet get "${GPU_DROPLET_NAME}" --format PublicIPv4 --no-header 2>/dev/null || echo ""
}

setup_vllm() {
    IP=$(get_droplet_ip)
    if [ -z "$IP" ]; then
        echo -e "${RED}no address${NC}"
        exit 1
    fi
    ssh -o StrictHostKeyChecking=no root@"$IP" 'bash -s' << 'REMOTE_SCRIPT'
        set -e
        apt-get update
        apt-get install -y python3-pip python3-venv nginx
        python3 -m venv /opt/vllm-env
        source /opt/vllm-env/bin/activate
        pip install vllm
        cat > /etc/systemd/system/vllm.service << 'SERVICE'
[Unit]
Description=vLLM Kimi K2.5
After=network.target

[Service]
Type=simple
User=root
WorkingDirectory=/opt
ExecStart=/opt/vllm-env/bin/vllm serve moonshotai/Kimi-K2.5-Instruct \
    --tensor-parallel-size 1 \
    --quantization int4 \
    --max-model-len 131072 \
    --port 8000 \
    --host 127.0.0.1
Restart=always
RestartSec=10
Environment="CUDA_VISIBLE_DEVICES=0"

[Install]
WantedBy=multi-user.target
SERVICE

        systemctl daemon-reload
REMOTE_SCRIPT
    echo -e "${GREEN}installed${NC}"
}

setup_nginx() {
    IP=$(get_droplet_ip)
    ssh -o StrictHostKeyChecking=no root@"$IP" 'bash -s' << 'REMOTE_SCRIPT'
        cat > /etc/nginx/sites-available/vllm << 'NGINX'
server {
    listen 80;
    location /v1/ {
        proxy_pass http://127.0.0.1:8000;
        proxy_set_header Host $host;
        proxy_read_timeout 120s;
    }
}
NGINX
        nginx -t && systemctl reload nginx
REMOTE_SCRIPT
}

case "${1:-}" in
    provision) provision_gpu_droplet ;;
    setup) setup_vllm; setup_nginx ;;
    start) ssh root@"$(get_droplet_ip)" 'systemctl enable vllm && systemctl start vllm' ;;
    *) echo "Usage: $0 {provision|setup|start}"; exit 1 ;;
esac

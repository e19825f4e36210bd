#!/bin/bash
# Sets up rented machines (p5en.48xlarge): two roles, gemma or kimi
#   ./setup.sh --host <HOST> --role kimi
#   ./setup.sh --gemma-host <HOST1> --kimi-host <HOST2>
set -euo pipefail

SSH_KEY="${SSH_KEY:-$HOME/.ssh/gpu.pem}"
SSH_USER="${SSH_USER:-ubuntu}"
SSH_OPTS="-o StrictHostKeyChecking=no -o ConnectTimeout=15"
PATIENCE=900
EVERY=30

log() { echo "[$(date +%H:%M:%S)] $*"; }

on_host() {
    local host="$1"; shift
    ssh -i "$SSH_KEY" $SSH_OPTS "$SSH_USER@$host" "$@"
}

prepare() {
    local host="$1"
    on_host "$host" bash -s << 'REMOTE'
set -e
export DATA=/opt/dlami/nvme
[ -f $DATA/vllm-env/bin/activate ] || python3 -m venv $DATA/vllm-env
source $DATA/vllm-env/bin/activate
pip install vllm fastapi uvicorn httpx -q 2>&1 | tail -3
REMOTE
}

launch_gemma() {
    local host="$1"
    on_host "$host" bash -s << 'REMOTE'
export DATA=/opt/dlami/nvme
source $DATA/vllm-env/bin/activate

screen -dmS gemma-256k bash -c "
source $DATA/vllm-env/bin/activate
export CUDA_VISIBLE_DEVICES=0,1,2,3
vllm serve google/gemma-4-31B-it \
  --dtype float16 --max-model-len 262144 --tensor-parallel-size 4 \
  --port 8001 --host 0.0.0.0 --download-dir $DATA/models \
  --trust-remote-code --enable-prefix-caching \
  --enable-auto-tool-choice --tool-call-parser hermes \
  --gpu-memory-utilization 0.95 2>&1 | tee $DATA/gemma-256k.log
"
screen -ls
REMOTE
}

launch_kimi() {
    local host="$1"
    log "Kimi K2.6 on $host, all eight"
    on_host "$host" bash -s << 'REMOTE'
export DATA=/opt/dlami/nvme
source $DATA/vllm-env/bin/activate

screen -dmS kimi-k2.6 bash -c "
source $DATA/vllm-env/bin/activate
vllm serve moonshotai/Kimi-K2.6 \
  --dtype auto --max-model-len 65536 --tensor-parallel-size 8 \
  --port 8001 --host 0.0.0.0 --download-dir $DATA/models \
  --trust-remote-code --gpu-memory-utilization 0.95 \
  --enable-auto-tool-choice --tool-call-parser hermes \
  2>&1 | tee $DATA/kimi-k2.6.log
"

screen -dmS responses-proxy bash -c "
cd $DATA
VLLM_BASE_URL=http://localhost:8001/v1 python responses_proxy.py --port 9010 2>&1 | tee responses-proxy.log
"
REMOTE
}

wait_for() {
    local host="$1" port="$2" elapsed=0
    while [ $elapsed -lt $PATIENCE ]; do
        sleep $EVERY
        elapsed=$((elapsed + EVERY))
        [ "$(on_host "$host" "curl -s -o /dev/null -w '%{http_code}' http://localhost:$port/v1/models")" = 200 ] && return 0
    done
    return 1
}

GEMMA_HOST="" KIMI_HOST="" ROLE="" HOST=""
while [[ $# -gt 0 ]]; do
    case "$1" in
        --gemma-host) GEMMA_HOST="$2"; shift 2 ;;
        --kimi-host)  KIMI_HOST="$2"; shift 2 ;;
        --host)       HOST="$2"; shift 2 ;;
        --role)       ROLE="$2"; shift 2 ;;
        *) echo "Unknown: $1"; exit 1 ;;
    esac
done

if [ -n "$HOST" ] && [ -n "$ROLE" ]; then
    prepare "$HOST"
    "launch_$ROLE" "$HOST"
    wait_for "$HOST" 8001
    exit $?
fi
[ -n "$GEMMA_HOST" ] && { prepare "$GEMMA_HOST"; launch_gemma "$GEMMA_HOST"; }
[ -n "$KIMI_HOST" ] && { prepare "$KIMI_HOST"; launch_kimi "$KIMI_HOST"; }

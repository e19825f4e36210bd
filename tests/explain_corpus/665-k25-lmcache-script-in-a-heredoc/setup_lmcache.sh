#!/bin/bash
set -e
log_info() { echo "[INFO] $*"; }

log_info "config"
cat > /tmp/lmcache-config.yaml << 'EOF'
storage:
  type: disk
  path: /mnt/fsx/lmcache
  max_size_gb: 50000

cache:
  enable_prefix_caching: true
  block_size: 64
  eviction_policy: lru

vllm:
  # as the other side of the comparison
  tensor_parallel_size: 8
  max_model_len: 32768
  gpu_memory_utilization: 0.85

model:
  name: moonshotai/Kimi-K2.5
  path: /mnt/fsx/models/Kimi-K2.5
  trust_remote_code: true
EOF

log_info "launch script"
cat > /usr/local/bin/start-lmcache.sh << 'SCRIPT'
#!/bin/bash
export HF_HUB_OFFLINE=1
export VLLM_ATTENTION_BACKEND=FLASHINFER

mkdir -p /mnt/fsx/lmcache

nohup python3.11 -m lmcache.vllm.entrypoints.openai.api_server \
    --model /mnt/fsx/models/Kimi-K2.5 \
    --tensor-parallel-size 8 \
    --trust-remote-code \
    --enable-prefix-caching \
    --gpu-memory-utilization 0.85 \
    --max-model-len 32768 \
    --lmcache-config-file /tmp/lmcache-config.yaml \
    --port 30081 \
    > /tmp/lmcache-server.log 2>&1 &

echo $! > /tmp/lmcache.pid
SCRIPT
chmod +x /usr/local/bin/start-lmcache.sh

echo "To start:"
echo "  start-lmcache.sh"
echo "  python3.11 run_comparison_benchmarks.py"

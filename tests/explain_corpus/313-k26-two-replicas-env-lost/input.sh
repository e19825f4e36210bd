# K2.6, variant B: two machines, each a server of its own with TP8; one router over both

# ============================================================
# environment, exported on each machine first
# ============================================================
FLASHINFER_DISABLE_VERSION_CHECK=1 \
SGLANG_ENABLE_SPEC_V2=1 \
NCCL_DEBUG=WARN \
NCCL_SOCKET_IFNAME=enp128s4,ens4 \
GLOO_SOCKET_IFNAME=ens4 \
NCCL_IB_DISABLE=1 \
NCCL_P2P_LEVEL=SYS \
NCCL_NVLS_ENABLE=0 \
NCCL_CUMEM_ENABLE=0 \
OMP_NUM_THREADS=24 \
SAFETENSORS_FAST_GPU=1 \
PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True \
SGLANG_ENABLE_DEEP_GEMM=0 \
SGLANG_ENABLE_JIT_DEEPGEMM=0

# ============================================================
# image lmsysorg/sglang:dev-cu13, in it: pip install sglang==0.5.10.post1
# ============================================================

# the same on both machines
python3 -m sglang.launch_server \
  --model-path moonshotai/Kimi-K2.6 \
  --tp 8 \
  --kv-cache-dtype fp8_e4m3 \
  --trust-remote-code \
  --reasoning-parser kimi_k2 \
  --tool-call-parser kimi_k2 \
  --speculative-algorithm EAGLE3 \
  --speculative-draft-model-path lightseekorg/kimi-k2.5-eagle3 \
  --speculative-num-steps 4 \
  --speculative-eagle-topk 1 \
  --speculative-num-draft-tokens 6 \
  --enable-hierarchical-cache \
  --hicache-ratio 2.0 \
  --hicache-write-policy write_through_selective \
  --schedule-policy lpm \
  --schedule-conservativeness 0.3 \
  --chunked-prefill-size 16384 \
  --enable-mixed-chunk \
  --context-length 131072 \
  --max-running-requests 128 \
  --mem-fraction-static 0.85 \
  --attention-backend flashinfer \
  --enable-p2p-check \
  --host 0.0.0.0 \
  --port 30000

# router, on one of them
smg launch \
  --worker-urls http://<NODE1_PRIVATE_IP>:30000 http://<NODE2_PRIVATE_IP>:30000 \
  --policy power_of_two \
  --host 0.0.0.0 \
  --port 8000 \
  --request-timeout-secs 1800 \
  --max-concurrent-requests 512

#!/usr/bin/env bash
# 1P1D on MI355X, Kimi-K2.5-MXFP4, LMCache with a store over TCP.
# prefiller + master + proxy on one node, decoder on the other; run from the head node (ssh).
set -uo pipefail

IMG="${IMG:-kimi-lmc-mc-rocm:dmabuf}"
DEPLOY="${DEPLOY:-/home/dev/mc_lmc}"
SO="${SO:-$DEPLOY/dmabuf_so}"
MODEL="${MODEL:-/models/models--amd--Kimi-K2.5-MXFP4/snapshots/419004c8716cf22c929aa15d39b85e09a8a2091a}"
P_NODE="${P_NODE:-node-g06}"; P_IP="${P_IP:-10.24.0.182}"
D_NODE="${D_NODE:-node-g05}"; D_IP="${D_IP:-10.24.0.181}"
CONC="${CONC:-128}"; SERVE_PORT=8000; PROXY_PORT="${PROXY_PORT:-9100}"
M=/usr/local/lib/python3.12/dist-packages/mooncake

emit_run() {  # $1=role(prefiller|decoder) $2=cfg $3=hostip
  local ROLE="$1" CFG="$2" HOSTIP="$3"
  cat <<EOF
#!/usr/bin/env bash
set -x
export PYTHONHASHSEED=0
export LMCACHE_CONFIG_FILE=/deploy/${CFG}
export LMCACHE_USE_EXPERIMENTAL=True
export VLLM_USE_V1=1
export VLLM_HOST_IP=${HOSTIP}
export NCCL_IB_DISABLE=1
export VLLM_WORKER_MULTIPROC_METHOD=spawn
export VLLM_ROCM_USE_AITER=1
export VLLM_ROCM_USE_AITER_PAGED_ATTN=0
export HSA_NO_SCRATCH_RECLAIM=1
export VLLM_ENGINE_READY_TIMEOUT_S=3600
export MC_FORCE_TCP=1
exec vllm serve ${MODEL} --served-model-name Kimi-K2.5-MXFP4 \\
  --host 0.0.0.0 --port ${SERVE_PORT} \\
  --tensor-parallel-size 8 --trust-remote-code \\
  --max-model-len 262144 --gpu-memory-utilization 0.90 --block-size 1 --mm-encoder-tp-mode data \\
  --kv-cache-dtype fp8 --max-num-seqs ${CONC} \\
  --enable-prefix-caching --disable-hybrid-kv-cache-manager \\
  --kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both","kv_load_failure_policy":"recompute"}'
EOF
}

DOCK="--init --stop-timeout 10 --device /dev/dri --device /dev/kfd --device /dev/infiniband \
  --ulimit memlock=-1 --network host --ipc host --group-add video --privileged --shm-size 64G"
SOMNT="-v $SO/engine.cpython-312-x86_64-linux-gnu.so:$M/engine.cpython-312-x86_64-linux-gnu.so:ro"

# ---- master + prefiller
ssh -o StrictHostKeyChecking=no "$P_NODE" "bash -s" <<EOF
set -e
RUN=$DEPLOY/run_pd; mkdir -p \$RUN
docker run -d --name kimi-mc-master --network host --privileged -v \$RUN:/run_logs \
  --entrypoint bash $IMG -lc 'mooncake_master --enable_http_metadata_server=1 --http_metadata_server_port=8080 --rpc_address=0.0.0.0 -v=1 > /run_logs/mc_master.log 2>&1'
sleep 8
cat > \$RUN/run_prefiller.sh <<'RUNEOF'
$(emit_run prefiller lmcache-tcp-prefiller.yaml "$P_IP")
RUNEOF
docker run -d --name kimi-mc-prefill $DOCK -v /it-share/hf_cache:/models -v \$RUN:/run_logs -v $DEPLOY:/deploy $SOMNT \
  --entrypoint "" $IMG bash -lc "bash /run_logs/run_prefiller.sh > /run_logs/prefiller.log 2>&1"
EOF

# ---- decoder
ssh -o StrictHostKeyChecking=no "$D_NODE" "bash -s" <<EOF
set -e
RUN=$DEPLOY/run_pddec; mkdir -p \$RUN
cat > \$RUN/run_decoder.sh <<'RUNEOF'
$(emit_run decoder lmcache-tcp-decoder.yaml "$D_IP")
RUNEOF
docker run -d --name kimi-mc-decoder $DOCK -v /it-share/hf_cache:/models -v \$RUN:/run_logs -v $DEPLOY:/deploy $SOMNT \
  --entrypoint "" $IMG bash -lc "bash /run_logs/run_decoder.sh > /run_logs/decoder.log 2>&1"
EOF

# ---- proxy
ssh -o StrictHostKeyChecking=no "$P_NODE" "bash -s" <<EOF
docker run -d --name kimi-mc-pd-proxy --network host -v $DEPLOY:/deploy \
  --entrypoint bash $IMG -lc "python3 /deploy/mc_pd_proxy.py --host 0.0.0.0 --port $PROXY_PORT --prefiller-host 127.0.0.1 --prefiller-port $SERVE_PORT --decoder-host $D_IP --decoder-port $SERVE_PORT"
EOF

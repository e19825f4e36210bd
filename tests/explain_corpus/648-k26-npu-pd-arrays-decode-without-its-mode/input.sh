MODEL_PATH=/home/weights/Kimi-K2.6-w4a8
DRAFT_MODEL_PATH=/home/weights/kimi-k2.6-eagle3
NODE_IPS_PREFILL=(
  # 1.2.3.4
)
NODE_IPS_DECODE=(
  # 1.2.3.6
)
NODE_IPS_ROUTER= # 1.2.3.8

# 下面一般不用动
PLATFORM=npu  # npu, cuda
NODE_CLASS=  # prefill | decode | router
MASTER_IP_PREFILL=127.0.0.1
MASTER_IP_DECODE=127.0.0.1
MASTER_IP_ROUTER=127.0.0.1
MASTER_PORT_PREFILL=8010
MASTER_PORT_DECODE=8110
MASTER_PORT_ROUTER=8880
DISAG_BOOTSTRAP_PORT=8800
MASTER_PORT_INIT_PREFILL=8020
MASTER_PORT_INIT_DECODE=8120
NODE_ID=0
NODE_NUM=1

LOCAL_IPS=$(hostname -I | awk '{print $1" "$2}')

get_node_id() {
    local i=0 ip local_ip
    for ip in "$@"; do
        for local_ip in ${LOCAL_IPS}; do
            if [ "${local_ip}" = "${ip}" ]; then echo "${i}"; return 0; fi
        done
        i=$((i + 1))
    done
    echo "-1"
    return 1
}

if [ ${#NODE_IPS_PREFILL[@]} -gt 0 ]; then MASTER_IP_PREFILL=${NODE_IPS_PREFILL[0]}; fi
if [ ${#NODE_IPS_DECODE[@]} -gt 0 ]; then MASTER_IP_DECODE=${NODE_IPS_DECODE[0]}; fi
if [ -n "${NODE_IPS_ROUTER}" ]; then MASTER_IP_ROUTER=${NODE_IPS_ROUTER}; fi

# 单机时把这一段注释掉，手动写 NODE_CLASS
NODE_ID=$(get_node_id "${NODE_IPS_PREFILL[@]}")
if [ "${NODE_ID}" -ge 0 ]; then
    NODE_CLASS=prefill
    NODE_NUM=${#NODE_IPS_PREFILL[@]}
else
    NODE_ID=$(get_node_id "${NODE_IPS_DECODE[@]}")
    if [ "${NODE_ID}" -ge 0 ]; then
        NODE_CLASS=decode
        NODE_NUM=${#NODE_IPS_DECODE[@]}
    elif [ -n "${NODE_IPS_ROUTER}" ] && echo " ${LOCAL_IPS} " | grep -q " ${NODE_IPS_ROUTER} "; then
        NODE_CLASS=router
    else
        echo "不知道本机是什么角色"
        exit 1
    fi
fi

unset http_proxy https_proxy
export SGLANG_SET_CPU_AFFINITY=1
export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True
export HCCL_OP_EXPANSION_MODE=AIV
export HCCL_SOCKET_IFNAME=lo
export GLOO_SOCKET_IFNAME=lo

if [ "${NODE_CLASS}" = "prefill" ]; then
  export TASK_QUEUE_ENABLE=2
  export DEEPEP_HCCL_BUFFSIZE=2048
elif [ "${NODE_CLASS}" = "decode" ]; then
  export TASK_QUEUE_ENABLE=0
  export DEEPEP_HCCL_BUFFSIZE=2048
  export SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK=40
fi

ARGS_PREFILL=(
## [BASE]
  --model-path "${MODEL_PATH}"
  --trust-remote-code
  --attention-backend ascend
  --device npu
  --dtype bfloat16
  --mem-fraction-static 0.783
  --max-running-requests 64
  --context-length 16384
  --chunked-prefill-size 4096
  --max-prefill-tokens 8192
  --host "${MASTER_IP_PREFILL}"
  --port ${MASTER_PORT_PREFILL}
  --disable-radix-cache
  --nnodes "${NODE_NUM}"
  --node-rank "${NODE_ID}"
  --dist-init-addr "${MASTER_IP_PREFILL}":${MASTER_PORT_INIT_PREFILL}
## [PARALLEL]
  --tp-size 4
  --dp-size 4
  --enable-dp-attention
  --moe-a2a-backend deepep
  --deepep-mode auto
## [PD]
 --disaggregation-transfer-backend ascend
 --disaggregation-mode prefill
 --disaggregation-bootstrap-port ${DISAG_BOOTSTRAP_PORT}
#  --disaggregation-bootstrap-port $((${DISAG_BOOTSTRAP_PORT} + ${NODE_ID}))
  --quantization modelslim
  --cuda-graph-backend-prefill disabled
  --prefill-delayer-max-delay-passes 200  # 要 dp attn
  --enable-prefill-delayer                # 要 dp attn
)

ARGS_DECODE=(
## [BASE]
  --model-path "${MODEL_PATH}"
  --trust-remote-code
  --attention-backend ascend
  --device npu
  --dtype bfloat16
  --mem-fraction-static 0.783
  --max-running-requests 64
  --context-length 16384
  --chunked-prefill-size 4096
  --host "${MASTER_IP_DECODE}"
  --port ${MASTER_PORT_DECODE}
  --disable-radix-cache
  --nnodes "${NODE_NUM}"
  --node-rank "${NODE_ID}"
  --dist-init-addr "${MASTER_IP_DECODE}":${MASTER_PORT_INIT_DECODE}
## [PARALLEL]
  --tp-size 4
  --dp-size 4
  --enable-dp-attention
  --moe-a2a-backend deepep
  --deepep-mode auto
## [PD]
#  --disaggregation-transfer-backend ascend
#  --disaggregation-mode decode
  --quantization modelslim
  --cuda-graph-bs-decode 1 2 4 8 16
## [MTP]
#  --speculative-algorithm EAGLE3
#  --speculative-draft-model-path ${DRAFT_MODEL_PATH}
)

ARGS_ROUTER=(
  --pd-disaggregation
  --policy cache_aware
  --prefill http://"${MASTER_IP_PREFILL}":${MASTER_PORT_PREFILL} ${DISAG_BOOTSTRAP_PORT}
  --decode http://"${MASTER_IP_DECODE}":${MASTER_PORT_DECODE}
  --host "${MASTER_IP_ROUTER}"
  --port "${MASTER_PORT_ROUTER}"
  --mini-lb
)

if [ "${NODE_CLASS}" = "prefill" ]; then
  python3 -m sglang.launch_server "${ARGS_PREFILL[@]}"
elif [ "${NODE_CLASS}" = "decode" ]; then
  python3 -m sglang.launch_server "${ARGS_DECODE[@]}"
else
  python3 -m sglang_router.launch_router "${ARGS_ROUTER[@]}"
fi

exit 0

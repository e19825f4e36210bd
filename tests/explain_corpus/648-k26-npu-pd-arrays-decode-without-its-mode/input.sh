MODEL_PATH=/home/weights/Kimi-K2.6-w4a8
DRAFT_MODEL_PATH=/home/weights/kimi-k2.6-eagle3
PREFILL_ADDRS=(
  # 1.2.3.4
)
DECODE_ADDRS=(
  # 1.2.3.6
)
ROUTER_ADDR= # 1.2.3.8

# 下面一般不用动
PLATFORM=npu  # npu, cuda
ROLE=  # prefill | decode | router
FIRST_PREFILL=127.0.0.1
FIRST_DECODE=127.0.0.1
FIRST_ROUTER=127.0.0.1
PORT_PREFILL=8010
PORT_DECODE=8110
PORT_ROUTER=8880
BOOT_PORT=8800
INIT_PORT_PREFILL=8020
INIT_PORT_DECODE=8120
NODE_ID=0
NODE_NUM=1

MY_ADDRS=$(hostname -I | awk '{print $1" "$2}')

rank_of() {
    local i=0 ip mine
    for ip in "$@"; do
        for mine in ${MY_ADDRS}; do
            if [ "${mine}" = "${ip}" ]; then echo "${i}"; return 0; fi
        done
        i=$((i + 1))
    done
    echo "-1"
    return 1
}

if [ ${#PREFILL_ADDRS[@]} -gt 0 ]; then FIRST_PREFILL=${PREFILL_ADDRS[0]}; fi
if [ ${#DECODE_ADDRS[@]} -gt 0 ]; then FIRST_DECODE=${DECODE_ADDRS[0]}; fi
if [ -n "${ROUTER_ADDR}" ]; then FIRST_ROUTER=${ROUTER_ADDR}; fi

# 单机时把这一段注释掉，手动写 ROLE
NODE_ID=$(rank_of "${PREFILL_ADDRS[@]}")
if [ "${NODE_ID}" -ge 0 ]; then
    ROLE=prefill
    NODE_NUM=${#PREFILL_ADDRS[@]}
else
    NODE_ID=$(rank_of "${DECODE_ADDRS[@]}")
    if [ "${NODE_ID}" -ge 0 ]; then
        ROLE=decode
        NODE_NUM=${#DECODE_ADDRS[@]}
    elif [ -n "${ROUTER_ADDR}" ] && echo " ${MY_ADDRS} " | grep -q " ${ROUTER_ADDR} "; then
        ROLE=router
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

if [ "${ROLE}" = "prefill" ]; then
  export TASK_QUEUE_ENABLE=2
  export DEEPEP_HCCL_BUFFSIZE=2048
elif [ "${ROLE}" = "decode" ]; then
  export TASK_QUEUE_ENABLE=0
  export DEEPEP_HCCL_BUFFSIZE=2048
  export SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK=40
fi

P_ARGS=(
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
  --host "${FIRST_PREFILL}"
  --port ${PORT_PREFILL}
  --disable-radix-cache
  --nnodes "${NODE_NUM}"
  --node-rank "${NODE_ID}"
  --dist-init-addr "${FIRST_PREFILL}":${INIT_PORT_PREFILL}
## [PARALLEL]
  --tp-size 4
  --dp-size 4
  --enable-dp-attention
  --moe-a2a-backend deepep
  --deepep-mode auto
## [PD]
 --disaggregation-transfer-backend ascend
 --disaggregation-mode prefill
 --disaggregation-bootstrap-port ${BOOT_PORT}
#  --disaggregation-bootstrap-port $((${BOOT_PORT} + ${NODE_ID}))
  --quantization modelslim
  --cuda-graph-backend-prefill disabled
  --prefill-delayer-max-delay-passes 200  # 要 dp attn
  --enable-prefill-delayer                # 要 dp attn
)

D_ARGS=(
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
  --host "${FIRST_DECODE}"
  --port ${PORT_DECODE}
  --disable-radix-cache
  --nnodes "${NODE_NUM}"
  --node-rank "${NODE_ID}"
  --dist-init-addr "${FIRST_DECODE}":${INIT_PORT_DECODE}
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

R_ARGS=(
  --pd-disaggregation
  --policy cache_aware
  --prefill http://"${FIRST_PREFILL}":${PORT_PREFILL} ${BOOT_PORT}
  --decode http://"${FIRST_DECODE}":${PORT_DECODE}
  --host "${FIRST_ROUTER}"
  --port "${PORT_ROUTER}"
  --mini-lb
)

if [ "${ROLE}" = "prefill" ]; then
  python3 -m sglang.launch_server "${P_ARGS[@]}"
elif [ "${ROLE}" = "decode" ]; then
  python3 -m sglang.launch_server "${D_ARGS[@]}"
else
  python3 -m sglang_router.launch_router "${R_ARGS[@]}"
fi

exit 0

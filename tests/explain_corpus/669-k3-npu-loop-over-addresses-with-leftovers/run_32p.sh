#!/bin/bash

echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor
sysctl -w vm.swappiness=10
export SGLANG_SET_CPU_AFFINITY=1
export SGLANG_ONE_VISIBLE_DEVICE_PER_PROCESS=1
# export TRITON_ALL_BLOCKS_PARALLEL=1
MODEL_PATH=/home/weights/Kimi-K3-w4a8-int-moe
DRAFT_MODEL_PATH=/home/weights/Kimi-K3-DSpark

unset https_proxy
unset ASCEND_LAUNCH_BLOCKING

source /usr/local/Ascend/ascend-toolkit/set_env.sh
source /usr/local/Ascend/nnal/atb/set_env.sh

export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True
export HCCL_SOCKET_IFNAME=lo
export GLOO_SOCKET_IFNAME=lo
export DEEP_NORMAL_MODE_USE_INT8_QUANT=1
export SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK=128
export HCCL_BUFFSIZE=2000
export HCCL_OP_EXPANSION_MODE=AIV

NODES=('192.168.0.9' '192.168.0.12' '192.168.0.16' '192.168.0.17')
ME1=`hostname -I|awk -F " " '{print$1}'`
ME2=`hostname -I|awk -F " " '{print$2}'`

for i in "${!NODES[@]}";
do
    if [[ "$ME1" == "${NODES[$i]}" || "$ME2" == "${NODES[$i]}" ]];
    then
        echo "Decode -> ${NODES[$i]}"

        export HCCL_SOCKET_IFNAME=enp196s0f0
        export GLOO_SOCKET_IFNAME=enp196s0f0
        export SGLANG_ENABLE_SPEC_V2=1

        sglang serve \
            --model-loader-extra-config '{"enable_multithread_load": true}' \
            --dist-init-addr 192.168.0.9:5000 --nnodes 4 --node-rank $i \
            --model-path $MODEL_PATH \
            --tokenizer-path $MODEL_PATH \
            --trust-remote-code \
            --attention-backend ascend \
            --device npu \
            --quantization modelslim \
            --dtype bfloat16 \
            --tp-size 64 \
	        --enable-dp-attention --dp-size 4 --enable-dp-lm-head \
            --mem-fraction-static 0.78 \
            --chunked-prefill-size 8192 \
            --cuda-graph-bs 16 \
            --max-running-requests 64 \
            --host 0.0.0.0 \
            --port 30000 \
            --reasoning-parser kimi_k3 \
	        --moe-a2a-backend deepep \
            --deepep-mode auto \
            --watchdog-timeout 9000  2>&1 | tee "logs/run_32p_mix_$(date +%Y-%m-%d_%H-%M-%S).log"
        exit 1
    fi
done

exit 1

# spec options
    --speculative-algorithm DSPARK \
    --speculative-draft-model-path "$DRAFT_MODEL_PATH" \
    --speculative-dspark-block-size 7 \
    --speculative-eagle-topk 1 \

python -m sglang.bench_serving \
  --dataset-name random \
  --backend sglang \
  --host 0.0.0.0 \
  --port 30000 \
  --max-concurrency 1 \
  --random-input-len 8000 \
  --num-prompts 1

curl -s http://127.0.0.1:30000/v1/chat/completions \
  -H "Content-Type: application/json" \
  -d '{
    "model": "/home/weights/Kimi-K3-w4a8-int-8cards",
    "messages": [{"role": "user", "content": "The capital of France is"}],
    "max_tokens": 20
  }'

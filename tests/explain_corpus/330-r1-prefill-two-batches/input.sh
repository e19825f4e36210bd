export MODEL_PATH=/deepseek-r1-fp8
export MC_TE_METRIC=true 
export SGLANG_TBO_DEBUG=1 
export DP_SIZE=8 

python -m sglang.launch_server \
    --model-path $MODEL_PATH \
    --disaggregation-ib-device mlx5_4,mlx5_7,mlx5_8,mlx5_9,mlx5_10,mlx5_11,mlx5_12,mlx5_13 \
    --disaggregation-mode prefill \
    --dist-init-addr $PREFILL_IP:5757 \
    --nnodes 1 \
    --node-rank 0\
    --tp-size ${DP_SIZE} \
    --dp-size ${DP_SIZE} \
    --enable-dp-attention \
    --decode-log-interval 1 \
    --moe-a2a-backend deepep \
    --page-size 1 \
    --host 0.0.0.0 \
    --port 8000 \
    --trust-remote-code \
    --moe-dense-tp-size 1 \
    --enable-dp-lm-head \
    --load-balance-method round_robin \
    --watchdog-timeout 1000000 \
    --enable-two-batch-overlap \
    --deepep-mode normal \
    --mem-fraction-static 0.85 \
    --chunked-prefill-size $((1024 * 16 * DP_SIZE)) \
    --max-running-requests 2048 \
    --max-total-tokens 131072 \
    --context-length 8192 \
    --ep-num-redundant-experts 32 \
    --ep-dispatch-algorithm dynamic \
    --eplb-algorithm deepseek \
    --moe-a2a-backend deepep \
    --enable-metrics \
    --enable-cache-report \
    --collect-tokens-histogram

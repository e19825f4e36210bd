#!/bin/bash
MODEL_PATH=/data/Kimi-K2.6-w4a8
KV_PORT=30000
ENGINE_ID=0
PREFILL_DP_SIZE=2
PREFILL_TP_SIZE=8
DECODER_DP_SIZE=4
DECODER_TP_SIZE=4

cat > run_dp_template.sh <<EOF
export ASCEND_RT_VISIBLE_DEVICES=\$1
vllm serve $MODEL_PATH \\
    --host 0.0.0.0 \\
    --port \$2 \\
    --data-parallel-size \$3 \\
    --allowed-local-media-path / \\
    --data-parallel-rank \$4 \\
    --data-parallel-address \$5 \\
    --data-parallel-rpc-port \$6 \\
    --tensor-parallel-size \$7 \\
    --enable-expert-parallel \\
    --seed 1024 \\
    --served-model-name kimik2.6 \\
    --max-model-len 131072 \\
    --max-num-batched-tokens 8192 \\
    --max-num-seqs 32 \\
    --enforce-eager \\
    --enable-prefix-caching \\
    --trust-remote-code \\
    --gpu-memory-utilization 0.9 \\
    --quantization ascend \\
    --tool-call-parser kimi_k2 \\
    --reasoning-parser kimi_k2 \\
    --mm-encoder-tp-mode data \\
    --enable-auto-tool-choice \\
    --additional-config '{"recompute_scheduler_enable":true}' \\
    --kv-transfer-config \\
    '{"kv_connector": "MooncakeConnectorV1",
    "kv_role": "kv_producer",
    "kv_port": "$KV_PORT",
    "engine_id": "$ENGINE_ID",
    "kv_connector_extra_config": {
                "use_ascend_direct": true,
                "prefill": {
                        "dp_size": $PREFILL_DP_SIZE,
                        "tp_size": $PREFILL_TP_SIZE
                },
                "decode": {
                        "dp_size": $DECODER_DP_SIZE,
                        "tp_size": $DECODER_TP_SIZE
                }
        }
    }'
EOF

python launch_online_dp.py --dp-size $PREFILL_DP_SIZE --tp-size $PREFILL_TP_SIZE --dp-size-local 1 --dp-rank-start 0 --dp-address 192.0.2.1 --dp-rpc-port 12321 --vllm-start-port 7100

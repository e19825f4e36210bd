#!/bin/bash
MODEL_PATH=${1:-YOUR_MODEL_PATH}
MAX_SEQ_LEN=8192
TP_SIZE=16
EP_SIZE=$TP_SIZE

mpirun -np 16 --hostfile ./hostfile \
    -mca plm_rsh_args "-p 3441" \       # TODO: port of ssh on the other machine
    --allow-run-as-root \
    -x FLEXKV_CONFIG_PATH \
    trtllm-llmapi-launch trtllm-serve serve $MODEL_PATH \
    --host 0.0.0.0 \
    --port 6000 \
    --backend pytorch \
    --tp_size $TP_SIZE \
    --ep_size $EP_SIZE \
    --max_seq_len $MAX_SEQ_LEN \
    --extra_llm_api_options extra-llm-api-config.yml \

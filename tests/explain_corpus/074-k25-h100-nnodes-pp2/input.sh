# vllm-openai:v0.18.0, 2 nodes with 8 H100 80GB each
# head
vllm serve moonshotai/Kimi-K2.5 \
    --served-model-name Kimi-K2.5 \
    --trust-remote-code \
    --distributed-executor-backend mp \
    --tensor-parallel-size 8 \
    --pipeline-parallel-size 2 \
    --nnodes 2 \
    --node-rank 0 \
    --master-addr $HEAD_IP \
    --max-model-len 262144 \
    --mm-encoder-tp-mode data

# worker
vllm serve moonshotai/Kimi-K2.5 \
    --served-model-name Kimi-K2.5 \
    --trust-remote-code \
    --distributed-executor-backend mp \
    --tensor-parallel-size 8 \
    --pipeline-parallel-size 2 \
    --nnodes 2 \
    --node-rank 1 \
    --master-addr $HEAD_IP \
    --max-model-len 262144 \
    --mm-encoder-tp-mode data \
    --headless

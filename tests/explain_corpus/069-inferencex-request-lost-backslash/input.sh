# vllm/vllm-openai:v0.16.0, moonshotai/Kimi-K2.5, one node of H200, TP8
vllm serve $MODEL --host 0.0.0.0 --port $PORT \
--gpu-memory-utilization 0.95 \
--tensor-parallel-size $TP \
--max-model-len $MAX_MODEL_LEN \
--max-num-seqs $CONC \
--reasoning-parser kimi_k2 \
--tool-call-parser kimi_k2 \
--compilation_config.pass_config.fuse_allreduce_rms true
--trust-remote-code \
--disable-log-requests > $SERVER_LOG 2>&1 &

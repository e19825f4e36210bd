model=Kimi-K2-Thinking
vllm_path=/home/model/Kimi-K2-Thinking
python3 -m vllm.entrypoints.openai.api_server --served-model-name $model --model $vllm_path --gpu_memory_utilization 0.95 --tensor-parallel-size 8 --pipeline-parallel-size 2 --port 8000 --trust_remote_code --enable-auto-tool-choice --tool-call-parser kimi_k2  --distributed-executor-backend ray --enforce-eager

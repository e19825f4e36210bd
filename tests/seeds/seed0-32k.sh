# What seed 0 tried and could not start: 32k tokens with the settings that work for 12k.
vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --max-model-len 32768 --max-num-batched-tokens 4096 --max-num-seqs 1 --gpu-memory-utilization 0.95 --enforce-eager --trust-remote-code

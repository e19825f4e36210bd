#!/bin/bash
# vLLM 0.10.0 on two servers with eight H100; ./test.sh 1 on the first, ./test.sh 2 on the second
model_path=/data/models/DeepSeek-V3-prune
ip_1=192.0.2.177
rpc_port=30000
port=5000
node=$1

gpu_memory_utilization=0.9
max_model_len=4096
data_parallel_size=16
tensor_parallel_size=1

if [ $node == 1 ] ; then
    data_parallel_size_local=8
    data_parallel_start_rank=0
    VLLM_ALL2ALL_BACKEND=deepep_high_throughput VLLM_USE_DEEP_GEMM=1 \
    CUDA_VISIBLE_DEVICES="0,1,2,3,4,5,6,7" \
    vllm serve ${model_path} \
    --host 0.0.0.0 \
    --port ${port} \
    --tensor-parallel-size ${tensor_parallel_size} \
    --enable-expert-parallel \
    --data-parallel-size ${data_parallel_size} \
    --data-parallel-size-local ${data_parallel_size_local} \
    --data-parallel-start-rank 0 \
    --data-parallel-address ${ip_1} \
    --data-parallel-rpc-port ${rpc_port} \
    --max-model-len ${max_model_len} \
    --gpu-memory-utilization ${gpu_memory_utilization} \
    --trust-remote-code
fi

if [ $node == 2 ] ; then
    data_parallel_size_local=8
    VLLM_ALL2ALL_BACKEND=deepep_high_throughput VLLM_USE_DEEP_GEMM=1 \
    CUDA_VISIBLE_DEVICES="0,1,2,3,4,5,6,7" \
    vllm serve ${model_path} \
    --headless \
    --tensor-parallel-size ${tensor_parallel_size} \
    --enable-expert-parallel \
    --data-parallel-size ${data_parallel_size} \
    --data-parallel-size-local ${data_parallel_size_local} \
    --data-parallel-start-rank 8 \
    --data-parallel-address ${ip_1} \
    --data-parallel-rpc-port ${rpc_port} \
    --max-model-len ${max_model_len} \
    --gpu-memory-utilization ${gpu_memory_utilization} \
    --trust-remote-code
fi

# vllm/vllm-openai-rocm:v0.16.0 on 8x MI355X
pip install amd-quark
export VLLM_ROCM_USE_AITER=1

vllm serve amd/Kimi-K2.5-MXFP4 --port 8888 \
--tensor-parallel-size=8 \
--gpu-memory-utilization 0.95 \
--block-size=64 \
--disable-log-requests \
--trust-remote-code \
--mm-encoder-tp-mode data

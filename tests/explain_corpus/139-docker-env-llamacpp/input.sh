docker run --gpus all \
  -e API_NAME=kimi-k2 \
  -e MODEL_REPO=unsloth/Kimi-K2-Instruct-GGUF \
  -e MODEL_PATTERN="*Q8_0*" \
  -e MODEL_FILE=Kimi-K2-Instruct-Q8_0-00001-of-00023.gguf \
  -e CTX_SIZE=16384 \
  -e CHAT_TEMPLATE_URL=https://huggingface.co/unsloth/Kimi-K2-Instruct/raw/main/chat_template.jinja \
  -p 8080:8080 \
  ghcr.io/comput3ai/c3-llamacpp-hf-dl

    # vLLM as Podman quadlets
    TARGET_USER="${FEDORA_TARGET_USER:-me}"
    USER_HOME="/home/${TARGET_USER}"
    AUDIO_MODEL="${FEDORA_AUDIO_MODEL:-moonshotai/Kimi-Audio-7B-Instruct}"
    AGENT_MODEL="${FEDORA_AGENT_MODEL:-Qwen/Qwen3-8B}"
    VLLM_IMAGE="fedora-vllm:latest"
    podman image exists "$VLLM_IMAGE" 2>/dev/null || VLLM_IMAGE="vllm/vllm-openai:latest"
    QUADLET_DIR="${USER_HOME}/.config/containers/systemd"
    mkdir -p "$QUADLET_DIR"

    # Kimi-Audio, port 8000
    cat > "${QUADLET_DIR}/vllm-audio.container" <<AUDIOEOF
[Unit]
Description=Kimi-Audio-7B (8000)
After=network-online.target

[Container]
Image=${VLLM_IMAGE}
PublishPort=8000:8000
# cache
Volume=${USER_HOME}/.models/huggingface:/data/.cache/huggingface:Z
Volume=${USER_HOME}/input:/input:Z
AddDevice=nvidia.com/gpu=all
SecurityLabelDisable=true
ShmSize=8g
PodmanArgs=--ipc=host
PodmanArgs=--ulimit nofile=65536:65536
Environment=HF_TOKEN=%s
Environment=VLLM_WORKER_MULTIPROC_METHOD=spawn
Exec=--model ${AUDIO_MODEL} --trust-remote-code --gpu-memory-utilization 0.40 --max-model-len 4096 --limit-mm-per-prompt audio=5 --served-model-name audio

[Service]
Restart=on-failure
TimeoutStartSec=600

[Install]
WantedBy=default.target
AUDIOEOF

    # Qwen3-8B, port 8001
    cat > "${QUADLET_DIR}/vllm-agent.container" <<AGENTEOF
[Unit]
Description=Qwen3-8B (8001)
After=network-online.target

[Container]
Image=${VLLM_IMAGE}
PublishPort=8001:8000
Volume=${USER_HOME}/.models/huggingface:/data/.cache/huggingface:Z
AddDevice=nvidia.com/gpu=all
ShmSize=8g
PodmanArgs=--ipc=host
Environment=HF_TOKEN=%s
Environment=VLLM_FLASH_ATTN_VERSION=2
Exec=--model ${AGENT_MODEL} --gpu-memory-utilization 0.45 --max-model-len 8192 --enable-reasoning --reasoning-parser deepseek_r1 --served-model-name agent

[Service]
Restart=on-failure
TimeoutStartSec=600

[Install]
WantedBy=default.target
AGENTEOF

"""K2.5 on Modal through vLLM's nightly.

Weights in full BF16: 8x H200 (about 1.1 TB) as the publisher says, 8x H100 (640 GB) is tight.
"""

import os
import subprocess

import modal

MODEL: str = "moonshotai/Kimi-K2.5"
MAX_MODEL_LEN: int = 32768
GPU_MEMORY_UTILIZATION: float = 0.92

GPU_TYPE: str = "H100"
GPU_COUNT: int = 8

MAX_CONCURRENT_INPUTS: int = 50
CONTAINER_TIMEOUT: int = 60 * 60
STARTUP_TIMEOUT: int = 30 * 60
SCALEDOWN_WINDOW: int = 15 * 60

VLLM_PORT: int = 8000

app = modal.App("kimi-k2-vllm")

hf_cache = modal.Volume.from_name("hf-cache-kimi", create_if_missing=True)
vllm_cache = modal.Volume.from_name("vllm-cache-kimi", create_if_missing=True)

vllm_image = (
    modal.Image.debian_slim(python_version="3.11")
    .pip_install(
        "huggingface_hub[hf_transfer]",
        "hf-transfer",
        "transformers>=4.57.1",
    )
    .run_commands(
        "pip install vllm"
        " --extra-index-url https://wheels.vllm.ai/nightly"
    )
    .env({
        "HF_HUB_ENABLE_HF_TRANSFER": "1",
        "VLLM_CONFIGURE_LOGGING": "1",
    })
)


@app.function(
    image=vllm_image,
    gpu=f"{GPU_TYPE}:{GPU_COUNT}",
    secrets=[modal.Secret.from_name("kimi-vllm-secrets")],
    timeout=CONTAINER_TIMEOUT,
    scaledown_window=SCALEDOWN_WINDOW,
    volumes={
        "/data/cache/huggingface": hf_cache,
        "/data/cache/vllm": vllm_cache,
    },
)
@modal.concurrent(max_inputs=MAX_CONCURRENT_INPUTS)
@modal.web_server(port=VLLM_PORT, startup_timeout=STARTUP_TIMEOUT)
def serve():
    model = os.environ.get("MODEL", MODEL)
    max_len = os.environ.get("MAX_MODEL_LEN", str(MAX_MODEL_LEN))
    tp = os.environ.get("TP", str(GPU_COUNT))
    gpu_mem = os.environ.get("GPU_MEM_UTIL", str(GPU_MEMORY_UTILIZATION))

    cmd = [
        "vllm", "serve", model,
        "--host", "0.0.0.0",
        "--port", str(VLLM_PORT),
        "--tensor-parallel-size", tp,
        "--max-model-len", max_len,
        "--gpu-memory-utilization", gpu_mem,
        "--trust-remote-code",
        "--mm-encoder-tp-mode", "data",
        "--reasoning-parser", "kimi_k2",
        "--tool-call-parser", "kimi_k2",
        "--served-model-name", model,
        "--uvicorn-log-level", "info",
        "--enforce-eager",
    ]

    api_key = os.environ.get("API_BEARER_TOKEN")
    if api_key:
        cmd.extend(["--api-key", api_key])

    print(f"Launching: {' '.join(cmd)}")
    subprocess.Popen(cmd)

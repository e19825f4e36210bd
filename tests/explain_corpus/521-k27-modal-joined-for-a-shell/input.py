"""K2.7 Code behind an OpenAI endpoint on Modal: eight H200, weights in a volume.

  modal run this_file.py::download
  modal deploy this_file.py
"""
import os
import subprocess

import modal

MODEL = "moonshotai/Kimi-K2.7-Code"
API_KEY = "example-key"  # the client has the same

vllm_image = (
    modal.Image.debian_slim(python_version="3.12")
    .pip_install("vllm==0.19.1", "huggingface_hub[hf_transfer]")
    .env({"HF_HUB_ENABLE_HF_TRANSFER": "1", "VLLM_USE_V1": "1"})
)

hf_cache = modal.Volume.from_name("hf-cache-kimi", create_if_missing=True)
CACHE_DIR = "/data/cache/huggingface"

app = modal.App("kimi-k27-code")


@app.function(
    image=vllm_image,
    volumes={CACHE_DIR: hf_cache},
    cpu=8,
    memory=32 * 1024,
    timeout=2 * 60 * 60,
)
def download():
    from huggingface_hub import snapshot_download

    snapshot_download(MODEL, cache_dir=CACHE_DIR)
    hf_cache.commit()


@app.function(
    image=vllm_image,
    gpu="H200:8",
    volumes={CACHE_DIR: hf_cache},
    timeout=60 * 60,
    scaledown_window=300,
)
@modal.concurrent(max_inputs=32)
@modal.web_server(port=8000, startup_timeout=60 * 60)
def serve():
    cmd = [
        "vllm", "serve", MODEL,
        "--served-model-name", MODEL,
        "--trust-remote-code",
        "--tensor-parallel-size", "8",
        "--mm-encoder-tp-mode", "data",
        "--enable-auto-tool-choice",
        "--tool-call-parser", "kimi_k2",
        "--reasoning-parser", "kimi_k2",
        "--max-model-len", "65536",
        "--gpu-memory-utilization", "0.92",
        "--safetensors-load-strategy", "prefetch",
        "--enforce-eager",
        "--api-key", API_KEY,
        "--host", "0.0.0.0",
        "--port", "8000",
    ]
    env = {
        **os.environ,
        "SAFETENSORS_FAST_GPU": "1",
        "HF_HOME": CACHE_DIR,
        "VLLM_USE_DEEP_GEMM": "0",
    }
    subprocess.Popen(" ".join(cmd), shell=True, env=env)

import os
import subprocess
from pathlib import Path

import modal

here = Path(__file__).parent

image = modal.Image.from_registry("lmsysorg/sglang:v0.5.7").entrypoint([])

hf_cache_vol = modal.Volume.from_name("huggingface-cache", create_if_missing=True)

USE_DUMMY_WEIGHTS = os.environ.get("APP_USE_DUMMY_WEIGHTS", "0").lower() in ("1", "true")

image = image.env(
    {
        "HF_XET_HIGH_PERFORMANCE": "1",
        "APP_USE_DUMMY_WEIGHTS": str(int(USE_DUMMY_WEIGHTS)),
    }
)


def download_model(repo_id, revision=None):
    from huggingface_hub import snapshot_download

    snapshot_download(repo_id=repo_id, revision=revision)


REPO_ID = "zai-org/GLM-4.7-FP8"

if not USE_DUMMY_WEIGHTS:
    image = image.run_function(
        download_model,
        volumes={"/data/cache/huggingface": hf_cache_vol},
        args=(REPO_ID,),
    )

default_config = """\
 # General
 host: 0.0.0.0
 log-level: debug

 # Model
 tool-call-parser: glm47
 reasoning-parser: glm45
 trust-remote-code: true

 # Memory
 mem-fraction-static: 0.85
 chunked-prefill-size: 32768
 kv-cache-dtype: fp8_e4m3

 enable-metrics: true

 max-running-requests: 32
 cuda-graph-max-bs: 32

 speculative-algorithm: EAGLE
"""

local_config_path = os.environ.get("APP_LOCAL_CONFIG_PATH")

if modal.is_local():
    if local_config_path is None:
        local_config_path = here / "config_very_large_models.yaml"
        if not local_config_path.exists():
            local_config_path.write_text(default_config)
    image = image.add_local_file(local_config_path, "/data/config.yaml")


def _start_server() -> subprocess.Popen:
    cmd = [
        f"HF_HUB_OFFLINE={0 if USE_DUMMY_WEIGHTS else 1}",
        "python",
        "-m",
        "sglang.launch_server",
        "--host",
        "0.0.0.0",
        "--port",
        str(SGLANG_PORT),
        "--model-path",
        REPO_ID,
        "--tp-size",
        str(GPU_COUNT),
        "--config",
        "/data/config.yaml",
    ]

    if USE_DUMMY_WEIGHTS:
        cmd.extend(["--load-format", "dummy"])

    return subprocess.Popen(" ".join(cmd), shell=True, start_new_session=True)


app = modal.App("example-serve-very-large-models", image=image)

GPU_TYPE = "H200"
GPU_COUNT = 4
SGLANG_PORT = 8000
MINUTES = 60


@app.server(
    image=image,
    gpu=f"{GPU_TYPE}:{GPU_COUNT}",
    scaledown_window=20 * MINUTES,
    startup_timeout=30 * MINUTES,
    volumes={"/data/cache/huggingface": hf_cache_vol},
    port=SGLANG_PORT,
    target_concurrency=10,
)
class Server:
    @modal.enter()
    def start(self):
        self.proc = _start_server()

    @modal.exit()
    def stop(self):
        self.proc.terminate()
        self.proc.wait()

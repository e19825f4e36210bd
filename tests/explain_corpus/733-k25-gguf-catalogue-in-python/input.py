"""What can be started with one key."""

from __future__ import annotations

from dataclasses import dataclass
import shlex


@dataclass(frozen=True)
class QuickDeployProfile:
    id: str
    display_name: str
    repo_id: str
    quant: str
    gpu_type: str
    gpu_count: int
    server_args: tuple[str, ...]


GLM5_SERVER_ARGS = (
    "--ctx-size",
    "202752",
    "--flash-attn",
    "on",
    "--temp",
    "0.7",
    "--top-p",
    "1.0",
    "--min-p",
    "0.01",
)

KIMI_K25_SERVER_ARGS = (
    "--special",
    "--kv-unified",
    "--ctx-size",
    "98304",
    "--temp",
    "1.0",
    "--top-p",
    "0.95",
    "--min-p",
    "0.01",
)


QUICK_DEPLOY_PROFILES: tuple[QuickDeployProfile, ...] = (
    QuickDeployProfile(
        id="glm5-rtxpro",
        display_name="GLM-5",
        repo_id="unsloth/GLM-5-GGUF",
        quant="UD-Q2_K_XL",
        gpu_type="RTX-PRO-6000",
        gpu_count=4,
        server_args=GLM5_SERVER_ARGS,
    ),
    QuickDeployProfile(
        id="kimi25-rtxpro",
        display_name="Kimi K2.5",
        repo_id="unsloth/Kimi-K2.5-GGUF",
        quant="UD-Q2_K_XL",
        gpu_type="RTX-PRO-6000",
        gpu_count=5,
        server_args=KIMI_K25_SERVER_ARGS,
    ),
    QuickDeployProfile(
        id="kimi25-b200",
        display_name="Kimi K2.5",
        repo_id="unsloth/Kimi-K2.5-GGUF",
        quant="UD-Q2_K_XL",
        gpu_type="B200",
        gpu_count=3,
        server_args=KIMI_K25_SERVER_ARGS,
    ),
)


def build(profile: QuickDeployProfile) -> DeploymentConfig:
    config = DeploymentConfig(backend=BackendType.LLAMACPP)
    config.repo_id = profile.repo_id
    config.quant = profile.quant
    config.gpu_type = profile.gpu_type
    config.gpu_count = profile.gpu_count
    config.server_args = shlex.join(profile.server_args)
    return config

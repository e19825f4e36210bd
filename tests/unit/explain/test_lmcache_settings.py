"""What LMCache refuses of its own settings, as its file or variables give them."""

from __future__ import annotations

import pytest

from moonpad.catalog.lmcache_refusals import lmcache_keys, lmcache_refusals
from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

K2 = "moonshotai/Kimi-K2-Instruct"
QWEN = "Qwen/Qwen3-8B"
TRANSFER = """--kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'"""


def told(content: str, model: str = K2, more: str = "", env: str = "PYTHONHASHSEED=0") -> list[Finding]:
    text = f"""{more}
cat > /etc/lmcache.yaml <<EOF
{content}
EOF
{env} LMCACHE_CONFIG_FILE=/etc/lmcache.yaml vllm serve {model} --port 8100 {TRANSFER}
"""
    return _of_lmcache(text)


def by_variables(env: str, model: str = K2) -> list[Finding]:
    return _of_lmcache(f"{env} PYTHONHASHSEED=0 vllm serve {model} --port 8100 {TRANSFER}\n")


def _of_lmcache(text: str) -> list[Finding]:
    names = {*lmcache_keys(), *(f"LMCACHE_{key.upper()}" for key in lmcache_keys()), "chunk_sise"}
    return [finding for each in ask(text) for finding in each.findings if finding.where.partition(".")[0] in names]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("remote_url: lm://10.0.0.1:65432\nremote_serde: cachegen", "latent attention"),
        ("enable_pd: true\npd_role: sender\npd_buffer_device: cuda", "without pd_buffer_size"),
        ("enable_pd: true\npd_buffer_size: 1073741824\npd_buffer_device: cuda", "without pd_role"),
        ("enable_pd: true\npd_role: receiver\npd_buffer_size: 1073741824", "without pd_buffer_device"),
        (
            "enable_pd: true\nenable_p2p: true\nenable_controller: true\ntransfer_channel: nixl\npd_role: sender\n"
            "pd_buffer_size: 1\npd_buffer_device: cuda",
            "exclude each other",
        ),
        ("enable_p2p: true\ntransfer_channel: nixl", "enable_controller"),
        ("enable_p2p: true\nenable_controller: true", "without transfer_channel"),
        ("extra_config:\n  enable_nixl_storage: true\n  nixl_backend: GDS", "nixl_pool_size"),
        ("extra_config:\n  enable_nixl_storage: true\n  nixl_pool_size: 64", "nixl_backend"),
        ("local_cpu: true\nlocal_disk: file:///data/kv", "writes nothing to the disk"),
        ("local_cpu: true\nlocal_disk: file:///data/kv\nmax_local_disk_size: 0", "writes nothing to local_disk"),
        ("chunk_sise: 256\nlocal_cpu: true", "has no key chunk_sise"),
    ],
)
def test_what_the_file_says(content: str, words: str) -> None:
    (finding,) = told(content)
    assert words in finding.message
    assert finding.severity is Severity.WARNING
    assert finding.message.startswith("lmcache.yaml: ")


@pytest.mark.parametrize(
    "content",
    [
        "chunk_size: 256\nlocal_cpu: true\nmax_local_cpu_size: 40",
        "remote_url: lm://10.0.0.1:65432\nremote_serde: naive",
        "remote_serde: null\nlocal_cpu: true",
        "local_disk: file:///data/kv\nmax_local_disk_size: 100",
        "local_disk: null\nlocal_cpu: true",
        "enable_pd: true\npd_role: sender\npd_buffer_size: 1073741824\npd_buffer_device: cuda",
        "enable_xpyd: true\nnixl_role: sender",
        "enable_pd: false\nremote_url: redis://a:6379",
        "something_else_entirely: 1\nlocal_cpu: true",
    ],
)
def test_what_is_right(content: str) -> None:
    assert told(content) == []


def test_layer_by_layer_by_release() -> None:
    layers = "local_cpu: true\nuse_layerwise: true"
    (finding,) = told(layers, more="pip install lmcache==0.3.9 vllm==0.11.0")
    assert "layer by layer" in finding.message
    assert finding.severity is Severity.WARNING
    assert told(layers, more="pip install lmcache==0.3.10") == []
    (unnamed,) = told(layers)
    assert unnamed.severity is Severity.NOTE
    (blended,) = told(f"{layers}\nenable_blending: true", more="pip install lmcache==0.3.14")
    assert "does not blend" in blended.message


def test_remote_store_beside_pools_by_release() -> None:
    pools = "enable_pd: true\npd_role: sender\npd_buffer_size: 1\npd_buffer_device: cuda\nremote_url: redis://a:6379"
    assert len(told(pools, more="# LMCache v0.3.14")) == 1
    assert told(pools, more="# LMCache v0.4.5") == []


def test_the_release_whose_pools_stand_still() -> None:
    pools = "enable_pd: true\npd_role: receiver\npd_buffer_size: 1\npd_buffer_device: cuda"
    (finding,) = told(pools, more="pip install lmcache==0.3.12")
    assert "0.3.11 was right" in finding.message
    assert told(pools, more="pip install lmcache==0.3.11") == []
    assert told(pools, more="pip install lmcache==0.3.14") == []
    assert told(pools) == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "(EngineCore_DP0 pid=18188) [2025-11-12 21:12:41,177] LMCache WARNING: Failed to allocate memory object, "
            "retrying... (pd_backend.py:489:lmcache.v1.storage_backend.pd_backend)",
            "pd_buffer_size",
        ),
        ("ModuleNotFoundError: No module named 'lmcache_vllm'", "a package of its own"),
    ],
)
def test_what_its_log_says(line: str, words: str) -> None:
    said = [f for each in ask(f"```\nvllm serve {QWEN} {TRANSFER}\n```\n\n```\n{line}\n```\n") for f in each.findings]
    assert any(words in finding.message for finding in said)


def test_other_models_take_other_serialisers() -> None:
    assert told("remote_url: lm://a:1\nremote_serde: cachegen", model=QWEN) == []
    assert told("use_layerwise: true", model=QWEN, more="# lmcache 0.3.9") == []


def test_variables_and_keys_of_the_connector() -> None:
    (finding,) = by_variables("LMCACHE_LOCAL_DISK=file:///data LMCACHE_LOCAL_CPU=true")
    assert finding.where == "LMCACHE_LOCAL_DISK"
    extra = '"kv_connector_extra_config":{"lmcache.remote_serde":"cachegen"}'
    inside = f'{{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both",{extra}}}'
    text = f"vllm serve {K2} --port 8100 --kv-transfer-config '{inside}'\n"
    assert len(_of_lmcache(text)) == 1


def test_what_is_not_known_is_not_judged() -> None:
    assert by_variables("LMCACHE_CONFIG_FILE=/not/here.yaml LMCACHE_ENABLE_PD=true") == []
    assert by_variables("LMCACHE_REMOTE_SERDE=$SERDE") == []
    assert by_variables("REMOTE_SERDE=cachegen LMCACHE_LOCAL_CPU=true") == []
    assert _of_lmcache(f"LMCACHE_REMOTE_SERDE=cachegen vllm serve {K2}\n") == []
    server = TRANSFER.replace("LMCacheConnectorV1", "LMCacheMPConnector")
    assert _of_lmcache(f"LMCACHE_REMOTE_SERDE=cachegen vllm serve {K2} {server}\n") == []


def test_one_seed_for_those_that_share() -> None:
    shared = "remote_url: redis://10.0.0.9:6379\nlocal_cpu: true"
    (finding,) = told(shared, model=QWEN, env="")
    assert "PYTHONHASHSEED" in finding.message
    assert told(shared, model=QWEN) == []
    assert told("local_cpu: true", model=QWEN, env="") == []
    assert told(shared, model=f"{QWEN} --tensor-parallel-size 2", env="") == []  # known_reports tells it


def test_each_row_is_tried_above() -> None:
    assert len(lmcache_refusals()) == 16
    assert "max_local_cpu_size" in lmcache_keys()


@pytest.mark.parametrize(
    "text",
    [
        """apiVersion: v1
kind: Pod
metadata: {name: v}
spec:
  containers:
  - name: v
    image: lmcache/vllm-openai:v0.3.9
    env:
    - name: LMCACHE_MAX_LOCAL_CPU_SIZE
      value: "300"
    command: [vllm, serve, Qwen/Qwen3-8B, --tensor-parallel-size, "4"]
""",
        """servingEngineSpec:
  modelSpec:
  - name: r1
    repository: lmcache/vllm-openai
    tag: v0.3.9
    modelURL: Qwen/Qwen3-8B
    requestGPU: 4
    vllmConfig:
      tensorParallelSize: 4
    lmcacheConfig:
      enabled: true
      cpuOffloadingBufferSize: "300"
""",
    ],
)
def test_memory_of_each_worker(text: str) -> None:
    said = [finding.message for each in ask(text) for finding in each.findings]
    assert any("300 GB for each of 4 workers: 1200 GB" in message for message in said)


@pytest.mark.parametrize(("release", "counted"), [("", False), ("# LMCache 0.3.9", True), ("# LMCache 0.3.14", False)])
def test_latent_attention_is_stored_once(release: str, counted: bool) -> None:
    text = f"{release}\nLMCACHE_MAX_LOCAL_CPU_SIZE=300 vllm serve {K2} --tensor-parallel-size 16 {TRANSFER}\n"
    said = [finding.message for each in ask(text) for finding in each.findings]
    assert any("for each of 16 workers" in message for message in said) is counted

"""Reports that hold for the devices, images, networks and layouts of their sources, and for no others."""

from __future__ import annotations

import pytest

from moonpad.catalog.known_reports import KnownReport, known_reports
from moonpad.explain.checks.releases.known_reports import told
from tests.unit.explain.judging import ask

K3 = "vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8 --trust-remote-code"
R1_FP8 = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --quantization fp8"


def messages(text: str, on: str = "", version: str = "") -> str:
    return "\n".join(finding.message for judged in ask(text, on, version) for finding in judged.findings)


def test_an_image_that_has_not_the_fault_is_not_the_one_that_runs() -> None:
    """https://github.com/vllm-project/vllm/issues/51986"""
    named = "# 8xB300\n```\n{}\n```\n\n`vllm/vllm-openai:kimi-k3` {}"
    assert "NVLS" in messages(named.format(K3, "hangs."))
    assert "NVLS" not in messages(named.format(K3, "does not have this."))


@pytest.mark.parametrize(("on", "is_told"), [("8xB300", True), ("2x4xGB300", False), ("8xB200", False)])
def test_a_hang_of_eight_b300(on: str, is_told: bool) -> None:
    """https://github.com/vast-ai/base-image/pull/233"""
    container = f"docker run --gpus all vllm/vllm-openai:kimi-k3 {K3.partition(' serve ')[2]}"
    assert ("NVLS" in messages(container, on)) is is_told


@pytest.mark.parametrize(("on", "is_told"), [("8xB300", True), ("8xMI355X", False), ("8xH200", False)])
def test_crashes_with_the_prefix_cache(on: str, is_told: bool) -> None:
    """https://github.com/vllm-project/vllm/issues/50147 is of DGX B300."""
    text = f"{on}\n\n```\n{K3} --enable-prefix-caching\n```\n"
    assert ("illegal memory accesses" in messages(text, "", "0.26.0")) is is_told


@pytest.mark.parametrize(("nodes", "is_told"), [("--tp-size 16 --nnodes 2", True), ("--tp-size 8", False)])
def test_a_segmentation_fault_over_two_nodes(nodes: str, is_told: bool) -> None:
    """https://github.com/sgl-project/sglang/issues/3283"""
    assert ("segmentation fault" in messages(f"{R1_FP8} --kv-cache-dtype fp8_e5m2 {nodes}")) is is_told


@pytest.mark.parametrize(
    ("image", "is_told"), [("rocm/vllm-dev:nightly", True), ("vllm/vllm-openai-rocm:v0.27", False)]
)
def test_a_package_that_nightly_images_lack(image: str, is_told: bool) -> None:
    """https://github.com/ROCm/aiter/pull/3441"""
    text = f"docker run --device /dev/kfd {image} {K3} --load-format fastsafetensors"
    assert ("fastsafetensors" in messages(text, "8xMI355X")) is is_told


@pytest.mark.parametrize(
    ("draft", "is_told"), [("RedHatAI/Kimi-K3-speculator.dspark", True), ("Inferact/Kimi-K3-DSpark", False)]
)
def test_what_is_refused_is_not_loaded(draft: str, is_told: bool) -> None:
    """https://github.com/vllm-project/vllm/issues/50959 hangs as its draft is loaded, which another one never is:
    https://github.com/vllm-project/vllm/issues/50098"""
    config = f'{{"method":"dspark","model":"{draft}","num_speculative_tokens":7}}'
    text = f"{K3} --pipeline-parallel-size 2 --load-format fastsafetensors --speculative-config '{config}'"
    assert ("hangs for 600 s" in messages(text, "2x8xB200", "0.28.0")) is is_told


def test_graphs_of_torchair_are_not_those_of_the_report() -> None:
    """https://github.com/vllm-project/vllm-ascend/issues/6002"""
    command = "vllm serve /m/DeepSeek-V3.1-w8a8 --quantization ascend -tp 16 --gpu-memory-utilization 0.95"
    config = """--additional-config '{"torchair_graph_config": {"enabled": true}}'"""
    assert "107030" in messages(command, "16xA2", "0.11.0")
    assert "107030" not in messages(f"{command} {config}", "16xA2", "0.11.0")


def test_a_key_that_ends_the_start_has_no_later_effect() -> None:
    """https://github.com/vllm-project/vllm-ascend/pull/16661: unknown keys end the start from 0.27.1rc1 on."""
    command = """vllm serve /m/DeepSeek-V3.2-W8A8 -tp 16 --quantization ascend --additional-config
    '{"layer_sharding": ["o_proj"]}'""".replace("\n", " ")
    said = "take their whole room"
    assert said in messages(f"# vllm-ascend 0.25.1rc1\n{command}", "16xA3")
    later = messages(f"# vllm-ascend 0.28.0rc1\n{command}", "16xA3")
    assert said not in later
    assert "the start ends" in later


@pytest.mark.parametrize(
    ("text", "cluster"),
    [
        ("16×B200 of a P6e-GB200, all joined\n```\n{}\n```", "4x4xGB200"),
        ("16×B200 over two machines\n```\n{}\n```", "2x8xB200"),
    ],
)
def test_chips_of_a_rack_are_in_machines_of_four(text: str, cluster: str) -> None:
    """https://aws.amazon.com/ec2/instance-types/p6: u-p6e-gb200 are GB200 NVL72."""
    (judged,) = ask(text.format("vllm serve moonshotai/Kimi-K3 -tp 16 --trust-remote-code"))
    assert judged.cluster is not None
    assert judged.cluster.name == cluster


@pytest.mark.parametrize(
    ("key", "releases"),
    [
        ("ascend-k27-026", "vLLM-Ascend 0.26.0rc1: "),
        ("npu-layer-sharding-consumer", "vLLM-Ascend 0.18.0 to 0.23.0: "),
        ("sglang-dummy-k26", "SGLang 0.5.9 to 0.5.12.post1: "),
    ],
)
def test_the_releases_of_a_report(key: str, releases: str) -> None:
    row = known_reports()[key]
    title = releases.partition(" ")[0]
    assert told(row, title, {"model": "m", "device": "d", "version": "v"}).startswith(f"reported for {releases}")


def test_a_last_release_alone_is_not_the_only_one() -> None:
    row = next(row for row in known_reports().values() if row.last and not row.since and _is_reported(row))
    words = {"model": "m", "device": "d", "version": "v"}
    assert told(row, "X", words).startswith(f"reported for X up to {row.last}: ")


def _is_reported(row: KnownReport) -> bool:
    return row.provenance.standing == "reported" and not row.forks

"""Copies of the KV cache in host memory, which each rank takes for itself."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

START = (
    "python -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --trust-remote-code --enable-hierarchical-cache "
)


def told(text: str, words: str) -> list[tuple[Severity, str]]:
    fenced = f"{text}\n\n```bash\n{START}{words}\n```\n"
    findings = [finding for judged in ask(fenced) for finding in judged.findings]
    return [(each.severity, each.message) for each in findings if each.where == "--hicache-size"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("8x B300, 4 TB of RAM.", "--tp 8 --hicache-size 500"),
        ("8x H200 and 2 TB RAM.", "--tp 8 --hicache-size 240"),
        ("A machine with 1 TB RAM.", "--tp-size 4 --hicache-size=250"),
    ],
)
def test_more_than_the_text_leaves_for_them(text: str, words: str) -> None:
    ((severity, message),) = told(text, words)
    assert severity is Severity.WARNING
    assert "GB is for each of the" in message


@pytest.mark.parametrize("words", ["--tp 8 --hicache-size 1024", "--tp-size 4 --hicache-size 2000"])
def test_more_than_any_machine_has(words: str) -> None:
    ((severity, message),) = told("8x H200.", words)
    assert severity is Severity.WARNING
    assert "hardly a machine has" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("8x H200, 16 TB of RAM.", "--tp 8 --hicache-size 1000"),
        ("Sixteen.", "--tp 16 --nnodes 4 --node-rank 0 --hicache-size 1000"),
        ("8x H200.", "--tp 8 --hicache-size 700"),
    ],
)
def test_what_large_machines_may_have(text: str, words: str) -> None:
    assert told(text, words) == []


def test_what_the_text_takes_for_all_ranks() -> None:
    ((severity, message),) = told("8x H200. `--hicache-size 100` = 100 GB of CPU memory.", "--tp 8 --hicache-size 100")
    assert severity is Severity.NOTE
    assert "800 GB together" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("8x H200 and 2 TB RAM.", "--tp 8 --hicache-size 100"),
        ("8x H200.", "--tp 8 --hicache-size 500"),
        ("One H200, 256 GB RAM.", "--hicache-size 200"),
        ("8x H200. `--hicache-size 100` = 100 GB for each rank.", "--tp 8 --hicache-size 100"),
        ("2 TB RAM on each of two machines.", "--tp 16 --nnodes 2 --node-rank 0 --hicache-size 150"),
        ("8x H200 and 2 TB RAM.", "--tp $TP --hicache-size 500"),
    ],
)
def test_what_has_room_or_is_not_known(text: str, words: str) -> None:
    assert told(text, words) == []


CONNECTOR = "vllm serve moonshotai/Kimi-K2.6 --trust-remote-code {} --kv-transfer-config '{}'"


def of_connector(text: str, layout: str, keys: str) -> list[tuple[Severity, str]]:
    config = (
        f'{{"kv_connector":"SimpleCPUOffloadConnector","kv_role":"kv_both","kv_connector_extra_config":{{{keys}}}}}'
    )
    fenced = f"{text}\n\n```bash\n{CONNECTOR.format(layout, config)}\n```\n"
    findings = [finding for judged in ask(fenced) for finding in judged.findings]
    return [(each.severity, each.message) for each in findings if each.where.startswith("cpu_bytes_to_use")]


@pytest.mark.parametrize(
    ("text", "layout", "keys", "count"),
    [
        ("8x H200, 1 TB RAM.", "-tp 8", '"cpu_bytes_to_use_per_rank":150000000000', 1),
        ("8x H200, 1 TB RAM.", "-tp 8", '"cpu_bytes_to_use_per_rank":"150000000000"', 1),
        ("8x H200, 2 TB RAM.", "-tp 8", '"cpu_bytes_to_use_per_rank":150000000000', 0),
        ("8x H200, 1 TB RAM.", "-tp 8", '"cpu_bytes_to_use":150000000000', 0),
        ("8x H200, 1 TB RAM.", "-tp 2 -dp 4", '"cpu_bytes_to_use":300000000000', 1),
        ("8x H200.", "-tp 8", '"cpu_bytes_to_use_per_rank":1000000000000', 1),
        ("8x H200.", "-tp 8", '"cpu_bytes_to_use_per_rank":150000000000', 0),
    ],
)
def test_bytes_that_a_connector_keeps_for_each_rank_or_for_all(text: str, layout: str, keys: str, count: int) -> None:
    found = of_connector(text, layout, keys)
    assert [severity for severity, _ in found] == [Severity.WARNING] * count


@pytest.mark.parametrize(("ram", "severity"), [("256 GB RAM", Severity.WARNING), ("1 TB RAM", Severity.NOTE)])
def test_a_cache_of_each_worker_against_the_memory_of_the_text(ram: str, severity: Severity) -> None:
    start = "LMCACHE_MAX_LOCAL_CPU_SIZE=80 vllm serve Qwen/Qwen3-32B -tp 4 --kv-transfer-config "
    start += """'{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'"""
    findings = [each for judged in ask(f"4x H100, {ram}.\n\n```bash\n{start}\n```\n") for each in judged.findings]
    assert [each.severity for each in findings if "80 GB for each of 4 workers" in each.message] == [severity]


OLD = (
    "{}, 2 sockets. {}\n\n```bash\nktransformers --model_path /m/DeepSeek-R1 --gguf_path /g/DeepSeek-R1-Q4_K_M "
    "--port 10002 --cpu_infer 54\n```\n"
)


@pytest.mark.parametrize(
    ("ram", "built", "count"),
    [
        ("16x DDR5-4800 32GB", "Built with USE_NUMA=1.", 1),
        ("16x DDR5-4800 64GB", "Built with USE_NUMA=1.", 0),
        ("16x DDR5-4800 32GB", "Built without NUMA.", 0),
        ("Much RAM", "Built with USE_NUMA=1.", 0),
    ],
)
def test_experts_that_are_kept_once_for_each_node(ram: str, built: str, count: int) -> None:
    findings = [each for judged in ask(OLD.format(ram, built)) for each in judged.findings]
    assert sum("once for each of 2 nodes" in each.message for each in findings) == count


@pytest.mark.parametrize(("behind", "severity"), [("", Severity.WARNING), ("It gives 9 tokens/s.", Severity.NOTE)])
def test_copies_of_a_server_that_is_measured_are_a_note(behind: str, severity: Severity) -> None:
    text = OLD.format("16x DDR5-4800 32GB", "Built with USE_NUMA=1.") + behind
    findings = [each for judged in ask(text) for each in judged.findings]
    assert [each.severity for each in findings if "once for each" in each.message] == [severity]

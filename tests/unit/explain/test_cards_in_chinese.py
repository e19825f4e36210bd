"""Devices that are counted behind their size, with the measure word of Chinese at the number."""

import pytest

from moonpad.explain.documents.device_mentions import machines_of
from moonpad.explain.input_limits import Budget
from tests.unit.explain.judging import ask

SERVE = "```bash\nvllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code\n```\n"


@pytest.mark.parametrize(
    ("said", "machine"),
    [
        ("NVIDIA RTX PRO 6000 (96GB) × 8卡", "8xRTX-PRO-6000"),
        ("H200 (141GB) × 8卡", "8xH200"),
        ("H20 96G * 8张", "8xH20"),
    ],
)
def test_machine_is_counted(said: str, machine: str) -> None:
    (judged,) = ask(f"# 部署\n\n*   **硬件**：{said}\n\n{SERVE}")
    assert judged.cluster_because == f"the text names {machine}"


def test_a_number_of_something_else_is_not_one_of_devices() -> None:
    (judged,) = ask(f"# 部署\n\n*   **硬件**：H200 × 8k 上下文\n\n{SERVE}")
    assert judged.cluster_because != "the text names 8xH200"


def test_a_count_behind_a_bare_name_that_follows_chinese_is_read() -> None:
    command = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-Linear-48B-A3B-Instruct --tp 1"
    (judged,) = ask(f"电脑配置是4090*3，内存512G\n\n{command}\n")
    assert judged.cluster is not None
    assert judged.cluster.name == "3xRTX4090"


@pytest.mark.parametrize(
    ("said", "machines"),
    [
        ("我有8xH200机器", ["8xH200"]),
        ("我们用2台H800", ["2x8xH800"]),
        ("我们用两台8卡H20", ["2x8xH20"]),
        ("在4*4090上部署", ["4xRTX4090"]),
        ("最初は8xB200を狙った", ["8xB200"]),
        ("用第8张H800", []),
        ("二十四台H800", []),
        ("a18xH200", []),
    ],
)
def test_a_count_may_follow_a_word_without_a_blank(said: str, machines: list[str]) -> None:
    assert [machine for _, machine in machines_of(said, Budget())] == machines

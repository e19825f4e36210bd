"""Devices that the author says he does not have are not his machine; how many there are instead is believed."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.denied_devices import is_all_there_is, is_denied, number_instead
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

K2 = "vllm serve moonshotai/Kimi-K2-Instruct -tp 8 --trust-remote-code"
V3 = "python3 -m sglang.launch_server --model deepseek-ai/DeepSeek-V3 --tp 8 --trust-remote-code"


def devices(prose: str, command: str = K2) -> str:
    cluster = ask(f"# A report\n\n{prose}\n\n```\n{command}\n```\n")[0].cluster
    return cluster.name if cluster is not None else ""


@pytest.mark.parametrize(
    "prose",
    [
        "We do not have 16x H800 here, so I tried it on what there is.",
        "I don't have any B200, hence this way.",
        "We currently do not have access to 8xH200.",
        "I can't afford 8 x H100, so it runs elsewhere.",
        "我没有8张H200，怎么办？",
    ],
)
def test_denied_devices_are_no_machine(prose: str) -> None:
    assert devices(prose) == ""


@pytest.mark.parametrize(
    ("prose", "name"),
    [
        ("As we don't have 8 x NVIDIA H100 (in fact, we only have two), I took this.", "2xH100"),
        ("I do not have 8xH800, only one of them.", "1xH800"),
        ("I only have one NVIDIA H20 and start it so:", "1xH20"),
        ("We have just 4x H100 for it.", "4xH100"),
    ],
)
@pytest.mark.parametrize("command", [K2, V3])
def test_what_there_is_instead_is_the_machine(prose: str, name: str, command: str) -> None:
    assert devices(prose, command) == name
    judged = ask(f"{prose}\n\n```\n{command}\n```\n")[0]
    assert any("8 ranks" in each.message for each in judged.findings if each.severity is Severity.ERROR)


@pytest.mark.parametrize(
    ("prose", "name"),
    [
        ("I don't have the 8xH200 numbers yet, they come.", "8xH200"),
        ("I don't have H20, but 8xH200.", "8xH200"),
        ("If you do not have more, 8xH200 will do.", "8xH200"),
        ("We only have 4x H200 on the desk; this is for our 8xH200 box.", "8xH200"),
        ("I only have 4 H200 per node.", "8xH200"),
        ("We only have 8xH200.", "8xH200"),
    ],
)
def test_others_stay_as_they_are(prose: str, name: str) -> None:
    assert devices(prose) == name


def test_the_words_around_a_device() -> None:
    text = "I don't have 8 x H200 (I only have one)"
    assert is_denied(text, text.index("8"))
    assert is_denied(text, text.index("H200"))
    assert number_instead(text, text.index("8")) == 1
    assert is_all_there_is(text, text.index("8"))
    assert not is_denied("I have 8 x H200", 7)
    assert not is_all_there_is("I only have 4 H200 in each node", 12)

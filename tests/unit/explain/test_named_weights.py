"""Weights by the size in a model's name, and devices by the memory that the text gives them."""

import pytest

from moonpad.catalog.other_models import least_bytes_by_name
from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask

_SERVE = "```bash\nvllm serve {} --max-model-len 32768\n```\n"


def _told(text: str) -> list[str]:
    return [finding.message for finding in _findings(text)]


def _findings(text: str) -> list[Finding]:
    return [finding for one in ask(text) for finding in one.findings if finding.code is Code.DOES_NOT_FIT]


@pytest.mark.parametrize(
    ("written", "gb"),
    [
        ("acme/Foo-70B-Instruct", 63),  # one byte, since FP8 weights stand under plain names too
        ("acme/Foo-70B-Instruct-AWQ", 31.5),
        ("acme/Foo-30B-A3B", 27),
        ("acme/Foo-7b-w8a8", 6.3),
        ("acme/Foo-70B-GGUF", 0),
        ("acme/Foo-70B-3bit", 0),
        ("acme/Foo-70B-lora", 0),
        ("acme/Foo-70B-vs-8B", 0),
        ("acme/Foo-8x7B", 0),
        ("/models/Foo-70B", 31.5),  # in four bits, whatever weights the folder holds
        ("acme/Foo", 0),
    ],
)
def test_least_bytes_by_name(written: str, gb: float) -> None:
    assert least_bytes_by_name(written) / 1e9 == pytest.approx(gb, abs=0.01)


def test_more_by_name_than_a_device_holds() -> None:
    (told,) = _told("On 1x L40S:\n" + _SERVE.format("acme/Foo-70B-Instruct"))
    assert "acme/Foo-70B-Instruct are at least 59 GiB" in told
    assert _told("On 1x L40S:\n" + _SERVE.format("acme/Foo-70B-Instruct-AWQ")) == []


def test_a_name_alone_is_no_error() -> None:
    (found,) = _findings("On 1x L40S:\n" + _SERVE.format("acme/Foo-70B-Instruct --tensor-parallel-size 1"))
    assert found.severity is Severity.WARNING


@pytest.mark.parametrize(
    "said", ["RTX PRO 5000 (72GB)", "one 72 GB GPU", "72GB RTX PRO 5000", "the GeForce RTX 5070 Ti has 16 GB"]
)
def test_memory_of_a_device_that_no_table_has(said: str) -> None:
    (told,) = _told(f"# This is for {said}, not for less.\n" + _SERVE.format("Qwen/Qwen3-Next-80B-A3B-Instruct-FP8"))
    assert "the most that the text speaks of" in told


@pytest.mark.parametrize(
    "said",
    [
        "96 GB GPU",
        "first a 24 GB GPU, then a 96 GB GPU",
        "~2 GB VRAM",
        "takes 35 GB of the GPU",
        "nothing of devices",
    ],
)
def test_enough_memory_or_none_that_is_said(said: str) -> None:
    assert _told(f"# {said}\n" + _SERVE.format("Qwen/Qwen3-Next-80B-A3B-Instruct-FP8")) == []


def test_three_dots_in_a_sentence_cut_no_command() -> None:
    text = "# It thinks: <think>...</think>, on a 72 GB GPU\n"
    assert _told(text + _SERVE.format("Qwen/Qwen3-Next-80B-A3B-Thinking-FP8"))
    assert not _told("# On a 72 GB GPU\n" + _SERVE.format("Qwen/Qwen3-Next-80B-A3B-Thinking-FP8 ..."))


@pytest.mark.parametrize(
    ("written", "gb"),
    [("qwen/Qwen1.5-72B-Chat", 129.6), ("Qwen/Qwen1.5-72B-Chat-AWQ", 32.4), ("somebody/Qwen1.5-72B-Chat", 64.8)],
)
def test_plain_names_of_publishers_that_say_their_formats(written: str, gb: float) -> None:
    assert least_bytes_by_name(written) / 1e9 == pytest.approx(gb, abs=0.01)


def test_ranks_that_are_left_idle_are_what_to_write() -> None:
    text = "On 8 A800:\n```\nvllm serve qwen/Qwen1.5-72B-Chat\n```\n"
    (judged,) = ask(text)
    (finding,) = [each for each in judged.findings if each.code is Code.DOES_NOT_FIT]
    assert finding.remedy.startswith("write --tensor-parallel-size 2")

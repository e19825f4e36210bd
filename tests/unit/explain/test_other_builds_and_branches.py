"""Rules that spoke of other builds, other branches or other keys than those of the command."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask


def told(text: str, *, at_least: Severity = Severity.WARNING, version: str = "") -> list[str]:
    grave = (Severity.ERROR,) if at_least is Severity.ERROR else (Severity.ERROR, Severity.WARNING)
    return [each.message for judged in ask(text, version=version) for each in judged.findings if each.severity in grave]


LIST = "a JSON list, where an object"


def test_a_list_at_one_key_of_an_object() -> None:
    text = "vllm serve org/model --compilation_config.cudagraph_capture_sizes '[1, 2, 4]'"
    assert not any(LIST in message for message in told(text))


def test_a_list_in_place_of_the_object() -> None:
    assert any(LIST in message for message in told("vllm serve org/model --compilation-config '[1, 2, 4]'"))


PARSER = "vllm serve nvidia/Nemotron-Nano --reasoning-parser nano_v3"


def test_parsers_that_a_branch_adds() -> None:
    text = (
        f"ARGS=({PARSER})\nif [ -f nano.py ]; then\n  ARGS+=(--reasoning-parser-plugin nano.py)\nfi\n"
        'exec "${ARGS[@]}"\n'
    )
    assert not any("no parser" in message for message in told(text, version="0.23.0"))


@pytest.mark.parametrize("comment", ["", "# ARGS+=(--reasoning-parser-plugin nano.py)\n"])
def test_parsers_that_nothing_adds(comment: str) -> None:
    assert any("no parser" in message for message in told(f"{comment}{PARSER}", version="0.23.0"))


SINKS = "# FlashInfer backend currently does not support attention sinks\nvllm serve openai/gpt-oss-120b"


@pytest.mark.parametrize(("version", "expected"), [("0.10.2", False), ("0.13.0", True), ("0.20.0", False)])
def test_a_report_of_some_builds(version: str, *, expected: bool) -> None:
    assert any("mid-December 2025" in message for message in told(SINKS, version=version)) == expected


OF_V100 = (
    "{}\nexport VLLM_ATTENTION_BACKEND=FLASH_ATTN_V100\n"
    "vllm serve org/model-AWQ --quantization awq --dtype float16 --no-such-option 3\n"
)


def test_a_fork_with_numbers_of_its_own() -> None:
    first = "# 8x V100\npip install https://github.com/1CatAI/1Cat-vLLM/releases/download/v1.0.0/vllm-1.0.0-cp312-x.whl"
    messages = told(OF_V100.format(first))
    assert not any("VLLM_ATTENTION_BACKEND" in each or "7.5" in each or "no-such" in each for each in messages)


def test_the_engine_itself() -> None:
    messages = told(OF_V100.format("# 8x V100\npip install vllm==0.30.0"))
    assert any("VLLM_ATTENTION_BACKEND" in each for each in messages)
    assert any("7.5" in each for each in messages)


def test_options_of_the_fork_for_gaudi() -> None:
    text = "vllm serve org/model --use-padding-aware-scheduling --num_scheduler_steps 8"
    assert not any("has no" in message for message in told(text))
    assert any("has no" in message for message in told(text.replace("--use-padding-aware-scheduling", "--no-such")))


def test_an_option_with_underscores_is_the_one_with_dashes() -> None:
    messages = told("vllm serve org/model --num_scheduler_steps 8")
    assert any("0.10.0 has it" in message for message in messages)


NODES = "vllm serve org/model --tensor-parallel-size 2 --nnodes 3 --node-rank 0 --master-addr node1"


def test_and_so_on_at_the_end_of_a_command() -> None:
    assert not any("evenly" in message for message in told(f"{NODES} \\\n  # ... other options\n"))
    assert not any("evenly" in message for message in told(f"{NODES}  # \u2026 and more\n"))


@pytest.mark.parametrize("comment", ["", "  # two devices", " \\\n  --port 8000  # the port"])
def test_a_comment_that_says_something(comment: str) -> None:
    assert any("evenly" in message for message in told(f"{NODES}{comment}\n"))


def test_an_address_that_the_rest_may_have() -> None:
    without = "vllm serve org/model --tensor-parallel-size 16 --nnodes 2 --node-rank 0"
    assert any("127.0.0.1 is this machine" in message for message in told(without))
    assert not any("127.0.0.1 is this machine" in message for message in told(f"{without} ..."))


def test_a_script_that_starts_the_other_ranks() -> None:
    command = "vllm serve org/model --tensor-parallel-size 2 --nnodes 2 --node-rank 0 --master-addr node1"
    assert any("only command is that of rank 0" in message for message in told(command))
    assert not any("only command is that of rank 0" in message for message in told(f"/opt/on-all-nodes.sh {command}"))

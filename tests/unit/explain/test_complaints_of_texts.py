"""What a text complains of in its sentences, with or without a command, is what the first line is about."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one

PREFILL = """vllm serve /weights/Kimi-K2.6-w4a8 --tensor-parallel-size 8 --data-parallel-size 2 \
--enable-expert-parallel --quantization ascend --max-model-len 32768 --gpu-memory-utilization 0.9 --kv-transfer-config \
'{"kv_connector": "MooncakeConnectorV1", "kv_role": "kv_producer", "kv_port": "46000", "engine_id": "0", \
"kv_connector_extra_config": {"prefill": {"dp_size": 2, "tp_size": 8}, "decode": {"dp_size": 32, "tp_size": 1}}}'"""
BRANCH = "On vllm-ascend releases/v0.26.0rc on A3 the 2P1D service of Kimi K2.6-w4a8"
KIMI_VL = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-VL-A3B-Instruct --trust-remote-code"


def _first(text: str, on: str = "") -> str:
    return verdict(ask_one(text, on=on))[0]


@pytest.mark.parametrize("branch", ["releases/v0.26.0rc", "release/v0.26.0rc1", "releases/0.26.0rc1"])
def test_the_branch_of_a_release_is_its_first_candidate(branch: str) -> None:
    judged = ask_one(f"Built from {branch} of the plugin.\n\n```\n{PREFILL}\n```\n", on="16xA3")
    assert judged.version == "0.26.0rc1"


@pytest.mark.parametrize("path", ["https://example.org/releases/v0.26.0rc1/notes", "src/releases/v0.26.0rc1.md"])
def test_a_path_of_that_name_is_no_branch(path: str) -> None:
    assert ask_one(f"See {path}.\n\n```\n{PREFILL}\n```\n", on="16xA3").version != "0.26.0rc1"


@pytest.mark.parametrize("complaint", ["fails to start: the P nodes run out of memory", "启动失败，P节点显存不足"])
def test_memory_that_runs_out_in_a_sentence(complaint: str) -> None:
    first = _first(f"{BRANCH} {complaint}.\n\n```\n{PREFILL}\n```\n", on="16xA3")
    assert first.startswith("Known fault (--kv-transfer-config): prefill nodes of K2.6 and K2.7 run out of memory")
    assert "Fits by the arithmetic" in first


def test_without_that_complaint_the_arithmetic_stays_sure() -> None:
    first = _first(f"{BRANCH} is started so.\n\n```\n{PREFILL}\n```\n", on="16xA3")
    assert "Fits (sure)" in first


def test_the_same_without_a_command() -> None:
    judged = ask_one(
        f"# Kimi on vllm-ascend\n\n{BRANCH} fails to start because the P nodes run out of memory.\n", on=""
    )
    assert judged.kind == "report"
    assert judged.version == "0.26.0rc1"
    assert verdict(judged)[0].startswith("No command: prefill nodes of K2.6 and K2.7 run out of memory")


@pytest.mark.parametrize("name", ["Transformer 4.54.0", "transformers==4.54.1", "Transformers version: 4.54.0"])
def test_a_package_that_the_complaint_names(name: str) -> None:
    judged = ask_one(f"# Kimi-VL not working with latest SGLang + {name}\n\n```\n{KIMI_VL}\n```\n", on="")
    assert "imports a name that Transformers 4.54 lacks" in verdict(judged)[0]


@pytest.mark.parametrize(
    "sentence", ["Tested with Transformers 4.54.0", "It does not work with Transformers 4.53.2", "It does not work"]
)
def test_a_package_that_no_complaint_names(sentence: str) -> None:
    judged = ask_one(f"{sentence}\n\n```\n{KIMI_VL}\n```\n", on="")
    assert "4.54 lacks" not in verdict(judged)[0]
    assert not [each for each in judged.findings if "4.54 lacks" in each.message and each.severity is not Severity.NOTE]


def test_such_a_report_without_a_command() -> None:
    text = "# Kimi-VL-A3B-Instruct not working with latest SGLang + Transformer 4.54.0\n\nPlease pin it below that.\n"
    assert "imports a name that Transformers 4.54 lacks" in _first(text)


THINKING = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 {} 4 --trust-remote-code"


@pytest.mark.parametrize("option", ["--ep", "--ep-size"])
def test_an_option_that_the_complaint_names(option: str) -> None:
    first = _first(f"The INT4 experts fail with {option} today.\n\n```\n{THINKING.format(option)}\n```\n")
    assert first.startswith("Perhaps a fault of an older release: the INT4 experts of moonshotai/Kimi-K2-Thinking")


def test_an_option_that_no_complaint_names() -> None:
    assert not _first(f"Fails with --tp.\n\n```\n{THINKING.format('--ep')}\n```\n").startswith("Perhaps a fault")


DRAFTS = """vllm serve nvidia/Kimi-K2.6-NVFP4 -tp 8 --attention-config.use_trtllm_ragged_deepseek_prefill=True \\
  --speculative-config '{"model":"lightseekorg/kimi-k2.6-eagle3-mla","method":"eagle3","num_speculative_tokens":3}'"""


@pytest.mark.parametrize("many", ["more than 20 requests", "high concurrency", "larger batches"])
def test_what_runs_and_is_slow_has_started(many: str) -> None:
    first = _first(f"Fast alone, but with {many} it is very slow.\n\n```\n{DRAFTS}\n```\n", on="8xB300")
    assert first.startswith("Known fault (--speculative-config): drafts speed up few sequences and slow down many")


def test_without_a_complaint_the_newest_does_not_start() -> None:
    first = _first(f"Tested with more than 20 requests.\n\n```\n{DRAFTS}\n```\n", on="8xB300")
    assert first.startswith("Does not start with vllm")


@pytest.mark.parametrize("devices", ["A3", "Atlas 800I A3"])
def test_a_report_that_names_the_devices_alone(devices: str) -> None:
    text = (
        f"# Kimi on releases/v0.26.0rc\n\nOn {devices} Kimi K2.6-w4a8 2P1D fails to start: P nodes run out of memory.\n"
    )
    judged = ask_one(text, on="")
    assert (judged.engine, judged.version) == ("vllm-ascend", "0.26.0rc1")
    assert "run out of memory at the start" in verdict(judged)[0]


def test_devices_of_two_makers_name_no_engine() -> None:
    text = "# Kimi on releases/v0.26.0rc\n\nOn A3 and H200 Kimi K2.6-w4a8 2P1D fails: P nodes run out of memory.\n"
    assert not ask(text)

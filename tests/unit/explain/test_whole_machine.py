"""Memory that is too little however the layout is, or in whichever release."""

from __future__ import annotations

import re

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask, ask_one

VLLM = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code"


def short(one: Judged) -> list[str]:
    found = [finding for finding in one.findings if finding.code is Code.DOES_NOT_FIT]
    assert all(finding.severity is Severity.WARNING and finding.remedy for finding in found)
    return [finding.message for finding in found]


@pytest.mark.parametrize(
    ("command", "on", "expected"),
    [
        (f"{VLLM} -tp $TP --max-model-len 32768", "4xH100", "even with tensor parallelism over all of 4xH100"),
        (f"{VLLM} -tp $TP --kv-cache-dtype fp8", "8xH100", "the model's own context of 262,144 tokens"),
        (f"{VLLM} -tp $TP --max-model-len 8192 --gpu-memory-utilization 0.95", "8xH100", ""),
        (f"{VLLM} -tp $TP --max-num-seqs $CONC --kv-cache-dtype fp8", "8xH100", "context of 262,144 tokens"),
        (f"{VLLM} -tp $TP --max-num-seqs $CONC --max-model-len 8192", "8xH200", ""),
        (f"{VLLM} -tp $TP $MORE", "8xH200", ""),
        (f"{VLLM} -tp $TP --max-model-len 32768 --cpu-offload-gb 80", "4xH100", ""),
        (f"{VLLM} -tp $TP --max-model-len 32768 --nnodes 2", "4xH100", ""),
        ("vllm serve /m/DeepSeek-R1 -tp $TP --max-model-len 8192", "4xH100", ""),
        ("vllm serve deepseek-ai/DeepSeek-R1 -tp $TP --max-model-len 8192", "8xH100", "even with"),
    ],
)
def test_over_all_devices(command: str, on: str, expected: str) -> None:
    found = short(ask_one(command, on))
    assert bool(found) == bool(expected)
    assert all(expected in message for message in found)


@pytest.mark.parametrize(("context", "version", "said"), [(262144, "0.12.0", True), (8192, "0.12.0", False)])
def test_in_a_release_that_serves_the_model(context: int, version: str, said: bool) -> None:
    one = ask_one(f"{VLLM} -tp 8 --max-model-len {context} --gpu-memory-utilization 0.95", "8xH100", version)
    assert at_engine(one)
    assert [message.startswith("in a release that serves it too") for message in short(one)] == [True] * said


def test_the_settings_with_which_the_newest_release_has_room_are_named() -> None:
    command = "vllm serve moonshotai/Kimi-K2-Thinking --trust-remote-code -tp 8"
    command += " --max-model-len 262144 --max-num-seqs 4 --gpu-memory-utilization 0.95"
    one = ask_one(f"{command} --max-num-batched-tokens 32768", "8xH100", "0.8.5.post1")
    (remedy,) = [each.remedy for each in one.findings if each.message.startswith("in a release that serves it too")]
    flags = re.search(r"write (--.*?): ", remedy)
    assert flags is not None
    with_them = ask_one(f"{command} {flags[1]}", "8xH100")
    assert with_them.memory is not None
    assert with_them.memory.fits


def at_engine(one: Judged) -> bool:
    return any(finding.where == "engine" and finding.severity is Severity.ERROR for finding in one.findings)


RUN = "docker run --gpus all -e MODEL_NAME=moonshotai/Kimi-K2-Instruct -e TENSOR_PARALLEL_SIZE=8 -e MAX_MODEL_LEN=8192"


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (f"# On 8xH100\n{RUN} ghcr.io/some/one-vllm:latest", "take more devices"),
        (f"# For 8xB200 or 8xH100\n{RUN} ghcr.io/some/one-vllm:latest", "take 8xB200, which the text means as well"),
        (f"# On 8xB200\n{RUN} ghcr.io/some/one-vllm:latest", ""),
        ("# On 8xH100\n--model moonshotai/Kimi-K2-Instruct --tensor-parallel-size $TP --max-model-len 8192", ""),
    ],
)
def test_options_that_are_the_variables_of_a_container(text: str, remedy: str) -> None:
    found = [each for one in ask(text) for each in one.findings if each.message.startswith("even with")]
    assert [each.remedy.startswith(remedy) for each in found] == [True] * bool(remedy)

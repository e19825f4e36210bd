"""Sizes that a script counts from the devices of the machine on which it runs."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

VLLM = "vllm serve moonshotai/Kimi-K2.6 --trust-remote-code --max-model-len 32768 --port 8055"
KT = (
    "python -m sglang.launch_server --port 30055 --model moonshotai/Kimi-K2.5 --kt-weight-path moonshotai/Kimi-K2.5 "
    "--kt-cpuinfer 48 --kt-threadpool-count 2 --kt-method RAWINT4 --trust-remote-code --mem-fraction-static 0.92"
)
COUNT = "$(nvidia-smi -L | wc -l)"


def only(text: str) -> Judged:
    (judged,) = ask(text)
    return judged


@pytest.mark.parametrize(
    "count",
    [
        COUNT,
        "$(nvidia-smi --list-gpus | wc -l)",
        "$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)",
        "`nvidia-smi -L | wc -l`",
    ],
)
@pytest.mark.parametrize(("machine", "size"), [("8x H200", 8), ("4x B300", 4)])
def test_it_counts_the_devices_of_the_machine_that_the_text_names(count: str, machine: str, size: int) -> None:
    judged = only(f"#!/bin/bash\n# for {machine}\nN={count}\n{VLLM} --tensor-parallel-size $N\n")
    assert judged.memory is not None
    assert judged.layout is not None
    assert judged.layout.tp == size
    assert not judged.unknown


def test_what_is_computed_of_the_count_is_known_too() -> None:
    judged = only(
        f"#!/bin/bash\n# for 2x H100 NVL\nN={COUNT}\nE=$((64 / N))\n{KT} --tensor-parallel-size $N "
        "--kt-num-gpu-experts $E --max-total-tokens 40000\n"
    )
    assert judged.settings is not None
    assert judged.settings.gpu_experts == 32
    assert any("nvidia-smi" in word for line in judged.corrected for word in line.argv)


@pytest.mark.parametrize(
    "text",
    [
        f"#!/bin/bash\nN={COUNT}\n{VLLM} --tensor-parallel-size $N\n",
        f"#!/bin/bash\n# for 8x H200\nN={COUNT}\n{VLLM} --tensor-parallel-size $N $EXTRA_ARGS\n",
        f"#!/bin/bash\n# for 8x H200\n{VLLM} --tensor-parallel-size $(cat /etc/ranks)\n",
        f"#!/bin/bash\n# for 2x8x H200\nN={COUNT}\n{VLLM} --tensor-parallel-size $N\n",
    ],
)
def test_what_else_is_not_known_stays_so(text: str) -> None:
    assert only(text).memory is None


ONE = "#!/bin/bash\n# needs {need}, ours was an H100 NVL\nN=" + COUNT + "\nE=$(({experts} / N))\n"


@pytest.mark.parametrize("need", ["a GPU with 90GB of memory", "a single H100 GPU"])
def test_one_device_that_the_text_asks_for_may_be_too_small(need: str) -> None:
    start = f"{KT} --tensor-parallel-size $N --kt-num-gpu-experts $E --max-total-tokens 40000\n"
    judged = only(ONE.format(need=need, experts=64) + start)
    (finding,) = [each for each in judged.findings if "with one device" in each.message]
    assert finding.severity is Severity.WARNING
    assert not any(each.severity is Severity.ERROR for each in judged.findings)
    assert "must hold" in verdict(judged)[0]
    fewer = only(ONE.format(need=need, experts=16) + start)
    assert not any(each.code is Code.DOES_NOT_FIT for each in fewer.findings)
    assert fewer.layout_words.endswith("not known")


@pytest.mark.parametrize("value", ["`cat /etc/ranks`", "`hostname | grep -c node`"])
def test_the_output_of_a_command_in_backticks_is_no_value_that_is_refused(value: str) -> None:
    judged = only(f"#!/bin/bash\n# for 8x H200\n{VLLM} --tensor-parallel-size {value}\n")
    assert not any(each.severity is Severity.ERROR for each in judged.findings)
    assert judged.unknown == {"tp"}

"""`--gres=gpu` asks for one device: sbatch(1), "name[[:type]:count]", whose count is 1 where it is left out."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "python3 -m sglang.launch_server --model-path zai-org/GLM-4.5-Air --tp-size {tp} --host 127.0.0.1"


def told(options: str, tp: str) -> list[str]:
    header = "".join(f"#SBATCH {each}\n" for each in options.split("; "))
    judged = ask(f"#!/bin/bash\n#SBATCH --nodes=1\n{header}{SERVE.format(tp=tp)}\n")
    findings = [finding for each in judged for finding in each.findings]
    return [finding.message for finding in findings if "on a node, and the command starts" in finding.message]


ONE = ["line 3 asks for 1 device on a node, and the command starts 4 ranks on one"]


@pytest.mark.parametrize(
    "options",
    [
        "--gres=gpu:1",
        "--gres=gpu",
        "--gres gpu",
        '--gres="gpu"',
        "--gres=gpu   # any of them",
        "--gres=gpu:a100",
        "--gres=gpu:nvidia_h100_80gb_hbm3",
        "--gres=gpu:tesla",
        "--gres=gpu,nvme:500",
        "--gres=nvme:500,gpu:h100",
        "--gres=gpu --exclusive=user",
    ],
)
def test_what_names_no_count_is_one(options: str) -> None:
    assert told(options, "4") == ONE


@pytest.mark.parametrize(
    "options",
    [
        "--gres=gpu:$GPUS",
        "--gres=gpu:NUM_GPUS",
        "--gres=gpu:{{ gpus }}",
        "--gres=gpu:<count>",
        "--gres=nvme",
        "--gres=nvme:1",
        "--gres=none",
        "--gres=gpu_mem:40",
        "--gres=gpu:a100:4",
        "--gres=gpu:2,gpu:a100:2",
        "--gpus-per-node=4; --gres=gpu",
        "--gres=gpu --exclusive",
        "--exclusive; --gres=gpu:a100",
        "--exclusive --gres=gpu:1",
    ],
)
def test_enough_or_not_known(options: str) -> None:
    """A template, another resource, and nodes that the job has for itself, with all that is in them."""
    assert told(options, "4") == []


def test_one_rank_on_one_device() -> None:
    assert told("--gres=gpu", "1") == []


@pytest.mark.parametrize(
    ("options", "ranks"),
    [
        ("--gres=gpu", 1),
        ("--gres=gpu:a100", 1),
        ("--gres=gpu:a100:2", 2),
        ("--exclusive --gres=gpu:a100:2", 2),
    ],
)
def test_the_variable_has_the_same_number(options: str, ranks: int) -> None:
    (judged,) = ask(f"#!/bin/bash\n#SBATCH {options}\n{SERVE.format(tp='$SLURM_GPUS_ON_NODE')}\n")
    assert judged.layout is not None
    assert "tp" not in judged.unknown
    assert judged.layout.tp == ranks

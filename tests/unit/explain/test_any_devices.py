"""What every kind of devices refuses is told where no devices are named; what some of them take is not."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

ERROR, WARNING = Severity.ERROR, Severity.WARNING
K25, K2 = "moonshotai/Kimi-K2.5", "moonshotai/Kimi-K2-Instruct"


def told(command: str, on: str = "") -> list[tuple[Severity, str]]:
    findings = ask_one(command, on).findings
    return [(finding.severity, finding.where) for finding in findings if finding.severity is ERROR]


@pytest.mark.parametrize(
    ("command", "flag"),
    [
        (f"vllm serve {K25} -tp 8 --max-model-len 524288", "--max-model-len"),
        (f"sglang serve --model-path {K25} --tp-size 8 --context-length 1048576", "--context-length"),
        (f"vllm serve {K25} -tp 8 -dcp 16", "--decode-context-parallel-size"),
        (f"trtllm-serve {K2} --tp_size 8 --ep_size 16", "--ep_size"),
        (f"trtllm-serve {K2} --tp_size 8 --ep_size 3", "--ep_size"),
        (f"vllm serve {K25} -tp 2 -pp 62", "--pipeline-parallel-size"),
        (
            f"python -m sglang.launch_server --model {K25} --tp-size 2 --kt-weight-path /m --kt-method RAWINT4 "
            "--kt-cpuinfer 60 --kt-num-gpu-experts 400",
            "--kt-num-gpu-experts",
        ),
    ],
)
def test_refused_on_all(command: str, flag: str) -> None:
    assert told(command) == [(ERROR, flag)]


@pytest.mark.parametrize(
    "command",
    [
        f"vllm serve {K25} -tp 8 --max-model-len 262144",
        f"vllm serve {K25} -tp 8 --max-model-len $LENGTH",
        f"vllm serve {K25} -tp $TP -dcp 16",
        f"trtllm-serve {K2} --tp_size 8 --ep_size 8",
        f"vllm serve {K25} -tp 8 --attention-backend FLASHMLA",  # Hopper takes it
        f"vllm serve {K25} -tp 8 --block-size 16",  # Triton takes it
        f"vllm serve {K25} -tp 16",  # nobody says how many devices a machine has
        "vllm serve nvidia/Kimi-K2.5-NVFP4 -tp 4",
        "sglang serve --model-path /weights/Kimi-K2.6-W4A8 --tp-size 8",  # on Ascend, as builds of others can
    ],
)
def test_quiet_where_some_devices_take_it(command: str) -> None:
    assert told(command) == []


@pytest.mark.parametrize("on", ["", "8xH200"])
def test_a_context_may_be_stretched(on: str) -> None:
    long = f"vllm serve {K25} -tp 8 --max-model-len 300000 --kv-cache-dtype fp8"
    assert (ERROR, "--max-model-len") in told(long, on)
    of_context = [
        (finding.severity, finding.where)
        for finding in ask_one(f"VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 {long}", on).findings
        if finding.where == "--max-model-len" and "YaRN" in finding.message
    ]
    assert of_context == [(WARNING, "--max-model-len")]
    overrides = """--hf-overrides '{"text_config": {"rope_scaling": {"type": "yarn", "factor": 128}}}'"""
    assert not [finding for finding in ask_one(f"{long} {overrides}", on).findings if "YaRN reaches" in finding.message]

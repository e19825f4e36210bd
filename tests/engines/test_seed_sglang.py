"""Each SGLang server line of the seed documents, put to SGLang's own argument parser.

Nothing is started: parsing is all that is asked, and parsing is not validity. What is expected was written by hand from
reading each command line. docs/seeds.md rests on COMMANDS: tests/unit/docs/test_seeds.py holds that each of its parsed
flags stands here.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from string import Template
from typing import Any

import pytest

from moonpad.environments.installed import find
from tests.engines.commands import ROOT, judged

pytestmark = pytest.mark.slow

# The shell variables of the seed, which leaves them open.
VARIABLES = {
    "MODEL_PATH": "/models/Kimi-K2-Instruct",
    "MASTER_IP": "10.0.0.1",
    "PREFILL_NODE0": "10.0.1.1",
    "DECODE_NODE0": "10.0.2.1",
    "LOCAL_IP": "10.0.1.2",
    "IB_DEVICE": "mlx5_0",
    "RANK": "1",
}

# The keys begin with the number of the seed.
COMMANDS = {
    "4 SGLang TP16, node 0": """--model-path $MODEL_PATH --tp 16 --dist-init-addr $MASTER_IP:50000 --nnodes 2
        --node-rank 0 --trust-remote-code --tool-call-parser kimi_k2""",
    "4 SGLang TP16, node 1": """--model-path $MODEL_PATH --tp 16 --dist-init-addr $MASTER_IP:50000 --nnodes 2
        --node-rank 1 --trust-remote-code --tool-call-parser kimi_k2""",
    "4 SGLang prefill": """--model-path $MODEL_PATH --trust-remote-code --disaggregation-mode prefill
        --dist-init-addr $PREFILL_NODE0:5757 --tp-size 32 --dp-size 32 --enable-dp-attention --host $LOCAL_IP
        --decode-log-interval 1 --disable-radix-cache --enable-deepep-moe --moe-dense-tp-size 1 --enable-dp-lm-head
        --disable-shared-experts-fusion --watchdog-timeout 1000000 --enable-two-batch-overlap
        --disaggregation-ib-device $IB_DEVICE --chunked-prefill-size 131072 --mem-fraction-static 0.85
        --deepep-mode normal --ep-dispatch-algorithm dynamic --eplb-algorithm deepseek --max-running-requests 1024
        --nnodes 4 --node-rank $RANK --tool-call-parser kimi_k2""",
    "4 SGLang decode": """--model-path $MODEL_PATH --trust-remote-code --disaggregation-mode decode
        --dist-init-addr $DECODE_NODE0:5757 --tp-size 96 --dp-size 96 --enable-dp-attention --host $LOCAL_IP
        --decode-log-interval 1 --context-length 2176 --disable-radix-cache --enable-deepep-moe --moe-dense-tp-size 1
        --enable-dp-lm-head --disable-shared-experts-fusion --watchdog-timeout 1000000 --enable-two-batch-overlap
        --disaggregation-ib-device $IB_DEVICE --deepep-mode low_latency --mem-fraction-static 0.8 --cuda-graph-bs 480
        --max-running-requests 46080 --ep-num-redundant-experts 96 --nnodes 12 --node-rank $RANK
        --tool-call-parser kimi_k2""",
}
CONTROL = "control: a flag that nobody has"


@dataclass(frozen=True)
class Expected:
    """By hand. `values` holds every flag of the command that is not refused, under the name that SGLang gives it."""

    values: dict[str, Any]
    refused: tuple[str, ...] = ()


MODEL = {"model_path": "/models/Kimi-K2-Instruct", "trust_remote_code": True, "tool_call_parser": "kimi_k2"}
TP16 = {**MODEL, "tp_size": 16, "dist_init_addr": "10.0.0.1:50000", "nnodes": 2}
APART = {
    **MODEL,
    "enable_dp_attention": True,
    "host": "10.0.1.2",
    "decode_log_interval": 1,
    "disable_radix_cache": True,
    "moe_dense_tp_size": 1,
    "enable_dp_lm_head": True,
    "disable_shared_experts_fusion": True,
    "watchdog_timeout": 1_000_000,
    "enable_two_batch_overlap": True,
    "disaggregation_ib_device": "mlx5_0",
    "node_rank": 1,
}
EXPECTED = {
    "4 SGLang TP16, node 0": Expected({**TP16, "node_rank": 0}),
    "4 SGLang TP16, node 1": Expected({**TP16, "node_rank": 1}),
    "4 SGLang prefill": Expected(
        {
            **APART,
            "disaggregation_mode": "prefill",
            "dist_init_addr": "10.0.1.1:5757",
            "tp_size": 32,
            "dp_size": 32,
            "chunked_prefill_size": 131_072,
            "mem_fraction_static": 0.85,
            "deepep_mode": "normal",
            "ep_dispatch_algorithm": "dynamic",
            "eplb_algorithm": "deepseek",
            "max_running_requests": 1024,
            "nnodes": 4,
        },
        refused=("--enable-deepep-moe",),
    ),
    "4 SGLang decode": Expected(
        {
            **APART,
            "disaggregation_mode": "decode",
            "dist_init_addr": "10.0.2.1:5757",
            "tp_size": 96,
            "dp_size": 96,
            "context_length": 2176,
            "deepep_mode": "low_latency",
            "mem_fraction_static": 0.8,
            "max_running_requests": 46_080,
            "ep_num_redundant_experts": 96,
            "nnodes": 12,
        },
        refused=("--enable-deepep-moe", "--cuda-graph-bs 480"),
    ),
}


def words(command: str) -> list[str]:
    return shlex.split(Template(command).substitute(VARIABLES))


def without(command: str, refused: tuple[str, ...]) -> str:
    for flag in refused:
        assert command.count(flag) == 1
        command = command.replace(flag, "")
    return command


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, Any] | str]:
    """The answer to each command without what is refused, and to that with each refused flag alone; one start."""
    engine = find("sglang-cpu")
    if engine is None:
        pytest.skip("no engine here: moonpad engine install sglang-cpu")
    questions = {CONTROL: (["--model-path", "/m", "--moonshot-speed", "9"], ["tp_size"])}
    for name, command in COMMANDS.items():
        expected = EXPECTED[name]
        rest = words(without(command, expected.refused))
        questions[name] = (rest, list(expected.values))
        questions.update({f"{name} {flag}": ([*rest, *flag.split()], []) for flag in expected.refused})
    plugins = ROOT / "src" / "moonpad" / "catalog" / "plugins"
    return judged("sglang_values.py", engine.python, questions, PYTHONPATH=str(plugins))


@pytest.mark.parametrize("name", COMMANDS)
def test_command_line(answers: dict[str, dict[str, Any] | str], name: str) -> None:
    """Every flag arrives under its name with its value, and what is refused is refused alone."""
    assert answers[name] == EXPECTED[name].values
    for flag in EXPECTED[name].refused:
        answer = answers[f"{name} {flag}"]
        assert isinstance(answer, str)
        assert flag.split()[0] in answer


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_of_a_command_is_expected(name: str) -> None:
    """So that none is parsed without being looked at."""
    flags = {word for word in words(without(COMMANDS[name], EXPECTED[name].refused)) if word.startswith("--")}
    assert len(flags) == len(EXPECTED[name].values)


def test_the_parser_refuses_what_nobody_has(answers: dict[str, dict[str, Any] | str]) -> None:
    assert "--moonshot-speed" in str(answers[CONTROL])

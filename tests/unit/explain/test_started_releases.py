"""Where workers have logged, the command line was read: the release is one that has all of its options.

vLLM has --enable-reasoning through 0.9.2, and --swap-space through 0.17.1 (its parsers of these releases).
"""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask_one

FORMER = "--swap-space"
WORKERS = (
    "(EngineCore_DP0 pid=123) ERROR 03-01 06:39:51 [core.py:708] RuntimeError: shapes cannot be multiplied",
    '  File "/usr/lib/python3.12/site-packages/vllm/v1/executor/multiproc_executor.py", line 597, in worker_main',
    "(RayWorkerWrapper pid=42471, ip=10.2.99.73) ERROR 04-08 17:56:32 worker_base.py:581] Error executing load_model",
)
SERVE = f"vllm serve moonshotai/Kimi-K2-Instruct -tp 8 {FORMER} 4"
OF_NAMES = {Code.UNKNOWN_FLAG, Code.REMOVED_FLAG}


def _text(serve: str, log: str) -> str:
    return f"```\n{serve}\n```\n\nIt stops:\n\n```\n{log}\n```\n"


@pytest.mark.parametrize("log", WORKERS)
def test_a_log_of_workers_shows_that_the_options_were_taken(log: str) -> None:
    judged = ask_one(_text(SERVE, log))
    assert judged.version == "0.17.1"
    assert FORMER in judged.version_because
    assert not [each for each in judged.findings if each.where == FORMER and "fails at once" in each.message]


def test_an_option_from_before_the_first_recorded_release() -> None:
    judged = ask_one(_text(f"{SERVE} --enable-reasoning --reasoning-parser deepseek_r1", WORKERS[0]))
    assert judged.version == "0.9.2"
    assert not [each for each in judged.findings if each.where == "--enable-reasoning" and each.code in OF_NAMES]


@pytest.mark.parametrize(
    "log",
    [
        f"vllm: error: unrecognized arguments: {FORMER}",
        "",
        f"{WORKERS[0]}\nvllm: error: unrecognized arguments: {FORMER}",
    ],
)
def test_without_such_a_log_the_newest_is_judged(log: str) -> None:
    assert ask_one(_text(SERVE, log)).version_because.endswith("the newest")


def test_a_release_that_the_text_names_goes_first() -> None:
    judged = ask_one(f"vLLM 0.11.0\n\n{_text(SERVE, WORKERS[0])}")
    assert judged.version == "0.11.0"


def test_a_model_that_came_later_was_not_served_by_it() -> None:
    judged = ask_one(_text(f"vllm serve moonshotai/Kimi-K3 -tp 8 {FORMER} 4", WORKERS[0]))
    assert judged.version != "0.17.1"


def test_a_log_in_front_of_the_command_is_of_another_start() -> None:
    judged = ask_one(f"```\n{WORKERS[0]}\n```\n\nNow I try:\n\n```\n{SERVE}\n```\n")
    assert judged.version_because.endswith("the newest")


NPU = "python -m sglang.launch_server --model-path /m/DeepSeek-R1-W8A8 --device npu --tp-size 16"
# Of the parsers of SGLang: --cuda-graph-bs is there through 0.5.19 as itself, --prefill-round-robin-balance too.
OF_ONE_TIME = "--cuda-graph-bs 8 16 --prefill-round-robin-balance"


def test_several_options_that_are_gone_name_the_last_release_that_has_them() -> None:
    judged = ask_one(f"{NPU} {OF_ONE_TIME}\n", on="")
    assert judged.version == "0.5.19"
    assert "--prefill-round-robin-balance" in judged.version_because
    assert not [each for each in judged.findings if each.code in OF_NAMES]


@pytest.mark.parametrize(
    "text",
    [
        f"{NPU} --prefill-round-robin-balance\n",
        f"{NPU} {OF_ONE_TIME}\nlaunch_server.py: error: unrecognized arguments: --prefill-round-robin-balance\n",
        f"{NPU} {OF_ONE_TIME} --enable-deepep-moe\n",
    ],
)
def test_one_alone_or_a_refusal_or_one_from_long_before_does_not(text: str) -> None:
    assert ask_one(text, on="").version_because.endswith("the newest")


def test_options_that_no_release_has_do_not_matter() -> None:
    assert ask_one(f"{NPU} {OF_ONE_TIME} --of-my-own 1\n", on="").version == "0.5.19"

"""The memory that a log of the text says is left for the KV cache comes before any estimate.

The logs are those of https://github.com/vllm-project/recipes, moonshotai/Kimi-K2-Think.md.
"""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.plan_answer import confidence_of
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code --tool-call-parser kimi_k2"
DCP = "--decode-context-parallel-size 8"
LOG = """(Worker_TP0 pid=591236) INFO 11-06 12:08:54 [gpu_worker.py:349] Available KV cache memory: {gib} GiB
(EngineCore_DP0 pid=591074) INFO 11-06 12:08:55 [kv_cache_utils.py:1229] GPU KV cache size: {tokens} tokens
"""
TP8, TP8_DCP8 = LOG.format(gib="46.80", tokens="715,072"), LOG.format(gib="46.80", tokens="5,721,088")


def guide(commands: list[str], logs: list[str], machine: str = "8x H200") -> str:
    blocks = [*(f"```bash\n{command}\n```" for command in commands), *(f"```\n{log}```" for log in logs)]
    return f"On {machine}:\n\n" + "\n\n".join(blocks) + "\n"


def servers(text: str, on: str = "") -> list[Judged]:
    return [each for each in ask(text, on) if each.memory is not None]


def tokens(judged: Judged) -> float:
    assert judged.memory is not None
    return judged.memory.kv_tokens.value


def is_measured(judged: Judged) -> bool:
    assert judged.memory is not None
    return confidence_of(judged.memory) == "measured"


def test_each_start_has_what_its_own_log_says() -> None:
    first, second = servers(guide([SERVE, f"{SERVE} {DCP}"], [TP8, TP8_DCP8]))
    assert (tokens(first), tokens(second)) == (715072, 5721088)
    assert is_measured(first)
    assert is_measured(second)


def test_what_would_be_better_is_reckoned_from_it() -> None:
    (judged,) = servers(guide([SERVE], [LOG.format(gib="40.00", tokens="611,136")]))
    assert tokens(judged) == pytest.approx(611136, rel=0.001)
    (shared,) = [each for each in judged.better if each.changes == (("dcp", "8"),)]
    assert shared.memory.kv_tokens.value == pytest.approx(8 * 611136, rel=0.01)


@pytest.mark.parametrize(
    ("commands", "logs"),
    [
        ([SERVE], []),
        ([SERVE], [LOG.format(gib="46.80", tokens="300,000")]),  # of another model or format
        ([SERVE], [TP8, LOG.format(gib="40.00", tokens="611,136")]),  # which of the two is not said
        ([SERVE, f"{SERVE} --gpu-memory-utilization 0.85"], [TP8]),  # whose it is is not said
        ([SERVE], [LOG.format(gib="90.00", tokens="1,375,104")]),  # more than there is on these devices
    ],
)
def test_a_log_of_another_start_is_not_taken(commands: list[str], logs: list[str]) -> None:
    with_log = [tokens(each) for each in servers(guide(commands, logs))]
    assert with_log == [tokens(each) for each in servers(guide(commands, []))]


def test_devices_that_are_asked_about_are_not_those_of_the_log() -> None:
    (judged,) = servers(guide([SERVE], [TP8.replace("46.80", "40.00").replace("715,072", "611,136")]), "8xB200")
    assert tokens(judged) > 1e6

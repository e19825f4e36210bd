"""SGLang with AITER's attention takes 0.85 of the share that it is given, where the context has more than 8,192 tokens.

What is expected is the arithmetic of the wheels 0.4.7 to 0.5.23, done here by hand.
"""

from __future__ import annotations

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from tests.configurations import memory_of
from tests.unit.explain.judging import ask_one
from tests.unit.plan.known import INT4, K2

ASKED = Settings(gpu_memory_utilization=0.8, attention_backend="aiter", max_model_len=32768)
MODEL = Checkpoint("k2", K2, INT4, (), "test", 594_205_918_560)


def share(settings: Settings, version: str = "0.5.18", tp: int = 4) -> float:
    """Of the device, as the budget has it."""
    cluster = parse_cluster("8xMI355X")
    memory = memory_of(MODEL, cluster, "sglang", version, Layout(tp=tp), settings)
    return memory.budget_bytes / cluster.device.usable_bytes


@pytest.mark.parametrize(
    ("settings", "version", "expected"),
    [
        (ASKED, "0.5.18", 0.68),
        (ASKED, "0.4.7", 0.68),
        (ASKED, "0.4.6.post5", 0.8),
        (replace(ASKED, max_model_len=8192), "0.5.18", 0.8),
        (replace(ASKED, max_model_len=None), "0.5.18", 0.68),  # the model's own 262,144
        (replace(ASKED, attention_backend="triton"), "0.5.18", 0.8),
        (replace(ASKED, attention_backend=None), "0.5.18", 0.8),
        (replace(ASKED, fraction_kept=True), "0.5.23", 0.8),
        (replace(ASKED, fraction_kept=True), "0.5.18", 0.68),  # which does not read the variable
        (replace(ASKED, fraction_kept=True, gpu_memory_utilization=None), "0.5.23", None),
    ],
)
def test_of_the_share(settings: Settings, version: str, expected: float | None) -> None:
    if expected is None:
        own = replace(settings, attention_backend="triton")
        expected = 0.85 * share(own, version)  # the variable keeps what was asked for alone
    assert share(settings, version) == pytest.approx(expected, abs=1e-6)


def test_the_variable_of_a_command() -> None:
    line = (
        "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 8 "
        "--attention-backend aiter --mem-fraction-static 0.8"
    )
    shares = [
        judged.memory.budget_bytes / judged.memory.device_bytes
        for text in (line, f"SGLANG_AITER_HONOR_EXPLICIT_MEM_FRACTION=1 {line}")
        if (judged := ask_one(text, "8xMI355X", "0.5.23")).memory is not None
    ]
    assert shares == [pytest.approx(0.68), pytest.approx(0.8)]

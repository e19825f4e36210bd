"""What is said of several starts of one text is said once, and so is a correction that only leaves something out."""

from __future__ import annotations

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask

SERVE = "vllm serve nvidia/Kimi-K2.5-NVFP4 --tensor-parallel-size {} --trust-remote-code {}\n"
FENCE = "First:\n\n```bash\n{}```\n\nThen:\n\n```bash\n{}```\n\nAnd:\n\n```bash\n{}```\n"
OLD = "We run vllm 0.15.1.\n\n"
PARSERS = "--enable-auto-tool-choice --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"


def shown(text: str) -> str:
    plain = explain_view(ask(text), read_script(text), 100).plain
    return " ".join(plain.split())


def test_starts_of_which_nothing_new_is_said_are_told_in_one_row() -> None:
    starts = [SERVE.format(8, f"--port {port} {PARSERS}") for port in (8000, 8001, 8002)]
    plain = shown(FENCE.format(*starts))
    assert plain.count("none is named: judged by the newest") == 1
    assert "The starts at line 10 and line 16 are as the one at line 4: " in plain


def test_another_layout_is_a_start_of_its_own() -> None:
    starts = [SERVE.format(size, f"--port {size}000") for size in (8, 4, 2)]
    plain = shown(FENCE.format(*starts))
    assert "are as the one" not in plain
    assert plain.count("none is named: judged by the newest") == 3


def test_what_is_left_out_again_is_named_alone() -> None:
    starts = [SERVE.format(size, f"--disable-log-requests {PARSERS}") for size in (8, 4, 2)]
    plain = shown(OLD + FENCE.format(*starts))
    assert plain.count("Corrected: without --disable-log-requests, as said above") == 2
    assert plain.count("Corrected vllm serve") == 1


def test_a_correction_that_does_more_is_shown() -> None:
    starts = [SERVE.format(size, f"--disable-log-requests {PARSERS}") for size in (8, 4)]
    other = SERVE.format(8, f"--disable-log-requests --kv-cache-dtype fp8_e5m2 {PARSERS}")
    plain = shown(OLD + FENCE.format(*starts, other))
    assert plain.count("Corrected vllm serve") == 2


def test_a_line_that_the_shell_reads_otherwise_is_shown_whole() -> None:
    starts = [SERVE.format(size, f"--disable-log-requests {PARSERS}") for size in (8, 4)]
    broken = SERVE.format(2, f"\\ \n  --disable-log-requests {PARSERS}")
    plain = shown(OLD + FENCE.format(*starts, broken))
    assert plain.count("Corrected: without --disable-log-requests, as said above") == 1
    assert plain.count("Corrected vllm serve") == 2

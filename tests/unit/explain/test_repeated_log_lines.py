"""Long logs: what a server writes again and again is emptied, all else keeps its line."""

from __future__ import annotations

import pytest

from moonpad.explain.repeated_log_lines import without_repeats

START = (
    "INFO 11-20 10:00:00 [utils.py:253] non-default args: {'model': 'moonshotai/Kimi-K2-Instruct', "
    "'tensor_parallel_size': 8}"
)
LAST = "ERROR 11-20 12:00:00 [core.py:710] torch.OutOfMemoryError: CUDA out of memory."
FORMS = {
    "vLLM": "INFO 11-20 10:{minute:02d}:00 [loggers.py:127] Engine 000: Running: {number} reqs, usage: 1{number}.5%",
    "SGLang": "[2026-11-20 10:{minute:02d}:00] Decode batch, #running-req: {number}, #token: {number}, gen: 1",
    "compose": "server-1  | (APIServer pid=1) INFO 11-20 10:{minute:02d}:00 [loggers.py:127] Running: {number} reqs",
    "TensorRT-LLM": "[11/20/2026-10:{minute:02d}:00] [TRT-LLM] [I] iter = {number}, num_scheduled_requests: {number}",
}


def _log(form: str, lines: int) -> str:
    between = [form.format(minute=number // 60 % 60, number=number) for number in range(lines)]
    return "\n".join([START, *between, LAST])


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_what_is_repeated_is_emptied_and_lines_keep_their_numbers(form: str) -> None:
    text = _log(form, 5_000)
    short = without_repeats(text)
    assert short.count("\n") == text.count("\n")
    assert short.split("\n")[0] == START
    assert short.split("\n")[-1] == LAST
    assert len(short) < len(text) / 10
    assert form.format(minute=0, number=3) in short
    assert form.format(minute=0, number=30) not in short


def test_a_short_log_stays_as_it_is() -> None:
    text = _log(FORMS["vLLM"], 300)
    assert without_repeats(text) == text


def test_a_long_script_stays_as_it_is() -> None:
    text = "\n".join(f"vllm serve moonshotai/Kimi-K2-Instruct --port {8000 + number}" for number in range(2_000))
    assert without_repeats(text) == text


def test_a_command_in_a_log_keeps_its_lines() -> None:
    ranks = "\n".join(f"  --served-model-name kimi-{number} \\" for number in range(40))
    text = _log(FORMS["vLLM"], 5_000) + f"\nvllm serve moonshotai/Kimi-K2-Instruct \\\n{ranks}\n  --port 8000"
    assert without_repeats(text).endswith(f"{ranks}\n  --port 8000")

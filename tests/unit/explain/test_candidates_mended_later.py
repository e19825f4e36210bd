"""What later releases mended: beneath a candidate of a plugin, and of what a pasted error tells."""

from __future__ import annotations

from moonpad.catalog.mended_faults import candidates, mended_faults
from moonpad.explain.script import read_files
from tests.unit.explain.judging import ask


def told(text: str) -> list[str]:
    return [each.message for each in ask(read_files([("input.txt", text)]))[0].findings]


def test_a_plugins_candidate_has_what_the_final_release_beneath_it_mended() -> None:
    serve = "vllm serve /weights/Kimi-K2.5-w4a8 --quantization ascend -tp 16 --enable-auto-tool-choice"
    messages = told(f"quay.io/ascend/vllm-ascend:v0.16.0rc1-a3\n\n{serve} --tool-call-parser kimi_k2\n")
    assert any("mended in vLLM 0.17.0" in message for message in messages)
    assert not any("mended in vLLM 0.16.0" in message for message in messages)


def test_the_fault_of_a_build_that_the_error_tells_comes_first() -> None:
    text = (
        "vLLM 0.19.0, 8x A100\n\nvllm serve MiniMaxAI/MiniMax-M2 -tp 2 -pp 4 --enable-expert-parallel\n\n"
        'ValueError("type fp8e4nv not supported in this architecture")\n'
    )
    mended = [message for message in told(text) if ": mended in vLLM" in message]
    assert mended[0].startswith("block FP8 linear layers go to Triton on Ampere")


PIPELINE = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 8 -pp 2 --max-model-len 65536\n"
COUNTED = "counts the layers of all pipeline stages"


def test_a_late_candidate_has_the_faults_of_the_release_it_was_cut_for() -> None:
    assert any(COUNTED in message for message in told(f"vLLM 0.14.0rc2\n\n{PIPELINE}"))
    assert any(COUNTED in message for message in told(f"vLLM 0.14.0\n\n{PIPELINE}"))
    assert any("judged by 0.14.0" in message for message in told(f"vLLM 0.14.0rc2\n\n{PIPELINE}"))


def test_the_release_before_or_one_stage_has_it_not() -> None:
    assert not any(COUNTED in message for message in told(f"vLLM 0.13.0\n\n{PIPELINE}"))
    assert not any(COUNTED in message for message in told(f"vLLM 0.14.0\n\n{PIPELINE.replace(' -pp 2', '')}"))


def test_a_plugins_late_candidate_is_a_release_of_its_own() -> None:
    at = {row.pull for row, _ in candidates("vllm-ascend", "0.13.0rc2")}
    assert not [row for row in mended_faults("vllm-ascend") if row.since == "0.13.0" and row.pull in at]

"""Faults of devices that are none of the kinds which the text names, and of formats that the published weights have
not, are not told."""

from __future__ import annotations

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

SERVE = "VLLM_ROCM_USE_AITER=1 vllm serve {} --tensor-parallel-size 4 --trust-remote-code"
KINDS = "Runs on AMD MI300X/MI355X. GPU: MI300X, MI325X, and MI355X, with ROCm 7.\n\n```bash\n{}\n```\n"
AMD = "Runs on AMD GPUs with ROCm 7.\n\n```bash\n{}\n```\n"


def mended(text: str, version: str = "0.14.1") -> list[str]:
    return [e.message for judged in ask(text, version=version) for e in judged.findings if e.code is Code.MENDED_LATER]


def test_other_generations_than_those_named() -> None:
    command = SERVE.format("MiniMaxAI/MiniMax-M2")
    assert any("gfx1201" in each for each in mended(AMD.format(command)))
    assert not any("gfx1201" in each for each in mended(KINDS.format(command)))
    assert mended(KINDS.format(command))


def test_a_scale_for_each_tensor_is_not_one_for_each_block() -> None:
    of_blocks = mended(KINDS.format(SERVE.format("MiniMaxAI/MiniMax-M2")))
    assert not any("per tensor" in each or "compressed-tensors" in each for each in of_blocks)
    of_others = mended(KINDS.format(SERVE.format("amd/MiniMax-M2-FP8")))
    assert any("per tensor" in each for each in of_others)


def test_what_stops_just_these_devices_comes_first() -> None:
    text = "On 8 DGX Spark nodes of one GB10 each, 8x1xGB10:\n\n```bash\n{}\n```\n"
    command = "vllm serve zai-org/GLM-4.6-FP8 -tp 8 --enable-auto-tool-choice --tool-call-parser glm45"
    first = mended(text.format(command), "0.12.0")[:3]
    assert any("Spark" in each for each in first)

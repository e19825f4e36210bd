"""A publisher whom the text does not name is not said to be that of its weights."""

from __future__ import annotations

import pytest

from moonpad.catalog.models import find_model
from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask

FILE = "Kimi-K2-Thinking-UD-Q2_K_XL-00001-of-00008.gguf"
LLAMA = "llama-server -m {} -c 32768 -ngl 99\n"
VLLM = "vllm serve {} --tensor-parallel-size 8 --trust-remote-code\n"


def shown(text: str) -> str:
    script = read_script(text)
    return " ".join(explain_view(ask(script), script, 120).plain.split())


@pytest.mark.parametrize("path", [FILE, f"/models/{FILE}", f"~/models/UD-Q2_K_XL/{FILE}"])
def test_a_file_has_none(path: str) -> None:
    (judged,) = ask(LLAMA.format(path))
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "Kimi-K2-Thinking-UD-Q2_K_XL"
    known = find_model(judged.checkpoint.name)
    assert known is not None
    assert known.total_bytes == judged.checkpoint.total_bytes
    assert "unsloth" not in shown(LLAMA.format(path))


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        (f"/models/unsloth/Kimi-K2-Thinking-GGUF/{FILE}", "unsloth/"),
        ("/models/nvidia/Kimi-K2.5-NVFP4", "nvidia/"),
    ],
)
def test_one_that_is_named_is_said(path: str, owner: str) -> None:
    start = LLAMA if path.endswith(".gguf") else VLLM
    assert owner in shown(start.format(path)).partition("line 1")[0]


@pytest.mark.parametrize(
    ("name", "owner"), [("/models/Kimi-K2.5-NVFP4", "nvidia/"), ("/models/Kimi-K2.5-MXFP4", "amd/")]
)
def test_a_conversion_has_none(name: str, owner: str) -> None:
    assert owner not in shown(VLLM.format(name)).partition("line 1")[0]


def test_the_publisher_of_the_model_itself_is_known() -> None:
    assert "moonshotai/Kimi-K2-Thinking" in shown(VLLM.format("/models/Kimi-K2-Thinking")).partition("line 1")[0]

"""A text that cuts its command short and tells the layout in labelled lines is about that layout, and not about one
device; a command that is whole says all of itself."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, ask_one

LABELS = """
Hardware: 2 nodes x 8x NVIDIA H100, vLLM 0.19.0

{}

"""
CUTS = ("...", "[...]", "…", "\\\n  --served-mode[...]", "\\\n  --served-mode…", "\\")
WAYS = (
    "- TP: 8\n- DP: 2\n- EP enabled\n- max model len 131072\n- KV cache dtype: fp8\n- Block size: 64",
    "Tensor parallel size: 8\nData parallel size: 2\nExpert parallel: enabled\nMax model length: 131,072\n"
    "KV cache dtype: fp8\nBlock size: 64",
    "TP=8, DP=2, EP enabled, context length 128K, kv-cache-dtype: fp8, block-size: 64",
    "| TP | 8 |\n| DP | 2 |\n| EP | 16 |\n| context | 131072 |\n| KV cache dtype | fp8 |\n| block size | 64 |",
    "* **tensor-parallel-size**: `8`\n* `data-parallel-size=2`\n* enable expert parallel: true\n"
    "* max-model-len: 131072\n* `kv_cache_dtype`: fp8\n* block_size: 64",
)


def _text(labels: str, command: str) -> str:
    return f"# It fails\n{LABELS.format(labels)}```\n{command}\n```\n"


@pytest.mark.parametrize("labels", WAYS)
@pytest.mark.parametrize("cut", CUTS)
def test_the_labels_are_what_the_text_leaves_out(labels: str, cut: str) -> None:
    judged = ask_one(_text(labels, f"vllm serve moonshotai/Kimi-K2.5 {cut}"))
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.dp, judged.layout.ep) == (8, 2, 16)
    assert judged.settings is not None
    assert judged.settings.max_model_len == 131072
    assert (judged.settings.kv_cache_dtype, judged.settings.block_size) == ("fp8", 64)
    assert not judged.unknown
    assert not judged.corrected
    assert not any("served-mode" in finding.where for finding in judged.findings)


def test_they_may_stand_below_it() -> None:
    judged = ask_one("vLLM 0.19.0, 8xH200:\n```\nvllm serve moonshotai/Kimi-K2.5 ...\n```\n\n- TP: 8\n")
    assert judged.layout is not None
    assert judged.layout.tp == 8


@pytest.mark.parametrize(
    "label", ["- **Tensor Parallel**: 8-way", "- TP size: 8 GPUs", "1. Tensor parallelism: 8 (one node)"]
)
def test_how_people_write_a_size(label: str) -> None:
    judged = ask_one(_text(label, "vllm serve moonshotai/Kimi-K2.5 ..."))
    assert judged.layout is not None
    assert judged.layout.tp == 8


@pytest.mark.parametrize("cut", CUTS[:-1])
@pytest.mark.parametrize("labels", ["It fails.", "- TP: 8\n- TP: 16", "TP=8 works, TP=16 fails.", "- context: 131072"])
def test_without_one_layout_nothing_is_judged(cut: str, labels: str) -> None:
    judged = ask_one(_text(labels, f"vllm serve moonshotai/Kimi-K2.5 {cut}"))
    assert judged.unknown
    assert judged.fits is None


def test_another_engine_has_its_own_names() -> None:
    labels = "TP: 16\nEP: 16\nContext length: 65536\nMem fraction static: 0.8"
    command = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --served-mode[...]"
    judged = ask_one(_text(labels, command))
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.ep) == (16, 16)
    assert judged.settings is not None
    assert (judged.settings.max_model_len, judged.settings.gpu_memory_utilization) == (65536, 0.8)


def test_what_the_command_has_itself_holds() -> None:
    judged = ask_one(_text("- TP: 16\n- DP: 1", "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 [...]"))
    assert judged.layout is not None
    assert judged.layout.tp == 8


def test_a_whole_command_is_left_alone() -> None:
    command = "vllm serve moonshotai/Kimi-K2.5 --data-parallel-size 8 --enable-expert-parallel"
    judged = ask_one(_text("- TP: 8\n- max model len 4096", command))
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.dp) == (1, 8)
    assert judged.settings is not None
    assert judged.settings.max_model_len is None


def test_a_list_without_a_command() -> None:
    about = "SGLang 0.5.9 on 2x8xH100 with moonshotai/Kimi-K2.5"
    judged = ask_one(f"{about}\n\n- TP: 16\n- EP: 16\n- context length: 65536\n\nIt fails.\n")
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.ep) == (16, 16)
    assert judged.settings is not None
    assert judged.settings.max_model_len == 65536
    assert not judged.unknown


def test_a_sketch_beside_a_whole_command_stays_one() -> None:
    whole = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8"
    text = f"# Tools\n\n```\n{whole}\n```\n\n- TP: 8\n\nThen `vllm serve ... --enable-auto-tool-choice`.\n"
    assert [each.model_written for each in ask(text)] == ["moonshotai/Kimi-K2.5"]


def test_what_a_chart_adds_is_not_in_labels() -> None:
    text = "# Values\n\n- TP: 8\n\n```yaml\nservers:\n  extra_args: --model a/b --port 8000 --max-model-len 4096\n```\n"
    (judged,) = ask(text)
    assert "tp" in judged.unknown


@pytest.mark.parametrize(("mark", "context"), [("> ", None), ("", 131072)])
def test_what_another_is_quoted_with_is_his_advice(mark: str, context: int | None) -> None:
    advice = f"{mark}Try:\n{mark}max-model-len: 131072\n"
    judged = ask_one(f"{_text('- TP: 8', 'vllm serve moonshotai/Kimi-K2.5 ...')}\n{advice}")
    assert judged.settings is not None
    assert judged.settings.max_model_len == context

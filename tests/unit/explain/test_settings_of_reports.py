"""Settings in the sentences of a report: in a row with full-width commas, without a command, as sizes of a layout."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

CHAT = "python -m ktransformers.local_chat --model_path /m/DeepSeek-V3 --gguf_path /m/DeepSeek-V3-GGUF/Q4_K_M"
TITLE = "# [Bug]: 0.26.0rc1 部署kimik3 {}，无法拉起服务\n\nvllm-ascend on A3\n\n{}\n"


def said(text: str) -> str:
    return " | ".join(f"{finding.where}: {finding.message}" for each in ask(text) for finding in each.findings)


@pytest.mark.parametrize("comma", ["，", "、", "； ", "， "])
def test_settings_with_full_width_commas_between_them_are_each_set(comma: str) -> None:
    row = comma.join(["export CUDA_VISIBLE_DEVICES=0", "export USE_NUMA=1", 'export TORCH_CUDA_ARCH_LIST="8.9"'])
    assert "keeps the experts once for each socket" in said(f"在运行前已设置了\n{row}\n{CHAT}\n")


def test_a_comma_within_a_value_is_part_of_it() -> None:
    assert "keeps the experts once" not in said(f'export NOTE="一，USE_NUMA=1"\n{CHAT}\n')


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("加入环境变量export ASCEND_LAUNCH_BLOCKING=1", "acl流同步失败"),
        ("", "export ASCEND_LAUNCH_BLOCKING=1"),
        ("", "docker run -e ASCEND_LAUNCH_BLOCKING=1 …"),
    ],
)
def test_a_variable_that_the_release_refuses_is_told_without_a_command(title: str, body: str) -> None:
    assert "graphs and ASCEND_LAUNCH_BLOCKING=1 exclude each other" in said(TITLE.format(title, body))


@pytest.mark.parametrize(
    "text",
    [
        TITLE.format("", "#export ASCEND_LAUNCH_BLOCKING=1"),
        TITLE.format("", "export ASCEND_LAUNCH_BLOCKING=1\nunset ASCEND_LAUNCH_BLOCKING"),
        TITLE.format("", "export ASCEND_LAUNCH_BLOCKING=0"),
        TITLE.format("", "export ASCEND_LAUNCH_BLOCKING=1, with --enforce-eager"),
        TITLE.format("", "please export ASCEND_LAUNCH_BLOCKING=1 for an exact stack"),
        TITLE.format("", "please set the environment variable ASCEND_LAUNCH_BLOCKING=1"),
        TITLE.format("", "export ASCEND_LAUNCH_BLOCKING=1").replace("0.26.0rc1", "0.30.0rc2"),
        TITLE.format("", "export ASCEND_LAUNCH_BLOCKING=1").replace("[Bug]: ", "").replace("，无法拉起服务", ""),
    ],
)
def test_a_variable_that_is_not_set_there_is_not_told(text: str) -> None:
    assert "exclude each other" not in said(text)


def given(sets: str) -> list[tuple[str, list[str]]]:
    """The engine of each judgement, and the words that its options are."""
    judged = ask(f"vLLM by Ray:\n\n```bash\n{sets}./begin.sh\n```\n")
    return [(each.engine, [word.text for source in each.sources for word in source.argv]) for each in judged]


def test_exported_sizes_and_a_model_are_a_layout() -> None:
    ((engine, words),) = given(
        "export MODEL_NAME=/models/MiniMax-M2.5\nexport TENSOR_PARALLEL_SIZE=4\nexport PIPELINE_PARALLEL_SIZE=2\n"
    )
    assert words[-1] == "<what reads the variables adds>"
    options = dict(zip(words[::2], words[1::2], strict=False))
    assert engine == "vllm"
    assert options["--tensor-parallel-size"] == "4"
    assert options["--pipeline-parallel-size"] == "2"
    assert "/models/MiniMax-M2.5" in words


@pytest.mark.parametrize(
    "sets",
    [
        "export TENSOR_PARALLEL_SIZE=4\nexport PIPELINE_PARALLEL_SIZE=2\nexport RAY_PORT=1\n",
        "export MODEL_NAME=/models/m\nexport TENSOR_PARALLEL_SIZE=4\nexport RAY_PORT=1\n",
    ],
)
def test_sizes_alone_are_none(sets: str) -> None:
    assert given(sets) == []

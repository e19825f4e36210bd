"""Options that former releases had: what says the same is named, and written where no person has to choose."""

from __future__ import annotations

import re

import pytest

from moonpad.catalog.former_options import FormerOption, former_option, former_options
from moonpad.catalog.options import newest, option_set
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

ROWS = former_options()
IDS = [f"{row.option}={row.value}" for row in ROWS]
STARTS = {"vllm serve": ("vllm serve", "0.32.0"), "sglang": ("sglang serve --model-path", "0.5.23")}


def words_of(text: str, version: str = "0.33.0") -> list[str]:
    """What the command becomes."""
    return [word for line in ask_one(text, version=version).corrected for word in line.argv]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_row_is_about_what_is_gone(row: FormerOption) -> None:
    release = newest(row.program)
    known = option_set(row.program, release)
    assert known is not None
    assert all(row.option not in option.names for option in known.options)
    for named in re.findall(r"--[a-z][\w-]*", " ".join((*row.write, row.remedy))):
        assert known.named(named) is not None, f"{named} is no option of {release}"
    assert not (row.asks and row.write)


OF_THE_KIND = {r"deepseek-v3\.2|glm-5": "zai-org/GLM-5"}
"""A model that each row with a condition is about."""


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_row_is_told(row: FormerOption) -> None:
    value = re.split(r"\|", row.value.replace("\\", ""))[0] or "4"
    switch = (
        row.option.startswith(("--enable", "--disable", "--use", "--worker", "--multi")) or "-disable-" in row.option
    )
    written = row.option if switch or "log-" in row.option else f"{row.option} {value}"
    start, release = STARTS[row.program]
    model = OF_THE_KIND[row.beside] if row.beside else "Qwen/Qwen3-8B"
    judged = ask_one(f"{start} {model} {written} --port 8000", version=release)
    told = {remark.finding.where: remark.finding for remark in judged.remarks}
    assert told[row.option].remedy == former_option(row.program, row.option, written.split()[1:], [model]).remedy  # type: ignore[union-attr]
    assert told[row.option].severity is Severity.ERROR


def test_value_goes_with_its_new_name() -> None:
    text = 'vllm serve a/b --task embed --override-pooler-config \'{"pooling_type": "MEAN"}\' --swap-space 16'
    words = words_of(text)
    assert words[3:5] == ["--runner", "pooling"]
    assert "--pooler-config" in words
    assert "--swap-space" not in words


def test_former_names_of_another_engine() -> None:
    text = "sglang serve --model-path zai-org/GLM-5.2-FP8 --disable-piecewise-cuda-graph --nsa-prefill-cp-mode "
    words = words_of(f"{text}round-robin-split --piecewise-cuda-graph-max-tokens 4096", "0.5.23")
    assert "--disable-prefill-cuda-graph" in words
    assert words[words.index("--cp-strategy") + 1] == "interleave"
    assert words[words.index("--cuda-graph-max-bs-prefill") + 1] == "4096"


def test_release_that_has_it() -> None:
    judged = ask_one("vllm serve a/b --task embed", version="0.12.0")
    assert not [remark for remark in judged.remarks if remark.finding.severity is Severity.ERROR]


def test_beginning_of_several_is_the_former_one() -> None:
    (finding,) = [r.finding for r in ask_one("vllm serve a/b --device cuda").remarks if r.finding.where == "--device"]
    assert finding.severity is Severity.WARNING  # releases before those that are recorded have it
    assert "the build says" in finding.remedy


def test_with_underscores() -> None:
    assert "--swap_space" not in words_of("vllm serve a/b --swap_space 16")


@pytest.mark.parametrize(
    ("model", "backend"),
    [("deepseek-ai/DeepSeek-V3.1", True), ("/w/DeepSeek-V3.2-Exp", False), ("zai-org/GLM-5", False)],
)
def test_a_kernel_of_dense_attention_is_written_for_models_that_have_it(model: str, backend: bool) -> None:
    words = words_of(f"sglang serve --model-path {model} --tp-size 8 --enable-flashmla", "0.5.23")
    assert "--enable-flashmla" not in words
    assert ("flashmla" in words) is backend

"""What a reading of SGLang's sources added: each row of sglang_refusals.toml with a command, and one that starts."""

from __future__ import annotations

import pytest

from moonpad.catalog.start_refusals import start_refusals
from moonpad.catalog.toml_rows import rows
from moonpad.values.finding import Severity
from tests.unit.explain.refused import said, samples

FILES = (
    "sglang_refusal_samples.toml",
    "sglang_refusal_samples_threads.toml",
    "sglang_refusal_samples_sources.toml",
)
SAMPLES = {key: sample for name in FILES for key, sample in samples(name).items()}
LINES = ("told", "quiet")


def test_each_row_has_a_sample() -> None:
    assert {key for key, _ in rows("sglang_refusals.toml", "refusals")} == {*SAMPLES}


@pytest.mark.parametrize("key", [key for key in SAMPLES if start_refusals()[key].until])
def test_later_releases_are_not_judged_so(key: str) -> None:
    sample = SAMPLES[key]
    assert not said(key, sample["told"], start_refusals()[key].until, sample["on"])


FORKED = [key for key in SAMPLES if "ktransformers" in start_refusals()[key].forks]
IN_RAM = " --kt-method AMXINT4 --kt-weight-path /weights --kt-cpuinfer 60 --kt-threadpool-count 2"


@pytest.mark.parametrize("key", FORKED)
def test_a_fork_has_numbers_of_its_own(key: str) -> None:
    told, quiet = (SAMPLES[key][name].replace("sglang serve", "python -m sglang.launch_server") for name in LINES)
    assert said(key, told + IN_RAM, "0.7.2")
    assert said(key, told + IN_RAM, "0.6.2")
    assert not said(key, quiet + IN_RAM, "0.7.2")
    assert not said(key, told + IN_RAM, "0.5.2")


R1 = "sglang serve --model-path deepseek-ai/DeepSeek-R1 --tp-size 8"
MORI = f"{R1} --moe-a2a-backend mori --chunked-prefill-size 16384"


def test_a_variable_raises_what_a_chunk_may_be() -> None:
    assert said("sgl-mori-tokens", MORI, "0.5.12.post1", "8xMI355X")
    raised = f"SGLANG_MORI_NUM_MAX_DISPATCH_TOKENS_PER_RANK=16384 {MORI}"
    assert not said("sgl-mori-tokens", raised, "0.5.12.post1", "8xMI355X")
    unknown = f"SGLANG_MORI_NUM_MAX_DISPATCH_TOKENS_PER_RANK=$MOST {MORI}"
    assert not said("sgl-mori-tokens", unknown, "0.5.12.post1", "8xMI355X")


@pytest.mark.parametrize(("value", "told"), [("none", True), ("deepep", False), ("$BACKEND", False)])
def test_a_value_that_is_not_known_may_keep_the_row_away(value: str, told: bool) -> None:
    text = f"{R1} --enable-two-batch-overlap --moe-a2a-backend {value}"
    assert bool(said("sgl-two-batches-alone", text, "0.5.9")) is told


def test_more_options_may_follow() -> None:
    assert not said("sgl-two-batches-alone", f'{R1} --enable-two-batch-overlap "$@"', "0.5.9")


FORMER = "sgl-mixed-drafts"


def test_where_no_release_is_named_one_that_may_still_run_gets_a_note() -> None:
    """And none that ended long ago, or that one setting alone is enough for."""
    assert said(FORMER, SAMPLES[FORMER]["told"], "") == [Severity.NOTE]
    assert not said(FORMER, SAMPLES[FORMER]["told"], "0.5.23")
    assert not said(FORMER, SAMPLES[FORMER]["quiet"], "")
    assert not said("sgl-stages-drafts", SAMPLES["sgl-stages-drafts"]["told"], ""), "the newest refuses it, too"

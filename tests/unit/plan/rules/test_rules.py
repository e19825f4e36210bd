"""Each rule: its evidence, a case that trips it with the numbers that a person needs, and one that passes it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.engines import ENGINES as ALL
from moonpad.plan.rules import GENERAL, check_by_rule, rule_id, speculative_findings
from moonpad.plan.rules import check as rules_of
from moonpad.plan.rules.pools import RULES as POOL_RULES
from moonpad.values.cluster import Device
from moonpad.values.finding import Finding, errors_of
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from tests.configurations import check, configuration
from tests.unit.plan.rules.builders import (
    A3,
    A100,
    B200,
    CPU,
    H200,
    K2_256K,
    MI300X,
    MI355X,
    QUANTIZATIONS,
    TINY,
    checkpoint,
    cluster,
)
from tests.unit.plan.rules.cases_attention import ATTENTION
from tests.unit.plan.rules.cases_formats import FORMATS
from tests.unit.plan.rules.cases_layout import LAYOUT
from tests.unit.plan.rules.rule_rows import rule_rows as rules
from tests.unit.plan.rules.trial import ONE, Trial

TRIALS = {**FORMATS, **LAYOUT, **ATTENTION}

APART = {"degrees-positive", "no-mtp"}
"""Rows whose function has another form: asked before all others, and of a method instead of a layout."""
POOLS = {rule_id(rule) for rule in POOL_RULES}
"""Rules of a pair: test_pools.py."""
ENGINES = ("vllm", "vllm-cpu", "vllm-ascend", "sglang", "sglang-cpu", "ktransformers", "tensorrt-llm", "llama-cpp")


def spoken(rule: str, trial: Trial) -> list[Finding]:
    """What this rule alone says."""
    model = checkpoint(trial.scheme, trial.architecture)
    findings_by_rule = check_by_rule(
        configuration(model, trial.on, trial.engine, trial.version, trial.layout, trial.settings)
    )
    return [finding for name, finding in findings_by_rule if name == rule]


@pytest.mark.parametrize(
    ("rule", "trial"),
    [
        pytest.param(rule, trial, id=f"{rule}-{at}")
        for rule, trials in TRIALS.items()
        for at, trial in enumerate(trials)
    ],
)
def test_what_a_rule_says(rule: str, trial: Trial) -> None:
    findings = spoken(rule, trial)
    if not trial.says:
        assert findings == []
        return
    fitting = [finding for finding in findings if all(word in finding.message for word in trial.says)]
    assert fitting, [finding.message for finding in findings]
    assert {(finding.where, finding.severity, finding.code) for finding in fitting} == {
        (trial.where, trial.severity, trial.code)
    }
    assert all(finding.remedy for finding in fitting)


def test_each_function_has_its_row_and_each_row_its_function() -> None:
    functions = [rule_id(function) for function in GENERAL]
    assert len(set(functions)) == len(functions)
    own = {rule_id(rule) for engine in ALL.values() for rule in engine.facts.rules}
    assert set(functions) | own | APART | POOLS == set(rules())


def test_each_rule_is_tripped_and_passed_by_a_case() -> None:
    assert set(TRIALS) == set(rules()) - {"no-mtp"} - POOLS  # test_no_layers_for_guessing_ahead
    for rule, trials in TRIALS.items():
        assert any(trial.says for trial in trials), f"nothing trips {rule}"
        assert any(not trial.says for trial in trials), f"nothing passes {rule}"


def test_rows_say_where_they_come_from() -> None:
    for row in rules().values():
        assert row.sentence.endswith(".")
        assert row.evidence.endswith(".")
        assert set(row.engines) <= set(ALL)
        for text in (row.sentence, row.evidence, row.provenance.source):
            assert "/home" not in text
            assert "\u2014" not in text


def test_a_rule_of_one_engine_is_silent_for_the_others() -> None:
    """`engines` of a row is what the function does: no other engine ever hears it in these cases."""
    for rule, trials in TRIALS.items():
        named = rules()[rule].engines
        for trial in trials:
            if trial.says and named:
                assert trial.engine in named, rule


@pytest.mark.parametrize("method", ["mtp", "deepseek_mtp", "NEXTN", " MTP "])
def test_no_layers_for_guessing_ahead(method: str) -> None:
    (finding,) = speculative_findings(method, K2_256K)
    assert "0 layers" in finding.message
    assert finding.where == "speculative"


@pytest.mark.parametrize("method", ["eagle3", "EAGLE3", "ngram", "draft_model", "dflash", ""])
def test_a_draft_model_may_guess(method: str) -> None:
    assert speculative_findings(method, K2_256K) == ()


def test_layers_of_a_fine_tune_may_guess() -> None:
    assert speculative_findings("mtp", replace(K2_256K, nextn_layers=1)) == ()


def test_a_degree_below_one_is_said_alone() -> None:
    findings = check(checkpoint("fp8"), ONE, "vllm", "", Layout(tp=0, ep=0, dcp=0), Settings())
    assert [finding.where for finding in findings] == ["tp", "ep", "dcp"]


def test_plain_data_parallelism_of_sglang_ties_no_ranks_together() -> None:
    """Two replicas of tp = 8: their experts are shared by 8 ranks, not by 16."""
    arguments = (checkpoint("fp8"), cluster(H200, 2), "sglang", "0.5.23", Layout(tp=8, dp=2, ep=16))
    tied = configuration(*arguments, Settings())
    assert rules_of(tied) == ()
    (finding,) = rules_of(replace(tied, engine=replace(tied.engine, attention_dp=False)))
    assert "16 does not divide the 8 ranks" in finding.message


def test_an_unknown_version_is_the_newest() -> None:
    for version in ("", "nightly", "999.0"):
        findings = check(checkpoint("int4"), ONE, "vllm", version, Layout(tp=8, dcp=8), Settings(kv_cache_dtype="fp8"))
        assert findings == ()


DEGREES = st.one_of(st.sampled_from([1, 2, 3, 4, 8, 16, 32, 64, 96]), st.integers(-2, 2**31 - 1))
SETTINGS = st.builds(
    Settings,
    max_model_len=st.none() | st.integers(-1, 2**40),
    kv_cache_dtype=st.sampled_from([None, "auto", "fp8", "fp8_e4m3", "fp8_e5m2", "bfloat16", "bf16", "int3", ""]),
    attention_backend=st.sampled_from([None, "FLASHMLA", "TRITON_MLA", "ROCM_AITER_MLA", "aiter", "fa3", "x"]),
    block_size=st.none() | st.integers(-1, 4096),
    enforce_eager=st.booleans(),
    redundant_experts=st.integers(-1, 512),
    gpu_experts=st.none() | st.integers(-1, 512),
)
WHERE = {
    *("tp", "pp", "dp", "ep", "dcp", "redundant_experts", "gpu_experts"),
    *("quantization", "engine", "kv_cache_dtype", "attention_backend", "block_size", "max_model_len"),
}


@given(
    layout=st.builds(Layout, DEGREES, DEGREES, DEGREES, DEGREES, DEGREES),
    settings=SETTINGS,
    engine=st.sampled_from(ENGINES),
    version=st.sampled_from(["", "0.4.9", "0.5.15", "0.10.0", "0.11.1rc6.dev211+g9", "0.20.0", "0.32.0", "1.2", "odd"]),
    scheme=st.sampled_from(sorted(QUANTIZATIONS)),
    kind=st.sampled_from([A100, H200, B200, MI300X, MI355X, A3, CPU]),
    nodes=st.integers(1, 12),
    tiny=st.booleans(),
)
def test_whatever_is_asked_the_answer_is_findings_that_teach(
    layout: Layout,
    settings: Settings,
    engine: str,
    version: str,
    scheme: str,
    kind: Device,
    nodes: int,
    tiny: bool,
) -> None:
    model = checkpoint(scheme, TINY) if tiny else checkpoint(scheme)
    for finding in check(model, cluster(kind, nodes), engine, version, layout, settings):
        assert finding.where in WHERE
        assert finding.message
        assert finding.remedy
        assert "  " not in finding.message


@pytest.mark.parametrize("scheme", ["fp8", "int4", "w4a16", "bf16"])
def test_a_remedy_for_the_tensor_parallel_size_is_legal(scheme: str) -> None:
    """What a refused tp is told to be is what nothing refuses, for every tp up to 64."""
    model, on = checkpoint(scheme), cluster(H200, 8)
    for tp in range(1, 65):
        refused = errors_of(check(model, on, "vllm", "", Layout(tp=tp), Settings()))
        sizes = [int(match[1]) for refusal in refused if (match := re.match(r"set tp = (\d+)", refusal.remedy))]
        if sizes:
            assert not errors_of(check(model, on, "vllm", "", Layout(tp=min(sizes)), Settings())), (tp, sizes)


@pytest.mark.parametrize(
    ("ep", "remedy"), [(8, "set tp = 8, or ep = 1"), (16, "set ep = 1")], ids=["as many", "more than devices"]
)
def test_experts_that_are_to_be_spread_without_any_ranks_ask_for_ranks(ep: int, remedy: str) -> None:
    arguments = (checkpoint("int4"), ONE, "sglang", "0.5.23", Layout(tp=1, ep=ep), Settings())
    remedies = [
        finding.remedy for finding in rules_of(configuration(*arguments)) if "does not divide" in finding.message
    ]
    assert remedies == [remedy]

"""Rules of a pair of pools: each has its evidence, a pair that trips it, and one that passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from moonpad.engines import ENGINES
from moonpad.plan.rules import rule_id
from moonpad.plan.rules.pools import RULES, check_pools
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Layout, Settings
from moonpad.values.pools import Pool, PoolPair
from moonpad.values.records import replace
from tests.unit.plan.rules.rule_rows import rule_rows

PREFIX = "pools-"


def pool(of: str, **changes: Any) -> Pool:
    version = {"vllm": "0.32.0", "sglang": "0.5.23"}[of]
    base = Pool(of, version, "Kimi-K2", "/models/k2", Layout(tp=8), Settings(), "bf16", "nixl", 131_072)
    return replace(base, **changes)


def pair(engine: str, prefill: dict[str, Any], decode: dict[str, Any]) -> PoolPair:
    facts = ENGINES[engine].facts.pools
    assert facts is not None
    return PoolPair(pool(engine, **prefill), pool(engine, **decode), facts)


@dataclass(frozen=True)
class Trial:
    """`says`: words of the message; () where the rule is silent."""

    engine: str
    prefill: dict[str, Any]
    decode: dict[str, Any]
    says: tuple[str, ...] = ()
    where: str = ""
    severity: Severity = Severity.ERROR


def blocks(size: int | None) -> dict[str, Any]:
    return {"settings": Settings(block_size=size)}


def backend(name: str | None) -> dict[str, Any]:
    return {"settings": Settings(attention_backend=name)}


def laid_out(**sizes: int) -> dict[str, Any]:
    return {"layout": Layout(**sizes)}


def open_connector() -> dict[str, Any]:
    return {"connector": "", "unknown": frozenset({"connector"})}


TRIALS: dict[str, list[Trial]] = {
    "pools-engine": [
        Trial("vllm", {}, {"engine": "sglang"}, ("vllm", "sglang"), "engine"),
        Trial("vllm", {}, {}),
    ],
    "pools-release": [
        Trial("vllm", {"version": "0.31.0"}, {}, ("0.31.0", "0.32.0"), "engine version"),
        Trial("vllm", {"version": "0.12.0"}, {"version": "0.11.0"}),
        Trial("vllm", {"version": "0.31.0", "connector": "mooncake"}, {"connector": "mooncake"}),
        Trial("vllm", {"version": ""}, {}),
        Trial("sglang", {"version": "0.5.22"}, {}),
    ],
    "pools-model": [
        Trial("sglang", {"model": "Kimi-K2"}, {"model": "Kimi-K2.5"}, ("Kimi-K2", "Kimi-K2.5"), "model"),
        Trial("vllm", {"model_written": "/a/k2"}, {"model_written": "/b/k2"}, ("/a/k2", "/b/k2"), "model"),
        Trial("sglang", {"model_written": "/a/k2"}, {"model_written": "/b/k2"}),
        Trial("vllm", {"model_written": ""}, {"model_written": "/b/k2"}),
    ],
    "pools-connector": [
        Trial("sglang", {"connector": "nixl"}, {"connector": "mooncake"}, ("nixl", "mooncake"), "connector"),
        Trial("vllm", {}, {"connector": ""}, ("decode", "no connector"), "connector"),
        Trial("vllm", {}, open_connector()),
        Trial("vllm", {}, {}),
    ],
    "pools-kv-dtype": [
        Trial("sglang", {"kv_format": "fp8"}, {}, ("fp8", "bf16"), "kv_cache_dtype"),
        Trial("sglang", {"kv_format": "fp8"}, {"unknown": frozenset({"kv_cache_dtype"})}),
        Trial("sglang", {"kv_format": "fp8"}, {"kv_format": "fp8"}),
    ],
    "pools-block-size": [
        Trial("sglang", blocks(64), blocks(1), ("64", "1", "equal"), "block_size"),
        Trial("vllm", blocks(64), blocks(32), ("64", "32", "multiple"), "block_size"),
        Trial("vllm", blocks(32), blocks(64)),
        Trial("sglang", blocks(64), blocks(None)),
        Trial("sglang", blocks(64), blocks(64)),
    ],
    "pools-backend": [
        Trial("vllm", backend("FLASHMLA"), backend("TRITON_MLA"), ("FLASHMLA", "TRITON_MLA"), "attention_backend"),
        Trial("vllm", backend("FLASHMLA"), backend("flashmla")),
        Trial("sglang", backend("flashmla"), backend("fa3")),
    ],
    "pools-tp": [
        Trial("vllm", laid_out(tp=8), laid_out(tp=3), ("8", "3"), "tp"),
        Trial("sglang", laid_out(tp=8), laid_out(tp=3), ("8", "3"), "tp", Severity.WARNING),
        Trial("vllm", laid_out(tp=8), laid_out(tp=16)),
        Trial("sglang", laid_out(tp=1, dp=32, ep=32), laid_out(tp=1, dp=96, ep=96)),
        Trial("vllm", laid_out(tp=8), {**laid_out(tp=3), "unknown": frozenset({"tp"})}),
    ],
    "pools-pp": [
        Trial("sglang", laid_out(tp=8, pp=2), laid_out(tp=8, pp=4), ("4", "2"), "pp"),
        Trial("sglang", laid_out(tp=8, pp=4), laid_out(tp=8)),
        Trial("sglang", laid_out(tp=8, pp=4), laid_out(tp=8, pp=4)),
        Trial("vllm", laid_out(tp=8), laid_out(tp=8, pp=2)),
    ],
    "pools-dcp": [
        Trial("vllm", laid_out(tp=6, dcp=3), laid_out(tp=6, dcp=2), ("3", "2"), "dcp"),
        Trial("vllm", laid_out(tp=8), laid_out(tp=8, dcp=8)),
        Trial("sglang", laid_out(tp=6, dcp=3), laid_out(tp=6, dcp=2)),
    ],
    "pools-context": [
        Trial("sglang", {}, {"context": 2176}, ("131,072", "2,176"), "max_model_len", Severity.NOTE),
        Trial("sglang", {"context": 2048}, {"context": 2176}, ("2,048", "2,176"), "max_model_len", Severity.WARNING),
        Trial("vllm", {"context": 2048}, {"context": 2176}),
        Trial("sglang", {"context": None}, {"context": 2176}),
        Trial("sglang", {}, {"context": 2176, "unknown": frozenset({"max_model_len"})}),
    ],
}


def of_rule(rule: str, two: PoolPair) -> list[Finding]:
    (function,) = (function for function in RULES if rule_id(function) == rule)
    return list(function(two))


@pytest.mark.parametrize(
    ("rule", "trial"),
    [
        pytest.param(rule, trial, id=f"{rule}-{at}")
        for rule, trials in TRIALS.items()
        for at, trial in enumerate(trials)
    ],
)
def test_what_a_rule_says(rule: str, trial: Trial) -> None:
    two = pair(trial.engine, trial.prefill, trial.decode)
    findings = of_rule(rule, two)
    assert set(findings) <= set(check_pools(two))
    if not trial.says:
        assert findings == []
        return
    (finding,) = findings
    assert all(word in finding.message for word in trial.says), finding.message
    assert (finding.where, finding.severity) == (trial.where, trial.severity)
    assert finding.remedy


def test_each_rule_has_its_row_and_its_cases() -> None:
    ids = [rule_id(function) for function in RULES]
    rows = {key: row for key, row in rule_rows().items() if key.startswith(PREFIX)}
    assert sorted(ids) == sorted(rows) == sorted(TRIALS)
    for rule, trials in TRIALS.items():
        assert any(trial.says for trial in trials), f"nothing trips {rule}"
        assert any(not trial.says for trial in trials), f"nothing passes {rule}"
        if engines := rows[rule].engines:
            assert {trial.engine for trial in trials if trial.says} <= set(engines), rule


def test_engines_that_differ_are_reported_alone() -> None:
    two = pair("vllm", {}, {"engine": "sglang", "connector": "mooncake", "kv_format": "fp8"})
    (finding,) = check_pools(two)
    assert (finding.where, finding.code) == ("engine", Code.ILLEGAL_LAYOUT)


def test_a_sound_pair_has_nothing() -> None:
    assert check_pools(pair("vllm", {}, laid_out(tp=16))) == ()

"""What is advised exists: each flag in the catalogue of that engine's options, each issue at a known repository."""

from __future__ import annotations

import re

import pytest

from moonpad.catalog.options import known_environment, option_set, values_of, versions
from moonpad.engines import ENGINES
from moonpad.engines.api_facts import Topic
from moonpad.engines.base import Engine
from moonpad.verify.probe import ApiProbe, passed
from moonpad.verify.probes import LONG_PROBES, PROBES
from moonpad.verify.probes.wrong_requests import bodies
from moonpad.verify.remediation import facts_of, issue_url, known_issues, remedies

ALL = (*PROBES, *LONG_PROBES)
NAMED = {"vllm": "vllm serve", "sglang": "sglang"}


@pytest.mark.parametrize("engine", ENGINES.values(), ids=lambda engine: engine.name)
def test_every_flag_is_the_engines_own(engine: Engine) -> None:
    # A fork's facts are those of the engine that it forked, in that engine's words.
    program = next(other.program for other in ENGINES.values() if other.api.key == engine.api.key)
    for text in engine.api.remedies.values():
        for flag in re.findall(r"--[a-z][\w-]+", text):
            assert any(option_set(program, version).named(flag) for version in versions(program)), f"{program} {flag}"
        for name in re.findall(r"\bVLLM_[A-Z_]+", text):
            assert name in known_environment(program), name


@pytest.mark.parametrize("engine", ENGINES.values(), ids=lambda engine: engine.name)
def test_facts_are_of_probes_that_exist(engine: Engine) -> None:
    ids = {probe.id for probe in ALL}
    assert engine.api.remedies.keys() <= ids | set(Topic)
    assert engine.api.known_issues.keys() <= ids
    assert engine.api.survives_500 <= bodies("kimi-k2").keys()


def test_the_parsers_that_are_named_exist() -> None:
    for program in NAMED.values():
        for kind in ("tool_call_parser", "reasoning_parser"):
            assert "kimi_k2" in (values_of(program, None, kind) or ())


@pytest.mark.parametrize("probe", ALL, ids=lambda probe: probe.id)
def test_every_probe_has_a_remedy_and_issues_with_pages(probe: ApiProbe) -> None:
    for engine in ("vllm", "sglang", "tensorrt-llm", "another", ""):
        assert remedies(probe, engine)
        for issue in known_issues(probe, engine):
            assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/issues/\d+", issue_url(issue))


def test_remedies_are_of_the_engine_that_serves() -> None:
    async def run(api: object) -> object:
        return passed("it does")

    probe = ApiProbe("chat", run, "x", "y", Topic.REASONING_PARSER, "look", "pass on")  # type: ignore[arg-type]
    vllm, sglang = "--reasoning-parser kimi_k2", "--reasoning-parser kimi_k2"
    assert remedies(probe, "vllm-ascend") == {"each": "look", "vllm": vllm, "gateway": "pass on"}
    assert remedies(probe, "ktransformers") == {"each": "look", "sglang": sglang, "gateway": "pass on"}
    assert list(remedies(probe, ""))[:3] == ["each", "vllm", "sglang"]
    assert list(remedies(probe, ""))[-1] == "gateway"


def test_an_engine_is_recognised_by_the_owner_in_its_model_list() -> None:
    for engine in ENGINES.values():
        assert {facts.key for facts in facts_of(engine.api.owned_by)} == {engine.api.key}
    assert len(facts_of("a gateway")) == len(ENGINES)

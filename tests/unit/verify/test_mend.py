"""What is advised exists: each flag in the catalogue of that engine's options, each issue at a known repository."""

from __future__ import annotations

import re

import pytest

from moonpad.catalog.options import known_environment, option_set, values_of, versions
from moonpad.verify.mend import Mend, issue_url
from moonpad.verify.probe import Probe
from moonpad.verify.probes import LONG_PROBES, PROBES

PROGRAMS = {"vllm": "vllm serve", "sglang": "sglang", "trtllm": "trtllm-serve"}
ALL = (*PROBES, *LONG_PROBES)


@pytest.mark.parametrize("probe", ALL, ids=lambda probe: probe.id)
def test_every_flag_is_the_engines_own(probe: Probe) -> None:
    for engine, program in PROGRAMS.items():
        text = getattr(probe.mend, engine)
        for flag in re.findall(r"--[a-z][\w-]+", text):
            known = [one for one in versions(program) if option_set(program, one).named(flag)]
            assert known, f"{program} has no {flag}"
        for name in re.findall(r"\bVLLM_[A-Z_]+", text):
            assert name in known_environment(program), name


def test_the_parsers_that_are_named_exist() -> None:
    for program in ("vllm serve", "sglang"):
        for kind in ("tool_call_parser", "reasoning_parser"):
            assert "kimi_k2" in (values_of(program, None, kind) or ())


@pytest.mark.parametrize("probe", ALL, ids=lambda probe: probe.id)
def test_every_probe_says_how_to_mend_and_what_is_known(probe: Probe) -> None:
    for engine in ("vllm", "sglang", "tensorrt-llm", "another", ""):
        assert probe.mend.of(engine)
    for issue in probe.known:
        assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/issues/\d+", issue_url(issue))


def test_it_is_of_the_engine_that_serves() -> None:
    mend = Mend(each="look", vllm="--a", sglang="--b", gateway="pass on")
    assert mend.of("vllm-ascend") == {"each": "look", "vllm": "--a", "gateway": "pass on"}
    assert mend.of("ktransformers") == {"each": "look", "sglang": "--b", "gateway": "pass on"}
    assert mend.of("") == {"each": "look", "vllm": "--a", "sglang": "--b", "gateway": "pass on"}

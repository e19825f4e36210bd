"""A plugin's build of main counts behind the last tag on that branch, which the release branches leave behind: what it
plugs into says of what time it is."""

from __future__ import annotations

import pytest

from moonpad.catalog.release_days import release_days
from moonpad.values.versions import order, release_of
from tests.unit.explain.judging import ask_one

SERVE = "```\nvllm serve /weights/Kimi-K2.6-w4a8 --tensor-parallel-size 8 --quantization ascend\n```\n"
BUILD = "0.19.1rc2.dev500+g971d50b3f.d20260611"


@pytest.mark.parametrize("base", ["0.21.0+empty", "0.23.0"])
def test_it_is_of_the_time_of_the_later_release(base: str) -> None:
    judged = ask_one(f"vllm-ascend version: {BUILD}\nvllm version: {base}\n\n{SERVE}", on="8xA3")
    releases = release_days()["vllm-ascend"].releases
    assert judged.version in releases
    assert order(release_of(judged.version)) < order(release_of(base)) <= order(release_of(judged.version_behind))
    assert BUILD.partition(".d2026")[0] in judged.version_because


@pytest.mark.parametrize("base", ["0.19.1", "0.19.1+empty"])
def test_beside_its_own_release_it_stays_what_it_is_called(base: str) -> None:
    judged = ask_one(f"vllm-ascend version: {BUILD}\nvllm version: {base}\n\n{SERVE}", on="8xA3")
    assert judged.version.startswith("0.19.1rc2.dev500")


def test_a_release_is_no_build() -> None:
    judged = ask_one(f"vllm-ascend version: 0.19.1rc1\nvllm version: 0.21.0\n\n{SERVE}", on="8xA3")
    assert judged.version == "0.19.1rc1"

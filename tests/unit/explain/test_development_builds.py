"""A build of the main branch between two releases may have what the next one brings."""

from __future__ import annotations

import pytest

from moonpad.catalog.options import versions
from moonpad.values.finding import Code
from moonpad.values.versions import next_releases
from tests.unit.explain.judging import ask_one, at, refused

K3 = "vllm serve moonshotai/Kimi-K3 -tp 8 --trust-remote-code"
K25 = "sglang serve --model-path moonshotai/Kimi-K2.5 --tp-size 8 --trust-remote-code"


@pytest.mark.parametrize(
    ("build", "behind"),
    [
        ("0.26.1rc1.dev229+g124154a88.rocm723", ("0.27.0",)),
        ("0.26.1rc0", ("0.27.0",)),
        ("0.25.0rc1.dev3", ("0.26.0",)),
        ("0.22.1rc1.dev490+g4a560dd8d", ("0.23.0", "0.24.0")),
        ("0.33.1rc1.dev4", ()),
        ("0.26.0", ()),
        ("0.26.0rc2", ()),
        ("0.26.0.post1", ()),
        ("nightly", ()),
        ("", ()),
    ],
)
def test_the_releases_behind_a_build_of_main(build: str, behind: tuple[str, ...]) -> None:
    assert next_releases(build, versions("vllm serve")) == behind


def test_a_build_of_very_many_commits_may_be_of_later_releases() -> None:
    releases = ("0.5.7", "0.5.8", "0.5.8.post1", "0.5.9", "0.5.10", "0.5.11")
    assert next_releases("0.5.6.post3.dev20+g1a2b3c4", releases) == ("0.5.7",)
    assert next_releases("0.5.6.post3.dev1278+g1a2b3c4", releases) == ("0.5.7", "0.5.8", "0.5.9", "0.5.10")


def test_a_build_of_many_commits_may_have_what_the_release_after_the_next_brings() -> None:
    """vllm-project/vllm#45455: the parser came with 0.24.0, and the build of June 2026 started with it."""
    text = "vllm serve MiniMaxAI/MiniMax-M3 --tool-call-parser minimax_m3 --enable-auto-tool-choice"
    assert not refused(ask_one(text, version="0.22.1rc1.dev490+g4a560dd8d"))
    assert refused(ask_one(text, version="0.22.1rc1.dev20"))


@pytest.mark.parametrize("version", ["0.26.1rc1.dev229+g124154a88", "0.27.0rc1.dev2", "0.27.0rc0"])
def test_a_model_that_came_behind_the_build_is_no_error(version: str) -> None:
    judged = ask_one(K3, on="8xMI355X", version=version)
    assert not refused(judged)
    assert not at(judged, Code.UNSUPPORTED_FORMAT)
    assert judged.version == version
    assert judged.memory is not None
    assert judged.corrected


@pytest.mark.parametrize("version", ["0.26.0", "0.26.0rc1", "0.26.0.post1", "0.24.1rc1.dev3", "0.25.0.dev12"])
def test_a_model_that_came_later_still_is_one(version: str) -> None:
    assert "engine" in at(ask_one(K3, on="8xMI355X", version=version), Code.UNSUPPORTED_FORMAT)


def test_series_of_one_minor_number() -> None:
    assert not refused(ask_one(K25, version="0.5.9.dev30+gabc"))
    assert refused(ask_one(K25, version="0.5.7"))


def test_what_both_releases_refuse_stays_an_error() -> None:
    judged = ask_one(f"{K3} --decode-context-parallel-size 3", on="8xMI355X", version="0.27.2rc1.dev5")
    assert refused(judged)


def test_an_option_that_came_behind_the_build_is_no_error() -> None:
    text = "vllm serve moonshotai/Kimi-K2-Instruct -tp 16 --trust-remote-code --nnodes 2 --node-rank 0 --master-addr a"
    assert "--nnodes" in at(ask_one(text, on="2x8xH200", version="0.11.0"), Code.UNKNOWN_FLAG)
    assert not refused(ask_one(text, on="2x8xH200", version="0.11.0rc2.dev9"))

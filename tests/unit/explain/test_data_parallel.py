"""Whole copies and attention that is shared: how many devices each asks for, and what the sizes forbid."""

from __future__ import annotations

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

K2 = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --trust-remote-code --tp-size 8"
OF_DP = frozenset({"--dp-size", "--attn-dp-size", "--enable-dp-attention", "--enable-dp-lm-head"})


def judged(text: str, on: str = "") -> Judged:
    (only,) = judge(read_script(text), Question(cluster=parse_cluster(on) if on else None))
    return only


def about_it(one: Judged) -> list[tuple[str, Severity]]:
    return [
        (finding.where, finding.severity)
        for finding in one.findings
        if finding.where in OF_DP and finding.code not in (Code.RENAMED_FLAG, Code.KNOWN_REPORT)
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--dp-size 8", [("--dp-size", "error")]),
        ("--dp-size 2", [("--dp-size", "error")]),
        ("--dp-size 2 --nnodes 2", [("--dp-size", "error")]),
        ("--dp-size 3 --enable-dp-attention", [("--dp-size", "error")]),
        ("--attn-dp-size 3", [("--attn-dp-size", "error")]),
        ("--attn-dp-size 8 --dp-size 8", [("--dp-size", "error")]),
        ("--attn-dp-size 8 --dp-size 8 --enable-dp-attention", [("--dp-size", "error")]),
        ("--enable-dp-attention", []),  # told with its new name
        ("--dp-size 8 --enable-dp-attention", []),
        ("--dp-size 4 --enable-dp-attention --enable-dp-lm-head", []),
        ("--dp-size 8 --enable-dp-attention --nnodes 2 --node-rank 1", []),
        ("--attn-dp-size 8 --enable-dp-attention", []),
        ("--attn-dp-size 8 --enable-dp-lm-head", []),
        ("--enable-dp-lm-head", []),
        ("--dp-size 1", []),
        ("--dp-size $DP", []),
        ("--dp-size 2 --use-ray", []),
    ],
)
def test_sizes(options: str, expected: list[tuple[str, str]]) -> None:
    assert about_it(judged(f"{K2} {options}", "8xH200")) == expected


@pytest.mark.parametrize("version", ["0.5.19", "0.5.23"])
def test_a_switch_without_a_size_is_told_once(version: str) -> None:
    (only,) = ask(f"{K2} --enable-dp-attention", "8xH200", version)
    told = [each for each in only.findings if each.where == "--enable-dp-attention"]
    assert [each.severity for each in told if "does nothing without --dp-size" in each.message] == [Severity.WARNING]


def test_copies_that_fit_are_nothing_to_speak_of() -> None:
    small = "sglang serve --model-path moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code"
    one = judged(f"{small} --tp-size 4 --dp-size 2", "8xH100")
    assert about_it(one) == []
    assert one.fits


def test_as_many_copies_as_ranks_are_meant_to_share() -> None:
    """The mended command has the layout that was meant, in the words of the release."""
    new = judged(f"# SGLang 0.5.23\n{K2} --dp-size 8", "8xH200")
    old = judged(f"# 8xH200, SGLang 0.5.9\n{K2} --dp-size 8")
    assert new.memory is None
    assert "64 on one machine" in new.unjudged
    assert "--attn-dp-size" in new.corrected[0].argv
    assert "--dp-size" not in new.corrected[0].argv
    assert old.cluster is not None
    assert old.cluster.name == "8xH200"
    assert {"--dp-size", "--enable-dp-attention"} <= set(old.corrected[0].argv)


def test_two_copies_may_be_meant() -> None:
    """Where the text counts the devices of one copy it is a warning, and nothing is changed."""
    one = judged(f"# 8xH200, SGLang 0.5.9\n{K2} --dp-size 2")
    assert about_it(one) == [("--dp-size", "warning")]
    assert one.memory is not None
    assert one.memory.fits
    assert "--enable-dp-attention" not in one.corrected[0].argv


def test_fewer_copies_than_ranks_may_mean_either() -> None:
    one = judged(f"{K2} --dp-size 4", "8xH200")
    assert about_it(one) == [("--dp-size", "error")]
    assert one.corrected == ()


def test_a_companion_beside_whole_copies() -> None:
    one = judged(f"{K2} --dp-size 8 --enable-dp-lm-head", "8xH200")
    assert ("--enable-dp-lm-head", Severity.ERROR) in about_it(one)


@pytest.mark.parametrize(
    ("options", "version", "where"),
    [
        ("--moe-dense-tp-size 4", "", "--moe-dense-tp-size"),
        ("--moe-dense-tp-size 8", "0.5.9", "--moe-dense-tp-size"),
        ("--moe-dense-tp-size 8", "0.5.14", ""),
        ("--moe-dense-tp-size 8", "", ""),
        ("--moe-dense-tp-size 1", "0.5.9", ""),
        ("--moe-dense-tp-size $SIZE", "0.5.9", ""),
        ("--served-model-name kimi:k2", "0.5.23", "--served-model-name"),
        ("--served-model-name kimi:k2", "0.5.2", ""),
        ("--served-model-name kimi-k2", "", ""),
        ("--nnodes 3 --node-rank 0 --dist-init-addr a:1", "", "--tp-size"),
        ("--nnodes 2 --node-rank 0 --dist-init-addr a:1", "", ""),
        ("--pp-size 3 --nnodes 3 --node-rank 0 --dist-init-addr a:1", "", ""),
    ],
)
def test_what_the_start_compares(options: str, version: str, where: str) -> None:
    (one,) = judge(read_script(f"{K2} {options}"), Question(version=version))
    errors = [f.where for f in one.findings if f.severity is Severity.ERROR and f.where != "--trust-remote-code"]
    assert errors == ([where] if where else [])


@pytest.mark.parametrize("more", ["", " --dp-size 8"])
def test_a_switch_without_a_size_is_told_of_any_model(more: str) -> None:
    text = f"python3 -m sglang.launch_server --model-path zai-org/GLM-5 --tp-size 8 --enable-dp-attention{more}"
    (only,) = ask(f"{text}\n", "8xH200", "0.5.6.post2")
    told = [each for each in only.findings if each.where == "--enable-dp-attention"]
    assert any("does nothing without --dp-size" in each.message for each in told) is not bool(more)
    assert any("--attn-dp-size" in each.remedy for each in told) is bool(more)

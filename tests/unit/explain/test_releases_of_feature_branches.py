"""A branch that is called after a release has that one, and perhaps what came next."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 16 --max-model-len 32768"
PAGE = "# vLLM-Ascend on 16 x Atlas 800T A3\n\n{words}\n\n```bash\n{command}\n```\n"


def judged_by(words: str, command: str = SERVE) -> tuple[str, str]:
    (judged,) = ask(PAGE.format(words=words, command=command))
    return judged.version, judged.version_because


@pytest.mark.parametrize(
    "words",
    [
        "State: `feature/kimi-k3-release-v0.23.0` is open.",
        "```bash\ngit checkout feature/kimi-k3-release-v0.23.0\n```",
        "```bash\ngit switch -c own origin/feature/kimi-k3-release-v0.23.0\n```",
        "Take the branch feature/kimi_k3/release-0.23.0.",
        "It is on the kimi-k3-rel-v0.23.0 branch.",
    ],
)
def test_a_branch_named_after_a_release(words: str) -> None:
    version, because = judged_by(words)
    assert version == "0.23.0"
    assert "the text names the branch" in because


@pytest.mark.parametrize(
    "words",
    [
        "`feature/kimi-k3-release-v0.23.0` and `feature/other-release-v0.21.0rc1` are open.",
        "`feature/kimi-k3-release-v7.23.0` is open.",  # no release of the engine
        "See https://github.com/org/repo/blob/docs-release-v0.23.0/README.md.",
        "Notes are in docs/kimi-release-v0.23.0.md",
    ],
)
def test_what_is_no_branch_of_a_release(words: str) -> None:
    assert judged_by(words)[1].startswith("none is named")


def test_a_release_that_is_named_goes_before() -> None:
    assert judged_by("vllm-ascend 0.21.0rc1; `feature/kimi-k3-release-v0.23.0` is open.")[0] == "0.21.0rc1"


@pytest.mark.parametrize(("option", "refused"), [("--watermark 0.01", False), ("--dp-sync-interval 4", True)])
def test_options_of_the_next_release_may_be_there(option: str, refused: bool) -> None:
    # The parser of 0.24.0rc1 has --watermark, that of 0.23.0 has not; --dp-sync-interval came later.
    (judged,) = ask(PAGE.format(words="`feature/x-release-v0.23.0` is open.", command=f"{SERVE} {option}"))
    named = option.partition(" ")[0]
    assert any(each.severity is Severity.ERROR and each.where == named for each in judged.findings) is refused

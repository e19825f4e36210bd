"""A change that the text puts into what it runs: what that mends is not told, and a report of which it says a mend in
its own words is a note."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.told_mends import changes_told, mends_told
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask


@pytest.mark.parametrize(
    "line",
    [
        "RUN curl -L https://github.com/vllm-project/vllm/pull/49674.patch | git apply",
        "git fetch origin pull/49674/head:fix && git cherry-pick fix",
        "Built from v0.25.1 with #49674 cherry-picked.",
        "The image includes PR #49674.",
        "镜像已合入 #49674",
    ],
)
def test_a_change_that_is_put_in_is_read(line: str) -> None:
    assert changes_told((line,)) == {"49674"}


@pytest.mark.parametrize(
    "line",
    [
        "This is fixed by #49674, which is in no release yet.",
        "Should we apply #49674?",
        "v0.25.1 does not include #49674.",
        "Until #49674 is included, keep the cache from filling.",
        "See issue #49674",
        "v0.30.0 includes #49674.",
        "#49674 was backported to 0.29.2.",
    ],
)
def test_a_change_that_is_only_spoken_of_is_not(line: str) -> None:
    assert not changes_told((line,))


NIXL = """'{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""
POOL = f"vllm serve nvidia/Kimi-K2.6-NVFP4 -tp 8 --kv-transfer-config {NIXL}"


@pytest.mark.parametrize(("number", "put_in"), [(49674, 49675), (48860, 48860)])
def test_what_it_mends_is_not_told(number: int, put_in: int) -> None:
    def told(said: str) -> bool:
        text = f"# K2.6\n\n{said}\n\n```bash\n{POOL}\n```\n"
        findings = (finding for judged in ask(text, "8xB200", "0.25.1") for finding in judged.findings)
        return any(f"#{number})" in each.message for each in findings)

    assert told("Built from v0.25.1.")
    assert not told(f"Built from v0.25.1 with #{put_in} cherry-picked.")


K26 = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --kv-cache-dtype fp8"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The image carries the Triton decode kernel's shared-memory\nfix.", Severity.NOTE),
        ("The image carries the fix of the chat template.", Severity.WARNING),
        ("The Triton kernel's shared memory fix is not included.", Severity.WARNING),
    ],
)
def test_a_mend_in_other_words_makes_a_note_of_a_report(said: str, expected: Severity) -> None:
    text = f"# Eight Sparks\n\n{said}\n\n```bash\n{K26}\n```\n"
    findings = (finding for judged in ask(text, "8x1xGB10", "0.27.0") for finding in judged.findings)
    found = [each.severity for each in findings if each.code is Code.KNOWN_REPORT and "102,400" in each.message]
    assert found == [expected]


def test_a_wish_is_no_mend() -> None:
    assert not mends_told(("Please apply a fix to the kernel, it is needed.",))

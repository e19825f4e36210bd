"""The day of a report or of a part of a thread, and the release of that time where the options show an older one."""

from __future__ import annotations

import pytest

from moonpad.catalog.release_days import builds_seen, released_by, seen_around
from moonpad.explain.documents.written_days import written_day
from tests.unit.explain.judging import ask, ask_one


@pytest.mark.parametrize(
    "head",
    [
        "MaoZiming · description · 2025-11-25",
        "some-one · comment · 2025-11-25",
        "some-one opened on Nov 25, 2025",
        "some-one opened this issue on Nov 25, 2025 · 4 comments",
        "some-one commented on Nov 25, 2025 •",
        "some-one commented Nov 25, 2025",
        "**some-one** commented on 25 November 2025",
        "on Nov 25, 2025",
        "asked Nov 25, 2025",
        "Date: Tue, 25 Nov 2025 10:11:12 +0100",
        '"created_at": "2025-11-25T10:11:12Z",',
        "2025-11-25 I tried to test it:",
        "[2025-11-25 10:11:12 TP0] Load weight begin. avail mem=139.00 GB",
        "2025-11-25 10:11:12,123 INFO worker.py:1723 -- Connecting to existing Ray cluster",
    ],
)
def test_the_day_of_a_report(head: str) -> None:
    lines = (head, "", "vllm serve moonshotai/Kimi-K2-Thinking")
    assert written_day(lines, 3) == "2025-11-25"


@pytest.mark.parametrize(
    "head",
    [
        "# Deploying Kimi-K2 (Nov 25, 2025)",
        "Last updated on Nov 25, 2025",
        "Date: 2025-11-25",
        "Posted on Nov 25, 2025 by the vLLM team",
        "## 0.11.2 - 2025-11-20",
        "Kimi-K2-Thinking came out on Nov 6, 2025",
        "Python 3.11.13 (main, Nov 20 2025, 16:03:05) [GCC 11.4.0]",
        "| 2025-11-25 | first release |",
        "A bug of the loader was reported on Nov 25, 2025",
        "It was reported on Nov 25, 2025 that K2 needs 0.12.0",
    ],
)
def test_a_guide_with_a_day_is_for_any_release(head: str) -> None:
    assert written_day((head, "", "vllm serve moonshotai/Kimi-K2-Thinking"), 3) == ""


def test_each_part_of_a_thread_has_its_day() -> None:
    lines = ("first command", "a · description · 2025-07-11", "second", "b · comment · 2025-11-25", "third")
    assert [written_day(lines, number) for number in (1, 3, 5)] == ["2025-07-11", "2025-07-11", "2025-11-25"]


FLAGS = "llama-server -m Kimi-Linear-48B-A3B-Instruct.Q4_K_M.gguf --no-direct-io --ctx-size 8192\n"
LOG = "main: n_parallel is set to auto, using n_parallel = 4 and kv_unified = true\n"


def test_a_build_of_the_time_and_not_the_last_that_has_an_option() -> None:
    """The last recorded one with --no-direct-io is of August 2026."""
    assert ask_one(f"{FLAGS}{LOG}").version == "b10549"
    early = ask_one(f"2026-01-11 I tried to test it:\n{FLAGS}{LOG}")
    assert early.version == "b7164"
    assert early.version_because == "none is named: the text is of 2026-01-11, when b7164 was out and b8069 was not"
    assert ask_one(f"2026-08-05 I tried to test it:\n{FLAGS}{LOG}").version == "b10156"
    assert ask_one(f"2026-11-28 I tried to test it:\n{FLAGS}{LOG}").version == "b10549"


def test_a_release_of_the_time_of_each_post() -> None:
    """--swap-space is in vLLM up to 0.17.1, of March 2026; 0.15.1 is of 2026-02-05."""
    command = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --swap-space 4\n"
    log = "(EngineCore_DP0 pid=1) INFO 02-10 08:00:00 [core.py:93] Initializing a V1 LLM engine\n"
    assert ask_one(f"{command}{log}").version == "0.17.1"
    assert ask_one(f"a · comment · 2026-02-10\n{command}{log}").version == "0.15.1"


def test_what_was_out_by_a_day() -> None:
    assert released_by("vllm", "2025-11-25") == "0.11.2"
    assert released_by("vllm", "2020-01-01") == released_by("no engine", "2025-11-25") == ""
    assert seen_around("llama-cpp", "2025-09-13") == ("b6451", "b7164")
    assert seen_around("llama-cpp", "2024-01-01") == ("", "b4007")
    assert seen_around("vllm", "2025-09-13") == ("", "")


def test_builds_are_seen_in_their_order() -> None:
    for seen in builds_seen().values():
        numbers = [int(build.removeprefix("b")) for build in seen.releases]
        assert numbers == sorted(numbers)
        assert list(seen.releases.values()) == sorted(seen.releases.values())


def test_two_days_of_a_text_are_told_apart() -> None:
    post = "{} · comment · {}\n```\n" + FLAGS + LOG + "```\n"
    text = post.format("a", "2026-01-11") + post.format("b", "2026-08-05").replace("8192", "4096")
    assert [each.version for each in ask(text)] == ["b7164", "b10156"]

"""A former name that the newest release still takes stays as it is where no release is named: older releases have no
other name for it."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one

SHARED = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp-size 16 --dp-size 4"
FILE = "trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8 --backend pytorch"


@pytest.mark.parametrize(
    ("command", "on", "since", "newer"),
    [
        (
            f"{SHARED} --enable-dp-attention --context-length 32768 --tool-call-parser kimi",
            "2x8xH200",
            "0.5.22",
            "attn",
        ),
        (f"{FILE} --extra_llm_api_options extra.yml --reasoning_parser deepseek-r9", "8xB200", "1.2.0", "--config"),
    ],
    ids=["sglang", "tensorrt-llm"],
)
def test_older_name_is_kept(command: str, on: str, since: str, newer: str) -> None:
    judged = ask_one(command, on=on)
    told = [each for each in judged.findings if each.code is Code.RENAMED_FLAG]
    assert [since in each.message for each in told] == [True]
    words = [word for line in judged.corrected for word in line.argv]
    assert not any(newer in word for word in words)


def test_newer_name_is_written_for_a_release_that_has_it() -> None:
    judged = ask_one(f"{SHARED} --enable-dp-attention", on="2x8xH200", version="0.5.22")
    (told,) = [each for each in judged.findings if each.code is Code.RENAMED_FLAG]
    assert "since" not in told.message
    words = [word for line in judged.corrected for word in line.argv]
    assert words[words.index("--attn-dp-size") + 1] == "4"
    assert "--enable-dp-attention" not in words


def test_switch_without_its_number_asks_for_the_option_of_all_releases() -> None:
    alone = SHARED.removesuffix(" --dp-size 4")
    (told,) = [
        each
        for each in ask_one(f"{alone} --enable-dp-attention", on="2x8xH200").findings
        if each.code is Code.RENAMED_FLAG
    ]
    assert told.remedy.startswith("add --dp-size ")


def test_other_name_of_the_same_option_is_a_note_where_older_releases_lack_it() -> None:
    (told,) = [
        each
        for each in ask_one(f"{FILE} --extra_llm_api_options extra.yml", on="8xB200").findings
        if each.code is Code.RENAMED_FLAG
    ]
    assert told.severity is Severity.NOTE

"""`--enable-dp-attention` without `--dp-size`, by release of SGLang (server_args.py of each)."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

_COMMAND = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 8 --trust-remote-code"


def _said(version: str, *more: str) -> list[tuple[str, str]]:
    judged = ask_one(" ".join((_COMMAND, "--enable-dp-attention", *more)), version=version)
    of_size = [each for each in judged.findings if "--dp-size above 1" in each.message]
    return [(str(each.severity), str(each.code)) for each in of_size]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.4.3.post2", []),
        ("0.4.4", []),
        ("0.4.5", [("error", "illegal-layout")]),
        ("0.5.1.post3", [("error", "illegal-layout")]),
        ("0.5.2", [("warning", "redundant-flag")]),
        ("0.5.9", [("warning", "redundant-flag")]),
    ],
)
def test_without_a_size(version: str, expected: list[tuple[str, str]]) -> None:
    assert _said(version) == expected


@pytest.mark.parametrize("version", ["0.4.4", "0.4.5", "0.5.9"])
def test_with_a_size_nothing_is_said(version: str) -> None:
    assert not _said(version, "--dp-size 8")

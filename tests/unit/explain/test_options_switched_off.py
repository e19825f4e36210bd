"""What takes the place of an option is not told of the same option switched off: it is the opposite."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SERVE = "./llama-server -m Kimi-Linear-48B-A3B-Instruct.Q4_K_M.gguf --ctx-size 8192 {}\n"


def remedies(option: str, version: str) -> str:
    told = ask_one(SERVE.format(option), "1xH100", version).findings
    return " ".join(each.remedy for each in told if option in f"{each.where} {each.message}")


@pytest.mark.parametrize("version", ["b10549", "b11434"])
def test_direct_io(version: str) -> None:
    assert "Write --load-mode dio" in remedies("--direct-io", version)
    assert "Leave it out" in remedies("--no-direct-io", version)
    assert "Write" not in remedies("--no-direct-io", version)
    assert "Write" not in remedies("-ndio", version)


@pytest.mark.parametrize("version", ["b10549", "b11434"])
def test_the_map_of_files_has_a_mode_for_both(version: str) -> None:
    assert "--load-mode none" in remedies("--no-mmap", version)
    assert "--load-mode mmap" in remedies("--mmap", version)


def test_the_corrected_command_reads_files_as_before() -> None:
    (line,) = ask_one(SERVE.format("--no-direct-io"), "1xH100", "b11434").corrected
    assert not any("direct-io" in word or word == "dio" for word in line.argv)

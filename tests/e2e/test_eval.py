"""`moonpad eval` of the real vLLM: questions of a file, asked twice, and requests with tools, of moonpad's own run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.conftest import Served

QUESTIONS = 12


def test_questions_of_a_file(served: Served, tmp_path: Path) -> None:
    """Greedy answers in batches of eight: each is counted, kept, and counted once."""
    file = tmp_path / "q.jsonl"
    rows = ({"question": f"What is the capital of country {n}?", "regex": r"\w"} for n in range(QUESTIONS))
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "e"
    argv = ("eval", str(served.spec), "--task", str(file), "--max-tokens", "64", "--again", "4", "--out", str(out))
    done = served.moonpad(*argv, "--json")
    assert done.code == 0, done.stderr
    result = done.json
    samples = [json.loads(line) for line in (out / "samples.jsonl").read_text().splitlines()]
    first = [row for row in samples if row["round"] == 1]
    assert len(first) == QUESTIONS == result["answered"]
    assert all(0 < row["completion_tokens"] <= 64 for row in first)
    assert result["cut"] == sum(row["finish_reason"] == "length" for row in first)
    assert result["empty"] == sum(not (row["content"] or "").strip() for row in first)
    # The regex finds any letter: right is what has content.
    assert result["filters"]["answer"]["correct"] == QUESTIONS - result["empty"]
    assert result["floor"]["questions"] == 4
    assert any("thinking included" in row["text"] for row in result["limitations"])
    assert served.moonpad("compare", str(out), str(out), "--json").json["filters"][0]["p_value"] == 1.0


def test_tools(served: Served, tmp_path: Path) -> None:
    argv = ("eval", str(served.spec), "--task", "tools", "--limit", "10", "--max-tokens", "256")
    done = served.moonpad(*argv, "--out", str(tmp_path / "e"), "--json")
    assert done.code == 0, done.stderr
    filters = done.json["filters"]
    assert filters["calls"]["answers"] == 10
    assert filters["schema"]["answers"] > 0


def test_what_does_not_fit_is_refused(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps({"question": "Hello?", "answer": "Hello"}) + "\n")
    done = served.moonpad("eval", str(served.spec), "--task", str(file), "--max-tokens", "1000000")
    assert done.code == 3
    assert "the endpoint serves" in done.stderr
    assert "max_model_len" in done.stderr

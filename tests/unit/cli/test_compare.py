"""`moonpad compare` takes no run as evidence whose client was at its limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moonpad.cli.command_line import run

CLIENT_BOUND = {"client_bound": True, "client_bound_by": ["it used 93% of a core"], "workers": 1}


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    """The files of a run that its client kept up with, and of one that it did not."""
    document: dict[str, Any] = {"output_throughput": 100.0, "mean_ttft_ms": 20.0}
    files = tmp_path / "quiet.json", tmp_path / "bound.json"
    for file, client in zip(files, ({"client_bound": False}, CLIENT_BOUND), strict=True):
        file.write_text(json.dumps({**document, "moonpad": {"client": client}}))
    return str(files[0]), str(files[1])


@pytest.mark.parametrize("bound_first", [False, True])
def test_a_run_whose_client_was_at_its_limit_is_refused(
    runs: tuple[str, str], bound_first: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *(reversed(runs) if bound_first else runs)]) == 5
    captured = capsys.readouterr()
    assert captured.out == ""
    message = " ".join(captured.err.split())
    assert "bound.json was client-bound: the latencies may be the client's own (it used 93% of a core)" in message
    assert "--accept-client-bound" in message
    assert "quiet.json" not in message


def test_it_is_compared_where_the_user_says_so_and_still_named(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *runs, "--accept-client-bound"]) == 0
    captured = capsys.readouterr()
    assert "Output token throughput" in captured.out
    assert "client-bound" in captured.err

"""What `moonpad explain` shows of the scripts of two seeds, without colours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from moonpad.catalog.calibrations import calibrations
from moonpad.catalog.clusters import parse_cluster
from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.report.explain_view import explain_view

SEEDS = Path(__file__).resolve().parents[1] / "seeds"


@pytest.mark.parametrize(
    ("seed", "on", "version", "width", "ascii_only", "verbose"),
    [
        ("seed0.md", "", "", 100, False, False),
        ("seed0.md", "", "", 100, True, True),
        ("seed0-32k.sh", "8xH100", "0.11.1rc6", 80, False, False),
        ("seed0-32k.sh", "8xH100", "0.11.1rc6", 80, False, True),
        ("seed1.md", "", "0.33.0", 120, False, True),
        ("containers.sh", "8xH200", "", 100, False, False),
    ],
    ids=["seed0", "seed0-ascii", "seed0-32k", "seed0-32k-verbose", "seed1", "containers"],
)
def test_view(
    request: pytest.FixtureRequest,
    golden: Callable[[str, str], None],
    seed: str,
    on: str,
    version: str,
    width: int,
    ascii_only: bool,
    verbose: bool,
) -> None:
    script = read_script((SEEDS / seed).read_text())
    question = Question(cluster=parse_cluster(on) if on else None, version=version)
    judged = judge(script, question, calibrations())
    view = explain_view(judged, script, width, ascii_only=ascii_only, verbose=verbose).plain
    assert not ascii_only or view.isascii()
    golden(f"explain/{request.node.callspec.id}.txt", view)

"""What `moonpad render` writes, `moonpad explain` reads back as the same plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from moonpad.catalog.calibrations import calibrations
from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.facts.probe import Unknown
from moonpad.render.targets import THERE, render_for
from moonpad.run.planning import PlannedSpec, plan_spec
from moonpad.spec.loader import LoadedSpec, load_spec
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.finding import Code, errors_of
from moonpad.values.records import replace

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))
WITHOUT_AN_IMAGE = "tiny-sglang"

UNREAD = {Code.UNKNOWN_FLAG, Code.PREFIX_FLAG, Code.INVALID_VALUE, Code.MISSING_FLAG}
"""What would be found in words that were not understood, or in pieces that were not put together."""


@pytest.fixture(autouse=True)
def _no_measured_starts_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def planned(loaded: LoadedSpec) -> tuple[PlannedSpec, set[Code]]:
    """The plan, and the errors for which it is refused unless they are overridden."""
    despite = {Code.CHECKPOINT_UNKNOWN}
    try:
        return plan_spec(loaded, despite=frozenset(despite)), set()
    except PreflightRefused as refused:
        errors = {finding.code for finding in refused.findings}
        return plan_spec(loaded, despite=frozenset(despite | errors)), errors


def rendered(target: str, loaded: LoadedSpec, plan: PlannedSpec) -> Mapping[str, str]:
    return {path: file.text for path, file in render_for(target, loaded.spec, plan.plan).files.items()}


def explained(files: Mapping[str, str], planned: PlannedSpec) -> Judged:
    checkpoint = None if isinstance(planned.checkpoint, Unknown) else planned.checkpoint
    question = Question(checkpoint, planned.cluster, planned.plan.engine_version)
    judged = judge(read_files(tuple(files.items())), question, calibrations())
    (server,) = (deployment for deployment in judged if deployment.layout is not None)
    return server


QUICK = ("instruct-2x8xh200-trtllm", "thinking-8xh200-latency", "instruct-2x8xh800-ray", "tiny", "tiny-sglang")
"""For `make test` by each target, the other examples as shell alone."""
CASES = [
    pytest.param(path, target, id=f"{path.stem}-{target}", marks=[] if quick else pytest.mark.slow)
    for path in EXAMPLES
    for target in THERE
    for quick in [target == "shell" or path.stem in QUICK]
]


@pytest.mark.parametrize(("path", "target"), CASES)
def test_examples_are_read_back(path: Path, target: str) -> None:
    loaded = load_spec(path)
    spec, refused = planned(loaded)
    if path.stem == WITHOUT_AN_IMAGE and target not in ("shell", "systemd", "slurm"):
        with pytest.raises(UsageError, match="no image of sglang-cpu"):
            rendered(target, loaded, spec)
        return
    launched = spec.plan.engine == "tensorrt-llm" and spec.plan.nodes > 1
    if launched and target in ("docker", "compose", "kubernetes"):
        with pytest.raises(UsageError, match="over MPI"):
            rendered(target, loaded, spec)
        return
    judged, plan = explained(rendered(target, loaded, spec), spec), spec.plan
    # The files take the folder of a draft from a variable, so they do not name the draft.
    settings = replace(plan.settings, draft=None)
    assert (judged.engine, judged.layout, judged.settings) == (plan.engine, plan.layout, settings)
    assert {finding.code for finding in errors_of(judged.findings)} == refused
    assert [finding for finding in judged.findings if finding.code in UNREAD] == []
    assert len(judged.sources) == (1 if launched or plan.settings.executor is not None else plan.nodes)

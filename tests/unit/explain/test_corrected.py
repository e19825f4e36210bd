"""What is said to be corrected is: typed into a shell and explained again, nothing of the kind is found any more."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from moonpad.catalog.calibrations import calibrations
from moonpad.engines import ENGINES
from moonpad.explain.commands import Script
from moonpad.explain.judge import judge
from moonpad.explain.results import Judged, Line
from moonpad.explain.script import read_files, read_script
from moonpad.explain.target_detection import Question
from moonpad.report.shell_line import typed_lines
from moonpad.values.errors import UsageError
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from tests.unit.explain.judging import NAMES, ask, seed

MENDED = {
    Code.REMOVED_FLAG,
    Code.RENAMED_FLAG,
    Code.PREFIX_FLAG,
    Code.REDUNDANT_FLAG,
    Code.DEAD_ENV,
    Code.MISSING_FLAG,
}
CASES = [
    pytest.param(name, version, marks=pytest.mark.slow if version else [])
    for name in NAMES
    for version in ("", "0.33.0", "0.20.0", "0.11.1", "0.5.23")
]


def again(script: Script, judged: Judged, lines: Sequence[Line]) -> tuple[Judged, ...]:
    """The lines as they are shown to be copied, judged for the same model, devices, version and files."""
    words = {word for line in lines for word in line.argv}
    held = {**{path.rpartition("/")[2]: file for path, file in script.files.items()}, **script.files}
    named = (
        (path, held[at].text.rstrip("\n")) for path in words for at in (path, path.rpartition("/")[2]) if at in held
    )
    files = (f"cat > {shlex.quote(path)} <<'EOF'\n{text}\nEOF\n\n" for path, text in named)
    labels = [f"# node {number}\n" if len(lines) > 1 else "" for number in range(len(lines))]
    text = "".join(files)
    text += "\n\n".join(label + "\n".join(typed_lines(line)) for label, line in zip(labels, lines, strict=True))
    behind = re.search(r"a build of main: judged by (?P<version>[0-9][\w.]*)", judged.version_because)
    version = behind["version"] if behind else judged.version
    if "judged by the newest" in judged.version_because:
        version = ""
    question = Question(judged.checkpoint, judged.cluster, version)
    return judge(read_script(text, markdown=False), question, calibrations())


def of_today(judged: Judged) -> Iterator[Finding]:
    """Without what is only said of later versions, and without what no change of words mends."""
    unmended = {remark.finding for remark in judged.remarks if not remark.mends}
    for finding in judged.findings:
        later = finding.severity is Severity.NOTE and "from " in finding.message and " on: " in finding.message
        if finding.code in MENDED and not later and finding not in unmended:
            yield finding


@pytest.mark.parametrize(("name", "version"), CASES)
def test_nothing_mended_is_found_again(name: str, version: str) -> None:
    for judged in ask(seed(name), "", version):
        for other in again(seed(name), judged, judged.corrected):
            assert list(of_today(other)) == []
            assert other.engine == judged.engine or judged.kind == "container"
            if judged.layout is not None and "main.py" not in " ".join(judged.commands[0].argv):
                assert other.layout == judged.layout
                same = _but_ray(other) == _but_ray(judged) or _fp8(judged)
                assert same or judged.settings is None or judged.corrected_with


def _but_ray(judged: Judged) -> Settings | None:
    """Naming Ray is part of the correction."""
    return judged.settings and replace(judged.settings, executor=None)


def _fp8(judged: Judged) -> bool:
    """SGLang's name for it is part of the correction."""
    return judged.settings is not None and judged.settings.kv_cache_dtype == "fp8"


@pytest.mark.parametrize(("name", "version"), CASES)
def test_what_is_better_holds_what_was_promised(name: str, version: str) -> None:
    for judged in ask(seed(name), "", version):
        assert len(judged.better) <= 3
        for better in judged.better:
            (other,) = again(seed(name), judged, better.lines)
            assert other.memory is not None
            assert other.memory.kv_tokens == better.memory.kv_tokens
            assert other.memory.kv_bytes == better.memory.kv_bytes
            assert other.fits
            assert not {Code.DOES_NOT_FIT, Code.ILLEGAL_LAYOUT, Code.CONFLICT} & {
                finding.code for finding in other.findings
            }


def test_there_is_something_better_among_the_seeds() -> None:
    """Without this, the test above could be empty."""
    assert sum(len(judged.better) for name in NAMES for judged in ask(seed(name))) >= 5


CORPUS = Path(__file__).parents[2] / "explain_corpus"
INPUTS = sorted(path for path in CORPUS.iterdir() if path.is_dir())


def _without_text(judged: Judged) -> str:
    """The engine; of a plugin that only words around the command tell, that which it is built on."""
    build = ENGINES[judged.engine].command_line.build if judged.engine in ENGINES else None
    return build.of if build else judged.engine


def _with_whole_experts(judged: Judged) -> Layout | None:
    """Its layout; where a finding says that ranks cannot share an expert, each expert is on one of the same ranks."""
    words = [word for remark in judged.remarks for edit in remark.edits for word in edit.words]
    if judged.layout is None or "--enable-expert-parallel" not in words:
        return judged.layout
    return replace(judged.layout, ep=judged.layout.tp * judged.layout.dp)


@pytest.mark.parametrize("folder", INPUTS, ids=lambda path: path.name)
def test_what_is_corrected_can_be_used_as_it_is(folder: Path) -> None:
    """Typed into a shell: the same engine and layout, and no error; nothing at all where that cannot be."""
    files = [
        (str(path), path.read_text())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "expect.toml"
    ]
    try:
        script = read_files(files)
    except UsageError:
        return
    answers = judge(script, Question(), calibrations())
    for judged in (each for answer in answers for each in (answer, *answer.alternatives)):
        if judged.layout is None or not judged.corrected:
            continue
        lines = again(script, judged, judged.corrected)
        meant = _with_whole_experts(judged)
        assert [(_without_text(other), other.layout) for other in lines] == [(_without_text(judged), meant)]
        # Typed without its container, a command no more says that it runs another build.
        # Devices that were asked for are no more those that the text may mean.
        doubted = {finding.code for finding in judged.findings if "another build" in finding.message}
        doubted |= {finding.code for finding in judged.findings if finding.code is Code.DOES_NOT_FIT}
        doubted |= {finding.code for finding in judged.findings if "so it is if these are" in finding.message}
        errors = [finding for other in lines for finding in other.findings if finding.severity is Severity.ERROR]
        assert [finding for finding in errors if finding.code not in doubted] == []

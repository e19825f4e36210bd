"""What is shown as corrected or better keeps what was meant, and no fault that a change of words mends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from moonpad.catalog.calibrations import calibrations
from moonpad.explain.judge import judge
from moonpad.explain.remedy_steps import steps_of
from moonpad.explain.results import Judged, Line, Remark
from moonpad.explain.script import read_files
from moonpad.explain.spoiling import left_in, spoils
from moonpad.explain.target_detection import Question
from moonpad.report.explain_view import explain_view
from moonpad.values.errors import MoonpadError
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

CORPUS = Path(__file__).parents[2] / "explain_corpus"
SAMPLE = tuple(sorted(path.name for path in CORPUS.iterdir() if path.is_dir()))[::9]
KEPT = ("--port", "--served-model-name", "--model", "--model-path", "--alias", "--host")
ENDS = re.compile(r"the start ends|answers? (?:are |is )?(?:garbage|wrong|noise)|GSM8K falls")


@cache
def judged(name: str) -> tuple[Judged, ...]:
    folder = CORPUS / name
    files = [path for path in sorted(folder.iterdir()) if path.name.startswith("input") and path.is_file()]
    try:
        script = read_files([(str(path), path.read_text(encoding="utf-8")) for path in files])
        return judge(script, Question(), calibrations())
    except MoonpadError:
        return ()


def printed(one: Judged) -> Iterator[tuple[int, Line]]:
    """The lines of Corrected and of each Better, with the command that each is of."""
    for lines in (one.corrected, *(better.lines for better in one.better)):
        yield from enumerate(lines)


def given(line: Line, flag: str) -> list[str]:
    """The words of an option, as often as it is given."""
    behind = dict(enumerate(line.argv[1:]))
    split = [f"{word}={behind.get(at, '')}" for at, word in enumerate(line.argv) if word == flag]
    return split + [word for word in line.argv if word.startswith(f"{flag}=")]


def speaks_of(remark: Remark, flag: str) -> bool:
    finding = remark.finding
    return flag in f"{finding.where} {finding.message} {finding.remedy}" or remark.at is None


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_what_nothing_speaks_of_stays(name: str) -> None:
    for one in judged(name):
        changed = [remark for remark in one.remarks if remark.changes]
        for number, line in printed(one):
            before = one.commands[number]
            for flag in KEPT:
                if not any(speaks_of(remark, flag) for remark in changed):
                    assert given(line, flag) == given(before, flag)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_no_fault_is_kept_whose_remedy_is_exact(name: str) -> None:
    for one in judged(name):
        if not one.corrected:
            continue
        for remark in one.remarks:
            finding = remark.finding
            is_fault = finding.severity is Severity.WARNING and (spoils(finding) or ENDS.search(finding.message))
            exact = [step for step in steps_of(finding.remedy, any_alternative=False) if step.kind == "leave"]
            if finding.severity is Severity.ERROR or remark.ends_start:
                assert remark.mends or one.corrected_with, finding
            elif is_fault and exact and remark.at is not None and not exact[0].name and not exact[0].value:
                assert remark.mends, finding


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_what_is_better_is_not_what_was_pasted(name: str) -> None:
    for one in judged(name):
        lines = [better.lines for better in one.better]
        assert one.commands not in lines
        assert all(each not in lines[:at] for at, each in enumerate(lines))


def test_a_report_whose_second_alternative_is_exact_is_mended() -> None:
    text = (
        "uv pip install vllm==0.18.0\nvllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code --kv-cache-dtype fp8\n"
    )
    one = ask_one(text)
    told = [remark for remark in one.remarks if "reads the plan of its work" in remark.finding.message]
    assert [remark.mends for remark in told] == [True]
    assert "--kv-cache-dtype" not in one.corrected[0].argv


def test_a_key_that_is_written_with_dots_is_left_out() -> None:
    text = (
        "docker run vllm/vllm-openai:v0.18.1 nvidia/Kimi-K2.5-NVFP4 --tensor-parallel-size 4 --data-parallel-size 2"
        " --trust-remote-code --compilation_config.pass_config.fuse_allreduce_rms true --port 9000\n"
    )
    one = ask_one(text)
    assert "fuse_allreduce_rms" in " ".join(one.commands[0].argv)
    assert one.corrected
    assert "fuse_allreduce_rms" not in " ".join(one.corrected[0].argv)
    assert given(one.corrected[0], "--port") == ["--port=9000"]


def test_keys_of_former_releases_that_end_the_start_are_left_out() -> None:
    text = (
        "vllm serve vllm-ascend/Moonlight-16B-A3B-Instruct-W8A8 -tp 4 --trust-remote-code --quantization ascend"
        ' --additional-config \'{"torchair_graph_config": {"enabled": true}, "enable_cpu_binding": true}\'\n'
    )
    one = ask_one(text, on="16xA3")
    assert any(remark.ends_start for remark in one.remarks)
    assert "torchair" not in " ".join(one.corrected[0].argv)
    assert "enable_cpu_binding" in " ".join(one.corrected[0].argv)


def test_what_no_words_mend_is_named_below_the_corrected_command() -> None:
    text = (
        "pip install vllm==0.18.0\nvllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --pipeline-parallel-size 4"
        " --distributed-executor-backend ray --trust-remote-code --tool-call-parser kimi_k2 --enable-auto-tool-choice\n"
    )
    script = read_files([("start.sh", text)])
    judgements = judge(script, Question(), calibrations())
    assert any("KeyError" in remark.finding.message for remark in left_in(judgements[0]))
    assert "Not mended in it: --distributed-executor-backend" in explain_view(judgements, script, 100).plain

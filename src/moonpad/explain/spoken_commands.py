"""Commands that stand in a text of any other kind: in sentences, in comments, in code within a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from moonpad.engines.foreign_names import SPEAKING
from moonpad.explain.commands import Word
from moonpad.explain.programs import base_name, starts_with_options
from moonpad.explain.shell.changes_of_lines import after_change
from moonpad.explain.shell.cut_commands import without_its_layout
from moonpad.explain.shell.evaluated_texts import with_joined_lines
from moonpad.explain.shell.interpreter import ScriptState, Shell
from moonpad.explain.shell.line_repair import repaired
from moonpad.explain.shell.wrappers import SPEAKS_OF
from moonpad.explain.source_text import Source

_AHEAD: Final = 300
_MOST: Final = 40
_NEAR: Final = 40
_BLANK: Final = re.compile(r"[ \t]*\n(?=[ \t]*-)")
_HASH: Final = re.compile(r"(?<=\n)([ \t]*)#")
_WRAPPED: Final = re.compile(r"(?:\n(?!\s*\n)[^`\n]{1,300}){1,4}(?=`)")
"""The rest of code in a sentence, which was broken within it."""
_LISTED: Final = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,2}[.)])[ \t]+[^\s-]|```|~~~)")
"""The next item of a list, or a fence: no line of a command that ends with a backslash above it."""
_OF_PROGRAM: Final = r"--[\w-]{0,24}(?:bin|binary|exe|executable|program)"
"""An option whose value is the path of a program."""
_NAMED: Final = re.compile(
    r"(?:[ \t]-(?:i?name|i?path|iwholename|wholename|Filter|Include|ProcessName)|\bp(?:grep|kill) -\w*f)[ \t]+[\"']?\Z"
    rf"|(?:^|[ \t]){_OF_PROGRAM}(?:[ \t]+|=)[\"']?\Z",
    re.IGNORECASE,
)
"""In front of a program's name that is only looked for, `find . -name llama-server -print`, or that another program
starts with options of its own: `start.py --server-bin /opt/llama-server --model-path m`."""
_OBJECT: Final = re.compile(
    r"(?<![\w-])(?:kubectl|oc|helm|(?:docker|podman|nerdctl)[- ](?:compose[^|;&\n]{0,200}?[ ])?"
    r"(?:logs|inspect|stop|start|restart|rm|kill|stats|top|cp|exec|pull|push|build|tag|up|ps))"
    r"[ \t](?:(?![ \t]--[ \t])[^|;&\n]){0,400}\Z"
)
"""In front of the name of an object that is called as the program is: `kubectl scale deployment llama-server`."""
_LINE: Final = 600
_JOINED: Final = 20
_NEWLINE: Final = re.compile(r"(?<!\\)\\n")
"""The end of a line in a text of JSON or Python, `"vllm serve …\\n"`."""
_OTHER_CODE: Final = re.compile(r"[;,.:][ \t]+`")
"""Where a sentence goes on behind a command, with other code."""
_SPOKEN: Final = re.compile(
    rf"(?<![\w/-])(?:[A-Z][A-Z0-9_]{{0,60}}+=\S{{1,300}}+[ \t]{{1,20}}+(?:\\\n[ \t]{{0,20}}+#[ \t]{{0,20}}+)?){{0,20}}"
    rf"(?:python3? (?:-m )?)?"
    rf"(?:[^\s/]{{0,64}}+/){{0,12}}(?:{SPEAKING.pattern})"
)
"""Its parts are bounded and tried once: a line of a million characters takes a second, where it took minutes."""
_PROSE: Final = re.compile(r"(?:[A-Za-z][A-Za-z'’]*[,:]?[ ]+){2}\Z|[\u3040-\u30ff\u4e00-\u9fff][^\n]{0,80}\Z")
"""Words of a language in front of a command, on its line."""
_IN_TICKS: Final = re.compile(r"(?<!`)`(?P<command>(?:sudo )?(?:docker|podman|nerdctl) run [^`\n]{10,2000})`(?!`)")


def read_spoken(state: ScriptState, start: int, text: str) -> None:
    """A command in a text of any other kind."""
    text = with_joined_lines(after_change(text), start)
    for number, match in enumerate(_SPOKEN.finditer(text)):
        if number == _MOST:
            return
        begin, broken = match.start(), 0
        line_start = text.rfind("\n", 0, begin) + 1
        if _NAMED.search(text, max(0, begin - _NEAR), begin):
            continue
        if _OBJECT.search(text, max(line_start, begin - _LINE), begin):
            continue
        quote = text[begin - 1 : begin]
        end = begin
        while True:  # to the end of the line, and on behind a backslash
            end = text.find("\n", end)
            end = len(text) if end < 0 else end
            if end == len(text) or not text[max(0, end - 100) : end].rstrip(" \t").endswith("\\"):
                break
            if _LISTED.match(text, end + 1):
                break
            end += 1
            if blank := _BLANK.match(text, end):  # a paste that doubled the ends of lines
                end = blank.end()
        if text.count("`", begin, end) % 2:  # code that has begun before, on a line above too
            quote = "`"
        elif text.count('"', _first_line(text, line_start), begin) % 2:  # `echo "nohup python -m …"`, `CMD="A=1 \\`
            quote = '"'
        if quote in ('"', "'", "`") and (closing := text.find(quote, begin, end)) > 0:
            end = closing
            if quote == '"' and (broken_off := _NEWLINE.search(text, begin, end)):
                end = broken_off.start()
        elif quote == "`" and not _opens(text[begin:end]) and (wrapped := _WRAPPED.match(text, end)):
            end, broken = wrapped.end(), end
        elif behind := _OTHER_CODE.search(text, begin, end):
            end = behind.start()
        first = text[line_start:begin].split()[:1]
        if (first and base_name(Word(first[0])) in SPEAKS_OF) or not re.search(r"\s-", text[begin:end]):
            continue
        before = len(state.commands)
        spoken = _PROSE.search(text[line_start:begin]) is not None
        if spoken:
            _forget_quotes(state, start + begin)
        code = text[begin:broken] + text[broken:end].replace("\n", " ") if broken else text[begin:end]
        if text[line_start:begin].lstrip(" \t").startswith("#"):  # a command of which all lines are comments
            code = _HASH.sub(r"\1 ", code)
        whole = repaired(_without_open_quote(code), start + begin, state.problems)
        Shell(state, Source.block(state.text, start + begin, whole)).read()
        servers = [command for command in state.commands[before:] if starts_with_options(command)]
        ahead = text[max(text.rfind("`", 0, begin), begin - _AHEAD) : begin] if quote == "`" else ""
        state.commands[before:] = [without_its_layout(server, ahead) for server in servers]
        if spoken:
            _forget_brackets(state, start + begin)


def hands_on_program(words: Sequence[Word]) -> bool:
    """Whether an option says which program is to be started: what stands beside it is not that program's."""
    return any(re.fullmatch(rf"{_OF_PROGRAM}(?:=.+)?", word.text, re.IGNORECASE) for word in words)


def _forget_quotes(state: ScriptState, at: int) -> None:
    """`I'm trying to run vllm serve …`: no shell was meant to read what stands in front of the command."""
    line, column = state.text.place(at)
    state.problems.items[:] = [
        problem
        for problem in state.problems.items
        if problem.code != "unclosed" or problem.line != line or problem.column > column
    ]


def _forget_brackets(state: ScriptState, at: int) -> None:
    """`we run vllm serve … (on two machines)`: the same of what stands behind it."""
    line, _ = state.text.place(at)
    state.problems.items[:] = [each for each in state.problems.items if each.code != "syntax" or each.line != line]


def _first_line(text: str, line_start: int) -> int:
    """Where the line begins that backslashes join with this one."""
    for _ in range(_JOINED):
        if not line_start or not text[max(0, line_start - _NEAR) : line_start].rstrip().endswith("\\"):
            break
        line_start = text.rfind("\n", 0, line_start - 1) + 1
    return line_start


def _opens(line: str) -> bool:
    """Whether a placeholder goes on in the next line."""
    return line.count("<") > line.count(">")


def _without_open_quote(text: str) -> str:
    """Without the option whose value goes on in a further line of a comment: what it is, is not known."""
    return text[: max(text.rfind(" -", 0, text.rfind("'")), 0)] if text.count("'") % 2 else text


def containers_in_ticks(state: ScriptState, start: int, text: str) -> None:
    """`docker run … IMAGE --port 30000` within a sentence, where the image tells the engine."""
    for match in islice(_IN_TICKS.finditer(text), _MOST):
        before = len(state.commands)
        Shell(state, Source.block(state.text, start + match.start("command"), match["command"])).read()
        state.commands[before:] = [command for command in state.commands[before:] if starts_with_options(command)]

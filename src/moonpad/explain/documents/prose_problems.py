"""Problems of shell syntax in lines that are sentences, lists of devices or errors, not written for a shell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.text_signs import JOINING_PROXY, LINE_OF_PROXY
from moonpad.explain.commands import Command, Problem, Script
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.values.records import replace

_OF_SHELL: Final = frozenset({"syntax", "unclosed"})
_DOCUMENT: Final = re.compile(r"\.(?:md|markdown|mdx|rst|adoc|txt)$", re.IGNORECASE)
_FENCE: Final = re.compile(r"[ \t>]{0,12}(?:```|~~~)")
_PROSE: Final = re.compile(
    r"[ \t]{0,8}(?:(?:[A-Z][A-Za-z0-9.'’-]{0,40}[,:]?|\d{1,4}(?:\.\d{1,4})?[xX×]?"
    rf"|(?i:{'|'.join(sorted(ENGINES))})"
    r"(?=[ ]v?\d))(?:[ ][\w\"'(`*~/@.:,&+-]{1,80}){2}"
    r"|[A-Za-z]{2,20}:[ ][\w\"'(]"
    r"|(?:={2,9}|-{3,9}|#{2,9}|\*{3,9})[ ][\w\"'(]"
    r"|(?:\d{1,4}[ ]?)?[\u3040-\u9fff\uac00-\ud7af])"
)
"""Three words, of which the first is not the name of a command: it begins with a capital, is a number, or names an
engine before its release; or a word with a colon; or a title between signs; or a line that begins in Chinese, Japanese
or Korean, after a number or at once."""
_ITEM: Final = re.compile(r"[ \t]{0,8}[-*+•][ ](?:\[[ xX]\][ ])?[A-Za-z\d`*]")
_EXPLAINED: Final = re.compile(
    r"[ \t]{0,8}[`*]{0,3}(?:[A-Z][A-Z0-9_]{2,60}=\S{1,80}|--[a-z][\w-]{1,60}(?:[ =]\S{1,80})?)[`*]{0,3}"
    r"[ ](?:[-–—]|->|→)[ ][A-Za-z\d]"
)
"""`VLLM_ROCM_USE_AITER=0 - AITER disabled (…)`: a setting, and what it is for."""
_RUN_TOGETHER: Final = re.compile(r"[ \t]*#{1,6}[ ]")
_APOSTROPHE: Final = re.compile(r"[A-Za-z]'[a-z]{1,2}\b")
"""`models's`, `doesn't`: within a word of a sentence."""
_LOST: Final = "missing-backslash"
_NO_YAML: Final = "yaml"
_HIDDEN: Final = "invisible-character"
_TOP_KEY: Final = re.compile(r"[\w.\"'/-]+[ \t]*:(?:[ \t]|$)")
_ANSWERED: Final = ("<", "{", "[")
_SENTENCE_ENDS: Final = re.compile(r"[A-Za-z]+(?:(?:[ ][\w'’,-]{1,40}){2,40}[?!.:]|[ ][A-Za-z]{3,20}:)[ \t]*$")
_ARROW: Final = re.compile(r"<<-?[ \t]+[A-Za-z]+(?:[ ][\w'’,-]{1,40}){2}")
"""A mark of a heredoc, with words of a sentence behind it."""
_NOTE: Final = re.compile(
    r"(?:[ \t]+|(?<=[ \t]))\((?=[^()]{0,200}(?:, |\d ?[x×] ?[A-Z]|\d\.\d{1,3}\.\d))"
    r"[A-Za-z\d][^()$'\"`=;|&<>\\]{2,200}\)[.,:]?[ \t]*$"
)
"""`(8xH200, 0.11.2)` at the end of a command's line."""
_LINKED: Final = re.compile(r"[ \t]{0,8}(?:[-*+]|\d{1,3}[.)])[ \t]+[^`$]{0,200}?\]\(https?://")
"""`- [**#channel**](https://…): what was said`."""
_WORDS: Final = 4
_TALLEST: Final = 2_000
"""Lines of one word."""
_COMMAND: Final = re.compile(r"\$[({\w]|&&|\|\||[ ]--?[a-zA-Z]")
_OPTION: Final = re.compile(r"(?<!\S)--[a-z]|\$[({\w]")
_OF_COMMANDS: Final = re.compile(
    r"[ \t>]{0,16}(?:[$#%][ ])?(?:"
    r"[A-Za-z_]\w{0,60}(?:\[\S{1,20}\])?\+?=|[\w-]{1,60}[ ]?\(\)|\.{0,2}/[^\s()\[\]]{1,200}(?:[ \t]|$)|-"
    r"|(?:RUN|CMD|ENTRYPOINT|ENV|ExecStart)\b"
    r"|(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|select|function|time|export|declare|local|readonly|set"
    r"|unset|alias|source|eval|exec|exit|return|cd|echo|printf|test|trap|wait|ulimit|read|sleep|kill|true|false|cat|cp"
    r"|mv|rm|ln|ls|mkdir|chmod|chown|touch|tee|grep|sed|awk|find|xargs|head|tail|cut|sort|tr|jq|env|sudo|nohup|setsid"
    r"|timeout|taskset|numactl|screen|tmux|ssh|scp|rsync|curl|wget|tar|git|make|cmake|apt|apt-get|yum|dnf|brew|pip3?|uv"
    r"|conda|mamba|poetry|python3?|bash|sh|zsh|docker|podman|nerdctl|kubectl|helm|srun|sbatch|salloc|mpirun|torchrun"
    r"|accelerate|ray|hf|huggingface-cli|modelscope|nvidia-smi|rocm-smi|npu-smi|modprobe|sysctl|mount)(?=[ \t;]|$)"
    r"|\[\[?[ ])"
)
"""How a line of a shell begins: with an assignment, a function, a path, an option or the name of a common program."""
_MEASURED: Final = re.compile(
    r"[ \t>]{0,16}(?!(?:echo|printf)\b)[a-z]{2,20}(?:[ ][A-Za-z()/%_-]{1,30}){0,5}[ \t]{0,40}[:=][ \t]{1,60}[~<]?\d"
)
"""`eval count:   408 token(s)`, `eval time =  248.40 ms (…)`, `read time (s): 3.1`: what a program prints of itself. A
shell's own words stand in front of a name without a blank before the sign, and in none before a number behind it."""


_COMMENTS: Final = re.compile(r"[ \0]#[ \t]")
_TELLS: Final = re.compile(
    r"^[ \t>*-]{0,8}(?!#|--?\w)[^\n]{0,120}\b\w[^\n]{0,80}"
    r"(?:[:：]|[ ](?:are|is|like|to|with|e\.g\.|examples?|following|flags|options|parameters|arguments|these))"
    r"[*`_]{0,3}[ \t]*$",
    re.IGNORECASE,
)
"""A line that introduces what is below it."""


def without_prose(problems: Sequence[Problem], lines: Sequence[str], commands: Sequence[Command] = ()) -> list[Problem]:
    """The problems of commands; a script with a shebang line has no prose."""
    shebang = bool(lines) and lines[0].startswith("#!")
    return list(problems) if shebang else _of_commands_alone(problems, lines, commands)


def of_files(script: Script, origins: Sequence[tuple[str, int]]) -> Script:
    """Several files, which begin at `origins`: without prose as above, each by its own first line. One that is called
    a document and has no block of code has no mistakes of a shell but in the commands that were read from it."""
    problems, lines, commands = script.problems, script.lines, script.commands
    kept: set[Problem] = set()
    ends = [*(first for _, first in origins[1:]), len(lines) + 1][: len(origins)]
    for (name, first), end in zip(origins, ends, strict=True):
        own = [problem for problem in problems if first <= problem.line < end]
        if own and _DOCUMENT.search(name) and not any(_FENCE.match(line) for line in lines[first - 1 : end - 1]):
            read = _lines_of(commands)
            own = [each for each in own if each.line in read or each.code not in (*_OF_SHELL, _LOST)]
        elif own and not lines[first - 1].startswith("#!"):
            own = _of_commands_alone(own, lines, commands)
        kept |= {*own}
    return replace(script, origins=tuple(origins), problems=tuple(each for each in problems if each in kept))


def _of_commands_alone(problems: Sequence[Problem], lines: Sequence[str], commands: Sequence[Command]) -> list[Problem]:
    if not problems:
        return []
    of_shell = [problem for problem in problems if problem.code in _OF_SHELL or problem.code == _LOST]
    hidden = [problem for problem in problems if problem.code == _HIDDEN]
    own = _lines_of(commands) if of_shell or hidden else frozenset()
    listed = _lines_of_lists(commands, lines) if of_shell else frozenset()
    return [
        problem
        for problem in problems
        if problem.code != _LOST or problem.line not in listed
        if problem.code != _NO_YAML or not _is_beside_yaml(problem, lines)
        if problem.line in own or not _is_of_a_sentence(problem, lines)
        if not _is_note(problem, lines)
        if problem.code != _HIDDEN or not _is_no_command(problem, lines, own)
        if problem.code != _LOST or not _is_of_swap(problem, lines)
        if problem.code not in _OF_SHELL
        or not (
            _is_prose(problem, lines) or _is_no_command(problem, lines, own) or _is_behind(problem, lines, commands)
        )
    ]


def _is_beside_yaml(problem: Problem, lines: Sequence[str]) -> bool:
    """Whether a line that was left out of YAML is one that a person wrote beside it, or what a program answered."""
    line = lines[problem.line - 1][:2_000] if 1 <= problem.line <= len(lines) else ""
    if (
        not problem.message.startswith("this line")
        or not line[:1].strip()
        or line.startswith(("-", "#"))
        or _TOP_KEY.match(line)
    ):
        return False
    return line.startswith(_ANSWERED) or _OF_COMMANDS.match(line) is not None or len(line.split()) >= _WORDS


def _is_of_a_sentence(problem: Problem, lines: Sequence[str]) -> bool:
    """Whether a line that ends as a sentence does is said to lack a backslash, or two arrows between words to begin a
    heredoc: `--enable-expert-paralle  << should this be …?`."""
    line = lines[problem.line - 1][:2_000] if 1 <= problem.line <= len(lines) else ""
    if problem.code == _LOST:
        return _SENTENCE_ENDS.search(line) is not None and _OPTION.search(line) is None
    return problem.code == "unclosed" and _ARROW.search(line, max(0, problem.column - 1)) is not None


def _is_of_swap(problem: Problem, lines: Sequence[str]) -> bool:
    """Whether it is the command of a proxy's file, which a person shows alone: llama-swap joins its lines."""
    line = lines[problem.line - 1][:2_000] if 1 <= problem.line <= len(lines) else ""
    return LINE_OF_PROXY.fullmatch(line) is not None and is_in_lines(JOINING_PROXY, lines, 2_000)


def _is_note(problem: Problem, lines: Sequence[str]) -> bool:
    """Whether a bracket that a shell refuses holds what a person notes behind a command, or is that of a link in an
    item of a list."""
    line = lines[problem.line - 1][:2_000] if 1 <= problem.line <= len(lines) else ""
    if problem.code != "syntax":
        return False
    return _LINKED.match(line) is not None or _NOTE.match(line, max(0, problem.column - 1)) is not None


def _is_behind(problem: Problem, lines: Sequence[str], commands: Sequence[Command]) -> bool:
    """Whether it stands behind a server on the server's own line, a page whose lines are run together: what follows
    there, `# Call it: curl … --data '{`, is read by no shell with the server."""
    number = problem.line
    if problem.code != "unclosed" or not 1 <= number <= len(lines) or not _RUN_TOGETHER.match(lines[number - 1]):
        return False
    servers = [command for command in commands if command.program not in ("other", "docker") and command.argv]
    ends = [max((word.end_line, word.end_column) for word in command.argv) for command in servers]
    return any(line == number and column <= problem.column for line, column in ends)


def _lines_of(commands: Sequence[Command]) -> frozenset[int]:
    """Numbers of the lines on which the words of a command of a known program stand."""
    words = (word for command in commands if command.program != "other" for word in command.words)
    spans = {(word.line, min(max(word.line, word.end_line), word.line + _TALLEST)) for word in words}
    return frozenset(line for first, last in spans for line in range(first, last + 1))


def _lines_of_lists(commands: Sequence[Command], lines: Sequence[str]) -> frozenset[int]:
    """Lines of flags without a program that stand one a line below a line of prose, `For 24 GB VRAM:`: a list that is
    told, of which no line ends with a backslash because no shell reads it."""
    lists = (each for each in commands if not each.prefix and not each.wrappers and each.argv)
    told = [
        each
        for each in lists
        if 1 < each.argv[0].line <= len(lines) and _TELLS.search(lines[each.argv[0].line - 2][:2_000])
    ]
    spans = ((each.argv[0].line, max(word.line for word in each.argv)) for each in told)
    return frozenset(
        line
        for first, last in spans
        for line in range(first, min(last, first + _TALLEST) + 1)
        if not any(each.rstrip().endswith("\\") for each in lines[first - 1 : last])
    )


_OF_PYTHON: Final = re.compile(
    r"[ \t>]{0,40}(?:if|elif|while|for)[ ](?![\[(]{0,2}[ ])(?:[^;\n]*[^;:\s])[ ]?:[ \t]*(?:#.*)?"
)
"""`if chunk.usage:`, `for chunk in stream:`."""
_PLAIN: Final = re.compile(r"[ \t>]{0,16}(?!(?:echo|printf)\b)[\w%]+(?:[,:.]?[ \t]+[\w%/]+){0,12}[,:]?[ \t]*")
"""Words without any sign of a shell: what stands in a sentence before its bracket, `read the notes (both`."""


def _is_no_command(problem: Problem, lines: Sequence[str], own: frozenset[int]) -> bool:
    """Whether its line belongs to no command that was read, and does not look like one: a sentence, a line of a log,
    what a model answered."""
    number = problem.line
    if not 1 <= number <= len(lines) or number in own or _is_continued(number, lines):
        return False
    line = lines[number - 1][:2_000]
    if _OF_PYTHON.fullmatch(line):
        return True
    if problem.code == _HIDDEN and _COMMENTS.match(line, max(0, problem.column)) and not line[: problem.column].strip():
        return False  # with such a character before it, it is no comment but a command
    if problem.code == "syntax" and _PLAIN.fullmatch(line, 0, max(0, problem.column)):
        return _OPTION.search(line) is None
    is_command = _OF_COMMANDS.match(line) is not None and _MEASURED.match(line) is None
    return not is_command and _OPTION.search(line) is None


def _is_continued(number: int, lines: Sequence[str]) -> bool:
    return number > 1 and lines[number - 2].rstrip().endswith("\\")


def _is_prose(problem: Problem, lines: Sequence[str]) -> bool:
    number = problem.line
    if not 1 <= number <= len(lines) or _is_continued(number, lines):
        return False
    line = lines[number - 1][:2_000]
    if _ITEM.match(line) is not None or _EXPLAINED.match(line) is not None:
        return True  # of a list, whatever options it names
    apostrophe = problem.code == "unclosed" and _APOSTROPHE.match(line, max(0, problem.column - 1)) is not None
    begins = _PROSE.match(line) is not None or (apostrophe and line.count(" ") >= _WORDS)
    return begins and _COMMAND.search(line) is None

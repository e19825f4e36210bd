"""Words that a person has to replace before a deployment can start: in its commands, its exports and its manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from moonpad.engines.surrounding_names import CLIENT_KEYS
from moonpad.explain.commands import Command, Script
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LONGEST: Final = 1000
_FENCE: Final = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*$")
_HEADING: Final = re.compile(r"#{1,6}[ ]+\S")
_SHOWN: Final = 6
_MOST: Final = 50

_MARKUP: Final = (
    r"/|!|\||what[ ]|(?:a|b|br|bos|code|details|div|em|eos|h[1-6]|hr|i|img|li|module|nil|none|null|ol|p|pad|pending"
    r"|pre|s|span|stdin|string|strong|sub|summary|sup|table|td|th|think|tool_calls?|tr|u|ul|unk)\b[^<>]*>"
)
_ANGLE: Final = rf"(?<![<A-Za-z$])<(?!{_MARKUP})[A-Za-z0-9_\u4e00-\u9fff](?:[^<>|;{{}}$\n]{{0,60}}[^<>|;{{}}$\s])?>"
_NUMBERED: Final = r"(?<=[A-Za-z])<(?-i:x+|[nNiI]|[A-Z][A-Z0-9_]*)>"
_PATH: Final = r"(?:(?<![\w.$}{/-])/?path/(?=[\w-])|(?<![\w.$}{-])path[-_/](?:to|of)(?![A-Za-z])|\bthe/path/)"
_YOUR: Final = r"(?<![A-Za-z0-9$}{%])your[-_./][\w-]+|\w*(?:你的|您的|请替换|请填写)\w*"
_XXX: Final = r"(?<![A-Za-z0-9$}{])(?:x{3,}|(?:eth|ens|enp|bond|mlx5_)x)(?![A-Za-z0-9])|\b(?:hf_|sk-)(?:\.{3}|…)"
_ADDRESS: Final = r"(?<![\w.])(?=[\d.]*x)(?:\d{1,3}|x{1,3})(?:\.(?:\d{1,3}|x{1,3})){3}(?![\w.])"
_TO_CHANGE: Final = (
    r"(?<![\w$}{%-])(?:change[-_]?me|replace[-_]?me|replace[-_]with[-_]\w+|insert_\w+|fill[-_]?me|(?-i:[A-Z]+_)+(?-i:HERE))\b"
    r"|(?<=[:/.@])(?-i:ACCOUNT_ID|PROJECT_ID|BUCKET_NAME)\b"
    r"|(?<=://)(?-i:[A-Z][A-Z_]*:(?:[A-Z]+_)?PORT)\b"
)
_BARS: Final = r"(?<=[:/=@-])\|[a-z][a-z0-9]{0,30}(?:_[a-z0-9]{1,30}){1,6}\|"
_EITHER: Final = r"(?<![\w./$}-])(?:0/1|1/0|true/false|false/true|on/off|off/on)(?![\w./-])"
"""`VLLM_USE_V2_MODEL_RUNNER=0/1`: one of the two."""
_EITHER_WHOLE: Final = re.compile(_EITHER, re.IGNORECASE)
_PLACEHOLDER: Final = re.compile(
    "|".join((_EITHER, _ANGLE, _BARS, _NUMBERED, _PATH, _YOUR, _XXX, _ADDRESS, _TO_CHANGE)), re.IGNORECASE
)
_OF_ADDRESS: Final = re.compile(r"--?[\w-]*(?:addr(?:ess)?|host|ip|port|url|ifname|rpc)", re.IGNORECASE)
_NO_ADDRESS: Final = re.compile(
    r"(?:(?:(?i:[a-z][a-z0-9]*_)*(?i:ip)[0-9]?|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[\u4e00-\u9fff]+|[a-z0-9]{1,20}-ip)"
    r"(?::(?:[0-9]+|(?i:port)))?)"
)
"""Names of hosts have no underscores, but those of services of a compose file may, in small letters."""
_NO_IMAGE: Final = re.compile(r"[A-Z][A-Z0-9_-]+(?:[/:].*)?")
"""Names of images have no capital letters."""
_MODEL: Final = frozenset(
    {
        "model",
        "model_path",
        "model_name",
        "model_dir",
        "model_id",
        "model-name",
        "model-path",
        "model-dir",
        "path_to_model",
    }
)

_ASSIGNED: Final = re.compile(
    r"[+\s]*(?:(?:export|local|readonly|declare|typeset|set|ENV|ARG|-?-e|-?-env)[ \t]+(?:-[A-Za-z]+[ \t]+)*|\$env:"
    r"|Environment=\"?)?(?P<name>[A-Za-z_]\w{0,80})[ \t]?=[ \t]?(?P<value>\S.*)"
)
_UNFILLED: Final = re.compile(r"[ \t]*Environment=[\"']?\w+=%s[\"']?[ \t]*")
"""What `printf` would have filled in, in a unit."""
_OF_JSON: Final = re.compile(r"\s*\{?\s*\"(?P<name>[\w.-]{1,80})\"\s*:\s*(?P<value>\S.*)")
_DIRECTIVE: Final = re.compile(r"#(?:SBATCH|PBS|BSUB)[ \t]+(?P<value>-.*)")
_ENTRY: Final = re.compile(r"[+\s]*(?:-[ \t]+)*(?:(?P<name>[\"']?[\w./-]{1,80}[\"']?)[ \t]*:[ \t]+)?(?P<value>\S.*)")
_ELSEWHERE: Final = re.compile(
    r"[ \t]*(?:\$[ \t]+)?(?:sudo[ \t]+)?"
    r"(?:ssh|scp|rsync|ray[ \t]+start|git[ \t]+clone|hf[ \t]+download|huggingface-cli|modelscope)[ \t]+(?P<value>\S.*)"
)
"""Commands that go to other machines, or get what the server needs."""
_LIST: Final = re.compile(
    r"[ \t]*(?P<name>\w*(?:ADDR|IP|HOST|NODE)(?:ESSE)?S?(?:_\w+)?)=\([ \t]*(?:#.*)?", re.IGNORECASE
)
_REMARK: Final = re.compile(r"[ \t]*(?:#.*)?")
_COMMENT: Final = re.compile(r"(?:^|[ \t])#(?=[^\"']*$).*")
_FAILS_WITH: Final = re.compile(r"\$\{\w+:?\?[^}]*\}?")
_DEFAULT: Final = re.compile(r"\$\{\w+:?[-=]")
_TALK: Final = re.compile(
    r"\b(?:echo|printf?|usage|logger?|die|mktemp|description|summary)\b|\bhelp[ ]?=|\$0", re.IGNORECASE
)
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_NAMES: Final = re.compile(r"[\"']?(?:name|key)[\"']?", re.IGNORECASE)
_OF_PYTHON: Final = re.compile(r"(?:import|from [\w.]+ import|def \w+\() ?\w*")
_ENV_FILE: Final = re.compile(r"(?:^|[./_-])env(?:\.\w+)?$")
_TOKEN: Final = re.compile(r"(?:[^\s\"'`,;\[\](){}\\]|\\(?![\"']))*")


def stand_in_remarks(commands: Sequence[Command], script: Script, models: Sequence[str] = ()) -> Iterator[Remark]:
    """One note for all of a deployment. `models` is what each of its commands calls the model."""
    if _in_docstring(commands, script):
        return
    script.budget.work(20 + sum(len(command.words) + len(command.env) for command in commands), "its engine commands")
    lines: dict[str, list[int]] = {}
    shown: dict[str, str] = {}
    places: dict[str, tuple[int | None, int | None]] = {}
    for number, command in enumerate(commands):
        model = models[number] if number < len(models) else ""
        for at, text in _of_arguments(command, model):
            places.setdefault(text, (number, at))
            lines.setdefault(text, []).append(command.argv[at].line)
        for image in (wrapper.image for wrapper in command.wrappers if wrapper.image is not None):
            if _NO_IMAGE.fullmatch(image.text) and not image.unresolved:
                lines.setdefault(image.text, []).append(image.line)
        in_manifest = any(low <= command.line <= high for low, high in script.objects)  # whose lines are read below
        wrappers = () if in_manifest else command.wrappers
        around = (word for wrapper in wrappers for option in wrapper.options for word in option.words)
        for word in (*command.prefix, *around):
            name = word.text.partition("=")[0]
            for text in placeholders_in(word.text):
                key = f"{name}={text}" if _VARIABLE.fullmatch(name) else text
                lines.setdefault(key, []).append(word.line)
    serves = is_server(commands[0].program)
    of_lines = (each for each in _of_lines(commands, script) if not (serves and CLIENT_KEYS.fullmatch(each[1])))
    for line, name, text in islice(of_lines, _MOST):
        written = f"{name}={text}" if name else text
        key = written if _is_bare(text) else text
        shown.setdefault(key, text if key in lines else written)
        lines.setdefault(key, []).append(line)
    _add_variables(commands, script, lines)
    if not lines:
        return
    named = [
        f"{shortened(shown.get(text, text), 60)}{_at(script, where)}" for text, where in islice(lines.items(), _SHOWN)
    ]
    more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    message = f"to be filled in: {', '.join(named)}{more}"
    first = next(iter(places), next(iter(lines)))
    owner, place = places.get(first, (None, None))
    where = shortened(shown.get(first, first), 40)
    remark = make_remark(Severity.NOTE, Code.INVALID_VALUE, where, message, "replace them before the start", at=place)
    yield replace(remark, command=owner)


def takes_either(command: Command) -> bool:
    """Whether a value is still to be chosen, `0/1`, and nothing marks it as a place to fill in."""
    words = (*command.argv, *command.env.values())
    return any(_EITHER_WHOLE.fullmatch(word.text.rpartition("=")[2].strip("'\"")) is not None for word in words)


def _in_docstring(commands: Sequence[Command], script: Script) -> bool:
    """Whether the commands are an example in the documentation of a program."""
    first = min(command.line for command in commands)
    _, at = script.place(first)
    if not any(_OF_PYTHON.match(line) for line in script.lines):
        return False
    return sum(line.count('"""') for line in script.lines[max(0, first - at) : first]) % 2 == 1


def _docstrings(script: Script) -> frozenset[int]:
    """Lines of a program that stand within the quotes of a text of several lines that tells what it does."""
    if not any(_OF_PYTHON.match(line) for line in script.lines):
        return frozenset()
    script.budget.once("docstrings", len(script.lines), "its placeholders")
    inside, told = False, set[int]()
    for number, line in enumerate(script.lines, 1):
        opens = line.lstrip().startswith(('"""', 'r"""'))
        if inside:
            told.add(number)
        if line.count('"""') % 2 and (inside or opens):
            inside = not inside
    return frozenset(told)


def placeholders_in(text: str) -> Iterator[str]:
    """The words of a text in which something has to be replaced, each as it is written."""
    text = _DEFAULT.sub(" ", _FAILS_WITH.sub("", text[:_LONGEST]))
    end = 0
    for match in _PLACEHOLDER.finditer(text):
        if match.start() < end or f"</{match.group()[1:]}" in text:
            continue  # the second is a mark in a model's answer, `<thinking>`, which another ends
        start = match.start()
        while start > end and (_TOKEN.fullmatch(text[start - 1]) and text[start - 1] not in "="):
            start -= 1
        behind = _TOKEN.match(text, match.end())
        end = behind.end() if behind else match.end()
        yield text[start:end]


def _of_arguments(command: Command, model: str) -> Iterator[tuple[int, str]]:
    """The place of each such argument, and how it is called. A word for an address may look like a value."""
    for at, word in enumerate(command.argv):
        if "@" in word.unresolved:
            continue  # what may stand there, in our own words
        option, _, value = word.text[:_LONGEST].rpartition("=")
        before = option or (command.argv[at - 1].text if at else "")
        if _NO_ADDRESS.fullmatch(value) and _OF_ADDRESS.fullmatch(before):
            yield at, f"{before} {value}"
            continue
        stand_ins = list(placeholders_in(word.text))
        if not stand_ins and model and word.text == model and model.casefold() in _MODEL:
            stand_ins = [model]
        for text in stand_ins:
            yield at, f"{before} {text}" if _is_bare(text) and before.startswith("-") else text


def _is_bare(text: str) -> bool:
    """Whether it says nothing without the name in front of it."""
    return re.fullmatch("x+", text, re.IGNORECASE) is not None


def _of_lines(commands: Sequence[Command], script: Script) -> Iterator[tuple[int, str, str]]:
    """The line, the variable and the text of assignments and directives above the commands, of the containers that
    they are typed in, and of their manifest."""
    first = min(command.line for command in commands)
    last = max((word.end_line for command in commands for word in command.words), default=first)
    if (span := next(((low, high) for low, high in script.objects if low <= first <= high), None)) is not None:
        yield from _of_manifest(span, script)
        return
    others = [command for command in script.commands if command.program not in ("other", "docker")]
    above = [word.end_line for command in others if command.line < first for word in command.words[-1:]]
    top = max((line for line in above if line < first), default=0)
    script.budget.work(max(0, last - top) + len(script.commands), "its placeholders")
    top = _behind_section(top, first, script) if top and script.markdown else top
    in_docstrings = _docstrings(script) if not script.markdown else frozenset()
    for line in range(top + 1, min(last, len(script.lines)) + 1):
        if line in in_docstrings:
            continue
        text = script.lines[line - 1][:_LONGEST]
        code = _COMMENT.sub("", text)
        given = _DIRECTIVE.match(text) or _ASSIGNED.match(code) or _OF_JSON.match(text) or _ELSEWHERE.match(code)
        if given is not None and not _TALK.search(text):
            name = given.groupdict().get("name", "")
            yield from ((line, name, stand_in) for stand_in in placeholders_in(given["value"]))
            if _UNFILLED.fullmatch(text):  # to systemd it is the shell of the user
                yield line, name, "%s"
    yield from _empty_lists(script, top + 1, first)
    yield from _of_env_files(script)
    for command in script.commands:
        if command.program == "docker" and top < command.line < first:
            yield from ((word.line, "", text) for word in command.words for text in placeholders_in(word.text))


def _behind_section(top: int, first: int, script: Script) -> int:
    """Where the block of the start above ends, if a heading parts the two: what stands in it below is of that start."""
    end = next((line for line in range(top + 1, first) if _FENCE.match(script.lines[line - 1])), 0)
    parted = end and any(_HEADING.match(script.lines[line - 1]) for line in range(end + 1, first))
    return end if parted else top


def _empty_lists(script: Script, top: int, end: int) -> Iterator[tuple[int, str, str]]:
    """Lists of machines with a remark inside and nothing else."""
    name, begins, remarks = "", 0, 0
    for line in range(top, end):
        text = script.lines[line - 1][:_LONGEST]
        if name and text.strip() == ")":
            known = re.compile(rf"\$\{{#?{name}\[")
            is_set = re.compile(rf"\b{name}(?:\+=|=\([^)#]*[^)#\s]|\[)|\b(?:mapfile|read|readarray)\b.*\b{name}\b")
            script.budget.work(len(script.lines), "its placeholders")
            others = [each[:_LONGEST] for each in script.lines]
            if remarks and any(map(known.search, others)) and not any(map(is_set.search, _without(known, others))):
                yield begins, "", f"{name}=()"
            name = ""
        elif name:
            remarks += bool(text.strip())
            name = name if _REMARK.fullmatch(text) else ""
        elif match := _LIST.fullmatch(text):
            name, begins, remarks = match["name"], line, "#" in text


def _without(pattern: re.Pattern[str], lines: Sequence[str]) -> Iterator[str]:
    return (pattern.sub("", line) for line in lines)


def _of_env_files(script: Script) -> Iterator[tuple[int, str, str]]:
    """Files of variables beside the others."""
    ends = [first for _, first in script.origins[1:]] + [len(script.lines) + 1]
    for (file, first), end in zip(script.origins, ends, strict=True) if script.origins else ():
        if not _ENV_FILE.search(file):
            continue
        script.budget.work(end - first, "its placeholders")
        for line in range(first, end):
            given = _ASSIGNED.match(_COMMENT.sub("", script.lines[line - 1][:_LONGEST]))
            if given is not None:
                name = given["name"]
                yield from ((line, name, stand_in) for stand_in in placeholders_in(given["value"]))


def _of_manifest(span: tuple[int, int], script: Script) -> Iterator[tuple[int, str, str]]:
    """The values of one object, and in a file of YAML those of objects that start no engine: claims, secrets."""
    inside = {line for low, high in script.objects if (low, high) != span for line in range(low, high + 1)}
    lines: Sequence[int] = range(span[0], span[1] + 1)
    if not script.markdown:
        name, _ = script.place(span[0])
        lines = [n for n in range(1, len(script.lines) + 1) if n not in inside and script.place(n)[0] == name]
    script.budget.work(len(lines), "its placeholders")
    for line in lines:
        text = _COMMENT.sub("", script.lines[line - 1][:_LONGEST])
        given = None if text.lstrip().startswith("#") else _ENTRY.match(text)
        if given is not None and not _TALK.search(text):
            is_name = _NAMES.fullmatch(given["name"] or "") is not None
            found = (text for text in placeholders_in(given["value"]) if not (is_name and _VARIABLE.fullmatch(text)))
            yield from ((line, "", text) for text in found)


def _add_variables(commands: Sequence[Command], script: Script, lines: dict[str, list[int]]) -> None:
    """Those of the environment whose placeholder stands nowhere else: out of another file, or a branch."""
    known = "\n".join(lines)
    for command in commands:
        for name, word in command.env.items():
            for text in placeholders_in(word.text.removeprefix(f"{name}=")):
                if text not in known:
                    lines.setdefault(f"{name}={text}", []).append(word.line)


def _at(script: Script, lines: Sequence[int]) -> str:
    numbers = sorted({line for line in lines if line > 0})
    if not numbers:
        return ""
    shown = ", ".join(str(script.place(line)[1]) for line in numbers[:3]) + (" …" if len(numbers) > 3 else "")
    name, _ = script.place(numbers[0])
    return f" ({name} line{'s' if len(numbers) > 1 else ''} {shown})".replace("( ", "(")

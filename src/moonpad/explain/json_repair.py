"""JSON behind an option that does not arrive as JSON: quotes that the shell takes away, blanks at which it splits, and
the spelling of Python and comments."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from moonpad.catalog.options import option_set
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.commands import Command, Script, Word
from moonpad.explain.json_text import without_foreign
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.brace_expansion import brace_words
from moonpad.explain.shell.wrappers import is_known
from moonpad.explain.started_releases import is_past_its_options
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LONGEST: Final = 4000
"""Characters of an object that is looked at."""
_MOST_WORDS: Final = 80
_OF_JSON: Final = ("-config", "-kwargs", "-overrides", "-override-args")
"""Ends of options that take an object, where they are not recorded as such, or as text that the engine reads later."""
_PROMPTS: Final = frozenset({"$", "#", "%", ">", "RUN", "CMD", "ENTRYPOINT"})
"""What stands before a command that a shell reads."""
_BEGINS: Final = re.compile(r"[\"'“”‘’]?\{(?![{%])")
_CURLY: Final = str.maketrans("“”„‘’", '"""\'\'')
_KEY: Final = re.compile(r"([{,]\s*)([\w.-]{1,80}):(?=\S)")
_CONTINUED: Final = re.compile(r"\\\s*\n")
_STAND_IN: Final = re.compile(
    r"(?:(?P<key>[\"'][\w.-]{1,80}[\"'])\s*:|[\[,])\s*"
    r"(?P<name><[^<>\"'{}\n]{1,60}>|\{\s*[A-Za-z_][\w.-]{0,60}\s*\})(?=\s*[,}\]])"
    r"|(?P<text>\"(?:[^\"\\]|\\.)*\")"
)
"""Something in the place of a value that a person has to fill in, or any other string of JSON."""
_TEXTUAL: Final = re.compile(
    r"(?:^|[_\s-])(?:name|path|dir|folder|file|model|method|type|dtype|host|ip|address|addr|url|role|connector|id)s?$",
    re.IGNORECASE,
)
"""The end of what such a value is called where no number is meant."""
_WHY: Final[Mapping[str, str]] = {
    "comment": "which allows no comment ({})",
    "comma": "which allows no comma before a closing bracket",
    "python": "{} is Python: JSON has true, false and null",
}
_EXPANDING: Final = frozenset({"bash -c", "zsh -c"})
_OF_UNIT: Final = re.compile(r"[ \t]*Exec\w+=")
_PLAIN_SHELL: Final = re.compile(r"#!\s*(?:/usr)?(?:/bin/(?:env )?)(?:da|a)?sh\b")
"""A shell that does not expand braces."""
_INTERPRETER: Final = re.compile(r"/python[\d.]*$")
_MARKS: Final = frozenset("&*!")
"""Marks of YAML that no such object has."""


class _Object(Struct, frozen=True):
    """The words `first` to `last` of the arguments are one object; `prefix` is `--option=` where it hangs on it."""

    first: int
    last: int
    option: str
    prefix: str
    text: str
    """As the program gets it, the words joined by blanks."""


class _Slip(Struct, frozen=True):
    """The object as it is meant, and what was wrong with it."""

    value: str
    message: str
    remedy: str = ""
    severity: Severity = Severity.ERROR


def with_json(command: Command, script: Script) -> tuple[Command, tuple[Remark, ...]]:
    """The command with such objects as they are meant, and an error for each of them. What a program has printed holds
    the words as it got them: there, what is JSON in the text was JSON."""
    script.budget.work(2 * len(command.argv), "its quotes and dashes")
    is_printed = was_printed(command)
    expands = _expands_braces(command, script)
    argv: list[Word] = []
    remarks: list[Remark] = []
    at = 0
    for item in _objects(command):
        script.budget.work(50 + len(item.text), "its quotes and dashes")
        source = _source(command.argv[item.first], command.argv[item.last], script)
        slip = None if _lacks_values_alone(item) else _with_stand_ins(item) or _meant(item, source, expands=expands)
        if (
            slip is not None
            and item.last > item.first
            and _are_quoted(command.argv[item.first : item.last + 1], script)
        ):
            message = "the object stands in several words, of which the engine takes the first alone"
            slip = replace(slip, message=f"{message}: {shortened(item.text, 50)}", remedy="write it as one word")
        if slip is None:
            continue
        argv += command.argv[at : item.first]
        first, last = command.argv[item.first], command.argv[item.last]
        text = f"{item.prefix}{slip.value}"
        word = replace(first, text=text, end_line=last.end_line, end_column=last.end_column)
        place = len(argv) if item.prefix else len(argv) - 1
        remedy = slip.remedy or f"write '{shortened(slip.value)}'"
        severity, message = slip.severity, slip.message
        if severity is Severity.ERROR and is_past_its_options(command, script):
            severity, message = Severity.NOTE, f"{message}; the log shows that it was read: the text lost its quotes"
        remark = make_remark(severity, Code.INVALID_VALUE, item.option, message, remedy, at=place)
        if not is_printed or as_json(source.removeprefix(item.prefix)) is None:
            remarks.append(replace(remark, read_as_meant=True))
        argv.append(word)
        at = item.last + 1
    return replace(command, argv=(*argv, *command.argv[at:])) if at else command, tuple(remarks)


def _expands_braces(command: Command, script: Script) -> bool:
    """Whether a shell reads it that makes words of braces: `sh` of Debian's images does not, nor does a manifest, a
    unit or Windows."""
    shells = [wrapper.kind for wrapper in command.wrappers if wrapper.kind.endswith(" -c")]
    if shells:
        return shells[-1] in _EXPANDING
    line = script.lines[command.line - 1] if 0 < command.line <= len(script.lines) else ""
    of_unit = _OF_UNIT.match(line) is not None or any(word.text.endswith(".exe") for word in command.prefix)
    of_file = command.container is not None and not command.container.words
    return not (of_unit or of_file or any(_PLAIN_SHELL.match(first) for first in script.lines[:1]))


def was_printed(command: Command) -> bool:
    """Whether words of a sentence or a log stand before the command on its line, or it is as a list of processes shows
    it: `/usr/bin/python3 /usr/local/bin/vllm serve`, which no person types."""
    paths = [word.text for word in command.prefix[:2]]
    if len(paths) == 2 and all(path.startswith("/") for path in paths) and _INTERPRETER.search(paths[0]):
        return True
    return not all(wrapper.kind in _PROMPTS or is_known(wrapper) for wrapper in command.wrappers)


def _objects(command: Command) -> Iterator[_Object]:
    options = option_set(command.program)
    at = 0 if options is not None else len(command.argv)
    while at < len(command.argv):
        text = command.argv[at].text
        option, equals, value = text.partition("=") if text.startswith("-") else ("", "", text)
        if not equals and at and text[:1] not in ("", "-"):
            option = command.argv[at - 1].text
        known = options.named(option.replace("_", "-")) if options and option else None
        by_name = option.endswith(_OF_JSON) and (known is None or known.kind == "text")
        takes_json = by_name or (known is not None and known.kind == "json")
        at += 1
        if not takes_json or not _BEGINS.match(value):
            continue
        words = [value]
        while sum(map(_open, words)) > 0 and at < len(command.argv) and len(words) < _MOST_WORDS:
            if command.argv[at].text.startswith("--"):
                break
            words.append(command.argv[at].text)
            at += 1
        joined = " ".join(words)
        whole = sum(map(_open, words)) == 0 and joined.rstrip("\"'“”‘’").endswith("}") and len(joined) < _LONGEST
        if whole and not unresolved(_filled(joined)) and (len(words) > 1 or as_json(joined) is None):
            first = at - len(words)
            yield _Object(first, at - 1, option, f"{option}=" if equals else "", joined)


def _open(text: str) -> int:
    return text.count("{") - text.count("}")


def _source(first: Word, last: Word, script: Script) -> str:
    """What was written for these words; "" where it stands elsewhere."""
    if not 0 < first.line <= last.end_line <= len(script.lines) or last.end_line - first.line > _MOST_WORDS:
        return ""
    lines = [line[:_LONGEST] for line in script.lines[first.line - 1 : last.end_line]]
    lines[-1] = lines[-1][: last.end_column]
    lines[0] = lines[0][first.column :]
    return _CONTINUED.sub("\n", "\n".join(lines))


def _are_quoted(words: Sequence[Word], script: Script) -> bool:
    """Whether each is a string of its own, as in a list of YAML, JSON or Python, in which nothing splits words."""
    sources = [_source(word, word, script).strip() for word in words]
    return len(sources) > 1 and all(len(each) > 1 and each[0] in "'\"" and each[-1] == each[0] for each in sources)


def _filled(text: str) -> str:
    """With a number in each place that a person has to fill in."""
    return _STAND_IN.sub(lambda match: match[0] if match["text"] else match[0].replace(match["name"], "0"), text)


def _lacks_values_alone(item: _Object) -> bool:
    """Whether it is JSON as soon as numbers stand in all the places that a person has to fill in."""
    found = [match for match in _STAND_IN.finditer(item.text) if match["text"] is None]
    return bool(found) and not any(map(_is_textual, found)) and as_json(_filled(item.text)) is not None


def _with_stand_ins(item: _Object) -> _Slip | None:
    """What is wrong with an object whose values a person has to fill in, when that is done; None where nothing is, or
    where there is no such value. They are strings in what is returned, to be filled in still."""
    found = [match for match in _STAND_IN.finditer(item.text) if match["text"] is None]
    if not found:
        return None
    names = [match["name"] for match in found]
    kept = _STAND_IN.sub(
        lambda match: match[0] if match["text"] else match[0].replace(match["name"], f'"<{_inside(match["name"])}>"'),
        item.text,
    )
    if as_json(kept) is not None:
        textual = [match["name"] for match in found if _is_textual(match)]
        if not textual:
            return None
        message = f"{textual[0]} stands without quotes: a text in its place is not JSON"
        return _Slip(kept, message, f'write "{textual[0]}" with its quotes', Severity.WARNING)
    value = _parsed(kept.translate(_CURLY).strip("'"))
    if value is None:
        return None
    why = "it wants double quotes, and no comma at the end"
    message = f"not JSON, even with a value for {', '.join(names[:3])}: {why}"
    return _Slip(_dumped(value), message, f"write '{shortened(_dumped(value))}', and fill in {names[0]}")


def _inside(name: str) -> str:
    return name[1:-1].strip()


def _is_textual(match: re.Match[str]) -> bool:
    """Whether the key, or the words of the placeholder, mean a text."""
    key = (match["key"] or "").strip("\"'")
    return bool(_TEXTUAL.search(key) or (not key and _TEXTUAL.search(_inside(match["name"]))))


def _meant(item: _Object, source: str, *, expands: bool) -> _Slip | None:
    """None where nothing can be made of it. `expands`: braces without quotes become words."""
    written = source.partition("=")[2] if item.prefix else source
    written = written.translate(_CURLY).strip()
    bare = written[1:-1] if written[:1] == written[-1:] and written[:1] in ("'", '"') else written
    shown = shortened(item.text, 50)
    if (split := as_json(item.text)) is not None:
        return _Slip(_dumped(split), f"without quotes the shell splits this object at its blanks: {shown}")
    typographic = item.text != item.text.translate(_CURLY)
    if (found := _parsed(bare)) is not None and not typographic and _quotes(bare) and not _quotes(item.text):
        words = brace_words(written) if bare == written and expands else (written,)
        return _Slip(_dumped(found), f"the shell takes its quotes away{_left(words, item)}")
    meant = item.text.translate(_CURLY).strip("'")
    mended, foreign = without_foreign(meant)
    if foreign and isinstance(whole := as_json(mended), dict):
        why = _WHY[foreign[0].kind].format(shortened(foreign[0].text, 30))
        return _Slip(_dumped(whole), f"not JSON, {why}: {shown}")
    joined = _CONTINUED.sub(" ", meant)
    if joined != meant and isinstance(whole := as_json(joined), dict):
        why = "a backslash at the end of a line stays in it between single quotes"
        return _Slip(_dumped(whole), f"not JSON, {why}: {shown}", "leave the backslashes in the quotes out")
    if (found := _parsed(meant)) is not None:
        why = "these are no quotes to a shell" if typographic else "it wants double quotes, and no comma at the end"
        return _Slip(_dumped(found), f"not JSON, {why}: {shown}")
    return None


def _left(words: Sequence[str], item: _Object) -> str:
    """What arrives of it, in place of JSON. `words`: what the shell makes of its braces."""
    if len(words) == 1:
        return f", and what is left is not JSON: {shortened(item.text, 50)}"
    last, rest = shortened(f"{item.prefix}{words[-1]}", 60), shortened(", ".join(words[1:]), 60)
    if item.prefix:
        return f", and bash makes {len(words)} options of it at its commas, of which the last counts: {last}"
    first = f"{item.option} gets {shortened(words[0], 40)}"
    return f", and bash makes {len(words)} words of it at its commas: unrecognized arguments {rest} ({first})"


def _quotes(text: str) -> bool:
    return '"' in text or "'" in text


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _parsed(text: str) -> Mapping[str, object] | None:
    """The object of JSON, of Python's literals, or of words without quotes."""
    text = text.strip()
    if not text.startswith("{"):
        return None
    for read in (as_json, _of_python, _of_words):
        value = read(text)
        if isinstance(value, dict) and value and all(isinstance(key, str) for key in value):
            return value
    return None


def _of_python(text: str) -> object | None:
    try:
        value: object = ast.literal_eval(text)
        json.dumps(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value


def _of_words(text: str) -> object | None:
    """`{method: eagle3, tokens: 3}`, which YAML reads as it is meant."""
    if _MARKS & set(text) or text.count("{") + text.count("[") > _MOST_WORDS:
        return None
    import yaml  # it takes its time to load

    try:
        value: object = yaml.safe_load(_KEY.sub(r"\1\2: ", text))
        json.dumps(value)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return None
    complete = isinstance(value, dict) and None not in value.values()
    return value if complete else None

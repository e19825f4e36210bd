"""YAML that is not whole: merge marks, templates of Helm, tabs, lines that are cut off. What can be read is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from yaml import MappingNode, MarkedYAMLError, Node, ScalarNode

from moonpad.engines.log_lines import logged_lines
from moonpad.explain.manifests.yaml_source import YamlSource
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.template_defaults import with_defaults

_LEFT_OUT: Final = 20
"""Lines that are left out before the text is no YAML."""
_TEMPLATE_LINE: Final = re.compile(
    r"^[ \t]*(?:-[ \t]*(?=\{\{-?[ \t]*"
    r"(?:if|else|end|range|with|toYaml|include(?![^\n]*\|[ \t]*s?quote[ \t]*-?\}\}))\b))?\{\{.*\}\}[ \t]*$",
    re.MULTILINE,
)
"""Nothing but templates, which are no values: an item `- {{ .Values.model }}` is one, and so is one in quotes,
`- {{ include "chart.model" . | quote }}`."""
_TEMPLATE: Final = re.compile(r"\{\{-?(.{0,300}?)-?\}\}|\{%.{0,300}?%\}")
_VALUE: Final = re.compile(r"\{\{-?([ \t]*[.$A-Za-z_][^{}\n]{0,200}?)-?\}\}")
"""`{{ tp }}` of Ansible, `{{ .Values.tp }}` of Helm in quotes."""
_FOLDED: Final = re.compile(
    r"(?P<first>\{\{-?(?P<name>[^{}\n\\]{0,200}))\n(?P<blank>[ \t]{1,60})(?P<last>(?P<more>[^{}\n\\]{0,200}?)-?\}\})"
)
"""A template in the middle of which a long text in double quotes goes on in the next line."""
_ESCAPED: Final = "\\n"
_NEAR: Final = 300
_CLOSING: Final = re.compile(r"(?<=[a-z0-9])\{\{-?[ \t]*(?:end|else)[ \t]*-?\}\}")
_COMMENT: Final = re.compile(r"\{\{-?[ \t\n]*/\*.{0,5000}?\*/[ \t\n]*-?\}\}", re.DOTALL)
_BELOW: Final = re.compile(
    r"(?<=:)[ \t]*\{\{-?[^{}\n]{0,300}\|[ \t]*nindent[ \t]+\d{1,2}[ \t]*-?\}\}[ \t]*$", re.MULTILINE
)
"""Behind a key what begins in the next line, beside keys that may stand there."""
_OTHER_BRANCH: Final = re.compile(
    r"(?P<goes_on>\\)?[ \t]*\{\{-?[ \t]*else\b[^{}\n]{0,200}\}\}"
    r"(?:[^{}\n]{0,300}\{\{-?[ \t]*end[ \t]*-?\}\}|[^{}\n]{1,300}$)",
    re.MULTILINE,
)
"""What stands behind an `{{ else }}` in its line, up to its end: the first of the two is read."""
_ABOVE: Final = 2000
_BLOCK: Final = re.compile(r"(?:^|[ \t])[|>][+-]?\d?[ \t]*$")
_OPTION: Final = re.compile(r"(?:^|[\s}])--?[a-z][a-z0-9_-]*\Z", re.IGNORECASE)
_WITH_VALUE: Final = re.compile(r"([ ]*)[\w.-]+:[ ]+[^\s#&|>{\[]")
_KEY: Final = re.compile(r"([ ]*)[\w.-]+:[ ]*(?:#.*)?$")
_FIRST: Final = re.compile(r"[A-Za-z]\w*:[ ]*")
_ITEM: Final = re.compile(r"([ ]+)- ")
_OF_SHELL: Final = re.compile(r"(?<=[ \t:\[,])\$\{(\w+)\}(?=[ \t]*[,}\]])")
"""`{ path: /health, port: ${PORT} }` of a manifest that a shell writes, which fills it in before it is YAML."""
_BEFORE: Final = 80
_TABS: Final = re.compile(r"^[ ]*\t[ \t]*", re.MULTILINE)


def readable(state: ScriptState, start: int, text: str, *, surely: bool) -> tuple[YamlSource | None, Sequence[Node]]:
    """The source with what is no YAML blanked, each a problem, and its documents; None where it is no YAML.

    `surely` says that the text is meant as YAML: then even a text with many mistakes is read as far as it goes.
    """
    text = with_defaults(text, " ")
    source = YamlSource(state.text, start, text)
    try:
        documents = source.documents()
    except MarkedYAMLError as error:
        first = source.line(error)
    else:
        return _with_templates(state, start, text) or (source, documents)
    if start and _OF_SHELL.search(text):
        text = _OF_SHELL.sub(r"$\1  ", text)
    mended = _without_marks(_led_in(text), start, state)
    tries = _LEFT_OUT if surely or mended != text else 3
    left_out: list[int] = []
    for _ in range(tries):
        source = YamlSource(state.text, start, mended)
        try:
            documents = source.documents()
        except MarkedYAMLError as error:
            at = _line_to_leave_out(mended, error)
            if at is None:
                break
            left_out.append(at)
            lines = mended.split("\n")
            lines[at] = " " * len(lines[at])
            mended = "\n".join(lines)
        else:
            if not surely and (mended == text or all(map(_is_sentence, documents))):
                return None, ()
            _say(state, start, text, left_out)
            source.mended = True
            source.unknown = _remembered(_TEMPLATE.finditer(text), state)
            return source, documents
    if surely:
        offset = sum(len(line) + 1 for line in state.text.lines[: first - 1])
        state.problems.add("yaml", offset, offset + 1, "this is not YAML, so the file was read as lines of a shell")
    return None, ()


def _is_sentence(document: Node) -> bool:
    """`Specs: two cards`, with more lines below that are moved in: one key, and a plain text over several lines."""
    if not isinstance(document, MappingNode) or len(document.value) != 1:
        return False
    value = document.value[0][1]
    plain = isinstance(value, ScalarNode) and not value.style
    return plain and value.start_mark.line < value.end_mark.line


def _with_templates(state: ScriptState, start: int, text: str) -> tuple[YamlSource, Sequence[Node]] | None:
    """With names for what templates fill in, where they stand in values of YAML that is whole; None without any."""
    unfolded, folded_names = _unfolded(text)
    names = _remembered(_VALUE.finditer(unfolded), state) | folded_names.keys()
    state.text.stand_ins.update(folded_names)
    if not names:
        return None
    source = YamlSource(state.text, start, _VALUE.sub(_as_variable, _without_closings(unfolded)))
    source.unknown = names
    try:
        return source, source.documents()
    except MarkedYAMLError:
        return None


def _remembered(templates: Iterable[re.Match[str]], state: ScriptState) -> frozenset[str]:
    """The names that stand for them. What was written is shown in their place."""
    written = {_as_variable(match)[1:]: match.group() for match in templates}
    state.text.stand_ins.update(written)
    return frozenset(written)


def _without_marks(text: str, start: int, state: ScriptState) -> str:
    """With the first side of each conflict, names for what a template fills in, and blanks for tabs."""
    text = _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment.group()), _without_conflicts(text, start, state))
    text = _BELOW.sub(lambda filled: " " * len(filled.group()), text)
    text = _TEMPLATE_LINE.sub(_as_blanks, _OTHER_BRANCH.sub(_as_one_branch, text))
    text = _TEMPLATE.sub(_as_variable, _without_closings(text))
    return _TABS.sub(lambda tabs: tabs.group().replace("\t", " "), text)


def _as_blanks(line: re.Match[str]) -> str:
    """Of a line of templates. In the middle of a command that goes on with backslashes it goes on as well, and as the
    first line of a text it is a comment: blanks alone would say how far the text is moved in."""
    whole = line.group()
    blank, before = " " * len(whole), line.string[max(0, line.start() - _ABOVE) : line.start()].split("\n")
    above = next((each for each in reversed(before[:-1]) if each.strip() and not _TEMPLATE_LINE.match(each)), "")
    if blank and above.rstrip().endswith("\\"):
        return f"{blank[1:]}\\"
    if _BLOCK.search(above):
        indent = len(whole) - len(whole.lstrip())
        return f"{blank[:indent]}#{blank[indent + 1 :]}"
    return blank


def _as_one_branch(branch: re.Match[str]) -> str:
    blank = " " * len(branch.group())
    return f"{blank[1:]}\\" if branch["goes_on"] else blank


def _led_in(text: str) -> str:
    """Of a piece that begins with a key of a list (`containers:`) and lost the blanks before it: the keys beside it
    where they then stand. Each line keeps its length."""
    lines = text.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")]
    if len(filled) < 2 or not _FIRST.fullmatch(lines[filled[0]]) or not (item := _ITEM.match(lines[filled[1]])):
        return text
    inner, beside = len(item[1]), False
    for number in filled[1:]:
        line = lines[number]
        indent = len(line) - len(line.lstrip(" "))
        beside = (beside and indent >= inner) or (indent == inner and not line.lstrip().startswith("-"))
        if indent == inner and beside and line.lstrip().startswith("-"):
            return text
        if beside:
            lines[number] = line[inner:] + " " * inner
    return "\n".join(lines)


def _without_conflicts(text: str, start: int, state: ScriptState) -> str:
    """With the first side of each conflict."""
    if "<<<<<<<" not in text:
        return text
    lines, side, offset = text.split("\n"), "", start
    for number, line in enumerate(lines):
        mark = line[:7]
        if mark == "<<<<<<<" and not side:
            side = "ours"
            message = "the mark of a merge conflict: the first of its two sides was read"
            state.problems.add("merge-conflict", offset, offset + 7, message, "keep one of them")
        elif side and mark in ("|||||||", "======="):
            side = "theirs"
        elif side and mark == ">>>>>>>":
            side, lines[number] = "", " " * len(line)
        if side == "theirs" or (side and mark == "<<<<<<<"):
            lines[number] = " " * len(line)
        offset += len(line) + 1
    return "\n".join(lines)


def _unfolded(text: str) -> tuple[str, dict[str, str]]:
    """With a variable over the end of the line for each template that is folded, and the templates by the names of
    those variables."""
    names: dict[str, str] = {}

    def joined(match: re.Match[str]) -> str:
        if _ESCAPED not in text[max(0, match.start() - _NEAR) : match.end() + _NEAR]:
            return match.group()
        here = len(match["first"]) - 1
        length = here + len(match["last"]) - 1
        name = _name(f"{match['name']} {match['more']}")[:length].ljust(length, "_")
        names[name] = f"{{{{ {match['name'].strip()} {match['more'].strip()} }}}}"
        whole = f"${name}"
        return f"{whole[:here]}\\\n{match['blank']}{whole[here:]}"

    return _FOLDED.sub(joined, text), names


def _without_closings(text: str) -> str:
    """With blanks for an `{{- end }}` that stands right behind an option, which is whole without it."""

    def blank(mark: re.Match[str]) -> str:
        before = text[max(0, mark.start() - _BEFORE) : mark.start()]
        return " " * len(mark.group()) if _OPTION.search(before) else mark.group()

    return _CLOSING.sub(blank, text)


def _as_variable(template: re.Match[str]) -> str:
    """`{{ .Values.model }}` as a variable of the same length, whose value is not known."""
    name = _name(template[1] or "")
    length = len(template.group()) - 1
    return f"${name[:length].ljust(length, '_')}"


def _name(template: str) -> str:
    return re.sub(r"\W+", "_", template.strip()).strip("_") or "template"


def _line_to_leave_out(text: str, error: MarkedYAMLError) -> int | None:
    """A line that is not blank: where a key began that has no colon, else where the parser stopped, or above."""
    lines = text.split("\n")
    marks = [mark.line for mark in (error.context_mark, error.problem_mark) if mark is not None]
    if marks and (scalar := _scalar_with_keys(lines, marks[-1])) is not None:
        return scalar
    if "simple key" not in (error.context or "") and "scalar" not in (error.context or ""):
        marks.reverse()
    for mark in marks:
        for at in range(min(mark, len(lines) - 1), -1, -1):
            if lines[at].strip():
                return at
    return None


def _scalar_with_keys(lines: Sequence[str], at: int) -> int | None:
    """Where a key has a value of its own and the key at this line is moved in: `version: "3"`, `  services:`."""
    above = next((number for number in range(min(at, len(lines)) - 1, -1, -1) if lines[number].strip()), None)
    if above is None or at >= len(lines):
        return None
    value, key = _WITH_VALUE.match(lines[above]), _KEY.match(lines[at])
    return above if value and key and len(value[1]) < len(key[1]) else None


def _say(state: ScriptState, start: int, text: str, left_out: Sequence[int]) -> None:
    """What was left out; of a log that stands among it nothing is said."""
    offsets, lines = [0], text.split("\n")
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    logged = logged_lines(lines) if left_out else set()
    for at in (each for each in left_out if each not in logged):
        message, remedy = "this line is not YAML: it was left out", "mend it"
        if (key := _key_below_scalar(lines, at)) is not None:
            value = lines[at].partition(":")[0].strip()
            message = (
                f"this key is moved in below {value}:, which has a value of its own: YAML's readers refuse the file"
            )
            remedy, at = f"begin it in the column of {value}:, and what is below it as well", key
        end = max(offsets[at] + 1, offsets[at + 1] - 1)
        state.problems.add("yaml", start + offsets[at], start + end, message, remedy)


def _key_below_scalar(lines: Sequence[str], at: int) -> int | None:
    """The line with the key that is moved in below one with a value."""
    below = next((number for number in range(at + 1, len(lines)) if lines[number].strip()), None)
    return below if below is not None and _scalar_with_keys(lines, below) == at else None

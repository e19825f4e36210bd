"""Words and operators of bash, each with its place in the text.

Nothing is expanded here: a word is a row of segments, literal ones and those that name a variable or a command.
Where people copy a command wrongly (`\\ ` with a space behind it, a comment in the middle of a command, a line whose
backslash is missing) the lexer reads what was meant, and reports a problem.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Final, Literal

from moonpad.engines.start_names import SERVER_ALONE
from moonpad.explain.input_limits import FAILURES, NESTING, too_deep
from moonpad.explain.shell.ansi_c import unescaped
from moonpad.explain.shell.commented_lines import below_folded, end_of_comments
from moonpad.explain.shell.joined_blocks import next_option_of_block
from moonpad.explain.shell.nested_quotes import behind_closer
from moonpad.explain.shell.places_to_fill import PLACEHOLDER, PLACEHOLDER_OF_SPHINX
from moonpad.explain.shell.stray_quotes import is_stray, line_end
from moonpad.explain.shell.tokens import Array, Here, LiteralText, Opaque, Segment, Token, Variable, substituted
from moonpad.explain.source_text import IGNORED, Problems, Source

_Mode = Literal["word", "double", "here", "operand", "quoted operand"]
_PLAIN: Final[Mapping[_Mode, re.Pattern[str]]] = {
    "word": re.compile(r"""[^ \t\n;&|()<>\\'"$`\0]+"""),
    "double": re.compile(r'[^"\\$`\0]+'),
    "here": re.compile(r"[^\\$`\0]+"),
    "operand": re.compile(r"""[^\\'"$`\0]+"""),
    "quoted operand": re.compile(r'[^"\\$`\0]+'),
}
_ESCAPABLE: Final[Mapping[_Mode, str]] = {"double": '$`"\\', "here": "$`\\", "quoted operand": '$`"\\}'}
_BLANK: Final = re.compile(r"[ \t\0]+")
_BLANK_OR_CONTINUED: Final = re.compile(r"(?:[ \t\0]|\\\n)*")
_OPERATOR: Final = re.compile(r";;&|;;|;&|&&|\|\||\|&|[;&|()]")
_REDIRECT: Final = re.compile(
    r"(?:\d{1,9})?(?:<<<|<<-|<<|<>|<&|>>|>&|>\|)|\d{1,9}[<>]|[<>](?!\()|&>>|&>",
)
_LINE: Final = re.compile(r"(?=.|\n)([^\n]*)\n?")
_BETWEEN_ELEMENTS: Final = re.compile(r"[ \t\n\0;&|<>(]+|#[^\n]*")
_PARAMETER: Final = re.compile(r"([A-Za-z_]\w*|\d+|[@*#?$!-])(?:\[([^\]\n]{0,99})\])?(?:\}|(:?[-=+?]))", re.ASCII)
_SHORT_PARAMETER: Final = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]", re.ASCII)
_OF_PATTERN: Final = re.compile(r"[\"'=]\^[^\"'\n]*$|\b(?:[efp]?grep|sed|g?awk)\b[^|;\n]*$")
_ARRAY_NAME: Final = re.compile(r"[A-Za-z_]\w*\+?=\Z", re.ASCII)
_SUPERVISED: Final = re.compile(r"\([A-Za-z_]\w*\)[sd]", re.ASCII)  # `%(ENV_MODEL)s` of supervisord
_BROKEN_CONTINUATION: Final = re.compile(r"\\[ \t\0]+(?:(?=\n)|(#)[^\n]*)")
_DOUBLED_CONTINUATION: Final = re.compile(r"\\{2,9}[ \t\0]*(?=\n[ \t\0]*--?[A-Za-z])")
_FLAG_FOLLOWS: Final = re.compile(
    r"(?<!:)\n(?:[ \t]{8,200}\n){0,3}[ \t\0]*-(?![rwxst-]{9}[.+@]?[ ]+\d)(?P<long>-?)[A-Za-z]"
    r"(?![\w-]*[=.]?\*?(?:[ \t]*\|[ \t]*-[\w-]*[=.]?\*?){0,9}[ \t]*(?:\)|\|[ \t]*\\?\n))"
)
"""No `--port)` and no `--port|--port=*|\\`, which are patterns of `case`. Lines of blanks between the two were
templates, `{{- end }}`. A line that ends with a colon is a heading, and `-rw-r--r-- 1` is what `ls -l` prints."""
_LONGEST_LINE: Final = 2000
_FLAG_LINE: Final = re.compile(r"[ \t\0]*--?[A-Za-z]")
_QUOTED: Final = {"'": re.compile(r"([^']*)'"), "$'": re.compile(r"([^'\\]*(?:\\.[^'\\]*)*)'", re.S)}


class Lexer:
    """Reads one source. Raises UsageError when quotes and substitutions are nested too deep.

    `substitutions` reads `|name|` as a placeholder, as Sphinx does; `indent` is that of the block in its document.
    """

    def __init__(self, source: Source, problems: Problems, *, substitutions: bool = False, indent: int = 0) -> None:
        self.source, self.text, self.problems, self.indent = source, source.text, problems, indent
        self.work = partial(source.whole.budget.work, what="its words")
        self.placeholder = PLACEHOLDER_OF_SPHINX if substitutions else PLACEHOLDER
        self.at = 0
        self.failures = 0
        self.read: list[Token] = []
        self.waiting: list[Token] = []
        """Redirects of heredocs whose bodies begin on the next line."""

    def tokens(self) -> list[Token]:
        text, end, continued = self.text, len(self.text), False
        while self.at < end:
            self.work(3)
            start = self.at
            if blank := _BLANK.match(text, start):
                self.at = blank.end()
                continue
            if self._continuation():
                continued = True
                continue
            if text[start] == "\n":
                self._newline()
            elif text[start] == "#":
                self._comment(continued)
            elif self.placeholder.match(text, start):
                self.read.append(self._word(end, 0))
            elif redirect := _REDIRECT.match(text, start):
                self._redirect(redirect)
            elif operator := _OPERATOR.match(text, start):
                self.at = operator.end()
                self.read.append(Token("op", operator.group(), start, self.at))
            else:
                self.read.append(self._word(end, 0))
            continued = False
        self._bodies()
        return self.read

    # --- where lines end ---

    def _continuation(self) -> bool:
        """Steps over a backslash that continues the line, or one that was meant to."""
        start = self.at
        if self.text[start : start + 2] in ("\\\n", "\\"):
            self.at = start + 2
        elif match := _BROKEN_CONTINUATION.match(self.text, start):
            what, remedy = "space", "remove the space"
            if match[1]:
                what, remedy = "comment", "put the comment above the command"
            message = f"a {what} follows this backslash, so the shell ends the command here"
            if match[0][2:3] == "#":
                message = "behind a backslash and one blank # begins an argument: the command ends with this line"
            self._problem(f"{what}-after-backslash", start, match.end(), message, remedy)
            self.at = match.end() + 1
        elif match := _DOUBLED_CONTINUATION.match(self.text, start):
            message = "of two backslashes the shell makes one that is an argument, and ends the command here"
            self._problem("doubled-backslash", start, match.end(), message, "end the line with one backslash")
            self.at = match.end() + 1
        else:
            return False
        return True

    def _newline(self) -> None:
        start = self.at
        self.at += 1
        # Whether a command stands on the line that ends here, a comment behind it or not.
        before = [token.kind for token in self.read[-2:] if token.kind != "comment" or token.own_line]
        in_command = before[-1:] == ["word"] and not self.waiting
        if in_command and (behind := next_option_of_block(self.source, start)) is not None:
            self.at = behind
            return
        match = _FLAG_FOLLOWS.match(self.text, start) if in_command else None
        if match is not None and (match["long"] or self._is_flag_line(start)):
            self.at = self.text.rindex("\n", start, match.end()) + 1
            message = "this line does not end with a backslash, so the shell does not pass the flags below"
            self._problem("missing-backslash", start - 1, start, message, "end the line with a backslash")
            return
        self.read.append(Token("newline", "\n", start, self.at))
        self._bodies()

    def _is_flag_line(self, end: int) -> bool:
        """Whether the line that ends there is one of flags, or of a server alone: `-fa` below it is a flag too."""
        begin = self.text.rfind("\n", 0, end) + 1
        starts = SERVER_ALONE.search(self.text[begin:end][:_LONGEST_LINE].rstrip(" \t\0"))
        return starts is not None or _FLAG_LINE.match(self.text, begin, end) is not None

    def _comment(self, continued: bool) -> None:
        start = self.at
        self.at = end = line_end(self.text, start, len(self.text))
        behind = end_of_comments(self.text, start, end, self.work) if continued else None
        if behind is not None:
            message = "this comment is inside a command, which ends here: the lines below run as a command of their own"
            self._problem("comment-in-command", start, end, message, "move the comment above the command")
            self.at = behind
            return
        if (below := below_folded(self.source, start, end)) is not None:
            message = "YAML makes one line of these: the comment takes all below it along, or is an argument itself"
            self._problem("comment-in-command", start, start + 1, message, "move the comment above the command")
            self.at = below
            return
        own_line = not continued and (not self.read or self.read[-1].kind == "newline")
        comment = self.text[start:end].replace(IGNORED, "")
        self.read.append(Token("comment", comment, start, end, own_line=own_line))

    # --- redirects and heredocs ---

    def _redirect(self, operator: re.Match[str]) -> None:
        start, self.at = self.at, operator.end()
        if blank := _BLANK_OR_CONTINUED.match(self.text, self.at):
            self.at = blank.end()
        segments = self._segments(len(self.text), "word", 0)
        token = Token("redirect", operator.group().lstrip("0123456789"), start, self.at, segments)
        self.read.append(token)
        if token.text in ("<<", "<<-") and segments:
            self.waiting.append(token)

    def _bodies(self) -> None:
        """Reads the bodies of the heredocs of the line before."""
        for token in self.waiting:
            self._body(token)
        self.waiting.clear()

    def _body(self, token: Token) -> None:
        text, start = self.text, min(self.at, len(self.text))
        mark = "".join(s.text if isinstance(s, LiteralText) else text[s.start : s.end] for s in token.segments)
        line = next((line for line in _LINE.finditer(text, start) if line[1].strip(" \t\0") == mark), None)
        self.work((text.count("\n", start, line.end() if line else len(text)) + 1) // 2)
        if line:
            self._check_end_mark(line, mark, token)
            end, behind = line.span()
        else:
            message = f"this heredoc is never ended by a line {mark}"
            self._problem("unclosed", token.start, token.end, message, f"end it with a line {mark}")
            end = behind = len(text)
        if any(isinstance(s, LiteralText) and s.quoted for s in token.segments):
            segments: tuple[Segment, ...] = (LiteralText(text[start:end], start, end, True),)
        else:
            self.at = start
            segments = self._segments(end, "here", 0)
        token.here = Here(segments, start, end, token.text == "<<-")
        self.at = behind

    def _check_end_mark(self, match: re.Match[str], mark: str, token: Token) -> None:
        line = match[1]
        if token.text == "<<-":
            line = line.lstrip("\t")
        elif not line[: self.indent].strip(" \t\0"):
            line = line[self.indent :]
        if line.replace(IGNORED, "") != mark:
            message = f"there are spaces around {mark}, so the shell does not end the heredoc here"
            self._problem("heredoc-end", *match.span(1), message, "remove the spaces")

    # --- words ---

    def _word(self, end: int, depth: int) -> Token:
        start = self.at
        segments = self._segments(end, "word", depth)
        self.at = max(self.at, start + 1)
        only = segments[0] if len(segments) == 1 else None
        plain = only.text if isinstance(only, LiteralText) and not only.quoted else ""
        return Token("word", plain, start, self.at, segments)

    def _segments(self, end: int, mode: _Mode, depth: int) -> tuple[Segment, ...]:
        """From here to where the mode ends them: a metacharacter, the closing quote, `end`."""
        if depth > NESTING:
            raise too_deep("quotes and substitutions")
        text, plain = self.text, _PLAIN[mode]
        quoted = mode in ("double", "here", "quoted operand")
        segments: list[Segment] = []
        while self.at < end:
            self.work(4)
            start, character = self.at, text[self.at]
            if match := plain.match(text, start, end):
                self.at = match.end()
                segments.append(LiteralText(match.group(), start, self.at, quoted))
            elif character == IGNORED:
                self.at += 1
            elif character == "\\":
                broken = _BROKEN_CONTINUATION.match(text, start) or _DOUBLED_CONTINUATION.match(text, start)
                if mode == "word" and broken:
                    break
                segments += self._escape(end, mode)
            elif character in "$`":
                segment = self._dollar(end, quoted, depth)
                self._check_stray_dollar(segment, segments)
                segments.append(segment)
            elif character == '"':
                if mode == "double":
                    break
                segments += self._double(end, depth)
            elif character == "'":
                segments.append(self._quoted("'", end))
            elif match := self.placeholder.match(text, start, end):
                self.at = match.end()
                self._check_dollar_kept(match.group(), segments)
                segments.append(Opaque(match.group(), start, self.at, False))
            elif text.startswith(("<(", ">("), start):
                segments.append(self._skipped(2, ")", end, False))
            elif character == "(" and text[start - 1 : start] == "%" and (match := _SUPERVISED.match(text, start, end)):
                self.at = match.end()
                segments.append(LiteralText(match.group(), start, self.at, quoted))
            elif character == "(" and len(segments) == 1 and _is_array_name(segments[0]):
                segments.append(self._array(end, depth))
            else:
                break
        return tuple(segments)

    def _escape(self, end: int, mode: _Mode) -> list[Segment]:
        start = self.at
        following = self.text[start + 1 : min(start + 2, end)]
        escapes = following == "\n" or (following and following in _ESCAPABLE.get(mode, following))
        self.at += 2 if escapes else 1
        if following == "\n":
            return []
        return [LiteralText(following if escapes else "\\", start, self.at, True)]

    def _quoted(self, opener: str, end: int) -> Segment:
        """`'…'` and `$'…'`."""
        start, inside = self.at, self.at + len(opener)
        match = _QUOTED[opener].match(self.text, inside, end) if self.failures <= FAILURES else None
        if match is None:
            return self._unclosed(start, opener, end)
        self.at = match.end()
        if opener == "'":
            return LiteralText(match[1].replace(IGNORED, ""), inside, self.at - 1, True)
        return LiteralText(unescaped(match[1]).replace(IGNORED, ""), start, self.at, True)

    def _double(self, end: int, depth: int) -> tuple[Segment, ...]:
        start = self.at
        if self.failures <= FAILURES:
            self.at += 1
            segments = self._segments(end, "double", depth + 1)
            if self.at < end:
                self.at += 1
                return segments or (LiteralText("", start, start + 1, True),)
        return (self._unclosed(start, '"', end),)

    def _dollar(self, end: int, quoted: bool, depth: int) -> Segment:
        text, start = self.text, self.at
        if text[start] == "`":
            return self._skipped(1, "`", end, quoted)
        following = text[start + 1 : min(start + 2, end)]
        if following == "(":
            segment = self._skipped(2, ")", end, quoted)
            written = text[start : self.at]
            if isinstance(segment, Opaque) and written.startswith("$((") and written.endswith("))"):
                segment = segment._replace(arithmetic=written[3:-2])
            return segment
        if following == "{":
            return self._braces(end, quoted, depth)
        if following == "'" and not quoted:
            return self._quoted("$'", end)
        if match := _SHORT_PARAMETER.match(text, start + 1, end):
            self.at = match.end()
            return Variable(match.group(), "", "", (), start, self.at, quoted)
        self.at += 1
        if following == '"' and not quoted:
            return LiteralText("", start, self.at, True)
        return LiteralText("$", start, self.at, quoted)

    def _braces(self, end: int, quoted: bool, depth: int) -> Segment:
        start = self.at
        segment = self._skipped(2, "}", end, quoted)
        behind = self.at
        match = _PARAMETER.match(self.text, start + 2, max(start + 2, behind))
        if not isinstance(segment, Opaque) or match is None or (match.group(3) is None and match.end() != behind):
            return segment
        name, index, operator = match.groups(default="")
        operand: tuple[Segment, ...] = ()
        if operator:
            self.at = match.end()
            operand = self._segments(behind - 1, "quoted operand" if quoted else "operand", depth + 1)
            self.at = behind
        return Variable(name, index, operator, operand, start, behind, quoted)

    def _array(self, end: int, depth: int) -> Segment:
        start, words = self.at, list[Token]()
        self.at += 1
        while self.at < end and self.text[self.at] != ")":
            if match := _BETWEEN_ELEMENTS.match(self.text, self.at, end):
                self.at = match.end()
            elif not self._continuation():
                words.append(self._word(end, depth + 1))
        if self.at >= end:
            self._problem("unclosed", start, start + 1, "this bracket is never closed", "close it with )")
        self.at = min(self.at + 1, end)
        return Array(tuple(words), start, self.at)

    def _skipped(self, length: int, closer: str, end: int, quoted: bool) -> Segment:
        """What stands between an opener of this length and its closer is not read."""
        start, inside = self.at, self.at + length
        behind = behind_closer(self.text, inside, closer, end, self.work) if self.failures <= FAILURES else -1
        if behind >= 0:
            self.at = behind
            return substituted(self.text[start:behind].replace(IGNORED, ""), start, behind, quoted)
        self._fail(start, inside)
        self.at = inside
        return LiteralText(self.text[start:inside], start, inside, quoted)

    # --- problems ---

    def _unclosed(self, start: int, quote: str, end: int) -> Segment:
        """An open quote is read up to the end of its line, a stray one not at all; the rest of the text goes on as if
        it had been closed."""
        inside = start + len(quote)
        stray = is_stray(self.text, start, inside, end)
        self._fail(start, inside, "take it out" if stray else "close it")
        self.at = inside if stray else line_end(self.text, start, end)
        return LiteralText(self.text[inside : self.at].replace(IGNORED, ""), inside, self.at, True)

    def _fail(self, start: int, end: int, remedy: str = "close it") -> None:
        self.failures += 1
        if self.failures <= FAILURES:
            self._problem("unclosed", start, end, f"this {self.text[start:end]} is never closed", remedy)

    def _check_stray_dollar(self, segment: Segment, before: list[Segment]) -> None:
        if before and isinstance(before[-1], Variable) and isinstance(segment, LiteralText) and segment.text == "$":
            message = f"this $ after ${before[-1].name} is passed on literally"
            if not _OF_PATTERN.search(self.text[max(0, segment.start - 200) : segment.start]):
                self._problem("stray-dollar", segment.start, segment.end, message, "remove it")

    def _check_dollar_kept(self, placeholder: str, before: list[Segment]) -> None:
        """`$<TP>`: the value is filled in behind a sign that makes a variable of it, `$8`."""
        if before and isinstance(before[-1], LiteralText) and before[-1].text == "$" and not before[-1].quoted:
            message = f"a $ stands before {placeholder}: with 8 in its place the shell reads $8, which is empty"
            self._problem("placeholder", before[-1].start, before[-1].end, message, "remove the $")

    def _problem(self, code: str, start: int, end: int, message: str, remedy: str) -> None:
        self.problems.add(code, *self.source.origin(max(start, 0), max(end, 1)), message, remedy)


def _is_array_name(segment: Segment) -> bool:
    return isinstance(segment, LiteralText) and _ARRAY_NAME.match(segment.text) is not None

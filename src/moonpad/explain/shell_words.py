"""Words and operators of bash, each with its place in the text.

Nothing is expanded here: a word is a row of segments, literal ones and those that name a variable or a command.
Where people copy a command wrongly (`\\ ` with a space behind it, a comment in the middle of a command, a line whose
backslash is missing) the lexer reads what was meant, and says so as a problem.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from moonpad.explain.limits import FAILURES, NESTING, too_deep
from moonpad.explain.quotes import ansi_c, behind_closer
from moonpad.explain.source import IGNORED, Problems, Source
from moonpad.explain.tokens import Array, Here, Opaque, RawWord, Segment, Text, Token, Variable

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
_OPERATOR: Final = re.compile(r";;&|;;|;&|&&|\|\||\|&|[;&|()]")
_REDIRECT: Final = re.compile(r"(?:\d{1,9})?(?:<<<|<<-|<<|<>|<&|>>|>&|>\||<|>)|&>>|&>")
_COMMENT: Final = re.compile(r"#[^\n]*")
_PARAMETER: Final = re.compile(r"([A-Za-z_]\w*|\d+|[@*#?$!-])(?:\[([^\]\n]{0,99})\])?", re.ASCII)
_SHORT_PARAMETER: Final = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]", re.ASCII)
_ARRAY_NAME: Final = re.compile(r"[A-Za-z_]\w*\+?=\Z", re.ASCII)
_PLACEHOLDER: Final = re.compile(r"<[A-Za-z](?:[\w/-]{0,60}|[\w-]{0,30}(?: [A-Za-z][\w-]{0,30}){1,5})>", re.ASCII)
_SUBSTITUTION: Final = re.compile(r"\|[a-z][a-z0-9_]{0,60}\|")
_SPACE_AFTER: Final = re.compile(r"\\[ \t\0]+(?=\n)")
_COMMENT_AFTER: Final = re.compile(r"\\[ \t\0]+#[^\n]*")
_FLAG_FOLLOWS: Final = re.compile(r"\n[ \t\0]*--[A-Za-z]")
_FLAG_AFTER_COMMENTS: Final = re.compile(r"(?:\n[ \t\0]*#[^\n]*)*\n[ \t\0]*--?[A-Za-z]")
_ANSI_C_END: Final = re.compile(r"[^'\\]*(?:\\.[^'\\]*)*'", re.S)
_OPERATORS: Final = (":-", ":=", ":+", ":?", "-", "=", "+", "?")


def tokens_of(source: Source, problems: Problems, *, substitutions: bool = False, indent: int = 0) -> list[Token]:
    """All tokens of the source.

    `substitutions` reads `|name|` as a placeholder, as Sphinx does; `indent` is that of the block in its document.
    Raises UsageError when quotes and substitutions stand too deep in one another.
    """
    return _Lexer(source, problems, substitutions, indent).tokens()


class _Lexer:
    def __init__(self, source: Source, problems: Problems, substitutions: bool, indent: int) -> None:
        self.source, self.text, self.problems = source, source.text, problems
        self.substitutions, self.indent = substitutions, indent
        self.failures = 0
        self.found: list[Token] = []
        self.waiting: list[tuple[Token, str, bool]] = []
        """Heredocs whose bodies begin on the next line: the token, the end mark, whether it is quoted."""

    def tokens(self) -> list[Token]:
        text, found, end = self.text, self.found, len(self.text)
        position, continued = 0, False
        while position < end:
            if blank := _BLANK.match(text, position):
                position = blank.end()
                continue
            character = text[position]
            if character == "\\" and (after := self._continuation(position)) is not None:
                position, continued = after, True
                continue
            if character == "\n":
                if self._words_before() and not self.waiting and _FLAG_FOLLOWS.match(text, position):
                    position = self._missing_backslash(position)
                    continue
                found.append(Token("newline", "\n", position, position + 1))
                position = self._bodies(position + 1)
            elif character == "#":
                position = self._comment(position, continued)
            elif redirect := self._redirect_at(position):
                position = self._redirect(redirect, position)
            elif character in ";&|()" and not self._substitution_at(position):
                operator = _OPERATOR.match(text, position)
                length = len(operator.group()) if operator else 1
                found.append(Token("op", text[position : position + length], position, position + length))
                position += length
            else:
                segments, after = self._segments(position, end, "word", 0)
                after = max(after, position + 1)
                found.append(Token("word", "", position, after, RawWord(segments, position, after)))
                position = after
            continued = False
        self._bodies(end)
        return found

    # --- where lines end ---

    def _continuation(self, position: int) -> int | None:
        """Behind a backslash that continues the line, or one that was meant to."""
        text = self.text
        if position + 1 >= len(text):
            return position + 1
        if text[position + 1] == "\n":
            return position + 2
        if match := _SPACE_AFTER.match(text, position):
            message = "a space follows this backslash, so the command ends here for a shell"
            self._problem("space-after-backslash", position, match.end(), message, "end the line with the backslash")
            return match.end() + 1
        if match := _COMMENT_AFTER.match(text, position):
            message = "a comment follows this backslash, so the command ends here for a shell"
            self._problem(
                "comment-after-backslash", position, match.end(), message, "put the comment above the command"
            )
            return min(match.end() + 1, len(text))
        return None

    def _comment(self, position: int, continued: bool) -> int:
        match = _COMMENT.match(self.text, position)
        end = match.end() if match else position + 1
        own_line = (not self.found or self.found[-1].kind == "newline") and not continued
        if continued and (rest := _FLAG_AFTER_COMMENTS.match(self.text, end)):
            message = (
                "this comment stands inside a command, which ends here for a shell; the flags below are not passed"
            )
            self._problem("comment-in-command", position, end, message, "move the comment above the command")
            return self.text.rindex("\n", end, rest.end()) + 1
        comment = self.text[position:end].replace(IGNORED, "")
        self.found.append(Token("comment", comment, position, end, own_line=own_line))
        return end

    def _words_before(self) -> bool:
        for token in reversed(self.found[-2:]):
            if token.kind == "word":
                return True
            if token.kind != "comment" or token.own_line:
                return False
        return False

    def _missing_backslash(self, position: int) -> int:
        message = "this line does not end with a backslash, so the flags below are not passed"
        self._problem("missing-backslash", position - 1, position, message, "end the line with a backslash")
        return position + 1

    # --- redirects and heredocs ---

    def _redirect_at(self, position: int) -> re.Match[str] | None:
        if self.text[position] == "<" and (_PLACEHOLDER.match(self.text, position)):
            return None
        match = _REDIRECT.match(self.text, position)
        return None if match and match.group() in "<>" and self.text.startswith("(", match.end()) else match

    def _redirect(self, operator: re.Match[str], position: int) -> int:
        text, after = self.text, operator.end()
        while True:
            if blank := _BLANK.match(text, after):
                after = blank.end()
            if not text.startswith("\\\n", after):
                break
            after += 2
        segments, end = self._segments(after, len(text), "word", 0)
        token = Token("redirect", operator.group().lstrip("0123456789"), position, end, RawWord(segments, after, end))
        self.found.append(token)
        if token.text in ("<<", "<<-") and segments:
            mark = "".join(s.text if isinstance(s, Text) else text[s.start : s.end] for s in segments)
            self.waiting.append((token, mark, any(isinstance(s, Text) and s.quoted for s in segments)))
        return max(end, operator.end())

    def _bodies(self, position: int) -> int:
        """Reads the bodies of the heredocs of the line before; gives the offset behind them."""
        for token, mark, quoted in self.waiting:
            position = self._body(token, mark, quoted, position)
        self.waiting.clear()
        return position

    def _body(self, token: Token, mark: str, quoted: bool, start: int) -> int:
        text, position = self.text, start
        while position < len(text):
            newline = text.find("\n", position)
            line_end = newline if newline >= 0 else len(text)
            line = text[position:line_end]
            if line.strip(" \t\0") == mark:
                self._check_end_mark(line, mark, token, position)
                self._keep_body(token, quoted, start, position)
                return min(line_end + 1, len(text))
            position = line_end + 1
        message = f"no line {mark} ends this heredoc"
        self._problem("unclosed", token.start, token.end, message, f"end it with a line {mark}")
        self._keep_body(token, quoted, start, len(text))
        return len(text)

    def _keep_body(self, token: Token, quoted: bool, start: int, end: int) -> None:
        start = min(start, end)
        if quoted:
            segments: tuple[Segment, ...] = (Text(self.text[start:end], start, end, True),)
        else:
            segments, _ = self._segments(start, end, "here", 0)
        token.here = Here(segments, start, end, token.text == "<<-")

    def _check_end_mark(self, line: str, mark: str, token: Token, position: int) -> None:
        if token.text == "<<-":
            line_in_block = line.lstrip("\t")
        else:
            line_in_block = line if line[: self.indent].strip(" \t\0") else line[self.indent :]
        if line_in_block.replace(IGNORED, "") != mark:
            message = f"spaces stand around {mark}, so the heredoc does not end here for a shell"
            self._problem("heredoc-end", position, position + len(line), message, "remove the spaces")

    # --- words ---

    def _segments(self, position: int, end: int, mode: _Mode, depth: int) -> tuple[tuple[Segment, ...], int]:
        """Segments up to where the mode ends them: a metacharacter, the closing quote, `end`."""
        if depth > NESTING:
            raise too_deep("quotes and substitutions")
        text, plain = self.text, _PLAIN[mode]
        quoted = mode in ("double", "here", "quoted operand")
        found: list[Segment] = []
        while position < end:
            if match := plain.match(text, position, end):
                found.append(Text(match.group(), position, match.end(), quoted))
                position = match.end()
                continue
            character = text[position]
            if character == IGNORED:
                position += 1
            elif character == "\\":
                if mode == "word" and (_SPACE_AFTER.match(text, position) or _COMMENT_AFTER.match(text, position)):
                    break
                position = self._escape(position, end, mode, found)
            elif character == "$":
                segment, position = self._dollar(position, end, quoted, depth)
                self._check_stray_dollar(segment, found)
                found.append(segment)
            elif character == "`":
                segment, position = self._skipped(position, position + 1, "`", end, quoted)
                found.append(segment)
            elif character == '"':
                if mode == "double":
                    break
                inner, position = self._double(position, end, depth)
                found.extend(inner)
            elif character == "'":
                segment, position = self._single(position, end)
                found.append(segment)
            elif mode == "word":
                special = self._special(position, end, found, depth)
                if special is None:
                    break
                segment, position = special
                found.append(segment)
            else:
                found.append(Text(character, position, position + 1, quoted))
                position += 1
        return tuple(found), position

    def _special(self, position: int, end: int, found: list[Segment], depth: int) -> tuple[Segment, int] | None:
        """`<PLACEHOLDER>`, `<(command)`, `|substitution|` or `NAME=(`; None where a metacharacter ends the word."""
        text, character = self.text, self.text[position]
        if character == "<" and (match := _PLACEHOLDER.match(text, position, end)):
            return Opaque(match.group(), position, match.end(), False), match.end()
        if character in "<>" and text.startswith("(", position + 1):
            return self._skipped(position, position + 2, ")", end, False)
        if (match := self._substitution_at(position)) and match.end() <= end:
            return Opaque(match.group(), position, match.end(), False), match.end()
        if character == "(" and len(found) == 1 and isinstance(name := found[0], Text) and _ARRAY_NAME.match(name.text):
            return self._array(position, end, depth)
        return None

    def _substitution_at(self, position: int) -> re.Match[str] | None:
        return _SUBSTITUTION.match(self.text, position) if self.substitutions else None

    def _escape(self, position: int, end: int, mode: _Mode, found: list[Segment]) -> int:
        following = self.text[position + 1 : min(position + 2, end)]
        if following == "\n":
            return position + 2
        if following and following in _ESCAPABLE.get(mode, following):
            found.append(Text(following, position, position + 2, True))
            return position + 2
        found.append(Text("\\", position, position + 1, True))
        return position + 1

    def _single(self, position: int, end: int) -> tuple[Segment, int]:
        close = self.text.find("'", position + 1, end) if self.failures <= FAILURES else -1
        if close < 0:
            return self._unclosed(position, "'", end)
        return Text(self.text[position + 1 : close].replace(IGNORED, ""), position + 1, close, True), close + 1

    def _double(self, position: int, end: int, depth: int) -> tuple[tuple[Segment, ...], int]:
        if self.failures > FAILURES:
            segment, after = self._unclosed(position, '"', end)
            return (segment,), after
        inner, after = self._segments(position + 1, end, "double", depth + 1)
        if after >= end:
            segment, after = self._unclosed(position, '"', end)
            return (segment,), after
        return inner or (Text("", position, position + 1, True),), after + 1

    def _dollar(self, position: int, end: int, quoted: bool, depth: int) -> tuple[Segment, int]:
        text = self.text
        following = text[position + 1 : min(position + 2, end)]
        if following == "(":
            if text.startswith("(", position + 2):
                segment, after = self._skipped(position, position + 2, ")", end, quoted)
                inner = text[position + 3 : after - 2]
                if isinstance(segment, Opaque) and text[after - 2 : after] == "))":
                    segment = segment._replace(arithmetic=inner)
                return segment, after
            return self._skipped(position, position + 2, ")", end, quoted)
        if following == "{":
            return self._braces(position, end, quoted, depth)
        if following == "'" and not quoted:
            return self._ansi_c(position, end)
        if following == '"' and not quoted:
            return Text("", position, position + 1, True), position + 1
        if match := _SHORT_PARAMETER.match(text, position + 1, end):
            return Variable(match.group(), "", "", (), position, match.end(), quoted), match.end()
        return Text("$", position, position + 1, quoted), position + 1

    def _braces(self, position: int, end: int, quoted: bool, depth: int) -> tuple[Segment, int]:
        segment, after = self._skipped(position, position + 2, "}", end, quoted)
        match = _PARAMETER.match(self.text, position + 2, max(position + 2, after - 1))
        if not isinstance(segment, Opaque) or match is None:
            return segment, after
        name, index, rest = match.group(1), match.group(2) or "", match.end()
        if rest == after - 1:
            return Variable(name, index, "", (), position, after, quoted), after
        operator = next((op for op in _OPERATORS if self.text.startswith(op, rest)), None)
        if operator is None:
            return segment, after
        mode: _Mode = "quoted operand" if quoted else "operand"
        operand, _ = self._segments(rest + len(operator), after - 1, mode, depth + 1)
        return Variable(name, index, operator, operand, position, after, quoted), after

    def _ansi_c(self, position: int, end: int) -> tuple[Segment, int]:
        match = _ANSI_C_END.match(self.text, position + 2, end) if self.failures <= FAILURES else None
        if match is None:
            return self._unclosed(position, "$'", end)
        inner = self.text[position + 2 : match.end() - 1]
        return Text(ansi_c(inner).replace(IGNORED, ""), position, match.end(), True), match.end()

    def _array(self, position: int, end: int, depth: int) -> tuple[Segment, int]:
        text, start, words = self.text, position, list[RawWord]()
        position += 1
        while position < end and text[position] != ")":
            if text[position] in " \t\n\0;&|<>(":
                position += 1
            elif text[position] == "#":
                newline = text.find("\n", position, end)
                position = end if newline < 0 else newline
            elif text[position] == "\\" and (after := self._continuation(position)) is not None:
                position = after
            else:
                segments, after = self._segments(position, end, "word", depth + 1)
                words.append(RawWord(segments, position, after))
                position = max(after, position + 1)
        if position >= end:
            self._problem("unclosed", start, start + 1, "nothing closes this bracket", "close it with )")
        return Array(tuple(words), start, min(position + 1, end)), min(position + 1, end)

    # --- what is skipped ---

    def _skipped(self, start: int, inside: int, closer: str, end: int, quoted: bool) -> tuple[Segment, int]:
        after = behind_closer(self.text, inside, closer, end) if self.failures <= FAILURES else -1
        if after < 0:
            opener = self.text[start:inside]
            self._fail(start, opener)
            return Text(opener, start, inside, quoted), inside
        return Opaque(self.text[start:after].replace(IGNORED, ""), start, after, quoted), after

    # --- what is said ---

    def _unclosed(self, position: int, quote: str, end: int) -> tuple[Segment, int]:
        """An open quote is read up to the end of its line; the rest of the text goes on as if it had been closed."""
        self._fail(position, quote)
        newline = self.text.find("\n", position, end)
        stop = newline if newline >= 0 else end
        start = position + len(quote)
        return Text(self.text[start:stop].replace(IGNORED, ""), start, stop, True), stop

    def _fail(self, position: int, opener: str) -> None:
        self.failures += 1
        if self.failures <= FAILURES:
            self._problem("unclosed", position, position + len(opener), f"nothing closes this {opener}", "close it")

    def _check_stray_dollar(self, segment: Segment, before: list[Segment]) -> None:
        if before and isinstance(before[-1], Variable) and isinstance(segment, Text) and segment.text == "$":
            name = before[-1].name
            message = f"this $ stands behind ${name} and is passed on as it is"
            self._problem("stray-dollar", segment.start, segment.end, message, "remove it")

    def _problem(self, code: str, start: int, end: int, message: str, remedy: str) -> None:
        self.problems.add(code, *self.source.origin(max(start, 0), max(end, 1)), message, remedy)

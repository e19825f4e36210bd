"""Files that a script writes by heredocs, and the manifests that it hands on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from moonpad.engines.foreign_names import MENTION
from moonpad.explain.commands import HereFile, Piece, Word, concatenated, cut
from moonpad.explain.programs import base_name
from moonpad.explain.shell.bash_parser import Simple
from moonpad.explain.shell.tokens import Here, LiteralText
from moonpad.values.records import replace

_OPTIONS: Final = re.compile(r"\.(?:ya?ml|json)$")
"""Files that may be an engine's."""
_LINES: Final = r"%s\n"
_SWITCHES: Final = re.compile(r"-[neE]{1,3}")
_SCRIPT: Final = re.compile(r"\.(?:ba)?sh$")
_ESCAPES: Final = re.compile(r"\\([nt\\\"])")
_OF_DOCKERFILE: Final = re.compile(r"\\[ \t]*\n|\\([nt\\])")
"""The same, and the end of a line of a Dockerfile, which goes on with the next one."""
_MEANS: Final = {"n": "\n", "t": "\t", "\\": "\\"}
_MOST_ESCAPES: Final = 2_000

if TYPE_CHECKING:
    from moonpad.explain.shell.interpreter import Shell


def here_manifest(shell: Shell, here: Here) -> bool:
    from moonpad.explain.documents.quadlets import is_quadlet, read_quadlets
    from moonpad.explain.manifests.here_manifests import read_here_manifest  # it needs the interpreter

    if is_quadlet(shell.source.text[here.start : here.end]):
        read_quadlets(shell.expander.here(here), shell.state)
        return True
    start, end = shell.source.origin(here.start, here.end)
    text = shell.source.text[here.start : here.end]
    if end - start == len(text):
        quoted = all(isinstance(part, LiteralText) and part.quoted for part in here.segments)
        return read_here_manifest(text, start, shell.state, {} if quoted else shell.scope.variables)
    return False


def add_file(shell: Shell, words: Sequence[Word], node: Simple, here: Here | Word | None, *, is_read: bool) -> None:
    """`cat > FILE <<EOF`, `cat <<EOF | tee FILE`, `sudo tee FILE <<EOF`, `printf %s TEXT > FILE`, `echo TEXT > FILE`,
    and a function of the script that writes such a text, `emit > FILE`."""
    names = [base_name(word) for word in words[:4]]
    written = [redirect for redirect in node.redirects if redirect.text in (">", ">>", ">|")]
    path: Word | None = None
    if here is not None and "tee" in names:
        path = next((word for word in words[names.index("tee") + 1 :] if not word.text.startswith("-")), None)
    elif written and (names[:2] == ["printf", "%s"] or (here is not None and _passes_on(shell, names[0]))):
        path = next(iter(shell.expander.fields(written[-1])), None)
    elif written and names[:1] in (["echo"], ["printf"]) and here is None:
        said = _said(words[1:], shell) if names[0] == "echo" else _printed(words[1:], shell)
        path = next(iter(shell.expander.fields(written[-1])), None) if said is not None else None
        here = said if path is not None and (_OPTIONS.search(path.text) or _SCRIPT.search(path.text)) else None
        path = path if here is not None else None
    if path is None or not path.text or path.text.startswith("/dev/"):
        return
    body = shell.expander.here(here) if isinstance(here, Here) else here or (*words[2:], Word(""))[0]
    if shell.paid:
        shell.state.budget.spend(1, len(body.text))
    appends = any(redirect.text == ">>" for redirect in written) or "-a" in names
    before = shell.state.files.get(path.text) if appends else None
    if before is not None:
        shell.state.budget.spend(1, len(before.text))
        body = concatenated((_written_before(before, base_name(path), body, shell), body), body)
    shell.state.files[path.text] = HereFile(path.text, body.text, body.line)
    shell.state.written.add(path.text)
    if MENTION.search(body.text) and not is_read:
        shell.state.scripts[base_name(path)] = body


def _written_before(before: HereFile, name: str, body: Word, shell: Shell) -> Word:
    """What a file holds that more is appended to, at its place; where that is not known, at that of the rest."""
    held = shell.state.scripts.get(name)
    if held is not None and held.text == before.text:
        return held
    at = body.pieces[0].source_start if body.pieces else 0
    return Word(before.text, pieces=(Piece(0, len(before.text), at, at),) if body.pieces else ())


def _said(words: Sequence[Word], shell: Shell) -> Word | None:
    """What `echo` writes, where it is one word, with a line's end behind it."""
    switches = [word for word in words if _SWITCHES.fullmatch(word.text)]
    texts = words[len(switches) :]
    if len(texts) != 1 or list(words[: len(switches)]) != switches:
        return None
    if shell.source.echo_escapes:
        return _ended(_unescaped(texts[0], _OF_DOCKERFILE, shell))
    return _ended(_unescaped(texts[0], _ESCAPES, shell) if any("e" in each.text for each in switches) else texts[0])


def _printed(words: Sequence[Word], shell: Shell) -> Word | None:
    """What `printf` writes of a text without fields, or of texts on lines of their own."""
    if not words or (words[0].text != _LINES and (len(words) > 1 or "%" in words[0].text)):
        return None
    if words[0].text != _LINES:
        pattern = _OF_DOCKERFILE if shell.source.echo_escapes else _ESCAPES
        return _unescaped(words[0], pattern, shell)
    return concatenated([_ended(word) for word in words[1:]], words[1]) if len(words) > 1 else None


def _ended(word: Word) -> Word:
    return replace(word, text=f"{word.text}\n")


def _unescaped(word: Word, pattern: re.Pattern[str], shell: Shell) -> Word:
    """With what the escapes mean, each at its place."""
    parts, at = list[Word](), 0
    for match in islice(pattern.finditer(word.text), _MOST_ESCAPES):
        mark = cut(word, *match.span())
        text = _MEANS.get(match[1], match[0]) if match[1] else ""
        pieces = (Piece(0, len(text), mark.pieces[0].source_start, mark.pieces[-1].source_end),) if mark.pieces else ()
        parts += (cut(word, at, match.start()), replace(mark, text=text, pieces=pieces))
        at = match.end()
    shell.state.budget.work(20 + len(word.text) // 4, "the files that it writes")
    return concatenated((*parts, cut(word, at, len(word.text))), word) if parts else word


def _passes_on(shell: Shell, name: str) -> bool:
    return name == "cat" or name in shell.functions

"""Files that a script writes by heredocs, and the manifests that it hands on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from moonpad.engines.foreign_names import MENTION
from moonpad.explain.commands import HereFile, Word
from moonpad.explain.programs import base_name
from moonpad.explain.shell.bash_parser import Simple
from moonpad.explain.shell.tokens import Here, LiteralText
from moonpad.values.records import replace

_OPTIONS: Final = re.compile(r"\.(?:ya?ml|json)$")
"""Files that may be an engine's."""
_SWITCHES: Final = re.compile(r"-[neE]{1,3}")
_ESCAPES: Final = re.compile(r"\\([nt\\\"])")
_MEANS: Final = {"n": "\n", "t": "\t", "\\": "\\"}

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
    elif written and names[:1] == ["echo"] and here is None and (said := _said(words[1:])) is not None:
        path = next(iter(shell.expander.fields(written[-1])), None)
        here = said if path is not None and _OPTIONS.search(path.text) else None
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
        body = replace(body, text=before.text + body.text)
    shell.state.files[path.text] = HereFile(path.text, body.text, body.line)
    shell.state.written.add(path.text)
    if MENTION.search(body.text) and not is_read:
        shell.state.scripts[base_name(path)] = body


def _said(words: Sequence[Word]) -> Word | None:
    """What `echo` writes, where it is one word, with a line's end behind it."""
    switches = [word for word in words if _SWITCHES.fullmatch(word.text)]
    texts = words[len(switches) :]
    if len(texts) != 1 or list(words[: len(switches)]) != switches:
        return None
    escaped = any("e" in switch.text for switch in switches)
    text = _ESCAPES.sub(lambda match: _MEANS.get(match[1], match[0]), texts[0].text) if escaped else texts[0].text
    return replace(texts[0], text=f"{text}\n", pieces=() if escaped else texts[0].pieces)


def _passes_on(shell: Shell, name: str) -> bool:
    return name == "cat" or name in shell.functions

"""Which kind of file a text is, and its reader: what is none of the others is a shell's."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.dockerfile import is_dockerfile, read_dockerfile
from moonpad.explain.interpreter import ScriptState, Shell
from moonpad.explain.python_text import is_python, read_python
from moonpad.explain.source_text import Source
from moonpad.explain.systemd_unit import is_unit, read_unit

_FIRST_KEY: Final = re.compile(
    r"""(?:[ \t]*(?:\#.*)?\n|---.*\n|%.*\n|[<]{7}.*\n|\{\{.*\}\}.*\n)*"""
    r"""[ \t]*(?:- )?["']?[A-Za-z_][\w./-]*["']?[ ]*:(?:\s|$)"""
)
"""Files for compose and Kubernetes are YAML with a key in its first line."""
_JSON: Final = re.compile(r"\s*[\[{]\s*(?:[\[{\"\]}]|$)")


def read_kind(text: str, start: int, state: ScriptState) -> bool:
    """Reads a file that describes what is started, which begins at the offset `start` of the whole text.

    False where it is none: a script then.
    """
    if is_dockerfile(text):
        read_dockerfile(text, start, state)
        return True
    if is_unit(text):
        read_unit(text, start, state)
        return True
    if is_python(text) and read_python(text, start, state):
        return True
    if _FIRST_KEY.match(text) or _JSON.match(text):
        from moonpad.explain.manifests import read_manifest  # it needs PyYAML

        return read_manifest(text, start, state)
    return False


def read_word(word: Word, state: ScriptState) -> None:
    """A file that stands in another: what a ConfigMap holds, or a heredoc writes; there with its variables as they are
    written, where it is no script."""
    exact = len(word.pieces) == 1 and word.pieces[0].exact
    start = word.pieces[0].source_start if word.pieces else 0
    text = word.text if exact else state.text.clean[start : word.pieces[-1].source_end] if word.pieces else ""
    if text and read_kind(text, start, state):
        return
    Shell(state, Source.inside(word, state.text)).read()


def read_unused(state: ScriptState) -> None:
    """Scripts and other files that the text holds and no command in it runs."""
    for name, word in list(state.scripts.items()):
        data = word.text.lstrip()[:1] in ("{", "[") or name.endswith((".md", ".json", ".py"))
        if name not in state.ran_scripts and not data:
            state.ran_scripts.add(name)
            read_word(word, state)

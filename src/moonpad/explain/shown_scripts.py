"""Parts of a text that are scripts which other parts run: they are read where they are called, with those arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from moonpad.explain.commands import Piece
from moonpad.explain.documents.markdown import Block, Bullets, Inline
from moonpad.explain.shell import held_scripts as shown
from moonpad.explain.shell.interpreter import ScriptState, Shell
from moonpad.explain.source_text import Source

Part = Block | Bullets | Inline
Typed = Callable[[Block, ScriptState], str]
"""The text of a block as a shell reads it, with all characters in their places."""
_MOST_CALLS: Final = 20
_MOST_SCRIPTS: Final = 40


def in_sections(block: Block) -> tuple[Block, ...]:
    """A paste of several scripts as one block for each, where one of them runs another; else the block itself."""
    sections = shown.sections_of(block.text, block.start)
    called = shown.called_among([(each.name, each.text) for each in sections])
    if not called:
        return (block,)
    return tuple(Block(each.start, each.text, block.heading, each.name or None, block.indent) for each in sections)


def hold_files(files: Sequence[tuple[str, int, str]], typed: Typed, state: ScriptState) -> dict[int, str]:
    """Which of several files, of which name, offset and text are given, are run by others: their numbers and names."""
    times = Counter(shown.base(name) for name, _, _ in files)
    names = [shown.base(name) if times[shown.base(name)] == 1 else "" for name, _, _ in files]
    texts = [(name, text) for name, (_, _, text) in zip(names, files, strict=True)]
    state.budget.work(sum(len(text) for _, text in texts) // 20, "its scripts")
    called = shown.called_among(texts)
    held: dict[int, str] = {}
    for at, (name, (_, start, text)) in enumerate(zip(names, files, strict=True)):
        if name in called and shown.is_script(name, text):
            _hold(name, Block(start, text, None, None, 0), called[name], typed, state)
            held[at] = name
    return held


def hold_parts(parts: Sequence[Part], text: str, start: int, typed: Typed, state: ScriptState) -> dict[int, str]:
    """Of the parts of a text those that are scripts which it runs with arguments: their numbers and their names."""
    named = dict(_named(parts, text, start)) if shown.names_scripts(text) else {}
    held: dict[int, str] = {}
    state.budget.work(len(named) * len(text) // 20, "its scripts")
    for at, name in named.items():
        block = parts[at]
        given = any(call.is_concrete for call in shown.calls_of(name, _without(block, text, start)))
        if isinstance(block, Block) and given and name not in state.scripts:
            _hold(name, block, given, typed, state)
            held[at] = name
    return held


def read_calls(names: Sequence[str], text: str, start: int, state: ScriptState) -> None:
    """Reads the calls that stand in sentences, of those that nothing has run."""
    for name in names:
        if name in state.ran_scripts:
            continue
        calls = [call for call in shown.calls_of(name, text) if call.is_concrete]
        for call in calls[:_MOST_CALLS]:
            code = text[call.start : call.end]
            Shell(state, Source.block(state.text, start + call.start, code)).read()


def _hold(name: str, block: Block, concrete: bool, typed: Typed, state: ScriptState) -> None:
    text = typed(block, state)
    piece = Piece(0, len(text), block.start, block.start + len(text))
    state.scripts[name] = state.text.word(text, block.start, block.start + len(text), (piece,))
    state.held[name] = concrete


def _named(parts: Sequence[Part], text: str, start: int) -> Iterator[tuple[int, str]]:
    """Blocks that take arguments, and the names that they have in the text; without one the only such block is the only
    script that the text runs."""
    taking = [
        at
        for at, part in enumerate(parts)
        if isinstance(part, Block) and not part.other and shown.takes_arguments(part.text)
    ]
    names: dict[int, str] = {}
    for at in taking[:_MOST_SCRIPTS]:
        part = parts[at]
        name = _name_of(part) if isinstance(part, Block) else ""
        if name and name not in names.values():
            names[at] = name
    if not names:
        starting = [at for at in taking if shown.starts_something(_text(parts[at]))]
        called = shown.names_called(_without(parts[starting[0]], text, start)) if len(starting) == 1 else []
        if len(called) == 1:
            names[starting[0]] = called[0]
    yield from names.items()


def _name_of(block: Block) -> str:
    """That of the line above it, of its first comment, or of its heading; none of a script that it runs itself."""
    for words in (block.intro or "", shown.first_comment(block.text), block.heading or ""):
        name = shown.name_in(words)
        if name and next(shown.calls_of(name, block.text), None) is None:
            return name
    return ""


def _text(part: Part) -> str:
    return part.text if isinstance(part, Block) else ""


def _without(part: Part, text: str, start: int) -> str:
    """The text with blanks in the place of the part."""
    if not isinstance(part, Block):
        return text
    begin, end = part.start - start, part.start - start + len(part.text)
    blank = "".join(char if char == "\n" else " " for char in text[begin:end])
    return f"{text[:begin]}{blank}{text[end:]}"

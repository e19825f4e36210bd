"""Options of a program that starts an engine itself, which one of them names: `--engine vllm --tp_size 4`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines.foreign_names import PROGRAM_OF
from moonpad.explain.commands import Command, Word
from moonpad.explain.flag_lists import LAYOUT, is_fragment, serving_programs
from moonpad.explain.manifests.layout_keys import name_of
from moonpad.values.records import replace

_ENGINE_NAMED: Final = frozenset({"--engine", "--backend", "--engine_type", "--engine-type", "--engine_name"})
_MODEL: Final = re.compile(
    r"[ \t]*(?:-[ \t]+)?(?:hf_)?(?:model|checkpoint)(?:_(?:ckpt|path|name|id|dir))?[ \t]*[:=][ \t]*[\"']?"
    r"(?P<model>/?[A-Za-z0-9][\w.-]*(?:/[\w.-]+)+)[\"']?[ \t]*(?:#.*)?$",
    re.IGNORECASE,
)
"""A key of the same file, and a path or a repository behind it."""
_READER: Final = "what reads --engine"
_MOST: Final = 5000
_LONGEST: Final = 400


def of_wrappers(commands: Sequence[Command], lines: Sequence[str]) -> list[Command]:
    """With those that are options of such a program as commands of the engine that they name; the text has `lines`."""
    return [(_of_wrapper(each, lines) or each) if is_fragment(each) else each for each in commands]


def is_wrapped(command: Command) -> bool:
    """Whether such a program starts it: options of the engine that it is not given it need not have."""
    return command.more == _READER


def _of_wrapper(command: Command, lines: Sequence[str]) -> Command | None:
    """Options of a program that starts an engine itself, `--engine vllm --tp_size 4`, as a command of that engine: the
    sizes under its own names, without what only the wrapper has; None where it is none."""
    pairs = [(word, command.argv[at + 1 : at + 2]) for at, word in enumerate(command.argv) if word.text[:2] == "--"]
    named = (value[0].text.casefold() for flag, value in pairs if value and flag.text in _ENGINE_NAMED)
    program = next((PROGRAM_OF[name] for name in named if name in PROGRAM_OF), "")
    options, line = option_set(program), serving_programs().get(program)
    if options is None or line is None:
        return None
    words: list[Word] = []
    own = 0
    for flag, value in pairs:
        given = value if value and not value[0].text.startswith("--") else ()
        spelled = flag.text if options.named(flag.text) else f"--{flag.text[2:].replace('_', '-')}"
        size = flag.text[2:] if flag.text[2:] in LAYOUT else name_of(flag.text[2:]) or ""
        sized = options.named(line.options[size]) if size in line.options else None
        if flag.text in _ENGINE_NAMED or (sized is None and options.named(spelled) is None):
            own += 1
        elif sized is None:
            words += (replace(flag, text=spelled, pieces=()), *given)
        elif sized.takes_value or (given and given[0].text not in ("0", "1")):
            own += options.named(spelled) is None
            words += (replace(flag, text=line.options[size], pieces=()), *(given if sized.takes_value else ()))
    if 2 * own <= len(pairs) or not any(word.text in line.options.values() for word in words):
        return None
    named_by = {match["model"] for text in lines[:_MOST] if (match := _MODEL.match(text[:_LONGEST]))}
    flags = {word.text for word in words}
    if len(named_by) == 1 and not flags & {line.model, "--model"}:
        model = replace(command.argv[0], text=named_by.pop(), pieces=())
        words[:0] = (*((replace(model, text=line.model),) if line.model else ()), model)
    serves = bool(flags & {"--port", "--host"})
    return replace(command, program=program, argv=tuple(words), custom=True, embedded=not serves, more=_READER)

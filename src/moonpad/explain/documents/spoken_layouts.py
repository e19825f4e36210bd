"""A deployment that a text tells of without any command: `vllm==0.9.2, tp16` beside the name of a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import NAME_IN_WORDS, PROGRAM_OF
from moonpad.explain.commands import Command
from moonpad.explain.documents.reckoned_sizes import is_of_a_sum
from moonpad.explain.documents.spoken_arguments import spoken_arguments
from moonpad.explain.documents.text_hints import versions_of
from moonpad.explain.flag_lists import serving_programs
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.word_lists import more
from moonpad.values.records import replace

_USED: Final = re.compile(
    rf"(?:\b(?:with|using|via|through|on|by)|用|使用)[ ]?(?:the )?{NAME_IN_WORDS.pattern}"
    rf"|^\W{{0,6}}(?:engine[*_]{{0,2}}: ?)?{NAME_IN_WORDS.pattern}[*_`]{{0,3}}[,:] ",
    re.IGNORECASE | re.MULTILINE,
)
_SIZE: Final = re.compile(
    r"(?<![\w.-])(?P<name>tp|pp|dp)(?:[ _-]?size)?[ ]?[=:×x]?[ ]?(?P<size>[0-9]{1,3})(?!\w|\.[0-9])"
    r"|tensor[- ]parallel(?:ism)?(?:[- ]size)?[ ]?(?:of|=|:|is)?[ ]?(?P<tensor>[0-9]{1,3})(?!\w|\.[0-9])",
    re.IGNORECASE,
)
NAMED_MODEL: Final = re.compile(
    r"(?<![\w./-])(?:moonshotai|deepseek-ai|Qwen|zai-org|nvidia|amd|unsloth)/[\w.-]{2,80}\w(?![\w/])"
)
_LONGEST: Final = 20_000
UNSAID: Final = "<the options that the text only speaks of>"


def spoken_layouts(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    """None where the text names several engines, or sizes that differ."""
    for start, text in texts:
        if len(text) > _LONGEST:
            continue
        state.budget.work(len(text) // 4, "what its words say")
        engines = {re.sub(r"[-_ ]", "", match[1].casefold()) for match in NAME_IN_WORDS.finditer(text)}
        model = NAMED_MODEL.search(text)
        sizes: dict[str, dict[str, re.Match[str]]] = {}
        for match in (each for each in _SIZE.finditer(text) if not is_of_a_sum(text, each)):
            sizes.setdefault((match["name"] or "tp").casefold(), {})[match["size"] or match["tensor"]] = match
        used = bool(versions_of(text)[0]) or _USED.search(text) is not None
        if len(engines) != 1 or not used or model is None or len(sizes.get("tp", {})) != 1:
            continue
        name = engines.pop()
        program = next(known for key, known in PROGRAM_OF.items() if re.sub("[-_]", "", key) == name)
        line = serving_programs()[program]
        place = state.text.word(model[0], start + model.start(), start + model.end())
        words = [*((replace(place, text=line.model, pieces=()),) if line.model else ()), place]
        for size, found in sizes.items():
            if len(found) == 1 and size in line.options:
                value, match = next(iter(found.items()))
                at = state.text.word(value, start + match.start(), start + match.end())
                words += (replace(at, text=line.options[size], pieces=()), at)
        listed, env = spoken_arguments(state, start, text, program, [line.model, *(word.text for word in words)])
        argv = (*words, *listed, more(UNSAID, place.line))
        yield Command(program, argv, (), env, line=place.line, guessed=True)

"""Options of an engine under the names that managed services have for them: DJL Serving's, SageMaker's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final

from moonpad.engines.foreign_names import PROGRAM_OF, UNNAMED
from moonpad.explain.commands import Command, Word
from moonpad.explain.option_names import as_option
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.word_lists import fragment, more
from moonpad.values.records import replace

_MOST: Final = 40
_SETTING: Final = re.compile(
    r"\b(?:OPTION_|option\.)([A-Za-z_]{2,60})[\"']?[ \t]*[:=][ \t]*(?:[\"']([^\"'\n]{1,200})[\"']|([^\s\"',}]{1,200}))"
)
_MODEL: Final = re.compile(r"\b(?:HF_MODEL_ID|MODEL_ID|model_id)[\"']?[ \t]*[:=][ \t]*[\"']?([\w.-]+/[\w.-]+)")
_OWN_TYPES: Final = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}
_ALL: Final = "max"
"""As many devices as there are."""


def service_options(state: ScriptState, texts: list[tuple[int, str]], decisive: Collection[str]) -> Iterator[Command]:
    """`OPTION_TENSOR_PARALLEL_DEGREE`, `option.max_model_len=…`: those of the first configuration of a text, up to
    where a name comes again. Lists of values to try say nothing. `decisive`: options without which nothing is a
    deployment."""
    for start, text in texts:
        words: list[Word] = []
        names: set[str] = set()
        for match in islice(_SETTING.finditer(text), _MOST):
            name, written = match[1].lower().removesuffix("_degree"), (match[2] or match[3] or "").strip()
            if name in names:
                break
            names.add(name)
            if written[:1] in ("[", "{"):
                continue
            value = state.text.word(_OWN_TYPES.get(written, written), start + match.start(), start + match.end())
            own = match[1].removesuffix("_degree").removesuffix("_DEGREE")
            option = as_option(own, value, PROGRAM_OF[UNNAMED])
            if written == _ALL and option:
                option = (option[0], replace(option[-1], text=f"${{{_ALL}}}", unresolved=(_ALL,)))
            words += option
        if len(names) > 2 and {word.text for word in words if word.text.startswith("-")} & {*decisive}:
            named = any(word.text == "--model" for word in words)
            if not named and (model := _MODEL.search(text)):
                at = start + model.start(1)
                words = [
                    state.text.word("--model", at, at),
                    state.text.word(model[1], at, start + model.end(1)),
                    *words,
                ]
            rest = more("<what the service adds>", words[0].line)
            yield fragment([*words, rest], state, "")

"""A command behind an image that starts its program by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Word
from moonpad.explain.programs import runs_python, served_by_image
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_RELEASE: Final = re.compile(r"(?::v?\d+\.\d+[\w.-]*|:latest|/[\w.-]+)$", re.ASCII)


_SERVES: Final = "serve"
"""Without the program, where the image is started as the command that it has by itself."""


def started_twice(case: Case) -> Iterator[Remark]:
    """`vllm serve MODEL` as the arguments of an image whose entrypoint is `vllm serve`: published releases have it."""
    for number, command in enumerate(case.commands):
        for wrapper in command.wrappers:
            image = wrapper.image
            if wrapper.kind != "docker run" or image is None or wrapper.has("--entrypoint"):
                continue
            before = sum(len(each.words) for each in command.wrappers)
            at_once = command.prefix[before:] or command.argv[:1]
            if not command.prefix[before:] and (not at_once or at_once[0].text != _SERVES):
                continue
            is_last = wrapper is command.wrappers[-1]
            if not is_last or not at_once or runs_python(at_once) or not _RELEASE.search(image.text):
                continue
            if served_by_image(image.text) != command.program or _is_made(at_once, command.argv):
                continue
            words = " ".join(word.text for word in at_once)
            message = f"the image starts its server by itself, and {words} would be arguments of it: it refuses them"
            remedy = f"leave {words} out, and begin with the model"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, words, message, remedy, word=at_once[0])
            yield Remark(remark.finding, command=number, word=at_once[0])


def _is_made(program: Sequence[Word], arguments: Sequence[Word]) -> bool:
    """Whether the program's words are not in the text: a chart makes the command of its keys. The words of a text that
    YAML folds have one place."""
    places = [(word.line, word.column) for word in (*program, *arguments)]
    return len(set(places[: len(program) + 1])) <= len(program) and len(set(places)) > 1

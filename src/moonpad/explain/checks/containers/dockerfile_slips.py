"""What a Dockerfile does not hand on: an ARG before FROM, and a whole command as one word of a list."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec import Struct, field

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Script
from moonpad.explain.documents.dockerfile import is_dockerfile
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.explain.shell.whole_lines import whole_lines
from moonpad.values.finding import Code, Severity

_INSTRUCTION: Final = re.compile(r"[ \t]*(?P<name>[A-Z]{2,12})[ \t]+(?P<value>.*)", re.DOTALL)
_FROM: Final = re.compile(r"(?:--\S+[ \t]+)*(?P<image>\S+)(?:[ \t]+(?:AS|as|As)[ \t]+(?P<stage>[\w.-]+))?")
_NAMES: Final = re.compile(r"(?:^|[ \t])(?P<name>[A-Za-z_]\w*)(?==|[ \t]|$)")
_USED: Final = re.compile(r"(?<!\\)\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<plain>[A-Za-z_]\w*))")
_SET: Final = r"(?:^|[\s;&|(])(?:export[ \t]+|local[ \t]+|read[ \t]+(?:-\w+[ \t]+)*)?{}="
_OF_IMAGES: Final = re.compile(
    r"(?:CUDA|NCCL|CUDNN|PYTHON|PYTORCH|TORCH|ROCM|NODE|UBUNTU|NV|NVIDIA|PATH|HOME|USER|DEBIAN|LD)(?:_\w+)?|TARGET\w+|BUILD\w+",
)
"""Names that images set by themselves, or the build."""
_ECHOED: Final = re.compile(r"\becho\b[^;&|]*")
_FILLS_IN: Final = frozenset({"RUN", "ENV", "COPY", "ADD", "WORKDIR", "EXPOSE", "USER", "VOLUME"})
_LISTS: Final = ("CMD", "ENTRYPOINT")
_OPTION: Final = re.compile(r"[\w./][\w./-]*(?:[ ]+[\w./:][\w./:-]*){0,6}[ ]+--?[A-Za-z]")
_SHELLS: Final = re.compile(r"\b(?:ba|z|da)?sh\b|\.(?:sh|py)\b|entry|start|run\b|tini|dumb-init|env\b")
"""Programs of a list that may fill variables in: shells, and scripts of somebody's own."""
_LOST: Final = re.compile(r"(?P<kind>export|cd|source|\.)[ \t]+[^\s;&|]+")
"""A step that only changes its own shell."""
_WITH_SHELL: Final = '["sh", "-c", "exec …"]'
_ENTRY: Final = re.compile(r"[ \t]*ENTRYPOINT[ \t]+(?!\[[ \t]*\])\S")


class _Stage(Struct):
    known: set[str] = field(default_factory=set)


def dockerfile_slips(case: Case) -> Iterator[Remark]:
    """`ARG VLLM_VERSION=0.19.1` above FROM and `pip install vllm==${VLLM_VERSION}` below it."""
    if is_first(case.commands, case.script):
        yield from slips_of_dockerfile(case.script)


def slips_of_dockerfile(script: Script) -> Iterator[Remark]:
    """At most two of a text that is a Dockerfile as a whole."""
    if script.markdown or script.origins or not is_dockerfile("\n".join(script.lines[:200])):
        return
    script.budget.work(4 * len(script.lines), "its instructions")
    yield from islice(_found(script), 2)


def _found(script: Script) -> Iterator[Remark]:
    above, stages, stage = set[str](), dict[str, _Stage](), None
    told = set[str]()
    has_entry = any(_ENTRY.match(line) for line in script.lines)
    entry = next((line for line in reversed(script.lines) if _ENTRY.match(line)), "")
    for number, text in whole_lines(script):
        match = _INSTRUCTION.match(text)
        if match is None:
            continue
        name, value = match["name"], match["value"].strip()
        if name == "FROM":
            stage = _begun(value, stages)
        elif name == "ARG" and stage is None:
            above |= {each["name"] for each in _NAMES.finditer(value)}
        elif name in _LISTS and not (name == "CMD" and has_entry) and (word := _whole_command(value)):
            yield _of_list(name, word, script.where(number))
        elif name in _LISTS and (variable := _not_filled_in(name, value, entry)):
            yield _of_variable(name, variable, script.where(number))
        elif name == "RUN" and (setting := _LOST.fullmatch(value)) is not None:
            yield _of_lost(setting["kind"], value, script.where(number))
        elif stage is not None:
            if name in ("ARG", "ENV"):
                used = _used(value) if name == "ENV" else []
                stage.known |= {each["name"] for each in _NAMES.finditer(value)} - {*used}
            else:
                used = _used(_ECHOED.sub("", value)) if name in _FILLS_IN else []
            for each in used:
                if each in above and each not in told | stage.known and not _is_set(each, value):
                    told.add(each)
                    yield _of_argument(each, script.where(number))


def _begun(value: str, stages: dict[str, _Stage]) -> _Stage:
    """The stage that begins, with what it inherits of the one that it is made of."""
    match = _FROM.match(value)
    before = stages.get(match["image"]) if match is not None else None
    stage = _Stage(set(before.known) if before is not None else set())
    if match is not None and match["stage"]:
        stages[match["stage"]] = stage
    return stage


def _used(value: str) -> list[str]:
    return [match["braced"] or match["plain"] for match in _USED.finditer(value)]


def _is_set(name: str, value: str) -> bool:
    """By the shell of the instruction, or by the image."""
    return _OF_IMAGES.fullmatch(name) is not None or re.search(_SET.format(re.escape(name)), value) is not None


def _of_argument(name: str, where: str) -> Remark:
    message = f"{where}: {name} is empty here: an ARG before FROM is for the FROM lines alone"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, name, message, f"write ARG {name} once more, below FROM")
    return Remark(remark.finding, command=None)


def _not_filled_in(name: str, value: str, entry: str) -> str:
    """`CMD ["${MODEL}"]`: a reference in a list, which no shell reads."""
    words = _words_of_list(value)
    if not words or (name == "CMD" and entry and (_SHELLS.search(entry) or "[" not in entry)):
        return ""
    if _SHELLS.search(words[0]):
        return ""
    return next((match.group() for word in words if (match := _USED.search(word)) is not None), "")


def _of_variable(name: str, variable: str, where: str) -> Remark:
    message = f"{where}: a list is run without a shell, and {shortened(variable, 40)} is handed over as it is written"
    remedy = f"write {name} without brackets, or with a shell: {_WITH_SHELL}"
    return Remark(make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy).finding, command=None)


def _of_lost(kind: str, value: str, where: str) -> Remark:
    message = f"{where}: each RUN has a shell of its own, and what {kind} changes in it ends with the step"
    remedy = "put it in front of the command that needs it, in the same RUN"
    if kind == "export":
        remedy = f"write ENV {shortened(value.partition('export')[2].strip(), 60)}"
    elif kind == "cd":
        remedy = f"write WORKDIR {shortened(value.partition('cd')[2].strip(), 60)}"
    return Remark(make_remark(Severity.WARNING, Code.CONFLICT, "RUN", message, remedy).finding, command=None)


def _words_of_list(value: str) -> list[str]:
    if not value.startswith("["):
        return []
    try:
        words = json.loads(value)
    except ValueError:
        return []
    return words if isinstance(words, list) and all(isinstance(word, str) for word in words) else []


def _whole_command(value: str) -> str:
    """`["vllm serve MODEL --port 8000"]`: the only word of a list, with blanks in it."""
    words = _words_of_list(value)
    only = words[0] if len(words) == 1 else ""
    return only if _OPTION.match(only) else ""


def _of_list(name: str, word: str, where: str) -> Remark:
    message = (
        f"{where}: a list starts the program that its first word names, and no file is called "
        f"{shortened(word, 50)!r}: executable file not found"
    )
    remedy = f'write {name} ["program", "argument"] with a word for each, or {name} without brackets'
    return Remark(make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy).finding, command=None)

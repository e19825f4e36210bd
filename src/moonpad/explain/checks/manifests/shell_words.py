"""Words of a container behind the script of its shell, which are no part of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from yaml import Node, ScalarNode

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.containers.compose_files import compose_files
from moonpad.explain.checks.manifests.pod_objects import items_of, own_container
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_SHELL: Final = re.compile(r"(?:/(?:usr/)?bin/)?(?:ba|z|da)?sh")
_WITH_SCRIPT: Final = re.compile(r"-[a-z]*c")
_OPTION: Final = re.compile(r"-[a-zA-Z]+|--(?:login|norc|noprofile)|[+-]o|pipefail|errexit")
_POSITIONAL: Final = re.compile(r"\$(?:[@*#0-9]|\{[@*#0-9!])|\bshift\b|\bgetopts\b|\bBASH_ARGV\b")
"""What takes the words behind a script."""
_SHOWN: Final = 40


def words_behind_script(case: Case) -> Iterator[Remark]:
    """`command: [sh, -c]`, and in args `vllm serve` as one item and its options as others: the shell runs the first."""
    for offset, nodes in _lists(case):
        yield from _behind(case, offset, nodes)


def _lists(case: Case) -> Iterator[tuple[int, Sequence[Node]]]:
    """The words of the container, as far as they are written as lists, and the first line of their file."""
    found = own_container(case)
    if found is not None and not found[0].templated:
        yield found[0].offset, [each for key in ("command", "args") for each in items_of(found[1].get(key))]
    container = case.commands[0].container
    if container is None or container.words or case.script.objects:
        return
    for first, _, services in compose_files(case.script):
        at = case.commands[0].line - first
        for fields in services.values():
            if any(node.start_mark.line <= at <= node.end_mark.line for node in fields.values()):
                yield first, [each for key in ("entrypoint", "command") for each in items_of(fields.get(key))]


def _behind(case: Case, offset: int, nodes: Sequence[Node]) -> Iterator[Remark]:
    words = [each for each in nodes if isinstance(each, ScalarNode)]
    if len(words) < len(nodes) or len(words) < 4 or not _SHELL.fullmatch(words[0].value):
        return
    at = next((at for at, word in enumerate(words[1:6], 1) if _WITH_SCRIPT.fullmatch(word.value)), 0)
    if not at or len(words) < at + 3 or not all(_OPTION.fullmatch(word.value) for word in words[1:at]):
        return
    script, behind = words[at + 1], words[at + 2 :]
    if _POSITIONAL.search(script.value) or not any(word.value.startswith("-") for word in behind):
        return
    if " " not in script.value.strip() and script.start_mark.line == words[-1].start_mark.line:
        return  # a list in one line, of which other checks speak
    where = case.script.where(offset + behind[0].start_mark.line)
    message = f"{where}: the shell runs the one text behind -c, {shortened(script.value.strip(), _SHOWN)!r}, and "
    message += (
        f"{shortened(behind[0].value, _SHOWN)} and what follows are $0, $1 … of it: the program gets none of them"
    )
    remedy = "write the whole command as one item (- >- with the lines below it), or leave the shell out"
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "-c", message, remedy)
    yield Remark(remark.finding, command=None)
